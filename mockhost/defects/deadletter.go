package defects

import (
	"context"
	"slices"
	"sync"

	"github.com/wopwitness/wopwitness/mockhost/parts"
	"github.com/wopwitness/wopwitness/mockhost/store"
)

// deadLetterDefects are wrong about dead letters, forks of dead runs, their retention, or the sink (RFC 0053).
func deadLetterDefects() []Defect {
	return slices.Concat(deadLetterShapes(), deadLetterEvents(), deadLetterEnds(), deadLetterLeaks(), deadLetterForks(),
		deadLetterPurges(), deadLetterSinks(), deadLetterFades(), deadLetterAgains())
}

// The legs of RFC 0053, as its defects name them.
const (
	legAdvertisement = "0053.shape.advertisement"
	legRetentionDays = "0053.shape.retention-days"
	legEvent         = "0053.exhaustion.event"
	legAttempts      = "0053.exhaustion.attempts"
	legStatus        = "0053.exhaustion.status"
	legRetained      = "0053.exhaustion.retained"
	legNotEarly      = "0053.exhaustion.not-early"
	legRedacted      = "0053.exhaustion.redacted"
	legForkReplay    = "0053.fork.replay"
	legForkBranch    = "0053.fork.branch"
	legForkSource    = "0053.fork.source-unchanged"
	legForkTenant    = "0053.fork.tenant"
	legFloor         = "0053.retention.floor"
	legPurged        = "0053.retention.purged"
	legNoOracle      = "0053.retention.no-oracle"
	legNeighbour     = "0053.retention.neighbour"
	legInspectable   = "0053.sink.inspectable"
	legScoped        = "0053.sink.scoped"
)

// deadLetter is a defect of RFC 0053 without shared state.
func deadLetter(name, says string, apply func(*parts.Parts), convicts ...string) Defect {
	return deadLetterWith(name, says, wraps(apply), convicts...)
}

// deadLetterWith is a defect of RFC 0053 whose instances share what prepare makes.
func deadLetterWith(name, says string, prepare func() func(*parts.Parts), convicts ...string) Defect {
	return Defect{Info{Name: "deadletter-" + name, Says: says, RFC: "0053", Convicts: convicts}, prepare}
}

// members is a JSON object on its way to the wire.
type members = map[string]any

// runWire wraps how runs are shown; each function changes what the right host would have shown, or is nil.
type runWire struct {
	parts.RunWire
	snapshot func(major int, r store.Run, s parts.RunState, m members)
	event    func(major int, r store.Run, e store.RunEvent, m members)
	entry    func(major int, d store.DeadLetter, m members)
}

func (w runWire) Snapshot(major int, r store.Run, s parts.RunState) map[string]any {
	m := w.RunWire.Snapshot(major, r, s)
	if w.snapshot != nil {
		w.snapshot(major, r, s, m)
	}
	return m
}

func (w runWire) Event(major int, r store.Run, e store.RunEvent) map[string]any {
	m := w.RunWire.Event(major, r, e)
	if w.event != nil {
		w.event(major, r, e, m)
	}
	return m
}

func (w runWire) Entry(major int, d store.DeadLetter) map[string]any {
	m := w.RunWire.Entry(major, d)
	if w.entry != nil {
		w.entry(major, d, m)
	}
	return m
}

// showsSnapshots changes every snapshot of a run.
func showsSnapshots(p *parts.Parts, change func(major int, r store.Run, s parts.RunState, m members)) {
	p.RunWire = runWire{RunWire: p.RunWire, snapshot: change}
}

// showsLetters changes every dead-letter event, and its payload.
func showsLetters(p *parts.Parts, change func(major int, r store.Run, event, payload members)) {
	p.RunWire = runWire{RunWire: p.RunWire, event: func(major int, r store.Run, e store.RunEvent, m members) {
		if payload, ok := m["payload"].(members); ok && e.Type == parts.RunDeadLettered {
			change(major, r, m, payload)
		}
	}}
}

// showsEntries changes every entry of the sink.
func showsEntries(p *parts.Parts, change func(major int, d store.DeadLetter, m members)) {
	p.RunWire = runWire{RunWire: p.RunWire, entry: change}
}

