package hostevents

import (
	"github.com/wopwitness/wopwitness/scenarios/registry"
	"github.com/wopwitness/wopwitness/witness"
	"github.com/wopwitness/wopwitness/witness/observe"
)

// OnceElsewhere is one request to the trigger, sent again to the instance that answered it, and then to another one
// (Again).
type OnceElsewhere struct {
	Once
	Home observe.Emit `json:"home"`
}

// JudgeIdempotentElsewhere judges 0241.trigger.other-instance (RFC 0241): a key that one instance has answered is answered
// the same on another, and makes one event.
func JudgeIdempotentElsewhere(o OnceElsewhere) witness.Verdict {
	var v witness.Verdict
	if !o.asked(&v, o.Home) || !o.asked(&v, o.Again...) {
		return v
	}
	var home witness.Verdict
	if repeated(&home, o.First.Answer(), o.Home.Answer(), ""); len(home.Findings) > 0 {
		v.Undecide(registry.UnexpectedAnswer, "the instance itself does not give its answer again, so no other is held to it: %s", brief(o.Home.Answer()))
		return v
	}
	for _, e := range o.Again {
		repeated(&v, o.First.Answer(), e.Answer(), "on another instance")
	}
	o.oneEvent(&v)
	return v
}

// EphemeralElsewhere is ephemeral events and a durable sentinel of one instance, the observer on it, and a live stream on
// another. Window is how long that one was read after its sentinel.
type EphemeralElsewhere struct {
	Reading
	Observer  observe.Subscription `json:"observer"`
	First     observe.Emit         `json:"first"` // durable: the other stream was open when it showed it
	Emits     []observe.Emit       `json:"emits"`
	Sentinel  observe.Emit         `json:"sentinel"`
	Elsewhere observe.Subscription `json:"elsewhere"`
	Window    observe.Micros       `json:"window"`
}

const sectionDelivery = "RFC 0236 §Delivery"

// JudgeEphemeralElsewhere judges 0236.ephemeral.other-instance (RFC 0236): an ephemeral event reaches its tenant's
// subscribers on every instance. One may be lost with a connection, so several are sent, and one that arrives is enough.
func JudgeEphemeralElsewhere(o EphemeralElsewhere) witness.Verdict {
	var v witness.Verdict
	a := accountOf(o.Reading, "the stream on the other instance", o.Elsewhere, o.Observer, []observe.Emit{o.First, o.Sentinel}, o.Emits)
	sent := ephemerals(o.Emits)
	arrived, due := 0, 0
	for _, e := range sent {
		arrived += min(1, a.count(e))
		if at, ok := a.observed[e.EventID]; ok && a.connectedFor(e.SentAt(), at) {
			due++
		}
	}
	switch {
	case len(sent) == 0 || o.Sentinel.EventID == "":
		v.Undecide(registry.Unreadable, "the observation has no ephemeral event, or no sentinel")
		return v
	case !a.opened():
		v.Undecide(registry.UnexpectedAnswer, "the other instance opened no stream: %s", a.answer())
		return v
	case arrived == 0 && due == 0:
		v.Undecide(registry.Timeout, "none of %s was shown where it was sent while the stream on the other instance was connected", some(labels(sent)))
		return v
	case arrived == 0 && !a.settled(o.Sentinel, o.Window):
		v.Undecide(registry.Timeout, "%s never showed the sentinel, so what it did not show says nothing", a.name)
		return v
	}
	v.Check("reaches-other-instances", arrived > 0, func() witness.Finding {
		return witness.Finding{
			Says:     "ephemeral events reach the subscribers of the instance that they were sent to, and those of no other",
			Expected: "at least one of " + some(labels(sent)), Got: a.story(),
			Why:     "what a subscriber learns depends on the process that it happens to be connected to",
			Section: sectionDelivery,
		}
	})
	return v
}

// LargeElsewhere is a small durable event and a large one of the same type on one instance, the observer on it, and a
// live stream on another that had shown an event before.
type LargeElsewhere struct {
	Reading
	Observer  observe.Subscription `json:"observer"`
	First     observe.Emit         `json:"first"` // the other stream was open when it showed it
	Small     observe.Emit         `json:"small"`
	Large     observe.Emit         `json:"large"`
	Sentinel  observe.Emit         `json:"sentinel"`
	Elsewhere observe.Subscription `json:"elsewhere"`
	Bytes     int                  `json:"bytes"` // asked for as the large one's payload
}

// JudgeLargeElsewhere judges 0250.oversize.other-instance (RFC 0250 §B): a large event of one instance is delivered on
// another like a small one. Hubs are known whose instances tell each other the events themselves, in notifications of a
// limited size.
func JudgeLargeElsewhere(o LargeElsewhere) witness.Verdict {
	var v witness.Verdict
	if o.Large.EventID == "" || o.Small.EventID == "" || o.Sentinel.EventID == "" || o.Bytes <= 0 {
		v.Undecide(registry.Unreadable, "the observation has no large event, no small one beside it or no sentinel")
		return v
	}
	all := []observe.Emit{o.First, o.Small, o.Large, o.Sentinel}
	a := accountOf(o.Reading, "the stream on the other instance", o.Elsewhere, o.Observer, all)
	home, seen := accountOf(o.Reading, "the observer", o.Observer, o.Observer, all).frameOf(o.Large)
	switch {
	case !a.opened():
		v.Undecide(registry.UnexpectedAnswer, "the other instance opened no stream: %s", a.answer())
		return v
	case !seen:
		v.Undecide(registry.Timeout, "the large event was not shown on its own instance either")
		return v
	case len(home.Data) < o.Bytes:
		v.Undecide(registry.UnexpectedAnswer, "the large event's envelope has %d bytes, of %d asked for", len(home.Data), o.Bytes)
		return v
	}
	Oversize{Reading: o.Reading, Small: o.Small, Large: o.Large, Sentinel: o.Sentinel, Bytes: o.Bytes}.there(&v, a, "delivered-there", "delivered on another instance")
	return v
}
