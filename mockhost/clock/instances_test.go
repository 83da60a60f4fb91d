package hostclock_test

import (
	"context"
	"log/slog"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/jonboulle/clockwork"

	"github.com/wopwitness/wopwitness/mockhost/clock"
	"github.com/wopwitness/wopwitness/mockhost/store"
)

// claims notes what was claimed, when and until when, as the claimer's clock has it.
type claims struct {
	store.Store
	mu   sync.Mutex
	made []store.Claim
}

func (c *claims) ClaimWork(ctx context.Context, claim store.Claim) (store.Work, bool, error) {
	w, ok, err := c.Store.ClaimWork(ctx, claim)
	if ok {
		c.mu.Lock()
		defer c.mu.Unlock()
		c.made = append(c.made, claim)
	}
	return w, ok, err
}

// TestAClaimIsDatedByTheInstantThatItsWorkIsDoneAt is about an instance that moves the clock by days: a claim that was
// dated before the move would be over before its work is begun, and another instance would do the work as well.
func TestAClaimIsDatedByTheInstantThatItsWorkIsDoneAt(t *testing.T) {
	b := newBench(t, hostclock.Manual)
	b.schedule("once", "late", 72*time.Hour)
	seen := &claims{Store: b.store}
	r := hostclock.NewRunner(b.clock, seen, hostclock.Manual, slog.New(slog.DiscardHandler), map[string]hostclock.Handler{
		"once": func(ctx context.Context, key string, _ time.Time) error {
			return b.put(ctx, store.Work{Kind: "once", Key: key})
		},
	})
	if _, err := r.Advance(t.Context(), 96*time.Hour); err != nil {
		t.Fatal(err)
	}
	if len(seen.made) != 1 || !seen.made[0].Now.Equal(began.Add(72*time.Hour)) || !seen.made[0].Until.After(began.Add(72*time.Hour)) {
		t.Errorf("claimed %+v, want one claim dated %s", seen.made, began.Add(72*time.Hour))
	}
}

// TestAdvancesOfTwoInstancesAddUp moves one clock from two instances at once, through work that is due on the way: each
// instant is stopped at once, by one of them, and no move is lost.
func TestAdvancesOfTwoInstancesAddUp(t *testing.T) {
	b := newBench(t, hostclock.Manual)
	const days, each = 5, 24 * time.Hour
	var mu sync.Mutex
	did := map[time.Duration]int{}
	instance := func() *hostclock.Runner {
		clock := hostclock.New(b.base, 0)
		return hostclock.NewRunner(clock, b.store, hostclock.Manual, slog.New(slog.DiscardHandler), map[string]hostclock.Handler{
			"hourly": func(ctx context.Context, key string, now time.Time) error {
				mu.Lock()
				did[now.Sub(began)]++
				mu.Unlock()
				return b.put(ctx, store.Work{Kind: "hourly", Key: key, Due: now.Add(time.Hour)})
			},
		})
	}
	b.schedule("hourly", "sweep", time.Hour)
	var wg sync.WaitGroup
	for _, r := range []*hostclock.Runner{instance(), instance()} {
		wg.Go(func() {
			for range days {
				if _, err := r.Advance(t.Context(), each); err != nil {
					t.Error(err)
				}
			}
		})
	}
	wg.Wait()
	if at, err := b.store.ClockOffset(t.Context()); err != nil || at != 2*days*each {
		t.Errorf("two instances moved the clock by %s each, and it stands at %s, %v", days*each, at, err)
	}
	for h := time.Hour; h <= 2*days*each; h += time.Hour {
		if did[h] != 1 {
			t.Errorf("the work due after %s was done at that instant %d times", h, did[h])
		}
	}
}

// TestTheClockStandsWhileAnotherInstanceWorks holds an advance until work that another instance has begun is done, so
// that what follows from it doesn't fall due in the past.
func TestTheClockStandsWhileAnotherInstanceWorks(t *testing.T) {
	b := newBench(t, hostclock.Manual)
	b.schedule("once", "held", 0)
	if _, ok, err := b.store.ClaimWork(t.Context(), store.Claim{By: "another", UpTo: began, Now: began, Until: began.Add(time.Second)}); !ok || err != nil {
		t.Fatal(ok, err)
	}
	clock := hostclock.New(clockwork.NewFakeClockAt(began), 0)
	r := hostclock.NewRunner(clock, b.store, hostclock.Manual, slog.New(slog.DiscardHandler), nil)
	ctx, cancel := context.WithTimeout(t.Context(), 200*time.Millisecond)
	defer cancel()
	if _, err := r.Advance(ctx, 48*time.Hour); err == nil || clock.Offset() != 0 {
		t.Errorf("the clock was moved to %s while work is being done, %v", clock.Offset(), err)
	}
	if err := b.put(t.Context(), store.Work{Kind: "once", Key: "held"}); err != nil {
		t.Fatal(err)
	}
	if _, err := r.Advance(t.Context(), 48*time.Hour); err != nil || clock.Offset() != 48*time.Hour {
		t.Errorf("it stands at %s, %v", clock.Offset(), err)
	}
}

