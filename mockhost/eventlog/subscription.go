package eventlog

import (
	"context"
	"fmt"

	"github.com/wopwitness/wopwitness/mockhost/parts"
	"github.com/wopwitness/wopwitness/mockhost/store"
)

const (
	// ephemeralQueue bounds what a slow stream holds of ephemeral events; the oldest goes first.
	ephemeralQueue = 256
	// ringBatch bounds how many frames one turn of the loop takes from the ring.
	ringBatch = 256
)

type subscription struct {
	hub       *Hub
	log       *tenantLog
	principal parts.Principal
	position  int64
	// backlog is up to where the store alone is read, and not the ring: what another process removed before the stream was
	// opened may be in the ring still.
	backlog int64

	ephemerals chan *parts.Frame
	lost       <-chan struct{} // closed when other instances can't be heard any more
}

// Subscribe implements parts.Log.
func (h *Hub) Subscribe(ctx context.Context, p parts.Principal, start parts.Start) (parts.Subscription, error) {
	t, err := h.tenant(ctx, p.Tenant)
	if err != nil {
		return nil, err
	}
	s := &subscription{
		hub: h, log: t, principal: p, position: start.After,
		ephemerals: make(chan *parts.Frame, ephemeralQueue),
	}
	if h.others {
		s.backlog = start.Head
	}
	h.mu.Lock()
	s.lost = h.lost
	h.mu.Unlock()
	t.mu.Lock()
	t.subs[s] = struct{}{}
	t.mu.Unlock()
	return s, nil
}

// Close implements parts.Subscription.
func (s *subscription) Close() {
	s.log.mu.Lock()
	defer s.log.mu.Unlock()
	delete(s.log.subs, s)
}

// Next implements parts.Subscription. Ephemeral events go before durable ones of the same turn: there is no order
// between them, and a durable event is often a consumer's sign that what came before has arrived.
func (s *subscription) Next(ctx context.Context) ([]*parts.Frame, error) {
	for {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		out := s.takeEphemerals(nil)
		durable, moved, err := s.durable(ctx)
		if err != nil && len(out) > 0 {
			return out, nil // what was taken is sent; the error, if it lasts, comes again
		}
		if err != nil {
			return nil, err
		}
		if len(out) == 0 {
			out = durable
		} else {
			out = append(out, durable...)
		}
		if len(out) > 0 {
			return out, nil
		}
		if moved == nil {
			continue
		}
		select {
		case <-moved:
		case f := <-s.ephemerals:
			return s.takeEphemerals([]*parts.Frame{f}), nil
		case <-ctx.Done():
			return nil, ctx.Err()
		case <-s.lost:
			return nil, fmt.Errorf("follow the log: %w", store.ErrUnavailable)
		case <-s.hub.closing:
			return nil, parts.ErrStreamOver
		}
	}
}

// durable takes the next visible frames. With none, moved is what to wait for; a nil one says to look again at once,
// for the position has moved over events that aren't visible.
func (s *subscription) durable(ctx context.Context) (out []*parts.Frame, moved <-chan struct{}, err error) {
	s.log.mu.RLock()
	frames, covered := s.log.ring.after(s.position, ringBatch)
	from, to := s.log.ring.from, s.log.ring.to
	moved = s.log.moved
	s.log.mu.RUnlock()
	if !covered || s.position < s.backlog {
		events, err := s.hub.store.EventsAfter(ctx, s.principal.Tenant, s.position, page())
		if err != nil {
			return nil, nil, fmt.Errorf("read the backlog: %w", err)
		}
		frames = s.hub.frames(events)
		// Everything up to these was committed before the read, so an empty page means that it was removed.
		to = max(from, s.backlog)
	}
	if n := len(frames); n > 0 {
		s.position = frames[n-1].Event.Seq
		return s.visible(frames), nil, nil
	}
	if to > s.position {
		s.position = to
		return nil, nil, nil
	}
	return nil, moved, nil
}

func (s *subscription) visible(frames []*parts.Frame) []*parts.Frame {
	out := frames[:0]
	for _, f := range frames {
		if s.hub.parts.Visibility.Sees(s.principal, f.Event) {
			out = append(out, f)
		}
	}
	return out
}

func (s *subscription) takeEphemerals(out []*parts.Frame) []*parts.Frame {
	for {
		select {
		case f := <-s.ephemerals:
			out = append(out, f)
		default:
			return out
		}
	}
}

// deliverEphemeral offers the event to every stream of the tenant that sees it, and never waits for one.
func (h *Hub) deliverEphemeral(t *tenantLog, e store.Event) {
	frame := &parts.Frame{Event: e, Bytes: h.parts.Framer.Frame(e)}
	t.mu.RLock()
	defer t.mu.RUnlock()
	for s := range t.subs {
		if h.parts.Visibility.Sees(s.principal, e) {
			h.offer(s, frame)
		}
	}
}

func (h *Hub) offer(s *subscription, f *parts.Frame) {
	for {
		select {
		case s.ephemerals <- f:
			return
		default:
		}
		select {
		case <-s.ephemerals:
			h.droppedEphemerals.Add(1)
		default:
		}
	}
}
