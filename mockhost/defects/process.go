package defects

import (
	"context"
	"sync"

	"github.com/wopwitness/wopwitness/mockhost/parts"
	"github.com/wopwitness/wopwitness/mockhost/store"
)

// ownEvents is what one process emitted.
type ownEvents struct {
	mu  sync.Mutex
	ids map[string]bool
}

// ownLog marks each durable event as this process's inside its transaction, before any reader can meet it.
type ownLog struct {
	parts.Log
	own *ownEvents
}

func (l *ownLog) Append(ctx context.Context, pr parts.Principal, d parts.Draft, also func(store.Tx, store.Event) error) (store.Event, error) {
	if d.Delivery != parts.Durable {
		return l.Log.Append(ctx, pr, d, also)
	}
	return l.Log.Append(ctx, pr, d, func(tx store.Tx, e store.Event) error {
		l.own.mu.Lock()
		l.own.ids[e.ID] = true
		l.own.mu.Unlock()
		if also != nil {
			return also(tx, e)
		}
		return nil
	})
}

func (o *ownEvents) has(id string) bool {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.ids[id]
}

// Find knows no other process's events.
func (l *foundLog) Find(ctx context.Context, pr parts.Principal, id string) (store.Event, bool, error) {
	if !l.own.has(id) {
		return store.Event{}, false, nil
	}
	return l.Log.Find(ctx, pr, id)
}

type foundLog struct {
	parts.Log
	own *ownEvents
}

func oneProcessRing(p *parts.Parts) {
	own := &ownEvents{ids: map[string]bool{}}
	p.Log = &foundLog{Log: &ownLog{Log: p.Log, own: own}, own: own}
	throughStreams(p, func(parts.Principal, parts.Start) passage {
		return func(frames []*parts.Frame) []*parts.Frame {
			return without(frames, func(f *parts.Frame) bool { return f.Event.Durable() && !own.has(f.Event.ID) })
		}
	})
}

func peerLiveDeaf(p *parts.Parts) {
	own := &ownEvents{ids: map[string]bool{}}
	p.Log = &ownLog{Log: p.Log, own: own}
	throughStreams(p, func(_ parts.Principal, s parts.Start) passage {
		return func(frames []*parts.Frame) []*parts.Frame {
			return without(frames, func(f *parts.Frame) bool { return f.Event.Seq > s.Head && !own.has(f.Event.ID) })
		}
	})
}
