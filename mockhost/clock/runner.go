package hostclock

import (
	"context"
	"crypto/rand"
	"fmt"
	"log/slog"
	"net/http"
	"sync"
	"sync/atomic"
	"time"

	"github.com/wopwitness/wopwitness/mockhost/parts"
	"github.com/wopwitness/wopwitness/mockhost/store"
)

// retryAfter is the pause, in real time, before work that failed is tried again.
const retryAfter = time.Second

// longestSleep bounds how long the runner sleeps, in real time, without looking at the store: work that another
// instance scheduled, or that came in after the last look, is at most this late.
const longestSleep = time.Second

const (
	// lease is how long, in domain time, an instance keeps others from work that it has begun.
	lease = 30 * time.Second
	// othersPause is the pause, in real time, before work that another instance is doing is looked at again.
	othersPause = 20 * time.Millisecond
	// courtesy is how long, in real time, an instance leaves what falls due to the one that has moved the clock, which does
	// it before it answers. What that one doesn't do, because it died, is done after it.
	courtesy = 3 * time.Second
	// farewell bounds how long, in real time, a runner that stops waits for the store.
	farewell = 2 * time.Second
	// longestWait bounds how long, in real time, a move of the clock waits for what isn't due work: a host that is never idle
	// can have its clock moved too.
	longestWait = 20 * time.Second
)

// lastYear bounds the clock well inside what nanoseconds in 64 bits can say.
const lastYear = 2200

// Handler does the work of one kind. It must leave the work rescheduled or dropped, or it is called again at once.
type Handler func(ctx context.Context, key string, now time.Time) error

// Runner does due work as domain time reaches it, by itself and while Advance moves the clock.
type Runner struct {
	clock    *Clock
	store    store.Store
	mode     string
	log      *slog.Logger
	handlers map[string]Handler
	self     string // names this instance among those that do work of the store

	quiet func(ctx context.Context) // nil where nobody works but this

	moved atomic.Int64 // when this instance last found the clock moved by another: nanoseconds of the base clock since it began; 0 for never

	woken  chan struct{}
	mu     sync.Mutex // held while work runs: one instance runs one piece at a time
	cancel context.CancelFunc
	done   chan struct{}
}

// NewRunner makes a runner; it does nothing by itself before Start.
func NewRunner(c *Clock, s store.Store, mode string, log *slog.Logger, handlers map[string]Handler) *Runner {
	return &Runner{
		clock: c, store: s, mode: mode, log: log, handlers: handlers, self: rand.Text(),
		woken: make(chan struct{}, 1), done: make(chan struct{}),
	}
}

// Waits has every move of the clock wait for work that isn't due work: quiet waits for its end.
// It must be called before Start.
func (r *Runner) Waits(quiet func(ctx context.Context)) { r.quiet = quiet }

// Wake lets the runner look for due work at once, where something was scheduled for now.
func (r *Runner) Wake() {
	select {
	case r.woken <- struct{}{}:
	default:
	}
}

// Start runs due work in the background until Stop.
func (r *Runner) Start(ctx context.Context) {
	ctx, r.cancel = context.WithCancel(context.WithoutCancel(ctx))
	go r.loop(ctx)
}

// Stop ends the background work and waits for it. What this instance had claimed and not done it leaves to another, which
// would otherwise wait for the claim's end: a runner that takes this one's place, with the whole clock.
func (r *Runner) Stop() {
	if r.cancel == nil {
		return
	}
	r.cancel()
	<-r.done
	ctx, cancel := context.WithTimeout(context.Background(), farewell)
	defer cancel()
	if err := r.store.FreeWork(ctx, r.self); err != nil {
		r.log.Warn("what was claimed could not be freed and waits for the claim's end", "error", err)
	}
}

// Now is the domain's time.
func (r *Runner) Now() time.Time { return r.clock.Now() }

// Mode is Real or Manual.
func (r *Runner) Mode() string { return r.mode }

func (r *Runner) loop(ctx context.Context) {
	defer close(r.done)
	for {
		wait := longestSleep
		if due, ok, err := r.runDue(ctx); err != nil {
			if ctx.Err() == nil {
				r.log.Error("due work failed and will be tried again", "error", err)
			}
			wait = retryAfter
		} else if ok {
			wait = max(min(wait, due.Sub(r.clock.Now())), time.Millisecond)
		}
		select {
		case <-ctx.Done():
			return
		case <-r.woken:
		case <-r.clock.After(wait):
		}
	}
}

// Sync takes over the offset that the store keeps, which another instance may have moved.
func (r *Runner) Sync(ctx context.Context) error {
	if r.mode != Manual {
		return nil
	}
	offset, err := r.store.ClockOffset(ctx)
	if err != nil {
		return fmt.Errorf("read the clock: %w", err)
	}
	if offset > r.clock.Offset() {
		r.moved.Store(int64(r.clock.running()) + 1) // 0 is never
	}
	r.clock.raise(offset)
	return nil
}

// yields is how long, in real time, what falls due is still another instance's to do.
func (r *Runner) yields() time.Duration {
	moved := r.moved.Load()
	if moved == 0 {
		return 0
	}
	return courtesy - (r.clock.running() - time.Duration(moved))
}

