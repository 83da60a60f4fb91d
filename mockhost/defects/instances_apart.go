package defects

import (
	"context"
	"crypto/rand"
	"sync"

	"github.com/wopwitness/wopwitness/mockhost/parts"
	"github.com/wopwitness/wopwitness/mockhost/store"
)

// The legs that ask two instances.
const (
	legTriggerElsewhere    = "0241.trigger.other-instance"
	legEphemeralElsewhere  = "0236.ephemeral.other-instance"
	legOtherInstance       = "0250.other-instance"
	legLargeElsewhere      = "0250.oversize.other-instance"
	legDeadLetterElsewhere = "0053.exhaustion.other-instance"
	legPurgedElsewhere     = "0053.retention.other-instance"
)

// apartDefects are of hosts whose instances each know something that the others don't, while all of them are up. What
// one of them alone does is right.
func apartDefects() []Defect {
	d := func(rfc, name, says string, apply func(*parts.Parts), convicts ...string) Defect {
		return Defect{Info{Name: name, Says: says, RFC: rfc, Convicts: convicts}, wraps(apply)}.apart()
	}
	return []Defect{
		d("0250", "notification-carries-event", "sends its other instances the event itself in a notification of 8,000 bytes at most; a larger one their open streams never show",
			notificationCarriesEvent, legLargeElsewhere),
		d("0250", "listener-without-catching-up", "listens to its other instances by a connection that is replaced after each notification, and never looks for what was committed meanwhile",
			listenerWithoutCatchingUp, legOtherInstance).silent().may(legLargeElsewhere),
		d("0241", "idempotency-of-one-instance", "knows an Idempotency-Key on the instance that answered it, and carries the request out again on another",
			idempotencyOfOneInstance, legTriggerElsewhere),
		d("0236", "ephemerals-of-one-instance", "sends an ephemeral event to the subscribers of the instance that it came from, and to no other's",
			ephemeralsOfOneInstance, legEphemeralElsewhere),
		// A process that took the instance's place knows nothing of what it made.
		deadLetter("runs-of-one-instance", "shows a run on the instance that made it, and on no other", func(p *parts.Parts) {
			p.Runs = foundRuns{memoryRuns{p.Runs, newNoted(), nil}}
		}, legDurable, legDeadLetterElsewhere).silent().apart(),
		deadLetter("sink-of-one-instance", "shows in the sink the runs of the instance that is asked", func(p *parts.Parts) {
			sinkOf(p, newNoted())
		}, legDurable, legDeadLetterElsewhere).apart(),
		deadLetter("fork-of-one-instance", "forks a dead run on the instance that made it, and says on another that there is no such run",
			func(p *parts.Parts) { p.Runs = ownForks{memoryRuns{p.Runs, newNoted(), nil}} }, legDurable, legDeadLetterElsewhere).apart(),
		deadLetter("purged-run-cached", "keeps what it has read of another instance's runs, and shows it when they are purged", func(p *parts.Parts) {
			p.Runs = &cachingRuns{memoryRuns: memoryRuns{p.Runs, newNoted(), nil}, kept: map[string]cachedRun{}}
		}, legPurgedElsewhere).apart(),
	}
}

// liveElsewhere says whether a frame is of the live durable ones of a stream, and another instance emitted it.
func liveElsewhere(own *ownEvents, s parts.Start, f *parts.Frame) bool {
	return f.Event.Durable() && f.Event.Seq > s.Head && !own.has(f.Event.ID)
}

func notificationCarriesEvent(p *parts.Parts) {
	own := &ownEvents{ids: map[string]bool{}}
	p.Log = &ownLog{Log: p.Log, own: own}
	throughStreams(p, func(_ parts.Principal, s parts.Start) passage {
		return func(frames []*parts.Frame) []*parts.Frame {
			return without(frames, func(f *parts.Frame) bool {
				return liveElsewhere(own, s, f) && len(f.Event.Envelope) > notification
			})
		}
	})
}

