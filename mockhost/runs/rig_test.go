package runs_test

import (
	"context"
	"encoding/json"
	"errors"
	"log/slog"
	"slices"
	"time"

	"github.com/jonboulle/clockwork"

	"github.com/wopwitness/wopwitness/fixtures/workflows"
	"github.com/wopwitness/wopwitness/mockhost/clock"
	"github.com/wopwitness/wopwitness/mockhost/conforming"
	"github.com/wopwitness/wopwitness/mockhost/parts"
	"github.com/wopwitness/wopwitness/mockhost/runs"
	"github.com/wopwitness/wopwitness/mockhost/sink"
	"github.com/wopwitness/wopwitness/mockhost/store"
	"github.com/wopwitness/wopwitness/mockhost/store/sqlite"
)

const keptDays = 2

var (
	alice = parts.Principal{Tenant: "alice", Subject: "a"}
	bob   = parts.Principal{Tenant: "bob", Subject: "b"}
)

// failer is what a test and a property share.
type failer interface {
	Fatalf(format string, args ...any)
	Helper()
}

// rig is an engine, its runner and its clock over a store, without a host around them.
type rig struct {
	ctx       context.Context
	workflows seeded
	store     store.Store
	base      *clockwork.FakeClock
	faults    *faults
	parts     *parts.Parts
	engine    *runs.Engine
	runner    *hostclock.Runner
}

func newRig(t failer, all []workflows.Workflow) *rig {
	t.Helper()
	ctx := context.Background()
	s, err := sqlite.OpenTemporary(ctx)
	if err != nil {
		t.Fatalf("open a store: %v", err)
	}
	return rigOver(t, s, clockwork.NewFakeClockAt(time.Date(2031, 5, 6, 7, 8, 9, 0, time.UTC)), all)
}

func rigOver(t failer, s store.Store, base *clockwork.FakeClock, all []workflows.Workflow) *rig {
	t.Helper()
	r := &rig{ctx: context.Background(), workflows: all, store: s, base: base}
	r.start(t)
	return r
}

// start makes an engine over the store, as a process does.
func (r *rig) start(t failer) {
	t.Helper()
	offset, err := r.store.ClockOffset(r.ctx)
	if err != nil {
		t.Fatalf("read the clock's offset: %v", err)
	}
	r.faults = &faults{Store: r.store}
	p := &parts.Parts{
		Workflows: r.workflows, Retrier: conforming.Retrier{}, DeadLetters: conforming.DeadLetters{},
		Sink: sink.Sink{Store: r.store}, Purger: runs.Purger{Store: r.faults, Days: keptDays},
		Secrets: conforming.Secrets{workflows.CanarySecret: "the canary"},
	}
	p.Nodes = brittle{runs.Nodes{Parts: p}, r.faults}
	r.runner = hostclock.NewRunner(hostclock.New(r.base, offset), forgetful{r.store}, hostclock.Manual, slog.New(slog.DiscardHandler),
		map[string]hostclock.Handler{
			runs.StepWork: func(ctx context.Context, key string, now time.Time) error {
				return p.Runs.Step(ctx, key, now)
			},
			runs.PurgeWork: func(ctx context.Context, key string, now time.Time) error {
				return p.Purger.Purge(ctx, key, now)
			},
		})
	p.Clock = r.runner
	r.engine = runs.New(r.faults, p, r.runner.Wake)
	p.Runs, r.parts = r.engine, p
}

func (r *rig) restart(t failer) {
	t.Helper()
	r.engine.Close()
	r.start(t)
}

func (r *rig) close() {
	r.engine.Close()
	_ = r.store.Close() // a temporary store
}

func (r *rig) log(t failer, run store.Run) []store.RunEvent {
	t.Helper()
	log, err := r.engine.Events(r.ctx, run, -1)
	if err != nil {
		t.Fatalf("read the log of %s: %v", run.ID, err)
	}
	return log
}

func lines(log []store.RunEvent) []line {
	out := make([]line, 0, len(log))
	for _, e := range log {
		out = append(out, line{e.Type, e.Node})
	}
	return out
}

// forgetful is a store whose claims are one claimer's: those of a process that died are gone in earnest, and the store
// here stays open.
type forgetful struct{ store.Store }

func (f forgetful) ClaimWork(ctx context.Context, c store.Claim) (store.Work, bool, error) {
	c.By = "whichever process is alive"
	return f.Store.ClaimWork(ctx, c)
}

// seeded implements parts.Workflows over any list.
type seeded []workflows.Workflow

func (s seeded) List() []string { return nil }

func (s seeded) Find(id string) (workflows.Workflow, bool) {
	i := slices.IndexFunc(s, func(w workflows.Workflow) bool { return w.ID == id })
	if i < 0 {
		return workflows.Workflow{}, false
	}
	return s[i], true
}

func (s seeded) Document(string) ([]byte, bool) { return nil, false }

var errCrash = errors.New("the process died")

// faults is a store, and a process, that die at a moment counted from now: before a commit, after one, before a node is
// done or after it. Nothing works any more once it has died.
type faults struct {
	store.Store
	left int // moments until it dies, 0 for never
	dead bool
}

func (f *faults) in(moments int) { f.left = moments }

func (f *faults) crashed() bool { return f.dead }

func (f *faults) moment() error {
	if f.left > 0 {
		f.left--
		f.dead = f.dead || f.left == 0
	}
	if f.dead {
		return errCrash
	}
	return nil
}

func (f *faults) Write(ctx context.Context, write func(store.Tx) error) error {
	if err := f.moment(); err != nil {
		return err
	}
	if err := f.Store.Write(ctx, write); err != nil {
		return err
	}
	return f.moment()
}

type brittle struct {
	parts.Nodes
	faults *faults
}

func (b brittle) Do(ctx context.Context, a parts.Attempt) (*parts.RunError, error) {
	if err := b.faults.moment(); err != nil {
		return nil, err
	}
	failure, err := b.Nodes.Do(ctx, a)
	if crash := b.faults.moment(); crash != nil {
		return nil, crash
	}
	return failure, err
}

func isProblem(err error, status int, code string) bool {
	var p *parts.Problem
	return errors.As(err, &p) && p.Status == status && p.Code == code
}

func encode(v any) json.RawMessage {
	b, err := json.Marshal(v)
	if err != nil {
		panic(err) // the tests encode what always encodes
	}
	return b
}
