package bundle

import (
	"slices"

	"github.com/wopwitness/wopwitness/reports/ledger"
	"github.com/wopwitness/wopwitness/scenarios/registry"
)

// Claim is one profile that the host shows, and whether the rows certify it.
type Claim struct {
	ID           string `json:"id"`
	EvidenceTier string `json:"evidenceTier"` // self, steward or independent
	WitnessCount int    `json:"witnessCount"` // rows of the profile that passed
	Certified    bool   `json:"certified"`
}

// Tiers of evidence: who ran the suite.
const (
	TierSelf        = "self"
	TierSteward     = "steward"
	TierIndependent = "independent"
)

// profile is what may be claimed, and the rows without whose pass it is never certified, whatever the host left out.
type profile struct {
	id       string
	leansOn  string // the profile without whose truth this one means nothing, "" where it stands alone
	required []registry.LegID
}

// concerns says whether a leg's row can take the profile's certificate away.
func (p profile) concerns(leg registry.Leg) bool {
	return leg.Profile == p.id || p.leansOn != "" && leg.Profile == p.leansOn
}

func profiles() []profile {
	return []profile{
		{id: registry.ProfileReplay, leansOn: registry.ProfileHostEvents,
			required: []registry.LegID{"0250.resume-backlog", "0250.cursor-refused", "0250.refusal-uniform"}},
		{id: registry.ProfileDeadLetter, required: []registry.LegID{"0053.exhaustion.event", "0053.fork.replay"}},
		{id: registry.ProfileAgentDLQ, required: []registry.LegID{
			"agentdlq.route.malformed-message", "agentdlq.route.budget-exhausted", "agentdlq.intercept.written-first"}},
	}
}

// claims lists the profiles that the host shows: those of which some row was driven, opted out of or blocked.
func claims(rows []ledger.Row, facts Facts) []Claim {
	claimed := []Claim{}
	for _, p := range profiles() {
		var own []ledger.Row
		for _, r := range rows {
			if r.Leg.Profile == p.id {
				own = append(own, r)
			}
		}
		if !slices.ContainsFunc(own, shown) {
			continue
		}
		claimed = append(claimed, Claim{
			ID:           p.id,
			EvidenceTier: firstOf(facts.EvidenceTier, TierSelf),
			WitnessCount: ledger.Count(own).ExecutedPass,
			Certified:    certified(p, rows, facts),
		})
	}
	return claimed
}

// shown says whether a row tells of the profile on this host. A shape row does not: its vectors need no host.
func shown(r ledger.Row) bool {
	return r.Result != registry.Inapplicable && r.Leg.Observes == registry.Behaviour
}

// certified says whether the rows certify the profile: nothing is lacking in them, and it is known what was tested.
func certified(p profile, all []ledger.Row, facts Facts) bool {
	return len(facts.Withhold()) == 0 && len(p.lacks(all, facts.Major)) == 0
}
