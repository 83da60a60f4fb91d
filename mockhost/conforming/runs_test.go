package conforming

import (
	"testing"
	"time"

	"github.com/wopwitness/wopwitness/fixtures/workflows"
	"github.com/wopwitness/wopwitness/mockhost/parts"
)

func TestRetriesAreCountedAndPausesGrow(t *testing.T) {
	for _, c := range []struct {
		attempt, maxRetries int
		pause               time.Duration
		again               bool
	}{
		{1, 2, 2 * time.Millisecond, true},
		{2, 2, 4 * time.Millisecond, true},
		{3, 2, 0, false},
		{1, 0, 0, false},
		{9, 100, 512 * time.Millisecond, true},
		{10, 100, time.Second, true},
		{80, 100, time.Second, true},
		{101, 100, 0, false},
	} {
		pause, again := Retrier{}.Again(c.attempt, c.maxRetries)
		if pause != c.pause || again != c.again {
			t.Errorf("attempt %d of 1+%d: got %s, %v; want %s, %v", c.attempt, c.maxRetries, pause, again, c.pause, c.again)
		}
	}
}

func TestExhaustionAloneIsADeadLetter(t *testing.T) {
	failure := &parts.RunError{Code: "refused", Message: "credential s3cret was refused"}
	for name, c := range map[string]struct {
		end  parts.NodeEnd
		want parts.Letter
		ok   bool
	}{
		"no attempt left":  {parts.NodeEnd{Node: "n", Attempts: 3, Error: failure, Final: true}, parts.Letter{Node: "n", Attempts: 3, Reason: "the node failed on each of its 3 attempts"}, true},
		"an attempt left":  {parts.NodeEnd{Node: "n", Attempts: 2, Error: failure}, parts.Letter{}, false},
		"success":          {parts.NodeEnd{Node: "n", Attempts: 1}, parts.Letter{}, false},
		"success, the end": {parts.NodeEnd{Node: "n", Attempts: 3, Final: true}, parts.Letter{}, false},
	} {
		if got, ok := (DeadLetters{}).Letter(c.end); got != c.want || ok != c.ok {
			t.Errorf("%s: got %+v, %v; want %+v, %v", name, got, ok, c.want, c.ok)
		}
	}
}

func TestEveryFixtureIsSeeded(t *testing.T) {
	w, err := NewWorkflows()
	if err != nil {
		t.Fatal(err)
	}
	for _, id := range []string{workflows.Noop, workflows.Exhaust, workflows.Recovers, workflows.Downstream, workflows.Secret, workflows.Fixable} {
		found, ok := w.Find(id)
		document, shown := w.Document(id)
		if !ok || !shown || found.ID != id || len(document) == 0 {
			t.Errorf("%s: %v, %v", id, ok, shown)
		}
	}
	if _, shown := w.Document("../" + workflows.Noop); shown {
		t.Error("a document was found by a path")
	}
}
