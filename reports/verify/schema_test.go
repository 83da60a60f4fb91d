package verify_test

import (
	"testing"

	"github.com/wopwitness/wopwitness/fixtures/schema"
	"github.com/wopwitness/wopwitness/reports/bundle"
	"github.com/wopwitness/wopwitness/reports/verify"
)

// structural are the refusals that the published schema must share: whoever reads a bundle with a schema alone must be
// told the same about its form.
func structural() []verify.Code {
	return []verify.Code{
		verify.WrongVersion, verify.UnknownMember, verify.MissingMember, verify.WrongType, verify.WrongForm, verify.Base64Form,
		verify.NoReason, verify.NoAssertion, verify.PassWithReason, verify.BuildMissing, verify.AttestationMissing, verify.SignatureMissing,
		verify.OverChanged,
	}
}

func TestThePublishedSchemaAndTheVerifierAgreeOnTheForm(t *testing.T) {
	raw := signedBundle(t, func(b *bundle.Bundle) { shorten(t, b) })
	if violations := schema.Validate(schema.Bundle, raw); violations != nil {
		t.Fatalf("a good bundle: %v", violations)
	}
	for _, at := range places(treeOf(t, raw), "") {
		for what, change := range map[string]func(any) any{
			"changed":    altered,
			"null":       func(any) any { return nil },
			"a list":     func(any) any { return []any{} },
			"an object":  func(any) any { return map[string]any{} },
			"a number":   func(any) any { return 1.5 },
			"empty text": func(any) any { return "" },
		} {
			tree := treeOf(t, raw)
			if at == "" {
				continue
			}
			setAt(tree, at, change(valueAt(tree, at)))
			changed := encode(t, tree)
			r := verify.Bundle(changed, withHostKey())
			refused := false
			for _, code := range structural() {
				refused = refused || r.Has(code)
			}
			if valid := schema.Validate(schema.Bundle, changed) == nil; valid == refused {
				t.Errorf("%s at %s: valid by the schema %v, refused for its form %v (%v)", what, at, valid, refused, codes(r))
			}
		}
	}
}
