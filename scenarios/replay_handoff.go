package scenarios

import (
	"context"
	"fmt"
	"sync"

	"github.com/wopwitness/wopwitness/seams/sse"
	"github.com/wopwitness/wopwitness/witness/hostevents"
	"github.com/wopwitness/wopwitness/witness/observe"
)

const (
	handoffSubscribers = 12
	// A subscriber's cursor has this many events behind it when it connects, so that there is a backlog to pass from.
	handoffLead = 2
	// The writer goes on until every subscriber is connected and it has written this many more.
	handoffTail = 3
	// And no longer than this, where a connection takes for ever.
	handoffEvents = 120
)

// handoff drives 0250.handoff: one writer emits one event after another while subscribers connect, each at a cursor of
// its own, a little behind the head.
func handoff(ctx context.Context, d *Drive) (any, error) {
	observer, emits, err := d.backlog(ctx, "D1", "D2", "D3")
	if err != nil {
		return nil, err
	}
	o := hostevents.Handoff{Reading: d.reading(), Subscribers: make([]hostevents.Subscriber, handoffSubscribers)}
	streams := make([]*sse.Subscription, handoffSubscribers)
	var connecting sync.WaitGroup
	connected := make(chan struct{})
	tail := handoffTail
	for started := 0; len(emits) < handoffEvents && tail > 0; {
		for ; started < handoffSubscribers && len(emits) > started+handoffLead; started++ {
			i, at := started, emits[started]
			o.Subscribers[i].Cursor = at.Label
			connecting.Go(func() {
				streams[i] = d.Resume(ctx, "resumed at "+at.Label, observe.CredentialA, at.EventID)
			})
			if started == handoffSubscribers-1 {
				go func() { connecting.Wait(); close(connected) }()
			}
		}
		var more []observe.Emit
		if more, err = d.emitEach(ctx, observer, observe.CredentialA, fmt.Sprintf("D%d", len(emits)+1)); err != nil {
			break
		}
		emits = append(emits, more...)
		select {
		case <-connected:
			tail--
		default:
		}
	}
	connecting.Wait()
	if err != nil {
		return nil, err
	}
	o.Emits = emits
	d.recordHandoff(ctx, &o, observer, streams)
	return o, nil
}

// recordHandoff reads every subscriber out, all at once since each may lack something and is given the whole patience,
// and then all of them for one quiet window.
func (d *Drive) recordHandoff(ctx context.Context, o *hostevents.Handoff, observer *sse.Subscription, streams []*sse.Subscription) {
	var reading sync.WaitGroup
	for i, s := range streams {
		if s.Opened() {
			reading.Go(func() { d.Await(ctx, s, observe.CredentialA, Shows(idsAfter(o.Emits, i)...)) })
		}
	}
	reading.Wait()
	d.Linger(ctx, observer, d.Quiet())
	for i, s := range streams {
		s.Close()
		o.Subscribers[i].Stream = s.Record()
	}
	observer.Close()
	o.Observer = observer.Record()
}

func idsAfter(emits []observe.Emit, i int) []string {
	var ids []string
	for _, e := range emits[i+1:] {
		ids = append(ids, e.EventID)
	}
	return ids
}
