package postgres

import (
	"context"

	"github.com/jackc/pgx/v5"

	"github.com/wopwitness/wopwitness/mockhost/store"
)

// Run implements store.RunReads.
func (s *Store) Run(ctx context.Context, tenant, id string) (store.Run, bool, error) {
	if !storable(id) {
		return store.Run{}, false, nil
	}
	ctx, cancel := context.WithTimeout(ctx, statementLimit)
	defer cancel()
	r, ok, err := scanRun(s.pool.QueryRow(ctx, selectRun, tenant, id), tenant, id)
	return r, ok, s.failed("look up a run", err)
}

// RunEvents implements store.RunReads.
func (s *Store) RunEvents(ctx context.Context, tenant, id string, after int64, limit int) ([]store.RunEvent, error) {
	if !storable(id) {
		return nil, nil
	}
	ctx, cancel := context.WithTimeout(ctx, statementLimit)
	defer cancel()
	rows, err := s.pool.Query(ctx, selectEvents, id, tenant, after, limit)
	if err != nil {
		return nil, s.failed("read the log of a run", err)
	}
	out, err := scanRunEvents(rows)
	return out, s.failed("read the log of a run", err)
}

// Runs implements store.RunReads.
func (s *Store) Runs(ctx context.Context, tenant string, page store.RunPage) ([]store.Run, error) {
	var out []store.Run
	if !storable(page.After) {
		return nil, nil
	}
	err := s.rows(ctx, "list runs", `SELECT id, workspace, subject, workflow, source, mode, from_seq, options, at FROM runs
		WHERE tenant = $1 AND ($2 = '' OR id < $2) AND workspace IN ('', $3) ORDER BY id DESC LIMIT $4`,
		[]any{tenant, page.After, page.Workspace, page.Limit}, func(rows pgx.Rows) (bool, error) {
			r := store.Run{Tenant: tenant}
			var at int64
			err := rows.Scan(&r.ID, &r.Workspace, &r.Subject, &r.Workflow, &r.Source, &r.Mode, &r.FromSeq, &r.Options, &at)
			r.At = fromNano(at)
			out = append(out, r)
			return true, err
		})
	if err != nil {
		return nil, err
	}
	return out, nil
}

// DeadLetters implements store.RunReads.
func (s *Store) DeadLetters(ctx context.Context, tenant string, page store.RunPage) ([]store.DeadLetter, error) {
	var out []store.DeadLetter
	if !storable(page.After) {
		return nil, nil
	}
	err := s.rows(ctx, "list dead letters", `SELECT run, node, workspace, reason, attempts, at, expires_at FROM dead_letters
		WHERE tenant = $1 AND ($2 = '' OR run < $2) AND workspace IN ('', $3) ORDER BY run DESC LIMIT $4`,
		[]any{tenant, page.After, page.Workspace, page.Limit}, func(rows pgx.Rows) (bool, error) {
			d := store.DeadLetter{Tenant: tenant}
			var at, expires int64
			err := rows.Scan(&d.Run, &d.Node, &d.Workspace, &d.Reason, &d.Attempts, &at, &expires)
			d.At, d.Expires = fromNano(at), fromNano(expires)
			out = append(out, d)
			return true, err
		})
	if err != nil {
		return nil, err
	}
	return out, nil
}
