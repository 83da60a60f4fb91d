package mockhost_test

import (
	"cmp"
	"context"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/jonboulle/clockwork"

	"github.com/wopwitness/wopwitness/mockhost"
	"github.com/wopwitness/wopwitness/mockhost/store/postgres/pgtest"
)

// jumping is a machine's clock whose wall is set back and forth. As on a real machine, time that has passed since an
// instant that it showed is not measured on the wall.
type jumping struct {
	clockwork.Clock
	mu    sync.Mutex
	by    time.Duration
	shown map[int64]time.Time // when, by the monotonic clock, it showed what
}

func newJumping() *jumping {
	return &jumping{Clock: clockwork.NewRealClock(), shown: map[int64]time.Time{}}
}

// set sets the wall that far from the right time.
func (j *jumping) set(by time.Duration) {
	j.mu.Lock()
	defer j.mu.Unlock()
	j.by = by
}

func (j *jumping) Now() time.Time {
	j.mu.Lock()
	defer j.mu.Unlock()
	real := time.Now()
	wall := real.Round(0).Add(j.by)
	j.shown[wall.UnixNano()] = real
	return wall
}

func (j *jumping) Since(t time.Time) time.Duration {
	j.mu.Lock()
	defer j.mu.Unlock()
	if real, ok := j.shown[t.UnixNano()]; ok {
		return time.Since(real)
	}
	return time.Now().Add(j.by).Sub(t)
}

const day = 24 * time.Hour

// jumps are where the wall is set to, one after the other, from the right time.
func jumps() []time.Duration {
	return []time.Duration{0, 2 * time.Hour, -3 * time.Hour, 0, 30 * day, -400 * day, 90 * time.Minute, 0}
}

// rising tells where the times of a log fall.
func rising(t *testing.T, what string, times []string) {
	t.Helper()
	for i := 1; i < len(times); i++ {
		if cmp.Less(times[i], times[i-1]) { // RFC 3339 in UTC, so their order is that of the texts
			t.Errorf("%s: at place %d the time falls from %s to %s", what, i, times[i-1], times[i])
		}
	}
}

func stamps(log []object) []string {
	var out []string
	for _, e := range log {
		out = append(out, fmt.Sprint(e["timestamp"]))
	}
	return out
}

// TestTheWallClockJumpsWhileTheHostRuns sets the wall back and forth by more than any promise is long. What was emitted
// stays a cursor, runs come to their end, and no time in a log falls.
func TestTheWallClockJumpsWhileTheHostRuns(t *testing.T) {
	for name, store := range map[string]func(*testing.T) string{
		"SQLite": func(*testing.T) string { return "memory" }, "PostgreSQL": pgtest.Schema,
	} {
		t.Run(name, func(t *testing.T) {
			base := newJumping()
			h := start(t, mockhost.Config{Store: store(t), Seams: true, RetentionDays: 1, MinRetention: time.Hour}.WithBase(base))
			cursor := h.trigger(h.KeyA, "durable")
			live := h.open(h.KeyA, strict, cursor)
			var want, runs []string
			for _, by := range jumps() {
				base.set(by)
				want = append(want, h.trigger(h.KeyA, "durable"))
				// Whatever had fallen due by the wall would be done before a run's steps, which fall due now.
				runs = append(runs, h.die(h.KeyA, 2))
				if got := h.open(h.KeyA, strict, cursor).until(want[len(want)-1]); !slices.Equal(got, want) {
					t.Fatalf("set by %s: got %v, want %v", by, got, want)
				}
				want = append(want, h.trigger(h.KeyA, "durable"))
			}
			var times []string
			for range want {
				b, _ := live.next()
				times = append(times, fmt.Sprint(b.envelope["timestamp"]))
			}
			rising(t, "the events", times)
			for _, id := range runs {
				rising(t, "run "+id, stamps(h.ended(h.KeyA, 2, id)))
			}
			entries := h.do("GET", "/conformance/seams/sample/deadletter/entries", h.KeyA, "").body
			for _, id := range runs {
				if strings.Count(entries, `"`+id+`"`) != 1 {
					t.Errorf("the sink has run %s %d times", id, strings.Count(entries, `"`+id+`"`))
				}
			}
		})
	}
}

