// Package impact says what a failed step means for the rest of its execution: which steps rest on it, which were done
// and can be taken back, and which never ran.
//
// It reads nothing: all it needs is given. Start at Of.
package impact

import (
	"slices"

	"github.com/wopwitness/wopwitness/mockhost/parts"
)

// The states of a step.
const (
	Done    = "done"
	Failed  = "failed"
	Suspect = "suspect"
	Blocked = "blocked"
)

// What can be done, or was done, to take a step back.
const (
	Offered     = "offered"
	Compensated = "done"
)

// Step is what is known of a step of an execution. Its index is its place.
type Step struct {
	Tool       string
	DependsOn  []int // lower indices
	Done       bool
	SideEffect bool // doing it left something in the world
	// Unresolved tells that an entry of the tool queue about it is unresolved.
	Unresolved bool
	// Compensated tells that its side effect was taken back.
	Compensated bool
}

// Of tells what became of each step; the DependsOn of one is never nil. A step that depends on an unresolved one, directly or through others, is suspect
// whether it ran or not; compensation is offered for each done side effect while any entry of the run is unresolved.
func Of(steps []Step) []parts.ImpactStep {
	unresolved := slices.ContainsFunc(steps, func(s Step) bool { return s.Unresolved })
	tainted := make([]bool, len(steps))
	out := make([]parts.ImpactStep, len(steps))
	for i, s := range steps {
		for _, on := range s.DependsOn {
			if on >= 0 && on < i && (tainted[on] || steps[on].Unresolved) {
				tainted[i] = true
			}
		}
		e := parts.ImpactStep{Step: i, Tool: s.Tool, DependsOn: append([]int{}, s.DependsOn...)}
		switch {
		case s.Unresolved:
			e.State = Failed
		case tainted[i]:
			e.State = Suspect
		case s.Done:
			e.State = Done
		default:
			e.State = Blocked
		}
		switch {
		case s.Compensated:
			e.Compensation = Compensated
		case s.Done && s.SideEffect && unresolved:
			e.Compensation = Offered
		}
		out[i] = e
	}
	return out
}
