package hostevents

import (
	"fmt"

	"github.com/wopwitness/wopwitness/scenarios/registry"
	"github.com/wopwitness/wopwitness/witness"
	"github.com/wopwitness/wopwitness/witness/observe"
)

// Handoff is one writer that went on emitting while many subscribers resumed, each at a cursor of its own, so that each
// passed from backlog to live in the middle of the writing.
type Handoff struct {
	Reading
	Observer    observe.Subscription `json:"observer"`
	Emits       []observe.Emit       `json:"emits"` // one after another, each shown by the observer before the next
	Subscribers []Subscriber         `json:"subscribers"`
}

// Subscriber is one of them. Cursor is the label of the event it resumed at.
type Subscriber struct {
	Cursor string               `json:"cursor"`
	Stream observe.Subscription `json:"stream"`
}

// JudgeHandoff judges 0250.handoff (RFC 0250 §B): each subscriber sees the exact suffix behind its cursor, with no gap
// and no duplicate where the backlog ends and live begins.
func JudgeHandoff(o Handoff) witness.Verdict {
	var v witness.Verdict
	if len(o.Subscribers) == 0 {
		v.Undecide(registry.Unreadable, "the observation has no subscriber")
		return v
	}
	crossed := 0
	for i, s := range o.Subscribers {
		one := Suffix{Reading: o.Reading, Observer: o.Observer, Emits: o.Emits, Cursor: s.Cursor, Resumed: s.Stream}
		if _, resumed := one.judge(&v, fmt.Sprintf("subscriber %d, resumed at %s,", i+1, s.Cursor)); resumed && one.crossed() {
			crossed++
		}
	}
	v.Findings = foldAlike(v.Findings)
	if crossed == 0 && len(v.Findings) == 0 {
		v.Undecide(registry.Timeout, "no subscriber connected while the writer was writing, so no handoff was seen")
	}
	return v
}

// foldAlike keeps the first finding of each check and says how many more there were: a host that is wrong once is wrong
// for every subscriber.
func foldAlike(findings []witness.Finding) []witness.Finding {
	var kept []witness.Finding
	more := map[string]int{}
	for _, f := range findings {
		if more[f.Check]++; more[f.Check] == 1 {
			kept = append(kept, f)
		}
	}
	for i, f := range kept {
		if n := more[f.Check] - 1; n > 0 {
			kept[i].Says += fmt.Sprintf(" (and %s alike)", plural(n, "subscriber"))
		}
	}
	return kept
}

// crossed says whether the writer wrote on both sides of the connection: some of the suffix before it was asked for,
// some after.
func (o Suffix) crossed() bool {
	var before, since bool
	for _, e := range after(o.Emits, o.Cursor) {
		before = before || e.SentAt() < o.Resumed.Segments[0].SentAt
		since = since || e.SentAt() >= o.Resumed.Segments[0].SentAt
	}
	return before && since
}
