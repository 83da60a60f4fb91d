package backoff_test

import (
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/wopwitness/wopwitness/mockhost/agent/backoff"
)

func TestTheWaitDoublesUpToTheCap(t *testing.T) {
	for attempts, want := range map[int]time.Duration{
		-1: 30 * time.Second, 0: 30 * time.Second, 1: time.Minute, 2: 2 * time.Minute, 3: 4 * time.Minute, 6: 32 * time.Minute,
		7: time.Hour, 8: time.Hour, 63: time.Hour, 1 << 40: time.Hour,
	} {
		if got := backoff.Exponential(attempts); got != want {
			t.Errorf("after %d attempts it is %s, want %s", attempts, got, want)
		}
	}
}

func TestTheRandomPartIsAtMostAFifth(t *testing.T) {
	draws := map[string]struct {
		draw float64
		want time.Duration
	}{
		"nothing":                         {0, 240 * time.Second},
		"half":                            {0.5, 264 * time.Second},
		"almost all, cut to milliseconds": {1 - 1e-12, 288*time.Second - time.Millisecond},
	}
	for name, c := range draws {
		t.Run(name, func(t *testing.T) {
			if got := (backoff.BackOff{Draw: func() float64 { return c.draw }}).Delay(3); got != c.want {
				t.Errorf("got %s, want %s", got, c.want)
			}
		})
	}
}

func TestEachWaitIsDrawnAnew(t *testing.T) {
	seen := map[time.Duration]bool{}
	for range 50 {
		seen[backoff.BackOff{}.Delay(3)] = true
	}
	if len(seen) < 40 { // of 48,000 possible ones
		t.Errorf("50 draws gave %d waits", len(seen))
	}
}

func TestEveryWaitIsWithinItsBounds(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		attempts, draw := rapid.IntRange(0, 100).Draw(t, "attempts"), rapid.Float64Range(0, 1).Draw(t, "draw")
		least := backoff.Exponential(attempts)
		got := backoff.BackOff{Draw: func() float64 { return draw }}.Delay(attempts)
		if got < least || got > least+least/5 || got%time.Millisecond != 0 {
			t.Fatalf("after %d attempts, drawing %v, it is %s", attempts, draw, got)
		}
	})
}
