package storetest

import (
	"bytes"
	"context"
	"fmt"
	"sync"
	"testing"
	"time"

	"github.com/wopwitness/wopwitness/mockhost/store"
)

// OpenTwo opens two instances of one fresh store; the test closes both.
type OpenTwo func(t *testing.T) (store.Store, store.Store)

// RunInstances runs what a store must be for several instances at once.
func RunInstances(t *testing.T, open OpenTwo) {
	for _, c := range []struct {
		name string
		test func(*testing.T, store.Store, store.Store)
	}{
		{"each sees what the other wrote", seenByBoth},
		{"writers on both: one gapless order, and no reader passes a gap", writersOnBoth},
		{"an event wakes the other's listeners, and doesn't travel in the signal", wakesTheOther},
		{"what a transaction did wakes the other by its commit alone", wokenByCommit},
		{"what was undone wakes nobody", undoneIsSilent},
		{"an ephemeral event of any size reaches every listener once", ephemerals},
		{"an answer is kept once over both", answeredOnce},
		{"work is claimed once over both", claimedOnce},
		{"the clock's offset is one", oneOffset},
		{"moves of the clock by both at once add up", movedAtOnce},
	} {
		t.Run(c.name, func(t *testing.T) {
			a, b := open(t)
			defer func() {
				for _, s := range []store.Store{a, b} {
					if err := s.Close(); err != nil {
						t.Errorf("close: %v", err)
					}
				}
			}()
			c.test(t, a, b)
		})
	}
}

// ear collects signals.
type ear chan store.Signal

func listen(t *testing.T, s store.Store) ear {
	e := make(ear, 4096)
	t.Cleanup(s.Listen(func(sig store.Signal) { e <- sig }))
	return e
}

// until returns the signals up to the first that is wanted, that one included.
func (e ear) until(t *testing.T, what string, wanted func(store.Signal) bool) []store.Signal {
	t.Helper()
	var out []store.Signal
	for {
		select {
		case sig := <-e:
			if out = append(out, sig); wanted(sig) {
				return out
			}
		case <-time.After(30 * time.Second):
			t.Fatalf("%s: not heard of; heard %v", what, out)
		}
	}
}

func seenByBoth(t *testing.T, a, b store.Store) {
	add(t, a, "t", began(), "e1")
	add(t, b, "t", began(), "e2")
	add(t, a, "t", began(), "e3")
	for _, s := range []store.Store{a, b} {
		same(t, "the log", ids(t, s, "t", 0, wide()), []string{"e1", "e2", "e3"})
	}
}

func writersOnBoth(t *testing.T, a, b store.Store) {
	const writers, each = 4, 25
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	var reading sync.WaitGroup
	var passed []int64
	reading.Go(func() { // follows the log as a stream does: what it has passed it never looks at again
		last := int64(0)
		for last < 2*writers*each {
			events, err := b.EventsAfter(ctx, "t", last, wide())
			if err != nil {
				return
			}
			for _, e := range events {
				passed, last = append(passed, e.Seq), e.Seq
			}
		}
	})
	var wg sync.WaitGroup
	for i, s := range []store.Store{a, b} {
		for w := range writers {
			wg.Go(func() {
				for n := range each {
					for _, tenant := range []string{"t", "u"}[:1+n%2] { // two tenants share commits, and never wait crosswise
						err := s.Write(context.Background(), func(tx store.Tx) error {
							_, err := insert(tx, tenant, fmt.Sprintf("%s-%d-%d-%d", tenant, i, w, n), began())
							return err
						})
						if err != nil {
							t.Errorf("instance %d, writer %d: %v", i, w, err)
							cancel()
						}
					}
				}
			})
		}
	}
	wg.Wait()
	reading.Wait()
	for i, seq := range passed {
		if seq != int64(i+1) {
			t.Fatalf("the reader went from %d to %d", i, seq)
		}
	}
	if len(passed) != 2*writers*each {
		t.Errorf("the reader met %d events, want %d", len(passed), 2*writers*each)
	}
}

