package hostevents

import (
	"fmt"
	"slices"
	"strings"

	"github.com/wopwitness/wopwitness/scenarios/registry"
	"github.com/wopwitness/wopwitness/witness"
	"github.com/wopwitness/wopwitness/witness/observe"
	"github.com/wopwitness/wopwitness/witness/observe/eventstream"
)

// Reading says how a leg read its streams: an event was given Patience to arrive after it was sent, and a stream was
// read for Quiet after its sentinel. Without these a judge could not tell "never came" from "wasn't waited for".
type Reading struct {
	Patience observe.Micros `json:"patience"`
	Quiet    observe.Micros `json:"quiet"`
	// Retention is the bound that the host advertises (RFC 0250 §A). A cursor that grew older than it while the leg went
	// on may be refused. Zero where the host names none.
	Retention observe.Micros `json:"retention,omitempty"`
}

// sighting is one arrival of one of the suite's own events.
type sighting struct {
	emit  observe.Emit
	frame eventstream.Frame
}

// account is the bookkeeping of one subscription: which of the suite's own events it showed, in the order in which it
// showed them. Other events and heartbeats are passed over: a tenant may be busy.
type account struct {
	reading  Reading
	name     string // what findings call the stream
	stream   observe.Subscription
	shown    []sighting
	counts   map[string]int            // event id → how often the stream showed it
	observed map[string]observe.Micros // event id → when the observer first showed it
	own      map[string]observe.Emit   // event id → the suite's event
}

// accountOf reads a subscription against the events emitted. The observer is the live stream that shows when an event
// was committed.
func accountOf(reading Reading, name string, stream, observer observe.Subscription, emits ...[]observe.Emit) account {
	own := ownOf(emits...)
	return accountFrom(reading, name, stream, own, sightingsOf(stream, own), sightingsOf(observer, own))
}

// accountFrom is accountOf for streams that have been read already.
func accountFrom(reading Reading, name string, stream observe.Subscription, own map[string]observe.Emit, shown, observed []sighting) account {
	a := account{reading: reading, name: name, stream: stream, shown: shown, counts: map[string]int{}, observed: map[string]observe.Micros{}, own: own}
	for _, s := range observed {
		if _, seen := a.observed[s.emit.EventID]; !seen {
			a.observed[s.emit.EventID] = s.frame.At
		}
	}
	for _, s := range shown {
		a.counts[s.emit.EventID]++
	}
	return a
}

// ownOf gives the accepted events by their ids.
func ownOf(emits ...[]observe.Emit) map[string]observe.Emit {
	own := map[string]observe.Emit{}
	for _, e := range slices.Concat(emits...) {
		if e.EventID != "" {
			own[e.EventID] = e
		}
	}
	return own
}

// sightingsOf gives what a subscription showed of the events, in order.
func sightingsOf(stream observe.Subscription, own map[string]observe.Emit) []sighting {
	var shown []sighting
	for _, f := range eventstream.All(stream) {
		if e, mine := own[EventOf(f)]; mine {
			shown = append(shown, sighting{emit: e, frame: f})
		}
	}
	return shown
}

func (a account) count(e observe.Emit) int { return a.counts[e.EventID] }

// opened says whether the host took the connection as an event stream at all.
func (a account) opened() bool { return len(a.stream.Segments) > 0 && a.stream.Segments[0].Opened() }

// readUntil is when the suite stopped listening: nothing is known of what came later. The host may have ended the last
// connection before that, and the next one was not there yet.
func (a account) readUntil() observe.Micros {
	until := a.stream.Until
	for _, s := range a.stream.Segments {
		until = max(until, s.EndedAt)
	}
	return until
}

// broken is the failure that ended the last segment, where one did. What the suite broke off itself is no failure.
func (a account) broken() *observe.Failure {
	if len(a.stream.Segments) == 0 {
		return nil
	}
	f := a.stream.Segments[len(a.stream.Segments)-1].Failure
	if f != nil && f.Kind == observe.FailCancelled {
		return nil
	}
	return f
}

// resumed checks that the host resumed a retained cursor rather than refusing it. It is false where there is nothing
// further to judge.
func (a account) resumed(v *witness.Verdict) bool {
	if len(a.stream.Segments) == 0 {
		v.Undecide(registry.Unreadable, "the observation holds no connection for %s", a.name)
		return false
	}
	first := a.stream.Segments[0]
	if first.Response == nil {
		v.Undecide(unreachable(first.Failure), "%s: %s", a.name, failureText(first.Failure))
		return false
	}
	if busy(first.Exchange) {
		v.Undecide(registry.UnexpectedAnswer, "%s: the host asked to come back later: %s", a.name, brief(first.Exchange))
		return false
	}
	if !first.Opened() && a.cursorAged(first) {
		v.Undecide(registry.Timeout, "%s: the cursor was older than the host's bound by the time it was used", a.name)
		return false
	}
	v.Check("cursor-resumed", first.Opened(), func() witness.Finding {
		return witness.Finding{
			Says:     "a cursor inside the retention bound was not resumed: " + a.name,
			Expected: "200 text/event-stream", Got: brief(first.Exchange),
			Why:     "a subscriber that reconnects in time is told to start over, or is not told that it lost its place",
			Section: sectionResume,
		}
	})
	a.resumedAgain(v)
	return first.Opened()
}

// busy says whether the host put the connection off for reasons of its own: a rate, or a service that is not there.
func busy(x observe.Exchange) bool { return x.Status() == 429 || x.Status() == 503 }

