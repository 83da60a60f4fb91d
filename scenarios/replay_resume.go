package scenarios

import (
	"context"
	"fmt"

	"github.com/wopwitness/wopwitness/seams/sse"
	"github.com/wopwitness/wopwitness/witness/hostevents"
	"github.com/wopwitness/wopwitness/witness/observe"
)

// resumeBacklog drives 0250.resume-backlog: D1, D2, an ephemeral E and D3 while an observer watches; reconnect at D1;
// then D4 and an ephemeral E2 live, and a sentinel.
func resumeBacklog(ctx context.Context, d *Drive) (any, error) {
	o, observer, resumed, err := d.resumeAtFirst(ctx)
	if err != nil {
		return nil, err
	}
	if resumed.Opened() {
		if err := d.goLive(ctx, &o, observer, resumed); err != nil {
			return nil, err
		}
	}
	return d.recordResume(ctx, o, observer, resumed), nil
}

// ephemeralNotReplayed drives 0250.ephemeral-not-replayed: the same stream, read for as long after its sentinel as an
// event without a commit order may lawfully take.
func ephemeralNotReplayed(ctx context.Context, d *Drive) (any, error) {
	o, observer, resumed, err := d.resumeAtFirst(ctx)
	if err != nil {
		return nil, err
	}
	if resumed.Opened() {
		if err := d.sentinel(ctx, &o, observer); err != nil {
			return nil, err
		}
	}
	o.EphemeralWindow = observe.Micros(d.EphemeralWindow().Microseconds())
	if d.Await(ctx, resumed, observe.CredentialA, Shows(last(o.Live).EventID)) {
		d.Linger(ctx, resumed, max(d.Quiet(), d.EphemeralWindow()))
	}
	return d.recordResume(ctx, o, observer, resumed), nil
}

// resumeAtFirst emits D1, D2, E and D3 one after another, each shown by the observer before the next, and reconnects
// at D1 under replay=required.
func (d *Drive) resumeAtFirst(ctx context.Context) (o hostevents.Resume, observer, resumed *sse.Subscription, err error) {
	o = hostevents.Resume{Reading: d.reading(), Cursor: "D1"}
	if observer, err = d.Live(ctx, observe.CredentialA); err != nil {
		return o, nil, nil, err
	}
	for _, want := range []struct{ label, delivery string }{{"D1", durable}, {"D2", durable}, {"E", ephemeral}, {"D3", durable}} {
		e, err := d.Emit(ctx, observer, want.label, observe.CredentialA, want.delivery)
		if err != nil {
			return o, nil, nil, err
		}
		o.Backlog = append(o.Backlog, e)
	}
	// A slow hub may still be handing E out: what connects only now cannot be sent it for the first time.
	d.Linger(ctx, observer, d.EphemeralWindow())
	return o, observer, d.Resume(ctx, "resumed at D1", observe.CredentialA, o.Backlog[0].EventID), nil
}

// ephemeralTries is how many ephemeral events are sent to see one arrive: one may be lost with a connection.
const ephemeralTries = 3

// goLive emits D4, ephemeral events until the resumed stream shows one, and the sentinel.
func (d *Drive) goLive(ctx context.Context, o *hostevents.Resume, observer, resumed *sse.Subscription) error {
	e, err := d.Emit(ctx, observer, "D4", observe.CredentialA, durable)
	if err != nil {
		return err
	}
	o.Live = append(o.Live, e)
	d.Await(ctx, resumed, observe.CredentialA, Shows(e.EventID))
	for i := range ephemeralTries {
		label := fmt.Sprintf("E2.%d", i+1)
		e, err := d.Emit(ctx, observer, label, observe.CredentialA, ephemeral)
		if err != nil {
			return err
		}
		o.Live = append(o.Live, e)
		if resumed.Wait(ctx, d.EphemeralWindow(), Shows(e.EventID)) {
			break
		}
	}
	return d.sentinel(ctx, o, observer)
}

// sentinel emits the last durable event, after which everything that must have arrived has.
func (d *Drive) sentinel(ctx context.Context, o *hostevents.Resume, observer *sse.Subscription) error {
	o.Sentinel = "S"
	e, err := d.Emit(ctx, observer, o.Sentinel, observe.CredentialA, durable)
	if err == nil {
		o.Live = append(o.Live, e)
	}
	return err
}

// recordResume reads the resumed stream to its end and writes down what both streams showed. Where something is missing
// the whole patience is given: the judge convicts only of what was waited for.
func (d *Drive) recordResume(ctx context.Context, o hostevents.Resume, observer, resumed *sse.Subscription) hostevents.Resume {
	if resumed.Opened() {
		d.readOut(ctx, resumed, observe.CredentialA, o.Backlog[1:], o.Live)
	}
	resumed.Close()
	observer.Close()
	o.Resumed, o.Observer = resumed.Record(), observer.Record()
	return o
}

// readOut reads until the stream has shown every durable event of the lists, and then for the quiet window.
func (d *Drive) readOut(ctx context.Context, s *sse.Subscription, credential string, lists ...[]observe.Emit) {
	var ids []string
	for _, list := range lists {
		for _, e := range list {
			if e.Delivery == durable {
				ids = append(ids, e.EventID)
			}
		}
	}
	d.Await(ctx, s, credential, Shows(ids...))
	d.Linger(ctx, s, d.Quiet())
}

// reading is how this run reads its streams, for the judge.
func (d *Drive) reading() hostevents.Reading {
	reading := hostevents.Reading{
		Patience: observe.Micros(d.run.config.eventTimeout().Microseconds()),
		Quiet:    observe.Micros(d.Quiet().Microseconds()),
	}
	if bound, ok := d.bound(); ok {
		reading.Retention = observe.Micros(bound.Microseconds())
	}
	return reading
}

func last(emits []observe.Emit) observe.Emit {
	if len(emits) == 0 {
		return observe.Emit{}
	}
	return emits[len(emits)-1]
}
