package scenarios

import (
	"fmt"
	"strings"

	"github.com/onsi/gomega/types"

	"github.com/wopwitness/wopwitness/witness"
)

// Acquit matches a *witness.Verdict that convicts of nothing and that rests on at least one check. A verdict without
// checks, or an undecided one, does not acquit: a vacuous pass is no pass.
func Acquit() types.GomegaMatcher { return acquit{} }

type acquit struct{}

func (acquit) Match(actual any) (bool, error) {
	v, ok := actual.(*witness.Verdict)
	if !ok || v == nil {
		return false, fmt.Errorf("Acquit takes a *witness.Verdict, got %T", actual)
	}
	return len(v.Findings) == 0 && v.Undecided == nil && len(v.Checks) > 0, nil
}

func (acquit) FailureMessage(actual any) string {
	v, ok := actual.(*witness.Verdict)
	if !ok || v == nil {
		return "no verdict"
	}
	var lines []string
	for _, f := range v.Findings {
		lines = append(lines, f.Section+" "+f.Check+": "+f.Says)
	}
	if v.Undecided != nil {
		lines = append(lines, "undecided: "+string(v.Undecided.Reason)+": "+v.Undecided.Says)
	}
	if len(v.Checks) == 0 {
		lines = append(lines, "nothing was checked")
	}
	return strings.Join(lines, "\n")
}

func (acquit) NegatedFailureMessage(any) string { return "expected a finding, and the verdict acquits" }
