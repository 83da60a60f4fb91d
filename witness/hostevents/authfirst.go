package hostevents

import (
	"fmt"

	"github.com/wopwitness/wopwitness/scenarios/registry"
	"github.com/wopwitness/wopwitness/witness"
	"github.com/wopwitness/wopwitness/witness/observe"
)

// AuthFirst is requests with keys that must not get in, under replay=required: Plain without a cursor, With at a good, an
// unknown and a foreign one. An exchange's credential says whose key it was sent with.
type AuthFirst struct {
	Plain []observe.Stream `json:"plain"`
	With  []observe.Stream `json:"with"`
}

// JudgeAuthFirst judges 0250.auth-first (RFC 0250 §C): an authentication or scope failure keeps its own answer, whatever
// cursor the request names.
func JudgeAuthFirst(o AuthFirst) witness.Verdict {
	var v witness.Verdict
	asked := 0
	for _, plain := range o.Plain {
		if !answered(&v, "a request without a cursor", plain) {
			continue
		}
		name, status := "a bad key", 401
		if plain.Credential == observe.CredentialLow {
			name, status = "a key without runs:read", 403
		}
		if plain.Status() != 401 && plain.Status() != 403 {
			v.Undecide(registry.Unauthorized, "%s is not kept out even without a cursor: %s", name, brief(plain.Exchange))
			continue
		}
		if plain.Credential == observe.CredentialLow && plain.Status() == 401 {
			v.Undecide(registry.Unauthorized, "the host refused --key-low as a key that it doesn't know: %s; it must be a valid key without runs:read",
				brief(plain.Exchange))
			continue
		}
		if plain.Status() != status {
			v.Note("own-status", "%s is answered %d", name, plain.Status())
		}
		for _, s := range o.With {
			if s.Credential == plain.Credential && answered(&v, name, s) {
				asked++
				keepsItsAnswer(&v, name, plain, s)
			}
		}
	}
	if asked == 0 {
		v.Undecide(registry.Unreadable, "the observation has no request at a cursor with a key that must not get in")
	}
	return v
}

func keepsItsAnswer(v *witness.Verdict, name string, plain, s observe.Stream) {
	check := "bad-key-first"
	if s.Credential == observe.CredentialLow {
		check = "missing-scope-first"
	}
	own := s.Status() == plain.Status() && errorBody(s.Exchange).Error != resyncRequired
	v.Check(check, own, func() witness.Finding {
		return witness.Finding{
			Says: fmt.Sprintf("%s gets another answer where the request names a cursor (%s)", name, s.Label),
			Shown: []witness.Shown{
				{Label: "no cursor", Text: brief(plain.Exchange)},
				{Label: s.Label, Text: brief(s.Exchange)},
			},
			Differs: difference(plain, s),
			Why:     "the host looks a cursor up for a caller whom it does not know, and the answer can tell whether it exists",
			Section: "RFC 0250 §C",
		}
	})
}
