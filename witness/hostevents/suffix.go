package hostevents

import (
	"fmt"

	"github.com/wopwitness/wopwitness/scenarios/registry"
	"github.com/wopwitness/wopwitness/witness"
	"github.com/wopwitness/wopwitness/witness/observe"
)

const sectionResume = "RFC 0250 §B"

// Suffix is one subscriber that resumed at an event, held against every event emitted after it: before the connection
// or while it was open. Which connection it was (another instance, a bounded stream) is the leg's affair.
type Suffix struct {
	Reading
	Observer observe.Subscription `json:"observer"`
	Emits    []observe.Emit       `json:"emits"`  // in the order sent, the cursor's event among them
	Cursor   string               `json:"cursor"` // its label
	Resumed  observe.Subscription `json:"resumed"`
}

// judge holds the stream against the suffix. It is false where the cursor was not resumed or nothing follows it.
func (o Suffix) judge(v *witness.Verdict, name string) (account, bool) {
	a := accountOf(o.Reading, name, o.Resumed, o.Observer, o.Emits)
	return a, a.judgeSuffix(v, o.Emits, o.Cursor)
}

func (a account) judgeSuffix(v *witness.Verdict, emits []observe.Emit, cursor string) bool {
	expected := after(emits, cursor)
	if find(emits, cursor).EventID == "" || len(expected) == 0 {
		v.Undecide(registry.Unreadable, "the observation has no cursor, or nothing was emitted after it")
		return false
	}
	if !a.resumed(v) {
		return false
	}
	a.suffix(v, expected)
	a.nothingElse(v, expected)
	return true
}

// nothingElse checks that of the suite's own durable events the stream showed none but the expected ones: not the
// cursor's, and nothing from before it.
func (a account) nothingElse(v *witness.Verdict, expected []observe.Emit) {
	in := idsOf(expected)
	var old []string
	for _, s := range a.shown {
		if !in[s.emit.EventID] && s.emit.Delivery == "durable" {
			old = append(old, s.emit.Label)
		}
	}
	v.Check("nothing-before", len(old) == 0, func() witness.Finding {
		return witness.Finding{
			Says:     fmt.Sprintf("%s delivered %s, which is the cursor's event or older", a.name, some(old)),
			Expected: some(labels(expected)), Got: a.story(),
			Why:     "the subscriber has handled that event already, and handles it again",
			Section: sectionResume,
		}
	})
}

// manyEvents is what the volume leg stands for: hubs are known that replay their last thousand events and no more.
const manyEvents = 1000

// Volume is a suffix of many events, a stream that was resumed at the same cursor before them and open throughout, and one
// that resumed at a cursor behind most of them.
type Volume struct {
	Suffix
	Open observe.Subscription `json:"open"`
	Late Subscriber           `json:"late"`
}

// JudgeVolume judges 0250.volume (RFC 0250 §B): a cursor stays resumable whatever the number of newer events, and all of
// them arrive, on a stream that was open while several writers wrote and on one that resumes afterwards. Order convicts
// only where it is known.
func JudgeVolume(o Volume) witness.Verdict {
	var v witness.Verdict
	if n := len(after(o.Emits, o.Cursor)); n <= manyEvents {
		v.Note("small-volume", "only %s followed the cursor; the requirement is about more than %d", plural(n, "event"), manyEvents)
	}
	own := ownOf(o.Emits)
	observed, open, resumed := sightingsOf(o.Observer, own), sightingsOf(o.Open, own), sightingsOf(o.Resumed, own)
	behind := accountFrom(o.Reading, "the stream resumed behind many events", o.Resumed, own, resumed, observed)
	throughout := accountFrom(o.Reading, "the stream that was open throughout", o.Open, own, open, resumed)
	observer := accountFrom(o.Reading, "the observer", o.Observer, own, observed, observed)

	kept := vanished(&v, o.Emits, o.Cursor, observer, throughout, behind)
	behind.judgeSuffix(&v, kept, o.Cursor)
	throughout.judgeSuffix(&v, kept, o.Cursor)
	late := accountFrom(o.Reading, "the stream resumed at a cursor behind many events", o.Late.Stream, own, sightingsOf(o.Late.Stream, own), observed)
	late.judgeLate(&v, kept, o.Late.Cursor)
	return v
}

// judgeLate asks for what was emitted after the cursor. What the writers emitted before it may lawfully come as well: its
// commit may have followed the cursor's.
func (a account) judgeLate(v *witness.Verdict, emits []observe.Emit, cursor string) {
	expected := after(emits, cursor)
	if find(emits, cursor).EventID == "" || len(expected) == 0 {
		v.Undecide(registry.Unreadable, "the observation has no cursor behind the events, or nothing after it")
		return
	}
	if a.resumed(v) {
		a.suffix(v, expected)
	}
}

// vanished convicts of events that the host accepted and no stream ever showed, and gives the others. A commit may follow
// the answer, so each stream must have been read for the whole patience, and a later event must have come: the host was
// alive and went on without them.
func vanished(v *witness.Verdict, emits []observe.Emit, cursor string, streams ...account) (kept []observe.Emit) {
	var gone []string
	for _, e := range emits {
		lost := e.Label != cursor && e.EventID != ""
		for _, a := range streams {
			lost = lost && a.opened() && a.count(e) == 0 && a.waitedFor(e, nil) && a.showedLater(e)
		}
		if lost {
			gone = append(gone, e.Label)
		} else {
			kept = append(kept, e)
		}
	}
	if len(gone) > 0 {
		v.Check("accepted-and-kept", false, func() witness.Finding {
			return witness.Finding{
				Says:     fmt.Sprintf("the host accepted %s that no stream ever showed, neither live nor replayed", plural(len(gone), "event")),
				Expected: "each accepted event on every stream", Got: "nowhere: " + some(gone),
				Why:     "whoever emitted them believes that they are on their way",
				Section: sectionResume,
			}
		})
	}
	return kept
}

// showedLater says whether the stream showed an event that was sent after e was accepted.
func (a account) showedLater(e observe.Emit) bool {
	for _, s := range a.shown {
		if s.emit.SentAt() > e.Answer().AnsweredAt {
			return true
		}
	}
	return false
}

// JudgeOtherInstance judges 0250.other-instance (RFC 0250 §B): what was emitted on one instance is resumed, and then
// delivered live, on another of the same host.
func JudgeOtherInstance(o Suffix) witness.Verdict {
	var v witness.Verdict
	o.judge(&v, "the stream resumed on the other instance")
	return v
}
