// Package eventlog is the host events of one instance: append, lookup, removal, and the streams that read them.
//
// A stream is a loop with a position. It reads what lies after it from a ring of encoded frames that all streams share,
// else a page of the store, else waits for the head to move. There is no queue a durable event could overflow, and no
// moment at which a stream changes from backlog to live. An ephemeral event never touches the store.
//
// Start at Hub; ring.go is the shared frames, subscription.go the loop, append.go the writes.
package eventlog

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"sync"
	"sync/atomic"
	"time"

	"github.com/wopwitness/wopwitness/mockhost/parts"
	"github.com/wopwitness/wopwitness/mockhost/store"
)

// SweepWork is the kind of the due work that removes expired events; its key is the tenant.
const SweepWork = "host-events.sweep"

// page is what one read of the store fetches for a stream.
func page() store.Page { return store.Page{Rows: 512, Bytes: 1 << 20} }

// Hub is the event log as one instance serves it.
type Hub struct {
	store store.Store
	parts *parts.Parts
	log   *slog.Logger
	// others tells that other processes write to the store as well. Of a removal there this one hears after its caller does.
	others bool

	mu      sync.Mutex
	tenants map[string]*tenantLog
	lost    chan struct{} // closed and replaced when other instances can't be heard any more

	behind  chan struct{} // a tenant's ring is known to be behind the store
	closing chan struct{}
	close   sync.Once
	stop    func()
	done    chan struct{}

	droppedEphemerals atomic.Int64
}

var _ parts.Log = (*Hub)(nil)

// tenantLog is one tenant's ring and the streams that read it.
type tenantLog struct {
	fill sync.Mutex // held from reading the store to extending the ring, so that a removal can't fall in between

	mu    sync.RWMutex
	ring  ring
	known int64         // highest head heard of
	moved chan struct{} // closed and replaced when the ring grows
	subs  map[*subscription]struct{}
}

// New makes a hub and starts following the store's signals; Close ends it. The hub frames, encodes, dates and judges
// visibility through p. others tells that hubs of other processes are over the same store.
func New(s store.Store, p *parts.Parts, log *slog.Logger, others bool) *Hub {
	h := &Hub{
		store: s, parts: p, log: log, others: others,
		tenants: map[string]*tenantLog{},
		lost:    make(chan struct{}),
		behind:  make(chan struct{}, 1),
		closing: make(chan struct{}),
		done:    make(chan struct{}),
	}
	h.stop = s.Listen(h.hear)
	go h.follow()
	return h
}

// Close ends every stream and waits for the hub's own goroutine.
func (h *Hub) Close() {
	h.close.Do(func() {
		h.stop()
		close(h.closing)
	})
	<-h.done
}

// Closing is closed when the hub begins to stop.
func (h *Hub) Closing() <-chan struct{} { return h.closing }

// DroppedEphemerals counts ephemeral events that streams lost because their consumers read too slowly.
func (h *Hub) DroppedEphemerals() int64 { return h.droppedEphemerals.Load() }

