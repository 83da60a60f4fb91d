package hostevents

import (
	"fmt"
	"slices"

	"github.com/wopwitness/wopwitness/scenarios/registry"
	"github.com/wopwitness/wopwitness/witness"
	"github.com/wopwitness/wopwitness/witness/observe"
	"github.com/wopwitness/wopwitness/witness/observe/eventstream"
)

// Sighted is what the host lists, every kind of host event that the run's streams have shown so far, and a stream of the
// leg's own on which one event of each listed class was sent.
type Sighted struct {
	Discovery observe.Exchange     `json:"discovery"`
	Sights    []Sight              `json:"sights,omitempty"`
	Own       observe.Subscription `json:"own"`
}

// JudgeListedTypes judges 0236.host-event.listed-types (RFC 0236): a host emits no type that it does not list, and a
// type keeps its class. Other frames on the channel, such as heartbeats, are no host events and are passed over.
func JudgeListedTypes(o Sighted) witness.Verdict {
	var v witness.Verdict
	types, ok := listed(o.Discovery)
	if !ok {
		v.Undecide(registry.Unreadable, "discovery has no readable hostEvents record: %s", brief(o.Discovery))
		return v
	}
	document, _ := discovered(o.Discovery)
	listedForm(&v, document["hostEvents"])
	sights := slices.Clone(o.Sights)
	for _, f := range eventstream.All(o.Own) {
		if s, is := SightOf(f); is {
			sights = append(sights, s)
		}
	}
	if len(sights) == 0 {
		v.Undecide(registry.Timeout, "no stream of the run showed a host event")
		return v
	}
	var strange, changed []string
	for _, s := range sights {
		kept := slices.ContainsFunc(types, func(t ListedType) bool { return t.Type == s.Type && t.Delivery == s.Delivery })
		switch {
		case !lists(types, s.Type):
			strange = append(strange, clip(s.Type))
		case !kept:
			changed = append(changed, fmt.Sprintf("%s as %s", clip(s.Type), clip(s.Delivery)))
		}
	}
	const why = "a consumer prepares for the types that are listed, and mistakes or drops the rest"
	finding := func(says string, seen []string) func() witness.Finding {
		return func() witness.Finding {
			slices.Sort(seen)
			return witness.Finding{
				Says: says, Expected: "of hostEvents.types: " + some(typeNames(types)), Got: some(slices.Compact(seen)),
				Why: why, Section: "RFC 0236 §Types",
			}
		}
	}
	v.Check("only-listed-types", len(strange) == 0, finding("the host emits events of types that it does not list", strange))
	v.Check("class-kept", len(changed) == 0, finding("the host emits a listed type in another class", changed))
	return v
}

func typeNames(types []ListedType) []string {
	var names []string
	for _, t := range types {
		names = append(names, clip(t.Type)+" "+clip(t.Delivery))
	}
	return names
}
