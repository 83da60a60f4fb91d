package scenarios

import (
	"testing"

	"github.com/wopwitness/wopwitness/scenarios/registry"
	"github.com/wopwitness/wopwitness/witness"
)

func TestAcquitTakesOnlyAVerdictThatCheckedSomethingAndFoundNothing(t *testing.T) {
	for _, c := range []struct {
		name    string
		verdict any
		acquits bool
		err     bool
	}{
		{name: "a check and no finding", verdict: &witness.Verdict{Checks: []string{"one"}}, acquits: true},
		{name: "notes don't matter", verdict: &witness.Verdict{Checks: []string{"one"}, Notes: []witness.Note{{Code: "n"}}}, acquits: true},
		{name: "a finding", verdict: &witness.Verdict{Checks: []string{"one"}, Findings: []witness.Finding{{Check: "one"}}}},
		{name: "vacuous", verdict: &witness.Verdict{}},
		{name: "undecided", verdict: &witness.Verdict{Checks: []string{"one"}, Undecided: &witness.Undecided{Reason: registry.Timeout}}},
		{name: "no verdict", verdict: (*witness.Verdict)(nil), err: true},
		{name: "something else", verdict: 7, err: true},
	} {
		t.Run(c.name, func(t *testing.T) {
			got, err := Acquit().Match(c.verdict)
			if got != c.acquits || (err != nil) != c.err {
				t.Errorf("Match = %v, %v; want %v, error %v", got, err, c.acquits, c.err)
			}
		})
	}
}
