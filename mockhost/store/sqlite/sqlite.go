// Package sqlite keeps the mock host's data in SQLite: WAL, one writing connection fed by one committer goroutine, and a
// few reading ones.
//
// It never writes outside the committer, and never lets an event's place be known before its commit. Start at Open;
// commit.go is the group commit, tx.go the writes, read.go the reads.
package sqlite

import (
	"context"
	"database/sql"
	"embed"
	"errors"
	"fmt"
	"io/fs"
	"net/url"
	"os"
	"path/filepath"
	"sync"

	"github.com/pressly/goose/v3"
	_ "modernc.org/sqlite" // the driver named in openDB

	"github.com/wopwitness/wopwitness/mockhost/store"
	"github.com/wopwitness/wopwitness/mockhost/store/internal/group"
	"github.com/wopwitness/wopwitness/mockhost/store/internal/signals"
)

//go:embed migrations/*.sql
var migrations embed.FS

// readers is the size of the reading pool; a resume holds one only while it reads a page.
const readers = 4

// The page caches of one connection, in KiB. A reader's is small: a resume passes each page once, and a larger cache would
// make the host's memory grow with the backlog.
const (
	writerCache = 16000
	readerCache = 1000
)

// Store is a store.Store over one SQLite file.
type Store struct {
	write    *sql.DB
	read     *sql.DB
	conn     *sql.Conn
	stmts    writeStmts
	reads    readStmts
	runTx    runWrites
	runReads runReads
	// The statements of the records, of the writing connection and of the reading ones.
	recordTx, recordReads statements

	queue   *group.Queue
	heads   map[string]*head // the committer's, by tenant
	closing sync.Once
	closed  error
	tempDir string
	locked  *os.File // nil for a temporary store, whose path nobody else knows

	claimMu sync.Mutex
	claims  map[store.Work]claim // by kind and key

	listeners signals.Listeners
}

var _ store.Store = (*Store)(nil)

// Open opens the file at path, makes or migrates its tables, and starts the committer. Every commit reaches the disk
// before Write returns. It is ErrInUse where the file is open already and stays so.
func Open(ctx context.Context, path string) (*Store, error) {
	return open(ctx, path, "FULL", "")
}

// OpenTemporary opens a store that lasts until Close, in a temporary file with syncing off. It isn't SQLite's own
// memory database: that one is a different database for every pooled connection.
func OpenTemporary(ctx context.Context) (*Store, error) {
	dir, err := os.MkdirTemp("", "wopwitness-store-")
	if err != nil {
		return nil, fmt.Errorf("make a folder for the temporary store: %w", err)
	}
	s, err := open(ctx, filepath.Join(dir, "host.db"), "OFF", dir)
	if err != nil {
		return nil, errors.Join(err, os.RemoveAll(dir))
	}
	return s, nil
}

func open(ctx context.Context, path, synchronous, tempDir string) (_ *Store, err error) {
	s := &Store{
		queue:   group.New(maxBatch),
		heads:   map[string]*head{},
		tempDir: tempDir,
		claims:  map[store.Work]claim{},
	}
	defer func() {
		if err != nil {
			err = errors.Join(err, s.release())
		}
	}()
	if tempDir == "" {
		if s.locked, err = lock(ctx, path); err != nil {
			return nil, err
		}
	}
	if s.write, err = openDB(path, synchronous, 1, writerCache); err != nil {
		return nil, err
	}
	if err = migrate(ctx, s.write); err != nil {
		return nil, fmt.Errorf("prepare the tables of %s: %w", path, err)
	}
	if s.conn, err = s.write.Conn(ctx); err != nil {
		return nil, fmt.Errorf("open %s for writing: %w", path, err)
	}
	if err = errors.Join(s.stmts.prepare(ctx, s.conn), s.runTx.prepare(ctx, s.conn)); err != nil {
		return nil, err
	}
	s.recordTx.prepare = s.conn.PrepareContext
	if s.read, err = openDB(path, synchronous, readers, readerCache); err != nil {
		return nil, err
	}
	if err = errors.Join(s.reads.prepare(ctx, s.read), s.runReads.prepare(ctx, s.read)); err != nil {
		return nil, err
	}
	s.recordReads.prepare = s.read.PrepareContext
	go s.queue.Loop(s.commit)
	return s, nil
}

func openDB(path, synchronous string, conns, cache int) (*sql.DB, error) {
	q := url.Values{"_pragma": {
		"busy_timeout(10000)", "journal_mode(WAL)", "synchronous(" + synchronous + ")", fmt.Sprintf("cache_size(-%d)", cache),
	}}
	dsn := (&url.URL{Scheme: "file", Opaque: url.PathEscape(path), RawQuery: q.Encode()}).String()
	db, err := sql.Open("sqlite", dsn)
	if err != nil {
		return nil, fmt.Errorf("open %s: %w", path, err)
	}
	db.SetMaxOpenConns(conns)
	db.SetMaxIdleConns(conns)
	return db, nil
}

func migrate(ctx context.Context, db *sql.DB) error {
	files, err := fs.Sub(migrations, "migrations")
	if err != nil {
		return err
	}
	p, err := goose.NewProvider(goose.DialectSQLite3, db, files)
	if err != nil {
		return err
	}
	_, err = p.Up(ctx)
	return err
}

// Close implements store.Store. Writes accepted before it are committed first.
func (s *Store) Close() error {
	s.closing.Do(func() {
		s.queue.Close()
		s.closed = s.release()
	})
	return s.closed
}

func (s *Store) release() error {
	var errs []error
	if s.read != nil {
		errs = append(errs, s.read.Close())
	}
	if s.conn != nil {
		errs = append(errs, s.conn.Close())
	}
	if s.write != nil {
		errs = append(errs, s.write.Close())
	}
	if s.locked != nil {
		errs = append(errs, s.locked.Close())
	}
	if s.tempDir != "" {
		errs = append(errs, os.RemoveAll(s.tempDir))
	}
	if err := errors.Join(errs...); err != nil {
		return fmt.Errorf("close the store: %w", err)
	}
	return nil
}

// Announce implements store.Store. All instances over a SQLite file share this process, so a signal is a call.
func (s *Store) Announce(_ context.Context, sig store.Signal) error {
	if s.queue.Closed() {
		return store.ErrClosed
	}
	s.listeners.Tell(sig)
	return nil
}

// Listen implements store.Store.
func (s *Store) Listen(f func(store.Signal)) (stop func()) { return s.listeners.Listen(f) }
