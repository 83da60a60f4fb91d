// Package postgres keeps the mock host's data in PostgreSQL, for several instances at once: each has a pool of its own,
// one committer goroutine, and one connection that listens to the others.
//
// It never lets a tenant's later event commit before an earlier one, and never carries a durable event in a
// notification. Start at Open; commit.go is the group commit, lane.go the tenant's lock, tx.go the writes, read.go the
// reads, notify.go and listen.go what instances tell each other.
package postgres

import (
	"context"
	"crypto/rand"
	"embed"
	"encoding/binary"
	"errors"
	"fmt"
	"hash/fnv"
	"io/fs"
	"sync"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"
	"github.com/jackc/pgx/v5/stdlib"
	"github.com/pressly/goose/v3"
	"github.com/pressly/goose/v3/lock"

	"github.com/wopwitness/wopwitness/mockhost/store"
	"github.com/wopwitness/wopwitness/mockhost/store/internal/group"
	"github.com/wopwitness/wopwitness/mockhost/store/internal/signals"
)

//go:embed migrations/*.sql
var migrations embed.FS

const (
	// connections is the size of the pool; a read holds one only while it reads a page.
	connections = 8
	// connectLimit and statementLimit bound what a lost link can hold up, in real time.
	connectLimit   = 3 * time.Second
	statementLimit = 10 * time.Second
)

// Store is a store.Store over one schema of a PostgreSQL database.
type Store struct {
	pool    *pgxpool.Pool
	config  *pgx.ConnConfig // of the listening connection
	channel string          // of the notifications of this schema
	space   int32           // of the advisory locks of this schema
	self    string          // names this instance among those over the schema
	life    int64           // the advisory lock that the listening connection holds: others see by it that this one lives

	queue *group.Queue

	stopListening context.CancelFunc
	listening     sync.WaitGroup
	closing       sync.Once

	listeners signals.Listeners
}

var _ store.Store = (*Store)(nil)

// Open connects to the database that url names, makes or migrates the tables in its schema (search_path, as usual), and
// starts the committer and the listener. Several instances may open one schema at the same moment.
func Open(ctx context.Context, url string) (_ *Store, err error) {
	config, err := pgxpool.ParseConfig(url)
	if err != nil {
		return nil, fmt.Errorf("read the database's address: %w", err)
	}
	config.MaxConns = connections
	config.ConnConfig.ConnectTimeout = connectLimit
	// A session whose other end is gone must not keep a tenant's lock.
	config.ConnConfig.RuntimeParams["idle_in_transaction_session_timeout"] = fmt.Sprint(statementLimit.Milliseconds())
	config.ConnConfig.RuntimeParams["application_name"] = "wopwitness"
	s := &Store{
		config: config.ConnConfig.Copy(), self: rand.Text(),
		queue: group.New(maxBatch),
	}
	var random [8]byte
	_, _ = rand.Read(random[:])                             // never fails, says its package
	s.life = int64(binary.BigEndian.Uint64(random[:]) >> 1) //nolint:gosec // shifted, it fits
	if s.pool, err = pgxpool.NewWithConfig(ctx, config); err != nil {
		return nil, fmt.Errorf("open the database: %w", err)
	}
	defer func() {
		if err != nil {
			s.pool.Close()
		}
	}()
	var schema string
	if err = s.pool.QueryRow(ctx, `SELECT coalesce(current_schema(), '')`).Scan(&schema); err != nil {
		return nil, fmt.Errorf("connect to the database: see that it runs, and that its address and user are right: %w", oneLine{err})
	}
	if schema == "" {
		return nil, errors.New("connect to the database: none of the schemas in search_path exists")
	}
	s.space, s.channel = number(schema), fmt.Sprintf("wopwitness_%08x", uint32(number(schema)))
	if err = migrate(ctx, s.config, schema); err != nil {
		return nil, fmt.Errorf("prepare the tables of schema %s: %w", schema, err)
	}
	conn, err := s.listenConn(ctx)
	if err != nil {
		return nil, fmt.Errorf("listen to other instances: %w", err)
	}
	background, cancel := context.WithCancel(context.WithoutCancel(ctx))
	s.stopListening = cancel
	s.listening.Go(func() { s.listen(background, conn) })
	go s.queue.Loop(s.commit)
	return s, nil
}

// number makes a name the key of an advisory lock.
func number(name string) int32 {
	h := fnv.New32a()
	_, _ = h.Write([]byte(name)) // never fails
	return int32(h.Sum32())      //nolint:gosec // any 32 bits will do
}

func migrate(ctx context.Context, config *pgx.ConnConfig, schema string) error {
	files, err := fs.Sub(migrations, "migrations")
	if err != nil {
		return err
	}
	// One instance migrates and the others wait for it, schema by schema.
	one, err := lock.NewPostgresSessionLocker(lock.WithLockID(int64(number(schema))), lock.WithLockTimeout(1, 60))
	if err != nil {
		return err
	}
	db := stdlib.OpenDB(*config)
	p, err := goose.NewProvider(goose.DialectPostgres, db, files, goose.WithSessionLocker(one))
	if err == nil {
		_, err = p.Up(ctx)
	}
	return errors.Join(err, db.Close())
}

// Close implements store.Store. Writes accepted before it are committed first.
func (s *Store) Close() error {
	s.closing.Do(func() {
		s.queue.Close()
		s.stopListening()
		s.listening.Wait()
		s.pool.Close()
	})
	return nil
}
