package hostevents

import (
	"github.com/wopwitness/wopwitness/scenarios/registry"
	"github.com/wopwitness/wopwitness/witness"
	"github.com/wopwitness/wopwitness/witness/observe"
)

// NoResume is several subscribers that connect after an ephemeral event, each with another Last-Event-ID and none with
// replay=required, and a durable sentinel sent once all are open.
type NoResume struct {
	Reading
	Window      observe.Micros       `json:"window"` // how long each stream was read after the sentinel, and waited for before it connected
	Observer    observe.Subscription `json:"observer"`
	Backlog     []observe.Emit       `json:"backlog"`
	Reconnected []Reconnected        `json:"reconnected"`
	Sentinel    observe.Emit         `json:"sentinel"`
}

// Reconnected is one of the subscribers.
type Reconnected struct {
	At     string               `json:"at"` // "durable-cursor", "ephemeral-cursor" or "no-cursor"
	Stream observe.Subscription `json:"stream"`
}

// JudgeNoResume judges 0236.ephemeral.no-resume (RFC 0236): an ephemeral event is never redelivered, whatever
// Last-Event-ID says. What a host answers to a cursor without the parameter is its own affair.
func JudgeNoResume(o NoResume) witness.Verdict {
	var v witness.Verdict
	old := ephemerals(o.Backlog)
	home := accountOf(o.Reading, "the observer", o.Observer, o.Observer, o.Backlog)
	var shown []observe.Emit
	for _, e := range old {
		if home.count(e) > 0 {
			shown = append(shown, e)
		}
	}
	if len(shown) == 0 || o.Sentinel.EventID == "" {
		v.Undecide(registry.Timeout, "the observer never showed the ephemeral event, so its absence elsewhere says nothing")
		return v
	}
	for _, at := range []string{"durable-cursor", "ephemeral-cursor", "no-cursor"} {
		for _, r := range o.Reconnected {
			if r.At == at {
				o.one(&v, r, home, shown)
			}
		}
	}
	if len(v.Checks) == 0 {
		v.Undecide(registry.UnexpectedAnswer, "no reconnection opened a stream")
	}
	return v
}

func (o NoResume) one(v *witness.Verdict, r Reconnected, home account, old []observe.Emit) {
	a := accountOf(o.Reading, "the stream opened with "+r.At, r.Stream, o.Observer, o.Backlog, []observe.Emit{o.Sentinel})
	if !a.opened() {
		v.Note("not-opened", "a reconnection with %s and without the parameter is answered %s", r.At, a.answer())
		return
	}
	connected := r.Stream.Segments[0].SentAt
	for _, e := range old {
		// A slow hub may still be handing the event out when the subscriber comes: that is late, not again.
		if a.count(e) > 0 && connected < home.observed[e.EventID]+o.Window {
			v.Undecide(registry.Timeout, "%s was open so soon after %s that a slow delivery cannot be told from a second one", a.name, e.Label)
			return
		}
	}
	a.never(v, "no-redelivery-at-"+r.At, "RFC 0236 §Delivery", whyEphemeral, old, o.Sentinel, max(o.Quiet, o.Window))
}
