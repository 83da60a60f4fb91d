package hostevents

import (
	"fmt"
	"slices"

	"github.com/wopwitness/wopwitness/scenarios/registry"
	"github.com/wopwitness/wopwitness/witness"
	"github.com/wopwitness/wopwitness/witness/observe"
)

// Twice is two connections at the same cursor, one after the other, and one at the last event of the backlog. After is
// the sentinel of that last one, sent while it was open.
type Twice struct {
	Reading
	Observer observe.Subscription `json:"observer"`
	Emits    []observe.Emit       `json:"emits"` // the cursor's event first; the last one is the third connection's cursor
	First    observe.Subscription `json:"first"`
	Second   observe.Subscription `json:"second"`
	AtEnd    observe.Subscription `json:"atEnd"`
	After    observe.Emit         `json:"after"`
}

// JudgeResumeTwice judges 0250.resume-twice (RFC 0250 §B): resuming takes nothing away, so the same cursor gives the
// same suffix again, and the last event's cursor an empty one. Whether the first suffix is right is another leg's
// question.
func JudgeResumeTwice(o Twice) witness.Verdict {
	var v witness.Verdict
	if len(o.Emits) < 2 || o.After.EventID == "" {
		v.Undecide(registry.Unreadable, "the observation has no backlog or no sentinel")
		return v
	}
	cursor, backlog := o.Emits[0], o.Emits[1:]
	first := accountOf(o.Reading, "the first connection", o.First, o.Observer, o.Emits)
	second := accountOf(o.Reading, "the second connection at the same cursor", o.Second, o.Observer, o.Emits)
	if !first.opened() || len(first.shown) == 0 || first.broken() != nil {
		v.Undecide(registry.UnexpectedAnswer, "the first connection resumed nothing, so there is nothing to repeat: %s", first.answer())
		return v
	}
	if second.resumed(&v) {
		o.sameAgain(&v, first, second, cursor, backlog)
	}
	atEnd := accountOf(o.Reading, "the connection at the last event", o.AtEnd, o.Observer, o.Emits, []observe.Emit{o.After})
	if atEnd.resumed(&v) {
		atEnd.never(&v, "empty-at-the-end", sectionResume, "a subscriber that has everything gets some of it again", o.Emits, o.After, o.Quiet)
		if n := atEnd.count(o.After); n > 1 {
			v.Note("sentinel-twice", "%s arrived %d times", o.After.Label, n)
		}
	}
	return v
}

// sameAgain convicts where the second connection showed other events than the first, once it was given the time.
func (o Twice) sameAgain(v *witness.Verdict, first, second account, cursor observe.Emit, backlog []observe.Emit) {
	was, is := shownLabels(first), shownLabels(second)
	same, end := slices.Equal(was, is), backlog[len(backlog)-1]
	patient := second.settled(end, o.Quiet) || second.waitedFor(end, nil)
	if !same && !patient && len(is) < len(was) {
		v.Undecide(registry.Timeout, "the second connection was not read long enough to say what it leaves out")
		return
	}
	v.Check("same-suffix-again", same, func() witness.Finding {
		return witness.Finding{
			Says:     fmt.Sprintf("resuming at %s a second time gives other events than the first time", cursor.Label),
			Expected: first.story(), Got: second.story(),
			Why:     "a subscriber whose connection breaks before it has read everything can never get the rest",
			Section: sectionResume,
		}
	})
}

func shownLabels(a account) []string {
	var names []string
	for _, s := range a.shown {
		names = append(names, s.emit.Label)
	}
	return names
}
