package scenarios

import (
	"context"
	"fmt"

	"github.com/wopwitness/wopwitness/scenarios/registry"
	"github.com/wopwitness/wopwitness/seams/cause"
	"github.com/wopwitness/wopwitness/seams/sse"
	"github.com/wopwitness/wopwitness/witness/hostevents"
	"github.com/wopwitness/wopwitness/witness/observe"
)

// elsewhere opens a live stream on the peer beside an observer of the instance under test, and emits an event that both
// show: what is emitted from then on finds the peer's stream open, or its subscriber with a position.
func (d *Drive) elsewhere(ctx context.Context) (observer, there *sse.Subscription, first observe.Emit, err error) {
	if observer, err = d.Live(ctx, observe.CredentialA); err != nil {
		return nil, nil, first, err
	}
	if there, err = d.Peer().Live(ctx, observe.CredentialA); err != nil {
		return nil, nil, first, err
	}
	if first, err = d.Emit(ctx, observer, "D1", observe.CredentialA, durable); err != nil {
		return nil, nil, first, err
	}
	d.Await(ctx, there, observe.CredentialA, Shows(first.EventID)) // where it doesn't, the sentinel will tell
	return observer, there, first, nil
}

// ephemeralElsewhere drives 0236.ephemeral.other-instance: ephemeral events on the instance under test until its peer's
// stream shows one, and a sentinel.
func ephemeralElsewhere(ctx context.Context, d *Drive) (any, error) {
	d.By(causeOperator)
	o := hostevents.EphemeralElsewhere{Reading: d.reading()}
	observer, there, first, err := d.elsewhere(ctx)
	if err != nil {
		return nil, err
	}
	o.First = first
	for i := range ephemeralTries {
		e, err := d.Emit(ctx, observer, fmt.Sprintf("E%d", i+1), observe.CredentialA, ephemeral)
		if err != nil {
			return nil, err
		}
		o.Emits = append(o.Emits, e)
		if there.Wait(ctx, d.EphemeralWindow(), Shows(e.EventID)) {
			break
		}
	}
	if o.Sentinel, err = d.Emit(ctx, observer, "S", observe.CredentialA, durable); err != nil {
		return nil, err
	}
	d.Await(ctx, there, observe.CredentialA, Shows(o.Sentinel.EventID))
	o.Window = d.lingerAll(ctx, there)
	there.Close()
	observer.Close()
	o.Elsewhere, o.Observer = there.Record(), observer.Record()
	return o, nil
}

// largeElsewhere drives 0250.oversize.other-instance: a small event and a large one of one type, by the emit seam of the
// instance under test, on a stream of its peer.
func largeElsewhere(ctx context.Context, d *Drive) (any, error) {
	d.By(causeSeam)
	eventType, listed := d.durableType()
	if !listed {
		return nil, inapplicable(registry.NoCause, "the host lists no durable type but the trigger's own, so the emit seam has none to emit")
	}
	observer, there, first, err := d.elsewhere(ctx)
	if err != nil {
		return nil, err
	}
	o := hostevents.LargeElsewhere{Reading: d.reading(), First: first, Bytes: largePayload}
	for _, want := range []struct {
		label string
		bytes int
		emit  *observe.Emit
	}{{"small", 0, &o.Small}, {"large", largePayload, &o.Large}} {
		if *want.emit, err = d.EmitSeam(ctx, cause.EmitCall{Label: want.label, Type: eventType, PayloadBytes: want.bytes}); err != nil {
			return nil, err
		}
		if !d.Await(ctx, observer, observe.CredentialA, Shows(want.emit.EventID)) {
			return nil, blocked(registry.Timeout, "the emit seam accepted the %s event, of type %s, and no stream of its own instance showed it", want.label, eventType)
		}
	}
	if n := len(dataOf(observer, o.Large)); n < largePayload {
		return nil, inapplicable(registry.NoCause, "the emit seam was asked for %d bytes of payload, and the envelope has %d", largePayload, n)
	}
	if o.Sentinel, err = d.Emit(ctx, observer, "S", observe.CredentialA, durable); err != nil {
		return nil, err
	}
	// Commit order makes whatever is missing when the sentinel is there missing for good.
	d.Await(ctx, there, observe.CredentialA, Shows(o.Small.EventID, o.Sentinel.EventID))
	d.Await(ctx, there, observe.CredentialA, Shows(o.Large.EventID))
	d.Linger(ctx, there, d.Quiet())
	there.Close()
	observer.Close()
	o.Elsewhere, o.Observer = there.Record(), observer.Record()
	return o, nil
}

// idempotentElsewhere drives 0241.trigger.other-instance: one request to the instance under test, again there, and then to
// its peer, and a sentinel.
func idempotentElsewhere(ctx context.Context, d *Drive) (any, error) {
	d.By(causeOperator)
	observer, err := d.Live(ctx, observe.CredentialA)
	if err != nil {
		return nil, err
	}
	call := cause.TriggerCall{Label: "first", Credential: observe.CredentialA, Delivery: durable, IdempotencyKey: UnknownCursor("")}
	o := hostevents.OnceElsewhere{Once: hostevents.Once{Reading: d.reading()}}
	if o.First, err = d.EmitCall(ctx, observer, call); err != nil {
		return nil, err
	}
	call.Label = "again"
	o.Home = d.Trigger(ctx, call)
	for range repetitions {
		call.Label = "on the other instance"
		o.Again = append(o.Again, d.Peer().Trigger(ctx, call))
	}
	if o.Sentinel, err = d.Emit(ctx, observer, "S", observe.CredentialA, durable); err != nil {
		return nil, err
	}
	o.Window = d.lingerAll(ctx, observer)
	observer.Close()
	o.Observer, o.Pushed = observer.Record(), int(d.fillers.Load())
	return o, nil
}
