package hostevents

import (
	"encoding/json"
	"fmt"
	"strings"

	"github.com/wopwitness/wopwitness/fixtures/schema"
	"github.com/wopwitness/wopwitness/scenarios/registry"
	"github.com/wopwitness/wopwitness/witness"
	"github.com/wopwitness/wopwitness/witness/observe"
	"github.com/wopwitness/wopwitness/witness/observe/eventstream"
)

const sectionEnvelope = "RFC 0236 §Envelope"

// Delivered is one triggered event of each listed class on a live stream. An event that does not come is followed by
// another on another stream, since one that is lost may have been lost on the way.
type Delivered struct {
	Reading
	Tries   []Try                  `json:"tries"`
	Streams []observe.Subscription `json:"streams"`
}

// Try is one event, the stream on which it was waited for, and how many more durable events the suite pushed after it
// while the stream was silent, to empty a buffer on the way.
type Try struct {
	Emit   observe.Emit `json:"emit"`
	Stream int          `json:"stream"` // index into Streams
	Pushed int          `json:"pushed,omitempty"`
}

// A proxy may hold back a few kilobytes. After this many further events, of two hundred bytes and more each, a stream
// that is still silent is not being buffered.
const enoughPushed = 40

// JudgeEnvelope judges 0236.host-event.envelope (RFC 0236): a triggered event arrives on a live stream, in the closed
// envelope, framed by its class.
func JudgeEnvelope(o Delivered) witness.Verdict {
	var v witness.Verdict
	for _, delivery := range []string{"durable", "ephemeral"} {
		var tries []Try
		for _, t := range o.Tries {
			if t.Emit.Delivery == delivery && t.Stream >= 0 && t.Stream < len(o.Streams) {
				tries = append(tries, t)
			}
		}
		if len(tries) > 0 {
			o.class(&v, delivery, tries)
		}
	}
	if len(v.Checks) == 0 {
		v.Undecide(registry.Unreadable, "the observation holds no event")
	}
	return v
}

func (o Delivered) class(v *witness.Verdict, delivery string, tries []Try) {
	var came []frameOf
	lost := 0
	for _, t := range tries {
		frames := o.arrivals(t)
		if len(frames) == 0 {
			lost++
		}
		came = append(came, frames...)
	}
	if len(came) == 0 {
		o.missing(v, delivery, tries)
		return
	}
	v.Check(delivery+"-delivered", true, nil)
	if lost > 0 {
		v.Note("not-at-once", "%d of %d %s events did not arrive in time, and another did", lost, len(tries), delivery)
	}
	for _, f := range came {
		f.form(v)
	}
}

// missing convicts a host that takes events and delivers none, where that can be told from events lost on the way: two
// were waited for in full, on a connection that works.
func (o Delivered) missing(v *witness.Verdict, delivery string, tries []Try) {
	fair, alive, pushed := 0, false, 0
	for _, t := range tries {
		pushed += t.Pushed
		if o.waitedFor(t) {
			fair++
			alive = alive || showedBytes(o.Streams[t.Stream])
		}
	}
	if fair < 2 || !alive && pushed < enoughPushed {
		v.Undecide(registry.Timeout, "no %s event arrived, and no stream was open and heard for long enough to say that none was sent", delivery)
		return
	}
	v.Check(delivery+"-delivered", false, func() witness.Finding {
		return witness.Finding{
			Says:     fmt.Sprintf("the trigger accepted %s and none of them reached an open stream of their tenant", plural(fair, delivery+" event")),
			Expected: "a host event of type " + reserved(delivery) + " with the answered id",
			Got:      o.instead(tries), Section: sectionEnvelope,
			Why: "subscribers never hear what the host says it has told them",
		}
	})
}

// instead is what the streams showed in place of the events.
func (o Delivered) instead(tries []Try) string {
	for _, t := range tries {
		for _, f := range eventstream.All(o.Streams[t.Stream]) {
			if e, ok := ParseEnvelope(f.Data); ok && f.HasData && (e.Type == t.Emit.Type || f.Event == t.Emit.Type) {
				return "another event of the type: " + clip(f.Data)
			}
		}
	}
	return "nothing of the kind in " + o.Patience.Duration().String()
}

