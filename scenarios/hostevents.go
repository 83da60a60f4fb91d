package scenarios

import (
	"context"
	"time"

	"github.com/wopwitness/wopwitness/seams/cause"
	"github.com/wopwitness/wopwitness/seams/client"
	"github.com/wopwitness/wopwitness/seams/sse"
	"github.com/wopwitness/wopwitness/witness/hostevents"
	"github.com/wopwitness/wopwitness/witness/observe"
)

// deliveryTries is how many events of a class are sent, each on a stream of its own after the first, before none is
// expected any more.
const deliveryTries = 2

// deliveredInEnvelope drives 0236.host-event.envelope: one event of each listed class on a live stream, and another on a fresh one
// where it does not come.
func deliveredInEnvelope(ctx context.Context, d *Drive) (any, error) {
	o := hostevents.Delivered{Reading: d.reading()}
	var streams []*sse.Subscription
	for _, delivery := range d.classes() {
		for try := range deliveryTries {
			if len(streams) == 0 || try > 0 {
				s, err := d.Live(ctx, observe.CredentialA)
				if err != nil {
					return nil, err
				}
				streams = append(streams, s)
			}
			stream := streams[len(streams)-1]
			e, err := d.Send(ctx, cause.TriggerCall{Label: delivery, Credential: observe.CredentialA, Delivery: delivery})
			if err != nil {
				return nil, err
			}
			before := d.fillers.Load()
			came := d.Await(ctx, stream, observe.CredentialA, Shows(e.EventID))
			o.Tries = append(o.Tries, hostevents.Try{Emit: e, Stream: len(streams) - 1, Pushed: int(d.fillers.Load() - before)})
			if came {
				d.learn(e, before, stream.Frames())
				break
			}
		}
	}
	for _, s := range streams {
		s.Close()
		o.Streams = append(o.Streams, s.Record())
	}
	return o, nil
}

// listedTypes drives 0236.host-event.listed-types: what the run has seen, and an event of each class of its own. A class
// that isn't listed is asked for as well: a host that serves it emits a type that it does not list.
func listedTypes(ctx context.Context, d *Drive) (any, error) {
	own, err := d.Live(ctx, observe.CredentialA)
	if err != nil {
		return nil, err
	}
	for _, delivery := range []string{durable, ephemeral} {
		e := d.Trigger(ctx, cause.TriggerCall{Label: delivery, Credential: observe.CredentialA, Delivery: delivery})
		if e.EventID != "" {
			d.Await(ctx, own, observe.CredentialA, Shows(e.EventID))
		}
	}
	own.Close()
	return hostevents.Sighted{
		Discovery: d.Discover(ctx, d.Major).Exchange, Sights: d.run.sights.list(), Own: own.Record(),
	}, nil
}

// tenantIsolation drives 0236.host-event.tenant-isolation: both tenants listen, each emits, and each then emits a
// sentinel once the other's events were seen at home.
func tenantIsolation(ctx context.Context, d *Drive) (any, error) {
	if err := d.TwoTenants(ctx); err != nil {
		return nil, err
	}
	a, err := d.Live(ctx, observe.CredentialA)
	if err != nil {
		return nil, err
	}
	b, err := d.Live(ctx, observe.CredentialB)
	if err != nil {
		return nil, err
	}
	o := hostevents.Tenants{Reading: d.reading()}
	sides := []struct {
		side       *hostevents.Side
		stream     *sse.Subscription
		credential string
	}{{&o.A, a, observe.CredentialA}, {&o.B, b, observe.CredentialB}}
	for _, s := range sides {
		for _, delivery := range d.classes() {
			e, err := d.Emit(ctx, s.stream, s.credential+" "+delivery, s.credential, delivery)
			if err != nil {
				return nil, err
			}
			s.side.Emits = append(s.side.Emits, e)
		}
	}
	for _, s := range sides {
		if s.side.Sentinel, err = d.Emit(ctx, s.stream, "the sentinel of "+s.credential, s.credential, durable); err != nil {
			return nil, err
		}
	}
	o.Window = d.lingerAll(ctx, a, b)
	a.Close()
	b.Close()
	o.A.Stream, o.B.Stream = a.Record(), b.Record()
	return o, nil
}

