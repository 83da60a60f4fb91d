package sqlite

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"time"

	"github.com/wopwitness/wopwitness/mockhost/store"
)

type writeStmts struct {
	begin, commit, rollback, savepoint, rollbackTo, release *sql.Stmt

	head, putHead, insertEvent, removeEvent, sweepEvents, lastBefore, oldestEvent *sql.Stmt
	answer, putAnswer, forgetAnswers, oldestAnswer                                *sql.Stmt
	putWork, moveWork, dropWork, offset, setOffset                                *sql.Stmt
}

func (w *writeStmts) prepare(ctx context.Context, c *sql.Conn) error {
	for _, p := range []struct {
		to   **sql.Stmt
		text string
	}{
		{&w.begin, `BEGIN IMMEDIATE`}, {&w.commit, `COMMIT`}, {&w.rollback, `ROLLBACK`},
		{&w.savepoint, `SAVEPOINT one`}, {&w.rollbackTo, `ROLLBACK TO one`}, {&w.release, `RELEASE one`},
		{&w.head, selectHead},
		{&w.putHead, `INSERT INTO heads (tenant, seq, at, sweep) VALUES (?1, ?2, ?3, ?4)
			ON CONFLICT (tenant) DO UPDATE SET seq = ?2, at = ?3, sweep = ?4`},
		{&w.insertEvent, `INSERT INTO events (tenant, seq, id, type, workspace, at, envelope) VALUES (?, ?, ?, ?, ?, ?, ?)`},
		{&w.removeEvent, `DELETE FROM events WHERE id = ? AND tenant = ? RETURNING seq, type, workspace, at, envelope`},
		{&w.lastBefore, `SELECT seq FROM events WHERE tenant = ? AND at < ? ORDER BY seq DESC LIMIT 1`},
		{&w.sweepEvents, `DELETE FROM events WHERE tenant = ? AND seq <= ?`},
		{&w.oldestEvent, `SELECT at FROM events WHERE tenant = ? ORDER BY seq LIMIT 1`},
		{&w.answer, selectAnswer},
		{&w.putAnswer, `INSERT INTO answers (tenant, operation, key, fingerprint, status, body, at) VALUES (?, ?, ?, ?, ?, ?, ?)`},
		{&w.forgetAnswers, `DELETE FROM answers WHERE at < ?`},
		{&w.oldestAnswer, `SELECT at FROM answers ORDER BY at LIMIT 1`},
		{&w.putWork, `INSERT INTO due_work (kind, key, due_at) VALUES (?, ?, ?) ON CONFLICT DO NOTHING`},
		{&w.moveWork, `INSERT INTO due_work (kind, key, due_at) VALUES (?, ?, ?)
			ON CONFLICT (kind, key) DO UPDATE SET due_at = excluded.due_at`},
		{&w.dropWork, `DELETE FROM due_work WHERE kind = ? AND key = ?`},
		{&w.offset, `SELECT offset_ns FROM host_clock`},
		{&w.setOffset, `INSERT INTO host_clock (only_row, offset_ns) VALUES (1, ?)
			ON CONFLICT (only_row) DO UPDATE SET offset_ns = excluded.offset_ns`},
	} {
		st, err := c.PrepareContext(ctx, p.text)
		if err != nil {
			return fmt.Errorf("prepare %q: %w", p.text, err)
		}
		*p.to = st
	}
	return nil
}

// transaction is one closure's view of the batch. Statements run under the background context: see commit.
type transaction struct {
	stmts       *writeStmts
	runs        *runWrites
	recordStmts *statements
	free        func(store.Work) // ends the claim of work that was moved
	hooks       []func()

	// See batch.go.
	heads    map[string]*head // of the store
	alone    bool             // no other closure shares the transaction
	marked   bool             // what comes can be undone
	taken    place
	inserted int64        // place of the last event
	waiting  *store.Event // an insert that may be the closure's only write
	late     error        // of what waited
	broken   error        // of the batch
}

var _ store.Tx = (*transaction)(nil)

// run turns a panic of the closure into its error, so that one request can't stop the committer for everyone.
func (t *transaction) run(f func(store.Tx) error) (err error) {
	defer func() {
		if r := recover(); r != nil {
			err = fmt.Errorf("panic inside a transaction: %v", r)
		}
	}()
	return f(t)
}

func (t *transaction) NextSlot(tenant string, now time.Time) (store.Slot, error) {
	h, err := t.headOf(tenant)
	if err != nil {
		return store.Slot{}, err
	}
	unswept := h.sweep == 0
	if unswept {
		h.sweep = 1
		if err := t.putHead(tenant, h); err != nil {
			return store.Slot{}, err
		}
	}
	h.seq, h.at = h.seq+1, max(h.at, now.UnixNano())
	t.taken = place{tenant, h.seq}
	return store.Slot{Seq: h.seq, At: fromNano(h.at), Unswept: unswept}, nil
}

