package hostevents

import (
	"testing"

	"github.com/wopwitness/wopwitness/scenarios/registry"
	"github.com/wopwitness/wopwitness/witness/observe"
)

// twoTenants is a right host's two streams; more is what tenant B's stream shows besides, before its sentinel.
func twoTenants(change func(o *Tenants)) Tenants {
	side := func(credential string, from observe.Micros) Side {
		d, e := triggered(credential+"D", credential, "durable", from), triggered(credential+"E", credential, "ephemeral", from+10*ms)
		s := triggered(credential+"S", credential, "durable", from+40*ms)
		return Side{
			Stream: over(stream(credential, "", 1*ms, 120*ms, shows(from+2*ms, d), shows(from+12*ms, e), shows(from+42*ms, s))),
			Emits:  []observe.Emit{d, e}, Sentinel: s,
		}
	}
	o := Tenants{Reading: reads(), Window: 30 * ms, A: side("a", 10*ms), B: side("b", 30*ms)}
	change(&o)
	return o
}

func TestJudgeTenantIsolation(t *testing.T) {
	add := func(s *Side, at observe.Micros, e observe.Emit) {
		first := &s.Stream.Segments[0]
		first.Chunks = append(first.Chunks, shows(at, e))
	}
	for _, c := range []struct {
		name string
		o    any
		want outcome
	}{
		{"conforming", twoTenants(func(*Tenants) {}), pass()},
		{"lawful: one class only", twoTenants(func(o *Tenants) { o.A.Emits, o.B.Emits = o.A.Emits[:1], o.B.Emits[:1] }), pass()},
		{"lawful: strangers' events", twoTenants(func(o *Tenants) { add(&o.B, 80*ms, triggered("stranger", "b", "durable", 0)) }), pass()},
		{"a durable event leaks to B", twoTenants(func(o *Tenants) { add(&o.B, 90*ms, o.A.Emits[0]) }), convicts("a-kept-from-b")},
		{"an ephemeral event leaks to B", twoTenants(func(o *Tenants) { add(&o.B, 90*ms, o.A.Emits[1]) }), convicts("a-kept-from-b")},
		{"a durable event leaks to A", twoTenants(func(o *Tenants) { add(&o.A, 90*ms, o.B.Emits[0]) }), convicts("b-kept-from-a")},
		{"everyone sees everything", twoTenants(func(o *Tenants) {
			add(&o.A, 90*ms, o.B.Emits[1])
			add(&o.B, 90*ms, o.A.Emits[1])
		}), convicts("a-kept-from-b", "b-kept-from-a")},
		{"undecided: no sentinel", twoTenants(func(o *Tenants) { o.B.Stream.Segments[0].Chunks = o.B.Stream.Segments[0].Chunks[:2] }), undecided(registry.Timeout)},
		{"undecided: not read for the window", twoTenants(func(o *Tenants) { o.Window = 500 * ms }), undecided(registry.Timeout)},
		{"undecided: never seen at home", twoTenants(func(o *Tenants) { o.A.Stream.Segments[0].Chunks = nil }), undecided(registry.Timeout)},
		{"undecided: nothing recorded", Tenants{}, undecided(registry.Timeout)},
	} {
		t.Run(c.name, func(t *testing.T) { expect(t, "0236.host-event.tenant-isolation", c.o, c.want) })
	}
}

// cameLater is three subscribers that connected well after an ephemeral event; each shows the sentinel.
func cameLater(change func(o *NoResume)) NoResume {
	d1, e, d2 := triggered("D1", "a", "durable", 10*ms), triggered("E", "a", "ephemeral", 20*ms), triggered("D2", "a", "durable", 30*ms)
	s := triggered("S", "a", "durable", 100*ms)
	o := NoResume{Reading: reads(), Window: 30 * ms, Backlog: []observe.Emit{d1, e, d2}, Sentinel: s,
		Observer: over(stream("a", "", 1*ms, 200*ms, shows(12*ms, d1), shows(22*ms, e), shows(32*ms, d2), shows(102*ms, s)))}
	for _, at := range []string{"durable-cursor", "ephemeral-cursor", "no-cursor"} {
		o.Reconnected = append(o.Reconnected, Reconnected{At: at, Stream: over(stream("a", "", 80*ms, 200*ms, shows(102*ms, s)))})
	}
	o.Reconnected[0].Stream.Segments[0].Chunks = []observe.Chunk{shows(82*ms, d2), shows(102*ms, s)}
	change(&o)
	return o
}

func TestJudgeNoResume(t *testing.T) {
	show := func(o *NoResume, i int, at observe.Micros) {
		s := &o.Reconnected[i].Stream.Segments[0]
		s.Chunks = append(s.Chunks, shows(at, o.Backlog[1]))
	}
	for _, c := range []struct {
		name string
		o    any
		want outcome
	}{
		{"conforming", cameLater(func(*NoResume) {}), pass()},
		{"lawful: nothing is resumed without the parameter", cameLater(func(o *NoResume) {
			o.Reconnected[0].Stream.Segments[0].Chunks = o.Reconnected[0].Stream.Segments[0].Chunks[1:]
		}), pass()},
		{"lawful: the ephemeral cursor is refused", cameLater(func(o *NoResume) {
			o.Reconnected[1].Stream = over(answer(404, "application/json", errorAnswer("cursor_unknown")))
		}), pass("not-opened")},
		{"redelivered at a durable cursor", cameLater(func(o *NoResume) { show(o, 0, 103*ms) }), convicts("no-redelivery-at-durable-cursor")},
		{"redelivered at its own cursor", cameLater(func(o *NoResume) { show(o, 1, 103*ms) }), convicts("no-redelivery-at-ephemeral-cursor")},
		{"redelivered without a cursor", cameLater(func(o *NoResume) { show(o, 2, 103*ms) }), convicts("no-redelivery-at-no-cursor")},
		{"redelivered to everyone", cameLater(func(o *NoResume) {
			show(o, 0, 103*ms)
			show(o, 1, 103*ms)
			show(o, 2, 103*ms)
		}), convicts("no-redelivery-at-durable-cursor", "no-redelivery-at-ephemeral-cursor", "no-redelivery-at-no-cursor")},
		{"undecided: connected while it may still have been under way", cameLater(func(o *NoResume) {
			show(o, 2, 103*ms)
			o.Reconnected[2].Stream.Segments[0].SentAt = 40 * ms
		}), undecided(registry.Timeout)},
		{"undecided: no sentinel on a stream", cameLater(func(o *NoResume) { o.Reconnected[2].Stream.Segments[0].Chunks = nil }), undecided(registry.Timeout)},
		{"undecided: nothing opened", cameLater(func(o *NoResume) {
			o.Reconnected = []Reconnected{{At: "no-cursor", Stream: over(answer(404, "text/plain", ""))}}
		}), undecided(registry.UnexpectedAnswer)},
		{"undecided: it was never seen", cameLater(func(o *NoResume) { o.Observer = over() }), undecided(registry.Timeout)},
		{"undecided: nothing recorded", NoResume{}, undecided(registry.Timeout)},
	} {
		t.Run(c.name, func(t *testing.T) { expect(t, "0236.ephemeral.no-resume", c.o, c.want) })
	}
}
