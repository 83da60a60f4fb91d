package defects

import (
	"context"
	"sync"
	"time"

	"github.com/wopwitness/wopwitness/mockhost/parts"
	"github.com/wopwitness/wopwitness/mockhost/store"
)

// handoffDefects lose or repeat events where the backlog ends, or where the hub's own memory does (RFC 0250 §B).
func handoffDefects() []Defect {
	d := func(name, says string, convicts []string, apply func(*parts.Parts)) Defect {
		return Defect{Info{Name: name, Says: says, RFC: "0250", Convicts: convicts}, wraps(apply)}
	}
	volume := []string{"0250.volume"}
	return []Defect{
		d("handoff-gap", "reads the backlog first and listens for live events afterwards, losing what is committed in between",
			[]string{"0250.handoff"}, handoffGap).may("0250.bounded-stream"),
		d("handoff-duplicate", "listens for live events first and then reads a backlog that has them too",
			[]string{"0250.handoff"}, handoffDuplicate).may("0250.bounded-stream"),
		d("replay-queue-bounded", "puts the backlog into the subscriber's queue of 1,000 before anyone reads it, and drops the rest",
			volume, replayQueueBounded),
		d("ring-of-a-thousand", "replays from the newest 1,000 events; an older cursor silently begins with the oldest of those",
			volume, ringOfAThousand),
		d("cursor-search-capped", "looks for the cursor among the newest 1,000 events only, and refuses one that is there behind them",
			volume, cursorSearchCapped),
		// It is wrong only once a tenant's log is long, so the legs after the one that makes it long convict it as well.
		d("cursor-search-from-oldest", "looks for the cursor from the log's beginning and gives up after 1,000 events: an id behind them is unknown, though it is there",
			[]string{"0250.volume", "0250.bounded-stream", "0250.other-instance", "0250.expired",
				"0250.unwatched", "0250.workspace-backlog", "0250.restart"}, cursorSearchFromOldest),
		d("sequence-before-commit", "gives out a sequence before the commit; what fills the replay passes the gap, and what commits behind it is never replayed",
			volume, sequenceBeforeCommit).apart(),
		d("one-process-ring", "keeps events in the memory of the process that emitted them; another process knows neither them nor their ids",
			[]string{"0250.other-instance", "0250.restart"}, oneProcessRing).silent().apart(),
		d("peer-live-deaf", "replays what another process emitted, but doesn't hear of it while a stream is open",
			[]string{"0250.other-instance"}, peerLiveDeaf).silent().apart(),
		d("oversize-not-notified", "passes events on in notifications of 8,000 bytes, and drops a larger one from open streams",
			[]string{"0250.oversize"}, oversizeNotNotified).apart(),
		d("oversize-not-stored", "leaves an event of more than 8,000 bytes out of replay",
			[]string{"0250.oversize"}, oversizeNotStored).apart(),
		d("bounded-stream-forgets", "ends each stream after a while, and starts the next one live although it names the last id",
			[]string{"0250.bounded-stream"}, boundedStreamForgets),
	}
}

// registering is how long these hosts take between reading the backlog and listening, as a query of a busy database does.
const registering = 60 * time.Millisecond

// settleLog opens a stream only after a pause, and tells its passage what was committed meanwhile.
type settleLog struct {
	parts.Log
	pass func(s parts.Start, listening int64) passage
}

func (l *settleLog) Subscribe(ctx context.Context, pr parts.Principal, s parts.Start) (parts.Subscription, error) {
	if !s.Resumed {
		return l.Log.Subscribe(ctx, pr, s)
	}
	select {
	case <-wall().After(registering):
	case <-ctx.Done():
		return nil, ctx.Err()
	}
	listening, err := l.Head(ctx, pr)
	if err != nil {
		return nil, err
	}
	sub, err := l.Log.Subscribe(ctx, pr, s)
	if err != nil {
		return nil, err
	}
	return &passing{Subscription: sub, pass: l.pass(s, listening)}, nil
}

// between reports whether a frame was committed while the stream was being registered.
func between(f *parts.Frame, s parts.Start, listening int64) bool {
	return f.Event.Seq > s.Head && f.Event.Seq <= listening
}

func handoffGap(p *parts.Parts) {
	p.Log = &settleLog{Log: p.Log, pass: func(s parts.Start, listening int64) passage {
		return func(frames []*parts.Frame) []*parts.Frame {
			return without(frames, func(f *parts.Frame) bool { return between(f, s, listening) })
		}
	}}
}

func handoffDuplicate(p *parts.Parts) {
	p.Log = &settleLog{Log: p.Log, pass: func(s parts.Start, listening int64) passage {
		return func(frames []*parts.Frame) []*parts.Frame {
			var out []*parts.Frame
			for _, f := range frames {
				out = append(out, f)
				if between(f, s, listening) {
					out = append(out, f)
				}
			}
			return out
		}
	}}
}

