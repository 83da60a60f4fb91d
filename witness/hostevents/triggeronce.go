package hostevents

import (
	"bytes"
	"encoding/json"
	"fmt"
	"reflect"
	"strings"

	"github.com/wopwitness/wopwitness/scenarios/registry"
	"github.com/wopwitness/wopwitness/witness"
	"github.com/wopwitness/wopwitness/witness/observe"
	"github.com/wopwitness/wopwitness/witness/observe/eventstream"
)

// Once is one request to the trigger, sent again several times with the same key, and then the key with another body
// where the host lists the other class. Each was sent when the one before it was answered, the repetitions only once the
// event had been seen.
type Once struct {
	Reading
	Window   observe.Micros       `json:"window"` // how long the stream was read after the sentinel
	Observer observe.Subscription `json:"observer"`
	First    observe.Emit         `json:"first"`
	Again    []observe.Emit       `json:"again"`
	Other    *observe.Emit        `json:"other,omitempty"`
	Sentinel observe.Emit         `json:"sentinel"`
	// Ephemeral is one request for an ephemeral event, twice with a key of its own, where the host lists that class too.
	Ephemeral []observe.Emit `json:"ephemeral,omitempty"`
	// Foreign is the second tenant's request with the first one's key and body, where there is a second tenant.
	Foreign *observe.Emit `json:"foreign,omitempty"`
	Pushed  int           `json:"pushed,omitempty"` // further events of the type, sent to empty a buffer on the way
}

// JudgeIdempotent judges 0241.trigger.idempotent (RFC 0241): the same key and body make one event however often they are
// sent, and each later answer is the first again, marked as a replay, whatever the event's class. Another body under the
// key is refused, and another tenant's request under it is that tenant's own.
func JudgeIdempotent(o Once) witness.Verdict {
	var v witness.Verdict
	if !o.asked(&v, o.Again...) {
		return v
	}
	for _, e := range o.Again {
		repeated(&v, o.First.Answer(), e.Answer(), "the next time")
	}
	o.oneEvent(&v)
	o.otherBody(&v)
	o.ephemeralAgain(&v)
	o.foreign(&v)
	return v
}

// ephemeralAgain checks the repetition of a request for an ephemeral event. Where the first one was not accepted, another
// leg says so.
func (o Once) ephemeralAgain(v *witness.Verdict) {
	if len(o.Ephemeral) < 2 || o.Ephemeral[0].EventID == "" {
		return
	}
	first, again := o.Ephemeral[0].Answer(), o.Ephemeral[1].Answer()
	switch {
	case unanswered(v, "the same request for an ephemeral event again", again):
	case again.Status() == 429 || again.Status() == 503:
		v.Undecide(registry.UnexpectedAnswer, "the same request for an ephemeral event again was put off: %s", brief(again))
	case idempotencyKey(first) == "" || idempotencyKey(first) != idempotencyKey(again) || !bytes.Equal(first.Request.Body, again.Request.Body):
		v.Undecide(registry.Unreadable, "a repeated request for an ephemeral event is not the same as the first")
	default:
		repeated(v, first, again, "where the event is an ephemeral one")
	}
}

// foreign checks that a key is its tenant's: the second tenant's request under it makes an event of its own, or is
// answered in some other way, and never with the first tenant's event.
func (o Once) foreign(v *witness.Verdict) {
	if o.Foreign == nil {
		v.Note("no-other-tenant", "there is no second tenant whose request could have been taken for the first one's")
		return
	}
	x := o.Foreign.Answer()
	if unanswered(v, "the other tenant's request under the same key", x) {
		return
	}
	if idempotencyKey(x) != idempotencyKey(o.First.Answer()) || !bytes.Equal(x.Request.Body, o.First.Answer().Request.Body) {
		v.Undecide(registry.Unreadable, "the other tenant's request is not the first one's")
		return
	}
	v.Check("own-event-for-other-tenant", o.Foreign.EventID != o.First.EventID, func() witness.Finding {
		return witness.Finding{
			Says:     "another tenant's request under the same key gets the first tenant's answer",
			Expected: "an event of the caller's tenant", Got: brief(x), Section: sectionTrigger,
			Why: "the caller is told of an event that it will never see, its own is not made, and it learns an id of another tenant's",
		}
	})
	if x.Status() != 202 {
		v.Note("key-not-free", "another tenant's request under the same key is answered %d", x.Status())
	}
}

// asked says whether the request was accepted, and sent again as it was and answered; otherwise the verdict is undecided.
func (o Once) asked(v *witness.Verdict, again ...observe.Emit) bool {
	first := o.First.Answer()
	if unanswered(v, "the first request", first) {
		return false
	}
	key := idempotencyKey(first)
	if first.Status() != 202 || o.First.EventID == "" || key == "" || len(again) == 0 {
		v.Undecide(registry.UnexpectedAnswer, "the first request was not accepted, or not repeated: %s", brief(first))
		return false
	}
	for _, e := range again {
		x := e.Answer()
		if unanswered(v, "the same request again", x) {
			return false
		}
		if key != idempotencyKey(x) || !bytes.Equal(first.Request.Body, x.Request.Body) {
			v.Undecide(registry.Unreadable, "a repeated request is not the same as the first")
			return false
		}
	}
	return true
}