func wakesTheOther(t *testing.T, a, b store.Store) {
	heard := listen(t, b)
	write(t, a, func(tx store.Tx) error {
		slot, err := tx.NextSlot("t", began())
		if err != nil {
			return err
		}
		return tx.InsertEvent(store.Event{
			Tenant: "t", Seq: slot.Seq, ID: "large", Type: "a.b", At: slot.At, Envelope: bytes.Repeat([]byte("x"), 100_000),
		})
	})
	got := heard.until(t, "the event", func(s store.Signal) bool { return s.Tenant == "t" && s.Head == 1 })
	if got[len(got)-1].Ephemeral != nil {
		t.Error("a durable event came in a signal")
	}
	same(t, "the other's log", ids(t, b, "t", 0, wide()), []string{"large"})
}

func wokenByCommit(t *testing.T, a, b store.Store) {
	add(t, a, "t", began(), "e1", "e2")
	heard := listen(t, b)
	write(t, a, func(tx store.Tx) error { _, _, err := tx.RemoveEvent("t", "e1"); return err })
	heard.until(t, "the removal", func(s store.Signal) bool { return s.Tenant == "t" && s.Removed == 1 })
	write(t, a, func(tx store.Tx) error { _, err := tx.SweepEvents("t", began().Add(1)); return err })
	heard.until(t, "the sweep", func(s store.Signal) bool { return s.Tenant == "t" && s.SweptTo == 2 })
	write(t, a, func(tx store.Tx) error {
		if err := tx.InsertRun(store.Run{Tenant: "t", ID: "r", Options: []byte("{}"), At: began()}); err != nil {
			return err
		}
		return tx.AppendRunEvent("t", "r", store.RunEvent{ID: "v", Type: "run.started", At: began(), Payload: []byte("{}")})
	})
	heard.until(t, "the run's event", func(s store.Signal) bool { return s.Tenant == "t" && s.Run == "r" })
	write(t, a, func(tx store.Tx) error { _, err := tx.PurgeRun("t", "r"); return err })
	heard.until(t, "the purge", func(s store.Signal) bool { return s.Tenant == "t" && s.Run == "r" })
	moveClock(t, a, 0, time.Hour)
	heard.until(t, "the clock", func(s store.Signal) bool { return s.Clock })
}

func undoneIsSilent(t *testing.T, a, b store.Store) {
	heard := listen(t, b)
	_ = a.Write(t.Context(), func(tx store.Tx) error {
		_, _ = insert(tx, "undone", "e", began())
		return fmt.Errorf("undo it")
	})
	add(t, a, "t", began(), "sentinel")
	for _, sig := range heard.until(t, "the sentinel", func(s store.Signal) bool { return s.Tenant == "t" }) {
		if sig.Tenant == "undone" {
			t.Errorf("heard of what was undone: %v", sig)
		}
	}
}

func ephemerals(t *testing.T, a, b store.Store) {
	own, others := listen(t, a), listen(t, b)
	sizes := []int{0, 1, 2999, 4000, 8000, 50_000, 300_000}
	for i, size := range sizes {
		e := store.Event{
			Tenant: "t", ID: fmt.Sprint("eph-", i), Type: "a.b", Workspace: "it's", At: began(),
			Envelope: bytes.Repeat([]byte{'"'}, size),
		}
		if err := a.Announce(t.Context(), store.Signal{Tenant: "t", Ephemeral: &e}); err != nil {
			t.Fatal(err)
		}
	}
	for who, heard := range map[string]ear{"its own instance": own, "the other": others} {
		for i, size := range sizes {
			got := heard.until(t, fmt.Sprintf("%s: event %d", who, i), func(s store.Signal) bool { return s.Ephemeral != nil })
			e := got[len(got)-1].Ephemeral
			if e.ID != fmt.Sprint("eph-", i) || len(e.Envelope) != size || e.Workspace != "it's" || !e.At.Equal(began()) || e.Durable() {
				t.Errorf("%s: event %d came as %s with %d bytes", who, i, e.ID, len(e.Envelope))
			}
		}
	}
}

