package verify_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/wopwitness/wopwitness/reports/bundle"
	"github.com/wopwitness/wopwitness/reports/ledger"
	"github.com/wopwitness/wopwitness/reports/verify"
	"github.com/wopwitness/wopwitness/scenarios/registry"
)

// ownReason gives the refusal that a changed value at a path must have beside the signature that no longer verifies. The
// first pattern that matches counts; a path that none matches is held by the signature alone.
func ownReason(path string) verify.Code {
	for _, rule := range []struct {
		path string
		code verify.Code
	}{
		{`^/bundleVersion$`, verify.WrongVersion},
		{`^/generatedAt$`, verify.WrongForm},
		{`^/suite/(name|contractSha256)$`, verify.WrongForm},
		{`^/suite/version$`, verify.AttestationInvalid},
		{`^/suite/targetMajor$`, verify.WrongForm},
		{`^/host/build/id$`, verify.AttestationInvalid},
		{`^/host/build/kind$`, verify.WrongForm},
		{`^/host/signingKeyId$`, verify.KeyIDMismatch},
		{`^/discovery/sha256$`, verify.WrongForm},
		{`^/discovery/document/`, verify.DiscoveryMismatch},
		{`^/discovery/(protocolVersions|preferredVersion)`, verify.DiscoveryMisquoted},
		{`^/claimedProfiles/\d+/(evidenceTier)$`, verify.WrongForm},
		{`^/claimedProfiles/\d+/witnessCount$`, verify.WitnessCountMismatch},
		{`^/results/totals/`, verify.TotalsMismatch},
		{`^/results/requirements/\d+/(result|cause|observationSha256)$`, verify.WrongForm},
		{`^/results/requirements/`, verify.WitnessMismatch},
		{`^/witnessSha256$`, verify.WrongForm},
		{`^/assertionCount$`, verify.AssertionMismatch},
		{`^/detail/nonPass/\d+/result$`, verify.WrongForm},
		{`^/detail/`, verify.DetailMismatch},
		{`^/(attestation|signature|verifierSignature)/alg$`, verify.WrongForm},
		{`^/attestation/over/`, verify.OverChanged},
		{`^/(attestation|signature)/keyId$`, verify.TwoKeys},
		{`^/attestation/sig$`, verify.AttestationInvalid},
		{`^/verifierSignature/sig$`, verify.VerifierInvalid},
		{`^/verifierSignature/keyId$`, verify.VerifierKeyIDMismatch},
	} {
		if regexp.MustCompile(rule.path).MatchString(path) {
			return rule.code
		}
	}
	return verify.SignatureInvalid
}

// TestEveryMemberThatIsTamperedWithIsRefusedForItsOwnReason changes each value of a signed and countersigned bundle,
// takes each member away, and adds one to each object.
func TestEveryMemberThatIsTamperedWithIsRefusedForItsOwnReason(t *testing.T) {
	options := withHostKey()
	options.VerifierKey, options.VerifierKeyID = verifierKey().Public(), verifierKey().ID
	raw, _, err := verify.Countersign(signedBundle(t, func(b *bundle.Bundle) { shorten(t, b) }), verifierKey(), options)
	if err != nil {
		t.Fatal(err)
	}
	if r := verify.Bundle(raw, options); r.Verdict != verify.Verified {
		t.Fatalf("the bundle itself: %v", r.Refusals)
	}
	tried := 0
	try := func(what, path string, want verify.Code, tree any) {
		t.Helper()
		tried++
		r := verify.Bundle(encode(t, tree), options)
		if r.Verdict != verify.Refused || !r.Has(want) || len(r.Summary.Certified) > 0 {
			t.Errorf("%s %s: %s, want a refusal for %s, got %v", what, path, r.Verdict, want, codes(r))
		}
	}
	for _, at := range places(treeOf(t, raw), "") {
		tree := treeOf(t, raw)
		switch v := valueAt(tree, at).(type) {
		case map[string]any:
			v["added"] = true
			want := verify.UnknownMember
			if strings.HasPrefix(at, "/discovery/document") {
				want = verify.DiscoveryMismatch
			}
			try("a member added to", at, want, tree)
		case []any:
			setAt(tree, at, append(v, "added"))
			try("an element added to", at, verify.SignatureInvalid, tree)
		default:
			setAt(tree, at, altered(v))
			try("changed", at, ownReason(at), tree)
		}
		if at == "/verifierSignature" {
			continue // taking it away leaves the host's own bundle, which never claimed to be independent
		}
		if name := at[strings.LastIndex(at, "/")+1:]; at != "" && !isIndex(name) {
			tree = treeOf(t, raw)
			delete(valueAt(tree, strings.TrimSuffix(at, "/"+name)).(map[string]any), name)
			r := verify.Bundle(encode(t, tree), options)
			if r.Verdict != verify.Refused {
				t.Errorf("without %s: %s", at, r.Verdict)
			}
		}
	}
	if tried < 100 {
		t.Errorf("only %d members were tried", tried)
	}
}

