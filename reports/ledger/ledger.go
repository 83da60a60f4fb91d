// Package ledger turns what a run recorded into one row for each selected case, and the rows into an exit code. It
// starts from the cases that were selected, never from the records that came, so that a leg which left no trace is a
// blocked row and not a missing one. The live run and a later re-judging of the recorded file share Judge.
//
// It never talks to a host, reads a clock or prints. Start with Build.
package ledger

import (
	"fmt"
	"slices"

	"github.com/wopwitness/wopwitness/scenarios/registry"
	"github.com/wopwitness/wopwitness/witness"
)

// Table gives the judge of each leg.
type Table map[registry.LegID]witness.Judge

// Row is one case as it ended: the bundle's row, and beside it what only reports for people show.
type Row struct {
	registry.Row
	Leg     registry.Leg
	Major   int
	Reason  registry.Reason  // "" for a pass
	Says    string           // why, for people; may hold host text, so it is escaped where it is shown
	Verdict *witness.Verdict // nil where nothing was judged
	Record  *witness.Record  // nil where the leg left no record
}

// Ledger is every selected case in the order of selection.
type Ledger struct {
	Rows        []Row
	Interrupted bool // the run ended before every case had its turn
	Cut         bool // read from a file that ends before its run did: nobody knows what is missing
}

// Build makes the ledger of the selected cases from the records of a run, in whatever order they came. A case without a
// record is blocked as not run, or as interrupted; a case with two records is blocked, since only one of them can be
// what happened.
func Build(cases []registry.Case, records []witness.Record, table Table, policy Policy, interrupted bool) Ledger {
	byCase := map[caseKey][]witness.Record{}
	for _, r := range records {
		k := caseKey{r.Leg, r.Major}
		byCase[k] = append(byCase[k], r)
	}
	l := Ledger{Interrupted: interrupted, Rows: make([]Row, 0, len(cases))}
	for _, c := range cases {
		switch found := byCase[caseKey{c.Leg.ID, c.Major}]; len(found) {
		case 0:
			reason := registry.NotRun
			if interrupted {
				reason = registry.Interrupted
			}
			l.Rows = append(l.Rows, blocked(c, reason, ""))
		case 1:
			l.Rows = append(l.Rows, Judge(c, found[0], table, policy))
		default:
			row := blocked(c, registry.Unreadable, "the run recorded this leg more than once")
			row.Record = &found[0]
			l.Rows = append(l.Rows, row)
		}
	}
	return l
}

type caseKey struct {
	leg   registry.LegID
	major int
}

// Majors lists the majors that the ledger has rows of, ascending.
func (l Ledger) Majors() []int {
	var majors []int
	for _, r := range l.Rows {
		majors = append(majors, r.Major)
	}
	slices.Sort(majors)
	return slices.Compact(majors)
}

// Major gives the rows of one major, in the ledger's order.
func (l Ledger) Major(major int) []Row {
	var rows []Row
	for _, r := range l.Rows {
		if r.Major == major {
			rows = append(rows, r)
		}
	}
	return rows
}

// Totals counts rows by disposition.
type Totals struct {
	ExecutedPass int `json:"executedPass"`
	ExecutedFail int `json:"executedFail"`
	Skipped      int `json:"skipped"`
	Inapplicable int `json:"inapplicable"`
	Blocked      int `json:"blocked"`
}

// String is the totals as a line: "48 passed, 1 failed, 2 inapplicable, 0 skipped, 0 blocked".
func (t Totals) String() string {
	return fmt.Sprintf("%d passed, %d failed, %d inapplicable, %d skipped, %d blocked",
		t.ExecutedPass, t.ExecutedFail, t.Inapplicable, t.Skipped, t.Blocked)
}

// Count adds up rows.
func Count(rows []Row) Totals {
	var t Totals
	for _, r := range rows {
		t.Add(r.Result)
	}
	return t
}

// Add counts one row of the given disposition; an unknown one is counted nowhere.
func (t *Totals) Add(r registry.Result) {
	switch r {
	case registry.Pass:
		t.ExecutedPass++
	case registry.Fail:
		t.ExecutedFail++
	case registry.Skipped:
		t.Skipped++
	case registry.Inapplicable:
		t.Inapplicable++
	case registry.Blocked:
		t.Blocked++
	}
}
