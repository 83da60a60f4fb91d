package sqlite

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"time"

	"github.com/wopwitness/wopwitness/mockhost/store"
)

const selectAnswer = `SELECT fingerprint, status, body, at FROM answers WHERE tenant = ? AND operation = ? AND key = ?`

// selectHead gives the newest event of a tenant, or the row of heads where that is further.
const selectHead = `WITH newest AS (SELECT seq, at FROM events WHERE tenant = ?1 ORDER BY seq DESC LIMIT 1)
	SELECT max(h.seq, coalesce((SELECT seq FROM newest), 0)), max(h.at, coalesce((SELECT at FROM newest), 0)), h.sweep
	FROM heads h WHERE h.tenant = ?1`

type readStmts struct {
	head, after, find, answer, nextWork, dueWork, offset *sql.Stmt
}

func (r *readStmts) prepare(ctx context.Context, db *sql.DB) error {
	for _, p := range []struct {
		to   **sql.Stmt
		text string
	}{
		{&r.head, selectHead},
		{&r.after, `SELECT seq, id, type, workspace, at, envelope FROM events WHERE tenant = ? AND seq > ? ORDER BY seq LIMIT ?`},
		{&r.find, `SELECT seq, type, workspace, at FROM events WHERE id = ? AND tenant = ?`},
		{&r.answer, selectAnswer},
		{&r.nextWork, `SELECT kind, key, due_at FROM due_work ORDER BY due_at, kind, key LIMIT 1`},
		{&r.dueWork, `SELECT kind, key, due_at FROM due_work WHERE due_at <= ? ORDER BY due_at, kind, key`},
		{&r.offset, `SELECT offset_ns FROM host_clock`},
	} {
		st, err := db.PrepareContext(ctx, p.text)
		if err != nil {
			return fmt.Errorf("prepare %q: %w", p.text, err)
		}
		*p.to = st
	}
	return nil
}

// Head implements store.Store.
func (s *Store) Head(ctx context.Context, tenant string) (int64, error) {
	var seq, at, sweep int64
	err := s.reads.head.QueryRowContext(ctx, tenant).Scan(&seq, &at, &sweep)
	if err != nil && !errors.Is(err, sql.ErrNoRows) {
		return 0, s.failed("read the head of the log", err)
	}
	return seq, nil
}

// EventsAfter implements store.Store.
func (s *Store) EventsAfter(ctx context.Context, tenant string, after int64, page store.Page) (_ []store.Event, err error) {
	rows, err := s.reads.after.QueryContext(ctx, tenant, after, page.Rows)
	if err != nil {
		return nil, s.failed("read events", err)
	}
	defer func() { err = errors.Join(err, rows.Close()) }()
	out := make([]store.Event, 0, min(page.Rows, 64))
	size := 0
	for (len(out) == 0 || size < page.Bytes) && rows.Next() {
		e := store.Event{Tenant: tenant}
		var at int64
		if err := rows.Scan(&e.Seq, &e.ID, &e.Type, &e.Workspace, &at, &e.Envelope); err != nil {
			return nil, s.failed("read an event", err)
		}
		e.At = fromNano(at)
		size += len(e.Envelope)
		out = append(out, e)
	}
	if err := rows.Err(); err != nil {
		return nil, s.failed("read events", err)
	}
	return out, nil
}

// FindEvent implements store.Store.
func (s *Store) FindEvent(ctx context.Context, tenant, id string) (store.Event, bool, error) {
	e := store.Event{Tenant: tenant, ID: id}
	var at int64
	err := s.reads.find.QueryRowContext(ctx, id, tenant).Scan(&e.Seq, &e.Type, &e.Workspace, &at)
	if errors.Is(err, sql.ErrNoRows) {
		return store.Event{}, false, nil
	}
	if err != nil {
		return store.Event{}, false, s.failed("look up an event", err)
	}
	e.At = fromNano(at)
	return e, true, nil
}

// Answer implements store.Store.
func (s *Store) Answer(ctx context.Context, tenant, operation, key string) (store.Answer, bool, error) {
	return scanAnswer(s.reads.answer.QueryRowContext(ctx, tenant, operation, key), tenant, operation, key)
}

func scanAnswer(row *sql.Row, tenant, operation, key string) (store.Answer, bool, error) {
	a := store.Answer{Tenant: tenant, Operation: operation, Key: key}
	var at int64
	err := row.Scan(&a.Fingerprint, &a.Status, &a.Body, &at)
	if errors.Is(err, sql.ErrNoRows) {
		return store.Answer{}, false, nil
	}
	if err != nil {
		return store.Answer{}, false, fmt.Errorf("look up a kept answer: %w", err)
	}
	a.At = fromNano(at)
	return a, true, nil
}

// NextWork implements store.Store.
func (s *Store) NextWork(ctx context.Context) (store.Work, bool, error) {
	var w store.Work
	var due int64
	err := s.reads.nextWork.QueryRowContext(ctx).Scan(&w.Kind, &w.Key, &due)
	if errors.Is(err, sql.ErrNoRows) {
		return store.Work{}, false, nil
	}
	if err != nil {
		return store.Work{}, false, s.failed("read due work", err)
	}
	w.Due = fromNano(due)
	return w, true, nil
}

// ClockOffset implements store.Store.
func (s *Store) ClockOffset(ctx context.Context) (time.Duration, error) {
	var ns int64
	err := s.reads.offset.QueryRowContext(ctx).Scan(&ns)
	if err != nil && !errors.Is(err, sql.ErrNoRows) {
		return 0, s.failed("read the clock's offset", err)
	}
	return time.Duration(ns), nil
}

// failed wraps a read's error, and says plainly when the cause is that the store was closed meanwhile.
func (s *Store) failed(doing string, err error) error {
	if s.queue.Closed() {
		err = store.ErrClosed
	}
	return fmt.Errorf("%s: %w", doing, err)
}
