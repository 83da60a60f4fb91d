package render_test

import (
	"strings"
	"testing"

	"github.com/wopwitness/wopwitness/reports/coverage"
	"github.com/wopwitness/wopwitness/reports/render"
)

func TestCoverageSaysWhatItReadAndWhatNot(t *testing.T) {
	read := coverage.Table{Heading: "Falsifiability", Columns: []string{"Requirement", "Verdict"}, Rows: 2, Read: 1, As: coverage.Falsifiability}
	other := coverage.Table{Heading: "Duties\x1b[2J", Columns: []string{"Duty", "Proof"}, Rows: 3, As: coverage.Other}
	row := func(s coverage.Status) coverage.Covered {
		return coverage.Covered{Row: coverage.Row{Requirement: "§A x"}, Status: s}
	}
	for _, c := range []struct {
		name   string
		report coverage.Report
		says   []string
	}{
		{"no number", coverage.Report{}, []string{"a text without a title\n", "name it with --rfc NUMBER", "verdict: none, the text has no requirement in a form that this reads\n"}},
		{"a number without legs", coverage.Report{RFC: "9999"}, []string{"held against RFC 9999, of which this build has no leg"}},
		{"a table that it doesn't know", coverage.Report{Title: "T", RFC: "9001", Legs: 1, Rows: []coverage.Covered{row(coverage.Witnessed), row(coverage.Unwitnessable)},
			Tables: []coverage.Table{read, other}}, []string{
			"held against the 1 leg that this build has for RFC 9001\n",
			"  read      under \"Falsifiability\" (Requirement | Verdict): 1 of 2 rows, as the falsifiability table\n",
			`  not read  under "Duties\\x1b[2J" (Duty | Proof): 3 rows` + "\n",
			"What is read: a table with the columns Requirement and Verdict",
			"verdict: covered: 1 of 2 rows and cases have a leg, and of 1 the text says that nobody can witness them; 1 table was not read\n"}},
		{"a row without a leg", coverage.Report{RFC: "9001", Legs: 2, Rows: []coverage.Covered{row(coverage.Uncovered)}, Strays: []coverage.Stray{{Leg: "9001.x", Section: "§Z"}}},
			[]string{"      no leg witnesses it\n", "verdict: not covered: 1 of 1 rows and cases have no leg, and 1 leg cites a section that the text doesn't have\n"}},
		{"sentences alone", coverage.Report{RFC: "9001", Legs: 2, Sentences: []coverage.Obliging{{}}}, []string{"verdict: nothing is missing, and nothing was asked for"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			var out strings.Builder
			render.Coverage(&out, c.report, render.Paint{})
			for _, says := range c.says {
				if !strings.Contains(out.String(), says) {
					t.Errorf("no %q in:\n%s", says, out.String())
				}
			}
		})
	}
}
