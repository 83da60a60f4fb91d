package scenarios

import (
	"context"
	"fmt"
	"time"

	"github.com/wopwitness/wopwitness/scenarios/registry"
	"github.com/wopwitness/wopwitness/seams/sse"
	"github.com/wopwitness/wopwitness/witness/hostevents"
	"github.com/wopwitness/wopwitness/witness/observe"
)

const (
	// A stream is watched this long for its end, which no advertisement announces.
	endWithinNear = 600 * time.Millisecond
	endWithinFar  = 5 * time.Second
	// Events are emitted at this pace meanwhile, so that the end comes between some.
	endPace = 20 * time.Millisecond
	maxPace = 200
	// And this many at most while the subscriber is away.
	maxBetween = 50
)

// boundedStream drives 0250.bounded-stream: a resumable stream is watched, under events, until the host ends it and the
// subscriber has come back; and it is resumed where a standard reader would have come back, if that is elsewhere.
func boundedStream(ctx context.Context, d *Drive) (any, error) {
	observer, emits, err := d.backlog(ctx, "D1", "D2", "D3")
	if err != nil {
		return nil, err
	}
	call := d.resumeCall("resumable, at D1", observe.CredentialA, emits[0].EventID)
	call.Query.Set("resumable", "true")
	resumed := d.Subscribe(ctx, call)
	if resumed.Opened() {
		within := endWithinFar
		if d.run.host.Loopback {
			within = endWithinNear
		}
		more, err := d.emitUntilEnded(ctx, observer, resumed, within)
		if err != nil {
			return nil, err
		}
		emits = append(emits, more...)
	}
	o := hostevents.Bounded{}
	if resumed.Opened() {
		d.readOut(ctx, resumed, observe.CredentialA, emits[1:])
		resumed.Close()
		if o.AtLastID, err = d.atLastID(ctx, observer, resumed.Record()); err != nil {
			return nil, err
		}
	}
	o.Suffix = d.closeSuffix(observer, resumed, emits)
	return o, nil
}

// atLastID connects once more where a standard reader of the ended stream would have resumed elsewhere than the suite,
// which keeps the ids of host events only: at the id that such a reader has kept. It is nil where there is no difference.
func (d *Drive) atLastID(ctx context.Context, observer *sse.Subscription, ended observe.Subscription) (*hostevents.AtLastID, error) {
	segment, id := hostevents.Parting(ended)
	if segment < 0 {
		return nil, nil
	}
	s := d.Resume(ctx, "resumed at the last id sent", observe.CredentialA, id)
	defer s.Close()
	e, err := d.Emit(ctx, observer, "S", observe.CredentialA, durable)
	if err != nil {
		return nil, err
	}
	if s.Opened() {
		d.Settle(ctx, s, observe.CredentialA, e.EventID)
	}
	s.Close()
	return &hostevents.AtLastID{Stream: s.Record(), After: e}, nil
}

// emitUntilEnded emits until the host has ended the stream once, goes on at full pace until the subscriber is back, and
// then emits two more: so some come before the end, some between, and some while the subscriber passes from backlog to
// live. A host that doesn't end the stream is one that the leg cannot be caused with.
func (d *Drive) emitUntilEnded(ctx context.Context, observer, resumed *sse.Subscription, within time.Duration) ([]observe.Emit, error) {
	var emits []observe.Emit
	emit := func() error {
		more, err := d.emitEach(ctx, observer, observe.CredentialA, fmt.Sprintf("D%d", len(emits)+4))
		emits = append(emits, more...)
		return err
	}
	deadline := time.Now().Add(within)
	for !endedOnce(resumed) {
		if time.Now().After(deadline) || len(emits) == maxPace {
			return nil, inapplicable(registry.NoCause, "the host did not end the stream within %s; "+
				"one that ends its streams sooner shows it (the mock host: serve --stream-life 300ms)", within)
		}
		if err := emit(); err != nil {
			return nil, err
		}
		resumed.Wait(ctx, endPace, func([]frame) bool { return endedOnce(resumed) })
	}
	for between := 0; between < maxBetween && !cameBack(resumed); between++ {
		if err := emit(); err != nil {
			return nil, err
		}
	}
	for range 2 {
		if err := emit(); err != nil {
			return nil, err
		}
	}
	return emits, nil
}

func endedOnce(s *sse.Subscription) bool { return s.Record().Segments[0].EndedByHost() }

// cameBack says whether the subscriber has connected again, or has given up.
func cameBack(s *sse.Subscription) bool {
	_, over := s.Ended()
	return over || len(s.Record().Segments) > 1
}
