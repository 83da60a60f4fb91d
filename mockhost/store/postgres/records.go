package postgres

import (
	"context"
	"errors"
	"slices"

	"github.com/jackc/pgx/v5"

	"github.com/wopwitness/wopwitness/mockhost/store"
	"github.com/wopwitness/wopwitness/mockhost/store/internal/records"
)

// inDatabase reports whether what a query asks for can be in the database at all.
func inDatabase(q store.RecordQuery) bool {
	return storable(slices.Concat(q.States, []string{q.Tool, q.Trace, q.Category})...)
}

func scanRecord(row pgx.Row) (store.Record, error) {
	var r store.Record
	var at int64
	err := row.Scan(&r.Tenant, &r.Kind, &r.ID, &r.Seq, &r.State, &r.Tool, &r.Trace, &r.Category, &at, &r.Body)
	r.At = fromNano(at)
	return r, err
}

// recordReads reads records outside any transaction.
type recordReads struct {
	ctx   context.Context
	store *Store
}

// Reading implements store.RecordReads.
func (s *Store) Reading(ctx context.Context) store.RecordReader { return recordReads{ctx, s} }

func (r recordReads) Record(tenant, kind, id string) (found store.Record, ok bool, err error) {
	if !storable(id) {
		return store.Record{}, false, nil
	}
	err = r.store.rows(r.ctx, "look up a record", records.One(records.Dollar), []any{tenant, kind, id}, func(rows pgx.Rows) (bool, error) {
		ok = true
		found, err = scanRecord(rows)
		return false, err
	})
	return found, ok && err == nil, err
}

func (r recordReads) Records(tenant string, q store.RecordQuery) (out []store.Record, err error) {
	if !inDatabase(q) {
		return nil, nil
	}
	text, args := records.Select(tenant, q, records.Dollar)
	err = r.store.rows(r.ctx, "list records", text, args, func(rows pgx.Rows) (bool, error) {
		found, err := scanRecord(rows)
		out = append(out, found)
		return true, err
	})
	if err != nil {
		return nil, err
	}
	return out, nil
}

func (r recordReads) CountRecords(tenant string, q store.RecordQuery) (store.Tally, error) {
	if !inDatabase(q) {
		return store.Tally{}, nil
	}
	text, args := records.Count(tenant, q, records.Dollar)
	var n int
	var oldest int64
	if _, err := r.store.row(r.ctx, "count records", text, args, &n, &oldest); err != nil {
		return store.Tally{}, err
	}
	return tally(n, oldest), nil
}

func tally(n int, oldest int64) store.Tally {
	if n == 0 {
		return store.Tally{}
	}
	return store.Tally{Count: n, Oldest: fromNano(oldest)}
}

func (t *transaction) Record(tenant, kind, id string) (store.Record, bool, error) {
	if err := t.enter(tenant); err != nil || !storable(id) {
		return store.Record{}, false, err
	}
	r, err := scanRecord(t.batch.conn.QueryRow(t.batch.ctx, records.One(records.Dollar), tenant, kind, id))
	if errors.Is(err, pgx.ErrNoRows) {
		return store.Record{}, false, nil
	}
	return r, err == nil, t.failed("look up a record", err)
}

func (t *transaction) Records(tenant string, q store.RecordQuery) ([]store.Record, error) {
	if err := t.enter(tenant); err != nil || !inDatabase(q) {
		return nil, err
	}
	const doing = "list records"
	text, args := records.Select(tenant, q, records.Dollar)
	rows, err := t.batch.conn.Query(t.batch.ctx, text, args...)
	if err != nil {
		return nil, t.failed(doing, err)
	}
	defer rows.Close()
	var out []store.Record
	for rows.Next() {
		r, err := scanRecord(rows)
		if err != nil {
			return nil, t.failed(doing, err)
		}
		out = append(out, r)
	}
	return out, t.failed(doing, rows.Err())
}

func (t *transaction) CountRecords(tenant string, q store.RecordQuery) (store.Tally, error) {
	if err := t.enter(tenant); err != nil || !inDatabase(q) {
		return store.Tally{}, err
	}
	text, args := records.Count(tenant, q, records.Dollar)
	var n int
	var oldest int64
	if _, err := t.row("count records", text, args, &n, &oldest); err != nil {
		return store.Tally{}, err
	}
	return tally(n, oldest), nil
}

func (t *transaction) InsertRecord(r *store.Record) (bool, error) {
	return t.one(r.Tenant, "insert a record of "+r.Kind, records.Insert(records.Dollar), records.Args(*r), &r.Seq)
}

func (t *transaction) PutRecord(r store.Record) error {
	_, err := t.of(r.Tenant, "put a record of "+r.Kind, records.Put(records.Dollar), records.Args(r)...)
	return err
}

func (t *transaction) DropRecord(tenant, kind, id string) error {
	_, err := t.of(tenant, "drop a record of "+kind, records.Drop(records.Dollar), tenant, kind, id)
	return err
}
