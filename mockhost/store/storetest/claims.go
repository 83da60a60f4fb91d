package storetest

import (
	"errors"
	"testing"
	"time"

	"github.com/wopwitness/wopwitness/mockhost/store"
)

func claims(t *testing.T, s store.Store) {
	now := began()
	claim := func(by string, upTo time.Duration) string {
		t.Helper()
		w, ok, err := s.ClaimWork(t.Context(), store.Claim{By: by, UpTo: began().Add(upTo), Now: now, Until: now.Add(time.Minute)})
		if err != nil {
			t.Fatal(err)
		}
		if !ok {
			return ""
		}
		return w.Key
	}
	expect := func(what, got, want string) {
		t.Helper()
		if got != want {
			t.Errorf("%s: got %q, want %q", what, got, want)
		}
	}
	expect("an empty store", claim("one", time.Hour), "")
	write(t, s, func(tx store.Tx) error {
		return errors.Join(
			tx.PutWork(store.Work{Kind: "k", Key: "second", Due: began().Add(2)}),
			tx.PutWork(store.Work{Kind: "k", Key: "first", Due: began().Add(1)}),
			tx.PutWork(store.Work{Kind: "k", Key: "later", Due: began().Add(time.Hour)}))
	})
	expect("before it is due", claim("one", 0), "")
	expect("the first that is due", claim("one", 1), "first")
	expect("the same instance again", claim("one", 2), "first")
	expect("another instance", claim("two", 2), "second")
	expect("with all claimed", claim("three", 2), "")
	if w, _, err := s.NextWork(t.Context()); err != nil || w.Key != "first" {
		t.Errorf("claimed work isn't shown as left: %v, %v", w, err)
	}
	write(t, s, func(tx store.Tx) error { return tx.MoveWork(store.Work{Kind: "k", Key: "first"}) })
	expect("after one was dropped", claim("three", 2), "")
	write(t, s, func(tx store.Tx) error { return tx.MoveWork(store.Work{Kind: "k", Key: "second", Due: began().Add(3)}) })
	expect("after one was put off", claim("three", 3), "second")
	now = now.Add(time.Minute)
	expect("after the claim ended", claim("four", 3), "second")
	expect("work of the future", claim("four", time.Hour), "second")
	expect("beside a claim", claim("five", time.Hour), "later")
	expect("while both are claimed", claim("six", time.Hour), "")
	if err := s.FreeWork(t.Context(), "four"); err != nil {
		t.Fatal(err)
	}
	expect("after one that claimed stopped", claim("six", time.Hour), "second")
	expect("of the others' claims after that", claim("seven", time.Hour), "")
}
