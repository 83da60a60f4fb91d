package ledger

import (
	"fmt"
	"slices"
	"strings"

	"github.com/wopwitness/wopwitness/scenarios/registry"
)

// Policy is what the operator said about how facts about the host are to be taken.
type Policy struct {
	Strict   bool     `json:"strict,omitempty"`   // what the host does not advertise convicts it
	OptedOut []string `json:"optedOut,omitempty"` // profiles, families or leg patterns that are not claimed
}

// convicts says whether strict mode makes a failure of a leg that stopped for the reason. Only what the host leaves
// out convicts, never what the operator did not supply, never a family that was opted out of, and never an extension,
// which is nobody's duty.
func (p Policy) convicts(leg registry.Leg, reason registry.Reason) bool {
	return p.Strict && missing(reason) && !p.OptsOut(leg) && !leg.Extension()
}

// missing says whether the reason is that the host leaves something out.
func missing(r registry.Reason) bool {
	return r == registry.NotAdvertised || r == registry.ClassNotListed
}

// OptsOut says whether any opted-out name covers the leg.
func (p Policy) OptsOut(leg registry.Leg) bool {
	return slices.ContainsFunc(p.OptedOut, func(name string) bool { return registry.Covers(name, leg) })
}

// CheckNames says whether each name covers some leg; the error names the flag, the first that doesn't and the nearest
// names that would.
func CheckNames(flag string, names []string) error {
	legs := registry.Legs()
	var offered []string
	for _, l := range legs {
		offered = append(offered, string(l.ID), l.Profile, l.RFC)
		if family, _, ok := strings.Cut(l.Profile, "."); ok {
			offered = append(offered, family)
		}
	}
	for _, name := range names {
		if !slices.ContainsFunc(legs, func(l registry.Leg) bool { return registry.Covers(name, l) }) {
			return fmt.Errorf("%s %q names no leg, profile or family%s (wopwitness legs lists them all)", flag, name, registry.Nearest(name, offered))
		}
	}
	return nil
}
