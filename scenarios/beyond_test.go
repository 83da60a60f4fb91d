package scenarios

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/wopwitness/wopwitness/witness/observe"
)

func TestClockIsTheLegsOwn(t *testing.T) {
	for _, c := range []struct {
		name                     string
		moved, advances, elapsed time.Duration
		want                     bool
	}{
		{"a clock that runs on", time.Hour + 2*time.Second, time.Hour, 2 * time.Second, true},
		{"a clock that stands still between advances", time.Hour, time.Hour, 30 * time.Second, true},
		{"whole seconds", time.Hour - time.Second, time.Hour, 0, true},
		{"moved by another", 2 * time.Hour, time.Hour, 2 * time.Second, false},
		{"moved back", 0, time.Hour, 2 * time.Second, false},
	} {
		t.Run(c.name, func(t *testing.T) {
			if got := ownMove(c.moved, c.advances, c.elapsed); got != c.want {
				t.Errorf("got %v, want %v", got, c.want)
			}
		})
	}
}

func TestExpiryStepsPassTheBound(t *testing.T) {
	for _, bound := range []time.Duration{time.Second, 39 * time.Second, 40 * time.Second, time.Hour, 30 * 24 * time.Hour} {
		t.Run(bound.String(), func(t *testing.T) {
			var total, since time.Duration
			var labels []string
			for _, step := range expirySteps(bound) {
				if step.by < time.Second || step.by%time.Second != 0 {
					t.Errorf("a step of %s is none that the seam takes", step.by)
				}
				total += step.by
				if slices.Contains(labels, "within") {
					since += step.by
				}
				labels = append(labels, step.then...)
			}
			if total <= bound+2*time.Second {
				t.Errorf("the steps sum up to %s", total)
			}
			if since >= bound || labels[0] != "within" || len(labels) < 2 {
				t.Errorf("the event within the bound comes to be %s old; %v", since, labels)
			}
		})
	}
}

func TestShowsRemembersWhatItRead(t *testing.T) {
	framed := func(id string) frame {
		return frame{HasData: true, HasID: true, ID: id, Data: `{"eventId":"` + id + `"}`}
	}
	shows := Shows("x", "y")
	frames := []frame{framed("x")}
	if shows(frames) {
		t.Error("one of two is enough")
	}
	frames = append(frames, framed("z"), framed("y"))
	for _, time := range []string{"once", "again"} {
		if !shows(frames) {
			t.Errorf("both are there, and asked %s it does not say so", time)
		}
	}
	if !Shows()(nil) {
		t.Error("nothing is asked for, and it does not hold")
	}
	if showsAny([]observe.Emit{{EventID: "a"}, {EventID: "z"}})(frames[:1]) || !showsAny([]observe.Emit{{EventID: "a"}, {EventID: "z"}})(frames) {
		t.Error("any of two is told wrongly")
	}
}

func TestManyWritersStopAtTheFirstError(t *testing.T) {
	d := &Drive{}
	write := func(_ context.Context, label string) (observe.Emit, error) {
		return observe.Emit{Label: label, EventID: label}, nil
	}
	emits, err := d.writeMany(t.Context(), 5, 100, write)
	if err != nil || len(emits) != 100 {
		t.Fatalf("%d events, %v", len(emits), err)
	}
	seen := map[string]bool{}
	for _, e := range emits {
		seen[e.Label] = true
	}
	for i := range 100 {
		if !seen[fmt.Sprintf("V%d", 5+i)] {
			t.Errorf("V%d was not written", 5+i)
		}
	}
	wrong := errors.New("no more")
	emits, err = d.writeMany(t.Context(), 1, 100, func(ctx context.Context, label string) (observe.Emit, error) {
		if label == "V7" {
			return observe.Emit{}, wrong
		}
		return write(ctx, label)
	})
	if !errors.Is(err, wrong) || emits != nil {
		t.Errorf("got %d events and %v, want the writer's error", len(emits), err)
	}
}
