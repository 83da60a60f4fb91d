package runs_test

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"testing"
	"time"

	"github.com/jonboulle/clockwork"

	"github.com/wopwitness/wopwitness/fixtures/workflows"
	"github.com/wopwitness/wopwitness/mockhost/parts"
	"github.com/wopwitness/wopwitness/mockhost/store"
	"github.com/wopwitness/wopwitness/mockhost/store/sqlite"
)

func fixtures(t *testing.T) []workflows.Workflow {
	t.Helper()
	all, err := workflows.All()
	if err != nil {
		t.Fatal(err)
	}
	return all
}

func (r *rig) make(t *testing.T, p parts.Principal, workflow string) store.Run {
	t.Helper()
	run, err := r.engine.Create(r.ctx, p, workflow, parts.RunOptions{}, nil)
	if err != nil {
		t.Fatal(err)
	}
	return run
}

func (r *rig) moved(t *testing.T, by time.Duration) {
	t.Helper()
	if _, err := r.runner.Advance(r.ctx, by); err != nil {
		t.Fatal(err)
	}
}

func TestAttemptsComeDueOnTheHostsClock(t *testing.T) {
	r := newRig(t, fixtures(t))
	defer r.close()
	run := r.make(t, alice, workflows.Exhaust)
	if n := len(r.log(t, run)); n != 0 {
		t.Fatalf("%d events before anything was due", n)
	}
	for _, c := range []struct {
		by   time.Duration
		want int // events by then
	}{
		{time.Millisecond, 3},       // the first attempt, at once
		{500 * time.Microsecond, 3}, // in the first pause of 2 ms
		{time.Millisecond, 6},
		{2 * time.Millisecond, 6}, // in the second of 4 ms
		{2 * time.Millisecond, 11},
		{time.Hour, 11},
	} {
		r.moved(t, c.by)
		if log := r.log(t, run); len(log) != c.want {
			t.Errorf("after %s more: %v, want %d events", c.by, lines(log), c.want)
		}
	}
}

func TestEndIsDatedAndLeavesOnlyThePurge(t *testing.T) {
	r := newRig(t, fixtures(t))
	defer r.close()
	run := r.make(t, alice, workflows.Exhaust)
	r.moved(t, time.Second)
	state, err := r.engine.State(r.ctx, run)
	if err != nil || state.Status != parts.Failed || state.Last != 10 || state.Error.Code != "node_failed" {
		t.Fatalf("the state is %+v, %v", state, err)
	}
	work, ok, err := r.store.NextWork(r.ctx)
	if err != nil || !ok || work.Kind != "runs.purge" || work.Key != "alice/"+run.ID || !work.Due.Equal(state.Ended.Add(keptDays*24*time.Hour)) {
		t.Errorf("the next work is %+v, %v, %v; the run ended %s", work, ok, err, state.Ended)
	}
	r.moved(t, keptDays*24*time.Hour-2*time.Second)
	if _, there, _ := r.engine.Find(r.ctx, alice, run.ID); !there {
		t.Error("it is gone before its days are over")
	}
	r.moved(t, 2*time.Second)
	if _, there, _ := r.engine.Find(r.ctx, alice, run.ID); there {
		t.Error("it is there after its days")
	}
	if work, ok, err := r.store.NextWork(r.ctx); ok || err != nil {
		t.Errorf("work is left: %+v, %v", work, err)
	}
}

func TestCancelledRunIsNotDeadLettered(t *testing.T) {
	for name, c := range map[string]struct {
		by   time.Duration
		want string
	}{
		"before it started": {0, "[{run.cancelled }]"},
		"between two attempts": {time.Millisecond,
			"[{run.started } {node.started poison} {node.failed poison} {run.cancelled }]"},
	} {
		t.Run(name, func(t *testing.T) {
			r := newRig(t, fixtures(t))
			defer r.close()
			run := r.make(t, alice, workflows.Exhaust)
			if c.by > 0 {
				r.moved(t, c.by)
			}
			if err := r.engine.Cancel(r.ctx, run, nil); err != nil {
				t.Fatal(err)
			}
			r.moved(t, time.Hour)
			if got := fmt.Sprint(lines(r.log(t, run))); got != c.want {
				t.Errorf("got %s, want %s", got, c.want)
			}
			if entries, err := r.parts.Sink.List(r.ctx, alice, "", 9); err != nil || len(entries) != 0 {
				t.Errorf("the sink has %v, %v", entries, err)
			}
			if err := r.engine.Cancel(r.ctx, run, nil); !isProblem(err, 409, "run_terminal") {
				t.Errorf("cancelled twice: %v", err)
			}
		})
	}
}

