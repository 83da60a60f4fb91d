package hostevents

import (
	"github.com/wopwitness/wopwitness/scenarios/registry"
	"github.com/wopwitness/wopwitness/witness"
	"github.com/wopwitness/wopwitness/witness/observe"
)

// LiveStart is two connections under replay=required that name no position: one without Last-Event-ID, one with an
// empty one. Old was shown by the observer before they were made, Live was sent while both were open.
type LiveStart struct {
	Reading
	Observer observe.Subscription `json:"observer"`
	Old      []observe.Emit       `json:"old"`
	Window   observe.Micros       `json:"window"` // an event seen this long before a connection cannot still be on its way
	Absent   observe.Subscription `json:"absent"`
	Empty    observe.Subscription `json:"empty"`
	Live     []observe.Emit       `json:"live"` // sent again and again until both streams had shown one
}

// JudgeLiveStart judges 0250.live-start (RFC 0250 §B): without a position the stream opens live and replays nothing.
func JudgeLiveStart(o LiveStart) witness.Verdict {
	var v witness.Verdict
	if len(o.Old) == 0 || len(o.Live) == 0 {
		v.Undecide(registry.Unreadable, "the observation has no event from before the connections, or none from after")
		return v
	}
	o.liveOnly(&v, "the stream without a Last-Event-ID", o.Absent)
	o.liveOnly(&v, "the stream with an empty Last-Event-ID", o.Empty)
	return v
}

func (o LiveStart) liveOnly(v *witness.Verdict, name string, stream observe.Subscription) {
	a := accountOf(o.Reading, name, stream, o.Observer, o.Old, o.Live)
	if !a.opensLive(v) {
		return
	}
	first := stream.Segments[0]
	var old []observe.Emit
	for _, e := range o.Old {
		if at, seen := a.observed[e.EventID]; seen && at+o.Window <= first.SentAt {
			old = append(old, e)
		}
	}
	if len(old) == 0 {
		v.Undecide(registry.Timeout, "no event was seen well before %s was opened", name)
		return
	}
	live, arrived := a.firstOf(o.Live)
	if !arrived {
		a.heardNothing(v, o.Live)
	} else {
		v.Check("then-live", true, nil)
	}
	a.never(v, "nothing-replayed", sectionResume, "a subscriber that starts afresh acts on events that are over", old, live, o.Quiet)
}

// opensLive checks that a connection that names no position was opened rather than refused.
func (a account) opensLive(v *witness.Verdict) bool {
	if len(a.stream.Segments) == 0 {
		v.Undecide(registry.Unreadable, "the observation holds no connection for %s", a.name)
		return false
	}
	first := a.stream.Segments[0]
	if !answered(v, a.name, first) {
		return false
	}
	v.Check("opens-live", first.Opened(), func() witness.Finding {
		return witness.Finding{
			Says:     "a connection that names no position was not opened: " + a.name,
			Expected: "200 text/event-stream", Got: brief(first.Exchange),
			Why:     "a subscriber that starts for the first time has no cursor to give, and can never start",
			Section: sectionResume,
		}
	})
	return first.Opened()
}

// firstOf is the first of the events that the stream showed.
func (a account) firstOf(emits []observe.Emit) (observe.Emit, bool) {
	in := idsOf(emits)
	for _, s := range a.shown {
		if in[s.emit.EventID] {
			return s.emit, true
		}
	}
	return observe.Emit{}, false
}

// heardNothing convicts a stream that stayed deaf to events that the observer showed, where it was read long enough.
func (a account) heardNothing(v *witness.Verdict, sent []observe.Emit) {
	var missed []observe.Emit
	for _, e := range sent {
		_, shown := a.observed[e.EventID]
		if shown && e.SentAt() >= a.stream.Segments[0].AnsweredAt && a.waitedFor(e, nil) {
			missed = append(missed, e)
		}
	}
	if len(missed) == 0 {
		v.Undecide(registry.Timeout, "%s was not read long enough to say that it stays silent", a.name)
		return
	}
	v.Check("then-live", false, func() witness.Finding {
		return witness.Finding{
			Says:     a.name + " showed none of the events emitted while it was open",
			Expected: "at least one of " + some(labels(missed)), Got: a.story(),
			Why:     "the subscriber is connected and hears nothing",
			Section: sectionResume,
		}
	})
}
