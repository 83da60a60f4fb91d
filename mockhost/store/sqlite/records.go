package sqlite

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"sync"

	"github.com/wopwitness/wopwitness/mockhost/store"
	"github.com/wopwitness/wopwitness/mockhost/store/internal/records"
)

// statements are prepared when they are first needed: the texts of queries differ by what narrows them.
type statements struct {
	prepare func(context.Context, string) (*sql.Stmt, error)
	mu      sync.Mutex
	known   map[string]*sql.Stmt
}

func (s *statements) get(text string) (*sql.Stmt, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if st, ok := s.known[text]; ok {
		return st, nil
	}
	st, err := s.prepare(context.Background(), text)
	if err != nil {
		return nil, fmt.Errorf("prepare %q: %w", text, err)
	}
	if s.known == nil {
		s.known = map[string]*sql.Stmt{}
	}
	s.known[text] = st
	return st, nil
}

// recordReader reads records through statements of the writing connection or of a reading one.
type recordReader struct {
	ctx   context.Context
	stmts *statements
	fail  func(doing string, err error) error
}

func (r recordReader) Record(tenant, kind, id string) (store.Record, bool, error) {
	const doing = "look up a record"
	st, err := r.stmts.get(records.One(records.Question))
	if err != nil {
		return store.Record{}, false, r.fail(doing, err)
	}
	found, err := scanRecord(st.QueryRowContext(r.ctx, tenant, kind, id))
	if errors.Is(err, sql.ErrNoRows) {
		return store.Record{}, false, nil
	}
	if err != nil {
		return store.Record{}, false, r.fail(doing, err)
	}
	return found, true, nil
}

func (r recordReader) Records(tenant string, q store.RecordQuery) ([]store.Record, error) {
	text, args := records.Select(tenant, q, records.Question)
	out, err := r.list(text, args)
	if err != nil {
		return nil, r.fail("list records", err)
	}
	return out, nil
}

func (r recordReader) list(text string, args []any) (_ []store.Record, err error) {
	st, err := r.stmts.get(text)
	if err != nil {
		return nil, err
	}
	rows, err := st.QueryContext(r.ctx, args...)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, rows.Close()) }()
	var out []store.Record
	for rows.Next() {
		found, err := scanRecord(rows)
		if err != nil {
			return nil, err
		}
		out = append(out, found)
	}
	return out, rows.Err()
}

func (r recordReader) CountRecords(tenant string, q store.RecordQuery) (store.Tally, error) {
	const doing = "count records"
	text, args := records.Count(tenant, q, records.Question)
	st, err := r.stmts.get(text)
	if err != nil {
		return store.Tally{}, r.fail(doing, err)
	}
	var out store.Tally
	var oldest int64
	if err := st.QueryRowContext(r.ctx, args...).Scan(&out.Count, &oldest); err != nil {
		return store.Tally{}, r.fail(doing, err)
	}
	if out.Count > 0 {
		out.Oldest = fromNano(oldest)
	}
	return out, nil
}

func scanRecord(row interface{ Scan(into ...any) error }) (store.Record, error) {
	var r store.Record
	var at int64
	err := row.Scan(&r.Tenant, &r.Kind, &r.ID, &r.Seq, &r.State, &r.Tool, &r.Trace, &r.Category, &at, &r.Body)
	r.At = fromNano(at)
	return r, err
}

// Reading implements store.RecordReads.
func (s *Store) Reading(ctx context.Context) store.RecordReader {
	return recordReader{ctx, &s.recordReads, s.failed}
}

// records reads inside the transaction. The background context is that of all its statements: see commit.
func (t *transaction) records() recordReader {
	t.mark()
	return recordReader{context.Background(), t.recordStmts, func(doing string, err error) error {
		return fmt.Errorf("%s: %w", doing, err)
	}}
}

func (t *transaction) Record(tenant, kind, id string) (store.Record, bool, error) {
	return t.records().Record(tenant, kind, id)
}

func (t *transaction) Records(tenant string, q store.RecordQuery) ([]store.Record, error) {
	return t.records().Records(tenant, q)
}

func (t *transaction) CountRecords(tenant string, q store.RecordQuery) (store.Tally, error) {
	return t.records().CountRecords(tenant, q)
}

func (t *transaction) InsertRecord(r *store.Record) (bool, error) {
	t.mark()
	st, err := t.recordStmts.get(records.Insert(records.Question))
	if err == nil {
		err = st.QueryRow(records.Args(*r)...).Scan(&r.Seq)
	}
	if errors.Is(err, sql.ErrNoRows) {
		return false, nil
	}
	if err != nil {
		return false, fmt.Errorf("insert a record of %s: %w", r.Kind, err)
	}
	return true, nil
}

func (t *transaction) PutRecord(r store.Record) error {
	return t.change("put a record of "+r.Kind, records.Put(records.Question), records.Args(r)...)
}

func (t *transaction) DropRecord(tenant, kind, id string) error {
	return t.change("drop a record of "+kind, records.Drop(records.Question), tenant, kind, id)
}

func (t *transaction) change(doing, text string, args ...any) error {
	t.mark()
	st, err := t.recordStmts.get(text)
	if err == nil {
		_, err = st.Exec(args...)
	}
	if err != nil {
		return fmt.Errorf("%s: %w", doing, err)
	}
	return nil
}
