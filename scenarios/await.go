package scenarios

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/wopwitness/wopwitness/seams/sse"
	"github.com/wopwitness/wopwitness/witness/hostevents"
	"github.com/wopwitness/wopwitness/witness/observe"
	"github.com/wopwitness/wopwitness/witness/observe/eventstream"
)

type frame = eventstream.Frame

// Shows is true once the frames hold all the events. It remembers what it has read, so it is made anew for each stream;
// frames are only ever added to one.
func Shows(ids ...string) func([]frame) bool {
	missing := make(map[string]bool, len(ids))
	for _, id := range ids {
		missing[id] = true
	}
	read := 0
	return func(frames []frame) bool {
		for ; read < len(frames) && len(missing) > 0; read++ {
			delete(missing, hostevents.EventOf(frames[read]))
		}
		return len(missing) == 0
	}
}

// Await waits until the condition holds on the subscription or the event time-out passes, and says which. Where it
// doesn't hold soon, fillers of the credential's tenant push what a buffering proxy may be holding back.
func (d *Drive) Await(ctx context.Context, s *sse.Subscription, credential string, until func([]frame) bool) bool {
	deadline := time.Now().Add(d.run.config.eventTimeout())
	return d.soon(ctx, s, deadline, until) || d.late(ctx, s, credential, deadline, until)
}

// soon is the first part of Await: the wait for a host that nothing slows down.
func (d *Drive) soon(ctx context.Context, s *sse.Subscription, deadline time.Time, until func([]frame) bool) bool {
	return s.Wait(ctx, min(d.patience(), time.Until(deadline)), until)
}

// late is the rest of it.
func (d *Drive) late(ctx context.Context, s *sse.Subscription, credential string, deadline time.Time, until func([]frame) bool) bool {
	return d.push(ctx, s, credential, deadline, until) || s.Wait(ctx, time.Until(deadline), until)
}

// Settle reads the stream until it shows the sentinel, and then for the quiet window. It is false where the sentinel
// didn't come in time; what is missing then is for the judge to say.
func (d *Drive) Settle(ctx context.Context, s *sse.Subscription, credential, sentinel string) bool {
	seen := d.Await(ctx, s, credential, Shows(sentinel))
	if seen {
		d.Linger(ctx, s, d.Quiet())
	}
	return seen
}

// Linger reads the stream for the given time, to catch what comes late.
func (d *Drive) Linger(ctx context.Context, s *sse.Subscription, window time.Duration) {
	s.Wait(ctx, window, func([]frame) bool { return false })
}

// patience is how long a silent stream is given before fillers are tried.
func (d *Drive) patience() time.Duration {
	floor := 300 * time.Millisecond
	if !d.run.host.Loopback {
		floor = time.Second
	}
	return max(floor, 3*d.run.pace.slowest())
}

// pace is what the run has learnt of how long the host takes to deliver.
type pace struct {
	mu  sync.Mutex
	max time.Duration
}

// learn takes in how long an event took to arrive, unless fillers had to push it: then the time is a proxy's, and the
// suite's own patience before it pushed.
func (d *Drive) learn(e observe.Emit, fillersBefore int64, frames []frame) {
	if d.fillers.Load() == fillersBefore {
		d.run.pace.saw(e, frames)
	}
}

// saw learns from an event that arrived. It is among the last frames: it was waited for.
func (p *pace) saw(e observe.Emit, frames []frame) {
	for _, f := range slices.Backward(frames) {
		if hostevents.EventOf(f) == e.EventID {
			p.mu.Lock()
			p.max = max(p.max, (f.At - e.SentAt()).Duration())
			p.mu.Unlock()
			return
		}
	}
}

func (p *pace) slowest() time.Duration {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.max
}

// arrived tells what a stream had shown when a deadline passed.
func arrived(s *sse.Subscription) string {
	frames := s.Frames()
	if len(frames) == 0 {
		return fmt.Sprintf("it showed %d bytes and no complete frame", s.BytesSeen())
	}
	last := frames[len(frames)-1]
	return fmt.Sprintf("it showed %d frames, the last of type %q", len(frames), last.Event)
}

// sights is every kind of host event that any stream of the run has shown, for the leg that asks whether all are listed.
type sights struct {
	mu   sync.Mutex
	seen map[hostevents.Sight]bool
}

// list gives them in a fixed order.
func (s *sights) list() []hostevents.Sight {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.SortedFunc(maps.Keys(s.seen), func(a, b hostevents.Sight) int {
		return cmp.Or(strings.Compare(a.Type, b.Type), strings.Compare(a.Delivery, b.Delivery), strings.Compare(a.Event, b.Event))
	})
}

func (s *sights) add(frames []frame) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.seen == nil {
		s.seen = map[hostevents.Sight]bool{}
	}
	for _, f := range frames {
		if sight, ok := hostevents.SightOf(f); ok {
			s.seen[sight] = true
		}
	}
}
