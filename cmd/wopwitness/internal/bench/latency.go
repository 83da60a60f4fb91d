package bench

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/wopwitness/wopwitness/cmd/wopwitness/internal/bench/limits"
)

// The pace of the latency row: a host at work, not at its limit.
const (
	pace       = 5 * time.Millisecond
	leastPaced = 100 // events a round, however short it is
)

// latency measures how long a subscriber waits for an event, from the moment its emit is sent.
func (b *bench) latency(ctx context.Context, row *Row) (err error) {
	host, limit, stop, err := b.both(ctx, limits.Hub)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, stop()) }()
	unsynced, err := b.startHost(ctx, "memory")
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, unsynced.stop()) }()
	for _, s := range []*server{host, unsynced} {
		if err := s.warmUp(ctx); err != nil {
			return err
		}
	}
	n := max(leastPaced, int(b.Time/pace))
	var without []float64 // median waits where the disk isn't waited for
	measured := func(s *server) side {
		return func(ctx context.Context) (float64, error) {
			waits, err := s.waits(ctx, n)
			return median(waits), err
		}
	}
	onHost := func(ctx context.Context) (float64, error) {
		waits, err := unsynced.waits(ctx, n)
		if err != nil {
			return 0, err
		}
		without = append(without, median(waits))
		return measured(host)(ctx)
	}
	if err := b.pairs(ctx, row, 1, onHost, measured(limit)); err != nil {
		return err
	}
	row.mustNotPass("times the limit", row.Ratio, 2, "")
	row.Notes = append(row.Notes, fmt.Sprintf(
		"the host has each event on the disk before it sends it, the limit has no disk; a host on a store that doesn't sync took %s",
		quantity(median(without), milliseconds)))
	return nil
}

// waits emits n events one after another at the pace and gives how long each was on its way, in milliseconds. The k-th
// frame is the k-th event, since there is one writer and one subscriber.
func (t target) waits(ctx context.Context, n int) (waits []float64, err error) {
	r, err := t.subscribe(ctx, "")
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, r.close()) }()
	arrived := make([]time.Time, n)
	read := make(chan error, 1)
	deadline := time.Now().Add(time.Duration(n)*pace + requestTime)
	go func() {
		for i := range arrived {
			if err := r.until(i+1, deadline); err != nil {
				read <- fmt.Errorf("event %d of %d did not arrive: %w", i+1, n, err)
				return
			}
			arrived[i] = time.Now()
		}
		read <- nil
	}()
	sent := make([]time.Time, n)
	tick := time.NewTicker(pace)
	defer tick.Stop()
	for i := range sent {
		<-tick.C
		sent[i] = time.Now()
		if err = t.emit(ctx); err != nil {
			err = errors.Join(err, r.close())
			break
		}
	}
	if err := errors.Join(err, <-read); err != nil {
		return nil, err
	}
	for i := range sent {
		waits = append(waits, float64(arrived[i].Sub(sent[i]))/float64(time.Millisecond))
	}
	return waits, nil
}
