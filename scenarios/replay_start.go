package scenarios

import (
	"context"
	"fmt"

	"github.com/wopwitness/wopwitness/seams/sse"
	"github.com/wopwitness/wopwitness/witness/hostevents"
	"github.com/wopwitness/wopwitness/witness/observe"
)

// liveStart drives 0250.live-start: events well before, then one connection without a position and one with an empty one,
// and events until each has shown one.
func liveStart(ctx context.Context, d *Drive) (any, error) {
	observer, old, err := d.backlog(ctx, "D1", "D2")
	if err != nil {
		return nil, err
	}
	window := d.EphemeralWindow()
	o := hostevents.LiveStart{Reading: d.reading(), Old: old, Window: observe.Micros(window.Microseconds())}
	d.Linger(ctx, observer, window)
	absentCall := d.resumeCall("no cursor", observe.CredentialA, "")
	absentCall.Header = nil
	absent := d.Subscribe(ctx, absentCall)
	empty := d.Subscribe(ctx, d.resumeCall("empty cursor", observe.CredentialA, ""))
	if err := d.emitUntilLive(ctx, &o, observer, absent, empty); err != nil {
		return nil, err
	}
	d.Linger(ctx, empty, d.Quiet())
	for _, s := range []*sse.Subscription{absent, empty, observer} {
		s.Close()
	}
	o.Absent, o.Empty, o.Observer = absent.Record(), empty.Record(), observer.Record()
	return o, nil
}

// emitUntilLive emits until both streams have shown one of the events: the first ones may lawfully be lost with a
// connection that was not live yet.
func (d *Drive) emitUntilLive(ctx context.Context, o *hostevents.LiveStart, observer, absent, empty *sse.Subscription) error {
	for i := 1; ; i++ {
		e, err := d.Emit(ctx, observer, fmt.Sprintf("L%d", i), observe.CredentialA, durable)
		if err != nil {
			return err
		}
		o.Live = append(o.Live, e)
		heard := true
		for _, s := range []*sse.Subscription{absent, empty} {
			if s.Opened() {
				heard = s.Wait(ctx, d.EphemeralWindow(), showsAny(o.Live)) && heard
			}
		}
		if heard || ctx.Err() != nil || d.Now() > o.Live[0].SentAt()+o.Patience {
			return nil
		}
	}
}

// showsAny is true once the frames hold one of the events.
func showsAny(emits []observe.Emit) func([]frame) bool {
	return func(frames []frame) bool {
		for _, e := range emits {
			if Shows(e.EventID)(frames) {
				return true
			}
		}
		return false
	}
}