// claim takes the first work that is due by the instant and no other instance is doing.
func (r *Runner) claim(ctx context.Context, upTo time.Time) (store.Work, bool, error) {
	now := r.clock.Now()
	return r.store.ClaimWork(ctx, store.Claim{By: r.self, UpTo: upTo, Now: now, Until: now.Add(lease)})
}

// runDue does everything that is due by now, and returns when to look again.
func (r *Runner) runDue(ctx context.Context) (next time.Time, ok bool, err error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if err := r.Sync(ctx); err != nil {
		return time.Time{}, false, err
	}
	if left := r.yields(); left > 0 {
		return r.clock.Now().Add(left), true, nil
	}
	for {
		w, ok, err := r.claim(ctx, r.clock.Now())
		if err != nil {
			return time.Time{}, false, err
		}
		if ok {
			if err := r.do(ctx, w); err != nil {
				return time.Time{}, false, err
			}
			continue
		}
		w, ok, err = r.store.NextWork(ctx)
		if err != nil || !ok {
			return time.Time{}, false, err
		}
		if now := r.clock.Now(); !w.Due.After(now) {
			return now.Add(othersPause), true, nil // it is another instance's for now
		}
		return w.Due, true, nil
	}
}

func (r *Runner) do(ctx context.Context, w store.Work) error {
	h, ok := r.handlers[w.Kind]
	if !ok {
		return fmt.Errorf("nothing here does work of the kind %q", w.Kind)
	}
	if err := h(ctx, w.Key, r.clock.Now()); err != nil {
		return fmt.Errorf("%s of %s: %w", w.Kind, w.Key, err)
	}
	return nil
}

// Advance moves the clock by d, stopping at each instant on the way at which work is due, and returns the time reached
// after all of it is done. With a real clock it answers with a Problem, 409 run_state_conflict.
func (r *Runner) Advance(ctx context.Context, d time.Duration) (time.Time, error) {
	if r.mode != Manual {
		return time.Time{}, &parts.Problem{
			Status: http.StatusConflict, Code: "run_state_conflict",
			Message: "this host's clock is real and can't be moved",
		}
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	if err := r.Sync(ctx); err != nil {
		return time.Time{}, err
	}
	if r.clock.Now().Add(d).Year() > lastYear {
		return time.Time{}, parts.Invalid("the clock can't be moved beyond the year %d", lastYear)
	}
	for d > 0 {
		next, err := r.settle(ctx)
		if err != nil {
			return time.Time{}, err
		}
		by := d
		if !next.IsZero() {
			by = min(d, max(next.Sub(r.clock.Now()), time.Nanosecond))
		}
		moved, err := r.forward(ctx, by)
		if err != nil {
			return time.Time{}, err
		}
		if moved {
			d -= by
		}
	}
	_, err := r.settle(ctx)
	return r.clock.Now(), err
}

// settle does everything that is due by now, waits for what another instance is doing of it and for those who work in
// this process, and returns when the next work falls due; the zero time where none is left. So nobody moves the clock under
// work that is being done. What the store has next is read behind the wait: what was read before it is older than the work
// whose end was waited for, and would take the clock past what that work left for later.
func (r *Runner) settle(ctx context.Context) (next time.Time, err error) {
	patient, cancel := context.WithTimeout(ctx, longestWait)
	defer cancel()
	waited := r.quiet == nil
	for now := r.clock.Now(); ; {
		w, ok, err := r.store.NextWork(ctx)
		if err != nil {
			return time.Time{}, err
		}
		if !ok || w.Due.After(now) {
			if waited || patient.Err() != nil {
				return w.Due, ctx.Err()
			}
			r.quiet(patient)
			waited = true
			continue
		}
		waited = r.quiet == nil
		w, ok, err = r.claim(ctx, now)
		if err != nil {
			return time.Time{}, err
		}
		if ok {
			if err := r.do(ctx, w); err != nil {
				return time.Time{}, err
			}
			continue
		}
		// Another process is at it, and takes its own time, whatever this one's clock is.
		if !pause(ctx, othersPause) {
			return time.Time{}, ctx.Err()
		}
	}
}

// pause waits for d, and says whether ctx lasted as long.
func pause(ctx context.Context, d time.Duration) bool {
	waiting, cancel := context.WithTimeout(ctx, d)
	defer cancel()
	<-waiting.Done()
	return ctx.Err() == nil
}

// forward moves the clock by d from where this instance takes it to stand, and says whether it did: where another
// instance has moved it first, that one's time is taken over and nothing is moved, so that of moves at once none is lost
// and none passes an instant unseen. The offset is kept before anything is done at the time reached: a host that dies
// there must not come back to an earlier one.
func (r *Runner) forward(ctx context.Context, d time.Duration) (moved bool, err error) {
	from := r.clock.Offset()
	var at time.Duration
	err = r.store.Write(ctx, func(tx store.Tx) (err error) {
		at, moved, err = tx.MoveClock(from, from+d)
		return err
	})
	if err != nil {
		return false, fmt.Errorf("keep the clock's new offset: %w", err)
	}
	r.clock.raise(at)
	return moved, nil
}
