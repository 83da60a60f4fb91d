package scenarios

import (
	"encoding/json"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/onsi/ginkgo/v2/types"

	"github.com/wopwitness/wopwitness/witness"
)

// TestEntriesOfOtherProcesses holds that an entry comes out of Ginkgo's report with its observation's bytes unchanged, from
// this process and from another, whose report travels as JSON.
func TestEntriesOfOtherProcesses(t *testing.T) {
	want := []Entry{{
		Record:  witness.Record{Leg: "0250.volume", Major: 2, Observation: json.RawMessage(`{"z":1,"a":"\u003cb\u003e","n":9007199254740993}`)},
		Verdict: &witness.Verdict{Checks: []string{"a", "b"}},
	}}
	report := types.Report{SpecReports: types.SpecReports{{ReportEntries: types.ReportEntries{
		{Name: "another's", Value: types.WrapEntryValue("nothing of ours")},
		{Name: entryName, Value: types.WrapEntryValue(reported(want[0]))},
	}}}}
	if diff := cmp.Diff(want, entriesOf(report)); diff != "" {
		t.Errorf("of this process (-want +got):\n%s", diff)
	}
	raw, err := json.Marshal(report)
	if err != nil {
		t.Fatal(err)
	}
	var travelled types.Report
	if err := json.Unmarshal(raw, &travelled); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(want, entriesOf(travelled)); diff != "" {
		t.Errorf("of another process (-want +got):\n%s", diff)
	}
}