func answeredOnce(t *testing.T, a, b store.Store) {
	var wg sync.WaitGroup
	outcomes := make([]error, 8)
	for i := range outcomes {
		wg.Go(func() {
			outcomes[i] = []store.Store{a, b}[i%2].Write(context.Background(), func(tx store.Tx) error {
				if _, ok, err := tx.Answer("t", "op", "key"); err != nil || ok {
					return fmt.Errorf("answered already (%v): %w", ok, err)
				}
				if _, err := insert(tx, "t", fmt.Sprint("effect-", i), began()); err != nil {
					return err
				}
				return tx.PutAnswer(store.Answer{Tenant: "t", Operation: "op", Key: "key", Status: i, Body: []byte("{}"), At: began()})
			})
		})
	}
	wg.Wait()
	kept, ok, err := b.Answer(t.Context(), "t", "op", "key")
	if err != nil || !ok {
		t.Fatal(ok, err)
	}
	same(t, "the effects", ids(t, a, "t", 0, wide()), []string{fmt.Sprint("effect-", kept.Status)})
}

func claimedOnce(t *testing.T, a, b store.Store) {
	const pieces = 40
	for i := range pieces {
		write(t, a, func(tx store.Tx) error { return tx.PutWork(store.Work{Kind: "k", Key: fmt.Sprint(i), Due: began()}) })
	}
	var mu sync.Mutex
	done := map[string]int{}
	var wg sync.WaitGroup
	for i, s := range []store.Store{a, b} {
		wg.Go(func() {
			for {
				w, ok, err := s.ClaimWork(context.Background(), store.Claim{
					By: fmt.Sprint(i), UpTo: began(), Now: began(), Until: began().Add(time.Hour),
				})
				if err != nil {
					t.Errorf("claim: %v", err)
				}
				if !ok || err != nil {
					return
				}
				mu.Lock()
				done[w.Key]++
				mu.Unlock()
				if err := s.Write(context.Background(), func(tx store.Tx) error {
					return tx.MoveWork(store.Work{Kind: w.Kind, Key: w.Key})
				}); err != nil {
					t.Errorf("drop: %v", err)
				}
			}
		})
	}
	wg.Wait()
	for key, n := range done {
		if n != 1 {
			t.Errorf("work %s was done %d times", key, n)
		}
	}
	if _, left, err := a.NextWork(t.Context()); err != nil || left || len(done) != pieces {
		t.Errorf("%d of %d pieces were done, one is left: %v, %v", len(done), pieces, left, err)
	}
}

func oneOffset(t *testing.T, a, b store.Store) {
	moveClock(t, a, 0, time.Hour)
	if d, err := b.ClockOffset(t.Context()); err != nil || d != time.Hour {
		t.Errorf("got %s, %v", d, err)
	}
	if at, moved := moveClock(t, b, 0, time.Hour); at != time.Hour || moved {
		t.Errorf("the other moved it from where it wasn't: it stands at %s, moved: %v", at, moved)
	}
}

// movedAtOnce has both instances move the clock many times, each from where it was told that it stands, beside writers of
// a tenant: no move is lost, and nothing waits crosswise.
func movedAtOnce(t *testing.T, a, b store.Store) {
	const moves = 20
	var wg sync.WaitGroup
	for i, s := range []store.Store{a, b} {
		wg.Go(func() {
			for n, at := 0, time.Duration(0); n < moves; {
				var moved bool
				err := s.Write(context.Background(), func(tx store.Tx) (err error) {
					at, moved, err = tx.MoveClock(at, at+time.Second)
					return err
				})
				if err != nil {
					t.Errorf("instance %d: %v", i, err)
					return
				}
				if moved {
					n++
				}
			}
		})
		wg.Go(func() {
			for n := range moves {
				err := s.Write(context.Background(), func(tx store.Tx) error {
					_, err := insert(tx, "t", fmt.Sprintf("e-%d-%d", i, n), began())
					return err
				})
				if err != nil {
					t.Errorf("instance %d: %v", i, err)
				}
			}
		})
	}
	wg.Wait()
	if d, err := b.ClockOffset(t.Context()); err != nil || d != 2*moves*time.Second {
		t.Errorf("after %d moves by a second it stands at %s, %v", 2*moves, d, err)
	}
}
