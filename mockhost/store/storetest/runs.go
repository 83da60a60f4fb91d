package storetest

import (
	"reflect"
	"slices"
	"testing"
	"time"

	"github.com/wopwitness/wopwitness/mockhost/store"
)

// runsContract is the part of the contract that is about runs and dead letters.
func runsContract(t *testing.T, open Open) {
	for _, c := range []struct {
		name string
		test func(*testing.T, store.Store)
	}{
		{"a run comes back as it was inserted, for its tenant only", runAsInserted},
		{"runs are listed newest first, page by page, by workspace", runsListed},
		{"a log is read in order and from a place", runLog},
		{"a place in a log is taken once", runPlaces},
		{"the inside of a transaction sees its own writes", runInside},
		{"dead letters are listed for their owner, newest first", deadLettersListed},
		{"a dead letter put again replaces the first", deadLetterReplaced},
		{"a purge takes the run, its log and its dead letters, and no other's", runPurged},
		{"a signal carries the run that changed", runSignal},
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

func aRun(tenant, workspace, id string) store.Run {
	return store.Run{
		Tenant: tenant, ID: id, Workspace: workspace, Subject: "someone", Workflow: "w", Options: []byte(`{"inputs":{"a":1}}`), At: began(),
	}
}

func aRunEvent(seq int64, kind string) store.RunEvent {
	return store.RunEvent{
		Seq: seq, ID: "event-" + kind, Type: kind, Node: "n", Cause: "c", At: began().Add(time.Duration(seq) * time.Second), Payload: []byte(`{"attempt":1}`),
	}
}

func insertRuns(t *testing.T, s store.Store, runs ...store.Run) {
	t.Helper()
	for _, r := range runs {
		write(t, s, func(tx store.Tx) error { return tx.InsertRun(r) })
	}
}

func runAsInserted(t *testing.T, s store.Store) {
	r := aRun("a", "shop", "r-1")
	r.Source, r.Mode, r.FromSeq = "r-0", "branch", 4
	insertRuns(t, s, r)
	for name, c := range map[string]struct {
		tenant, id string
		want       store.Run
		found      bool
	}{
		"its own":          {"a", "r-1", r, true},
		"another tenant's": {"b", "r-1", store.Run{}, false},
		"another id":       {"a", "R-1", store.Run{}, false},
	} {
		got, ok, err := s.Run(t.Context(), c.tenant, c.id)
		if err != nil || ok != c.found || !reflect.DeepEqual(got, c.want) {
			t.Errorf("%s: got %+v, %v, %v; want %+v", name, got, ok, err, c.want)
		}
	}
	if err := s.Write(t.Context(), func(tx store.Tx) error { return tx.InsertRun(aRun("b", "", "r-1")) }); err == nil {
		t.Error("an id was given to the runs of two tenants")
	}
}

func idsOf(runs []store.Run) []string {
	var out []string
	for _, r := range runs {
		out = append(out, r.ID)
	}
	return out
}

func runsListed(t *testing.T, s store.Store) {
	insertRuns(t, s, aRun("a", "", "r-1"), aRun("a", "shop", "r-2"), aRun("a", "", "r-3"), aRun("b", "", "r-4"), aRun("a", "yard", "r-5"))
	for name, c := range map[string]struct {
		tenant string
		page   store.RunPage
		want   []string
	}{
		"of no workspace":  {"a", store.RunPage{Limit: 9}, []string{"r-3", "r-1"}},
		"of a workspace":   {"a", store.RunPage{Workspace: "shop", Limit: 9}, []string{"r-3", "r-2", "r-1"}},
		"a page":           {"a", store.RunPage{Workspace: "shop", Limit: 2}, []string{"r-3", "r-2"}},
		"the page after":   {"a", store.RunPage{Workspace: "shop", Limit: 2, After: "r-2"}, []string{"r-1"}},
		"another tenant's": {"b", store.RunPage{Limit: 9}, []string{"r-4"}},
		"nobody's":         {"c", store.RunPage{Limit: 9}, nil},
	} {
		got, err := s.Runs(t.Context(), c.tenant, c.page)
		if err != nil || !slices.Equal(idsOf(got), c.want) {
			t.Errorf("%s: got %q, %v; want %q", name, idsOf(got), err, c.want)
		}
	}
}

func runLog(t *testing.T, s store.Store) {
	insertRuns(t, s, aRun("a", "", "r-1"))
	log := []store.RunEvent{aRunEvent(0, "x"), aRunEvent(1, "y"), aRunEvent(2, "z")}
	write(t, s, func(tx store.Tx) error {
		for _, e := range log {
			if err := tx.AppendRunEvent("a", "r-1", e); err != nil {
				return err
			}
		}
		return nil
	})
	for name, c := range map[string]struct {
		tenant string
		after  int64
		limit  int
		want   []store.RunEvent
	}{
		"whole":            {"a", -1, 9, log},
		"after the first":  {"a", 0, 9, log[1:]},
		"at most one":      {"a", 0, 1, log[1:2]},
		"after the last":   {"a", 2, 9, nil},
		"far beyond":       {"a", 1 << 40, 9, nil},
		"another tenant's": {"b", -1, 9, nil},
	} {
		got, err := s.RunEvents(t.Context(), c.tenant, "r-1", c.after, c.limit)
		if err != nil || !reflect.DeepEqual(got, c.want) {
			t.Errorf("%s: got %+v, %v; want %+v", name, got, err, c.want)
		}
	}
}

func runPlaces(t *testing.T, s store.Store) {
	insertRuns(t, s, aRun("a", "", "r-1"))
	write(t, s, func(tx store.Tx) error { return tx.AppendRunEvent("a", "r-1", aRunEvent(0, "x")) })
	err := s.Write(t.Context(), func(tx store.Tx) error {
		if err := tx.AppendRunEvent("a", "r-1", aRunEvent(1, "y")); err != nil {
			return err
		}
		return tx.AppendRunEvent("a", "r-1", aRunEvent(0, "z"))
	})
	if err == nil {
		t.Error("a place was taken twice")
	}
	got, err := s.RunEvents(t.Context(), "a", "r-1", -1, 9)
	if err != nil || !reflect.DeepEqual(got, []store.RunEvent{aRunEvent(0, "x")}) {
		t.Errorf("got %+v, %v; want what was there before the failure", got, err)
	}
}

func runInside(t *testing.T, s store.Store) {
	write(t, s, func(tx store.Tx) error {
		if _, ok, err := tx.Run("a", "r-1"); ok || err != nil {
			t.Errorf("before: %v, %v", ok, err)
		}
		if err := tx.InsertRun(aRun("a", "", "r-1")); err != nil {
			return err
		}
		if r, ok, err := tx.Run("a", "r-1"); !ok || err != nil || !reflect.DeepEqual(r, aRun("a", "", "r-1")) {
			t.Errorf("after: %+v, %v, %v", r, ok, err)
		}
		if err := tx.AppendRunEvent("a", "r-1", aRunEvent(0, "x")); err != nil {
			return err
		}
		log, err := tx.RunEvents("a", "r-1")
		if err != nil || !reflect.DeepEqual(log, []store.RunEvent{aRunEvent(0, "x")}) {
			t.Errorf("the log: %+v, %v", log, err)
		}
		return nil
	})
}

func aLetter(tenant, workspace, run string) store.DeadLetter {
	return store.DeadLetter{
		Tenant: tenant, Run: run, Workspace: workspace, Node: "n", Reason: "why", Attempts: 3, At: began(), Expires: began().Add(time.Hour),
	}
}

func putLetters(t *testing.T, s store.Store, letters ...store.DeadLetter) {
	t.Helper()
	for _, d := range letters {
		write(t, s, func(tx store.Tx) error { return tx.PutDeadLetter(d) })
	}
}

func deadLettersListed(t *testing.T, s store.Store) {
	one, two, three, four := aLetter("a", "", "r-1"), aLetter("a", "shop", "r-2"), aLetter("a", "", "r-3"), aLetter("b", "", "r-4")
	putLetters(t, s, one, two, three, four)
	for name, c := range map[string]struct {
		tenant string
		page   store.RunPage
		want   []store.DeadLetter
	}{
		"of no workspace":  {"a", store.RunPage{Limit: 9}, []store.DeadLetter{three, one}},
		"of a workspace":   {"a", store.RunPage{Workspace: "shop", Limit: 9}, []store.DeadLetter{three, two, one}},
		"a page":           {"a", store.RunPage{Limit: 1}, []store.DeadLetter{three}},
		"the page after":   {"a", store.RunPage{Limit: 1, After: "r-3"}, []store.DeadLetter{one}},
		"another tenant's": {"b", store.RunPage{Limit: 9}, []store.DeadLetter{four}},
	} {
		got, err := s.DeadLetters(t.Context(), c.tenant, c.page)
		if err != nil || !reflect.DeepEqual(got, c.want) {
			t.Errorf("%s: got %+v, %v; want %+v", name, got, err, c.want)
		}
	}
}

func deadLetterReplaced(t *testing.T, s store.Store) {
	second := aLetter("a", "", "r-1")
	second.Reason, second.Attempts, second.At, second.Expires = "more", 4, began().Add(time.Minute), began().Add(2*time.Hour)
	putLetters(t, s, aLetter("a", "", "r-1"), second)
	got, err := s.DeadLetters(t.Context(), "a", store.RunPage{Limit: 9})
	if err != nil || !reflect.DeepEqual(got, []store.DeadLetter{second}) {
		t.Errorf("got %+v, %v", got, err)
	}
}

func runPurged(t *testing.T, s store.Store) {
	insertRuns(t, s, aRun("a", "", "r-1"), aRun("a", "", "r-2"))
	putLetters(t, s, aLetter("a", "", "r-1"), aLetter("a", "", "r-2"))
	write(t, s, func(tx store.Tx) error {
		for _, id := range []string{"r-1", "r-2"} {
			if err := tx.AppendRunEvent("a", id, aRunEvent(0, "x")); err != nil {
				return err
			}
		}
		return nil
	})
	purge := func(tenant string) (was bool) {
		write(t, s, func(tx store.Tx) (err error) {
			was, err = tx.PurgeRun(tenant, "r-1")
			return err
		})
		return was
	}
	if purge("b") {
		t.Error("another tenant purged the run")
	}
	if !purge("a") || purge("a") {
		t.Error("a run is purged once")
	}
	runs, _ := s.Runs(t.Context(), "a", store.RunPage{Limit: 9})
	gone, _ := s.RunEvents(t.Context(), "a", "r-1", -1, 9)
	kept, _ := s.RunEvents(t.Context(), "a", "r-2", -1, 9)
	letters, err := s.DeadLetters(t.Context(), "a", store.RunPage{Limit: 9})
	if err != nil || !slices.Equal(idsOf(runs), []string{"r-2"}) || len(gone) != 0 || len(kept) != 1 ||
		!reflect.DeepEqual(letters, []store.DeadLetter{aLetter("a", "", "r-2")}) {
		t.Errorf("left are the runs %q, %d and %d events, the letters %+v, %v", idsOf(runs), len(gone), len(kept), letters, err)
	}
}

func runSignal(t *testing.T, s store.Store) {
	heard := make(chan store.Signal, 1)
	stop := s.Listen(func(sig store.Signal) { heard <- sig })
	defer stop()
	want := store.Signal{Tenant: "a", Run: "r-1"}
	if err := s.Announce(t.Context(), want); err != nil {
		t.Fatal(err)
	}
	select {
	case got := <-heard:
		if !reflect.DeepEqual(got, want) {
			t.Errorf("heard %+v, want %+v", got, want)
		}
	case <-time.After(10 * time.Second):
		t.Error("nothing was heard")
	}
}
