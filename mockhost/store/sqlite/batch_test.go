package sqlite_test

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"runtime"
	"slices"
	"testing"
	"time"

	"github.com/wopwitness/wopwitness/mockhost/store"
	"github.com/wopwitness/wopwitness/mockhost/store/sqlite"
)

var errMeant = errors.New("the closure fails as it was meant to")

// noon is when everything of these tests happens.
func noon() time.Time { return time.Date(2026, 5, 6, 12, 0, 0, 0, time.UTC) }

// add appends an event of that id.
func add(tx store.Tx, id string) error {
	slot, err := tx.NextSlot("t", noon())
	if err != nil {
		return err
	}
	return tx.InsertEvent(store.Event{Tenant: "t", Seq: slot.Seq, ID: id, Type: "a.b", At: slot.At, Envelope: []byte(id)})
}

func kept(tx store.Tx, key string) error {
	return tx.PutAnswer(store.Answer{Tenant: "t", Operation: "o", Key: key, Status: 202, Body: []byte(`{}`), At: noon()})
}

// together runs the closures in one transaction: they queue up while the committer is held in another.
func together(t *testing.T, s *sqlite.Store, closures []func(store.Tx) error) []error {
	t.Helper()
	entered, free := make(chan struct{}), make(chan struct{})
	outcomes := make([]chan error, len(closures)+1)
	write := func(i int, f func(store.Tx) error) {
		outcomes[i] = make(chan error, 1)
		go func() { outcomes[i] <- s.Write(context.Background(), f) }()
	}
	write(0, func(store.Tx) error {
		close(entered)
		<-free
		return nil
	})
	<-entered
	for i, f := range closures {
		write(i+1, f)
		for s.Queued() < i+1 { // the order of the queue is the order of the closures
			runtime.Gosched()
		}
	}
	close(free)
	errs := make([]error, len(outcomes))
	for i, o := range outcomes {
		errs[i] = <-o
	}
	return errs[1:]
}

// oneByOne runs each closure in a transaction of its own.
func oneByOne(t *testing.T, s *sqlite.Store, closures []func(store.Tx) error) []error {
	t.Helper()
	var errs []error
	for _, f := range closures {
		errs = append(errs, s.Write(t.Context(), f))
	}
	return errs
}

func TestClosuresFailAlone(t *testing.T) {
	type outcome struct {
		ids     []string // what is in the log, in order
		seqs    []int64
		head    int64
		answers []string // of the keys a, b and c, those that are there
		failed  []int
	}
	appends := func(id string) func(store.Tx) error { return func(tx store.Tx) error { return add(tx, id) } }
	fails := func(f func(store.Tx) error) func(store.Tx) error {
		return func(tx store.Tx) error { return errors.Join(f(tx), errMeant) }
	}
	for _, c := range []struct {
		name     string
		closures []func(store.Tx) error
		want     outcome
	}{
		{
			"all succeed", []func(store.Tx) error{appends("a"), appends("b"), appends("c")},
			outcome{ids: []string{"a", "b", "c"}, seqs: []int64{1, 2, 3}, head: 3},
		},
		{
			"one fails after its insert, and its place is taken by the next",
			[]func(store.Tx) error{appends("a"), fails(appends("b")), appends("c")},
			outcome{ids: []string{"a", "c"}, seqs: []int64{1, 2}, head: 2, failed: []int{1}},
		},
		{
			"the first of the tenant fails", []func(store.Tx) error{fails(appends("a")), appends("b")},
			outcome{ids: []string{"b"}, seqs: []int64{1}, head: 1, failed: []int{0}},
		},
		{
			"the last fails", []func(store.Tx) error{appends("a"), fails(appends("b"))},
			outcome{ids: []string{"a"}, seqs: []int64{1}, head: 1, failed: []int{1}},
		},
		{
			"an id that is there already", []func(store.Tx) error{appends("a"), appends("a"), appends("c")},
			outcome{ids: []string{"a", "c"}, seqs: []int64{1, 2}, head: 2, failed: []int{1}},
		},
		{
			"an id that is there already, found when another write follows",
			[]func(store.Tx) error{appends("a"), func(tx store.Tx) error { return errors.Join(add(tx, "a"), kept(tx, "b")) }, appends("c")},
			outcome{ids: []string{"a", "c"}, seqs: []int64{1, 2}, head: 2, failed: []int{1}},
		},
		{
			"two writes, undone together", []func(store.Tx) error{
				func(tx store.Tx) error { return errors.Join(add(tx, "a"), kept(tx, "a")) },
				fails(func(tx store.Tx) error { return errors.Join(add(tx, "b"), kept(tx, "b")) }),
				func(tx store.Tx) error { return errors.Join(kept(tx, "c"), add(tx, "c")) },
			},
			outcome{ids: []string{"a", "c"}, seqs: []int64{1, 2}, head: 2, answers: []string{"a", "c"}, failed: []int{1}},
		},
		{
			"several events in one closure", []func(store.Tx) error{
				func(tx store.Tx) error { return errors.Join(add(tx, "a"), add(tx, "b")) },
				fails(func(tx store.Tx) error { return errors.Join(add(tx, "x"), add(tx, "y")) }),
				appends("c"),
			},
			outcome{ids: []string{"a", "b", "c"}, seqs: []int64{1, 2, 3}, head: 3, failed: []int{1}},
		},
		{
			"a sweep between appends", []func(store.Tx) error{appends("a"), sweeps, appends("c")},
			outcome{ids: []string{"c"}, seqs: []int64{2}, head: 2},
		},
		{
			"a sweep that fails between appends", []func(store.Tx) error{appends("a"), fails(sweeps), appends("c")},
			outcome{ids: []string{"a", "c"}, seqs: []int64{1, 2}, head: 2, failed: []int{1}},
		},
		{
			"a sweep that fails after other writes", []func(store.Tx) error{
				appends("a"),
				fails(func(tx store.Tx) error { return errors.Join(kept(tx, "b"), add(tx, "b"), sweeps(tx)) }),
				appends("c"),
			},
			outcome{ids: []string{"a", "c"}, seqs: []int64{1, 2}, head: 2, failed: []int{1}},
		},
		{
			"a panic", []func(store.Tx) error{appends("a"), func(tx store.Tx) error { panic(add(tx, "b")) }, appends("c")},
			outcome{ids: []string{"a", "c"}, seqs: []int64{1, 2}, head: 2, failed: []int{1}},
		},
	} {
		for how, run := range map[string]func(*testing.T, *sqlite.Store, []func(store.Tx) error) []error{
			"in one transaction": together, "one by one": oneByOne,
		} {
			t.Run(c.name+"/"+how, func(t *testing.T) {
				s := opened(t, filepath.Join(t.TempDir(), "host.db"))
				var got outcome
				for i, err := range run(t, s, c.closures) {
					if err != nil {
						got.failed = append(got.failed, i)
					}
				}
				events, err := s.EventsAfter(t.Context(), "t", 0, store.Page{Rows: 10, Bytes: 1 << 20})
				if err != nil {
					t.Fatal(err)
				}
				for _, e := range events {
					got.ids, got.seqs = append(got.ids, e.ID), append(got.seqs, e.Seq)
				}
				if got.head, err = s.Head(t.Context(), "t"); err != nil {
					t.Fatal(err)
				}
				for _, key := range []string{"a", "b", "c"} {
					if _, ok, err := s.Answer(t.Context(), "t", "o", key); err != nil {
						t.Fatal(err)
					} else if ok {
						got.answers = append(got.answers, key)
					}
				}
				if fmt.Sprint(got) != fmt.Sprint(c.want) {
					t.Errorf("expected %+v, got %+v", c.want, got)
				}
			})
		}
	}
}