// noResume drives 0236.ephemeral.no-resume: an ephemeral event between durable ones; then, once no hub can still be
// handing it out, three subscribers without the parameter, and a sentinel.
func noResume(ctx context.Context, d *Drive) (any, error) {
	observer, err := d.Live(ctx, observe.CredentialA)
	if err != nil {
		return nil, err
	}
	o := hostevents.NoResume{Reading: d.reading()}
	for _, want := range []struct{ label, delivery string }{{"D1", durable}, {"E", ephemeral}, {"D2", durable}} {
		e, err := d.Emit(ctx, observer, want.label, observe.CredentialA, want.delivery)
		if err != nil {
			return nil, err
		}
		o.Backlog = append(o.Backlog, e)
	}
	before := d.lingerAll(ctx, observer)
	connections := []struct {
		at     string
		stream *sse.Subscription
	}{
		{"durable-cursor", d.ResumeLegacy(ctx, "at D1", observe.CredentialA, o.Backlog[0].EventID)},
		{"ephemeral-cursor", d.ResumeLegacy(ctx, "at E", observe.CredentialA, o.Backlog[1].EventID)},
		{"no-cursor", d.Subscribe(ctx, client.Call{Label: "without a cursor", Credential: observe.CredentialA})},
	}
	var open []*sse.Subscription
	for _, c := range connections {
		if c.stream.Opened() {
			open = append(open, c.stream)
		}
	}
	if o.Sentinel, err = d.sentinelOn(ctx, observer, open); err != nil {
		return nil, err
	}
	o.Window = min(before, d.lingerAll(ctx, open...))
	for _, c := range connections {
		c.stream.Close()
		o.Reconnected = append(o.Reconnected, hostevents.Reconnected{At: c.at, Stream: c.stream.Record()})
	}
	observer.Close()
	o.Observer = observer.Record()
	return o, nil
}

// sentinelTries is how many sentinels are sent for several streams to show the same one, or to come by a position. A
// stream that lives for a few hundred milliseconds on a slow line is away for a good part of the time.
const sentinelTries = 15

// sentinelOn emits a durable event and waits until the streams have all shown it. A stream without a position may
// lawfully lose one between two connections; then another is sent, which it shows or resumes at.
func (d *Drive) sentinelOn(ctx context.Context, observer *sse.Subscription, streams []*sse.Subscription) (e observe.Emit, err error) {
	for try := 1; ; try++ {
		if e, err = d.Emit(ctx, observer, "S", observe.CredentialA, durable); err != nil {
			return e, err
		}
		lost := false
		for _, s := range streams {
			lost = d.lostBetween(ctx, s, e) || lost
		}
		if !lost || try == sentinelTries {
			return e, nil
		}
	}
}

// lostBetween waits for the event on the stream, and says whether it is missing where the host ended a connection
// meanwhile.
func (d *Drive) lostBetween(ctx context.Context, s *sse.Subscription, e observe.Emit) bool {
	deadline, shown := time.Now().Add(d.run.config.eventTimeout()), Shows(e.EventID)
	if d.soon(ctx, s, deadline, shown) {
		return false
	}
	if made, open := s.Connections(); !open || made > 1 {
		return true
	}
	d.late(ctx, s, e.Credential, deadline, shown)
	return false
}

// lingerAll reads the streams, all at once, for as long as something without a commit order may be late, and says for
// how long that was.
func (d *Drive) lingerAll(ctx context.Context, streams ...*sse.Subscription) observe.Micros {
	window := max(d.Quiet(), d.EphemeralWindow())
	if len(streams) > 0 {
		d.Linger(ctx, streams[0], window)
	}
	return observe.Micros(window.Microseconds())
}