// cursorAged says whether the cursor of a connection may have been older than the host's bound when it was answered.
func (a account) cursorAged(s observe.Stream) bool {
	e, mine := a.own[cursorOf(s)]
	return mine && a.reading.Retention > 0 && s.AnsweredAt-e.SentAt() >= a.reading.Retention
}

// cursorOf is the Last-Event-ID that a connection was opened with.
func cursorOf(s observe.Stream) string {
	for _, h := range s.Request.Headers {
		if strings.EqualFold(h.Name, "Last-Event-ID") {
			return h.Value
		}
	}
	return ""
}

// suffix checks that exactly the expected durable events arrived: each once, and in commit order wherever the order is
// known. Only events that some stream showed count, since the commit may follow the trigger's answer.
func (a account) suffix(v *witness.Verdict, expected []observe.Emit) {
	var missing, repeated []string
	in := idsOf(expected)
	for _, e := range expected {
		if _, committed := a.observed[e.EventID]; !committed && a.count(e) == 0 {
			v.Undecide(registry.Timeout, "%s was accepted, and the observer never showed that it was committed", e.Label)
			continue
		}
		switch n := a.count(e); {
		case n == 0 && !a.waitedFor(e, in):
			v.Undecide(registry.Timeout, "%s: reading stopped before %s had been given its time", a.name, e.Label)
		case n == 0:
			missing = append(missing, e.Label)
		case n > 1:
			repeated = append(repeated, fmt.Sprintf("%s %d times", e.Label, n))
		}
	}
	v.Check("nothing-missing", len(missing) == 0, func() witness.Finding {
		return witness.Finding{
			Says:     fmt.Sprintf("%s lost %s of %s", a.name, plural(len(missing), "event"), plural(len(expected), "event")),
			Expected: some(labels(expected)), Got: "missing: " + some(missing) + "; arrived: " + a.story(),
			Why:     "the subscriber believes that it is up to date and never learns of what it missed",
			Section: sectionResume,
		}
	})
	v.Check("nothing-twice", len(repeated) == 0, func() witness.Finding {
		return witness.Finding{
			Says:     a.name + " delivered an event more than once",
			Expected: "each event exactly once", Got: some(repeated) + "; arrived: " + a.story(),
			Why:     "a subscriber that acts on events acts twice",
			Section: sectionResume,
		}
	})
	early, late := a.outOfOrder(expected)
	v.Check("in-commit-order", early == "", func() witness.Finding {
		return witness.Finding{
			Says:     fmt.Sprintf("%s delivered %s before %s, which was committed first", a.name, early, late),
			Expected: some(labels(expected)), Got: a.story(),
			Why:     "a subscriber that keeps the last id as its cursor would skip what came out of order",
			Section: sectionResume,
		}
	})
}

// waitedFor says whether the absence of e was established: a later expected event arrived and the quiet window passed
// after it, or e was given the whole patience.
func (a account) waitedFor(e observe.Emit, expected map[string]bool) bool {
	if a.readUntil() >= e.SentAt()+a.reading.Patience && a.broken() == nil {
		return true
	}
	for _, s := range a.shown {
		ordered := expected[s.emit.EventID] && a.committedBefore(e, s.emit)
		if ordered && a.readUntil() >= s.frame.At+a.reading.Quiet {
			return true
		}
	}
	return false
}

// committedBefore says whether x is known to be committed before y: the observer showed x before y was sent.
func (a account) committedBefore(x, y observe.Emit) bool {
	at, ok := a.observed[x.EventID]
	return ok && at < y.SentAt()
}

// outOfOrder gives the labels of the first pair that arrived against its known order, or "". What was sent last among
// the events before is enough to look at: if any of them was sent after the event was committed, that one was.
func (a account) outOfOrder(expected []observe.Emit) (early, late string) {
	in, done := idsOf(expected), map[string]bool{}
	var latest observe.Emit
	for _, s := range a.shown {
		if !in[s.emit.EventID] || done[s.emit.EventID] {
			continue
		}
		if len(done) > 0 && a.committedBefore(s.emit, latest) {
			return latest.Label, s.emit.Label
		}
		if len(done) == 0 || s.emit.SentAt() > latest.SentAt() {
			latest = s.emit
		}
		done[s.emit.EventID] = true
	}
	return "", ""
}

// never checks that none of the events arrived, and that their absence was established: the sentinel arrived and the
// stream was read for the window after it.
func (a account) never(v *witness.Verdict, check, section, why string, forbidden []observe.Emit, sentinel observe.Emit, window observe.Micros) {
	var came []string
	for _, e := range forbidden {
		if a.count(e) > 0 {
			came = append(came, e.Label)
		}
	}
	if len(came) == 0 && !a.settled(sentinel, window) {
		v.Undecide(registry.Timeout, "%s never showed the sentinel %s, so the absence of %s is not shown", a.name, sentinel.Label, some(labels(forbidden)))
		return
	}
	v.Check(check, len(came) == 0, func() witness.Finding {
		return witness.Finding{
			Says:     fmt.Sprintf("%s delivered %s, which must not arrive there", a.name, some(came)),
			Expected: "none of " + some(labels(forbidden)), Got: a.story(), Why: why, Section: section,
		}
	})
}

// settled says whether the stream showed the sentinel and was read for the window after it.
func (a account) settled(sentinel observe.Emit, window observe.Micros) bool {
	for _, s := range a.shown {
		if s.emit.EventID == sentinel.EventID {
			return a.readUntil() >= s.frame.At+window
		}
	}
	return false
}

// story is what arrived, in order, by label.
func (a account) story() string {
	var came []string
	for _, s := range a.shown {
		came = append(came, s.emit.Label)
	}
	if len(came) == 0 {
		return "none of the suite's events"
	}
	return some(came)
}
