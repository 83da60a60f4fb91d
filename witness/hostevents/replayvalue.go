package hostevents

import (
	"github.com/wopwitness/wopwitness/witness"
	"github.com/wopwitness/wopwitness/witness/observe"
)

// OtherValue is an unknown cursor asked for under a value of the parameter that no text defines, and the same without
// the parameter.
type OtherValue struct {
	Other  observe.Stream `json:"other"`
	Legacy observe.Stream `json:"legacy"`
}

// JudgeReplayValue judges 0250.replay-value (RFC 0250 §E): required is the parameter's only value. Another one is
// refused as invalid or passed over; it is never strict replay, and never the server's own failure.
func JudgeReplayValue(o OtherValue) witness.Verdict {
	var v witness.Verdict
	s := o.Other
	if !answered(&v, "another value of replay", s) || !answered(&v, "the same cursor without the parameter", o.Legacy) {
		return v
	}
	finding := func(says, expected, why string) func() witness.Finding {
		return func() witness.Finding {
			return witness.Finding{Says: says, Expected: expected, Got: brief(s.Exchange), Why: why, Section: "RFC 0250 §E"}
		}
	}
	const lawful = "400 validation_error, or what the host answers without the parameter"
	v.Check("not-the-new-refusal", errorBody(s.Exchange).Error != resyncRequired,
		finding("another value of replay is taken for required", lawful, "a client's slip of the pen changes what it subscribed to"))
	v.Check("no-server-error", s.Status() < 500,
		finding("another value of replay makes the host fail", lawful, "anyone can make the host fail with one query"))
	switch {
	case s.Status() == 400:
		v.Note("refused-as-invalid", "another value of replay is answered 400")
	case s.Status() == o.Legacy.Status():
		v.Note("passed-over", "another value of replay is answered like none: %d", s.Status())
	default:
		v.Note("other-answer", "another value of replay is answered %d; the text gives no answer for one", s.Status())
	}
	return v
}