// waitedFor says whether one connection was open from before the event was sent until its whole patience had passed.
func (o Delivered) waitedFor(t Try) bool {
	if t.Emit.EventID == "" || o.Patience <= 0 {
		return false
	}
	for _, s := range o.Streams[t.Stream].Segments {
		if s.Opened() && s.Failure == nil && s.AnsweredAt <= t.Emit.SentAt() && s.EndedAt >= t.Emit.SentAt()+o.Patience {
			return true
		}
	}
	return false
}

func showedBytes(s observe.Subscription) bool {
	for _, segment := range s.Segments {
		for _, c := range segment.Chunks {
			if len(c.Bytes) > 0 {
				return true
			}
		}
	}
	return false
}

// frameOf is one arrival of one event.
type frameOf struct {
	emit     observe.Emit
	frame    eventstream.Frame
	envelope Envelope
}

func (o Delivered) arrivals(t Try) []frameOf {
	var came []frameOf
	for _, f := range eventstream.All(o.Streams[t.Stream]) {
		if t.Emit.EventID != "" && EventOf(f) == t.Emit.EventID {
			e, _ := ParseEnvelope(f.Data)
			came = append(came, frameOf{t.Emit, f, e})
		}
	}
	return came
}

// form checks one frame against the envelope and the framing of its class.
func (f frameOf) form(v *witness.Verdict) {
	check := func(name string, held bool, says, expected, got, why string) {
		v.Check(name, held, func() witness.Finding {
			return witness.Finding{Says: says, Expected: expected, Got: clip(got), Why: why, Section: sectionEnvelope}
		})
	}
	want := reserved(f.emit.Delivery)
	violations := schema.Validate(schema.HostEvent, []byte(f.frame.Data))
	check("envelope", len(violations) == 0, "the event is not in the closed envelope: "+sayAll(violations),
		"eventId, type, timestamp, delivery, payload, and workspaceId where it belongs to one", f.frame.Data,
		"consumers that check what they read refuse the event")
	check("type", f.envelope.Type == want && (f.emit.Type == "" || f.emit.Type == want),
		"the event is not of the reserved type of its class", want, "envelope "+f.envelope.Type+", answer "+f.emit.Type,
		"a consumer that picks events by type misses it")
	check("class", f.envelope.Delivery == f.emit.Delivery, "the event's class is not the one that was asked for",
		f.emit.Delivery, f.envelope.Delivery, "a consumer cannot tell whether it can resume at the event")
	check("event-field", f.frame.Event == f.envelope.Type, "the frame's event field is not the event's type",
		"event: "+f.envelope.Type, "event: "+f.frame.Event, "a browser hands the event to the wrong listener, or to none")
	f.idLine(check)
	check("payload-empty", emptyObject(f.envelope.Payload), "the reserved type's payload is not the empty object",
		"{}", string(f.envelope.Payload), "the trigger puts data on the stream that its type does not define")
}

func (f frameOf) idLine(check func(name string, held bool, says, expected, got, why string)) {
	got := "no id line"
	if f.frame.HasID {
		got = "id: " + f.frame.ID
	}
	if f.emit.Delivery == "durable" {
		check("durable-id-line", f.frame.HasID && f.frame.ID == f.emit.EventID, "the frame of a durable event does not carry its id",
			"id: "+f.emit.EventID, got, "a subscriber has no cursor to resume at, or a wrong one")
		return
	}
	check("ephemeral-no-id-line", !f.frame.HasID && !f.frame.IDIgnored, "the frame of an ephemeral event carries an id line",
		"no id line", got, "a subscriber takes it for a cursor and reconnects at an event that nobody keeps")
}

func emptyObject(payload json.RawMessage) bool {
	var members map[string]json.RawMessage
	return strings.HasPrefix(strings.TrimSpace(string(payload)), "{") && json.Unmarshal(payload, &members) == nil && len(members) == 0
}
