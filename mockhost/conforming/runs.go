package conforming

import (
	"fmt"
	"slices"
	"time"

	"github.com/wopwitness/wopwitness/fixtures/workflows"
	"github.com/wopwitness/wopwitness/mockhost/parts"
)

// Workflows implements parts.Workflows over the conformance fixtures.
type Workflows struct{ all []workflows.Workflow }

// NewWorkflows reads the fixtures.
func NewWorkflows() (Workflows, error) {
	all, err := workflows.All()
	return Workflows{all}, err
}

// List implements parts.Workflows.
func (w Workflows) List() []string {
	out := make([]string, 0, len(w.all))
	for _, x := range w.all {
		out = append(out, x.ID)
	}
	return out
}

// Find implements parts.Workflows.
func (w Workflows) Find(id string) (workflows.Workflow, bool) {
	i := slices.IndexFunc(w.all, func(x workflows.Workflow) bool { return x.ID == id })
	if i < 0 {
		return workflows.Workflow{}, false
	}
	return w.all[i], true
}

// Document implements parts.Workflows.
func (w Workflows) Document(id string) ([]byte, bool) {
	if _, ok := w.Find(id); !ok {
		return nil, false
	}
	b, err := workflows.Document(id)
	return b, err == nil
}

// firstPause is the pause after the first failed attempt; each later one is twice as long, up to longestPause.
const (
	firstPause   = 2 * time.Millisecond
	longestPause = time.Second
)

// Retrier implements parts.Retrier: one attempt, and at most maxRetries more.
type Retrier struct{}

// Again implements parts.Retrier.
func (Retrier) Again(attempt, maxRetries int) (time.Duration, bool) {
	if attempt > maxRetries {
		return 0, false
	}
	return min(firstPause<<min(attempt-1, 20), longestPause), true
}

// DeadLetters implements parts.DeadLetters: exhaustion, and nothing before it (RFC 0053 §C.1).
type DeadLetters struct{}

// Letter implements parts.DeadLetters. The reason is made of what the host itself knows; a node's own message may hold
// anything.
func (DeadLetters) Letter(e parts.NodeEnd) (parts.Letter, bool) {
	if e.Error == nil || !e.Final {
		return parts.Letter{}, false
	}
	return parts.Letter{
		Node: e.Node, Attempts: e.Attempts,
		Reason: fmt.Sprintf("the node failed on each of its %d attempts", e.Attempts),
	}, true
}

// Secrets implements parts.Secrets: one value a name, the same for every tenant.
type Secrets map[string]string

// Resolve implements parts.Secrets.
func (s Secrets) Resolve(_, name string) (string, bool) {
	v, ok := s[name]
	return v, ok
}