// engine wraps the run engine; a nil function leaves the right one's answer.
type engine struct {
	parts.Runs
	create func(ctx context.Context, p parts.Principal, workflow string, o parts.RunOptions, made parts.Made) (store.Run, error)
	state  func(ctx context.Context, r store.Run) (parts.RunState, error)
	events func(ctx context.Context, r store.Run, after int64) ([]store.RunEvent, error)
	fork   func(ctx context.Context, source store.Run, f parts.ForkRequest, made parts.Made) (store.Run, error)
}

func (e engine) Create(ctx context.Context, p parts.Principal, workflow string, o parts.RunOptions, made parts.Made) (store.Run, error) {
	if e.create != nil {
		return e.create(ctx, p, workflow, o, made)
	}
	return e.Runs.Create(ctx, p, workflow, o, made)
}

func (e engine) State(ctx context.Context, r store.Run) (parts.RunState, error) {
	if e.state != nil {
		return e.state(ctx, r)
	}
	return e.Runs.State(ctx, r)
}

func (e engine) Events(ctx context.Context, r store.Run, after int64) ([]store.RunEvent, error) {
	if e.events != nil {
		return e.events(ctx, r, after)
	}
	return e.Runs.Events(ctx, r, after)
}

func (e engine) Fork(ctx context.Context, source store.Run, f parts.ForkRequest, made parts.Made) (store.Run, error) {
	if e.fork != nil {
		return e.fork(ctx, source, f, made)
	}
	return e.Runs.Fork(ctx, source, f, made)
}

// shownLog makes what is shown of a log from the whole of it.
func shownLog(p *parts.Parts, change func(r store.Run, log []store.RunEvent) []store.RunEvent) {
	right := p.Runs
	p.Runs = engine{Runs: right, events: func(ctx context.Context, r store.Run, after int64) ([]store.RunEvent, error) {
		log, err := right.Events(ctx, r, -1)
		if err != nil {
			return nil, err
		}
		return slices.DeleteFunc(change(r, log), func(e store.RunEvent) bool { return e.Seq <= after }), nil
	}}
}

// letters is a parts.DeadLetters that is a function.
type letters func(e parts.NodeEnd) (parts.Letter, bool)

func (f letters) Letter(e parts.NodeEnd) (parts.Letter, bool) { return f(e) }

// changesLetters changes what a dead letter says, in the log and in the sink.
func changesLetters(p *parts.Parts, change func(e parts.NodeEnd, l *parts.Letter)) {
	right := p.DeadLetters
	p.DeadLetters = letters(func(e parts.NodeEnd) (parts.Letter, bool) {
		l, ok := right.Letter(e)
		if ok {
			change(e, &l)
		}
		return l, ok
	})
}

// finder is a parts.RunFinder that is a function.
type finder func(ctx context.Context, p parts.Principal, major int, door, segment string) (store.Run, error)

func (f finder) Named(ctx context.Context, p parts.Principal, major int, door, segment string) (store.Run, error) {
	return f(ctx, p, major, door, segment)
}

// finds wraps how a run is found by its path.
func finds(p *parts.Parts, f func(right parts.RunFinder) finder) { p.RunFinder = f(p.RunFinder) }

// ledger is a defect's own memory of runs, by their opaque ids.
type ledger struct {
	mu   sync.Mutex
	runs map[string]remembered
}

// remembered is a run, and its log and state when it was put down.
type remembered struct {
	run   store.Run
	log   []store.RunEvent
	state parts.RunState
}

func newLedger() *ledger { return &ledger{runs: map[string]remembered{}} }

func (l *ledger) put(r remembered) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.runs[r.run.ID] = r
}

func (l *ledger) has(id string) bool {
	_, ok := l.get(id)
	return ok
}

func (l *ledger) get(id string) (remembered, bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	r, ok := l.runs[id]
	return r, ok
}

// named is the run that a segment of a path ends in: a projected, a tenant-bound or an opaque id.
func (l *ledger) named(segment string) (remembered, bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	for id, r := range l.runs {
		if n := len(segment) - len(id); n >= 0 && segment[n:] == id {
			return r, true
		}
	}
	return remembered{}, false
}
