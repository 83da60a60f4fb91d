package bench

import (
	"context"
	"errors"
	"fmt"
	"sync/atomic"
	"time"

	"github.com/wopwitness/wopwitness/cmd/wopwitness/internal/bench/limits"
)

// The size of the fan-out row. The writers are so many that a host which commits for several at once is not kept waiting by
// its disk: what is measured is the fan-out. Fewer writers make smaller pieces for each stream, and more writes.
const (
	subscribers   = 1000
	fannedEvents  = 300 // a round
	fanoutWriters = 64
	fanoutTime    = time.Minute // for one round at most
	hostMemory    = 100         // MiB
)

// fanned is what the subscribers of one side saw over all rounds.
type fanned struct{ missed, parted int }

// fanout measures how fast events reach a thousand streams, and that they reach all of them in one order.
func (b *bench) fanout(ctx context.Context, row *Row) (err error) {
	host, limit, stop, err := b.both(ctx, limits.Hub)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, stop()) }()
	var saw, ignored fanned
	var bytes [2]int64
	measured := func(s *server, f *fanned, bytes *int64) side {
		return func(ctx context.Context) (rate float64, err error) {
			rate, *bytes, err = s.fan(ctx, f)
			return rate, err
		}
	}
	if err := b.pairs(ctx, row, 1, measured(host, &saw, &bytes[0]), measured(limit, &ignored, &bytes[1])); err != nil {
		return err
	}
	row.mustReach("of the limit", row.Ratio, 0.75, "")
	row.mustNotPass("events that a subscriber missed", float64(saw.missed), 0, "")
	row.mustNotPass("subscribers with another order", float64(saw.parted), 0, "")
	switch peak, err := host.peak(); {
	case errors.Is(err, errNoMemory):
		row.Notes = append(row.Notes, err.Error())
	case err != nil:
		return err
	default:
		row.mustNotPass("host's peak memory", peak, hostMemory, "MiB")
	}
	row.Notes = append(row.Notes, fmt.Sprintf("%d bytes a round to a subscriber, %d from the limit", bytes[0], bytes[1]))
	return nil
}

// fan opens the streams, emits, and waits for the last subscriber to have the last event. It gives deliveries per second
// and the bytes that one subscriber got.
func (t target) fan(ctx context.Context, f *fanned) (rate float64, size int64, err error) {
	readers := make([]*reader, subscribers)
	defer func() {
		for _, r := range readers {
			if r != nil {
				err = errors.Join(err, r.close())
			}
		}
	}()
	var next atomic.Int64
	err = together(32, func() error {
		for i := next.Add(1) - 1; i < subscribers; i = next.Add(1) - 1 {
			var err error
			if readers[i], err = t.subscribe(ctx, ""); err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		return 0, 0, err
	}
	start := time.Now()
	var emitting error
	emitted := make(chan struct{})
	go func() {
		defer close(emitted)
		emitting = t.emitAll(ctx, fanoutWriters, fannedEvents)
	}()
	var at atomic.Int64
	_ = together(subscribers, func() error { // what a reader lacks is counted below
		r := readers[at.Add(1)-1]
		return r.until(fannedEvents, start.Add(fanoutTime))
	})
	elapsed := time.Since(start)
	<-emitted
	if err := errors.Join(emitting, context.Cause(ctx)); err != nil {
		return 0, 0, err
	}
	got := 0
	for _, r := range readers {
		got += r.frames
		f.missed += fannedEvents - r.frames
		if r.frames == fannedEvents && r.order != readers[0].order {
			f.parted++
		}
	}
	return float64(got) / elapsed.Seconds(), readers[0].bytes, nil
}
