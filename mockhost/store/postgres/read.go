package postgres

import (
	"context"
	"errors"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/jackc/pgx/v5"

	"github.com/wopwitness/wopwitness/mockhost/store"
)

const selectAnswer = `SELECT fingerprint, status, body, at FROM answers WHERE tenant = $1 AND operation = $2 AND key = $3`

// storable reports whether the texts can be in the database at all; it takes no NUL and nothing but UTF-8.
func storable(texts ...string) bool {
	for _, t := range texts {
		if !utf8.ValidString(t) || strings.Contains(t, "\x00") {
			return false
		}
	}
	return true
}

// row reads one row; false when there is none.
func (s *Store) row(ctx context.Context, doing, text string, args []any, into ...any) (bool, error) {
	ctx, cancel := context.WithTimeout(ctx, statementLimit)
	defer cancel()
	err := s.pool.QueryRow(ctx, text, args...).Scan(into...)
	if errors.Is(err, pgx.ErrNoRows) {
		return false, nil
	}
	return err == nil, s.failed(doing, err)
}

// rows reads several; each gives where to scan the next row.
func (s *Store) rows(ctx context.Context, doing, text string, args []any, each func(pgx.Rows) (more bool, err error)) error {
	ctx, cancel := context.WithTimeout(ctx, statementLimit)
	defer cancel()
	rows, err := s.pool.Query(ctx, text, args...)
	if err != nil {
		return s.failed(doing, err)
	}
	defer rows.Close()
	for rows.Next() {
		more, err := each(rows)
		if err != nil {
			return s.failed(doing, err)
		}
		if !more {
			return nil
		}
	}
	return s.failed(doing, rows.Err())
}

// Head implements store.Store.
func (s *Store) Head(ctx context.Context, tenant string) (int64, error) {
	var seq int64
	_, err := s.row(ctx, "read the head of the log", `SELECT seq FROM heads WHERE tenant = $1`, []any{tenant}, &seq)
	return seq, err
}

// EventsAfter implements store.Store.
func (s *Store) EventsAfter(ctx context.Context, tenant string, after int64, page store.Page) ([]store.Event, error) {
	out := make([]store.Event, 0, min(page.Rows, 64))
	size := 0
	err := s.rows(ctx, "read events",
		`SELECT seq, id, type, workspace, at, envelope FROM events WHERE tenant = $1 AND seq > $2 ORDER BY seq LIMIT $3`,
		[]any{tenant, after, page.Rows}, func(rows pgx.Rows) (bool, error) {
			e := store.Event{Tenant: tenant}
			var at int64
			if err := rows.Scan(&e.Seq, &e.ID, &e.Type, &e.Workspace, &at, &e.Envelope); err != nil {
				return false, err
			}
			e.At = fromNano(at)
			size += len(e.Envelope)
			out = append(out, e)
			return size < page.Bytes, nil
		})
	if err != nil {
		return nil, err
	}
	return out, nil
}

// FindEvent implements store.Store.
func (s *Store) FindEvent(ctx context.Context, tenant, id string) (store.Event, bool, error) {
	e := store.Event{Tenant: tenant, ID: id}
	if !storable(id) {
		return store.Event{}, false, nil
	}
	var at int64
	ok, err := s.row(ctx, "look up an event", `SELECT seq, type, workspace, at FROM events WHERE id = $1 AND tenant = $2`,
		[]any{id, tenant}, &e.Seq, &e.Type, &e.Workspace, &at)
	if err != nil || !ok {
		return store.Event{}, false, err
	}
	e.At = fromNano(at)
	return e, true, nil
}

// Answer implements store.Store.
func (s *Store) Answer(ctx context.Context, tenant, operation, key string) (store.Answer, bool, error) {
	if !storable(operation, key) {
		return store.Answer{}, false, nil
	}
	ctx, cancel := context.WithTimeout(ctx, statementLimit)
	defer cancel()
	a, ok, err := scanAnswer(s.pool.QueryRow(ctx, selectAnswer, tenant, operation, key), tenant, operation, key)
	return a, ok, s.failed("look up a kept answer", err)
}

func scanAnswer(row pgx.Row, tenant, operation, key string) (store.Answer, bool, error) {
	a := store.Answer{Tenant: tenant, Operation: operation, Key: key}
	var at int64
	err := row.Scan(&a.Fingerprint, &a.Status, &a.Body, &at)
	if errors.Is(err, pgx.ErrNoRows) {
		return store.Answer{}, false, nil
	}
	if err != nil {
		return store.Answer{}, false, err
	}
	a.At = fromNano(at)
	return a, true, nil
}

// ClockOffset implements store.Store.
func (s *Store) ClockOffset(ctx context.Context) (time.Duration, error) {
	var ns int64
	_, err := s.row(ctx, "read the clock's offset", `SELECT offset_ns FROM host_clock`, nil, &ns)
	return time.Duration(ns), err
}

// NextWork implements store.Store.
func (s *Store) NextWork(ctx context.Context) (store.Work, bool, error) {
	return s.work(ctx, "read due work", `SELECT kind, key, due_at FROM due_work ORDER BY due_at, kind, key LIMIT 1`)
}

// ClaimWork implements store.Store. What another instance is claiming at this very moment is passed over and not waited
// for, and a claim ends with the connection of the instance that made it.
func (s *Store) ClaimWork(ctx context.Context, c store.Claim) (store.Work, bool, error) {
	return s.work(ctx, "claim due work", `UPDATE due_work AS w SET held_by = $1, held_until = $4, held_from = $5 FROM (
			SELECT kind, key FROM due_work AS d WHERE due_at <= $2 AND (held_by IN ('', $1) OR held_until <= $3
				OR NOT EXISTS (SELECT FROM pg_locks WHERE locktype = 'advisory' AND granted AND objsubid = 1
					AND database = (SELECT oid FROM pg_database WHERE datname = current_database())
					AND (classid::bigint << 32 | objid::bigint) = d.held_from))
			ORDER BY due_at, kind, key LIMIT 1 FOR UPDATE SKIP LOCKED
		) AS first WHERE w.kind = first.kind AND w.key = first.key RETURNING w.kind, w.key, w.due_at`,
		c.By, c.UpTo.UnixNano(), c.Now.UnixNano(), c.Until.UnixNano(), s.life)
}

// FreeWork implements store.Store.
func (s *Store) FreeWork(ctx context.Context, by string) error {
	ctx, cancel := context.WithTimeout(ctx, statementLimit)
	defer cancel()
	_, err := s.pool.Exec(ctx, `UPDATE due_work SET held_by = '', held_until = 0 WHERE held_by = $1`, by)
	return s.failed("free what was claimed", err)
}

func (s *Store) work(ctx context.Context, doing, text string, args ...any) (store.Work, bool, error) {
	var w store.Work
	var due int64
	ok, err := s.row(ctx, doing, text, args, &w.Kind, &w.Key, &due)
	if err != nil || !ok {
		return store.Work{}, false, err
	}
	w.Due = fromNano(due)
	return w, true, nil
}
