package hostevents

import (
	"fmt"
	"strings"
	"testing"

	"github.com/wopwitness/wopwitness/scenarios/registry"
	"github.com/wopwitness/wopwitness/witness/observe"
)

// askedOnTwo is a request answered on one instance, again there, and three times on another.
func askedOnTwo(change func(*OnceElsewhere)) OnceElsewhere {
	o := OnceElsewhere{Once: askedTwice(func(o *Once) { o.Other = nil })}
	o.Home = o.Again[0]
	change(&o)
	return o
}

func TestJudgeIdempotentElsewhere(t *testing.T) {
	another := func(o *OnceElsewhere) observe.Emit {
		e := triggered("another", observe.CredentialA, "durable", 20*ms)
		e.Attempts[0].Request = o.First.Answer().Request
		return e
	}
	for _, c := range []struct {
		name string
		o    any
		want outcome
	}{
		{"conforming", askedOnTwo(func(*OnceElsewhere) {}), pass()},
		{"a second event, made by the other", askedOnTwo(func(o *OnceElsewhere) {
			o.Again = []observe.Emit{another(o)}
			s := &o.Observer.Segments[0]
			s.Chunks = []observe.Chunk{s.Chunks[0], shows(22*ms, o.Again[0]), s.Chunks[1]}
		}), convicts("marked-as-replay", "one-event", "same-answer")},
		{"a second event, that isn't delivered here", askedOnTwo(func(o *OnceElsewhere) { o.Again = []observe.Emit{another(o)} }),
			convicts("marked-as-replay", "same-answer")},
		{"the other doesn't say that it is a replay", askedOnTwo(func(o *OnceElsewhere) {
			o.Again = []observe.Emit{o.First}
		}), convicts("marked-as-replay")},
		{"the other refuses it", askedOnTwo(func(o *OnceElsewhere) {
			o.Again = []observe.Emit{answeredWith(o.Again[0], 409, errorAnswer("idempotency_in_flight"))}
		}), convicts("same-answer")},
		{"undecided: its own instance doesn't give it again", askedOnTwo(func(o *OnceElsewhere) { o.Home = another(o) }), undecided(registry.UnexpectedAnswer)},
		{"undecided: not asked again at home", askedOnTwo(func(o *OnceElsewhere) { o.Home = observe.Emit{} }), undecided(registry.Unreachable)},
		{"undecided: the other was not asked", askedOnTwo(func(o *OnceElsewhere) { o.Again = nil }), undecided(registry.UnexpectedAnswer)},
		{"undecided: another key for the other", askedOnTwo(func(o *OnceElsewhere) {
			o.Again[0].Attempts[0].Request.Headers = []observe.Header{{Name: "Idempotency-Key", Value: "another"}}
			o.Home = o.Again[1]
			o.Home.Attempts = []observe.Exchange{o.Home.Answer()}
			o.Home.Attempts[0].Request.Headers = o.First.Answer().Request.Headers
		}), undecided(registry.Unreadable)},
		{"undecided: nothing recorded", OnceElsewhere{}, undecided(registry.Unreachable)},
	} {
		t.Run(c.name, func(t *testing.T) { expect(t, "0241.trigger.other-instance", c.o, c.want) })
	}
}

// sentOnOne is three ephemeral events between two durable ones, shown on both instances.
func sentOnOne(change func(o *EphemeralElsewhere)) EphemeralElsewhere {
	emits := durableAt(10*ms, "D1", "E1", "E2", "E3", "S")
	for i := 1; i <= 3; i++ {
		emits[i] = triggered(emits[i].Label, observe.CredentialA, "ephemeral", emits[i].SentAt())
	}
	o := EphemeralElsewhere{Reading: reads(), First: emits[0], Emits: emits[1:4], Sentinel: emits[4], Window: 20 * ms}
	o.Observer = over(stream(observe.CredentialA, "", 0, 200*ms, shortly(emits...)...))
	o.Elsewhere = over(stream(observe.CredentialA, "", 0, 200*ms, shortly(emits...)...))
	change(&o)
	return o
}