// repeated checks a later answer against the first. when says what kind of repetition it was.
func repeated(v *witness.Verdict, first, again observe.Exchange, when string) {
	v.Check("same-answer", again.Status() == 202 && sameJSON(first.Response.Body, again.Response.Body), func() witness.Finding {
		return witness.Finding{
			Says:     "the same key and body get another answer " + when,
			Expected: brief(first), Got: brief(again), Section: sectionTrigger,
			Why: "a caller that repeats a request whose answer it lost cannot find out what it caused",
		}
	})
	const mark = "OpenWOP-Idempotent-Replay"
	v.Check("marked-as-replay", strings.EqualFold(again.Response.Header(mark), "true"), func() witness.Finding {
		return witness.Finding{
			Says: "the repeated answer is not marked as one", Expected: mark + ": true", Got: mark + ": " + clip(again.Response.Header(mark)),
			Why: "a caller cannot tell a repeated answer from a second effect", Section: sectionTrigger,
		}
	})
}

// oneEvent checks on the observer that there was no second effect. Deliveries are counted within one connection: a host
// that promises no strict replay may repeat an event when a subscriber comes back.
func (o Once) oneEvent(v *witness.Verdict) {
	a := accountOf(o.Reading, "the live stream", o.Observer, o.Observer, []observe.Emit{o.First, o.Sentinel}, o.Again)
	if _, seen := a.observed[o.First.EventID]; !seen {
		v.Undecide(registry.Timeout, "no stream showed the event, so it cannot be counted")
		return
	}
	most := 0
	for _, segment := range o.Observer.Segments {
		one := accountOf(o.Reading, "", alone(segment), observe.Subscription{}, []observe.Emit{o.First})
		most = max(most, one.count(o.First))
	}
	unnamed := o.unnamed(v, a)
	another := unnamed
	for _, e := range o.Again {
		if _, shown := a.observed[e.EventID]; shown && e.EventID != o.First.EventID {
			another = true
		}
	}
	if most <= 1 && !another && !a.settled(o.Sentinel, max(o.Quiet, o.Window)) {
		v.Undecide(registry.Timeout, "the stream was not read to its sentinel, so a second event could still have come")
		return
	}
	v.Check("one-event", most <= 1 && !another, func() witness.Finding {
		got := a.story()
		if unnamed {
			got += fmt.Sprintf(", and %s of the type with ids that no answer named, one for each repetition", plural(len(o.Again), "event"))
		}
		return witness.Finding{
			Says:     "the same key and body made more than one event",
			Expected: "one event", Got: got, Section: sectionTrigger,
			Why: "a caller that repeats a request whose answer it lost acts twice",
		}
	})
}

// enoughRepeated is how many repetitions it takes to hold events with strange ids against the host.
const enoughRepeated = 3

// unnamed says whether the repetitions made events whose ids no answer named. The tenant may have another user of the
// trigger, so it takes several repetitions, exactly one strange event of the type for each while they were sent, and
// none before or after.
func (o Once) unnamed(v *witness.Verdict, a account) bool {
	end, shown := a.observed[o.Sentinel.EventID]
	if !shown || len(o.Again) == 0 {
		return false
	}
	begin := o.Again[0].SentAt()
	during, outside := 0, 0
	for _, f := range eventstream.All(o.Observer) {
		e, ok := ParseEnvelope(f.Data)
		if _, own := a.own[EventOf(f)]; own || !ok || !f.HasData || e.Type != o.First.Type {
			continue
		}
		if f.At >= begin && f.At <= end {
			during++
		} else {
			outside++
		}
	}
	if during+outside == 0 || o.Pushed > 0 {
		return false
	}
	if outside == 0 && during == len(o.Again) && during >= enoughRepeated {
		return true
	}
	v.Note("strange-events", "events of the type with ids that no answer named: %d while it was repeated, %d before and after", during, outside)
	return false
}

// alone is a subscription of one connection.
func alone(s observe.Stream) observe.Subscription {
	return observe.Subscription{Segments: []observe.Stream{s}}
}

func (o Once) otherBody(v *witness.Verdict) {
	if o.Other == nil {
		v.Note("no-other-body", "only one class is listed, so there was no other body to send with the key")
		return
	}
	answer := o.Other.Answer()
	if unanswered(v, "another body with the same key", answer) {
		return
	}
	if idempotencyKey(answer) != idempotencyKey(o.First.Answer()) || bytes.Equal(answer.Request.Body, o.First.Answer().Request.Body) {
		v.Undecide(registry.Unreadable, "the third request is not another body under the same key")
		return
	}
	isRefusal(v, "other-body-refused", "another body with the same key", answer, refusal{409, "idempotency_key_mismatch"},
		"a caller that reuses a key by mistake believes that its second request was carried out", sectionTrigger)
}

func idempotencyKey(x observe.Exchange) string {
	for _, h := range x.Request.Headers {
		if strings.EqualFold(h.Name, "Idempotency-Key") {
			return h.Value
		}
	}
	return ""
}

// sameJSON says whether two documents are equal as JSON; where either is none, as bytes.
func sameJSON(a, b []byte) bool {
	var x, y any
	if json.Unmarshal(a, &x) != nil || json.Unmarshal(b, &y) != nil {
		return bytes.Equal(a, b)
	}
	return reflect.DeepEqual(x, y)
}
