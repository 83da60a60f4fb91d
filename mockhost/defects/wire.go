package defects

import (
	"context"
	"sync"

	"github.com/wopwitness/wopwitness/mockhost/parts"
)

// wire is a way into open streams that goes past the log.
type wire struct {
	mu   sync.Mutex
	open map[*leaking]bool
}

func newWire() *wire { return &wire{open: map[*leaking]bool{}} }

// send slips a frame into every open stream of the tenants that it reaches.
func (w *wire) send(f *parts.Frame, reaches func(tenant string) bool) {
	w.mu.Lock()
	defer w.mu.Unlock()
	for l := range w.open {
		if reaches(l.tenant) {
			l.leaked = append(l.leaked, f)
			if l.wake != nil {
				l.wake()
			}
		}
	}
}

type wiredLog struct {
	parts.Log
	wire *wire
}

func (l *wiredLog) Subscribe(ctx context.Context, pr parts.Principal, s parts.Start) (parts.Subscription, error) {
	sub, err := l.Log.Subscribe(ctx, pr, s)
	if err != nil {
		return nil, err
	}
	leak := &leaking{Subscription: sub, wire: l.wire, tenant: pr.Tenant}
	l.wire.mu.Lock()
	defer l.wire.mu.Unlock()
	l.wire.open[leak] = true
	return leak, nil
}

// leaking is a stream that the wire reaches; its last two members are the wire's.
type leaking struct {
	parts.Subscription
	wire   *wire
	tenant string
	leaked []*parts.Frame
	wake   context.CancelFunc
}

func (l *leaking) take(wake context.CancelFunc) []*parts.Frame {
	l.wire.mu.Lock()
	defer l.wire.mu.Unlock()
	out := l.leaked
	l.leaked, l.wake = nil, wake
	return out
}

func (l *leaking) Next(ctx context.Context) ([]*parts.Frame, error) {
	wait, cancel := context.WithCancel(ctx)
	defer cancel()
	if out := l.take(cancel); len(out) > 0 {
		return out, nil
	}
	frames, err := l.Subscription.Next(wait)
	out := append(l.take(nil), frames...)
	if len(out) > 0 {
		return out, nil
	}
	return nil, err
}

func (l *leaking) Close() {
	l.wire.mu.Lock()
	delete(l.wire.open, l)
	l.wire.mu.Unlock()
	l.Subscription.Close()
}
