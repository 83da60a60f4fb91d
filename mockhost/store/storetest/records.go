package storetest

import (
	"errors"
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/wopwitness/wopwitness/mockhost/store"
)

func recordsContract(t *testing.T, open Open) {
	for _, c := range []struct {
		name string
		test func(*testing.T, store.Store)
	}{
		{"a record keeps its place, and an ID is taken once", recordPlaces},
		{"records are narrowed, paged and counted", recordQueries},
		{"a record is its tenant's and its kind's", recordScope},
		{"a transaction reads what it wrote, and an undone one leaves nothing", recordUndo},
		{"records inserted by many writers at once have places without gaps", recordWriters},
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
}

func record(id, state string, after time.Duration) store.Record {
	return store.Record{
		Tenant: "t", Kind: "k", ID: id, State: state, Tool: "tool-" + id, Trace: "trace-" + id, Category: "c", At: began().Add(after),
		Body: []byte(`{"id":"` + id + `"}`),
	}
}

func put(t *testing.T, s store.Store, rs ...store.Record) {
	t.Helper()
	for _, r := range rs {
		write(t, s, func(tx store.Tx) error {
			_, err := tx.InsertRecord(&r)
			return err
		})
	}
}

func recordIDs(rs []store.Record) (out []string) {
	for _, r := range rs {
		out = append(out, r.ID)
	}
	return out
}

func recordPlaces(t *testing.T, s store.Store) {
	put(t, s, record("a", "x", 0), record("b", "x", time.Second))
	again := record("a", "other", time.Hour)
	write(t, s, func(tx store.Tx) error {
		inserted, err := tx.InsertRecord(&again)
		if inserted {
			t.Error("an ID was taken twice")
		}
		return err
	})
	changed := record("a", "y", time.Minute)
	changed.Body = []byte(`{"n":2}`)
	write(t, s, func(tx store.Tx) error { return tx.PutRecord(changed) })
	write(t, s, func(tx store.Tx) error { return tx.PutRecord(record("c", "x", 0)) })
	r, ok, err := s.Reading(t.Context()).Record("t", "k", "a")
	if err != nil || !ok {
		t.Fatalf("got %v, %v", ok, err)
	}
	changed.Seq = 1
	if fmt.Sprint(r) != fmt.Sprint(changed) {
		t.Errorf("got  %v\nwant %v", r, changed)
	}
	all, err := s.Reading(t.Context()).Records("t", store.RecordQuery{Kind: "k"})
	if err != nil || !slices.Equal(recordIDs(all), []string{"a", "b", "c"}) {
		t.Errorf("got %v, %v", recordIDs(all), err)
	}
	write(t, s, func(tx store.Tx) error {
		return errors.Join(tx.DropRecord("t", "k", "a"), tx.DropRecord("t", "k", "unknown"))
	})
	if _, ok, err := s.Reading(t.Context()).Record("t", "k", "a"); ok || err != nil {
		t.Errorf("a dropped record is there: %v, %v", ok, err)
	}
}

func recordQueries(t *testing.T, s store.Store) {
	put(t, s, record("a", "open", 0), record("b", "shut", time.Second), record("c", "open", 2*time.Second), record("d", "other", 3*time.Second))
	for _, c := range []struct {
		name string
		q    store.RecordQuery
		want []string
	}{
		{"all", store.RecordQuery{}, []string{"a", "b", "c", "d"}},
		{"a state", store.RecordQuery{States: []string{"open"}}, []string{"a", "c"}},
		{"two states", store.RecordQuery{States: []string{"open", "shut"}}, []string{"a", "b", "c"}},
		{"a tool", store.RecordQuery{Tool: "tool-b"}, []string{"b"}},
		{"a trace", store.RecordQuery{Trace: "trace-c"}, []string{"c"}},
		{"a category", store.RecordQuery{Category: "c"}, []string{"a", "b", "c", "d"}},
		{"another category", store.RecordQuery{Category: "d"}, nil},
		{"before an instant", store.RecordQuery{Before: began().Add(2 * time.Second)}, []string{"a", "b"}},
		{"a page", store.RecordQuery{After: 1, Limit: 2}, []string{"b", "c"}},
		{"all together", store.RecordQuery{States: []string{"open"}, Trace: "trace-c", After: 1, Before: began().Add(time.Hour)}, []string{"c"}},
		{"what no text can be", store.RecordQuery{Tool: "a\x00\xff"}, nil},
	} {
		c.q.Kind = "k"
		outside, err := s.Reading(t.Context()).Records("t", c.q)
		if err != nil || !slices.Equal(recordIDs(outside), c.want) {
			t.Errorf("%s: got %v, %v; want %v", c.name, recordIDs(outside), err, c.want)
		}
		c.q.Limit = 0
		if c.name == "a page" {
			c.want = []string{"b", "c", "d"}
		}
		write(t, s, func(tx store.Tx) error {
			inside, err := tx.CountRecords("t", c.q)
			if inside.Count != len(c.want) {
				t.Errorf("%s: counted %d inside, want %d", c.name, inside.Count, len(c.want))
			}
			return err
		})
		n, err := s.Reading(t.Context()).CountRecords("t", c.q)
		if err != nil || n.Count != len(c.want) || (n.Count == 0) != n.Oldest.IsZero() {
			t.Errorf("%s: counted %v, %v; want %d", c.name, n, err, len(c.want))
		}
	}
	n, err := s.Reading(t.Context()).CountRecords("t", store.RecordQuery{Kind: "k", States: []string{"shut", "other"}})
	if err != nil || !n.Oldest.Equal(began().Add(time.Second)) {
		t.Errorf("the oldest is of %v, %v", n.Oldest, err)
	}
}

func recordScope(t *testing.T, s store.Store) {
	foreign, kin := record("a", "x", 0), record("a", "x", 0)
	foreign.Tenant, kin.Kind = "u", "other"
	put(t, s, record("a", "x", 0), foreign, kin)
	write(t, s, func(tx store.Tx) error { return tx.DropRecord("t", "k", "a") })
	for _, c := range []struct {
		tenant, kind string
		there        bool
	}{{"t", "k", false}, {"u", "k", true}, {"t", "other", true}, {"u", "other", false}} {
		r, ok, err := s.Reading(t.Context()).Record(c.tenant, c.kind, "a")
		if err != nil || ok != c.there || ok && r.Seq != 1 {
			t.Errorf("%s %s: got %v %v %v, want %v at place 1", c.tenant, c.kind, r, ok, err, c.there)
		}
	}
}

func recordUndo(t *testing.T, s store.Store) {
	undone := errors.New("undone")
	err := s.Write(t.Context(), func(tx store.Tx) error {
		r := record("a", "x", 0)
		if _, err := tx.InsertRecord(&r); err != nil {
			return err
		}
		if _, ok, err := tx.Record("t", "k", "a"); !ok || err != nil {
			t.Errorf("a transaction doesn't read what it wrote: %v", err)
		}
		found, err := tx.Records("t", store.RecordQuery{Kind: "k"})
		if err != nil || len(found) != 1 {
			t.Errorf("a transaction lists %v, %v", found, err)
		}
		return undone
	})
	if !errors.Is(err, undone) {
		t.Fatalf("got %v", err)
	}
	if _, ok, err := s.Reading(t.Context()).Record("t", "k", "a"); ok || err != nil {
		t.Errorf("an undone record is there: %v, %v", ok, err)
	}
}

func recordWriters(t *testing.T, s store.Store) {
	const writers = 20
	places := make(chan int64, writers)
	for n := range writers {
		go func() {
			r := record(fmt.Sprint(n), "x", 0)
			if err := s.Write(t.Context(), func(tx store.Tx) error { _, err := tx.InsertRecord(&r); return err }); err != nil {
				t.Errorf("write: %v", err)
			}
			places <- r.Seq
		}()
	}
	var got []int64
	for range writers {
		got = append(got, <-places)
	}
	slices.Sort(got)
	for i, place := range got {
		if place != int64(i+1) {
			t.Fatalf("places are %v", got)
		}
	}
}