// opened is a store over the file, closed at the end of the test if it isn't by then.
func opened(t *testing.T, path string) *sqlite.Store {
	t.Helper()
	s, err := sqlite.Open(t.Context(), path)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	})
	return s
}

func TestTheHeadOutlivesItsEventsAndTheProcess(t *testing.T) {
	three := func(tx store.Tx) error { return errors.Join(add(tx, "a"), add(tx, "b"), add(tx, "c")) }
	for name, goes := range map[string]func(store.Tx) error{
		"all stay": func(store.Tx) error { return nil },
		"the newest is removed": func(tx store.Tx) error {
			_, ok, err := tx.RemoveEvent("t", "c")
			return errors.Join(err, map[bool]error{false: errMeant}[ok])
		},
		"all are swept": sweeps,
	} {
		t.Run(name, func(t *testing.T) {
			path := filepath.Join(t.TempDir(), "host.db")
			s := opened(t, path)
			for _, f := range []func(store.Tx) error{three, goes} {
				if err := s.Write(t.Context(), f); err != nil {
					t.Fatal(err)
				}
			}
			if err := s.Close(); err != nil {
				t.Fatal(err)
			}
			s = opened(t, path)
			if head, err := s.Head(t.Context(), "t"); err != nil || head != 3 {
				t.Errorf("expected the head at 3 after a restart, got %d, %v", head, err)
			}
			var slot store.Slot
			err := s.Write(t.Context(), func(tx store.Tx) (err error) {
				slot, err = tx.NextSlot("t", noon().Add(-time.Hour))
				return err
			})
			if err != nil || slot.Seq != 4 || !slot.At.Equal(noon()) {
				t.Errorf("expected place 4 and no earlier time, got %+v, %v", slot, err)
			}
		})
	}
}

// sweeps removes every event.
func sweeps(tx store.Tx) error {
	_, err := tx.SweepEvents("t", noon().Add(time.Hour))
	return err
}

func TestASweepIsScheduledOnceForABatch(t *testing.T) {
	s := opened(t, filepath.Join(t.TempDir(), "host.db"))
	unswept := make([]bool, 4)
	takes := func(i int, fail error) func(store.Tx) error {
		return func(tx store.Tx) error {
			slot, err := tx.NextSlot("t", noon())
			unswept[i] = slot.Unswept
			return errors.Join(err, fail)
		}
	}
	together(t, s, []func(store.Tx) error{takes(0, errMeant), takes(1, nil), takes(2, nil)})
	together(t, s, []func(store.Tx) error{takes(3, nil), func(store.Tx) error { return nil }})
	// The first of them fails, so what it was told to schedule is left to the second.
	if want := []bool{true, true, false, false}; !slices.Equal(unswept, want) {
		t.Errorf("expected %v, got %v", want, unswept)
	}
}
