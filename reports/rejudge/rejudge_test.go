package rejudge_test

import (
	"bytes"
	"encoding/json"
	"slices"
	"strings"
	"testing"

	"github.com/wopwitness/wopwitness/reports/ledger"
	"github.com/wopwitness/wopwitness/reports/observations"
	"github.com/wopwitness/wopwitness/reports/rejudge"
	"github.com/wopwitness/wopwitness/scenarios/registry"
	"github.com/wopwitness/wopwitness/witness"
)

type answer struct {
	Status int `json:"status"`
}

// table judges one real leg by a rule of the test's own.
func table() ledger.Table {
	return ledger.Table{"0250.cursor-refused": witness.Of(func(a answer) witness.Verdict {
		var v witness.Verdict
		v.Check("status", a.Status == 409, func() witness.Finding { return witness.Finding{Says: "another status"} })
		return v
	})}
}

func file(t *testing.T, cases []observations.Case, policy ledger.Policy, records []witness.Record, end bool) string {
	t.Helper()
	var out bytes.Buffer
	w, err := observations.NewWriter(&out, observations.Run{Suite: "0.1.0", Policy: policy, Cases: cases})
	if err != nil {
		t.Fatal(err)
	}
	for _, r := range records {
		if err := w.Record(r); err != nil {
			t.Fatal(err)
		}
	}
	if end {
		if err := w.End(false); err != nil {
			t.Fatal(err)
		}
	}
	return out.String()
}

func TestLedgerReachesTheRowsAgain(t *testing.T) {
	refused := observations.Case{Leg: "0250.cursor-refused", Major: 2}
	legacy := observations.Case{Leg: "0250.legacy-unchanged", Major: 2}
	saw := func(status string) witness.Record {
		return witness.Record{Leg: "0250.cursor-refused", Major: 2, Observation: json.RawMessage(`{"status":` + status + `}`)}
	}
	stop := witness.Record{Leg: "0250.legacy-unchanged", Major: 2,
		Stop: &witness.Stop{Result: registry.Inapplicable, Reason: registry.NotAdvertised}}
	strict := ledger.Policy{Strict: true}
	tests := map[string]struct {
		text string
		want []string
	}{
		"a pass":                        {file(t, []observations.Case{refused}, ledger.Policy{}, []witness.Record{saw("409")}, true), []string{"executed-pass "}},
		"a conviction":                  {file(t, []observations.Case{refused}, ledger.Policy{}, []witness.Record{saw("200")}, true), []string{"executed-fail convicted:status"}},
		"the file's own policy":         {file(t, []observations.Case{legacy}, strict, []witness.Record{stop}, true), []string{"executed-fail not-advertised"}},
		"the lenient policy":            {file(t, []observations.Case{legacy}, ledger.Policy{}, []witness.Record{stop}, true), []string{"inapplicable not-advertised"}},
		"a leg without a record":        {file(t, []observations.Case{refused, legacy}, ledger.Policy{}, []witness.Record{saw("409")}, true), []string{"executed-pass ", "blocked not-run"}},
		"a run that was cut off":        {file(t, []observations.Case{refused, legacy}, ledger.Policy{}, []witness.Record{saw("409")}, false), []string{"executed-pass ", "blocked interrupted"}},
		"an observation of other shape": {file(t, []observations.Case{refused}, ledger.Policy{}, []witness.Record{saw(`409,"more":1`)}, true), []string{"blocked unreadable"}},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			l, _, err := rejudge.Ledger(strings.NewReader(tt.text), table())
			if err != nil {
				t.Fatal(err)
			}
			var got []string
			for _, r := range l.Rows {
				got = append(got, string(r.Result)+" "+r.Detail)
			}
			if !slices.Equal(got, tt.want) {
				t.Errorf("got %q, want %q", got, tt.want)
			}
		})
	}
}

func TestLedgerRefusesWhatItCannotTell(t *testing.T) {
	refused := observations.Case{Leg: "0250.cursor-refused", Major: 2}
	tests := map[string]struct{ text, says string }{
		"a leg of another build":  {file(t, []observations.Case{{Leg: "9999.x", Major: 2}}, ledger.Policy{}, nil, true), `the run selected "9999.x", which this build has no leg for; re-judge with version "0.1.0"`},
		"a case twice":            {file(t, []observations.Case{refused, refused}, ledger.Policy{}, nil, true), "the run selected \"0250.cursor-refused\" on major 2 twice"},
		"a record not selected":   {file(t, nil, ledger.Policy{}, []witness.Record{{Leg: "0250.shape", Major: 2}}, true), `there is a record of "0250.shape" on major 2, which the run did not select`},
		"not a file of the suite": {"hello", "read observations: line 1: not a line of this form"},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			_, _, err := rejudge.Ledger(strings.NewReader(tt.text), table())
			if err == nil || !strings.HasPrefix(err.Error(), tt.says) {
				t.Errorf("got %v, want %q", err, tt.says)
			}
		})
	}
}

func TestCompareNamesEveryDifference(t *testing.T) {
	row := registry.Row{ID: "b", Scenario: "s", Result: registry.Pass, Assertions: 2, Observation: "00"}
	with := func(change func(*registry.Row)) []registry.Row {
		r := row
		change(&r)
		return []registry.Row{r}
	}
	tests := map[string]struct {
		was, is []registry.Row
		want    []rejudge.Difference
	}{
		"equal":       {[]registry.Row{row}, []registry.Row{row}, nil},
		"another end": {[]registry.Row{row}, with(func(r *registry.Row) { r.Result, r.Detail = registry.Fail, "convicted" }), []rejudge.Difference{{ID: "b", Member: "result", Was: "executed-pass", Is: "executed-fail"}, {ID: "b", Member: "detail", Is: "convicted"}}},
		"a changed observation": {[]registry.Row{row}, with(func(r *registry.Row) { r.Observation = "01" }),
			[]rejudge.Difference{{ID: "b", Member: "observationSha256", Was: "00", Is: "01"}}},
		"assertions": {[]registry.Row{row}, with(func(r *registry.Row) { r.Assertions = 3 }), []rejudge.Difference{{ID: "b", Member: "assertions", Was: "2", Is: "3"}}},
		"a row less": {[]registry.Row{row, {ID: "a", Result: registry.Pass}}, []registry.Row{row}, []rejudge.Difference{{ID: "a", Member: "row", Was: "executed-pass"}}},
		"a row more": {[]registry.Row{row}, []registry.Row{row, {ID: "a", Result: registry.Fail}}, []rejudge.Difference{{ID: "a", Member: "row", Is: "executed-fail"}}},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			if got := rejudge.Compare(tt.was, tt.is); !slices.Equal(got, tt.want) {
				t.Errorf("got %+v, want %+v", got, tt.want)
			}
		})
	}
}
