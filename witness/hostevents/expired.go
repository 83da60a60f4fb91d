package hostevents

import (
	"github.com/wopwitness/wopwitness/scenarios/registry"
	"github.com/wopwitness/wopwitness/witness"
	"github.com/wopwitness/wopwitness/witness/observe"
)

// Expired is a cursor that the host's clock was moved past the bound for, and one that it was not. Retention is the
// bound; how old an event was at a connection follows from the moves and the time that went by.
type Expired struct {
	Reading
	Observer observe.Subscription `json:"observer"`
	Emits    []observe.Emit       `json:"emits"` // in the order sent, the last of them the sentinel
	Moves    []observe.ClockMove  `json:"moves"`
	Old      string               `json:"old"`   // the label of the cursor past the bound
	Young    string               `json:"young"` // the label of one within it
	AtOld    observe.Subscription `json:"atOld"`
	AtYoung  observe.Subscription `json:"atYoung"`
	Unknown  observe.Stream       `json:"unknown"`
}

// clockGrain is how far a host's clock and the suite's may be apart over one leg: a seam answers in whole seconds.
const clockGrain = observe.Micros(2_000_000)

// shortBound is a bound that an event may pass while a leg looks at it, with both clocks right.
const shortBound = 3 * clockGrain

// JudgeExpired judges 0250.expired (RFC 0250 §B, §C): the bound is a floor. A cursor past it may be resumed, and then
// everything younger than the bound is there, or refused like an unknown one. A cursor within it is resumed.
func JudgeExpired(o Expired) witness.Verdict {
	var v witness.Verdict
	old, young := find(o.Emits, o.Old), find(o.Emits, o.Young)
	if o.Retention <= 0 || old.EventID == "" || young.EventID == "" || len(o.AtOld.Segments) == 0 {
		v.Undecide(registry.Unreadable, "the observation has no bound, or no cursor on either side of it")
		return v
	}
	o.pastTheBound(&v, old)
	o.withinTheBound(&v, young)
	return v
}

func (o Expired) pastTheBound(v *witness.Verdict, old observe.Emit) {
	first := o.AtOld.Segments[0]
	a := accountOf(o.Reading, "the stream resumed past the bound", o.AtOld, o.Observer, o.Emits)
	at, shown := a.observed[old.EventID]
	if !shown || first.SentAt-at+o.moved(at) <= o.Retention+clockGrain {
		v.Undecide(registry.ClockMoved, "%s was not past the bound when its cursor was used", old.Label)
		return
	}
	if !first.Opened() {
		v.Note("refused-past-bound", "a cursor past the bound is refused")
		uniformRefusal(v, "expired-like-unknown", "a cursor past the bound", o.Unknown, "expired", first,
			"the answer tells that the id was once issued")
		return
	}
	v.Note("resumed-past-bound", "a cursor past the bound is resumed")
	v.Check("resumed-or-refused", !a.turnsAway(), func() witness.Finding {
		return witness.Finding{
			Says:     "a cursor past the bound is neither resumed nor refused: each connection is opened as a stream and ended with no event",
			Expected: "the events within the bound, or the refusal before any event-stream byte", Got: opening(first),
			Why:     "the subscriber connects again and again and is never told that it has to resynchronize",
			Section: "RFC 0250 §C",
		}
	})
	if a.turnsAway() {
		return
	}
	expected := after(o.Emits, o.Old)
	young := o.younger(expected, first)
	if len(young) > 0 {
		a.suffix(v, young)
	}
	certain, gone := idsOf(young), 0
	for _, e := range expected {
		if !certain[e.EventID] && a.count(e) == 0 {
			gone++
		}
	}
	if gone > 0 {
		v.Note("older-left-out", "%s past the bound left out", plural(gone, "event"))
	}
}

// turnsAway says whether the host opened connection after connection and ended each without an event.
func (a account) turnsAway() bool {
	const enough = 10
	ended := 0
	for _, s := range a.stream.Segments {
		if s.Opened() && s.EndedByHost() {
			ended++
		}
	}
	return len(a.shown) == 0 && ended >= enough
}

// opening is the first text of a stream.
func opening(s observe.Stream) string {
	if len(s.Chunks) == 0 {
		return "no byte"
	}
	return shorten(s.Chunks[0].Bytes.String())
}

func (o Expired) withinTheBound(v *witness.Verdict, young observe.Emit) {
	a := accountOf(o.Reading, "the stream resumed within the bound", o.AtYoung, o.Observer, o.Emits)
	if len(o.AtYoung.Segments) == 0 {
		v.Undecide(registry.Unreadable, "the observation holds no connection within the bound")
		return
	}
	if o.age(young, o.AtYoung.Segments[0]) >= o.Retention {
		if o.Retention <= shortBound {
			v.Note("short-bound", "the bound is too short to tell what is within it from what is past it")
			return
		}
		v.Undecide(registry.Timeout, "%s had passed the bound by the time its cursor was used", young.Label)
		return
	}
	if !a.resumed(v) {
		return
	}
	a.suffix(v, o.younger(after(o.Emits, o.Young), o.AtYoung.Segments[0]))
}

// younger gives those of the events that were certainly within the bound when the connection was answered.
func (o Expired) younger(emits []observe.Emit, s observe.Stream) []observe.Emit {
	var young []observe.Emit
	for _, e := range emits {
		if o.age(e, s) < o.Retention {
			young = append(young, e)
		}
	}
	return young
}

// age is how old an event may have been, at most, when a connection was answered.
func (o Expired) age(e observe.Emit, s observe.Stream) observe.Micros {
	moved := observe.Micros(0)
	for _, m := range o.Moves {
		if m.Exchange.AnsweredAt >= e.SentAt() {
			moved += seconds(m.Seconds)
		}
	}
	return s.AnsweredAt - e.SentAt() + moved + clockGrain
}

// moved is how far the clock was certainly moved on after a moment.
func (o Expired) moved(since observe.Micros) observe.Micros {
	sum := observe.Micros(0)
	for _, m := range o.Moves {
		if m.Exchange.Status() == 200 && m.Exchange.SentAt >= since {
			sum += seconds(m.Seconds)
		}
	}
	return sum
}

func seconds(n int64) observe.Micros { return observe.Micros(n) * 1_000_000 }
