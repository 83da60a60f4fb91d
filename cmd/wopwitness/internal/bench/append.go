package bench

import (
	"context"
	"errors"

	"github.com/wopwitness/wopwitness/cmd/wopwitness/internal/bench/limits"
)

// Both sides run before they are measured until the database's write-ahead log has come round once and is written over: a
// file that grows costs a sync about twice as much, and a host that has been up for a minute has no such file.
const (
	warmUpEvents  = 1200
	warmUpWriters = 4
)

// rateSlices is how often the sides take turns within a round: a disk's speed changes from one moment to the next.
const rateSlices = 10

func (t target) warmUp(ctx context.Context) error { return t.emitAll(ctx, warmUpWriters, warmUpEvents) }

// append measures the durable emit: one that is answered after its commit is on the disk.
func (b *bench) append(ctx context.Context, row *Row, writers int) (err error) {
	name := limits.Group
	if writers == 1 {
		name = limits.Insert
	}
	host, limit, stop, err := b.both(ctx, name)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, stop()) }()
	for _, s := range []*server{host, limit} {
		if err := s.warmUp(ctx); err != nil {
			return err
		}
	}
	measured := func(s *server) side {
		return func(ctx context.Context) (float64, error) { return s.rate(ctx, writers, b.Time/rateSlices) }
	}
	if err := b.pairs(ctx, row, rateSlices, measured(host), measured(limit)); err != nil {
		return err
	}
	row.mustReach("of the limit", row.Ratio, 0.8, "")
	return nil
}