// tenant returns the tenant's log, reading its head from the store at first use: a ring that began at 0 after a restart
// would take the whole log for live events.
func (h *Hub) tenant(ctx context.Context, name string) (*tenantLog, error) {
	h.mu.Lock()
	t, ok := h.tenants[name]
	h.mu.Unlock()
	if ok {
		return t, nil
	}
	head, err := h.store.Head(ctx, name)
	if err != nil {
		return nil, fmt.Errorf("open the tenant's log: %w", err)
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	if t, ok := h.tenants[name]; ok {
		return t, nil
	}
	t = &tenantLog{moved: make(chan struct{}), subs: map[*subscription]struct{}{}, known: head}
	t.ring.from, t.ring.to = head, head
	h.tenants[name] = t
	// A commit between the read above and this line was signalled to nobody.
	h.nudge()
	return t, nil
}

func (h *Hub) opened(name string) *tenantLog {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.tenants[name]
}

func (h *Hub) nudge() {
	select {
	case h.behind <- struct{}{}:
	default:
	}
}

// hear takes a signal of some instance, this one included. A tenant that nobody opened here has nothing to update.
func (h *Hub) hear(s store.Signal) {
	switch {
	case s.Lost:
		h.endStreams()
	case s.CatchUp:
		h.startOver()
	}
	t := h.opened(s.Tenant)
	if t == nil {
		return
	}
	switch {
	case s.Ephemeral != nil:
		h.deliverEphemeral(t, *s.Ephemeral)
	case s.Removed > 0 || s.SweptTo > 0:
		t.fill.Lock()
		t.mu.Lock()
		t.ring.drop(s.Removed)
		t.ring.dropThrough(s.SweptTo)
		t.mu.Unlock()
		t.fill.Unlock()
	case s.Head > 0:
		t.mu.Lock()
		t.known = max(t.known, s.Head)
		behind := t.known > t.ring.to
		t.mu.Unlock()
		if behind {
			h.nudge()
		}
	}
}

// endStreams ends every stream of now: what other instances write it wouldn't carry, and its client, told by the end,
// resumes where it was.
func (h *Hub) endStreams() {
	h.mu.Lock()
	defer h.mu.Unlock()
	close(h.lost)
	h.lost = make(chan struct{})
}

// startOver empties the rings, which may hold what another instance has removed meanwhile, and has them follow the store.
func (h *Hub) startOver() {
	for _, name := range h.names() {
		t := h.opened(name)
		t.fill.Lock()
		t.mu.Lock()
		t.ring.dropThrough(t.ring.to)
		t.ring.from = t.ring.to
		t.mu.Unlock()
		t.fill.Unlock()
	}
	h.nudge()
}

// follow brings rings up to the store where another instance wrote.
func (h *Hub) follow() {
	defer close(h.done)
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	go func() {
		select {
		case <-h.closing:
			cancel()
		case <-ctx.Done():
		}
	}()
	for {
		select {
		case <-h.closing:
			return
		case <-h.behind:
		}
		for _, name := range h.names() {
			if err := h.catchUp(ctx, name); err != nil {
				if ctx.Err() != nil || errors.Is(err, store.ErrClosed) {
					return
				}
				h.log.Error("the ring could not follow the store", "error", err)
				h.retryLater(ctx)
			}
		}
	}
}

func (h *Hub) names() []string {
	h.mu.Lock()
	defer h.mu.Unlock()
	out := make([]string, 0, len(h.tenants))
	for n := range h.tenants {
		out = append(out, n)
	}
	return out
}

// retryPause is how long a store that failed is left alone, in real time.
const retryPause = 100 * time.Millisecond

// retryLater has the store asked again after a pause, unless ctx ends before.
func (h *Hub) retryLater(ctx context.Context) {
	pause, cancel := context.WithTimeout(ctx, retryPause)
	defer cancel()
	<-pause.Done()
	if ctx.Err() == nil {
		h.nudge()
	}
}

func (h *Hub) catchUp(ctx context.Context, name string) error {
	t := h.opened(name)
	head, err := h.store.Head(ctx, name)
	if err != nil {
		return err
	}
	for {
		t.fill.Lock()
		t.mu.RLock()
		to := t.ring.to
		t.mu.RUnlock()
		if to >= head {
			t.fill.Unlock()
			return nil
		}
		events, err := h.store.EventsAfter(ctx, name, to, page())
		if err != nil {
			t.fill.Unlock()
			return err
		}
		upTo := head
		if n := len(events); n > 0 {
			upTo = events[n-1].Seq
		}
		t.extend(to, h.frames(events), upTo)
		t.fill.Unlock()
	}
}

func (t *tenantLog) extend(after int64, frames []*parts.Frame, to int64) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.ring.extend(after, frames, to) {
		close(t.moved)
		t.moved = make(chan struct{})
	}
}

func (h *Hub) frames(events []store.Event) []*parts.Frame {
	all := make([]parts.Frame, len(events))
	out := make([]*parts.Frame, len(events))
	for i, e := range events {
		all[i] = parts.Frame{Event: e, Bytes: h.parts.Framer.Frame(e)}
		out[i] = &all[i]
	}
	return out
}
