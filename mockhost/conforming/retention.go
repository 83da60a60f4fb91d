package conforming

import (
	"context"
	"time"

	"github.com/wopwitness/wopwitness/mockhost/eventlog"
	"github.com/wopwitness/wopwitness/mockhost/store"
)

// sweepSlack keeps an event a little beyond the promise, since a consumer dates it by its own clock; it is the least
// pause between two sweeps of a tenant as well.
const sweepSlack = time.Second

// Retention implements parts.Retention: by time alone, whatever the volume (RFC 0250 §A).
type Retention struct {
	Store store.Store
	Min   time.Duration
}

// FirstDue implements parts.Retention.
func (r Retention) FirstDue(emitted time.Time) time.Time { return emitted.Add(r.Min + sweepSlack) }

// Sweep implements parts.Retention.
func (r Retention) Sweep(ctx context.Context, tenant string, now time.Time) error {
	return r.Store.Write(ctx, func(tx store.Tx) error {
		// The event that is due exactly now was emitted at the bound, and goes.
		swept, err := tx.SweepEvents(tenant, now.Add(-r.Min-sweepSlack+1))
		if err != nil {
			return err
		}
		next := store.Work{Kind: eventlog.SweepWork, Key: tenant}
		if swept.Left {
			next.Due = later(r.FirstDue(swept.Oldest), now.Add(sweepSlack))
		}
		if err := tx.MoveWork(next); err != nil {
			return err
		}
		if swept.Removed > 0 {
			tx.AfterCommit(func() {
				// The ring alone would go on serving what is gone; a store that is closing has no readers left to tell.
				_ = r.Store.Announce(context.WithoutCancel(ctx), store.Signal{Tenant: tenant, SweptTo: swept.Through})
			})
		}
		return nil
	})
}

func later(a, b time.Time) time.Time {
	if a.After(b) {
		return a
	}
	return b
}
