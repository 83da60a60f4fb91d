package scenarios

import (
	"context"

	"github.com/wopwitness/wopwitness/seams/sse"
	"github.com/wopwitness/wopwitness/witness/hostevents"
	"github.com/wopwitness/wopwitness/witness/observe"
)

// emitEach emits durable events of those labels, one after another, each shown by the observer before the next.
func (d *Drive) emitEach(ctx context.Context, observer *sse.Subscription, credential string, labels ...string) ([]observe.Emit, error) {
	var emits []observe.Emit
	for _, label := range labels {
		e, err := d.Emit(ctx, observer, label, credential, durable)
		if err != nil {
			return emits, err
		}
		emits = append(emits, e)
	}
	return emits, nil
}

// backlog opens an observer with the first tenant's key and emits durable events under it.
func (d *Drive) backlog(ctx context.Context, labels ...string) (*sse.Subscription, []observe.Emit, error) {
	observer, err := d.Live(ctx, observe.CredentialA)
	if err != nil {
		return nil, nil, err
	}
	emits, err := d.emitEach(ctx, observer, observe.CredentialA, labels...)
	return observer, emits, err
}

// recordSuffix reads the resumed stream out and writes down what it and the observer showed.
func (d *Drive) recordSuffix(ctx context.Context, observer, resumed *sse.Subscription, emits []observe.Emit) hostevents.Suffix {
	if resumed.Opened() {
		d.readOut(ctx, resumed, observe.CredentialA, emits[1:])
	}
	return d.closeSuffix(observer, resumed, emits)
}

// closeSuffix ends both streams; the first of the emits is the cursor.
func (d *Drive) closeSuffix(observer, resumed *sse.Subscription, emits []observe.Emit) hostevents.Suffix {
	resumed.Close()
	observer.Close()
	return hostevents.Suffix{
		Reading: d.reading(), Observer: observer.Record(), Emits: emits, Cursor: emits[0].Label, Resumed: resumed.Record(),
	}
}

// resumeStable drives 0250.resume-stable: two events delivered live and then replayed.
func resumeStable(ctx context.Context, d *Drive) (any, error) {
	observer, emits, err := d.backlog(ctx, "D1", "D2", "D3")
	if err != nil {
		return nil, err
	}
	return d.recordSuffix(ctx, observer, d.Resume(ctx, "resumed at D1", observe.CredentialA, emits[0].EventID), emits), nil
}

// resumeTwice drives 0250.resume-twice: the same cursor twice, and then the last event's.
func resumeTwice(ctx context.Context, d *Drive) (any, error) {
	observer, emits, err := d.backlog(ctx, "D1", "D2", "D3")
	if err != nil {
		return nil, err
	}
	o := hostevents.Twice{Reading: d.reading(), Emits: emits}
	for _, one := range []struct {
		label  string
		record *observe.Subscription
	}{{"first at D1", &o.First}, {"second at D1", &o.Second}} {
		s := d.Resume(ctx, one.label, observe.CredentialA, emits[0].EventID)
		if s.Opened() {
			d.readOut(ctx, s, observe.CredentialA, emits[1:])
		}
		s.Close()
		*one.record = s.Record()
	}
	atEnd := d.Resume(ctx, "at the last event", observe.CredentialA, emits[len(emits)-1].EventID)
	if o.After, err = d.Emit(ctx, observer, "S", observe.CredentialA, durable); err != nil {
		return nil, err
	}
	if atEnd.Opened() {
		d.Settle(ctx, atEnd, observe.CredentialA, o.After.EventID)
	}
	atEnd.Close()
	observer.Close()
	o.AtEnd, o.Observer = atEnd.Record(), observer.Record()
	return o, nil
}

// otherInstance drives 0250.other-instance: emitted on the instance under test, resumed and then live on its peer.
func otherInstance(ctx context.Context, d *Drive) (any, error) {
	d.By(causeOperator)
	observer, emits, err := d.backlog(ctx, "D1", "D2", "D3")
	if err != nil {
		return nil, err
	}
	resumed := d.Peer().Resume(ctx, "resumed at D1 on the other instance", observe.CredentialA, emits[0].EventID)
	live, err := d.emitEach(ctx, observer, observe.CredentialA, "D4", "D5")
	if err != nil {
		return nil, err
	}
	return d.recordSuffix(ctx, observer, resumed, append(emits, live...)), nil
}

// Peer is the same leg at the operator's second instance; its moments count from the same start.
func (d *Drive) Peer() *Drive {
	if d.peer == nil {
		d.peer = &Drive{Session: d.Session.On(d.run.peer), run: d.run, Major: d.Major, cause: d.cause}
	}
	return d.peer
}
