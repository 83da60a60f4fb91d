package main

import (
	"context"
	"maps"
	"path"
	"slices"
	"testing"

	"github.com/wopwitness/wopwitness/scenarios/lawfulhost"
	"github.com/wopwitness/wopwitness/scenarios/registry"
)

// Every leg of RFC 0053 acquits every lawful host, and says nothing but what the host's listing, its fixtures and its
// seams make it say.
func TestLawfulDeadLetterHostsAreAcquitted(t *testing.T) {
	hosts := lawfulDeadHosts()
	judged(t, atOnce, slices.Sorted(maps.Keys(hosts)), func(ctx context.Context, dir, name string) (visit, error) {
		return visitLawfulDead(ctx, dir, hosts[name])
	}, func(v visit, name string) []string {
		l := hosts[name]
		want := expectedDeadRows(l)
		for row, text := range l.rows {
			if _, selected := want[row]; selected {
				want[row] = text
			}
		}
		return unlike(v, want, l.exit)
	})
}

func visitLawfulDead(ctx context.Context, dir string, l lawfulDead) (visit, error) {
	legs := []string{"--rfc", "0053"}
	if l.legs != "" {
		legs = []string{"--leg", l.legs}
	}
	return visitLawful(ctx, dir, lawful{Options: l.Options, peer: true}, append(legs, l.args...)...)
}

// expectedDeadRows is what a right host with this listing gets.
func expectedDeadRows(l lawfulDead) map[string]string {
	majors := l.Majors
	if majors == nil {
		majors = []int{1, 2}
	}
	rows := map[string]string{}
	for _, leg := range registry.Legs() {
		chosen := true
		if l.legs != "" {
			chosen, _ = path.Match(l.legs, string(leg.ID))
		}
		if leg.RFC != "0053" || !chosen {
			continue
		}
		for _, major := range majors {
			rows[onMajor(string(leg.ID), major)] = expectedDead(leg, major, l.Options)
		}
	}
	return rows
}

// expectedDead is one row: a pass, or why not, in the order in which the suite finds out.
func expectedDead(leg registry.Leg, major int, o lawfulhost.Options) string {
	inapplicable := func(reason registry.Reason) string { return string(registry.Inapplicable) + " " + string(reason) }
	needs := deadNeeds()[string(leg.ID)]
	seeds := func(ids ...string) bool {
		return !o.NoFixtures && (o.Seeds == nil || slices.ContainsFunc(ids, func(id string) bool { return slices.Contains(o.Seeds, "conformance-"+id) }))
	}
	dies := seeds("deadletter-exhaust", "deadletter-downstream", "deadletter-fixable") || o.Exhaust && (!needs.reads || !o.ExhaustUnread)
	if needs.fixture != "" {
		dies = seeds(needs.fixture)
	}
	switch {
	case len(leg.Gates) == 0:
		return string(registry.Pass)
	case !o.Sink || o.Unsupported:
		return inapplicable(registry.NotAdvertised)
	case needs.branch && major == 2 && o.ReplayOnly, needs.fork && major == 2 && o.NoFork:
		return inapplicable(registry.NotAdvertised)
	case needs.restart, needs.entries && !o.Entries, needs.clock && (!o.Seams || o.RealClock || o.NoDays), needs.dies && !dies:
		return inapplicable(registry.NoCause)
	case needs.fork && o.NoFork:
		return inapplicable(registry.NotAdvertised)
	}
	return string(registry.Pass)
}

// deadNeed is what a leg needs of the host beside the family.
type deadNeed struct {
	dies    bool   // a run that dies
	reads   bool   // and that can be read
	fixture string // of this very fixture
	fork    bool
	branch  bool
	clock   bool
	entries bool
	restart bool // the test gives no means of one
}

func deadNeeds() map[string]deadNeed {
	return map[string]deadNeed{
		"0053.exhaustion.event":          {dies: true},
		"0053.exhaustion.attempts":       {dies: true, reads: true},
		"0053.exhaustion.status":         {dies: true, reads: true},
		"0053.exhaustion.retained":       {dies: true, reads: true},
		"0053.exhaustion.not-early":      {dies: true, fixture: "deadletter-recovers"},
		"0053.exhaustion.redacted":       {dies: true, fixture: "deadletter-secret"},
		"0053.exhaustion.durable":        {restart: true},
		"0053.exhaustion.other-instance": {dies: true, reads: true},
		"0053.retention.other-instance":  {dies: true, reads: true, clock: true},
		"0053.fork.replay":               {dies: true, reads: true, fork: true},
		"0053.fork.branch":               {dies: true, fixture: "deadletter-fixable", fork: true, branch: true},
		"0053.fork.source-unchanged":     {dies: true, reads: true, fork: true},
		"0053.fork.tenant":               {dies: true, reads: true, fork: true},
		"0053.retention.floor":           {dies: true, reads: true, clock: true},
		"0053.retention.purged":          {dies: true, reads: true, clock: true},
		"0053.retention.no-oracle":       {dies: true, reads: true, clock: true, fork: true},
		"0053.retention.neighbour":       {dies: true, reads: true, clock: true},
		"0053.sink.inspectable":          {dies: true, entries: true},
		"0053.sink.scoped":               {dies: true, entries: true},
	}
}
