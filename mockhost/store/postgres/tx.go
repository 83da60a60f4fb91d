package postgres

import (
	"errors"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/wopwitness/wopwitness/mockhost/store"
)

// transaction is one closure's view of the batch.
type transaction struct {
	batch   *batch
	used    bool // a statement was sent
	entered bool // this closure took its transaction's lane
	hooks   []func()
	signals []store.Signal
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

func (t *transaction) failed(doing string, err error) error { return t.batch.store.failed(doing, err) }

// exec runs one statement and counts the rows it touched.
func (t *transaction) exec(doing, text string, args ...any) (int64, error) {
	t.used = true
	tag, err := t.batch.conn.Exec(t.batch.ctx, text, args...)
	return tag.RowsAffected(), t.failed(doing, err)
}

// of runs one statement in the tenant's lane.
func (t *transaction) of(tenant, doing, text string, args ...any) (int64, error) {
	if err := t.enter(tenant); err != nil {
		return 0, err
	}
	return t.exec(doing, text, args...)
}

// one reads one row in the tenant's lane; false when there is none.
func (t *transaction) one(tenant, doing, text string, args []any, into ...any) (bool, error) {
	if err := t.enter(tenant); err != nil {
		return false, err
	}
	return t.row(doing, text, args, into...)
}

func (t *transaction) row(doing, text string, args []any, into ...any) (bool, error) {
	t.used = true
	err := t.batch.conn.QueryRow(t.batch.ctx, text, args...).Scan(into...)
	if errors.Is(err, pgx.ErrNoRows) {
		return false, nil
	}
	return err == nil, t.failed(doing, err)
}

func (t *transaction) tell(sig store.Signal) { t.signals = append(t.signals, sig) }

func (t *transaction) AfterCommit(f func()) { t.hooks = append(t.hooks, f) }

func (t *transaction) NextSlot(tenant string, now time.Time) (store.Slot, error) {
	var out store.Slot
	var at int64
	var swept bool
	_, err := t.one(tenant, "take the next sequence", `WITH before AS (SELECT sweep FROM heads WHERE tenant = $1)
		INSERT INTO heads AS h (tenant, seq, at, sweep) VALUES ($1, 1, $2, TRUE)
		ON CONFLICT (tenant) DO UPDATE SET seq = h.seq + 1, at = greatest(h.at, $2), sweep = TRUE
		RETURNING seq, at, coalesce((SELECT sweep FROM before), FALSE)`, []any{tenant, now.UnixNano()}, &out.Seq, &at, &swept)
	if err != nil {
		return store.Slot{}, err
	}
	out.At, out.Unswept = fromNano(at), !swept
	t.tell(store.Signal{Tenant: tenant, Head: out.Seq})
	return out, nil
}

func (t *transaction) InsertEvent(e store.Event) error {
	_, err := t.of(e.Tenant, "insert an event",
		`INSERT INTO events (tenant, seq, id, type, workspace, at, envelope) VALUES ($1, $2, $3, $4, $5, $6, $7)`,
		e.Tenant, e.Seq, e.ID, e.Type, e.Workspace, e.At.UnixNano(), e.Envelope)
	return err
}

func (t *transaction) RemoveEvent(tenant, id string) (store.Event, bool, error) {
	e := store.Event{Tenant: tenant, ID: id}
	if !storable(id) {
		return store.Event{}, false, nil
	}
	var at int64
	ok, err := t.one(tenant, "remove an event",
		`DELETE FROM events WHERE id = $1 AND tenant = $2 RETURNING seq, type, workspace, at, envelope`,
		[]any{id, tenant}, &e.Seq, &e.Type, &e.Workspace, &at, &e.Envelope)
	if err != nil || !ok {
		return store.Event{}, false, err
	}
	e.At = fromNano(at)
	t.tell(store.Signal{Tenant: tenant, Removed: e.Seq})
	return e, true, nil
}

func (t *transaction) SweepEvents(tenant string, before time.Time) (store.Swept, error) {
	var out store.Swept
	found, err := t.one(tenant, "find what to sweep",
		`SELECT seq FROM events WHERE tenant = $1 AND at < $2 ORDER BY seq DESC LIMIT 1`,
		[]any{tenant, before.UnixNano()}, &out.Through)
	if err != nil {
		return out, err
	}
	if found {
		n, err := t.exec("sweep events", `DELETE FROM events WHERE tenant = $1 AND seq <= $2`, tenant, out.Through)
		if err != nil {
			return out, err
		}
		out.Removed = int(n)
		t.tell(store.Signal{Tenant: tenant, SweptTo: out.Through})
	}
	var oldest int64
	out.Left, err = t.row("find the oldest event left",
		`SELECT at FROM events WHERE tenant = $1 ORDER BY seq LIMIT 1`, []any{tenant}, &oldest)
	if err != nil {
		return out, err
	}
	if out.Left {
		out.Oldest = fromNano(oldest)
		return out, nil
	}
	_, err = t.exec("mark the log as empty", `UPDATE heads SET sweep = FALSE WHERE tenant = $1`, tenant)
	return out, err
}

func (t *transaction) Answer(tenant, operation, key string) (store.Answer, bool, error) {
	if err := t.enter(tenant); err != nil || !storable(operation, key) {
		return store.Answer{}, false, err
	}
	a, ok, err := scanAnswer(t.batch.conn.QueryRow(t.batch.ctx, selectAnswer, tenant, operation, key), tenant, operation, key)
	return a, ok, t.failed("look up a kept answer", err)
}

func (t *transaction) PutAnswer(a store.Answer) error {
	_, err := t.of(a.Tenant, "keep an answer",
		`INSERT INTO answers (tenant, operation, key, fingerprint, status, body, at) VALUES ($1, $2, $3, $4, $5, $6, $7)`,
		a.Tenant, a.Operation, a.Key, a.Fingerprint, a.Status, a.Body, a.At.UnixNano())
	return err
}

func (t *transaction) ForgetAnswers(before time.Time) (time.Time, bool, error) {
	if _, err := t.exec("forget answers", `DELETE FROM answers WHERE at < $1`, before.UnixNano()); err != nil {
		return time.Time{}, false, err
	}
	var at int64
	left, err := t.row("find the oldest answer", `SELECT at FROM answers ORDER BY at LIMIT 1`, nil, &at)
	if err != nil || !left {
		return time.Time{}, false, err
	}
	return fromNano(at), true, nil
}

func (t *transaction) PutWork(w store.Work) error {
	_, err := t.exec("schedule "+w.Kind, `INSERT INTO due_work (kind, key, due_at) VALUES ($1, $2, $3) ON CONFLICT DO NOTHING`,
		w.Kind, w.Key, w.Due.UnixNano())
	return err
}

func (t *transaction) MoveWork(w store.Work) error {
	if w.Due.IsZero() {
		_, err := t.exec("drop "+w.Kind, `DELETE FROM due_work WHERE kind = $1 AND key = $2`, w.Kind, w.Key)
		return err
	}
	_, err := t.exec("reschedule "+w.Kind, `INSERT INTO due_work (kind, key, due_at) VALUES ($1, $2, $3)
		ON CONFLICT (kind, key) DO UPDATE SET due_at = excluded.due_at, held_by = '', held_until = 0`,
		w.Kind, w.Key, w.Due.UnixNano())
	return err
}

// clockLane is the lane of the clock's moves, so that none of them shares a transaction with a tenant's events and waits
// for one that waits for it. No tenant has this name.
const clockLane = "\x00clock"

func (t *transaction) MoveClock(from, to time.Duration) (time.Duration, bool, error) {
	const doing = "keep the clock's offset"
	var at int64
	found, err := t.one(clockLane, doing, `SELECT offset_ns FROM host_clock`, nil, &at)
	switch {
	case err != nil:
		return 0, false, err
	case time.Duration(at) != from:
		return time.Duration(at), false, nil
	case found:
		_, err = t.exec(doing, `UPDATE host_clock SET offset_ns = $1`, int64(to))
	default:
		_, err = t.exec(doing, `INSERT INTO host_clock (only_row, offset_ns) VALUES (1, $1)`, int64(to))
	}
	if err != nil {
		return 0, false, err
	}
	t.tell(store.Signal{Clock: true})
	return to, true, nil
}

func fromNano(n int64) time.Time { return time.Unix(0, n).UTC() }