// TestTheWallClockIsSetBackBetweenTwoProcesses has a host start where its forerunner's log is hours ahead: its times go on
// from there, and are right again after a third start.
func TestTheWallClockIsSetBackBetweenTwoProcesses(t *testing.T) {
	base := newJumping()
	c := mockhost.Config{
		Store: "sqlite:" + filepath.Join(t.TempDir(), "host.db"), KeyA: "a", KeyB: "b", KeyLow: "low", KeyWS: "ws", MinRetention: time.Hour,
	}.WithBase(base)
	var cursor, run string
	var want []string
	for i, by := range []time.Duration{0, -3 * time.Hour, 0} {
		base.set(by)
		h := start(t, c)
		if i == 0 {
			cursor = h.trigger("a", "durable")
			run = h.die("a", 2)
		}
		want = append(want, h.trigger("a", "durable"), h.trigger("a", "durable"))
		s := h.open("a", strict, cursor)
		var times []string
		for _, id := range want {
			b, ok := s.next()
			if !ok || b.eventID() != id {
				t.Fatalf("set by %s: got %s, want %s", by, b.eventID(), id)
			}
			times = append(times, fmt.Sprint(b.envelope["timestamp"]))
		}
		rising(t, "the events", times)
		fork := h.do("POST", pathOf(2, run)+":fork", "a", `{"mode":"replay","fromSeq":4}`).object(t)
		rising(t, "the fork", stamps(h.ended("a", 2, fmt.Sprint(fork["runId"]))))
		if err := h.host.Shutdown(context.Background()); err != nil {
			t.Fatal(err)
		}
	}
}

// TestInstancesWhoseClocksDisagree has one instance start while the wall is hours ahead, so that every claim of the other
// looks ended to it. A run that both then step on is tried as often as its log says, and dies once.
func TestInstancesWhoseClocksDisagree(t *testing.T) {
	base := newJumping()
	h := start(t, mockhost.Config{Store: pgtest.Schema(t), Seams: true, MinRetention: day}.WithBase(base))
	base.set(2 * time.Hour)
	second, err := h.host.Peer(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	base.set(0)
	hosts := []*host{h, serve(t, second)}
	cursor := h.trigger(h.KeyA, "durable")
	var want, ids []string
	for i := range 16 {
		want = append(want, hosts[i%2].trigger(h.KeyA, "durable"))
		ids = append(ids, hosts[i/2%2].create(h.KeyA, 2, `{"workflowId":"conformance-deadletter-exhaust"}`))
	}
	types := ""
	for i, id := range ids {
		log := hosts[i%2].ended(h.KeyA, 2, id)
		if types = cmp.Or(types, typesOf(log)); typesOf(log) != types || strings.Count(types, "node.started") != 3 {
			t.Errorf("run %s has the log %s", id, typesOf(log))
		}
		rising(t, "run "+id, stamps(log))
	}
	entries := h.do("GET", "/conformance/seams/sample/deadletter/entries?limit=100", h.KeyA, "").body
	for _, id := range ids {
		if n := strings.Count(entries, `"`+id+`"`); n != 1 {
			t.Errorf("the sink has run %s %d times", id, n)
		}
	}
	for i, at := range hosts {
		s := at.open(h.KeyA, strict, cursor)
		var got, times []string
		for range want {
			b, _ := s.next()
			got, times = append(got, b.eventID()), append(times, fmt.Sprint(b.envelope["timestamp"]))
		}
		if !slices.Equal(got, want) {
			t.Errorf("instance %d: got %v, want %v", i, got, want)
		}
		rising(t, "the events", times)
	}
}
