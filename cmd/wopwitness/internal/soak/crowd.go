package soak

import (
	"context"
	"fmt"
	"hash/maphash"
	"math/rand/v2"
	"net/http"
	"sync"
	"sync/atomic"
	"time"
)

// Crowd is subscribers of a host that come, go, and come back where they were. Each remembers what it saw in eight bytes
// an event.
type Crowd struct {
	// Stay and Away bound, in real time, how long a subscriber reads and how long it is away between; each time is a random
	// one. Without Stay it reads until its stream breaks.
	Stay, Away time.Duration

	load      *Load
	transport *http.Transport
	seed      maphash.Seed
	followers []*follower
	last      map[string]*atomic.Pointer[string] // by key of the tenant; nil until the count
	gather    chan struct{}                      // closed when nobody is to go away any more
	reading   sync.WaitGroup
	stop      context.CancelFunc
	open      atomic.Int64
	joined    atomic.Int64
	seen      atomic.Int64

	mu    sync.Mutex
	wrong error
}

type follower struct {
	Subscriber
	seen []uint64
	open bool
}

// Crowd makes n subscribers, who begin behind the first event of each tenant in turn: its id by its key.
func (l *Load) Crowd(n int, keys []string, first map[string]string) *Crowd {
	c := &Crowd{
		load: l, seed: maphash.MakeSeed(), gather: make(chan struct{}), last: map[string]*atomic.Pointer[string]{},
		transport: &http.Transport{DisableKeepAlives: true, DisableCompression: true},
	}
	for _, key := range keys {
		c.last[key] = &atomic.Pointer[string]{}
	}
	for i := range n {
		key := keys[i%len(keys)]
		f := &follower{Subscriber: Subscriber{Key: key, Cursor: first[key]}}
		f.Opened = func() {
			f.open = true
			c.open.Add(1)
			c.joined.Add(1)
		}
		f.Event = func(id string) bool {
			f.seen = append(f.seen, maphash.String(c.seed, id))
			c.seen.Add(1)
			return !c.over(f)
		}
		c.followers = append(c.followers, f)
	}
	return c
}

// Open, Joined and Seen are how many subscribers there are now, how many streams were opened, and how many events came.
func (c *Crowd) Open() int   { return int(c.open.Load()) }
func (c *Crowd) Joined() int { return int(c.joined.Load()) }
func (c *Crowd) Seen() int   { return int(c.seen.Load()) }

// Start lets them come, until the count or the end of ctx.
func (c *Crowd) Start(ctx context.Context) {
	ctx, c.stop = context.WithCancel(ctx)
	for _, f := range c.followers {
		c.reading.Go(func() {
			for ctx.Err() == nil && !c.over(f) {
				if err := c.stay(ctx, f); err != nil {
					c.mu.Lock()
					c.wrong = err
					c.mu.Unlock()
					return
				}
				c.rest(ctx)
			}
		})
	}
}

func (c *Crowd) over(f *follower) bool {
	last := c.last[f.Key].Load()
	return last != nil && f.Cursor == *last
}

// stay reads one stream.
func (c *Crowd) stay(ctx context.Context, f *follower) error {
	ctx, leave := context.WithCancel(ctx)
	defer leave()
	select {
	case <-c.gather: // for the last time
	default:
		long := time.Duration(0)
		if c.Stay > 0 {
			long = rand.N(c.Stay)
		}
		left := make(chan struct{})
		defer func() { leave(); <-left }()
		go func() {
			defer close(left)
			defer leave()
			c.wait(ctx, long)
		}()
	}
	err := f.Read(ctx, c.transport, c.load.URL())
	if f.open {
		f.open = false
		c.open.Add(-1)
	}
	return err
}

func (c *Crowd) rest(ctx context.Context) {
	long := again
	if c.Away > 0 {
		long += rand.N(c.Away)
	}
	c.wait(ctx, long)
}

// wait returns after that long, or for 0 only when ctx ends or the crowd is gathered.
func (c *Crowd) wait(ctx context.Context, long time.Duration) {
	var over <-chan time.Time
	if long > 0 {
		over = time.After(long)
	}
	select {
	case <-ctx.Done():
	case <-c.gather:
	case <-over:
	}
}

// Seen is what the subscribers got, counted for each and added up. Missing events came never, repeated ones more than
// once; a follower is parted that has each event once and in another order than the log's.
type Seen struct {
	Subscribers, Events                int
	Missing, Repeated, Unknown, Parted int
}

// Wrong counts everything that isn't as it must be.
func (s Seen) Wrong() int { return s.Missing + s.Repeated + s.Unknown + s.Parted }

// String is for a test's log.
func (s Seen) String() string {
	return fmt.Sprintf("%d subscribers saw %d events (%d missing, %d repeated, %d unknown, %d in another order)",
		s.Subscribers, s.Events, s.Missing, s.Repeated, s.Unknown, s.Parted)
}

// Count waits for every subscriber to have the last event of its tenant's log, and compares what each saw with the log, by
// the key of the tenant. A subscriber that doesn't get so far within ctx has what it misses counted.
func (c *Crowd) Count(ctx context.Context, logs map[string][]string) (Seen, error) {
	for key, log := range logs {
		c.last[key].Store(&log[len(log)-1])
	}
	close(c.gather)
	done := make(chan struct{})
	go func() { c.reading.Wait(); close(done) }()
	select {
	case <-done:
	case <-ctx.Done():
		c.stop()
		<-done
	}
	c.stop()
	c.transport.CloseIdleConnections()
	want := map[string][]uint64{}
	for key, log := range logs {
		for _, id := range log {
			want[key] = append(want[key], maphash.String(c.seed, id))
		}
	}
	var s Seen
	for _, f := range c.followers {
		s.add(f.seen, want[f.Key])
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	return s, c.wrong
}

func (s *Seen) add(got, want []uint64) {
	s.Subscribers++
	s.Events += len(got)
	times := make(map[uint64]int, len(want))
	for _, id := range want {
		times[id] = 0
	}
	wrong := false
	for _, id := range got {
		n, known := times[id]
		switch {
		case !known:
			s.Unknown++
			wrong = true
			continue
		case n > 0:
			s.Repeated++
			wrong = true
		}
		times[id]++
	}
	for _, n := range times {
		if n == 0 {
			s.Missing++
			wrong = true
		}
	}
	for i := 0; !wrong && i < len(got); i++ {
		if got[i] != want[i] {
			s.Parted++
			break
		}
	}
}
