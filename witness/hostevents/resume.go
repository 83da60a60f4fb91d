package hostevents

import (
	"strings"

	"github.com/wopwitness/wopwitness/scenarios/registry"
	"github.com/wopwitness/wopwitness/witness"
	"github.com/wopwitness/wopwitness/witness/observe"
)

// Resume is a reconnection at a cursor: events were emitted and shown by the observer, a subscriber resumed at one of
// them, and more events followed live. Sentinel is the label of the last durable one.
type Resume struct {
	Reading
	Observer observe.Subscription `json:"observer"`
	Backlog  []observe.Emit       `json:"backlog"` // in the order sent, the cursor's event among them
	Cursor   string               `json:"cursor"`  // its label
	Resumed  observe.Subscription `json:"resumed"`
	Live     []observe.Emit       `json:"live"` // sent after the connection was open
	Sentinel string               `json:"sentinel"`
	// EphemeralWindow is how long something without a commit order was waited for after the sentinel.
	EphemeralWindow observe.Micros `json:"ephemeralWindow,omitempty"`
}

func (o Resume) account() account {
	return accountOf(o.Reading, "the resumed stream", o.Resumed, o.Observer, o.Backlog, o.Live)
}

const whyEphemeral = "an ephemeral event tells of a moment that is over; a subscriber that gets it later acts on what is no longer true"

// JudgeResumeBacklog judges 0250.resume-backlog (RFC 0250 §B): the durable events after the cursor, each once and in
// commit order, then live, and never the cursor's own event.
func JudgeResumeBacklog(o Resume) witness.Verdict {
	var v witness.Verdict
	const section = sectionResume
	a := o.account()
	cursor, sentinel := find(o.Backlog, o.Cursor), find(o.Live, o.Sentinel)
	expected := append(after(o.Backlog, o.Cursor), durables(o.Live)...)
	if cursor.EventID == "" || len(after(o.Backlog, o.Cursor)) == 0 {
		v.Undecide(registry.Unreadable, "the observation has no cursor or no backlog")
		return v
	}
	if !a.resumed(&v) {
		return v
	}
	if sentinel.EventID == "" {
		v.Undecide(registry.Unreadable, "the observation has no sentinel")
		return v
	}
	a.suffix(&v, expected)
	a.never(&v, "cursor-not-repeated", section, "the subscriber has handled that event already, and handles it again",
		[]observe.Emit{cursor}, sentinel, o.Quiet)
	if old := ephemerals(o.Backlog); len(old) > 0 {
		a.never(&v, "no-old-ephemeral", section, whyEphemeral, old, sentinel, o.Quiet)
	}
	o.liveEphemeral(&v, a, section)
	return v
}

// liveEphemeral checks that ephemeral events flow on a resumed stream. One may lawfully be lost with a connection, so
// several are sent, and one that arrives is enough.
func (o Resume) liveEphemeral(v *witness.Verdict, a account, section string) {
	sent := ephemerals(o.Live)
	if len(sent) == 0 {
		return
	}
	arrived, due := 0, 0
	for _, e := range sent {
		arrived += min(1, a.count(e))
		if at, ok := a.observed[e.EventID]; ok && a.connectedFor(e.SentAt(), at) {
			due++
		}
	}
	if arrived == 0 && due == 0 {
		v.Undecide(registry.Timeout, "none of %s was shown elsewhere while the stream was connected", some(labels(sent)))
		return
	}
	v.Check("live-after-backlog", arrived > 0, func() witness.Finding {
		return witness.Finding{
			Says:     "no ephemeral event reached the resumed stream once it was live",
			Expected: "at least one of " + some(labels(sent)), Got: a.story(),
			Why:     "a subscriber that reconnects goes deaf to half of what the host has to say",
			Section: section,
		}
	})
}

// connectedFor says whether one connection of the stream lasted from one moment to the other.
func (a account) connectedFor(from, to observe.Micros) bool {
	for _, s := range a.stream.Segments {
		if s.Opened() && s.AnsweredAt <= from && to <= s.EndedAt {
			return true
		}
	}
	return false
}

// JudgeEphemeralNotReplayed judges 0250.ephemeral-not-replayed (RFC 0250 §B): an ephemeral event emitted before the
// connection never arrives on it. That the event existed is shown by the observer.
func JudgeEphemeralNotReplayed(o Resume) witness.Verdict {
	var v witness.Verdict
	const section = sectionResume
	a := o.account()
	old, sentinel := ephemerals(o.Backlog), find(o.Live, o.Sentinel)
	if len(old) == 0 {
		v.Undecide(registry.Unreadable, "the observation has no ephemeral event")
		return v
	}
	for _, e := range old {
		if _, shown := a.observed[e.EventID]; !shown {
			v.Undecide(registry.Timeout, "the observer never showed %s, so its absence elsewhere says nothing", e.Label)
			return v
		}
	}
	if !a.opened() {
		v.Undecide(registry.UnexpectedAnswer, "the cursor was not resumed, so nothing was replayed: %s", a.answer())
		return v
	}
	if sentinel.EventID == "" {
		v.Undecide(registry.Unreadable, "the observation has no sentinel")
		return v
	}
	a.never(&v, "no-old-ephemeral", section, whyEphemeral, old, sentinel, max(o.Quiet, o.EphemeralWindow))
	return v
}

// answer is the first answer of the stream in one line.
func (a account) answer() string {
	if len(a.stream.Segments) == 0 {
		return "no connection"
	}
	return brief(a.stream.Segments[0].Exchange)
}

// resumedAgain checks the connections after the first: a host may bound a stream's life, and must resume the subscriber
// at the last of its events.
func (a account) resumedAgain(v *witness.Verdict) {
	for _, s := range a.stream.Segments[1:] {
		_, mine := a.own[cursorOf(s)]
		if s.Opened() || !mine || s.Response == nil || busy(s.Exchange) || a.cursorAged(s) || !strings.Contains(s.Request.Target, "replay=required") {
			continue
		}
		v.Check("cursor-resumed", false, func() witness.Finding {
			return witness.Finding{
				Says:     a.name + " was ended by the host and not resumed at its last event",
				Expected: "200 text/event-stream", Got: brief(s.Exchange), Section: sectionResume,
				Why: "a bounded stream is only as good as the next connection",
			}
		})
		return
	}
}
