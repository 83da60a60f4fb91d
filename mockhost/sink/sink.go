// Package sink is where the runs that died are found: one entry a dead letter, written in the transaction of its event.
//
// It never shows an entry to anybody but the run's owner, and holds nothing of the run but why it died. Start at Sink.
package sink

import (
	"context"

	"github.com/wopwitness/wopwitness/mockhost/parts"
	"github.com/wopwitness/wopwitness/mockhost/store"
)

// Sink implements parts.Sink.
type Sink struct{ Store store.Store }

var _ parts.Sink = Sink{}

// Put implements parts.Sink.
func (Sink) Put(tx store.Tx, d store.DeadLetter) error { return tx.PutDeadLetter(d) }

// List implements parts.Sink. A key of no workspace sees the entries of none, a bound key also those of its own.
func (s Sink) List(ctx context.Context, p parts.Principal, after string, limit int) ([]store.DeadLetter, error) {
	return s.Store.DeadLetters(ctx, p.Tenant, store.RunPage{Workspace: p.Workspace, After: after, Limit: limit})
}
