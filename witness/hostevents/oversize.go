package hostevents

import (
	"fmt"

	"github.com/wopwitness/wopwitness/scenarios/registry"
	"github.com/wopwitness/wopwitness/witness"
	"github.com/wopwitness/wopwitness/witness/observe"
)

// Oversize is a small event and a large one of the same type, both by the emit seam and so both accepted. Live is a
// stream resumed before either and open throughout; Replayed was resumed at the same cursor after both.
type Oversize struct {
	Reading
	Observer observe.Subscription `json:"observer"`
	Cursor   observe.Emit         `json:"cursor"`
	Small    observe.Emit         `json:"small"`
	Large    observe.Emit         `json:"large"`
	Sentinel observe.Emit         `json:"sentinel"`
	Live     observe.Subscription `json:"live"`
	Replayed observe.Subscription `json:"replayed"`
	Bytes    int                  `json:"bytes"` // asked for as the large one's payload
}

// JudgeOversize judges 0250.oversize (RFC 0250 §B): a large event is delivered live and replayed like any other, and with
// the same payload. Hubs are known that pass events on in notifications of a limited size, and drop, or cut, what does not
// fit.
func JudgeOversize(o Oversize) witness.Verdict {
	var v witness.Verdict
	if o.Large.EventID == "" || o.Small.EventID == "" || o.Sentinel.EventID == "" || o.Bytes <= 0 {
		v.Undecide(registry.Unreadable, "the observation has no large event, no small one beside it or no sentinel")
		return v
	}
	all := []observe.Emit{o.Cursor, o.Small, o.Large, o.Sentinel}
	live := accountOf(o.Reading, "the open stream", o.Live, o.Observer, all)
	replayed := accountOf(o.Reading, "the resumed stream", o.Replayed, o.Observer, all)
	for _, a := range []account{live, replayed} {
		if !a.opened() {
			v.Undecide(registry.UnexpectedAnswer, "the cursor was not resumed: %s", a.answer())
			return v
		}
	}
	seen, data := o.largest(live, replayed, accountOf(o.Reading, "the observer", o.Observer, o.Observer, all))
	if seen && len(data) < o.Bytes {
		v.Undecide(registry.UnexpectedAnswer, "the large event's envelope has %d bytes, of %d asked for", len(data), o.Bytes)
		return v
	}
	o.there(&v, live, "delivered-live", "delivered live")
	o.there(&v, replayed, "replayed", "replayed")
	for _, a := range []account{live, replayed} {
		o.whole(&v, a, data)
	}
	return v
}

// largest is the large event's data as the stream gave it that gave most of it.
func (o Oversize) largest(streams ...account) (seen bool, data string) {
	for _, a := range streams {
		if f, shown := a.frameOf(o.Large); shown {
			if seen = true; len(f.Data) > len(data) {
				data = f.Data
			}
		}
	}
	return seen, data
}

// whole checks that a stream which showed the large event showed all of its payload. The rest of the envelope is the same
// for events of any size, and another leg's question.
func (o Oversize) whole(v *witness.Verdict, a account, data string) {
	f, shown := a.frameOf(o.Large)
	if !shown {
		return
	}
	want, _ := object(data)
	got, _ := object(f.Data)
	where := differing("payload", want["payload"], got["payload"])
	v.Check("same-payload", where == "", func() witness.Finding {
		return witness.Finding{
			Says:  fmt.Sprintf("%s shows a durable event of %d bytes with another payload than a stream beside it", a.name, o.Bytes),
			Shown: []witness.Shown{{Label: "whole", Text: shorten(data)}, {Label: "here", Text: shorten(f.Data)}}, Differs: where,
			Why:     "what a subscriber learns depends on whether it was connected at the time, and nothing tells it that a part is missing",
			Section: sectionResume,
		}
	})
}

// there checks that a stream showed the large event. That it was waited for is shown by the small one before it and the
// sentinel behind it; a stream that shows neither has another defect.
func (o Oversize) there(v *witness.Verdict, a account, check, done string) {
	n := a.count(o.Large)
	patient := a.settled(o.Sentinel, a.reading.Quiet) || a.waitedFor(o.Large, nil)
	if n == 0 && (a.count(o.Small) == 0 || !patient) {
		v.Undecide(registry.Timeout, "%s did not show the small event and the sentinel, so the large one's absence says nothing", a.name)
		return
	}
	v.Check(check, n > 0, func() witness.Finding {
		return witness.Finding{
			Says:     fmt.Sprintf("a durable event of %d bytes is not %s, and a small one beside it is", o.Bytes, done),
			Expected: "both", Got: a.story(),
			Why:     "what a subscriber learns depends on how much there was to say",
			Section: sectionResume,
		}
	})
	if n > 1 {
		v.Note("large-twice", "the large event arrived %d times", n)
	}
}
