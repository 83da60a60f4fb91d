// Package rejudge reaches the rows of a run again from its observations.jsonl, with no host, and says where they and a
// bundle part.
//
// It uses the ledger's own Judge, so it cannot hold another opinion than the live run did. Start with Ledger.
package rejudge

import (
	"fmt"
	"io"

	"github.com/wopwitness/wopwitness/reports/ledger"
	"github.com/wopwitness/wopwitness/reports/observations"
	"github.com/wopwitness/wopwitness/scenarios/registry"
	"github.com/wopwitness/wopwitness/witness"
)

// Ledger reads a file of observations and judges it under the policy that the file names. A file without its last
// line is Cut: its cases without a record have the code that an interrupted run gives them. A case of a leg that this build does not have is an error: its rows cannot be reached.
func Ledger(in io.Reader, table ledger.Table) (ledger.Ledger, observations.File, error) {
	var records []witness.Record
	file, err := observations.Read(in, func(r witness.Record) error {
		records = append(records, r)
		return nil
	})
	if err != nil {
		return ledger.Ledger{}, file, fmt.Errorf("read observations: %w", err)
	}
	cases := make([]registry.Case, 0, len(file.Run.Cases))
	selected := map[observations.Case]bool{}
	for _, c := range file.Run.Cases {
		leg, ok := registry.Find(c.Leg)
		if !ok {
			return ledger.Ledger{}, file, fmt.Errorf("the run selected %q, which this build has no leg for; re-judge with version %q", c.Leg, file.Run.Suite)
		}
		if selected[c] {
			return ledger.Ledger{}, file, fmt.Errorf("the run selected %q on major %d twice", c.Leg, c.Major)
		}
		selected[c] = true
		cases = append(cases, registry.Case{Leg: leg, Major: c.Major})
	}
	for _, r := range records {
		if !selected[observations.Case{Leg: r.Leg, Major: r.Major}] {
			return ledger.Ledger{}, file, fmt.Errorf("there is a record of %q on major %d, which the run did not select", r.Leg, r.Major)
		}
	}
	cut := file.End == nil
	l := ledger.Build(cases, records, table, file.Run.Policy, cut || file.End.Interrupted)
	if cut {
		l.Interrupted, l.Cut = false, true
		for i := range l.Rows {
			if r := &l.Rows[i]; r.Reason == registry.Interrupted && r.Record == nil {
				r.Says = "the file ends before its run did, and has no record of this: it was cut, or the run was interrupted"
			}
		}
	}
	return l, file, nil
}
