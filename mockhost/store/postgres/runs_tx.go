package postgres

import (
	"errors"
	"fmt"

	"github.com/jackc/pgx/v5"

	"github.com/wopwitness/wopwitness/mockhost/store"
)

const (
	selectRun = `SELECT workspace, subject, workflow, source, mode, from_seq, options, at FROM runs
		WHERE tenant = $1 AND id = $2`
	selectEvents = `SELECT seq, id, type, node, cause, at, payload FROM run_events
		WHERE run = $1 AND tenant = $2 AND seq > $3 ORDER BY seq LIMIT $4`
)

// wholeLog is a limit beyond every run's log.
const wholeLog = 1 << 30

func (t *transaction) InsertRun(r store.Run) error {
	_, err := t.of(r.Tenant, "insert a run", `INSERT INTO runs
		(tenant, id, workspace, subject, workflow, source, mode, from_seq, options, at)
		VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10)`,
		r.Tenant, r.ID, r.Workspace, r.Subject, r.Workflow, r.Source, r.Mode, r.FromSeq, notNil(r.Options), r.At.UnixNano())
	return err
}

func (t *transaction) Run(tenant, id string) (store.Run, bool, error) {
	if err := t.enter(tenant); err != nil || !storable(id) {
		return store.Run{}, false, err
	}
	r, ok, err := scanRun(t.batch.conn.QueryRow(t.batch.ctx, selectRun, tenant, id), tenant, id)
	return r, ok, t.failed("look up a run", err)
}

func (t *transaction) RunEvents(tenant, id string) ([]store.RunEvent, error) {
	if err := t.enter(tenant); err != nil || !storable(id) {
		return nil, err
	}
	rows, err := t.batch.conn.Query(t.batch.ctx, selectEvents, id, tenant, -1, wholeLog)
	if err != nil {
		return nil, t.failed("read the log of a run", err)
	}
	out, err := scanRunEvents(rows)
	return out, t.failed("read the log of a run", err)
}

func (t *transaction) AppendRunEvent(tenant, id string, e store.RunEvent) error {
	_, err := t.of(tenant, fmt.Sprintf("append %s to the log of a run", e.Type), `INSERT INTO run_events
		(run, seq, tenant, id, type, node, cause, at, payload) VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9)`,
		id, e.Seq, tenant, e.ID, e.Type, e.Node, e.Cause, e.At.UnixNano(), notNil(e.Payload))
	if err == nil {
		t.tell(store.Signal{Tenant: tenant, Run: id})
	}
	return err
}

func (t *transaction) PutDeadLetter(d store.DeadLetter) error {
	_, err := t.of(d.Tenant, "put a dead letter into the sink", `INSERT INTO dead_letters
		(tenant, run, node, workspace, reason, attempts, at, expires_at) VALUES ($1, $2, $3, $4, $5, $6, $7, $8)
		ON CONFLICT (tenant, run, node) DO UPDATE SET
		reason = excluded.reason, attempts = excluded.attempts, at = excluded.at, expires_at = excluded.expires_at`,
		d.Tenant, d.Run, d.Node, d.Workspace, d.Reason, d.Attempts, d.At.UnixNano(), d.Expires.UnixNano())
	return err
}

func (t *transaction) PurgeRun(tenant, id string) (bool, error) {
	if _, err := t.of(tenant, "purge the dead letters of a run",
		`DELETE FROM dead_letters WHERE tenant = $1 AND run = $2`, tenant, id); err != nil {
		return false, err
	}
	if _, err := t.exec("purge the log of a run", `DELETE FROM run_events WHERE tenant = $1 AND run = $2`, tenant, id); err != nil {
		return false, err
	}
	n, err := t.exec("purge a run", `DELETE FROM runs WHERE tenant = $1 AND id = $2`, tenant, id)
	if err == nil && n > 0 {
		t.tell(store.Signal{Tenant: tenant, Run: id})
	}
	return n > 0, err
}

func scanRun(row pgx.Row, tenant, id string) (store.Run, bool, error) {
	r := store.Run{Tenant: tenant, ID: id}
	var at int64
	err := row.Scan(&r.Workspace, &r.Subject, &r.Workflow, &r.Source, &r.Mode, &r.FromSeq, &r.Options, &at)
	if errors.Is(err, pgx.ErrNoRows) {
		return store.Run{}, false, nil
	}
	if err != nil {
		return store.Run{}, false, err
	}
	r.At = fromNano(at)
	return r, true, nil
}

func scanRunEvents(rows pgx.Rows) ([]store.RunEvent, error) {
	defer rows.Close()
	var out []store.RunEvent
	for rows.Next() {
		var e store.RunEvent
		var at int64
		if err := rows.Scan(&e.Seq, &e.ID, &e.Type, &e.Node, &e.Cause, &at, &e.Payload); err != nil {
			return nil, err
		}
		e.At = fromNano(at)
		out = append(out, e)
	}
	return out, rows.Err()
}

// notNil keeps an absent value an empty one.
func notNil(b []byte) []byte {
	if b == nil {
		return []byte{}
	}
	return b
}
