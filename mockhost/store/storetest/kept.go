package storetest

import (
	"errors"
	"fmt"
	"testing"
	"time"

	"github.com/wopwitness/wopwitness/mockhost/store"
)

func answers(t *testing.T, s store.Store) {
	first := store.Answer{Tenant: "a", Operation: "op", Key: "k", Fingerprint: "f", Status: 202, Body: []byte("{}"), At: began()}
	write(t, s, func(tx store.Tx) error {
		if _, ok, err := tx.Answer("a", "op", "k"); ok || err != nil {
			t.Errorf("before: %v %v", ok, err)
		}
		return tx.PutAnswer(first)
	})
	if got, ok, err := s.Answer(t.Context(), "a", "op", "k"); err != nil || !ok || fmt.Sprint(got) != fmt.Sprint(first) {
		t.Errorf("got %v %v %v", got, ok, err)
	}
	for _, other := range [][3]string{{"b", "op", "k"}, {"a", "other", "k"}, {"a", "op", "K"}} {
		if _, ok, err := s.Answer(t.Context(), other[0], other[1], other[2]); ok || err != nil {
			t.Errorf("%v: %v %v", other, ok, err)
		}
	}
	if err := s.Write(t.Context(), func(tx store.Tx) error { return tx.PutAnswer(first) }); err == nil {
		t.Error("a second answer of the same key was kept")
	}
	second := first
	second.Key, second.At = "k2", began().Add(time.Hour)
	write(t, s, func(tx store.Tx) error { return tx.PutAnswer(second) })
	write(t, s, func(tx store.Tx) error {
		oldest, left, err := tx.ForgetAnswers(began().Add(1))
		if !left || !oldest.Equal(second.At) {
			t.Errorf("left: %v %s", left, oldest)
		}
		return err
	})
	if _, ok, _ := s.Answer(t.Context(), "a", "op", "k"); ok {
		t.Error("the old answer wasn't forgotten")
	}
	write(t, s, func(tx store.Tx) error {
		_, left, err := tx.ForgetAnswers(began().Add(2 * time.Hour))
		if left {
			t.Error("an answer is left")
		}
		return err
	})
}

func work(t *testing.T, s store.Store) {
	next := func() store.Work {
		w, ok, err := s.NextWork(t.Context())
		if err != nil || !ok {
			return store.Work{}
		}
		return w
	}
	if w := next(); w.Kind != "" {
		t.Errorf("an empty store has work: %v", w)
	}
	late, early := store.Work{Kind: "k", Key: "late", Due: began().Add(time.Hour)}, store.Work{Kind: "k", Key: "early", Due: began()}
	write(t, s, func(tx store.Tx) error { return errors.Join(tx.PutWork(late), tx.PutWork(early)) })
	if w := next(); w != early {
		t.Errorf("got %v, want %v", w, early)
	}
	later := early
	later.Due = began().Add(2 * time.Hour)
	write(t, s, func(tx store.Tx) error { return tx.PutWork(later) })
	if w := next(); w != early {
		t.Errorf("scheduling again moved it: %v", w)
	}
	write(t, s, func(tx store.Tx) error { return tx.MoveWork(later) })
	if w := next(); w != late {
		t.Errorf("moving: got %v, want %v", w, late)
	}
	write(t, s, func(tx store.Tx) error { return tx.MoveWork(store.Work{Kind: "k", Key: "late"}) })
	if w := next(); w != later {
		t.Errorf("dropping: got %v, want %v", w, later)
	}
}

func offset(t *testing.T, s store.Store) {
	for _, c := range []struct {
		from, to, want time.Duration
		moves          bool
	}{
		{from: time.Hour, to: 2 * time.Hour, want: 0},
		{from: 0, to: 36 * time.Hour, want: 36 * time.Hour, moves: true},
		{from: 0, to: time.Hour, want: 36 * time.Hour},
		{from: 0, to: 36 * time.Hour, want: 36 * time.Hour},
		{from: 36 * time.Hour, to: time.Nanosecond, want: time.Nanosecond, moves: true},
	} {
		want := c.want
		if at, moved := moveClock(t, s, c.from, c.to); at != want || moved != c.moves {
			t.Errorf("from %s to %s: it stands at %s, moved: %v; want %s, %v", c.from, c.to, at, moved, want, c.moves)
		}
		if got, err := s.ClockOffset(t.Context()); err != nil || got != want {
			t.Errorf("got %s, %v; want %s", got, err, want)
		}
	}
}

func moveClock(t *testing.T, s store.Store, from, to time.Duration) (at time.Duration, moved bool) {
	t.Helper()
	write(t, s, func(tx store.Tx) (err error) {
		at, moved, err = tx.MoveClock(from, to)
		return err
	})
	return at, moved
}

func signals(t *testing.T, s store.Store) {
	got := make(chan store.Signal, 10)
	stopA := s.Listen(func(sig store.Signal) { got <- sig })
	stopB := s.Listen(func(sig store.Signal) { got <- sig })
	defer stopB()
	announce := func(head int64) {
		if err := s.Announce(t.Context(), store.Signal{Tenant: "a", Head: head}); err != nil {
			t.Fatal(err)
		}
	}
	expect := func(heads ...int64) {
		t.Helper()
		for _, want := range heads {
			select {
			case sig := <-got:
				if sig.Head != want || sig.Tenant != "a" {
					t.Errorf("got %v, want head %d", sig, want)
				}
			case <-time.After(10 * time.Second):
				t.Fatalf("no signal for head %d", want)
			}
		}
	}
	announce(1)
	expect(1, 1)
	stopA()
	announce(2)
	announce(3)
	expect(2, 3)
}

func closed(t *testing.T, s store.Store) {
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	if err := s.Write(t.Context(), func(store.Tx) error { return nil }); !errors.Is(err, store.ErrClosed) {
		t.Errorf("write: %v", err)
	}
	if _, err := s.Head(t.Context(), "a"); !errors.Is(err, store.ErrClosed) {
		t.Errorf("read: %v", err)
	}
	if err := s.Announce(t.Context(), store.Signal{}); !errors.Is(err, store.ErrClosed) {
		t.Errorf("announce: %v", err)
	}
}
