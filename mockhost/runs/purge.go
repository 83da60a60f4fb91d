package runs

import (
	"context"
	"fmt"
	"time"

	"github.com/wopwitness/wopwitness/mockhost/parts"
	"github.com/wopwitness/wopwitness/mockhost/store"
)

// Purger implements parts.Purger: every run that has ended stays for a number of days, a dead one no less, and goes with
// all that belongs to it (RFC 0053 §C.1 and §C.3).
type Purger struct {
	Store store.Store
	Days  int
}

var _ parts.Purger = Purger{}

// Due implements parts.Purger.
func (p Purger) Due(_ store.Run, ended time.Time) time.Time {
	return ended.Add(time.Duration(p.Days) * 24 * time.Hour)
}

// Purge implements parts.Purger.
func (p Purger) Purge(ctx context.Context, key string, _ time.Time) error {
	tenant, id := split(key)
	err := p.Store.Write(ctx, func(tx store.Tx) error {
		if _, err := tx.PurgeRun(tenant, id); err != nil {
			return err
		}
		for _, kind := range []string{PurgeWork, StepWork} {
			if err := tx.MoveWork(store.Work{Kind: kind, Key: key}); err != nil {
				return err
			}
		}
		tx.AfterCommit(func() {
			// Who watches the run looks again by itself before long.
			_ = p.Store.Announce(context.WithoutCancel(ctx), store.Signal{Tenant: tenant, Run: id})
		})
		return nil
	})
	if err != nil {
		return fmt.Errorf("purge run %s: %w", id, err)
	}
	return nil
}
