package lawfulhost

import (
	"maps"
	"slices"
)

// Node types of the fixtures.
const (
	typeSucceed = "conformance.succeed"
	typeFail    = "conformance.fail"
)

// workflow is what the engine needs of one. Its nodes run one after another, as the fixtures' edges say.
type workflow struct {
	nodes      []node
	maxRetries int
}

// node is one step with the members of config that refine conformance.fail.
type node struct {
	id, kind  string
	succeedOn int    // succeedOnAttempt, 0 for none
	mendedBy  string // succeedWhenConfigurable
	secret    string
}

// outcome says whether the node completes at a try, counted from 1.
func (n node) completes(attempt int, configurable map[string]any) bool {
	switch {
	case n.kind == typeSucceed, n.succeedOn > 0 && attempt >= n.succeedOn:
		return true
	case n.mendedBy != "":
		return says(configurable, n.mendedBy)
	}
	return false
}

// says looks for a member that is true: at the top on major 1, in any object of extensions on major 2.
func says(configurable map[string]any, name string) bool {
	if configurable[name] == true {
		return true
	}
	extensions, _ := configurable["extensions"].(map[string]any)
	for _, v := range extensions {
		if object, is := v.(map[string]any); is && object[name] == true {
			return true
		}
	}
	return false
}

const noopWorkflow = "conformance-noop"

const canarySecret = "openwop-conformance-canary-secret"

// fixtures are the workflows of docs/fixtures.md, written down from that page.
func fixtures() map[string]workflow {
	poison := node{id: "poison", kind: typeFail}
	mendable, withSecret := poison, poison
	mendable.mendedBy = "conformanceFixed"
	withSecret.secret = canarySecret
	return map[string]workflow{
		noopWorkflow:                     {nodes: []node{{id: "noop", kind: typeSucceed}}},
		"conformance-deadletter-exhaust": {nodes: []node{poison}, maxRetries: 2},
		"conformance-deadletter-downstream": {
			nodes: []node{{id: "ok", kind: typeSucceed}, poison, {id: "after", kind: typeSucceed}}, maxRetries: 2,
		},
		"conformance-deadletter-recovers": {nodes: []node{{id: "flaky", kind: typeFail, succeedOn: 3}}, maxRetries: 2},
		"conformance-deadletter-secret":   {nodes: []node{withSecret}, maxRetries: 2},
		"conformance-deadletter-fixable":  {nodes: []node{mendable}, maxRetries: 2},
	}
}

// seeded are the ids of the workflows that this host has and lists.
func (o Options) seeded() []string {
	switch {
	case o.Sink && o.NoFixtures:
	case o.Sink && o.Seeds != nil:
		return o.Seeds
	case o.Sink:
		return slices.Sorted(maps.Keys(fixtures()))
	case o.Runs:
		return []string{noopWorkflow}
	}
	return []string{}
}
