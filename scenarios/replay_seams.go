package scenarios

import (
	"context"
	"time"

	"github.com/wopwitness/wopwitness/scenarios/registry"
	"github.com/wopwitness/wopwitness/seams/cause"
	"github.com/wopwitness/wopwitness/seams/sse"
	"github.com/wopwitness/wopwitness/witness/hostevents"
	"github.com/wopwitness/wopwitness/witness/observe"
)

// removed drives 0250.removed: an event between others is removed by the seam, and a subscriber resumes before it, once before
// the removal and once after. Then the newest event is removed, and others follow on the stream that was open throughout.
func removed(ctx context.Context, d *Drive) (any, error) {
	d.By(causeSeam)
	observer, emits, err := d.backlog(ctx, "D0", "D1", "D2", "D3", "R", "D4", "D5")
	if err != nil {
		return nil, err
	}
	o := hostevents.Removed{Reading: d.reading(), Emits: emits, Cursor: "D1", Gone: "R"}
	cursor, gone := emits[1].EventID, emits[4].EventID
	before := d.Resume(ctx, "resumed before the removal", observe.CredentialA, emits[0].EventID)
	if before.Opened() {
		d.Await(ctx, before, observe.CredentialA, Shows(last(emits).EventID))
	}
	before.Close()
	o.Before = before.Record()
	o.Removal = cause.Remove(ctx, d.Session, gone, d.Major)
	switch x := o.Removal; {
	case x.Response == nil && x.Failure != nil:
		return nil, blocked(failureReason(x.Failure.Kind), "removing an event: %s", x.Failure.Text)
	case !cause.SeamMounted(x):
		return nil, inapplicable(registry.NoCause, "the host mounts no removal seam (POST %s answered %d)", x.Request.Target, x.Status())
	case !hostevents.TookEffect(x):
		return nil, blocked(registry.UnexpectedAnswer, "POST %s answered %d instead of removing the event", x.Request.Target, x.Status())
	}
	resumed := d.Resume(ctx, "resumed before it", observe.CredentialA, cursor)
	if resumed.Opened() {
		d.Await(ctx, resumed, observe.CredentialA, Shows(emits[2].EventID, emits[3].EventID, emits[5].EventID, emits[6].EventID))
		d.Linger(ctx, resumed, d.Quiet())
	}
	o.Unknown = d.Refusal(ctx, "unknown", observe.CredentialA, UnknownCursor(gone))
	o.AtGone = d.Refusal(ctx, "removed", observe.CredentialA, gone)
	resumed.Close()
	o.Newest = cause.Remove(ctx, d.Session, last(emits).EventID, d.Major)
	for _, label := range []string{"D6", "D7"} {
		e, err := d.triggerOne(ctx, label)
		if err != nil {
			return nil, err
		}
		o.After = append(o.After, e)
	}
	later := d.Resume(ctx, "resumed when the newest was removed", observe.CredentialA, cursor)
	if later.Opened() {
		d.Await(ctx, later, observe.CredentialA, Shows(idsAfter(o.After, -1)...))
	}
	d.readOut(ctx, observer, observe.CredentialA, o.After)
	later.Close()
	observer.Close()
	o.Resumed, o.Later, o.Observer = resumed.Record(), later.Record(), observer.Record()
	return o, nil
}

// largePayload is far beyond what notification channels of databases carry.
const largePayload = 64 << 10

