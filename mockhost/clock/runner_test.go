package hostclock_test

import (
	"context"
	"errors"
	"log/slog"
	"slices"
	"testing"
	"time"

	"github.com/jonboulle/clockwork"

	"github.com/wopwitness/wopwitness/mockhost/clock"
	"github.com/wopwitness/wopwitness/mockhost/parts"
	"github.com/wopwitness/wopwitness/mockhost/store"
	"github.com/wopwitness/wopwitness/mockhost/store/sqlite"
)

var began = time.Date(2030, 5, 6, 7, 8, 9, 0, time.UTC)

// bench is a runner over a fake base clock, and what its work did.
type bench struct {
	t      *testing.T
	base   *clockwork.FakeClock
	clock  *hostclock.Clock
	store  store.Store
	runner *hostclock.Runner
	done   []string
}

func newBench(t *testing.T, mode string) *bench {
	t.Helper()
	s, err := sqlite.OpenTemporary(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = s.Close() })
	b := &bench{t: t, base: clockwork.NewFakeClockAt(began), store: s}
	b.clock = hostclock.New(b.base, 0)
	b.runner = hostclock.NewRunner(b.clock, s, mode, slog.New(slog.DiscardHandler), map[string]hostclock.Handler{
		"once": func(ctx context.Context, key string, now time.Time) error {
			b.done = append(b.done, key+" at "+now.Sub(began).String())
			return b.put(ctx, store.Work{Kind: "once", Key: key})
		},
		"hourly": func(ctx context.Context, key string, now time.Time) error {
			b.done = append(b.done, key+" at "+now.Sub(began).String())
			return b.put(ctx, store.Work{Kind: "hourly", Key: key, Due: now.Add(time.Hour)})
		},
		"broken": func(context.Context, string, time.Time) error { return errors.New("boom") },
	})
	return b
}

func (b *bench) put(ctx context.Context, w store.Work) error {
	return b.store.Write(ctx, func(tx store.Tx) error { return tx.MoveWork(w) })
}

func (b *bench) schedule(kind, key string, in time.Duration) {
	b.t.Helper()
	if err := b.put(b.t.Context(), store.Work{Kind: kind, Key: key, Due: began.Add(in)}); err != nil {
		b.t.Fatal(err)
	}
}

func TestAdvanceStopsAtEachDueInstant(t *testing.T) {
	b := newBench(t, hostclock.Manual)
	b.schedule("once", "late", 3*time.Hour)
	b.schedule("hourly", "sweep", 30*time.Minute)
	b.schedule("once", "never", 5*time.Hour)
	now, err := b.runner.Advance(t.Context(), 3*time.Hour)
	if err != nil || !now.Equal(began.Add(3*time.Hour)) {
		t.Fatalf("reached %s, %v", now, err)
	}
	want := []string{"sweep at 30m0s", "sweep at 1h30m0s", "sweep at 2h30m0s", "late at 3h0m0s"}
	if !slices.Equal(b.done, want) {
		t.Errorf("did %v, want %v", b.done, want)
	}
	if kept, err := b.store.ClockOffset(t.Context()); err != nil || kept != 3*time.Hour {
		t.Errorf("the store keeps an offset of %s, %v", kept, err)
	}
	b.base.Advance(time.Minute)
	if now := b.runner.Now(); !now.Equal(began.Add(3*time.Hour + time.Minute)) {
		t.Errorf("real time doesn't go on: %s", now)
	}
}

func TestAdvanceDoesOverdueWorkWithoutTurningBack(t *testing.T) {
	b := newBench(t, hostclock.Manual)
	b.schedule("once", "overdue", -time.Hour)
	if _, err := b.runner.Advance(t.Context(), time.Second); err != nil {
		t.Fatal(err)
	}
	if want := []string{"overdue at 0s"}; !slices.Equal(b.done, want) {
		t.Errorf("did %v, want %v", b.done, want)
	}
}

// What somebody leaves for later as the last thing before they are idle is done when it falls due, not at the end of the move.
func TestAdvancePassesNothingThatWasLeftWhileItWaited(t *testing.T) {
	b := newBench(t, hostclock.Manual)
	waits := 0
	b.runner.Waits(func(context.Context) {
		if waits++; waits == 1 {
			b.schedule("once", "later", time.Minute)
		}
	})
	if _, err := b.runner.Advance(t.Context(), time.Hour); err != nil {
		t.Fatal(err)
	}
	if want := []string{"later at 1m0s"}; !slices.Equal(b.done, want) {
		t.Errorf("did %v, want %v", b.done, want)
	}
}

func TestAdvanceTellsWhatFailed(t *testing.T) {
	b := newBench(t, hostclock.Manual)
	b.schedule("broken", "x", time.Second)
	if _, err := b.runner.Advance(t.Context(), time.Minute); err == nil || err.Error() != "broken of x: boom" {
		t.Errorf("got %v", err)
	}
	unknown := newBench(t, hostclock.Manual)
	unknown.schedule("strange", "x", time.Second)
	if _, err := unknown.runner.Advance(t.Context(), time.Minute); err == nil {
		t.Error("work that nobody does was passed over")
	}
}

func TestAdvanceIsRefused(t *testing.T) {
	for name, c := range map[string]struct {
		mode string
		by   time.Duration
		code string
	}{
		"a real clock":        {hostclock.Real, time.Second, "run_state_conflict"},
		"beyond the calendar": {hostclock.Manual, 200 * 365 * 24 * time.Hour, "validation_error"},
	} {
		_, err := newBench(t, c.mode).runner.Advance(t.Context(), c.by)
		var p *parts.Problem
		if !errors.As(err, &p) || p.Code != c.code {
			t.Errorf("%s: got %v", name, err)
		}
	}
}
