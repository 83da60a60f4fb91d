package postgres

import "errors"

// A lane is a tenant's order of transactions: one that names a tenant takes the tenant's advisory lock before it reads or
// writes anything, and holds it until after the commit. So a sequence is taken only once every earlier one has committed
// or was undone, and a reader that has passed a place finds nothing new before it. A transaction is in one lane at most,
// so none waits for a lane while it holds another, and two instances can't wait for each other.

var errSecondLane = errors.New("a transaction is about one tenant, and its first call names it")

// enter takes the tenant's lane for the closure, unless its transaction is in it already. Where that is in another's, what
// it holds of earlier closures is committed first.
func (t *transaction) enter(tenant string) error {
	b := t.batch
	if b.inLane && b.lane == tenant {
		t.used = true
		return nil
	}
	if b.inLane {
		if t.used {
			return errSecondLane
		}
		if err := b.turn(); err != nil {
			return err
		}
	}
	t.used = true
	if _, err := b.conn.Exec(b.ctx, `SELECT pg_advisory_xact_lock($1, $2)`, b.store.space, number(tenant)); err != nil {
		return b.store.failed("wait for the tenant's other transactions", err)
	}
	b.lane, b.inLane, t.entered = tenant, true, true
	return nil
}