// TestForksGoOnFromEveryPlace forks a dead run at each of its events: what follows is what followed in the source.
func TestForksGoOnFromEveryPlace(t *testing.T) {
	r := newRig(t, fixtures(t))
	defer r.close()
	source := r.make(t, alice, workflows.Downstream)
	r.moved(t, time.Second)
	log := r.log(t, source)
	for from := range int64(len(log)) {
		child, err := r.engine.Fork(r.ctx, source, parts.ForkRequest{Mode: parts.Replay, FromSeq: &from}, nil)
		if err != nil {
			t.Fatalf("fork at %d: %v", from, err)
		}
		r.moved(t, time.Second)
		got := r.log(t, child)
		if fmt.Sprint(lines(got)) != fmt.Sprint(lines(log)) {
			t.Errorf("from %d\ngot  %v\nwant %v", from, lines(got), lines(log))
		}
		entries, err := r.parts.Sink.List(r.ctx, alice, "", 1)
		if err != nil || len(entries) != 1 || entries[0].Run != child.ID || entries[0].Attempts != 3 {
			t.Errorf("from %d: the newest entry is %+v, %v", from, entries, err)
		}
	}
	if again := r.log(t, source); fmt.Sprint(again) != fmt.Sprint(log) {
		t.Error("the source's log has changed")
	}
}

// TestDeathAtEveryMomentLosesNothing lets the process die at each moment of a run in turn, over a file, and goes on.
func TestDeathAtEveryMomentLosesNothing(t *testing.T) {
	path := filepath.Join(t.TempDir(), "host.db")
	base := clockwork.NewFakeClockAt(time.Date(2031, 5, 6, 7, 8, 9, 0, time.UTC))
	open := func() *rig {
		s, err := sqlite.Open(t.Context(), path)
		if err != nil {
			t.Fatal(err)
		}
		return rigOver(t, s, base, fixtures(t))
	}
	r := open()
	defer func() { r.close() }()
	want := "[{run.started } {node.started poison} {node.failed poison} {node.retried poison} {node.started poison} {node.failed poison}" +
		" {node.retried poison} {node.started poison} {node.failed poison} {run.dead-lettered poison} {run.failed }]"
	for moment := 1; ; moment++ {
		run := r.make(t, alice, workflows.Exhaust)
		r.faults.in(moment)
		_, err := r.runner.Advance(r.ctx, time.Second)
		died := r.faults.crashed()
		if died != (err != nil) || err != nil && !errors.Is(err, errCrash) {
			t.Fatalf("moment %d: died %v, %v", moment, died, err)
		}
		r.close()
		r = open()
		r.moved(t, time.Second)
		if got := fmt.Sprint(lines(r.log(t, run))); got != want {
			t.Errorf("dead at moment %d\ngot  %s\nwant %s", moment, got, want)
		}
		entries, err := r.parts.Sink.List(r.ctx, alice, "", 1)
		if err != nil || len(entries) != 1 || entries[0].Run != run.ID || entries[0].Attempts != 3 {
			t.Errorf("dead at moment %d: the newest entry is %+v, %v", moment, entries, err)
		}
		if !died {
			if moment < 15 {
				t.Errorf("the run had %d moments only", moment)
			}
			return
		}
	}
}

