package eventlog_test

import (
	"context"
	"errors"
	"slices"
	"sync"
	"time"

	"pgregory.net/rapid"

	"github.com/wopwitness/wopwitness/mockhost/conforming"
	"github.com/wopwitness/wopwitness/mockhost/eventlog"
	"github.com/wopwitness/wopwitness/mockhost/parts"
	"github.com/wopwitness/wopwitness/mockhost/store"
)

// Append emits by several writers at once, on either instance.
func (m *machine) Append(t *rapid.T) {
	p := m.principal(t)
	type job struct {
		instance instance
		draft    parts.Draft
	}
	var jobs []job
	for range rapid.IntRange(1, 6).Draw(t, "writers") {
		jobs = append(jobs, job{m.instance(t), draft(t, parts.Durable)})
	}
	events := make([]store.Event, len(jobs))
	errs := make([]error, len(jobs))
	var wg sync.WaitGroup
	for i, j := range jobs {
		wg.Go(func() { events[i], errs[i] = j.instance.hub.Append(m.ctx, p, j.draft, nil) })
	}
	wg.Wait()
	if err := errors.Join(errs...); err != nil {
		t.Fatal(err)
	}
	slices.SortFunc(events, func(a, b store.Event) int { return int(a.Seq - b.Seq) })
	for _, e := range events {
		m.logs[p.Tenant] = append(m.logs[p.Tenant], e)
		for _, s := range m.streams {
			if sees(s.principal, e) {
				s.durable = append(s.durable, e)
			}
		}
	}
}

// AppendFailing emits with an effect that fails: nothing may remain of it, its place in the order included.
func (m *machine) AppendFailing(t *rapid.T) {
	boom := errors.New("boom")
	_, err := m.instance(t).hub.Append(m.ctx, m.principal(t), draft(t, parts.Durable), func(store.Tx, store.Event) error { return boom })
	if !errors.Is(err, boom) {
		t.Fatalf("got %v", err)
	}
}

// Ephemeral emits ephemeral events, more than a stream holds now and then.
func (m *machine) Ephemeral(t *rapid.T) {
	p, d := m.principal(t), draft(t, parts.Ephemeral)
	in := m.instance(t)
	for range rapid.SampledFrom([]int{1, 1, 1, 3, 300}).Draw(t, "how many") {
		e, err := in.hub.Append(m.ctx, p, d, nil)
		if err != nil {
			t.Fatal(err)
		}
		for _, s := range m.streams {
			if sees(s.principal, e) {
				s.ephemerals = append(s.ephemerals, e.ID)
				s.ephemerals = s.ephemerals[max(0, len(s.ephemerals)-256):]
			}
		}
	}
}

// Open opens a stream, live or at any id that ever was.
func (m *machine) Open(t *rapid.T) {
	p, in := m.principal(t), m.instance(t)
	r := parts.StreamRequest{Strict: rapid.Bool().Draw(t, "strict")}
	cursor := -1
	if log := m.logs[p.Tenant]; len(log) > 0 && rapid.Bool().Draw(t, "resume") {
		cursor = rapid.IntRange(0, len(log)-1).Draw(t, "cursor")
		r.Cursor = log[cursor].ID
	}
	known := cursor >= 0 && sees(p, m.logs[p.Tenant][cursor])
	start, err := in.parts.Resumer.Start(m.ctx, p, r)
	if r.Cursor != "" && r.Strict && !known {
		if !errors.Is(err, parts.ErrCursorRefused) {
			t.Fatalf("a cursor that isn't visible: got %v", err)
		}
		return
	}
	if err != nil || start.Resumed != known {
		t.Fatalf("start: %+v, %v; the cursor is known: %v", start, err, known)
	}
	sub, err := in.hub.Subscribe(m.ctx, p, start)
	if err != nil {
		t.Fatal(err)
	}
	s := &stream{sub: sub, principal: p}
	if known {
		for _, e := range m.logs[p.Tenant][cursor+1:] {
			if sees(p, e) {
				s.durable = append(s.durable, e)
			}
		}
	}
	m.streams = append(m.streams, s)
}

