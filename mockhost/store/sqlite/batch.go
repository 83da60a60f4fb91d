package sqlite

import (
	"context"
	"database/sql"
	"errors"
	"fmt"

	"github.com/wopwitness/wopwitness/mockhost/store"
)

// head is where a tenant's log stands: the row of heads, or the newest event where that is further. The row is written
// only before events are removed, so that an append is one statement.
type head struct{ seq, at, sweep int64 }

// headOf gives the tenant's head. It is kept from one transaction to the next, since the committer is the only writer, and
// forgotten whenever something fails: what the transaction holds by then is in its own tables.
func (t *transaction) headOf(tenant string) (*head, error) {
	if h, ok := t.heads[tenant]; ok {
		return h, nil
	}
	h := &head{}
	err := t.stmts.head.QueryRow(tenant).Scan(&h.seq, &h.at, &h.sweep)
	if err != nil && !errors.Is(err, sql.ErrNoRows) {
		return nil, fmt.Errorf("read the head of the log: %w", err)
	}
	t.heads[tenant] = h
	return h, nil
}

// place is the last one that a closure took.
type place struct {
	tenant string
	seq    int64
}

// putHead writes the row, which from now on tells the head even without events.
func (t *transaction) putHead(tenant string, h *head) error {
	if _, err := t.writes().putHead.Exec(tenant, h.seq, h.at, h.sweep); err != nil {
		return fmt.Errorf("write the head of the log: %w", err)
	}
	return nil
}

// secureHead writes the tenant's row before events go.
func (t *transaction) secureHead(tenant string) error {
	t.mark()
	h, err := t.headOf(tenant)
	if err != nil {
		return err
	}
	return t.putHead(tenant, h)
}

// writes gives the statements after making sure that what they do can be undone alone.
func (t *transaction) writes() *writeStmts {
	t.mark()
	return t.stmts
}

// runWrites is writes for the statements of runs.
func (t *transaction) runWrites() *runWrites {
	t.mark()
	return t.runs
}

// mark begins what the closure can be undone to, the transaction itself where it is alone and else a savepoint, and
// carries out what waited for it. What fails here fails the closure at its end.
func (t *transaction) mark() {
	if t.marked || t.broken != nil {
		return
	}
	begin := t.stmts.savepoint
	if t.alone {
		begin = t.stmts.begin
	}
	if _, err := begin.Exec(); err != nil {
		t.broken = fmt.Errorf("begin what can be undone: %w", err)
		return
	}
	t.marked = true
	t.late = t.insertWaiting()
}

func (t *transaction) insertWaiting() error {
	if t.waiting == nil {
		return nil
	}
	e := *t.waiting
	t.waiting = nil
	return t.insert(e)
}

func (t *transaction) insert(e store.Event) error {
	_, err := t.stmts.insertEvent.Exec(e.Tenant, e.Seq, e.ID, e.Type, e.Workspace, e.At.UnixNano(), e.Envelope)
	if err != nil {
		return fmt.Errorf("insert event: %w", err)
	}
	return nil
}

// end finishes a closure: what it did stays or is undone. broken is an error of the whole batch.
func (t *transaction) end(ctx context.Context, failed error) (err, broken error) {
	err = failed
	if err == nil && t.taken.seq > t.inserted {
		err = t.secureHead(t.taken.tenant) // no event tells that the place is taken
	}
	if err == nil && t.broken == nil {
		err = t.insertWaiting() // one statement, which undoes itself when it fails
	}
	if err = errors.Join(err, t.late); err != nil {
		clear(t.heads)
	}
	switch {
	case t.broken != nil || !t.marked:
		return err, t.broken
	case t.alone && err == nil:
		if _, err := t.stmts.commit.ExecContext(ctx); err != nil {
			return nil, fmt.Errorf("commit: %w", err)
		}
	case t.alone:
		if _, undo := t.stmts.rollback.ExecContext(ctx); undo != nil {
			return errors.Join(err, fmt.Errorf("roll back: %w", undo)), nil
		}
	default:
		return err, t.endSavepoint(ctx, err != nil)
	}
	return err, nil
}

func (t *transaction) endSavepoint(ctx context.Context, undo bool) error {
	if undo {
		if _, err := t.stmts.rollbackTo.ExecContext(ctx); err != nil {
			return fmt.Errorf("undo to a savepoint: %w", err)
		}
	}
	if _, err := t.stmts.release.ExecContext(ctx); err != nil {
		return fmt.Errorf("release a savepoint: %w", err)
	}
	return nil
}
