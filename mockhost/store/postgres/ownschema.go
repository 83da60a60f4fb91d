package postgres

import (
	"context"
	"crypto/rand"
	"encoding/binary"
	"errors"
	"fmt"
	"net/url"
	"strconv"
	"strings"

	"github.com/jackc/pgx/v5"
)

// ownSchema begins the names of schemas that go with a process; 16 hexadecimal digits follow, the number of the advisory
// lock by which others see that the process lives.
const ownSchema = "wopwitness_own_"

// OwnSchema makes a schema in the database that address, a URL, names, and gives the address of it. It is there until drop
// is called. Where its process dies before that, a later OwnSchema on the same database drops it. What is in it needn't
// outlive a crash of the server, so commits there don't wait for the server's disk.
func OwnSchema(ctx context.Context, address string) (own string, drop func(context.Context) error, err error) {
	u, err := url.Parse(address)
	if err != nil {
		return "", nil, fmt.Errorf("read the database's address: %w", err)
	}
	conn, err := pgx.Connect(ctx, address)
	if err != nil {
		return "", nil, fmt.Errorf("connect to the database: %w", err)
	}
	var random [8]byte
	_, _ = rand.Read(random[:]) // never fails, says its package
	life := binary.BigEndian.Uint64(random[:]) >> 1
	name := fmt.Sprintf("%s%016x", ownSchema, life)
	// The lock comes first, so that nobody takes the fresh schema for one whose process is gone.
	if _, err = conn.Exec(ctx, `SELECT pg_advisory_lock($1)`, int64(life)); err == nil { //nolint:gosec // shifted, it fits
		if err = dropLeftovers(ctx, conn); err == nil {
			_, err = conn.Exec(ctx, "CREATE SCHEMA "+name)
		}
	}
	if err != nil {
		return "", nil, errors.Join(fmt.Errorf("make a schema of one's own: %w", err), conn.Close(context.WithoutCancel(ctx)))
	}
	q := u.Query()
	q.Set("search_path", name)
	q.Set("synchronous_commit", "off")
	u.RawQuery = q.Encode()
	return u.String(), func(ctx context.Context) error {
		_, err := conn.Exec(ctx, "DROP SCHEMA "+name+" CASCADE")
		if err = errors.Join(err, conn.Close(ctx)); err != nil {
			return fmt.Errorf("drop the schema %s: %w", name, err)
		}
		return nil
	}, nil
}

// dropLeftovers drops the schemas whose processes are gone: the server lets go of a lock with the connection that held it.
func dropLeftovers(ctx context.Context, conn *pgx.Conn) error {
	rows, err := conn.Query(ctx, `SELECT nspname FROM pg_namespace WHERE starts_with(nspname, $1)`, ownSchema)
	if err != nil {
		return err
	}
	names, err := pgx.CollectRows(rows, pgx.RowTo[string])
	if err != nil {
		return err
	}
	for _, name := range names {
		life, err := strconv.ParseInt(strings.TrimPrefix(name, ownSchema), 16, 64)
		if err != nil {
			continue // somebody else's name that begins so
		}
		var gone bool
		if err := conn.QueryRow(ctx, `SELECT pg_try_advisory_lock($1)`, life).Scan(&gone); err != nil {
			return err
		}
		if !gone {
			continue
		}
		_, err = conn.Exec(ctx, "DROP SCHEMA IF EXISTS "+pgx.Identifier{name}.Sanitize()+" CASCADE")
		_, unlocked := conn.Exec(ctx, `SELECT pg_advisory_unlock($1)`, life)
		if err := errors.Join(err, unlocked); err != nil {
			return fmt.Errorf("drop the schema %s, whose process is gone: %w", name, err)
		}
	}
	return nil
}