// looks counts how often an instance has looked whether its clock was moved.
type looks struct {
	store.Store
	looked chan struct{}
}

func (l *looks) ClockOffset(ctx context.Context) (time.Duration, error) {
	offset, err := l.Store.ClockOffset(ctx)
	select {
	case l.looked <- struct{}{}:
	case <-ctx.Done():
	}
	return offset, err
}

// TestWhoMovesTheClockDoesWhatFallsDue has a second instance look for work while the first one moves the clock: it leaves the
// work to the first, which waits for its end, and takes over when that one has been silent for a while.
func TestWhoMovesTheClockDoesWhatFallsDue(t *testing.T) {
	b := newBench(t, hostclock.Manual)
	b.schedule("step", "one", time.Minute)
	b.schedule("step", "two", time.Minute) // due as well, and claimed by nobody, while the first does one
	seen := &looks{Store: b.store, looked: make(chan struct{})}
	others := make(chan string, 8)
	second := hostclock.NewRunner(hostclock.New(b.base, 0), seen, hostclock.Manual, slog.New(slog.DiscardHandler), map[string]hostclock.Handler{
		"step": func(ctx context.Context, key string, _ time.Time) error {
			others <- key
			return b.put(ctx, store.Work{Kind: "step", Key: key})
		},
	})
	var own []string
	first := hostclock.NewRunner(b.clock, b.store, hostclock.Manual, slog.New(slog.DiscardHandler), map[string]hostclock.Handler{
		"step": func(ctx context.Context, key string, _ time.Time) error {
			own = append(own, key)
			second.Wake()
			<-seen.looked // with the next look this one's outcome is known
			second.Wake()
			<-seen.looked
			return b.put(ctx, store.Work{Kind: "step", Key: key})
		},
	})
	second.Start(t.Context())
	<-seen.looked
	t.Cleanup(func() {
		go func() {
			for range seen.looked { //nolint:revive // whoever looks is let go on
			}
		}()
		second.Stop()
		close(seen.looked)
	})
	if _, err := first.Advance(t.Context(), 90*time.Second); err != nil {
		t.Fatal(err)
	}
	if len(own) != 2 || len(others) != 0 {
		t.Fatalf("the first did %v and the second %d, while the first moved the clock", own, len(others))
	}
	b.schedule("step", "late", 0)
	second.Wake()
	<-seen.looked
	second.Wake()
	<-seen.looked
	if len(others) != 0 {
		t.Fatalf("the second did %s at once", <-others)
	}
	b.base.Advance(4 * time.Second)
	go func() { second.Wake() }()
	<-seen.looked
	if got := <-others; got != "late" {
		t.Errorf("the second did %s, want what the first had left", got)
	}
}

// TestARunnerThatStopsLeavesItsWork stops a runner in the middle of some work, and has one that takes its place move the
// clock: by the base clock, which stands still, the claim would never end.
func TestARunnerThatStopsLeavesItsWork(t *testing.T) {
	b := newBench(t, hostclock.Manual)
	b.schedule("once", "cut off", 0)
	begun := make(chan struct{})
	runner := func(do hostclock.Handler) *hostclock.Runner {
		return hostclock.NewRunner(hostclock.New(clockwork.NewFakeClockAt(began), 0), b.store, hostclock.Manual, slog.New(slog.DiscardHandler),
			map[string]hostclock.Handler{"once": do})
	}
	first := runner(func(ctx context.Context, _ string, _ time.Time) error {
		close(begun)
		<-ctx.Done()
		return ctx.Err()
	})
	first.Start(t.Context())
	<-begun
	first.Stop()

	var did atomic.Int32
	second := runner(func(ctx context.Context, key string, _ time.Time) error {
		did.Add(1)
		return b.put(ctx, store.Work{Kind: "once", Key: key})
	})
	ctx, cancel := context.WithTimeout(t.Context(), 10*time.Second)
	defer cancel()
	if _, err := second.Advance(ctx, time.Second); err != nil || did.Load() != 1 {
		t.Errorf("the work was done %d times, %v; want it done by the one that is left", did.Load(), err)
	}
}
