package defects

import (
	"context"
	"slices"
	"sync"

	"github.com/wopwitness/wopwitness/mockhost/parts"
)

// The words of the impact that its defects change.
const (
	impactFailed  = "failed"
	impactSuspect = "suspect"
	impactBlocked = "blocked"
	impactUndone  = "done"
)

// agentImpacts are wrong about what a failed step means for the rest of its execution.
func agentImpacts() []Defect {
	return []Defect{
		agentDefect("suspects-forgotten", "suspects only what depends on the failed step directly", func(a *parts.Agent) {
			a.Impact = impacts{Impact: a.Impact, of: func(_ string, steps []parts.ImpactStep, active int) ([]parts.ImpactStep, int) {
				for i, s := range steps {
					direct := slices.ContainsFunc(s.DependsOn, func(on int) bool { return steps[on].State == impactFailed })
					if s.State == impactSuspect && !direct {
						steps[i].State = impactBlocked
					}
				}
				return steps, active
			}}
		}, "impact.steps", "impact.suspect-until-resolved"),
		agentDefectWith("suspects-for-ever", "goes on suspecting steps after the entry was resolved", func() func(*parts.Parts) {
			var mu sync.Mutex
			once := map[string]map[int]bool{}
			return func(p *parts.Parts) {
				p.Agent.Impact = impacts{Impact: p.Agent.Impact, of: func(trace string, steps []parts.ImpactStep, active int) ([]parts.ImpactStep, int) {
					mu.Lock()
					defer mu.Unlock()
					if once[trace] == nil {
						once[trace] = map[int]bool{}
					}
					for i, s := range steps {
						if s.State == impactSuspect {
							once[trace][i] = true
						}
						if once[trace][i] {
							steps[i].State = impactSuspect
						}
					}
					return steps, active
				}}
			}
		}, "impact.suspect-until-resolved").silent(),
		agentDefectWith("compensated-twice", "takes a side effect back each time that it is asked", func() func(*parts.Parts) {
			again := &repeated{effects: map[[2]string]int{}}
			return func(p *parts.Parts) {
				p.Agent.Impact = impacts{Impact: p.Agent.Impact, compensate: again.compensate(p.Agent.Impact)}
				p.Agent.Bench = bench{p.Agent.Bench, again}
			}
		}, "impact.compensation-once"),
		agentDefect("compensation-unoffered", "offers nothing to be taken back", func(a *parts.Agent) {
			a.Impact = impacts{Impact: a.Impact, of: func(_ string, steps []parts.ImpactStep, active int) ([]parts.ImpactStep, int) {
				for i := range steps {
					steps[i].Compensation = ""
				}
				return steps, active
			}}
		}, "impact.compensation-once"),
		agentDefectWith("compensation-said", "says that a side effect was taken back, and leaves it", func() func(*parts.Parts) {
			said := &sync.Map{}
			return func(p *parts.Parts) { p.Agent.Impact = impacts{p.Agent.Impact, undoneBy(said), tellsOf(said)} }
		}, "impact.compensation-once"),
		agentDefect("impact-alone", "counts its own execution as the only one that a broken tool touches", func(a *parts.Agent) {
			a.Impact = impacts{Impact: a.Impact, of: func(_ string, steps []parts.ImpactStep, active int) ([]parts.ImpactStep, int) {
				return steps, min(active, 1)
			}}
		}, "impact.active-workflows"),
	}
}

// undoneBy shows the side effects of the traces that were told of as taken back.
func undoneBy(said *sync.Map) func(string, []parts.ImpactStep, int) ([]parts.ImpactStep, int) {
	return func(trace string, steps []parts.ImpactStep, active int) ([]parts.ImpactStep, int) {
		if _, told := said.Load(trace); told {
			for i := range steps {
				if steps[i].Compensation != "" {
					steps[i].Compensation = impactUndone
				}
			}
		}
		return steps, active
	}
}

func tellsOf(said *sync.Map) func(context.Context, parts.Principal, string) (bool, error) {
	return func(_ context.Context, _ parts.Principal, trace string) (bool, error) {
		said.Store(trace, true)
		return true, nil
	}
}

// repeated is the side effects that were taken back more than once.
type repeated struct {
	mu      sync.Mutex
	effects map[[2]string]int
}

func (r *repeated) compensate(right parts.Impact) func(ctx context.Context, p parts.Principal, trace string) (bool, error) {
	return func(ctx context.Context, p parts.Principal, trace string) (bool, error) {
		steps, _, _, err := right.Of(ctx, p, trace)
		if err != nil {
			return false, err
		}
		r.mu.Lock()
		for _, s := range steps {
			if s.Compensation == impactUndone {
				r.effects[[2]string{p.Tenant, s.Tool}]++
			}
		}
		r.mu.Unlock()
		return right.Compensate(ctx, p, trace)
	}
}

// bench shows tools with the effects that were taken back again.
type bench struct {
	parts.ToolBench
	again *repeated
}

func (b bench) Find(ctx context.Context, p parts.Principal, name string) (parts.ToolView, bool, error) {
	v, known, err := b.ToolBench.Find(ctx, p, name)
	b.again.mu.Lock()
	defer b.again.mu.Unlock()
	v.Tool.Effects -= b.again.effects[[2]string{p.Tenant, name}]
	return v, known, err
}