func TestJudgeEphemeralElsewhere(t *testing.T) {
	showing := func(at ...int) func(o *EphemeralElsewhere) {
		return func(o *EphemeralElsewhere) {
			all := o.Elsewhere.Segments[0].Chunks
			var kept []observe.Chunk
			for _, i := range at {
				kept = append(kept, all[i])
			}
			o.Elsewhere.Segments[0].Chunks = kept
		}
	}
	for _, c := range []struct {
		name string
		o    any
		want outcome
	}{
		{"conforming", sentOnOne(func(*EphemeralElsewhere) {}), pass()},
		{"lawful: one of them arrives", sentOnOne(showing(0, 3, 4)), pass()},
		{"lawful: one arrives, and the sentinel doesn't", sentOnOne(showing(0, 2)), pass()},
		{"none arrives", sentOnOne(showing(0, 4)), convicts("reaches-other-instances")},
		{"undecided: nothing arrives, the sentinel neither", sentOnOne(showing(0)), undecided(registry.Timeout)},
		{"undecided: not read for the window", sentOnOne(func(o *EphemeralElsewhere) { showing(0, 4)(o); o.Window = 300 * ms }), undecided(registry.Timeout)},
		{"undecided: none was shown at home", sentOnOne(func(o *EphemeralElsewhere) {
			showing(0, 4)(o)
			o.Observer = o.Elsewhere
		}), undecided(registry.Timeout)},
		{"undecided: the stream was away while they were sent", sentOnOne(func(o *EphemeralElsewhere) {
			showing(0, 4)(o)
			before := o.Elsewhere.Segments[0]
			later := before
			before.Chunks, before.End, before.EndedAt = before.Chunks[:1], observe.EndHost, 15*ms
			later.SentAt, later.AnsweredAt, later.Chunks = 45*ms, 46*ms, later.Chunks[1:]
			o.Elsewhere = over(before, later)
		}), undecided(registry.Timeout)},
		{"undecided: the other opened none", sentOnOne(func(o *EphemeralElsewhere) { o.Elsewhere = refusedSubscriber(503, `{}`) }), undecided(registry.UnexpectedAnswer)},
		{"undecided: nothing recorded", EphemeralElsewhere{}, undecided(registry.Unreadable)},
	} {
		t.Run(c.name, func(t *testing.T) { expect(t, "0236.ephemeral.other-instance", c.o, c.want) })
	}
}

func TestJudgeLargeElsewhere(t *testing.T) {
	const size = 64 << 10
	large := func(e observe.Emit, bytes int) string {
		return strings.Replace(frameText(e), `"payload":{}`, fmt.Sprintf(`"payload":{"fill":%q}`, strings.Repeat("x", bytes)), 1)
	}
	right := func() LargeElsewhere {
		emits := durableAt(10*ms, "D1", "small", "large", "S")
		o := LargeElsewhere{Reading: tapeReading, Bytes: size, First: emits[0], Small: emits[1], Large: emits[2], Sentinel: emits[3]}
		whole := func() observe.Subscription {
			return subscriber("", 0, 200*ms, shows(12*ms, emits[0]), shows(22*ms, emits[1]), chunk(33*ms, large(emits[2], size)), shows(42*ms, emits[3]))
		}
		o.Observer, o.Elsewhere = whole(), whole()
		return o
	}
	without := func(s *observe.Subscription, i int) {
		c := s.Segments[0].Chunks
		s.Segments[0].Chunks = append(c[:i:i], c[i+1:]...)
	}
	judgeAll(t, right, JudgeLargeElsewhere, []judged[LargeElsewhere]{
		{name: "delivered", want: "pass"},
		{name: "dropped there", want: "delivered-there", change: func(o *LargeElsewhere) { without(&o.Elsewhere, 2) }},
		{name: "after the sentinel, late", want: "pass", change: func(o *LargeElsewhere) {
			c := o.Elsewhere.Segments[0].Chunks
			c[2], c[3] = c[3], c[2]
		}},
		{name: "twice", want: "pass", note: "large-twice", change: func(o *LargeElsewhere) {
			s := &o.Elsewhere.Segments[0]
			s.Chunks = append(s.Chunks, s.Chunks[2])
		}},
		{name: "dropped at home too", want: "undecided", change: func(o *LargeElsewhere) { without(&o.Elsewhere, 2); without(&o.Observer, 2) }},
		{name: "the small one missing too", want: "undecided", change: func(o *LargeElsewhere) { without(&o.Elsewhere, 2); without(&o.Elsewhere, 1) }},
		{name: "the sentinel missing too, and not waited for", want: "undecided", change: func(o *LargeElsewhere) { without(&o.Elsewhere, 3); without(&o.Elsewhere, 2) }},
		{name: "not large after all", want: "undecided", change: func(o *LargeElsewhere) {
			o.Observer.Segments[0].Chunks[2].Bytes = observe.Text(large(o.Large, 100))
		}},
		{name: "not opened", want: "undecided", change: func(o *LargeElsewhere) { o.Elsewhere = refusedSubscriber(503, `{}`) }},
		{name: "no large event", want: "undecided", change: func(o *LargeElsewhere) { o.Large = observe.Emit{} }},
	})
}
