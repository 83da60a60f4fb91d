package recovery

import (
	"context"

	"github.com/wopwitness/wopwitness/mockhost/agent/classify"
	"github.com/wopwitness/wopwitness/mockhost/agent/keep"
	"github.com/wopwitness/wopwitness/mockhost/agent/repair"
	"github.com/wopwitness/wopwitness/mockhost/parts"
	"github.com/wopwitness/wopwitness/mockhost/store"
)

// Classifier implements parts.Classifier.
type Classifier struct{ classify.Classifier }

var _ parts.Classifier = Classifier{}

// Classify implements parts.Classifier.
func (c Classifier) Classify(ctx context.Context, e parts.Entry, gone bool) (string, error) {
	return c.Classifier.Classify(ctx, classify.Failure{
		Kind: e.LastError.Kind, Status: e.LastError.Status, Message: e.LastError.Message, Tool: e.Tool, ContextGone: gone,
	})
}

// Triage implements parts.Triage.
type Triage struct{ Parts *parts.Parts }

var _ parts.Triage = Triage{}

// Way implements parts.Triage.
func (t Triage) Way(e parts.Entry) string {
	switch e.Category {
	case parts.Transient:
		if e.Automatic < t.Parts.Agent.Numbers.AutomaticReplays {
			return parts.WayReplay
		}
	case parts.SemanticFailure:
		return parts.WayRepair
	case parts.AuthorizationErr:
		return parts.WaySecurity
	}
	return parts.WayHuman
}

// Sure implements parts.Triage.
func (t Triage) Sure(p parts.Proposal) bool {
	return p.Confidence >= t.Parts.Agent.Numbers.RepairThreshold
}

// Drains implements parts.Triage. What the classifier hasn't seen yet may be a matter of security.
func (Triage) Drains(e parts.Entry) bool {
	return e.Review != parts.SecurityReview && e.Category != parts.AuthorizationErr && e.LastError.Kind != parts.Unauthorized
}

// Repairer implements parts.Repairer: its tiers, and the script that one of them reads.
type Repairer struct {
	repair.Tiers
	Store store.Store
}

var _ parts.Repairer = Repairer{}

// NewRepairer makes one that asks the rules, then the script, and then the further tiers.
func NewRepairer(s store.Store, threshold float64, further ...repair.Tier) Repairer {
	return Repairer{
		Tiers: repair.Tiers{Order: append([]repair.Tier{repair.Rules{}, scripted{s}}, further...), Threshold: threshold}, Store: s,
	}
}

// Script implements parts.Repairer.
func (r Repairer) Script(ctx context.Context, p parts.Principal, tool string, says parts.Proposal) error {
	return r.Store.Write(ctx, func(tx store.Tx) error {
		return keep.Scripts.Put(tx, keep.Script{Tenant: p.Tenant, Tool: tool, Proposal: says})
	})
}

// scripted proposes what it was told to.
type scripted struct{ store store.Store }

// Propose implements repair.Tier.
func (s scripted) Propose(ctx context.Context, a parts.RepairAsk) (parts.Proposal, bool, error) {
	script, ok, err := keep.Scripts.Get(s.store.Reading(ctx), a.Tenant, a.Tool)
	return script.Proposal, ok, err
}