func TestRunsBelongToTheirOwner(t *testing.T) {
	r := newRig(t, fixtures(t))
	defer r.close()
	shop := parts.Principal{Tenant: "alice", Workspace: "shop", Subject: "s"}
	yard := parts.Principal{Tenant: "alice", Workspace: "yard", Subject: "y"}
	open, bound := r.make(t, alice, workflows.Exhaust), r.make(t, shop, workflows.Exhaust)
	r.moved(t, time.Second)
	for name, c := range map[string]struct {
		p           parts.Principal
		open, bound bool
	}{
		"of no workspace": {alice, true, false}, "of the workspace": {shop, true, true},
		"of another workspace": {yard, true, false}, "of another tenant": {bob, false, false},
	} {
		for id, want := range map[string]bool{open.ID: c.open, bound.ID: c.bound} {
			if _, got, err := r.engine.Find(r.ctx, c.p, id); got != want || err != nil {
				t.Errorf("%s: sees %s: %v, %v", name, id, got, err)
			}
		}
	}
	child, err := r.engine.Fork(r.ctx, bound, parts.ForkRequest{Mode: parts.Replay}, nil)
	if err != nil || child.Workspace != "shop" || child.Subject != "s" {
		t.Errorf("the fork is %+v, %v", child, err)
	}
}

func TestWatchersAreToldOfEveryChange(t *testing.T) {
	r := newRig(t, fixtures(t))
	defer r.close()
	run, other := r.make(t, alice, workflows.Noop), r.make(t, alice, workflows.Noop)
	changed, stop := r.engine.Watch(run)
	quiet, stopOther := r.engine.Watch(store.Run{Tenant: other.Tenant, ID: "r-nobody"})
	defer stopOther()
	r.moved(t, time.Second)
	select {
	case <-changed:
	default:
		t.Error("the run has ended and nobody was told")
	}
	select {
	case <-quiet:
		t.Error("a watcher of another run was told")
	default:
	}
	stop()
	r.moved(t, keptDays*24*time.Hour)
	select {
	case <-changed:
		t.Error("who stopped watching was told")
	default:
	}
}

// TestCreationIsOneTransaction undoes a run whose answer can't be kept.
func TestCreationIsOneTransaction(t *testing.T) {
	r := newRig(t, fixtures(t))
	defer r.close()
	refused := errors.New("the answer can't be kept")
	_, err := r.engine.Create(context.Background(), alice, workflows.Noop, parts.RunOptions{}, func(store.Tx, store.Run) error { return refused })
	if !errors.Is(err, refused) {
		t.Fatalf("got %v", err)
	}
	if found, err := r.engine.List(r.ctx, alice, "", 9); err != nil || len(found) != 0 {
		t.Errorf("there are runs: %v, %v", found, err)
	}
	if work, ok, err := r.store.NextWork(r.ctx); ok || err != nil {
		t.Errorf("there is work: %+v, %v", work, err)
	}
}

// TestRunThatCannotGoOnFails gives the host other workflows while runs of the old ones are under way.
func TestRunThatCannotGoOnFails(t *testing.T) {
	node := func(id, kind string) workflows.Workflow {
		return workflows.Workflow{ID: "w", Nodes: []workflows.Node{{ID: id, TypeID: kind}}, Settings: workflows.Settings{MaxRetries: 1}}
	}
	for name, c := range map[string]struct {
		later []workflows.Workflow
		want  string
		code  string
	}{
		"no such workflow": {nil, "[{run.started } {node.started a} {node.failed a} {run.failed }]", "workflow_changed"},
		"no such node": {
			[]workflows.Workflow{node("b", workflows.TypeFail)},
			"[{run.started } {node.started a} {node.failed a} {node.retried a} {node.started a} {run.failed }]", "workflow_changed",
		},
		"no such type": {
			[]workflows.Workflow{node("a", "another.type")},
			"[{run.started } {node.started a} {node.failed a} {node.retried a} {node.started a} {node.failed a} {run.dead-lettered a} {run.failed }]",
			"node_failed",
		},
	} {
		t.Run(name, func(t *testing.T) {
			r := newRig(t, []workflows.Workflow{node("a", workflows.TypeFail)})
			defer r.close()
			run := r.make(t, alice, "w")
			r.moved(t, time.Millisecond)
			r.workflows = c.later
			r.restart(t)
			r.moved(t, time.Second)
			state, err := r.engine.State(r.ctx, run)
			if got := fmt.Sprint(lines(r.log(t, run))); err != nil || got != c.want || state.Error == nil || state.Error.Code != c.code {
				t.Errorf("got %s, %+v, %v\nwant %s, %s", got, state, err, c.want, c.code)
			}
		})
	}
}
