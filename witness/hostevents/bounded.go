package hostevents

import (
	"fmt"

	"github.com/wopwitness/wopwitness/scenarios/registry"
	"github.com/wopwitness/wopwitness/witness"
	"github.com/wopwitness/wopwitness/witness/observe"
	"github.com/wopwitness/wopwitness/witness/observe/eventstream"
)

// Bounded is a suffix on a stream that the host ended and the suite resumed at the last event shown. AtLastID is there
// where a standard reader, which keeps whatever id came last, would have resumed elsewhere.
type Bounded struct {
	Suffix
	AtLastID *AtLastID `json:"atLastId,omitempty"`
}

// AtLastID is one more connection, at the id that the host sent last on a stream before it ended it, and an event that
// was emitted while the connection was open.
type AtLastID struct {
	Stream observe.Subscription `json:"stream"`
	After  observe.Emit         `json:"after"`
}

// JudgeBoundedStream judges 0250.bounded-stream (RFC 0250 §B): a stream that the host ended goes on whole from the last
// event shown, and so from the last id sent. Without an end by the host there is nothing to judge.
func JudgeBoundedStream(o Bounded) witness.Verdict {
	var v witness.Verdict
	segments := o.Resumed.Segments
	if len(segments) > 0 && segments[0].Opened() && (len(segments) < 2 || !segments[0].EndedByHost()) {
		v.Undecide(registry.Timeout, "the host did not end the stream while it was watched")
		return v
	}
	a, resumed := o.judge(&v, "the stream that the host ended")
	if !resumed {
		return v
	}
	// At one of the suite's own events a refused reconnection is convicted with the resumption. In a busy tenant the last
	// id may be anyone's; it is younger than the cursor all the same.
	for _, s := range segments[1:] {
		_, own := a.own[cursorOf(s)]
		if own || s.Response == nil || busy(s.Exchange) || o.outgrown(s) {
			continue
		}
		v.Check("resumed-after-end", s.Opened(), func() witness.Finding {
			return witness.Finding{
				Says:     "the last id of a stream that the host had ended was not resumed",
				Expected: "200 text/event-stream", Got: brief(s.Exchange),
				Why:     "every bounded stream ends in a loss, although the subscriber did as it was told",
				Section: sectionResume,
			}
		})
	}
	o.standard(&v)
	return v
}

// outgrown says whether the host's bound may have passed since the leg's first event when a connection was answered.
func (o Bounded) outgrown(s observe.Stream) bool {
	return o.Retention > 0 && s.AnsweredAt-find(o.Emits, o.Cursor).SentAt() >= o.Retention
}

// Parting is the first stream of a subscription at whose end, which was the host's doing, a standard reader and one that
// keeps host events only would resume at different ids. It is -1 where there is none.
func Parting(s observe.Subscription) (segment int, lastID string) {
	for i, stream := range s.Segments {
		if !stream.Opened() || !stream.EndedByHost() {
			continue
		}
		if id, event := lastIDs(stream); id != event {
			return i, id
		}
	}
	return -1, ""
}

// lastIDs gives the ids at which two readers of a stream would resume: a standard one, which takes the id of any block
// that ends (WHATWG HTML, "Server-sent events"), and one that takes only the id of a whole durable host event. A stream
// that gave neither reader an id leaves it where it began.
func lastIDs(s observe.Stream) (id, event string) {
	id = cursorOf(s)
	event = id
	for _, f := range eventstream.Frames(s) {
		if f.HasID {
			id = f.LastEventID
		}
		if f.HasID && f.ID != "" && whole(f) == f.ID {
			event = f.ID
		}
	}
	return id, event
}

// whole is the id of the host event that a frame's data is in full, "" for anything else.
func whole(f eventstream.Frame) string {
	e, ok := ParseEnvelope(f.Data)
	if !f.HasData || !ok {
		return ""
	}
	return e.EventID
}

