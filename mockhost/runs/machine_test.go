package runs_test

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/wopwitness/wopwitness/fixtures/workflows"
	"github.com/wopwitness/wopwitness/mockhost/parts"
	"github.com/wopwitness/wopwitness/mockhost/store"
)

// modelRun is a run as the model holds it.
type modelRun struct {
	run       store.Run
	want      []line // the whole log, unless it is cancelled
	cancelled bool
	fixed     bool
	ended     time.Time        // when its end was seen to be dated, zero before
	final     []store.RunEvent // its log then
}

// machine runs the engine beside the model.
type machine struct {
	*rig
	runs []*modelRun
}

func TestEngineAgreesWithItsModel(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		m := &machine{rig: newRig(rt, drawWorkflows(rt))}
		defer m.close()
		rt.Repeat(map[string]func(*rapid.T){
			"create":  m.create,
			"fork":    m.fork,
			"cancel":  m.cancel,
			"advance": m.advance,
			"crash":   m.crash,
			"":        func(rt *rapid.T) { m.check(rt, false) },
		})
		m.move(rt, time.Minute)
		m.check(rt, true)
	})
}

// drawWorkflows makes a few workflows: up to four nodes, edges forwards, of every temper.
func drawWorkflows(rt *rapid.T) []workflows.Workflow {
	var all []workflows.Workflow
	for i := range rapid.IntRange(1, 3).Draw(rt, "workflows") {
		w := workflows.Workflow{ID: fmt.Sprintf("w%d", i), Settings: workflows.Settings{MaxRetries: rapid.IntRange(0, 3).Draw(rt, "maxRetries")}}
		for j := range rapid.IntRange(1, 4).Draw(rt, "nodes") {
			n := workflows.Node{ID: fmt.Sprintf("n%d", j), TypeID: workflows.TypeSucceed}
			if rapid.Bool().Draw(rt, "fails") {
				n.TypeID = workflows.TypeFail
				n.Config.SucceedOnAttempt = rapid.IntRange(0, 5).Draw(rt, "succeedOnAttempt")
				if rapid.Bool().Draw(rt, "fixable") {
					n.Config.SucceedWhenConfigurable = workflows.FixedName
				}
			}
			for k := range j {
				if rapid.Bool().Draw(rt, "edge") {
					w.Edges = append(w.Edges, workflows.Edge{ID: fmt.Sprintf("e%d-%d", k, j), SourceNodeID: fmt.Sprintf("n%d", k), TargetNodeID: n.ID})
				}
			}
			w.Nodes = append(w.Nodes, n)
		}
		all = append(all, w)
	}
	return all
}

func options(fixed bool, major int) parts.RunOptions {
	o := parts.RunOptions{}
	if fixed {
		o.Configurable = encode(workflows.Configurable(major))
	}
	return o
}

func (m *machine) create(rt *rapid.T) {
	w := rapid.SampledFrom(m.workflows).Draw(rt, "workflow")
	fixed, major := rapid.Bool().Draw(rt, "fixed"), rapid.IntRange(1, 2).Draw(rt, "major")
	p := rapid.SampledFrom([]parts.Principal{alice, bob}).Draw(rt, "principal")
	r, err := m.engine.Create(m.ctx, p, w.ID, options(fixed, major), nil)
	if err != nil {
		rt.Fatalf("create: %v", err)
	}
	m.runs = append(m.runs, &modelRun{run: r, want: played(w, fixed, nil), fixed: fixed})
}

// pick draws a run that is there by the model, nil where there is none.
func (m *machine) pick(rt *rapid.T) *modelRun {
	var there []*modelRun
	for _, r := range m.runs {
		if !m.purged(r) {
			there = append(there, r)
		}
	}
	if len(there) == 0 {
		rt.Skip("no run is there")
	}
	return rapid.SampledFrom(there).Draw(rt, "run")
}

func (m *machine) purged(r *modelRun) bool {
	return !r.ended.IsZero() && !m.runner.Now().Before(r.ended.Add(keptDays*24*time.Hour))
}

func (m *machine) fork(rt *rapid.T) {
	source := m.pick(rt)
	log := lines(m.log(rt, source.run))
	f := parts.ForkRequest{Mode: rapid.SampledFrom([]string{parts.Replay, parts.Branch}).Draw(rt, "mode")}
	from := rapid.Int64Range(0, int64(len(log))+1).Draw(rt, "fromSeq")
	f.FromSeq = &from
	fixed := source.fixed
	if f.Mode == parts.Branch && rapid.Bool().Draw(rt, "overlay") {
		fixed = true
		o := options(true, 2)
		f.Overlay = &o
	}
	child, err := m.engine.Fork(m.ctx, source.run, f, nil)
	if from > 0 && from >= int64(len(log)) {
		if !isProblem(err, 422, "fork_point_invalid") {
			rt.Fatalf("a fork at %d of a log of %d: %v", from, len(log), err)
		}
		return
	}
	if err != nil {
		rt.Fatalf("fork at %d of a log of %d: %v", from, len(log), err)
	}
	if child.ID == source.run.ID || child.Source != source.run.ID || child.Tenant != source.run.Tenant || child.Subject != source.run.Subject {
		rt.Fatalf("the fork is %+v of %+v", child, source.run)
	}
	w, _ := m.parts.Workflows.Find(child.Workflow)
	m.runs = append(m.runs, &modelRun{run: child, want: played(w, fixed, log[:from]), fixed: fixed})
}

