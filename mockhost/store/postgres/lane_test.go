package postgres_test

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/wopwitness/wopwitness/mockhost/store"
	"github.com/wopwitness/wopwitness/mockhost/store/postgres/pgtest"
)

var at = time.Date(2030, 1, 1, 0, 0, 0, 0, time.UTC)

// TestASequenceTakenWithoutTheLaneLosesEvents shows the mistake that the lane is for, on tables of its own: the slower of
// two transactions commits behind a reader that has passed its place.
func TestASequenceTakenWithoutTheLaneLosesEvents(t *testing.T) {
	address, ctx := pgtest.Schema(t), t.Context()
	connect := func() *pgx.Conn {
		c, err := pgx.Connect(ctx, address)
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = c.Close(context.WithoutCancel(ctx)) })
		return c
	}
	slow, fast, reader := connect(), connect(), connect()
	if _, err := reader.Exec(ctx, `CREATE TABLE log (seq BIGSERIAL PRIMARY KEY, id TEXT NOT NULL)`); err != nil {
		t.Fatal(err)
	}
	last, met := int64(0), []string{}
	read := func() {
		rows, err := reader.Query(ctx, `SELECT seq, id FROM log WHERE seq > $1 ORDER BY seq`, last)
		if err != nil {
			t.Fatal(err)
		}
		for rows.Next() {
			var id string
			if err := rows.Scan(&last, &id); err != nil {
				t.Fatal(err)
			}
			met = append(met, id)
		}
	}
	begin := func(c *pgx.Conn, id string) pgx.Tx {
		tx, err := c.Begin(ctx)
		if err == nil {
			_, err = tx.Exec(ctx, `INSERT INTO log (id) VALUES ($1)`, id)
		}
		if err != nil {
			t.Fatal(err)
		}
		return tx
	}
	first := begin(slow, "first")
	second := begin(fast, "second")
	if err := second.Commit(ctx); err != nil {
		t.Fatal(err)
	}
	read()
	if err := first.Commit(ctx); err != nil {
		t.Fatal(err)
	}
	read()
	if len(met) != 1 || met[0] != "second" {
		t.Errorf("the reader met %v; this test is of a reader that loses the first", met)
	}
}

// TestALaneKeepsTheOrder is the same interleaving through the store, on two instances: the second waits for the first,
// and the reader meets both.
func TestALaneKeepsTheOrder(t *testing.T) {
	address := pgtest.Schema(t)
	slow, fast := open(t, address), open(t, address)
	defer func() { _, _ = slow.Close(), fast.Close() }()
	insert := func(tx store.Tx, id string) error {
		slot, err := tx.NextSlot("t", at)
		if err != nil {
			return err
		}
		return tx.InsertEvent(store.Event{Tenant: "t", Seq: slot.Seq, ID: id, Type: "a.b", At: slot.At, Envelope: []byte("{}")})
	}
	inside, leave := make(chan struct{}), make(chan struct{})
	outcomes := make(chan error, 2)
	go func() {
		outcomes <- slow.Write(context.Background(), func(tx store.Tx) error {
			err := insert(tx, "first")
			close(inside)
			<-leave
			return err
		})
	}()
	<-inside
	go func() {
		outcomes <- fast.Write(context.Background(), func(tx store.Tx) error { return insert(tx, "second") })
	}()
	waitForWaiter(t)
	if events, err := fast.EventsAfter(t.Context(), "t", 0, store.Page{Rows: 10, Bytes: 1000}); err != nil || len(events) != 0 {
		t.Errorf("while the first is under way a reader met %v, %v", events, err)
	}
	close(leave)
	if err := errors.Join(<-outcomes, <-outcomes); err != nil {
		t.Fatal(err)
	}
	events, err := slow.EventsAfter(t.Context(), "t", 0, store.Page{Rows: 10, Bytes: 1000})
	if err != nil || len(events) != 2 || events[0].ID != "first" || events[1].ID != "second" {
		t.Errorf("the log is %v, %v", events, err)
	}
}

// waitForWaiter returns once some transaction waits for a lane.
func waitForWaiter(t *testing.T) {
	t.Helper()
	conn, err := pgx.Connect(t.Context(), pgtest.Schema(t))
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = conn.Close(context.WithoutCancel(t.Context())) }()
	for waiting := false; !waiting; {
		err := conn.QueryRow(t.Context(), `SELECT EXISTS (SELECT FROM pg_locks WHERE locktype = 'advisory' AND NOT granted
			AND objsubid = 2)`).Scan(&waiting)
		if err != nil {
			t.Fatal(err)
		}
	}
}

func TestATransactionOfTwoTenantsIsRefused(t *testing.T) {
	s := open(t, pgtest.Schema(t))
	defer func() { _ = s.Close() }()
	err := s.Write(t.Context(), func(tx store.Tx) error {
		if _, err := tx.NextSlot("t", at); err != nil {
			return err
		}
		_, err := tx.NextSlot("u", at)
		return err
	})
	if err == nil {
		t.Error("it was done, and could have waited for another that waited for it")
	}
	if head, err := s.Head(t.Context(), "t"); err != nil || head != 0 {
		t.Errorf("half of it was done: head %d, %v", head, err)
	}
}

// TestAClaimEndsWithItsClaimer kills a claimer's connection, as the death of its process does.
func TestAClaimEndsWithItsClaimer(t *testing.T) {
	address := pgtest.Schema(t)
	alive, dying := open(t, address), open(t, address)
	defer func() { _ = alive.Close() }()
	err := alive.Write(t.Context(), func(tx store.Tx) error { return tx.PutWork(store.Work{Kind: "k", Key: "w", Due: at}) })
	if err != nil {
		t.Fatal(err)
	}
	claim := func(s store.Store, by string) bool {
		_, ok, err := s.ClaimWork(t.Context(), store.Claim{By: by, UpTo: at, Now: at, Until: at.Add(time.Hour)})
		if err != nil {
			t.Fatal(err)
		}
		return ok
	}
	if !claim(dying, "dying") || claim(alive, "alive") {
		t.Fatal("the work isn't the first claimer's")
	}
	if err := dying.Close(); err != nil {
		t.Fatal(err)
	}
	for !claim(alive, "alive") { // the server notices the end of a connection a moment later
		if t.Context().Err() != nil {
			t.Fatal("the work stays with a claimer that is gone")
		}
	}
}