// Read takes one turn of a stream that is owed something.
func (m *machine) Read(t *rapid.T) {
	if len(m.streams) == 0 {
		t.Skip("no stream is open")
	}
	s := m.streams[rapid.IntRange(0, len(m.streams)-1).Draw(t, "stream")]
	if len(s.durable) == 0 && len(s.ephemerals) == 0 {
		t.Skip("nothing is owed")
	}
	s.read(t, m.ctx)
}

func (s *stream) read(t *rapid.T, ctx context.Context) {
	ctx, cancel := context.WithTimeout(ctx, 20*time.Second)
	defer cancel()
	frames, err := s.sub.Next(ctx)
	if err != nil {
		t.Fatalf("a stream that is owed %d and %d: %v", len(s.durable), len(s.ephemerals), err)
	}
	for _, f := range frames {
		switch {
		case !f.Event.Durable():
			if len(s.ephemerals) == 0 || s.ephemerals[0] != f.Event.ID {
				t.Fatalf("ephemeral %s isn't the next of %v", f.Event.ID, s.ephemerals)
			}
			s.ephemerals = s.ephemerals[1:]
		case len(s.durable) == 0 || s.durable[0].ID != f.Event.ID:
			t.Fatalf("durable %s (place %d) isn't the next of %d owed", f.Event.ID, f.Event.Seq, len(s.durable))
		default:
			if want := (conforming.Framer{}).Frame(s.durable[0]); string(f.Bytes) != string(want) {
				t.Fatalf("frame %q, want %q", f.Bytes, want)
			}
			s.durable = s.durable[1:]
		}
	}
}

// Stop closes a stream; what it was owed is owed no more.
func (m *machine) Stop(t *rapid.T) {
	if len(m.streams) == 0 {
		t.Skip("no stream is open")
	}
	i := rapid.IntRange(0, len(m.streams)-1).Draw(t, "stream")
	m.streams[i].sub.Close()
	m.streams = slices.Delete(m.streams, i, i+1)
}

// Remove removes an event, as its own tenant or as another.
func (m *machine) Remove(t *rapid.T) {
	p := m.principal(t)
	log := m.logs[rapid.SampledFrom(m.tenants).Draw(t, "of tenant")]
	if len(log) == 0 {
		t.Skip("nothing to remove")
	}
	e := log[rapid.IntRange(0, len(log)-1).Draw(t, "event")]
	ok, err := m.instance(t).hub.Remove(m.ctx, p, e.ID)
	if err != nil || ok != sees(p, e) {
		t.Fatalf("remove: %v, %v; it is visible: %v", ok, err, sees(p, e))
	}
	if ok {
		m.forget(func(other store.Event) bool { return other.ID == e.ID })
	}
}

// Pass moves the clock and sweeps.
func (m *machine) Pass(t *rapid.T) {
	m.clock.FakeClock.Advance(rapid.SampledFrom([]time.Duration{time.Second, 20 * time.Second, 90 * time.Second}).Draw(t, "time"))
	tenant := rapid.SampledFrom(m.tenants).Draw(t, "sweep")
	now := m.clock.Now()
	if err := m.instances[0].parts.Retention.Sweep(m.ctx, tenant, now); err != nil {
		t.Fatal(err)
	}
	m.forget(func(e store.Event) bool { return e.Tenant == tenant && !e.At.Add(retention+time.Second).After(now) })
}

func (m *machine) forget(gone func(store.Event) bool) {
	for tenant := range m.logs {
		m.logs[tenant] = slices.DeleteFunc(m.logs[tenant], gone)
	}
	for _, s := range m.streams {
		s.durable = slices.DeleteFunc(s.durable, gone)
	}
}

// Restart replaces an instance by a new one, as a process replacement does; its streams end.
func (m *machine) Restart(t *rapid.T) {
	i := rapid.IntRange(0, len(m.instances)-1).Draw(t, "instance")
	old := m.instances[i].hub
	m.streams = slices.DeleteFunc(m.streams, func(s *stream) bool {
		// A stream of the other instance goes on; which one a stream is on shows when the hub ends it.
		return m.endsWith(s, old)
	})
	old.Close()
	m.instances[i] = newInstance(m.store, m.clock)
}

func (m *machine) endsWith(s *stream, hub *eventlog.Hub) bool {
	return eventlog.HubOf(s.sub) == hub
}
