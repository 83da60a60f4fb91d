package hostevents

import (
	"bytes"
	"encoding/json"
	"fmt"

	"github.com/wopwitness/wopwitness/fixtures/schema"
	"github.com/wopwitness/wopwitness/scenarios/registry"
	"github.com/wopwitness/wopwitness/witness"
	"github.com/wopwitness/wopwitness/witness/observe"
)

// resyncRequired is the error code of RFC 0250 §C.
const resyncRequired = "host_event_resync_required"

// Attempt is one connection that the text says is, or is not, refused. Live is an ordinary one by the same key, which
// shows that a refusal is not the key's. More are further ones, each in another way, which their labels name.
type Attempt struct {
	Live    observe.Subscription `json:"live"`
	Attempt observe.Stream       `json:"attempt"`
	More    []observe.Stream     `json:"more,omitempty"`
}

// barred says whether the attempt was turned away for its key, as far as can be told: the ordinary connection did not
// open either.
func (o Attempt) barred(v *witness.Verdict) bool {
	if s := o.Attempt.Status(); s != 401 && s != 403 || len(o.Live.Segments) > 0 && o.Live.Segments[0].Opened() {
		return false
	}
	v.Undecide(registry.Unauthorized, "the host refuses the key, with a cursor and without: %s", brief(o.Attempt.Exchange))
	return true
}

// JudgeCursorRefused judges 0250.cursor-refused (RFC 0250 §C): an unknown cursor under replay=required is answered 409
// host_event_resync_required, and not as an event stream: also when it is asked for again, on a stream that can be
// resumed, and where it is nearly the id of an event.
func JudgeCursorRefused(o Attempt) witness.Verdict {
	var v witness.Verdict
	if o.barred(&v) {
		return v
	}
	refused(&v, "an unknown cursor", o.Attempt)
	refusalForm(&v, o.Attempt)
	for _, s := range o.More {
		if len(v.Findings) > 0 {
			break // who is wrong about one unknown cursor is told so once
		}
		refused(&v, "an unknown cursor ("+s.Label+")", s)
	}
	return v
}

// refusalForm checks that the refusal's body is the closed error body. Its details are noted elsewhere: the error row
// registers none, and a host may write that down as null.
func refusalForm(v *witness.Verdict, s observe.Stream) {
	if s.Response == nil || errorBody(s.Exchange).Error != resyncRequired {
		return
	}
	body := s.Response.Body
	if errorBody(s.Exchange).Details != nil {
		var members map[string]json.RawMessage
		_ = json.Unmarshal(body, &members) // it was read just now
		delete(members, "details")
		body, _ = json.Marshal(members)
	}
	violations := schema.Validate(schema.ErrorBody, body)
	v.Check("error-body", len(violations) == 0, func() witness.Finding {
		return witness.Finding{
			Says:     "the refusal's body is not an error body: " + sayAll(violations),
			Expected: "error, message and perhaps details, and nothing else", Got: brief(s.Exchange), Section: "RFC 0250 §C",
			Why: "a client that reads every error one way cannot read this one",
		}
	})
}

// refused checks that a connection got the refusal of RFC 0250 §C.
func refused(v *witness.Verdict, whose string, s observe.Stream) {
	const section = "RFC 0250 §C"
	if unanswered(v, whose, s.Exchange) {
		return
	}
	finding := func(says, expected string) func() witness.Finding {
		return func() witness.Finding {
			return witness.Finding{
				Says: says, Expected: expected, Got: brief(s.Exchange), Section: section,
				Why: "a subscriber that is not told to resynchronize believes that it missed nothing",
			}
		}
	}
	v.Check("refused-with-409", s.Status() == 409, finding(whose+" was not refused with 409", "409 "+resyncRequired))
	v.Check("not-an-event-stream", !isEventStream(s.Exchange), finding("the answer to "+whose+" is an event stream", "an error body before any event-stream byte"))
	body := errorBody(s.Exchange)
	v.Check("error-code", body.Error == resyncRequired, finding("the answer to "+whose+" has another error code", "error: "+resyncRequired))
	if body.Details != nil {
		v.Note("details", "the refusal carries details; the error row registers none")
	}
}

