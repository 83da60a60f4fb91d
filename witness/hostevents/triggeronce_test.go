package hostevents

import (
	"fmt"
	"testing"

	"github.com/wopwitness/wopwitness/scenarios/registry"
	"github.com/wopwitness/wopwitness/witness/observe"
)

// askedTwice is one request, three times again, its key with another body, and a sentinel.
func askedTwice(change func(*Once)) Once {
	first, sentinel := triggered("first", observe.CredentialA, "durable", 10*ms), triggered("S", observe.CredentialA, "durable", 40*ms)
	second := first
	second.Label = "again"
	again := first.Answer()
	again.SentAt, again.AnsweredAt = 20*ms, 21*ms
	response := *again.Response
	response.Headers = append([]observe.Header{{Name: "Openwop-Idempotent-Replay", Value: "true"}}, response.Headers...)
	again.Response = &response
	second.Attempts = []observe.Exchange{again}
	other := triggered("first", observe.CredentialA, "ephemeral", 30*ms)
	other = answeredWith(other, 409, errorAnswer("idempotency_key_mismatch"))
	o := Once{Reading: reads(), Window: 20 * ms, First: first, Again: []observe.Emit{second, second, second}, Other: &other, Sentinel: sentinel,
		Observer: over(stream(observe.CredentialA, "", 1*ms, 70*ms, shows(12*ms, first), shows(42*ms, sentinel)))}
	change(&o)
	return o
}