// oversize drives 0250.oversize: a small event and a large one of one type, by the emit seam, on a stream that is open
// and then on one that resumes before them.
func oversize(ctx context.Context, d *Drive) (any, error) {
	d.By(causeSeam)
	eventType, listed := d.durableType()
	if !listed {
		return nil, inapplicable(registry.NoCause, "the host lists no durable type but the trigger's own, so the emit seam has none to emit")
	}
	observer, first, err := d.backlog(ctx, "D1")
	if err != nil {
		return nil, err
	}
	o := hostevents.Oversize{Reading: d.reading(), Cursor: first[0], Bytes: largePayload}
	live := d.Resume(ctx, "open throughout", observe.CredentialA, first[0].EventID)
	if o.Small, err = d.EmitSeam(ctx, cause.EmitCall{Label: "small", Type: eventType}); err != nil {
		return nil, err
	}
	if !d.Await(ctx, observer, observe.CredentialA, Shows(o.Small.EventID)) {
		return nil, blocked(registry.Timeout, "the emit seam accepted an event of type %s, and no stream showed it", eventType)
	}
	if o.Large, err = d.EmitSeam(ctx, cause.EmitCall{Label: "large", Type: eventType, PayloadBytes: largePayload}); err != nil {
		return nil, err
	}
	// The large one may never arrive. Commit order makes whatever is missing when the sentinel is there missing for good.
	if o.Sentinel, err = d.Emit(ctx, observer, "S", observe.CredentialA, durable); err != nil {
		return nil, err
	}
	replayed := d.Resume(ctx, "resumed behind both", observe.CredentialA, first[0].EventID)
	for _, s := range []*sse.Subscription{live, replayed} {
		if s.Opened() {
			d.Await(ctx, s, observe.CredentialA, Shows(o.Small.EventID, o.Sentinel.EventID))
			d.Await(ctx, s, observe.CredentialA, Shows(o.Large.EventID))
		}
	}
	d.Linger(ctx, observer, d.Quiet()) // all three are read on
	// One stream that shows it whole is enough: where another shows less, the host has cut it.
	largest := 0
	for _, s := range []*sse.Subscription{live, replayed, observer} {
		largest = max(largest, len(dataOf(s, o.Large)))
	}
	if largest > 0 && largest < largePayload {
		return nil, inapplicable(registry.NoCause, "the emit seam was asked for %d bytes of payload, and the envelope has %d", largePayload, largest)
	}
	for _, s := range []*sse.Subscription{live, replayed, observer} {
		s.Close()
	}
	o.Live, o.Replayed, o.Observer = live.Record(), replayed.Record(), observer.Record()
	return o, nil
}

// expired drives 0250.expired: an event whose age the clock seam takes past the bound, one well within it where the bound
// is long enough to tell, and two fresh ones.
func expired(ctx context.Context, d *Drive) (any, error) {
	bound, ok := d.bound()
	if !ok {
		return nil, blocked(registry.Unreadable, "the host's replay facet names no bound, so nothing can be said to be past it")
	}
	observer, emits, err := d.backlog(ctx, "old", "older")
	if err != nil {
		return nil, err
	}
	o := hostevents.Expired{Reading: d.reading(), Old: "old", Young: "within"}
	for _, step := range expirySteps(bound) {
		move, err := d.Advance(ctx, step.by)
		if err != nil {
			return nil, err
		}
		o.Moves = append(o.Moves, move)
		more, err := d.emitEach(ctx, observer, observe.CredentialA, step.then...)
		if err != nil {
			return nil, err
		}
		emits = append(emits, more...)
	}
	o.Emits = emits
	atOld := d.Resume(ctx, "past the bound", observe.CredentialA, emits[0].EventID)
	atYoung := d.Resume(ctx, "within the bound", observe.CredentialA, emits[2].EventID)
	o.Unknown = d.Refusal(ctx, "unknown", observe.CredentialA, UnknownCursor(emits[0].EventID))
	for _, s := range []*sse.Subscription{atOld, atYoung} {
		if s.Opened() {
			d.readOut(ctx, s, observe.CredentialA, emits[3:])
		}
		s.Close()
	}
	observer.Close()
	o.AtOld, o.AtYoung, o.Observer = atOld.Record(), atYoung.Record(), observer.Record()
	return o, nil
}

type expiryStep struct {
	by   time.Duration
	then []string
}

// expirySteps moves the clock past the bound. A long bound is passed in two steps, with an event in between that comes
// to be nearly as old as the bound: a host that keeps less than it says has lost that one. What is left of the bound is
// for the questions to be asked in.
func expirySteps(bound time.Duration) []expiryStep {
	const margin, long, left, most = 5 * time.Second, 40 * time.Second, 20 * time.Second, 2 * time.Minute
	if bound < long {
		return []expiryStep{{bound + margin, []string{"within", "fresh"}}}
	}
	nearly := (bound - min(max(bound/100, left), most, bound/4)).Truncate(time.Second)
	return []expiryStep{{bound - nearly + margin, []string{"within"}}, {nearly, []string{"fresh", "freshest"}}}
}
