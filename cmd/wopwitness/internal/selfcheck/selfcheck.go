// Package selfcheck proves the verdicts: it has the real program certify the right host, and then one host after
// another that is wrong in exactly one way, and compares the legs that convicted with those that claim to.
//
// It has no opinion of its own: what it compares are the bundles that the program wrote. Start with Run.
package selfcheck

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"

	"github.com/wopwitness/wopwitness/cmd/wopwitness/internal/pages"
	"github.com/wopwitness/wopwitness/scenarios/registry"
)

// Options are one self-check.
type Options struct {
	Executable string         // the program itself
	Defects    []pages.Defect // those to serve
	Legs       []registry.Leg // every registered leg
	All        bool           // Defects are all there are, so a leg that kills none of them is a problem
	Store      string
	Full       bool // every leg against every defect, with the time-outs of a real run
	Jobs       int  // hosts tested at once
}

// Result is the whole self-check.
type Result struct {
	Right    Tried    `json:"right"`    // the host without a defect
	Defects  []Tried  `json:"defects"`  // in the order given
	Problems []string `json:"problems"` // what keeps it from succeeding; empty where it does
}

// Tried is one host and what became of it.
type Tried struct {
	Name      string   `json:"name"` // "" is the right host
	Says      string   `json:"says,omitempty"`
	Claims    []string `json:"claims,omitempty"` // legs that claim to convict it
	May       []string `json:"may,omitempty"`    // legs that may convict it, where the run meets the moment of its lie
	Convicted []string `json:"convicted"`        // legs that did
	Blocked   []string `json:"blocked,omitempty"`
	Problems  []string `json:"problems,omitempty"`
}

// Run tests every host, several at a time, and tells of each as it ends. The error is for what kept the check itself
// from being done; a defect that survives is a problem of the result.
func Run(ctx context.Context, o Options, ended func(done, total int, t Tried)) (Result, error) {
	folder, err := os.MkdirTemp("", "wopwitness-selfcheck-")
	if err != nil {
		return Result{}, fmt.Errorf("self-check: %w", err)
	}
	defer func() { _ = os.RemoveAll(folder) }()

	hosts := append([]pages.Defect{{}}, o.Defects...)
	tried := make([]Tried, len(hosts))
	var (
		workers sync.WaitGroup
		telling sync.Mutex
		done    int
	)
	for _, l := range o.lanes(hosts) {
		next := make(chan int, len(l.hosts))
		for _, i := range l.hosts {
			next <- i
		}
		close(next)
		for range l.jobs {
			workers.Go(func() {
				for i := range next {
					if ctx.Err() != nil {
						return
					}
					t := o.try(ctx, hosts[i], filepath.Join(folder, fmt.Sprint(i)))
					telling.Lock()
					tried[i] = t
					done++
					ended(done, len(hosts), t)
					telling.Unlock()
				}
			})
		}
	}
	workers.Wait()
	if err := context.Cause(ctx); err != nil {
		return Result{}, fmt.Errorf("self-check: %w", err)
	}
	return o.conclude(tried), nil
}

// lane is hosts that are tested one after another, so many at once.
type lane struct {
	hosts []int
	jobs  int
}

// lanes has the silent hosts tested beside the others: a run against one of them waits and leaves the processors to those that
// work. One job is one host at a time, and a database has only so many connections: there is one lane then.
func (o Options) lanes(hosts []pages.Defect) []lane {
	jobs, order := max(o.Jobs, 1), o.longestFirst(hosts)
	if jobs == 1 || o.apart() {
		return []lane{{order, jobs}}
	}
	busy := slices.DeleteFunc(slices.Clone(order), func(i int) bool { return hosts[i].Silent })
	silent := slices.DeleteFunc(order, func(i int) bool { return !hosts[i].Silent })
	return []lane{{busy, jobs}, {silent, jobs / 2}}
}

// longestFirst gives the order in which hosts are tested, so that one that takes long is not begun when the others are
// done: the right one, which is shown every leg, and then by the legs that claim to convict, which have often waited in vain
// before, and by those shown beside them.
func (o Options) longestFirst(hosts []pages.Defect) []int {
	length := make([]int, len(hosts))
	for i, d := range hosts {
		if length[i] = math.MaxInt; d.Name != "" {
			length[i] = len(d.Convicts)*len(o.Legs) + o.shown(d)
		}
	}
	order := make([]int, len(hosts))
	for i := range order {
		order[i] = i
	}
	slices.SortStableFunc(order, func(a, b int) int { return cmp.Compare(length[b], length[a]) })
	return order
}

// shown counts the legs that a defect is shown.
func (o Options) shown(d pages.Defect) int {
	n := 0
	for _, glob := range o.families(d) {
		for _, l := range o.Legs {
			if registry.MatchLeg(glob, l.ID) {
				n++
			}
		}
	}
	return n
}

// try tests one host and finds what is wrong with the outcome.
func (o Options) try(ctx context.Context, d pages.Defect, folder string) Tried {
	if o.apart() {
		d.Convicts = slices.Concat(d.Convicts, d.Apart)
	}
	t := Tried{Name: d.Name, Says: d.Says, Claims: slices.Sorted(slices.Values(d.Convicts)), May: d.May, Convicted: []string{}}
	outcome, err := o.certify(ctx, d, folder)
	if err != nil {
		t.Problems = append(t.Problems, err.Error())
		return t
	}
	t.Convicted, t.Blocked = outcome.convicted, outcome.blocked
	for _, leg := range t.Claims {
		if !slices.Contains(t.Convicted, leg) {
			t.Problems = append(t.Problems, fmt.Sprintf("%s claims to convict it and did not (%s)", leg, outcome.resultOf(leg)))
		}
	}
	for _, leg := range t.Convicted {
		if !slices.Contains(t.Claims, leg) && !slices.Contains(t.May, leg) {
			t.Problems = append(t.Problems, fmt.Sprintf("%s convicts it and does not claim to: %s", leg, outcome.detail[leg]))
		}
	}
	switch {
	case d.Name == "" && len(t.Blocked) > 0:
		for _, leg := range t.Blocked {
			t.Problems = append(t.Problems, fmt.Sprintf("%s is blocked on the right host: %s", leg, outcome.detail[leg]))
		}
	case d.Name != "" && len(t.Convicted) == 0:
		t.Problems = append(t.Problems, "it survives: no leg convicts it")
	}
	for _, difference := range outcome.rejudged {
		t.Problems = append(t.Problems, "re-judging the recorded observations differs: "+difference)
	}
	return t
}

// apart says whether the instances of a host have nothing in common but the store, as processes of their own haven't.
func (o Options) apart() bool { return strings.HasPrefix(o.Store, "postgres") }

func (o Options) conclude(tried []Tried) Result {
	r := Result{Right: tried[0], Defects: tried[1:], Problems: []string{}}
	kills := map[string]bool{}
	for _, t := range tried {
		name := t.Name
		if name == "" {
			name = "the right host"
		}
		for _, p := range t.Problems {
			r.Problems = append(r.Problems, name+": "+p)
		}
		for _, leg := range t.Convicted {
			kills[leg] = true
		}
	}
	for _, leg := range o.Legs {
		// Nothing that a host does can fail a leg that asks no host; its judge's own tests stand for it.
		if o.All && leg.Observes != registry.Vectors && !kills[string(leg.ID)] {
			r.Problems = append(r.Problems, fmt.Sprintf("%s kills nothing: no defect is convicted by it", leg.ID))
		}
	}
	return r
}
