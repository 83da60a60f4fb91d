package limits

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"net/http"
	"net/url"

	_ "modernc.org/sqlite" // the driver named in openDB
)

// tenant is the one that every event of a limit belongs to.
const tenant = "acme-workshop"

// table is the mock host's, with its unique index.
const table = `CREATE TABLE events (
	tenant TEXT NOT NULL, seq INTEGER NOT NULL, id TEXT NOT NULL, type TEXT NOT NULL, workspace TEXT NOT NULL,
	at INTEGER NOT NULL, envelope BLOB NOT NULL, PRIMARY KEY (tenant, seq)) WITHOUT ROWID, STRICT;
	CREATE UNIQUE INDEX events_id ON events (id)`

const insert = `INSERT INTO events (tenant, seq, id, type, workspace, at, envelope) VALUES (?, ?, ?, ?, ?, ?, ?)`

// OpenDB opens a database as the mock host's store does: write-ahead log, every commit on the disk.
func OpenDB(path string, conns int) (*sql.DB, error) {
	q := url.Values{"_pragma": {"busy_timeout(10000)", "journal_mode(WAL)", "synchronous(FULL)", "cache_size(-16000)"}}
	db, err := sql.Open("sqlite", (&url.URL{Scheme: "file", Opaque: url.PathEscape(path), RawQuery: q.Encode()}).String())
	if err != nil {
		return nil, fmt.Errorf("open %s: %w", path, err)
	}
	db.SetMaxOpenConns(conns)
	db.SetMaxIdleConns(conns)
	return db, nil
}

// writer is one writing connection with its statements.
type writer struct {
	db                    *sql.DB
	conn                  *sql.Conn
	begin, insert, commit *sql.Stmt
}

func openWriter(ctx context.Context, path string) (_ *writer, err error) {
	w := &writer{}
	if w.db, err = OpenDB(path, 1); err != nil {
		return nil, err
	}
	defer func() {
		if err != nil {
			err = errors.Join(err, w.close())
		}
	}()
	if w.conn, err = w.db.Conn(ctx); err != nil {
		return nil, fmt.Errorf("open %s for writing: %w", path, err)
	}
	if _, err := w.conn.ExecContext(ctx, table); err != nil {
		return nil, fmt.Errorf("make the table: %w", err)
	}
	for _, p := range []struct {
		to   **sql.Stmt
		text string
	}{{&w.begin, `BEGIN IMMEDIATE`}, {&w.insert, insert}, {&w.commit, `COMMIT`}} {
		if *p.to, err = w.conn.PrepareContext(ctx, p.text); err != nil {
			return nil, fmt.Errorf("prepare %q: %w", p.text, err)
		}
	}
	return w, nil
}

func (w *writer) add(e event) error {
	_, err := w.insert.Exec(tenant, e.seq, e.id, e.typ, "", e.at.UnixNano(), e.envelope)
	return err
}

func (w *writer) close() error {
	var errs []error
	if w.conn != nil {
		errs = append(errs, w.conn.Close())
	}
	return errors.Join(append(errs, w.db.Close())...)
}

// newInsert answers each request after its own commit. The one connection puts requests in a row.
func newInsert(ctx context.Context, path string) (http.Handler, func() error, error) {
	w, err := openWriter(ctx, path)
	if err != nil {
		return nil, nil, err
	}
	m := &made{}
	handler := func(rw http.ResponseWriter, r *http.Request) {
		e, err := m.next(r)
		if err == nil {
			err = w.add(e)
		}
		if err != nil {
			failed(rw, err)
			return
		}
		answer(rw, e.id)
	}
	return http.HandlerFunc(handler), w.close, nil
}
