package sqlite

import (
	"context"
	"database/sql"
	"errors"
	"fmt"

	"github.com/wopwitness/wopwitness/mockhost/store"
)

const (
	selectRun    = `SELECT workspace, subject, workflow, source, mode, from_seq, options, at FROM runs WHERE tenant = ? AND id = ?`
	selectEvents = `SELECT seq, id, type, node, cause, at, payload FROM run_events
		WHERE run = ? AND tenant = ? AND seq > ? ORDER BY seq LIMIT ?`
)

// wholeLog is a limit beyond every run's log.
const wholeLog = 1 << 30

type runWrites struct {
	insertRun, run, events, appendEvent, putLetter *sql.Stmt
	purgeRun, purgeEvents, purgeLetters            *sql.Stmt
}

func (w *runWrites) prepare(ctx context.Context, c *sql.Conn) error {
	return prepared(ctx, c.PrepareContext, map[**sql.Stmt]string{
		&w.insertRun: `INSERT INTO runs (tenant, id, workspace, subject, workflow, source, mode, from_seq, options, at)
			VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`,
		&w.run:    selectRun,
		&w.events: selectEvents,
		&w.appendEvent: `INSERT INTO run_events (run, seq, tenant, id, type, node, cause, at, payload)
			VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)`,
		&w.putLetter: `INSERT INTO dead_letters (tenant, run, node, workspace, reason, attempts, at, expires_at)
			VALUES (?, ?, ?, ?, ?, ?, ?, ?) ON CONFLICT (tenant, run, node) DO UPDATE SET
			reason = excluded.reason, attempts = excluded.attempts, at = excluded.at, expires_at = excluded.expires_at`,
		&w.purgeRun:     `DELETE FROM runs WHERE tenant = ? AND id = ?`,
		&w.purgeEvents:  `DELETE FROM run_events WHERE run = ? AND tenant = ?`,
		&w.purgeLetters: `DELETE FROM dead_letters WHERE tenant = ? AND run = ?`,
	})
}

// prepared fills in statements from their texts.
func prepared(ctx context.Context, prepare func(context.Context, string) (*sql.Stmt, error), texts map[**sql.Stmt]string) error {
	for to, text := range texts {
		st, err := prepare(ctx, text)
		if err != nil {
			return fmt.Errorf("prepare %q: %w", text, err)
		}
		*to = st
	}
	return nil
}

func (t *transaction) InsertRun(r store.Run) error {
	_, err := t.runWrites().insertRun.Exec(r.Tenant, r.ID, r.Workspace, r.Subject, r.Workflow, r.Source, r.Mode, r.FromSeq, r.Options, r.At.UnixNano())
	if err != nil {
		return fmt.Errorf("insert a run: %w", err)
	}
	return nil
}

func (t *transaction) Run(tenant, id string) (store.Run, bool, error) {
	return scanRun(t.runWrites().run.QueryRow(tenant, id), tenant, id)
}

func (t *transaction) RunEvents(tenant, id string) ([]store.RunEvent, error) {
	rows, err := t.runWrites().events.Query(id, tenant, -1, wholeLog)
	if err != nil {
		return nil, fmt.Errorf("read the log of a run: %w", err)
	}
	return scanRunEvents(rows)
}

func (t *transaction) AppendRunEvent(tenant, id string, e store.RunEvent) error {
	_, err := t.runWrites().appendEvent.Exec(id, e.Seq, tenant, e.ID, e.Type, e.Node, e.Cause, e.At.UnixNano(), e.Payload)
	if err != nil {
		return fmt.Errorf("append %s to the log of a run: %w", e.Type, err)
	}
	return nil
}

func (t *transaction) PutDeadLetter(d store.DeadLetter) error {
	_, err := t.runWrites().putLetter.Exec(d.Tenant, d.Run, d.Node, d.Workspace, d.Reason, d.Attempts, d.At.UnixNano(), d.Expires.UnixNano())
	if err != nil {
		return fmt.Errorf("put a dead letter into the sink: %w", err)
	}
	return nil
}

func (t *transaction) PurgeRun(tenant, id string) (bool, error) {
	if _, err := t.runWrites().purgeLetters.Exec(tenant, id); err != nil {
		return false, fmt.Errorf("purge the dead letters of a run: %w", err)
	}
	if _, err := t.runWrites().purgeEvents.Exec(id, tenant); err != nil {
		return false, fmt.Errorf("purge the log of a run: %w", err)
	}
	res, err := t.runWrites().purgeRun.Exec(tenant, id)
	if err != nil {
		return false, fmt.Errorf("purge a run: %w", err)
	}
	n, err := res.RowsAffected()
	if err != nil {
		return false, fmt.Errorf("purge a run: %w", err)
	}
	return n > 0, nil
}

func scanRun(row *sql.Row, tenant, id string) (store.Run, bool, error) {
	r := store.Run{Tenant: tenant, ID: id}
	var at int64
	err := row.Scan(&r.Workspace, &r.Subject, &r.Workflow, &r.Source, &r.Mode, &r.FromSeq, &r.Options, &at)
	if errors.Is(err, sql.ErrNoRows) {
		return store.Run{}, false, nil
	}
	if err != nil {
		return store.Run{}, false, fmt.Errorf("read a run: %w", err)
	}
	r.At = fromNano(at)
	return r, true, nil
}

func scanRunEvents(rows *sql.Rows) (_ []store.RunEvent, err error) {
	defer func() { err = errors.Join(err, rows.Close()) }()
	var out []store.RunEvent
	for rows.Next() {
		var e store.RunEvent
		var at int64
		if err := rows.Scan(&e.Seq, &e.ID, &e.Type, &e.Node, &e.Cause, &at, &e.Payload); err != nil {
			return nil, fmt.Errorf("read an event of a run: %w", err)
		}
		e.At = fromNano(at)
		out = append(out, e)
	}
	if err := rows.Err(); err != nil {
		return nil, fmt.Errorf("read the log of a run: %w", err)
	}
	return out, nil
}
