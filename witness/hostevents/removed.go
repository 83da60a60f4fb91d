package hostevents

import (
	"github.com/wopwitness/wopwitness/scenarios/registry"
	"github.com/wopwitness/wopwitness/witness"
	"github.com/wopwitness/wopwitness/witness/observe"
)

// Removed is a subscriber that resumes before an event that has been deleted since, and a cursor that names it.
type Removed struct {
	Reading
	Observer observe.Subscription `json:"observer"`
	Emits    []observe.Emit       `json:"emits"` // the cursor's event, the one removed, the sentinel
	Removal  observe.Exchange     `json:"removal"`
	Cursor   string               `json:"cursor"`
	Gone     string               `json:"gone"`   // the label of the removed one
	Before   observe.Subscription `json:"before"` // resumed at an earlier event, before the removal
	Resumed  observe.Subscription `json:"resumed"`
	Unknown  observe.Stream       `json:"unknown"`
	AtGone   observe.Stream       `json:"atGone"`
	// Newest is the removal of the last of Emits, After what was emitted then, and Later a stream that resumed after that.
	Newest observe.Exchange     `json:"newest"`
	After  []observe.Emit       `json:"after,omitempty"`
	Later  observe.Subscription `json:"later"`
}

// JudgeRemoved judges 0250.removed (RFC 0250 §D): an event removed by lawful deletion is left out of replay, and a
// cursor that names it is refused like any other.
func JudgeRemoved(o Removed) witness.Verdict {
	var v witness.Verdict
	gone := find(o.Emits, o.Gone)
	if gone.EventID == "" || !TookEffect(o.Removal) {
		v.Undecide(registry.UnexpectedAnswer, "nothing was removed, so there is nothing to leave out: %s", brief(o.Removal))
		return v
	}
	a := accountOf(o.Reading, "the stream resumed before it", o.Resumed, o.Observer, o.Emits)
	if _, shown := a.observed[gone.EventID]; !shown {
		v.Undecide(registry.Timeout, "the observer never showed %s, so its absence says nothing", gone.Label)
		return v
	}
	const why = "what was deleted for a reason is shown again to whoever reconnects"
	if a.opened() {
		o.othersKept(&v, a)
		a.never(&v, "left-out", "RFC 0250 §D", why, []observe.Emit{gone}, o.Emits[len(o.Emits)-1], o.Quiet)
	} else {
		v.Undecide(registry.UnexpectedAnswer, "the cursor before it was not resumed: %s", a.answer())
	}
	uniformRefusal(&v, "removed-like-unknown", "a removed event's cursor", o.Unknown, "removed", o.AtGone,
		"the answer tells that there was an event, and that it was deleted")
	o.newestGone(&v)
	return v
}

// TookEffect says whether the answer to a removal says that the event was removed.
func TookEffect(removal observe.Exchange) bool {
	return removal.Status() >= 200 && removal.Status() <= 299
}

// newestGone checks that a stream which had shown the newest event shows what follows its removal. A host that counts
// places from the newest one that is left gives the removed one's to the next event. Where the host ended the stream
// meanwhile, its subscriber came back at an event that is gone, and nothing is promised of that.
func (o Removed) newestGone(v *witness.Verdict) {
	if len(o.After) == 0 || !TookEffect(o.Newest) {
		v.Note("newest-not-removed", "the newest event was not removed, so nothing follows its removal")
		return
	}
	a := accountOf(o.Reading, "the stream that was open when the newest event was removed", o.Observer, o.Later, o.Emits, o.After)
	if !a.opened() || !a.connectedFor(o.Newest.SentAt, a.readUntil()) {
		v.Note("stream-ended", "the host ended the stream on which the newest event was shown")
		return
	}
	var lost []string
	for _, e := range o.After {
		_, kept := a.observed[e.EventID]
		switch {
		case a.count(e) > 0:
		case !kept || !a.waitedFor(e, nil):
			v.Undecide(registry.Timeout, "%s was not waited for on %s, or was never shown to be committed", e.Label, a.name)
			return
		default:
			lost = append(lost, e.Label)
		}
	}
	v.Check("goes-on-after-the-newest", len(lost) == 0, func() witness.Finding {
		return witness.Finding{
			Says:     "the newest event was removed, and a stream that had shown it never showed " + some(lost),
			Expected: some(labels(o.After)), Got: a.story(), Section: sectionResume,
			Why: "deleting one event takes the next one from every subscriber that is connected, and none of them is told",
		}
	})
}

// othersKept checks that what was replayed before the removal, and was not removed, still is. The event right behind the
// cursor is left to the legs that ask for a whole suffix.
func (o Removed) othersKept(v *witness.Verdict, a account) {
	before := accountOf(o.Reading, "the stream resumed before the removal", o.Before, o.Observer, o.Emits)
	var lost []string
	for i, e := range after(o.Emits, o.Cursor) {
		if i > 0 && e.Label != o.Gone && before.count(e) > 0 && a.count(e) == 0 && a.waitedFor(e, nil) {
			lost = append(lost, e.Label)
		}
	}
	v.Check("others-kept", len(lost) == 0, func() witness.Finding {
		return witness.Finding{
			Says:     "removing " + o.Gone + " took " + some(lost) + " with it",
			Expected: before.story() + ", without " + o.Gone, Got: a.story(),
			Why:     "a subscriber loses events that nobody deleted, and is not told",
			Section: sectionResume,
		}
	})
}