// InsertEvent puts off a closure's first event: mostly nothing else follows, and then there is nothing more to undo than one
// statement, which undoes itself.
func (t *transaction) InsertEvent(e store.Event) error {
	t.inserted = e.Seq
	if !t.marked && t.waiting == nil {
		t.waiting = &e
		return nil
	}
	t.mark()
	return t.insert(e)
}

func (t *transaction) RemoveEvent(tenant, id string) (store.Event, bool, error) {
	e := store.Event{Tenant: tenant, ID: id}
	if err := t.secureHead(tenant); err != nil {
		return e, false, err
	}
	var at int64
	err := t.writes().removeEvent.QueryRow(id, tenant).Scan(&e.Seq, &e.Type, &e.Workspace, &at, &e.Envelope)
	if errors.Is(err, sql.ErrNoRows) {
		return store.Event{}, false, nil
	}
	if err != nil {
		return store.Event{}, false, fmt.Errorf("remove event: %w", err)
	}
	e.At = fromNano(at)
	return e, true, nil
}

func (t *transaction) SweepEvents(tenant string, before time.Time) (store.Swept, error) {
	var out store.Swept
	if err := t.secureHead(tenant); err != nil {
		return out, err
	}
	err := t.writes().lastBefore.QueryRow(tenant, before.UnixNano()).Scan(&out.Through)
	switch {
	case errors.Is(err, sql.ErrNoRows):
	case err != nil:
		return out, fmt.Errorf("find what to sweep: %w", err)
	default:
		res, err := t.writes().sweepEvents.Exec(tenant, out.Through)
		if err != nil {
			return out, fmt.Errorf("sweep events: %w", err)
		}
		n, err := res.RowsAffected()
		if err != nil {
			return out, fmt.Errorf("count swept events: %w", err)
		}
		out.Removed = int(n)
	}
	if out.Oldest, out.Left, err = one(t.writes().oldestEvent, tenant); err != nil {
		return out, fmt.Errorf("find the oldest event left: %w", err)
	}
	if !out.Left {
		h, err := t.headOf(tenant)
		if err != nil {
			return out, err
		}
		h.sweep = 0
		if err := t.putHead(tenant, h); err != nil {
			return out, err
		}
	}
	return out, nil
}

func (t *transaction) Answer(tenant, operation, key string) (store.Answer, bool, error) {
	return scanAnswer(t.writes().answer.QueryRow(tenant, operation, key), tenant, operation, key)
}

func (t *transaction) PutAnswer(a store.Answer) error {
	_, err := t.writes().putAnswer.Exec(a.Tenant, a.Operation, a.Key, a.Fingerprint, a.Status, a.Body, a.At.UnixNano())
	if err != nil {
		return fmt.Errorf("keep an answer: %w", err)
	}
	return nil
}

func (t *transaction) ForgetAnswers(before time.Time) (time.Time, bool, error) {
	if _, err := t.writes().forgetAnswers.Exec(before.UnixNano()); err != nil {
		return time.Time{}, false, fmt.Errorf("forget answers: %w", err)
	}
	return one(t.writes().oldestAnswer)
}

func (t *transaction) PutWork(w store.Work) error {
	if _, err := t.writes().putWork.Exec(w.Kind, w.Key, w.Due.UnixNano()); err != nil {
		return fmt.Errorf("schedule %s: %w", w.Kind, err)
	}
	return nil
}

func (t *transaction) MoveWork(w store.Work) error {
	var err error
	if w.Due.IsZero() {
		_, err = t.writes().dropWork.Exec(w.Kind, w.Key)
	} else {
		_, err = t.writes().moveWork.Exec(w.Kind, w.Key, w.Due.UnixNano())
	}
	if err != nil {
		return fmt.Errorf("reschedule %s: %w", w.Kind, err)
	}
	t.AfterCommit(func() { t.free(w) })
	return nil
}

func (t *transaction) MoveClock(from, to time.Duration) (time.Duration, bool, error) {
	var at int64
	if err := t.writes().offset.QueryRow().Scan(&at); err != nil && !errors.Is(err, sql.ErrNoRows) {
		return 0, false, fmt.Errorf("read the clock's offset: %w", err)
	}
	if time.Duration(at) != from {
		return time.Duration(at), false, nil
	}
	if _, err := t.writes().setOffset.Exec(int64(to)); err != nil {
		return 0, false, fmt.Errorf("keep the clock's offset: %w", err)
	}
	return to, true, nil
}

func (t *transaction) AfterCommit(f func()) { t.hooks = append(t.hooks, f) }

func one(st *sql.Stmt, args ...any) (time.Time, bool, error) {
	var at int64
	switch err := st.QueryRow(args...).Scan(&at); {
	case errors.Is(err, sql.ErrNoRows):
		return time.Time{}, false, nil
	case err != nil:
		return time.Time{}, false, err
	}
	return fromNano(at), true, nil
}

func fromNano(n int64) time.Time { return time.Unix(0, n).UTC() }
