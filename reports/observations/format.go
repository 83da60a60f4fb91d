// Package observations writes and reads observations.jsonl, the file from which every verdict of a run can be reached
// again without the host: a line that says what was selected and under which policy, a line for each leg and major as
// it ended, and a line that says whether the run came to its end.
//
// It holds no opinion and changes nothing: an observation's bytes in the file are the bytes that its digest in the
// bundle is over. Start with Writer and Read.
package observations

import (
	"github.com/wopwitness/wopwitness/reports/ledger"
	"github.com/wopwitness/wopwitness/scenarios/registry"
	"github.com/wopwitness/wopwitness/witness"
)

// Format is the name and version of the file's form, in its first line.
const Format = "wopwitness-observations-1"

// Run is the first line: {"run": {…}}.
type Run struct {
	Format  string        `json:"format"`
	Suite   string        `json:"suite"`   // the version that drove
	BaseURL string        `json:"baseUrl"` // the host as the operator named it
	Policy  ledger.Policy `json:"policy"`
	Cases   []Case        `json:"cases"` // what was selected, in order
}

// Case names one selected leg on one major.
type Case struct {
	Leg   registry.LegID `json:"leg"`
	Major int            `json:"major"`
}

// End is the last line: {"end": {…}}. A file without it is of a run that was cut off.
type End struct {
	Records     int  `json:"records"`
	Interrupted bool `json:"interrupted,omitempty"`
}

// line is any line of the file. A record's members stand at the line's root.
type line struct {
	Run *Run `json:"run,omitempty"`
	End *End `json:"end,omitempty"`
	witness.Record
}

// Named gives the cases of a selection as the file names them.
func Named(cases []registry.Case) []Case {
	named := make([]Case, 0, len(cases))
	for _, c := range cases {
		named = append(named, Case{Leg: c.Leg.ID, Major: c.Major})
	}
	return named
}