// JudgeLegacyUnchanged judges 0250.legacy-unchanged (RFC 0250 §C): without the parameter an unknown cursor gets whatever
// it got before, which is anything but the new refusal.
func JudgeLegacyUnchanged(o Attempt) witness.Verdict {
	var v witness.Verdict
	s := o.Attempt
	if o.barred(&v) || unanswered(&v, "an unknown cursor without the parameter", s.Exchange) {
		return v
	}
	if s.Status() >= 500 {
		v.Undecide(registry.UnexpectedAnswer, "an unknown cursor without the parameter was answered %s", brief(s.Exchange))
		return v
	}
	v.Check("not-the-new-refusal", errorBody(s.Exchange).Error != resyncRequired, func() witness.Finding {
		return witness.Finding{
			Says:     "an unknown cursor without replay=required gets the new refusal",
			Expected: "what the host answered before: a live stream, or an error of its own", Got: brief(s.Exchange),
			Why:     "subscribers that never asked for strict replay stop working when the host turns it on",
			Section: "RFC 0250 §C",
		}
	})
	v.Note("legacy-answer", "an unknown cursor without the parameter is answered %d", s.Status())
	return v
}

// Uniform is the refusal asked for in several ways. The foreign cursor is a real event of the other tenant, which that
// tenant resumed first.
type Uniform struct {
	OwnerResumed observe.Subscription `json:"ownerResumed"`
	Unknown      observe.Stream       `json:"unknown"`
	Ephemeral    observe.Stream       `json:"ephemeral"`
	Foreign      observe.Stream       `json:"foreign"`
	Back         *UniformBack         `json:"back,omitempty"`
}

// UniformBack is the second tenant at the cursor of a real event of the first one, which that one resumed first.
type UniformBack struct {
	OwnerResumed observe.Subscription `json:"ownerResumed"`
	Unknown      observe.Stream       `json:"unknown"`
	Foreign      observe.Stream       `json:"foreign"`
}

// JudgeRefusalUniform judges 0250.refusal-uniform (RFC 0250 §C): status and body, after content decoding, are the same
// bytes for an unknown cursor, an ephemeral event's and another tenant's.
func JudgeRefusalUniform(o Uniform) witness.Verdict {
	var v witness.Verdict
	if len(o.OwnerResumed.Segments) == 0 || !o.OwnerResumed.Segments[0].Opened() {
		v.Undecide(registry.UnexpectedAnswer, "the other tenant could not resume at its own event, so refusing it elsewhere says nothing")
		return v
	}
	uniform(&v, "ephemeral-like-unknown", "an ephemeral event's cursor", o.Unknown, "ephemeral", o.Ephemeral,
		"the answer tells a caller that the id was issued")
	uniform(&v, "foreign-like-unknown", "another tenant's cursor", o.Unknown, "foreign", o.Foreign,
		whyForeign)
	if b := o.Back; b != nil {
		if len(b.OwnerResumed.Segments) == 0 || !b.OwnerResumed.Segments[0].Opened() {
			v.Undecide(registry.UnexpectedAnswer, "the first tenant could not resume at its own event, so refusing it to the second one says nothing")
			return v
		}
		uniform(&v, "foreign-like-unknown-to-the-other", "the first tenant's cursor, used by the second,", b.Unknown, "foreign", b.Foreign, whyForeign)
	}
	return v
}

const whyForeign = "the answer tells a caller that the id exists in another tenant"

// uniform checks that two answers are the same status and the same bytes.
func uniform(v *witness.Verdict, check, whose string, unknown observe.Stream, other string, got observe.Stream, why string) {
	for _, s := range []observe.Stream{unknown, got} {
		if unanswered(v, whose+" against an unknown one", s.Exchange) {
			return
		}
	}
	same := unknown.Status() == got.Status() && bytes.Equal(unknown.Response.Body, got.Response.Body) && !isEventStream(got.Exchange)
	v.Check(check, same, func() witness.Finding {
		says := "the refusal for " + whose + " differs from an unknown one"
		if isEventStream(got.Exchange) {
			says = whose + " is answered as an event stream"
		}
		return witness.Finding{
			Says: says,
			Shown: []witness.Shown{
				{Label: "unknown", Text: brief(unknown.Exchange)},
				{Label: other, Text: brief(got.Exchange)},
			},
			Differs: difference(unknown, got), Why: why, Section: "RFC 0250 §C",
		}
	})
}

// difference names the first thing in which two answers differ.
func difference(want, got observe.Stream) string {
	var says string
	if want.Status() != got.Status() {
		says = "status"
	}
	a, b := want.Response.Body, got.Response.Body
	if bytes.Equal(a, b) {
		return says
	}
	i := 0
	for i < len(a) && i < len(b) && a[i] == b[i] {
		i++
	}
	if says != "" {
		says += "; then "
	}
	return says + fmt.Sprintf("body byte %d", i)
}

// isEventStream says whether the answer calls itself an event stream, whatever its status.
func isEventStream(x observe.Exchange) bool {
	return observe.IsEventStream(x.Response.Header("Content-Type"))
}
