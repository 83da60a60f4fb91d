// Package storetest is the contract of store.Store as tests: a backend that passes may serve the mock host.
//
// It holds nothing of any backend. Start at Run.
package storetest

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/wopwitness/wopwitness/mockhost/store"
)

// Open opens a fresh store; the test closes it.
type Open func(t *testing.T) store.Store

// Run runs the contract on stores that open makes.
func Run(t *testing.T, open Open) {
	for _, c := range []struct {
		name string
		test func(*testing.T, store.Store)
	}{
		{"events come back in commit order, page by page", eventsInOrder},
		{"a page is bounded in bytes and never empty", pageBytes},
		{"the sequence is the tenant's own and outlives removal", sequences},
		{"emission times never fall", timesNeverFall},
		{"an id is found byte for byte and by its tenant only", find},
		{"a removed event is gone and was returned", remove},
		{"a sweep removes what is old and tells what is left", sweep},
		{"a failed closure undoes its own writes only", rollback},
		{"a panic is an error of its own closure", panics},
		{"hooks run in commit order, and not for what failed", hooks},
		{"many writers: each event once, in a gapless order", manyWriters},
		{"an answer is kept with its effect, and forgotten by age", answers},
		{"work comes due in order and keeps its first instant", work},
		{"work is claimed by one at a time, until the claim ends", claims},
		{"the clock's offset is kept", offset},
		{"signals reach every listener until it stops", signals},
		{"a closed store says so", closed},
	} {
		t.Run(c.name, func(t *testing.T) {
			s := open(t)
			defer func() {
				if err := s.Close(); err != nil {
					t.Errorf("close: %v", err)
				}
			}()
			c.test(t, s)
		})
	}
	runsContract(t, open)
	recordsContract(t, open)
}

func began() time.Time { return time.Date(2030, 1, 2, 3, 4, 5, 6_000_000, time.UTC) }

// insert appends an event of that id inside a transaction.
func insert(tx store.Tx, tenant, id string, now time.Time) (store.Event, error) {
	slot, err := tx.NextSlot(tenant, now)
	if err != nil {
		return store.Event{}, err
	}
	e := store.Event{
		Tenant: tenant, Seq: slot.Seq, ID: id, Type: "a.b", Workspace: "w-" + id, At: slot.At, Envelope: []byte("envelope of " + id),
	}
	return e, tx.InsertEvent(e)
}

func write(t *testing.T, s store.Store, f func(store.Tx) error) {
	t.Helper()
	if err := s.Write(t.Context(), f); err != nil {
		t.Fatalf("write: %v", err)
	}
}

func add(t *testing.T, s store.Store, tenant string, now time.Time, ids ...string) {
	t.Helper()
	for _, id := range ids {
		write(t, s, func(tx store.Tx) error { _, err := insert(tx, tenant, id, now); return err })
	}
}

func ids(t *testing.T, s store.Store, tenant string, after int64, page store.Page) []string {
	t.Helper()
	events, err := s.EventsAfter(t.Context(), tenant, after, page)
	if err != nil {
		t.Fatalf("read events: %v", err)
	}
	var out []string
	for _, e := range events {
		out = append(out, e.ID)
	}
	return out
}

func same[T comparable](t *testing.T, what string, got, want []T) {
	t.Helper()
	if !slices.Equal(got, want) {
		t.Errorf("%s: got %v, want %v", what, got, want)
	}
}

func wide() store.Page { return store.Page{Rows: 1000, Bytes: 1 << 20} }

func eventsInOrder(t *testing.T, s store.Store) {
	add(t, s, "a", began(), "e1", "e2", "e3")
	add(t, s, "b", began(), "f1")
	same(t, "all of a", ids(t, s, "a", 0, wide()), []string{"e1", "e2", "e3"})
	same(t, "after the first", ids(t, s, "a", 1, wide()), []string{"e2", "e3"})
	same(t, "one row", ids(t, s, "a", 1, store.Page{Rows: 1, Bytes: 1 << 20}), []string{"e2"})
	same(t, "after the last", ids(t, s, "a", 3, wide()), nil)
	same(t, "another tenant", ids(t, s, "b", 0, wide()), []string{"f1"})
	same(t, "no such tenant", ids(t, s, "c", 0, wide()), nil)
	events, err := s.EventsAfter(t.Context(), "a", 2, wide())
	if err != nil || len(events) != 1 {
		t.Fatal(events, err)
	}
	want := store.Event{Tenant: "a", Seq: 3, ID: "e3", Type: "a.b", Workspace: "w-e3", At: began(), Envelope: []byte("envelope of e3")}
	if got := events[0]; fmt.Sprint(got) != fmt.Sprint(want) {
		t.Errorf("got %v, want %v", got, want)
	}
}

func pageBytes(t *testing.T, s store.Store) {
	add(t, s, "a", began(), "e1", "e2", "e3")
	same(t, "one byte", ids(t, s, "a", 0, store.Page{Rows: 10, Bytes: 1}), []string{"e1"})
	same(t, "two envelopes", ids(t, s, "a", 0, store.Page{Rows: 10, Bytes: 20}), []string{"e1", "e2"})
}

