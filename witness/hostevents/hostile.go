package hostevents

import (
	"strings"

	"github.com/wopwitness/wopwitness/scenarios/registry"
	"github.com/wopwitness/wopwitness/witness"
	"github.com/wopwitness/wopwitness/witness/observe"
)

// Hostile is cursors of every kind that a header can carry and no host issues. None becomes an issued id by trimming,
// unquoting or decoding.
type Hostile struct {
	Unknown  observe.Stream   `json:"unknown"` // an ordinary unknown cursor
	Attempts []observe.Stream `json:"attempts"`
}

// JudgeCursorHostile judges 0250.cursor-hostile (RFC 0250 §C): each gets the refusal that an unknown cursor gets. The
// HTTP server in front may refuse the header itself, with 400 or 431.
func JudgeCursorHostile(o Hostile) witness.Verdict {
	var v witness.Verdict
	const section = "RFC 0250 §C"
	if len(o.Attempts) == 0 {
		v.Undecide(registry.Unreadable, "the observation has no hostile cursor")
		return v
	}
	if !answered(&v, "an unknown cursor", o.Unknown) {
		return v
	}
	for _, s := range o.Attempts {
		if !answered(&v, s.Label+" cursor", s) {
			continue
		}
		v.Check("not-resumed", s.Status() != 200, func() witness.Finding {
			return witness.Finding{
				Says:     "a cursor that names nothing (" + s.Label + ") is answered 200",
				Expected: "the refusal", Got: brief(s.Exchange),
				Why:     "the subscriber believes that it resumed, and missed whatever came before",
				Section: section,
			}
		})
		v.Check("no-server-error", s.Status() < 500, func() witness.Finding {
			return witness.Finding{
				Says:     "a cursor that names nothing (" + s.Label + ") makes the host fail",
				Expected: "the refusal", Got: brief(s.Exchange),
				Why:     "anyone with a key can make the host fail with one header",
				Section: section,
			}
		})
		switch {
		case s.Status() == 200 || s.Status() >= 500:
		case serversOwn(s):
			v.Note("refused-by-server", "the %s cursor was refused by the HTTP server: %d", s.Label, s.Status())
		default:
			uniform(&v, "hostile-like-unknown", "the "+s.Label+" cursor", o.Unknown, s.Label, s,
				"a client that knows the refusal does not recognize this one, and the answer tells how cursors are read")
		}
	}
	return v
}

// serversOwn says whether the answer is the HTTP server's refusal of the header rather than the host's of the cursor: 400
// or 431, and not in the host's error body.
func serversOwn(s observe.Stream) bool {
	if s.Status() == 431 {
		return true
	}
	return s.Status() == 400 && !errorCode(errorBody(s.Exchange).Error)
}

// errorCode says whether the text has the form of a registered code, which a server's or framework's own body has not.
func errorCode(text string) bool {
	return text != "" && strings.Trim(text, "abcdefghijklmnopqrstuvwxyz_") == ""
}