// listenerWithoutCatchingUp misses every other event of the other instances on open streams: one is heard, and the next
// is committed while the connection is being replaced.
func listenerWithoutCatchingUp(p *parts.Parts) {
	own := &ownEvents{ids: map[string]bool{}}
	p.Log = &ownLog{Log: p.Log, own: own}
	var mu sync.Mutex
	missed := map[string]bool{} // by the event's id; all streams of the instance hear, or miss, the same
	missing := false            // the connection is being replaced
	throughStreams(p, func(_ parts.Principal, s parts.Start) passage {
		return func(frames []*parts.Frame) []*parts.Frame {
			mu.Lock()
			defer mu.Unlock()
			return without(frames, func(f *parts.Frame) bool {
				if !liveElsewhere(own, s, f) {
					return false
				}
				if _, known := missed[f.Event.ID]; !known {
					missed[f.Event.ID], missing = missing, !missing
				}
				return missed[f.Event.ID]
			})
		}
	})
}

func idempotencyOfOneInstance(p *parts.Parts) {
	right, self := p.Idempotency, "@"+rand.Text()[:8]
	p.Idempotency = idempotency(func(ctx context.Context, pr parts.Principal, r parts.Request, effect func(context.Context, parts.Keep) (parts.Answer, error)) (parts.Answer, bool, error) {
		if r.Given && r.Key != "" && len(r.Key) < 200 { // the right host says what is wrong with another one
			r.Key += self
		}
		return right.Run(ctx, pr, r, effect)
	})
}

// ownEphemerals notes what was published here, before anyone hears of it.
type ownEphemerals struct {
	parts.Ephemerals
	own *noted
}

func (e ownEphemerals) Publish(ctx context.Context, event store.Event) error {
	e.own.add(event.ID)
	return e.Ephemerals.Publish(ctx, event)
}

func ephemeralsOfOneInstance(p *parts.Parts) {
	own := newNoted()
	p.Ephemerals = ownEphemerals{p.Ephemerals, own}
	throughStreams(p, func(parts.Principal, parts.Start) passage {
		return func(frames []*parts.Frame) []*parts.Frame {
			return without(frames, func(f *parts.Frame) bool { return !f.Event.Durable() && !own.has(f.Event.ID) })
		}
	})
}

// ownForks forks the runs of its own instance alone.
type ownForks struct{ memoryRuns }

func (f ownForks) Fork(ctx context.Context, source store.Run, r parts.ForkRequest, made parts.Made) (store.Run, error) {
	if !f.made.has(source.ID) {
		return store.Run{}, parts.NoRun()
	}
	return f.memoryRuns.Fork(ctx, source, r, made)
}

// cachingRuns keeps what it has read of runs that another instance made, and never lets go of it.
type cachingRuns struct {
	memoryRuns
	mu   sync.Mutex
	kept map[string]cachedRun
}

type cachedRun struct {
	run   store.Run
	state parts.RunState
	by    parts.Principal
}

func (c *cachingRuns) Find(ctx context.Context, p parts.Principal, id string) (store.Run, bool, error) {
	r, ok, err := c.memoryRuns.Find(ctx, p, id)
	if err != nil || c.made.has(id) {
		return r, ok, err
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if !ok {
		k, had := c.kept[id]
		return k.run, had && k.by.Tenant == p.Tenant && k.by.Workspace == p.Workspace, nil
	}
	state, err := c.memoryRuns.State(ctx, r)
	if err == nil {
		c.kept[id] = cachedRun{r, state, p}
	}
	return r, true, err
}

func (c *cachingRuns) State(ctx context.Context, r store.Run) (parts.RunState, error) {
	if log, err := c.memoryRuns.Events(ctx, r, -1); err != nil || len(log) > 0 {
		return c.memoryRuns.State(ctx, r)
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.kept[r.ID].state, nil
}

func (c *cachingRuns) Fork(ctx context.Context, source store.Run, r parts.ForkRequest, made parts.Made) (store.Run, error) {
	if log, err := c.memoryRuns.Events(ctx, source, -1); err == nil && len(log) == 0 {
		return store.Run{}, parts.NoRun()
	}
	return c.memoryRuns.Fork(ctx, source, r, made)
}