func isIndex(name string) bool { _, err := strconv.Atoi(name); return err == nil }

// altered is another value of the same type.
func altered(v any) any {
	switch v := v.(type) {
	case string:
		if v == "" {
			return "x"
		}
		// The last but one character, so that the text keeps its length and a signature its form.
		at := max(len(v)-2, 0)
		other := byte('x')
		if v[at] == 'x' {
			other = 'y'
		}
		return v[:at] + string(other) + v[at+1:]
	case float64:
		return v + 3
	case bool:
		return !v
	}
	return "x"
}

// places lists a JSON pointer for every value, the root's first.
func places(v any, at string) []string {
	all := []string{at}
	switch v := v.(type) {
	case map[string]any:
		names := []string{}
		for name := range v {
			names = append(names, name)
		}
		slices.Sort(names)
		for _, name := range names {
			all = append(all, places(v[name], at+"/"+name)...)
		}
	case []any:
		for i := range v {
			all = append(all, places(v[i], fmt.Sprintf("%s/%d", at, i))...)
		}
	}
	return all
}

func valueAt(v any, at string) any {
	for name := range strings.SplitSeq(strings.TrimPrefix(at, "/"), "/") {
		switch inside := v.(type) {
		case map[string]any:
			if at != "" {
				v = inside[name]
			}
		case []any:
			i, _ := strconv.Atoi(name)
			v = inside[i]
		}
	}
	return v
}

func setAt(tree any, at string, value any) {
	cut := strings.LastIndex(at, "/")
	name := at[cut+1:]
	switch parent := valueAt(tree, at[:cut]).(type) {
	case map[string]any:
		parent[name] = value
	case []any:
		i, _ := strconv.Atoi(name)
		parent[i] = value
	}
}

// TestNoByteCanBeChanged replaces each byte of a signed bundle. What is still verified must be the same document, written
// with other spaces or escapes.
func TestNoByteCanBeChanged(t *testing.T) {
	raw := encode(t, treeOf(t, signedBundle(t, func(b *bundle.Bundle) { shorten(t, b) })))
	same, err := bundle.Canonical(raw)
	if err != nil {
		t.Fatal(err)
	}
	if r := verify.Bundle(raw, withHostKey()); r.Verdict != verify.Verified {
		t.Fatalf("the bundle itself: %v", r.Refusals)
	}
	for i := range raw {
		changed := bytes.Clone(raw)
		changed[i] ^= 1
		if i%3 == 0 && raw[i] != ' ' {
			changed[i] = ' '
		}
		if r := verify.Bundle(changed, withHostKey()); r.Verdict != verify.Refused {
			if canonical, err := bundle.Canonical(changed); err != nil || !bytes.Equal(canonical, same) {
				t.Fatalf("byte %d (%q to %q) is not missed: %s", i, raw[i], changed[i], r.Verdict)
			}
		}
	}
}

// shorten leaves the required rows and one that isn't a pass, to keep the number of members and bytes small.
func shorten(t testing.TB, b *bundle.Bundle) {
	required, _ := bundle.Required(registry.ProfileReplay)
	var kept []registry.Row
	b.AssertionCount = 0
	b.Results.Totals = ledger.Totals{}
	for _, r := range b.Results.Requirements {
		if r.Result != registry.Pass || slices.ContainsFunc(required, func(id registry.LegID) bool { return id.RequirementID() == r.ID }) {
			kept = append(kept, r)
			b.AssertionCount += r.Assertions
			b.Results.Totals.Add(r.Result)
		}
	}
	b.Results.Requirements = kept
	b.ClaimedProfiles[0].WitnessCount = len(required)
	var err error
	if b.WitnessSha256, err = bundle.WitnessDigest(kept, nil); err != nil {
		t.Fatal(err)
	}
}

func FuzzBundle(f *testing.F) {
	good := signedBundle(f, func(b *bundle.Bundle) { shorten(f, b) })
	f.Add(good)
	f.Add([]byte(`{"bundleVersion":"wopwitness-1"}`))
	f.Add([]byte(`{"results":{"requirements":[null]},"claimedProfiles":[{}]}`))
	f.Add([]byte(`[`))
	same, err := bundle.Canonical(good)
	if err != nil {
		f.Fatal(err)
	}
	f.Fuzz(func(t *testing.T, raw []byte) {
		r := verify.Bundle(raw, withHostKey())
		if _, err := json.Marshal(r); err != nil {
			t.Fatalf("the report cannot be written: %v", err)
		}
		if r.Verdict == verify.Refused {
			return
		}
		if canonical, err := bundle.Canonical(raw); err != nil || !bytes.Equal(canonical, same) {
			t.Fatalf("%s for a bundle that nobody signed", r.Verdict)
		}
	})
}
