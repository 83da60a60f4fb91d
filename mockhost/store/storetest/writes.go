package storetest

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"testing"

	"github.com/wopwitness/wopwitness/mockhost/store"
)

func rollback(t *testing.T, s store.Store) {
	boom := errors.New("boom")
	var wg sync.WaitGroup
	errs := make([]error, 20)
	for i := range errs {
		wg.Go(func() {
			errs[i] = s.Write(context.Background(), func(tx store.Tx) error {
				if _, err := insert(tx, "a", fmt.Sprintf("e%d", i), began()); err != nil {
					return err
				}
				if i%2 == 1 {
					return boom
				}
				return nil
			})
		})
	}
	wg.Wait()
	for i, err := range errs {
		if want := map[int]error{0: nil, 1: boom}[i%2]; !errors.Is(err, want) {
			t.Errorf("writer %d: got %v, want %v", i, err, want)
		}
	}
	if got := ids(t, s, "a", 0, wide()); len(got) != 10 {
		t.Errorf("got %d events, want the 10 that didn't fail", len(got))
	}
	if head, err := s.Head(t.Context(), "a"); err != nil || head != 10 {
		t.Errorf("a failed closure took a sequence: head %d, %v", head, err)
	}
}

func panics(t *testing.T, s store.Store) {
	if err := s.Write(t.Context(), func(store.Tx) error { panic("boom") }); err == nil {
		t.Error("the panic was no error")
	}
	add(t, s, "a", began(), "e1")
}

func hooks(t *testing.T, s store.Store) {
	var mu sync.Mutex
	var ran []int64
	var wg sync.WaitGroup
	for i := range 50 {
		wg.Go(func() {
			err := s.Write(context.Background(), func(tx store.Tx) error {
				slot, err := tx.NextSlot("a", began())
				if err != nil {
					return err
				}
				tx.AfterCommit(func() {
					mu.Lock()
					defer mu.Unlock()
					ran = append(ran, slot.Seq)
				})
				if i%5 == 0 {
					return errors.New("no")
				}
				return nil
			})
			if (err != nil) != (i%5 == 0) {
				t.Errorf("writer %d: %v", i, err)
			}
		})
	}
	wg.Wait()
	if len(ran) != 40 || !slices.IsSorted(ran) {
		t.Errorf("hooks ran for %v", ran)
	}
}

func manyWriters(t *testing.T, s store.Store) {
	const writers, each = 16, 25
	var wg sync.WaitGroup
	for w := range writers {
		wg.Go(func() {
			for i := range each {
				err := s.Write(context.Background(), func(tx store.Tx) error {
					_, err := insert(tx, "a", fmt.Sprintf("w%d-%d", w, i), began())
					return err
				})
				if err != nil {
					t.Errorf("writer %d: %v", w, err)
				}
			}
		})
	}
	wg.Wait()
	events, err := s.EventsAfter(t.Context(), "a", 0, wide())
	if err != nil || len(events) != writers*each {
		t.Fatalf("got %d events, %v", len(events), err)
	}
	seen := map[string]bool{}
	for i, e := range events {
		if e.Seq != int64(i+1) || seen[e.ID] {
			t.Fatalf("event %d is %v", i, e)
		}
		seen[e.ID] = true
	}
}