func TestJudgeIdempotent(t *testing.T) {
	another := func(o *Once) observe.Emit {
		e := triggered("another", observe.CredentialA, "durable", 20*ms)
		e.Attempts[0].Request = o.First.Answer().Request
		return e
	}
	show := func(o *Once, at observe.Micros, e observe.Emit) {
		s := &o.Observer.Segments[0]
		s.Chunks = append(s.Chunks[:len(s.Chunks)-1:len(s.Chunks)-1], shows(at, e), s.Chunks[len(s.Chunks)-1])
	}
	ephemeralTwice := func(change func(again *observe.Emit)) Once {
		return askedTwice(func(o *Once) {
			first := triggered("passing", observe.CredentialA, "ephemeral", 32*ms)
			again := answeredWith(first, 202, first.Answer().Response.Body.String())
			again.Attempts[0].Response.Headers = o.Again[0].Answer().Response.Headers
			change(&again)
			o.Ephemeral = []observe.Emit{first, again}
		})
	}
	otherTenants := func(change func(o *Once)) Once {
		return askedTwice(func(o *Once) {
			e := triggered("foreign", observe.CredentialB, "durable", 34*ms)
			e.Attempts[0].Request = o.First.Answer().Request
			o.Foreign = &e
			change(o)
		})
	}
	strangers := func(n int, at observe.Micros) Once {
		return askedTwice(func(o *Once) {
			for i := range n {
				show(o, at, triggered(fmt.Sprintf("stranger%d", i), observe.CredentialA, "durable", at-ms))
			}
		})
	}
	for _, c := range []struct {
		name string
		o    any
		want outcome
	}{
		{"conforming", askedTwice(func(*Once) {}), pass()},
		{"lawful: one class only", askedTwice(func(o *Once) { o.Other = nil }), pass("no-other-body", "no-other-tenant")},
		{"lawful: the answer with its keys in another order", askedTwice(func(o *Once) {
			o.Again[0].Attempts[0].Response.Body = observe.Text(`{"type":"host-test.durable-triggered", "eventId":"` + o.First.EventID + `"}`)
		}), pass()},
		{"lawful: repeated to a subscriber that came back", askedTwice(func(o *Once) {
			s := o.Observer.Segments[0]
			before, later := s, s
			before.Chunks, before.End, before.EndedAt = s.Chunks[:1], observe.EndHost, 15*ms
			later.SentAt, later.Chunks = 20*ms, []observe.Chunk{shows(22*ms, o.First), s.Chunks[1]}
			o.Observer = over(before, later)
		}), pass()},
		{"lawful: a code of its own", askedTwice(func(o *Once) { *o.Other = answeredWith(*o.Other, 409, errorAnswer("key_reused")) }), pass("error-code")},
		{"a second event with an id of its own", askedTwice(func(o *Once) {
			o.Again = []observe.Emit{another(o)}
			show(o, 22*ms, o.Again[0])
		}), convicts("marked-as-replay", "one-event", "same-answer")},
		{"a second event with an id of its own, not yet delivered", askedTwice(func(o *Once) { o.Again = []observe.Emit{another(o)} }), convicts("marked-as-replay", "same-answer")},
		{"the same event again", askedTwice(func(o *Once) { show(o, 22*ms, o.First) }), convicts("one-event")},
		{"an event that nobody named for each repetition", strangers(3, 25*ms), convicts("one-event")},
		{"lawful: another user of the trigger, less often", strangers(2, 25*ms), pass("strange-events")},
		{"lawful: another user of the trigger, more often", strangers(4, 25*ms), pass("strange-events")},
		{"lawful: another user of the trigger, before", strangers(3, 15*ms), pass("strange-events")},
		{"lawful: the suite's own fillers", func() Once {
			o := strangers(3, 25*ms)
			o.Pushed = 3
			return o
		}(), pass()},
		{"no mark", askedTwice(func(o *Once) {
			o.Again = o.Again[:1]
			o.Again[0].Attempts[0].Response.Headers = o.First.Answer().Response.Headers
		}), convicts("marked-as-replay")},
		{"refused the second time", askedTwice(func(o *Once) {
			o.Again[1] = answeredWith(o.Again[1], 409, errorAnswer("idempotency_in_flight"))
		}), convicts("same-answer")},
		{"another body is taken", askedTwice(func(o *Once) {
			e := triggered("first", observe.CredentialA, "ephemeral", 30*ms)
			o.Other = &e
		}), convicts("other-body-refused")},
		{"another body gets the first answer", askedTwice(func(o *Once) {
			*o.Other = answeredWith(*o.Other, 202, o.First.Answer().Response.Body.String())
		}), convicts("other-body-refused")},
		{"an ephemeral one twice", ephemeralTwice(func(*observe.Emit) {}), pass()},
		{"an ephemeral one is made again", ephemeralTwice(func(again *observe.Emit) {
			e := triggered("passing again", observe.CredentialA, "ephemeral", 33*ms)
			e.Attempts[0].Request = again.Answer().Request
			*again = e
		}), convicts("marked-as-replay", "same-answer")},
		{"an ephemeral one again, unmarked", ephemeralTwice(func(again *observe.Emit) {
			again.Attempts[0].Response.Headers = nil
		}), convicts("marked-as-replay")},
		{"undecided: an ephemeral one again, put off", ephemeralTwice(func(again *observe.Emit) {
			*again = answeredWith(*again, 429, errorAnswer("rate_limited"))
		}), undecided(registry.RateTooLow)},
		{"undecided: an ephemeral one again under another key", ephemeralTwice(func(again *observe.Emit) {
			again.Attempts[0].Request.Headers = []observe.Header{{Name: "Idempotency-Key", Value: "another"}}
		}), undecided(registry.Unreadable)},
		{"another tenant under the same key", otherTenants(func(*Once) {}), pass()},
		{"another tenant is given the first one's event", otherTenants(func(o *Once) {
			*o.Foreign = answeredWith(*o.Foreign, 202, o.First.Answer().Response.Body.String())
			o.Foreign.EventID = o.First.EventID
		}), convicts("own-event-for-other-tenant")},
		{"lawful: a key that is in use in another tenant is refused", otherTenants(func(o *Once) {
			*o.Foreign = answeredWith(*o.Foreign, 409, errorAnswer("idempotency_key_mismatch"))
		}), pass("key-not-free")},
		{"undecided: another tenant under another key", otherTenants(func(o *Once) {
			o.Foreign.Attempts[0].Request.Headers = nil
		}), undecided(registry.Unreadable)},
		{"undecided: the event was never seen", askedTwice(func(o *Once) { o.Observer.Segments[0].Chunks = nil }), undecided(registry.Timeout)},
		{"undecided: not read to the sentinel", askedTwice(func(o *Once) { o.Observer.Segments[0].Chunks = o.Observer.Segments[0].Chunks[:1] }), undecided(registry.Timeout)},
		{"undecided: not read for the window", askedTwice(func(o *Once) { o.Window = 60 * ms }), undecided(registry.Timeout)},
		{"undecided: the first was refused", askedTwice(func(o *Once) { o.First = answeredWith(o.First, 400, errorAnswer("validation_error")) }), undecided(registry.UnexpectedAnswer)},
		{"undecided: another key", askedTwice(func(o *Once) {
			o.Again[0].Attempts[0].Request.Headers = []observe.Header{{Name: "Idempotency-Key", Value: "another"}}
		}), undecided(registry.Unreadable)},
		{"undecided: not repeated", askedTwice(func(o *Once) { o.Again = nil }), undecided(registry.UnexpectedAnswer)},
		{"undecided: nothing recorded", Once{}, undecided(registry.Unreachable)},
	} {
		t.Run(c.name, func(t *testing.T) { expect(t, "0241.trigger.idempotent", c.o, c.want) })
	}
}
