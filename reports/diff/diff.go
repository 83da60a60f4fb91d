// Package diff says what changed between two bundles: rows, certified profiles, and who was tested by what. It passes over
// what two runs of one host always differ in: times, digests of observations, and what rests on those.
//
// It is a pure function of two bundles and does not ask whether either is genuine; reports/verify does. Start with
// Bundles.
package diff

import (
	"fmt"
	"slices"

	"github.com/wopwitness/wopwitness/reports/bundle"
	"github.com/wopwitness/wopwitness/reports/rejudge"
	"github.com/wopwitness/wopwitness/scenarios/registry"
)

// Kind is a closed set of ways in which a row changes.
type Kind string

// The kinds, worst first.
const (
	PassLost   Kind = "pass-lost"   // it passed, and does not or is not there any more
	PassGained Kind = "pass-gained" // it passes, and did not or was not there
	Added      Kind = "added"
	Removed    Kind = "removed"
	Changed    Kind = "changed" // in any other member
)

// Row is one requirement that changed.
type Row struct {
	ID      string               `json:"id"`
	Kind    Kind                 `json:"kind"`
	Members []rejudge.Difference `json:"members"` // which members differ; one named "row" where a side lacks it
}

// Fact is one thing about the host, the suite or a profile that changed.
type Fact struct {
	Name string `json:"name"`
	Was  string `json:"was"`
	Is   string `json:"is"`
}

// Report is everything that changed. Lists are never null.
type Report struct {
	Rows         []Row    `json:"rows"` // by kind, then by id
	Facts        []Fact   `json:"facts"`
	Uncertified  []string `json:"uncertified"` // profiles that were certified and are not any more
	Certified    []string `json:"certified"`   // profiles that are certified and were not
	LostPasses   int      `json:"lostPasses"`
	GainedPasses int      `json:"gainedPasses"`
}

// Regressed says whether anything that was proven isn't any more.
func (r Report) Regressed() bool { return r.LostPasses > 0 || len(r.Uncertified) > 0 }

// Majors gives the majors that the bundles are of; differ says whether they are two, so that most of what changed is that.
func (r Report) Majors() (was, is string, differ bool) {
	for _, f := range r.Facts {
		if f.Name == majorFact {
			return f.Was, f.Is, true
		}
	}
	return "", "", false
}

// majorFact is the name of the fact that says which major was tested.
const majorFact = "suite.targetMajor"

// Same says whether nothing changed.
func (r Report) Same() bool {
	return len(r.Rows) == 0 && len(r.Facts) == 0 && len(r.Uncertified) == 0 && len(r.Certified) == 0
}

// Bundles compares the bundle of before with the one of now.
func Bundles(was, is bundle.Bundle) Report {
	r := Report{Rows: []Row{}, Facts: facts(was, is), Uncertified: []string{}, Certified: []string{}}
	before, after := results(was), results(is)
	members := map[string][]rejudge.Difference{}
	for _, d := range rejudge.Compare(was.Results.Requirements, is.Results.Requirements) {
		if d.Member != "observationSha256" {
			members[d.ID] = append(members[d.ID], d)
		}
	}
	for id, differences := range members {
		row := Row{ID: id, Kind: kind(before, after, id), Members: differences}
		switch row.Kind {
		case PassLost:
			r.LostPasses++
		case PassGained:
			r.GainedPasses++
		}
		r.Rows = append(r.Rows, row)
	}
	slices.SortFunc(r.Rows, func(a, b Row) int {
		if a.Kind != b.Kind {
			return slices.Index(kinds(), a.Kind) - slices.Index(kinds(), b.Kind)
		}
		if a.ID < b.ID {
			return -1
		}
		return 1
	})
	held, holds := certified(was), certified(is)
	for _, id := range held {
		if !slices.Contains(holds, id) {
			r.Uncertified = append(r.Uncertified, id)
		}
	}
	for _, id := range holds {
		if !slices.Contains(held, id) {
			r.Certified = append(r.Certified, id)
		}
	}
	return r
}

func kinds() []Kind { return []Kind{PassLost, PassGained, Added, Removed, Changed} }

func kind(before, after map[string]registry.Result, id string) Kind {
	was, had := before[id]
	is, has := after[id]
	switch {
	case was == registry.Pass && is != registry.Pass:
		return PassLost
	case was != registry.Pass && is == registry.Pass:
		return PassGained
	case !had:
		return Added
	case !has:
		return Removed
	}
	return Changed
}

func results(b bundle.Bundle) map[string]registry.Result {
	m := map[string]registry.Result{}
	for _, r := range b.Results.Requirements {
		m[r.ID] = r.Result
	}
	return m
}

func certified(b bundle.Bundle) []string {
	var ids []string
	for _, c := range b.ClaimedProfiles {
		if c.Certified {
			ids = append(ids, c.ID)
		}
	}
	slices.Sort(ids)
	return slices.Compact(ids)
}

// facts compares who was tested by what. The discovery document is told by its digest: what in it matters shows in rows.
func facts(was, is bundle.Bundle) []Fact {
	changed := []Fact{}
	for _, f := range []Fact{
		{"host.name", was.Host.Name, is.Host.Name},
		{"host.version", was.Host.Version, is.Host.Version},
		{"host.vendor", was.Host.Vendor, is.Host.Vendor},
		{"host.build", build(was), build(is)},
		{"host.signingKeyId", was.Host.SigningKeyID, is.Host.SigningKeyID},
		{"host.relaxations", listed(was.Host.Relaxations), listed(is.Host.Relaxations)},
		{"suite.version", was.Suite.Version, is.Suite.Version},
		{majorFact, fmt.Sprint(was.Suite.TargetMajor), fmt.Sprint(is.Suite.TargetMajor)},
		{"suite.contractSha256", was.Suite.ContractSha256, is.Suite.ContractSha256},
	} {
		if f.Was != f.Is {
			changed = append(changed, f)
		}
	}
	return changed
}

func build(b bundle.Bundle) string {
	if b.Host.Build == nil {
		return ""
	}
	return b.Host.Build.Kind + ":" + b.Host.Build.ID
}

func listed(items []string) string {
	if len(items) == 0 {
		return ""
	}
	return fmt.Sprintf("%q", items)
}
