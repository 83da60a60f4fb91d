package sqlite

import (
	"context"
	"database/sql"
	"errors"

	"github.com/wopwitness/wopwitness/mockhost/store"
)

type runReads struct{ run, runs, events, letters *sql.Stmt }

func (r *runReads) prepare(ctx context.Context, db *sql.DB) error {
	return prepared(ctx, db.PrepareContext, map[**sql.Stmt]string{
		&r.run:    selectRun,
		&r.events: selectEvents,
		&r.runs: `SELECT id, workspace, subject, workflow, source, mode, from_seq, options, at FROM runs
			WHERE tenant = ?1 AND (?2 = '' OR id < ?2) AND workspace IN ('', ?3) ORDER BY id DESC LIMIT ?4`,
		&r.letters: `SELECT run, node, workspace, reason, attempts, at, expires_at FROM dead_letters
			WHERE tenant = ?1 AND (?2 = '' OR run < ?2) AND workspace IN ('', ?3) ORDER BY run DESC LIMIT ?4`,
	})
}

// Run implements store.RunReads.
func (s *Store) Run(ctx context.Context, tenant, id string) (store.Run, bool, error) {
	r, ok, err := scanRun(s.runReads.run.QueryRowContext(ctx, tenant, id), tenant, id)
	if err != nil {
		return r, false, s.failed("look up a run", err)
	}
	return r, ok, nil
}

// RunEvents implements store.RunReads.
func (s *Store) RunEvents(ctx context.Context, tenant, id string, after int64, limit int) ([]store.RunEvent, error) {
	rows, err := s.runReads.events.QueryContext(ctx, id, tenant, after, limit)
	if err != nil {
		return nil, s.failed("read the log of a run", err)
	}
	out, err := scanRunEvents(rows)
	if err != nil {
		return nil, s.failed("read the log of a run", err)
	}
	return out, nil
}

// Runs implements store.RunReads.
func (s *Store) Runs(ctx context.Context, tenant string, page store.RunPage) (_ []store.Run, err error) {
	rows, err := s.runReads.runs.QueryContext(ctx, tenant, page.After, page.Workspace, page.Limit)
	if err != nil {
		return nil, s.failed("list runs", err)
	}
	defer func() { err = errors.Join(err, rows.Close()) }()
	var out []store.Run
	for rows.Next() {
		r := store.Run{Tenant: tenant}
		var at int64
		if err := rows.Scan(&r.ID, &r.Workspace, &r.Subject, &r.Workflow, &r.Source, &r.Mode, &r.FromSeq, &r.Options, &at); err != nil {
			return nil, s.failed("list runs", err)
		}
		r.At = fromNano(at)
		out = append(out, r)
	}
	if err := rows.Err(); err != nil {
		return nil, s.failed("list runs", err)
	}
	return out, nil
}

// DeadLetters implements store.RunReads.
func (s *Store) DeadLetters(ctx context.Context, tenant string, page store.RunPage) (_ []store.DeadLetter, err error) {
	rows, err := s.runReads.letters.QueryContext(ctx, tenant, page.After, page.Workspace, page.Limit)
	if err != nil {
		return nil, s.failed("list dead letters", err)
	}
	defer func() { err = errors.Join(err, rows.Close()) }()
	var out []store.DeadLetter
	for rows.Next() {
		d := store.DeadLetter{Tenant: tenant}
		var at, expires int64
		if err := rows.Scan(&d.Run, &d.Node, &d.Workspace, &d.Reason, &d.Attempts, &at, &expires); err != nil {
			return nil, s.failed("list dead letters", err)
		}
		d.At, d.Expires = fromNano(at), fromNano(expires)
		out = append(out, d)
	}
	if err := rows.Err(); err != nil {
		return nil, s.failed("list dead letters", err)
	}
	return out, nil
}
