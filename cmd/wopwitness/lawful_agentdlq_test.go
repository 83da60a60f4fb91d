package main

import (
	"context"
	"maps"
	"path"
	"slices"
	"testing"
	"time"

	"github.com/wopwitness/wopwitness/scenarios/lawfulhost"
	"github.com/wopwitness/wopwitness/scenarios/registry"
)

// lawfulAgentLegs are the parts of the agent extension that lawfulhost has: it routes, keeps entries, drains and records,
// and recovers nothing by itself.
func lawfulAgentLegs() []string {
	return []string{"agentdlq.route.*", "agentdlq.entry.*", "agentdlq.drain.*", "agentdlq.intercept.*"}
}

// lawfulAgentHosts are hosts with an agent worker, each with a lawful difference.
func lawfulAgentHosts() map[string]lawfulhost.Options {
	all := map[string]lawfulhost.Options{}
	for name, set := range map[string]func(*lawfulhost.Options){
		"agents":                                     func(*lawfulhost.Options) {},
		"agents, major 1":                            func(o *lawfulhost.Options) { o.Majors = []int{1} },
		"agents give up on an open circuit":          func(o *lawfulhost.Options) { o.GivesUp = true },
		"agents push back":                           func(o *lawfulhost.Options) { o.PushesBack = true },
		"agents classify late":                       func(o *lawfulhost.Options) { o.Classifies = 150 * time.Millisecond },
		"agents show entries late":                   func(o *lawfulhost.Options) { o.LateEntries = 40 * time.Millisecond },
		"agents give a dead lease back":              func(o *lawfulhost.Options) { o.AtOnce = true },
		"agents keep a poisoned message":             func(o *lawfulhost.Options) { o.KeepsPoison = true },
		"agents decide on a replay again":            func(o *lawfulhost.Options) { o.DecidesAgain = true },
		"agents say more":                            func(o *lawfulhost.Options) { o.MoreMembers, o.PrettyBodies, o.MediaParameter = true, true, true },
		"agents show one item a page":                func(o *lawfulhost.Options) { o.OnePage = 1 },
		"agents have texts of their own":             func(o *lawfulhost.Options) { o.OwnTexts = true },
		"agents have numbers of their own":           func(o *lawfulhost.Options) { o.OtherNumbers = true },
		"agents on a clock that stands still":        func(o *lawfulhost.Options) { o.StillClock = true },
		"agents, integers with a fraction of nought": func(o *lawfulhost.Options) { o.Floats = true },
		"agents, instants in lower case":             func(o *lawfulhost.Options) { o.Instants = lawfulhost.InstantsLower },
		"agents, instants elsewhere":                 func(o *lawfulhost.Options) { o.Instants = lawfulhost.InstantsEast },
		"agents, closed connections":                 func(o *lawfulhost.Options) { o.Closes, o.Gzip = true, true },
		"agents put every request off":               func(o *lawfulhost.Options) { o.PutsOff = 7 },
		"agents name things oddly":                   func(o *lawfulhost.Options) { o.OddNames = true },
		"agents pick messages up late":               func(o *lawfulhost.Options) { o.PicksUp = 150 * time.Millisecond },
		"agents replay late":                         func(o *lawfulhost.Options) { o.ReplaysLater = 60 * time.Millisecond },
		"agents on a clock that ticks":               func(o *lawfulhost.Options) { o.ClockTick = time.Second },
		"everything of the agents": func(o *lawfulhost.Options) {
			o.GivesUp, o.PushesBack, o.Classifies, o.LateEntries, o.KeepsPoison, o.DecidesAgain = true, true, 100*time.Millisecond, 20*time.Millisecond, true, true
			o.MoreMembers, o.OnePage, o.OwnTexts, o.OtherNumbers, o.StillClock = true, 1, true, true, true
		},
	} {
		o := lawfulhost.Options{}
		o.Agent, o.Seams, o.NoHostEvents = true, true, true
		set(&o)
		all[name] = o
	}
	return all
}

// Every leg of those parts acquits every lawful host, on one major.
func TestLawfulAgentHostsAreAcquitted(t *testing.T) {
	hosts := lawfulAgentHosts()
	var args []string
	for _, legs := range lawfulAgentLegs() {
		args = append(args, "--leg", legs)
	}
	judged(t, atOnce, slices.Sorted(maps.Keys(hosts)), func(ctx context.Context, dir, name string) (visit, error) {
		return visitLawful(ctx, dir, lawful{Options: hosts[name]}, args...)
	}, func(v visit, name string) []string {
		return unlike(v, expectedAgentRows(hosts[name]), 0)
	})
}

func expectedAgentRows(o lawfulhost.Options) map[string]string {
	major := 2
	if o.Majors != nil {
		major = slices.Max(o.Majors)
	}
	rows := map[string]string{}
	for _, leg := range registry.Legs() {
		if slices.ContainsFunc(lawfulAgentLegs(), func(glob string) bool { ok, _ := path.Match(glob, string(leg.ID)); return ok }) {
			rows[onMajor(string(leg.ID), major)] = string(registry.Pass)
		}
	}
	return rows
}