func replayQueueBounded(p *parts.Parts) {
	throughStreams(p, func(_ parts.Principal, s parts.Start) passage {
		sent := 0
		return onlyBacklog(s, func(f *parts.Frame) []*parts.Frame {
			if sent++; sent > 1000 {
				return nil
			}
			return []*parts.Frame{f}
		})
	})
}

func ringOfAThousand(p *parts.Parts) {
	resumes(p, func(right parts.Resumer) resumer {
		return func(ctx context.Context, pr parts.Principal, r parts.StreamRequest) (parts.Start, error) {
			s, err := right.Start(ctx, pr, r)
			s.After = max(s.After, s.Head-1000)
			return s, err
		}
	})
}

func cursorSearchCapped(p *parts.Parts) {
	resumes(p, func(right parts.Resumer) resumer {
		return func(ctx context.Context, pr parts.Principal, r parts.StreamRequest) (parts.Start, error) {
			s, err := right.Start(ctx, pr, r)
			if err == nil && r.Strict && s.Head-s.After > 1000 {
				return parts.Start{}, parts.ErrCursorRefused
			}
			return s, err
		}
	})
}

func cursorSearchFromOldest(p *parts.Parts) {
	resumes(p, func(right parts.Resumer) resumer {
		return func(ctx context.Context, pr parts.Principal, r parts.StreamRequest) (parts.Start, error) {
			s, err := right.Start(ctx, pr, r)
			switch {
			case err != nil || !s.Resumed || s.After <= 1000:
				return s, err
			case r.Strict:
				return parts.Start{}, parts.ErrCursorRefused
			}
			return parts.Start{After: s.Head, Head: s.Head}, nil
		}
	})
}

// sequenceBeforeCommit leaves one of each two events that are being committed at once out of replay: the other one was
// read first. Open streams were told of both. Now and then a commit takes its time, so that others are made meanwhile however
// the machine shares out its processors.
func sequenceBeforeCommit(p *parts.Parts) {
	log := &gapLog{Log: p.Log, committing: map[string]int{}, passed: map[string]bool{}}
	p.Log = log
	throughStreams(p, func(_ parts.Principal, s parts.Start) passage {
		return onlyBacklog(s, func(f *parts.Frame) []*parts.Frame {
			if log.wasPassed(f.Event.ID) {
				return nil
			}
			return []*parts.Frame{f}
		})
	})
}

type gapLog struct {
	parts.Log
	mu         sync.Mutex
	committing map[string]int
	passed     map[string]bool
	appends    int
}

// slowCommit is how long one commit of slowEvery takes.
const (
	slowCommit = 20 * time.Millisecond
	slowEvery  = 50
)

func (l *gapLog) Append(ctx context.Context, pr parts.Principal, d parts.Draft, also func(store.Tx, store.Event) error) (store.Event, error) {
	if d.Delivery != parts.Durable {
		return l.Log.Append(ctx, pr, d, also)
	}
	l.mu.Lock()
	l.committing[pr.Tenant]++
	company := l.committing[pr.Tenant] > 1
	l.appends++
	slow := l.appends%slowEvery == 0
	l.mu.Unlock()
	if slow {
		<-wall().After(slowCommit)
	}
	e, err := l.Log.Append(ctx, pr, d, func(tx store.Tx, e store.Event) error {
		if company && e.Seq%2 == 0 {
			l.mu.Lock()
			l.passed[e.ID] = true
			l.mu.Unlock()
		}
		if also != nil {
			return also(tx, e)
		}
		return nil
	})
	l.mu.Lock()
	l.committing[pr.Tenant]--
	l.mu.Unlock()
	return e, err
}

func (l *gapLog) wasPassed(id string) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.passed[id]
}

// notification is the size of what these hosts can pass on.
const notification = 8000

func oversizeNotNotified(p *parts.Parts) {
	throughStreams(p, func(_ parts.Principal, s parts.Start) passage {
		return func(frames []*parts.Frame) []*parts.Frame {
			return without(frames, func(f *parts.Frame) bool {
				return f.Event.Seq > s.Head && len(f.Event.Envelope) > notification
			})
		}
	})
}

func oversizeNotStored(p *parts.Parts) {
	throughStreams(p, func(_ parts.Principal, s parts.Start) passage {
		return onlyBacklog(s, func(f *parts.Frame) []*parts.Frame {
			if len(f.Event.Envelope) > notification {
				return nil
			}
			return []*parts.Frame{f}
		})
	})
}

// shortLife is a bound that a test can wait for.
const shortLife = 400 * time.Millisecond

type lifetime time.Duration

func (l lifetime) Bound(s parts.StreamRequest) time.Duration {
	if !s.Resumable {
		return 0
	}
	return time.Duration(l)
}

func boundedStreamForgets(p *parts.Parts) {
	p.Lifetime = lifetime(shortLife)
	resumes(p, func(right parts.Resumer) resumer {
		return func(ctx context.Context, pr parts.Principal, r parts.StreamRequest) (parts.Start, error) {
			s, err := right.Start(ctx, pr, r)
			if err == nil && r.Resumable {
				s.After = s.Head
			}
			return s, err
		}
	})
}