func (m *machine) cancel(rt *rapid.T) {
	r := m.pick(rt)
	log := lines(m.log(rt, r.run))
	err := m.engine.Cancel(m.ctx, r.run, nil)
	if len(log) > 0 && over(log) {
		if !isProblem(err, 409, "run_terminal") {
			rt.Fatalf("cancel a run that has ended: %v", err)
		}
		return
	}
	if err != nil {
		rt.Fatalf("cancel: %v", err)
	}
	r.cancelled = true
	r.want = append(log, line{parts.RunCancelled, ""})
}

func (m *machine) advance(rt *rapid.T) {
	by := rapid.SampledFrom([]time.Duration{
		time.Millisecond, 5 * time.Millisecond, 20 * time.Millisecond, time.Second, time.Hour, 25 * time.Hour, 50 * time.Hour,
	}).Draw(rt, "by")
	if by > time.Minute {
		// What ends within the time is seen to have ended before that time can purge it.
		m.move(rt, time.Minute)
		m.check(rt, true)
	}
	m.move(rt, by)
}

func (m *machine) move(rt *rapid.T, by time.Duration) {
	if _, err := m.runner.Advance(m.ctx, by); err != nil {
		rt.Fatalf("advance by %s: %v", by, err)
	}
}

// crash lets the process die at a random moment of its work, and starts another over the same store.
func (m *machine) crash(rt *rapid.T) {
	m.faults.in(rapid.IntRange(1, 12).Draw(rt, "moment"))
	_, err := m.runner.Advance(m.ctx, rapid.SampledFrom([]time.Duration{time.Millisecond, 20 * time.Millisecond, 25 * time.Hour}).Draw(rt, "by"))
	if err != nil && !m.faults.crashed() {
		rt.Fatalf("advance: %v", err)
	}
	m.restart(rt)
	m.move(rt, time.Millisecond) // what was due is done at start
}

// check holds every run against the model; settled says that nothing is left to do.
func (m *machine) check(rt *rapid.T, settled bool) {
	for _, r := range m.runs {
		p := alice
		if r.run.Tenant == bob.Tenant {
			p = bob
		}
		log := m.log(rt, r.run)
		if _, there, err := m.engine.Find(m.ctx, p, r.run.ID); err != nil || there == m.purged(r) {
			rt.Fatalf("run %s is there: %v, %v; ended %s, now %s", r.run.ID, there, err, r.ended, m.runner.Now())
		}
		if m.purged(r) {
			if len(log) != 0 {
				rt.Fatalf("%d events are left of a purged run", len(log))
			}
			continue
		}
		m.checkLog(rt, r, log, settled)
	}
	m.checkSink(rt)
}

func (m *machine) checkLog(rt *rapid.T, r *modelRun, log []store.RunEvent, settled bool) {
	got := lines(log)
	if n := len(got); n > len(r.want) || !slices.Equal(got, r.want[:n]) || settled && n != len(r.want) {
		rt.Fatalf("run %s (settled: %v)\ngot  %v\nwant %v", r.run.ID, settled, got, r.want)
	}
	ids := map[string]bool{"": true}
	for i, e := range log {
		if e.Seq != int64(i) || ids[e.ID] || !ids[e.Cause] || i > 0 && e.At.Before(log[i-1].At) {
			rt.Fatalf("run %s: event %d is %+v", r.run.ID, i, e)
		}
		ids[e.ID] = true
	}
	state, err := m.engine.State(m.ctx, r.run)
	if err != nil || state.Over() != (len(got) > 0 && over(got)) {
		rt.Fatalf("run %s: %+v, %v over %v", r.run.ID, state, err, got)
	}
	switch {
	case r.ended.IsZero() && state.Over():
		r.ended, r.final = state.Ended, log
	case !r.ended.IsZero() && fmt.Sprint(log) != fmt.Sprint(r.final):
		rt.Fatalf("run %s has changed after its end", r.run.ID)
	}
}

// checkSink holds the sink of each tenant against the dead letters in the logs that are there.
func (m *machine) checkSink(rt *rapid.T) {
	for _, p := range []parts.Principal{alice, bob} {
		var want, got []string
		for _, r := range m.runs {
			// A fork's prefix may hold a letter before the fork itself has come to its end.
			if r.run.Tenant != p.Tenant || r.ended.IsZero() || m.purged(r) || r.cancelled {
				continue
			}
			for _, l := range r.want {
				if l.kind == parts.RunDeadLettered {
					want = append(want, fmt.Sprintf("%s %s %d", r.run.ID, l.node, count(r.want, parts.NodeFailed, l.node)))
				}
			}
		}
		entries, err := m.parts.Sink.List(m.ctx, p, "", 1<<20)
		if err != nil {
			rt.Fatalf("list the sink: %v", err)
		}
		for _, d := range entries {
			got = append(got, fmt.Sprintf("%s %s %d", d.Run, d.Node, d.Attempts))
		}
		slices.Sort(want)
		slices.Sort(got)
		if !slices.Equal(got, want) {
			rt.Fatalf("the sink of %s\ngot  %q\nwant %q", p.Tenant, got, want)
		}
	}
}
