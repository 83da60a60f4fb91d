package deadletter

import (
	"encoding/json"

	"github.com/wopwitness/wopwitness/scenarios/registry"
	"github.com/wopwitness/wopwitness/witness"
	"github.com/wopwitness/wopwitness/witness/observe"
)

// ForkTenant is a dead run that its owner forked, and that another tenant then tried to fork. Lists are the runs of both
// tenants before and after that attempt, where the host lists runs.
type ForkTenant struct {
	Major     int              `json:"major"`
	Source    Run              `json:"source"`
	OwnerFork observe.Exchange `json:"ownerFork"`
	Foreign   observe.Exchange `json:"foreign"`
	// The same by branch, where the owner's branch was made.
	OwnerBranch   observe.Exchange `json:"ownerBranch,omitzero"`
	ForeignBranch observe.Exchange `json:"foreignBranch,omitzero"`
	Lists         *RunLists        `json:"lists,omitempty"`
	Probes        *ForkProbes      `json:"probes,omitempty"`
}

// RunLists are the first page of each tenant's runs, before and after.
type RunLists struct {
	OwnerBefore observe.Exchange `json:"ownerBefore"`
	OtherBefore observe.Exchange `json:"otherBefore"`
	OwnerAfter  observe.Exchange `json:"ownerAfter"`
	OtherAfter  observe.Exchange `json:"otherAfter"`
}

const whyTenant = "one customer runs another's work, with another's data"

// JudgeForkTenant judges 0053.fork.tenant (RFC 0053 §C.2): a dead run forks for its owner alone.
func JudgeForkTenant(o ForkTenant) witness.Verdict {
	o.Source = o.Source.read()
	var v witness.Verdict
	if !o.Source.died(&v) {
		return v
	}
	if o.OwnerFork.Status() != 201 {
		if !o.Probes.served(o.Major, o.OwnerFork) {
			v.Undecide(registry.NotAdvertised, "the host has no fork operation: %s", brief(o.OwnerFork))
		} else {
			v.Undecide(unreachable(o.OwnerFork), "the owner itself could not fork the run, so refusing another tenant says nothing: %s", brief(o.OwnerFork))
		}
		return v
	}
	if unanswered(&v, "the other tenant's fork", o.Foreign) {
		return v
	}
	v.Check("refused-to-another-tenant", o.Foreign.Status() == 403 || o.Foreign.Status() == 404, func() witness.Finding {
		return witness.Finding{
			Says: "another tenant's fork of the dead run was not refused as such", Expected: "403 or 404", Got: brief(o.Foreign),
			Why: whyTenant, Section: sectionContract,
		}
	})
	if o.OwnerBranch.Status() == 201 && len(v.Findings) == 0 { // who forks for another is told so once
		if unanswered(&v, "the other tenant's branch", o.ForeignBranch) {
			return v
		}
		v.Check("branch-refused-to-another-tenant", o.ForeignBranch.Status() == 403 || o.ForeignBranch.Status() == 404, func() witness.Finding {
			return witness.Finding{
				Says: "another tenant's branch of the dead run was not refused as such", Expected: "403 or 404", Got: brief(o.ForeignBranch),
				Why: whyTenant, Section: sectionContract,
			}
		})
	}
	if o.Lists == nil {
		return v
	}
	l := *o.Lists
	if l.OwnerBefore.Status() != 200 || l.OwnerAfter.Status() != 200 || l.OtherBefore.Status() != 200 || l.OtherAfter.Status() != 200 {
		v.Note("no-lists", "the runs of the tenants could not be listed")
		return v
	}
	made, alike := o.newRuns(l.OwnerBefore, l.OwnerAfter)
	others, alikeOthers := o.newRuns(l.OtherBefore, l.OtherAfter)
	made, alike = append(made, others...), append(alike, alikeOthers...)
	switch {
	case len(made) > 0 || len(alike) == 0:
	case o.namesSources():
		v.Note("runs-of-others", "meanwhile a run of the same workflow was made that is nobody's fork; another run of the suite makes such")
	default:
		v.Undecide(registry.UnexpectedAnswer, "a run of the same workflow was made meanwhile, %s, and the host's list does not tell forks from other runs: let nothing else run against the host", alike[0])
		return v
	}
	v.Check("no-run-made", len(made) == 0, func() witness.Finding {
		return witness.Finding{
			Says: "another tenant's fork of the dead run made a run", Expected: "no new run", Got: made[0],
			Why: whyTenant, Section: sectionContract,
		}
	})
	return v
}

// newRuns are the runs that a list has gained: those that name the source, which are forks of it, and those that are alike,
// as runs of its workflow without a source. Others are somebody else's.
func (o ForkTenant) newRuns(before, after observe.Exchange) (made, alike []string) {
	old := map[string]bool{o.Source.RunID: true}
	for _, r := range runsOf(before) {
		old[r.id] = true
	}
	for _, r := range runsOf(after) {
		switch {
		case old[r.id]:
		case r.source == o.Source.RunID:
			made = append(made, r.id)
		case r.source == "" && o.Source.Workflow != "" && r.workflow == o.Source.Workflow:
			alike = append(alike, r.id)
		}
	}
	return made, alike
}

// namesSources says whether the host's list names a fork's source, as the owner's own fork shows.
func (o ForkTenant) namesSources() bool {
	own := str(members(o.OwnerFork.Response.Body)["runId"])
	for _, x := range []observe.Exchange{o.Lists.OwnerBefore, o.Lists.OwnerAfter} {
		for _, r := range runsOf(x) {
			if own != "" && r.id == own && r.source == o.Source.RunID {
				return true
			}
		}
	}
	return false
}

type listedRun struct{ id, source, workflow string }

func runsOf(x observe.Exchange) []listedRun {
	var raw []json.RawMessage
	if json.Unmarshal(x.Response.Body, &raw) != nil {
		m := members(x.Response.Body)
		for _, name := range []string{"runs", "items", "data"} {
			if json.Unmarshal(m[name], &raw) == nil {
				break
			}
		}
	}
	var runs []listedRun
	for _, r := range raw {
		m := members(r)
		if id := str(m["runId"]); id != "" {
			runs = append(runs, listedRun{id, str(m["sourceRunId"]), str(m["workflowId"])})
		}
	}
	return runs
}
