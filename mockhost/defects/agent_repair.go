package defects

import (
	"context"
	"sync"

	"github.com/wopwitness/wopwitness/mockhost/parts"
)

// agentRepairs are wrong about what is repaired, by whom, and how sure one must be.
func agentRepairs() []Defect {
	return []Defect{
		agentDefect("threshold-exceeded", "replays a proposal only where its confidence is above the threshold", func(a *parts.Agent) {
			threshold := a.Numbers.RepairThreshold
			a.Triage = triage{Triage: a.Triage, sure: func(p parts.Proposal) bool { return p.Confidence > threshold }}
		}, "repair.at-threshold"),
		agentDefect("repairs-unsure", "replays every proposal, however unsure", func(a *parts.Agent) {
			a.Triage = triage{Triage: a.Triage, sure: func(parts.Proposal) bool { return true }}
		}, "repair.below-threshold"),
		agentDefect("proposal-lost", "sends an entry to review without what was proposed", func(a *parts.Agent) {
			right := a.Reviews
			a.Reviews = reviews(func(ctx context.Context, p parts.Principal, review string, after int64, limit int) ([]parts.Entry, error) {
				all, err := right.List(ctx, p, review, after, limit)
				for i := range all {
					all[i].Proposal = nil
				}
				return all, err
			})
		}, "repair.below-threshold"),
		agentDefect("repairs-everything", "asks the repairer about every failure that waits for a person", func(a *parts.Agent) {
			goesElsewhere(a, func(_ parts.Entry, right string) string {
				if right == parts.WayHuman {
					return parts.WayRepair
				}
				return right
			})
		}, "repair.semantic-only"),
		agentDefectWith("model-first", "asks the model before the rule", func() func(*parts.Parts) {
			says := &scripts{}
			return func(p *parts.Parts) { p.Agent.Repairer = modelFirst{p.Agent.Repairer, says} }
		}, "repair.rule-first"),
		agentDefect("repaired-as-it-was", "replays a repaired call with the arguments that failed", func(a *parts.Agent) {
			right := a.Replayer
			a.Replayer = replayer(func(ctx context.Context, tenant string, r parts.ReplayRequest) (parts.Entry, string, error) {
				r.Args = nil
				return right.Replay(ctx, tenant, r)
			})
		}, "repair.at-threshold", "repair.rule-first"),
	}
}

// scripts is what the scripted repairer was told of each tool.
type scripts struct {
	mu   sync.Mutex
	says map[[2]string]parts.Proposal
}

// modelFirst proposes what the script says, and asks the others where it says nothing.
type modelFirst struct {
	parts.Repairer
	scripts *scripts
}

func (m modelFirst) Script(ctx context.Context, p parts.Principal, tool string, says parts.Proposal) error {
	m.scripts.mu.Lock()
	if m.scripts.says == nil {
		m.scripts.says = map[[2]string]parts.Proposal{}
	}
	m.scripts.says[[2]string{p.Tenant, tool}] = says
	m.scripts.mu.Unlock()
	return m.Repairer.Script(ctx, p, tool, says)
}

func (m modelFirst) Propose(ctx context.Context, a parts.RepairAsk) (parts.Proposal, bool, error) {
	m.scripts.mu.Lock()
	says, ok := m.scripts.says[[2]string{a.Tenant, a.Tool}]
	m.scripts.mu.Unlock()
	if ok {
		return says, true, nil
	}
	return m.Repairer.Propose(ctx, a)
}
