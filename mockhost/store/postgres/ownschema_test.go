package postgres_test

import (
	"context"
	"errors"
	"net/url"
	"os"
	"slices"
	"sync"
	"testing"

	"github.com/jackc/pgx/v5"

	"github.com/wopwitness/wopwitness/mockhost/store"
	"github.com/wopwitness/wopwitness/mockhost/store/postgres"
	"github.com/wopwitness/wopwitness/mockhost/store/postgres/pgtest"
)

// database is the address to test on, without a schema; the test is skipped where there is none.
func database(t *testing.T) string {
	t.Helper()
	pgtest.Schema(t)
	return os.Getenv(pgtest.Variable)
}

func schemaOf(t *testing.T, address string) string {
	t.Helper()
	u, err := url.Parse(address)
	if err != nil {
		t.Fatal(err)
	}
	return u.Query().Get("search_path")
}

// schemas lists those of the database.
func schemas(t *testing.T, address string) []string {
	t.Helper()
	conn, err := pgx.Connect(t.Context(), address)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = conn.Close(context.WithoutCancel(t.Context())) }()
	rows, err := conn.Query(t.Context(), `SELECT nspname FROM pg_namespace`)
	if err != nil {
		t.Fatal(err)
	}
	names, err := pgx.CollectRows(rows, pgx.RowTo[string])
	if err != nil {
		t.Fatal(err)
	}
	return names
}

func TestOwnSchemasAreApartAndGoAway(t *testing.T) {
	address := database(t)
	const many = 4
	var mu sync.Mutex
	var made []string
	var drops []func(context.Context) error
	var wg sync.WaitGroup
	for range many {
		wg.Go(func() {
			own, drop, err := postgres.OwnSchema(t.Context(), address)
			if err != nil {
				t.Error(err)
				return
			}
			mu.Lock()
			defer mu.Unlock()
			made, drops = append(made, schemaOf(t, own)), append(drops, drop)
			s, err := postgres.Open(t.Context(), own)
			if err != nil {
				t.Error(err)
				return
			}
			if head, err := s.Head(t.Context(), "t"); err != nil || head != 0 {
				t.Errorf("a fresh schema's log has %d events, %v", head, err)
			}
			err = s.Write(t.Context(), func(tx store.Tx) error {
				_, err := tx.NextSlot("t", at)
				return err
			})
			if err != nil {
				t.Error(err)
			}
			err = s.Write(t.Context(), func(tx store.Tx) error {
				_, err := tx.NextSlot("t", at)
				return err
			})
			if err := errors.Join(err, s.Close()); err != nil {
				t.Error(err)
			}
		})
	}
	wg.Wait()
	if slices.Sort(made); len(slices.Compact(made)) != many {
		t.Fatalf("made %v", made)
	}
	for _, drop := range drops {
		if err := drop(t.Context()); err != nil {
			t.Error(err)
		}
	}
	left := schemas(t, address)
	for _, name := range made {
		if slices.Contains(left, name) {
			t.Errorf("%s is there still", name)
		}
	}
}

// TestALeftoverOfADeadProcessIsDropped makes a schema whose lock nobody holds, and one whose process lives.
func TestALeftoverOfADeadProcessIsDropped(t *testing.T) {
	address := database(t)
	conn, err := pgx.Connect(t.Context(), address)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = conn.Close(context.WithoutCancel(t.Context())) }()
	const dead = "wopwitness_own_00000000deadbeef"
	if _, err := conn.Exec(t.Context(), "CREATE SCHEMA "+dead+"; CREATE TABLE "+dead+".events (id TEXT)"); err != nil {
		t.Fatal(err)
	}
	alive, dropAlive, err := postgres.OwnSchema(t.Context(), address)
	if err != nil {
		t.Fatal(err)
	}
	_, drop, err := postgres.OwnSchema(t.Context(), address)
	if err != nil {
		t.Fatal(err)
	}
	left := schemas(t, address)
	if slices.Contains(left, dead) || !slices.Contains(left, schemaOf(t, alive)) {
		t.Errorf("the dead one's is there: %v; the living one's: %v", slices.Contains(left, dead), slices.Contains(left, schemaOf(t, alive)))
	}
	for _, drop := range []func(context.Context) error{drop, dropAlive} {
		if err := drop(t.Context()); err != nil {
			t.Error(err)
		}
	}
}
