package defects

import (
	"context"
	"slices"
	"sync"

	"github.com/wopwitness/wopwitness/mockhost/parts"
	"github.com/wopwitness/wopwitness/mockhost/store"
)

// instanceDefects keep in one process what belongs into the store, so that a restart, or another instance, doesn't know
// of it (RFC 0250 §B, RFC 0053 §C.1).
func instanceDefects() []Defect {
	d := func(name, says string, prepare func() func(*parts.Parts), convicts ...string) Defect {
		return Defect{Info{Name: name, Says: says, RFC: "0250", Convicts: convicts}, prepare}
	}
	return []Defect{
		// Where each instance has a process of its own, one that nothing was emitted on replays nothing either.
		d("last-sequence-unread", "doesn't read the last sequence at start: until the first new event a cursor's backlog is empty",
			lastSequenceUnread, "0250.restart").apart("0250.other-instance"),
		d("cursors-of-this-process", "knows as cursors the ids that were emitted since its process started, and refuses the ones from before",
			cursorsOfThisProcess, "0250.restart").apart("0250.other-instance"),
		deadLetterWith("sink-in-memory", "keeps the sink's entries in the memory of the process that made the run", sinkInMemory, legDurable).apart(legDeadLetterElsewhere),
		deadLetterWith("event-in-memory", "keeps dead-letter events in the memory of its process, and the rest of a run's log in its store",
			eventInMemory, legDurable).apart(legDeadLetterElsewhere),
		deadLetterWith("runs-in-memory", "loses the runs that had ended when its process ends", runsInMemory, legDurable).apart(legDeadLetterElsewhere),
	}
}

const legDurable = "0053.exhaustion.durable"

// noted is names that one process has seen come into being.
type noted struct {
	mu    sync.Mutex
	names map[string]bool
}

func newNoted() *noted { return &noted{names: map[string]bool{}} }

func (r *noted) add(name string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.names[name] = true
}

func (r *noted) has(name string) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.names[name]
}

// take says whether the name was noted, and forgets it.
func (r *noted) take(name string) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	was := r.names[name]
	delete(r.names, name)
	return was
}

func lastSequenceUnread() func(*parts.Parts) {
	emitted := newNoted() // tenants
	return func(p *parts.Parts) {
		throughStreams(p, func(pr parts.Principal, s parts.Start) passage {
			if emitted.has(pr.Tenant) {
				return nil
			}
			return onlyBacklog(s, func(*parts.Frame) []*parts.Frame { return nil })
		})
		appended(p, func(pr parts.Principal, e store.Event) {
			if e.Durable() {
				emitted.add(pr.Tenant)
			}
		})
	}
}

func cursorsOfThisProcess() func(*parts.Parts) {
	own := &ownEvents{ids: map[string]bool{}}
	return func(p *parts.Parts) {
		p.Log = &foundLog{Log: &ownLog{Log: p.Log, own: own}, own: own}
	}
}

func sinkInMemory() func(*parts.Parts) {
	made := newNoted()
	return func(p *parts.Parts) { sinkOf(p, made) }
}

// sinkOf shows in the sink the runs that were seen being made, and no other.
func sinkOf(p *parts.Parts, made *noted) {
	right := p.Sink
	p.Runs = memoryRuns{p.Runs, made, nil}
	p.Sink = sink{right, nil, func(ctx context.Context, pr parts.Principal, after string, limit int) ([]store.DeadLetter, error) {
		found, err := right.List(ctx, pr, after, limit)
		return slices.DeleteFunc(found, func(d store.DeadLetter) bool { return !made.has(d.Run) }), err
	}}
}

// memoryRuns is runs of which a part is in the memory of the process that made them.
type memoryRuns struct {
	parts.Runs
	made  *noted
	event func(e store.RunEvent) bool // in memory
}

func (m memoryRuns) Create(ctx context.Context, p parts.Principal, workflow string, o parts.RunOptions, made parts.Made) (store.Run, error) {
	r, err := m.Runs.Create(ctx, p, workflow, o, made)
	if err == nil {
		m.made.add(r.ID)
	}
	return r, err
}

func (m memoryRuns) Fork(ctx context.Context, source store.Run, f parts.ForkRequest, made parts.Made) (store.Run, error) {
	r, err := m.Runs.Fork(ctx, source, f, made)
	if err == nil {
		m.made.add(r.ID)
	}
	return r, err
}

func (m memoryRuns) Events(ctx context.Context, r store.Run, after int64) ([]store.RunEvent, error) {
	found, err := m.Runs.Events(ctx, r, after)
	if m.made.has(r.ID) || m.event == nil {
		return found, err
	}
	return slices.DeleteFunc(found, m.event), err
}

func eventInMemory() func(*parts.Parts) {
	made := newNoted()
	return func(p *parts.Parts) {
		p.Runs = memoryRuns{p.Runs, made, func(e store.RunEvent) bool { return e.Type == parts.RunDeadLettered }}
	}
}

// foundRuns finds the runs of its own process alone.
type foundRuns struct{ memoryRuns }

func (f foundRuns) Find(ctx context.Context, p parts.Principal, id string) (store.Run, bool, error) {
	if !f.made.has(id) {
		return store.Run{}, false, nil
	}
	return f.Runs.Find(ctx, p, id)
}

func runsInMemory() func(*parts.Parts) {
	made := newNoted()
	return func(p *parts.Parts) { p.Runs = foundRuns{memoryRuns{p.Runs, made, nil}} }
}