func sequences(t *testing.T, s store.Store) {
	ctx := t.Context()
	add(t, s, "a", began(), "e1", "e2")
	add(t, s, "b", began(), "f1")
	write(t, s, func(tx store.Tx) error { _, _, err := tx.RemoveEvent("a", "e2"); return err })
	if head, err := s.Head(ctx, "a"); err != nil || head != 2 {
		t.Errorf("head after removal: %d, %v", head, err)
	}
	add(t, s, "a", began(), "e3")
	if e, ok, err := s.FindEvent(ctx, "a", "e3"); err != nil || !ok || e.Seq != 3 {
		t.Errorf("the next sequence: %v %v %v, want 3", e, ok, err)
	}
	for tenant, want := range map[string]int64{"a": 3, "b": 1, "c": 0} {
		if head, err := s.Head(ctx, tenant); err != nil || head != want {
			t.Errorf("head of %s: %d, %v", tenant, head, err)
		}
	}
}

func timesNeverFall(t *testing.T, s store.Store) {
	add(t, s, "a", began(), "e1")
	add(t, s, "a", began().Add(-time.Hour), "e2")
	add(t, s, "b", began().Add(-time.Hour), "f1")
	for id, want := range map[[2]string]time.Time{{"a", "e2"}: began(), {"b", "f1"}: began().Add(-time.Hour)} {
		if e, _, err := s.FindEvent(t.Context(), id[0], id[1]); err != nil || !e.At.Equal(want) {
			t.Errorf("%v: at %s, %v; want %s", id, e.At, err, want)
		}
	}
}

func find(t *testing.T, s store.Store) {
	add(t, s, "a", began(), "Event-1")
	for name, c := range map[string]struct {
		tenant, id string
		found      bool
	}{
		"its own":         {"a", "Event-1", true},
		"another tenant":  {"b", "Event-1", false},
		"another case":    {"a", "event-1", false},
		"a trailing byte": {"a", "Event-1 ", false},
		"a pattern":       {"a", "Event-%", false},
		"empty":           {"a", "", false},
		"not UTF-8":       {"a", "\xff\xfe", false},
		"a quote":         {"a", "' OR 1=1 --", false},
	} {
		e, ok, err := s.FindEvent(t.Context(), c.tenant, c.id)
		if err != nil || ok != c.found || ok && e.Seq != 1 {
			t.Errorf("%s: %v %v %v", name, e, ok, err)
		}
	}
}

func remove(t *testing.T, s store.Store) {
	add(t, s, "a", began(), "e1", "e2", "e3")
	try := func(tenant, id string) (e store.Event, ok bool) {
		write(t, s, func(tx store.Tx) (err error) { e, ok, err = tx.RemoveEvent(tenant, id); return err })
		return e, ok
	}
	if _, ok := try("b", "e2"); ok {
		t.Error("another tenant removed it")
	}
	if e, ok := try("a", "e2"); !ok || e.Seq != 2 || e.ID != "e2" || string(e.Envelope) != "envelope of e2" {
		t.Errorf("removed: %v %v", e, ok)
	}
	if _, ok := try("a", "e2"); ok {
		t.Error("it was removed twice")
	}
	same(t, "left", ids(t, s, "a", 0, wide()), []string{"e1", "e3"})
}

func sweep(t *testing.T, s store.Store) {
	slot := func(tenant string, now time.Time) (out store.Slot) {
		write(t, s, func(tx store.Tx) (err error) { out, err = tx.NextSlot(tenant, now); return err })
		return out
	}
	if !slot("a", began()).Unswept {
		t.Error("the first slot doesn't ask for a sweep")
	}
	if slot("a", began()).Unswept {
		t.Error("the second slot asks for one again")
	}
	add(t, s, "a", began(), "old")
	add(t, s, "a", began().Add(time.Minute), "middle")
	add(t, s, "a", began().Add(time.Hour), "young")
	add(t, s, "b", began(), "other")
	do := func(before time.Time) (out store.Swept) {
		write(t, s, func(tx store.Tx) (err error) { out, err = tx.SweepEvents("a", before); return err })
		return out
	}
	if got := do(began()); got.Removed != 0 || got.Through != 0 || !got.Left || !got.Oldest.Equal(began()) {
		t.Errorf("nothing is old: %+v", got)
	}
	if got := do(began().Add(time.Minute + 1)); got.Removed != 2 || got.Through != 4 || !got.Oldest.Equal(began().Add(time.Hour)) {
		t.Errorf("two are old: %+v", got)
	}
	same(t, "left", ids(t, s, "a", 0, wide()), []string{"young"})
	if got := do(began().Add(24 * time.Hour)); got.Removed != 1 || got.Left {
		t.Errorf("the last is old: %+v", got)
	}
	if got := slot("a", began().Add(48*time.Hour)); !got.Unswept || got.Seq != 6 {
		t.Errorf("after an empty log: %+v", got)
	}
	same(t, "the other tenant", ids(t, s, "b", 0, wide()), []string{"other"})
}