// standard asks whether the last id that the host sent is as good a cursor as the last event's. A heartbeat may have an
// id where that one resumes whole.
func (o Bounded) standard(v *witness.Verdict) {
	segment, lastID := Parting(o.Resumed)
	if segment < 0 {
		v.Check(checkLastID, true, nil)
		return
	}
	if o.AtLastID == nil || len(o.AtLastID.Stream.Segments) == 0 || o.AtLastID.After.EventID == "" {
		v.Undecide(registry.Unreadable, "the last id sent is not the last event's, and the observation holds no connection at it")
		return
	}
	first := o.AtLastID.Stream.Segments[0]
	switch {
	case cursorOf(first) != lastID:
		v.Undecide(registry.Unreadable, "the connection at the last id sent names another cursor")
	case first.Response == nil:
		v.Undecide(unreachable(first.Failure), "resuming at the last id sent: %s", failureText(first.Failure))
	case busy(first.Exchange):
		v.Undecide(registry.UnexpectedAnswer, "resuming at the last id sent: the host asked to come back later: %s", brief(first.Exchange))
	case !first.Opened() && o.outgrown(first):
		v.Undecide(registry.Timeout, "the last id sent may have been older than the host's bound by the time it was used")
	case !first.Opened():
		v.Check(checkLastID, false, o.parted(lastID, "is refused as a cursor", "a resumed stream", brief(first.Exchange)))
	default:
		o.lastIDResumed(v, segment, lastID)
	}
}

const checkLastID = "last-id-resumes"

// parted is the finding about an id that leads a standard reader elsewhere than the events it was shown.
func (o Bounded) parted(lastID, what, expected, got string) func() witness.Finding {
	return func() witness.Finding {
		name := clip(lastID)
		if lastID == "" {
			name = "(empty)"
		}
		return witness.Finding{
			Says:     fmt.Sprintf("the last id that the host sent before it ended a stream, %s, is not the last event's and %s", name, what),
			Expected: expected, Got: got,
			Why:     "a standard reader keeps the last id of any frame, and is led past events that it never saw",
			Section: sectionResume,
		}
	}
}

// lastIDResumed holds the connection at the last id sent against all that the ended stream, and those before it, had not
// shown whole. What comes again is noted: a subscriber loses nothing by it, and knows an event by its id.
func (o Bounded) lastIDResumed(v *witness.Verdict, segment int, lastID string) {
	shown := map[string]bool{}
	for _, s := range o.Resumed.Segments[:segment+1] {
		for _, f := range eventstream.Frames(s) {
			shown[whole(f)] = true
		}
	}
	emits := append(after(o.Emits, o.Cursor), o.AtLastID.After)
	var expected []observe.Emit
	for _, e := range emits {
		if !shown[e.EventID] {
			expected = append(expected, e)
		}
	}
	a := accountOf(o.Reading, "the stream resumed at the last id sent", o.AtLastID.Stream, o.Observer, o.Emits, []observe.Emit{o.AtLastID.After})
	in := idsOf(expected)
	var missing, repeated []string
	undecided := false
	for _, e := range expected {
		switch n := a.count(e); {
		case n == 0 && a.waitedFor(e, in):
			missing = append(missing, e.Label)
		case n == 0:
			undecided = true
		case n > 1:
			repeated = append(repeated, e.Label)
		}
	}
	switch {
	case len(missing) > 0:
		v.Check(checkLastID, false, o.parted(lastID, "skips "+plural(len(missing), "event"), some(labels(expected)),
			"missing: "+some(missing)+"; arrived: "+a.story()))
	case len(repeated) > 0:
		v.Check(checkLastID, false, o.parted(lastID, "resumes with an event twice", some(labels(expected)), a.story()))
	case undecided:
		v.Undecide(registry.Timeout, "%s was not read for long enough to say that nothing is missing", a.name)
	default:
		v.Check(checkLastID, true, nil)
		v.Note("control-frame-id", "the last id sent before the stream's end was not the last event's, and resumed whole")
		if again := len(a.shown) - len(expected); again > 0 {
			v.Note("control-frame-id-behind", "resuming at it repeats %s", plural(again, "event"))
		}
	}
}
