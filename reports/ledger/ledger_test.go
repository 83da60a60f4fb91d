package ledger_test

import (
	"encoding/json"
	"errors"
	"testing"

	"github.com/wopwitness/wopwitness/reports/ledger"
	"github.com/wopwitness/wopwitness/scenarios/registry"
	"github.com/wopwitness/wopwitness/witness"
)

const someLeg registry.LegID = "0250.cursor-refused"

func someCase() registry.Case {
	return registry.Case{Major: 2, Leg: registry.Leg{
		ID: someLeg, RFC: "0250", Section: "§C", Title: "an unknown cursor is refused", Profile: "hostEvents.replay",
		Majors: []int{2}, Observes: registry.Behaviour,
	}}
}

// reaching is a table whose one judge gives the verdict.
func reaching(v witness.Verdict) ledger.Table {
	return ledger.Table{someLeg: func(json.RawMessage) (witness.Verdict, error) { return v, nil }}
}

func observed() witness.Record {
	return witness.Record{Leg: someLeg, Major: 2, Cause: "production", Observation: json.RawMessage(`{"a": 1}`)}
}

func stopped(result registry.Result, reason registry.Reason) witness.Record {
	return witness.Record{Leg: someLeg, Major: 2, Stop: &witness.Stop{Result: result, Reason: reason, Says: "what was seen"}}
}

func TestJudgeGivesTheDisposition(t *testing.T) {
	strict := ledger.Policy{Strict: true}
	acquits := reaching(witness.Verdict{Checks: []string{"status", "body"}})
	tests := map[string]struct {
		record     witness.Record
		table      ledger.Table
		policy     ledger.Policy
		result     registry.Result
		detail     string
		assertions int
	}{
		"checks and no finding pass": {observed(), acquits, ledger.Policy{}, registry.Pass, "", 2},
		"a finding convicts": {observed(), reaching(witness.Verdict{Checks: []string{"status"},
			Findings: []witness.Finding{{Check: "status"}}}), ledger.Policy{}, registry.Fail, "convicted:status", 1},
		"findings are named once and sorted": {observed(), reaching(witness.Verdict{Checks: []string{"status", "body", "order"},
			Findings: []witness.Finding{{Check: "status"}, {Check: "body"}, {Check: "status"}}}), ledger.Policy{}, registry.Fail, "convicted:body,status", 3},
		"a check that is no code stays out of the row": {observed(), reaching(witness.Verdict{Checks: []string{"x"},
			Findings: []witness.Finding{{Check: "got <b>evil</b>"}}}), ledger.Policy{}, registry.Fail, "convicted", 1},
		"a finding outranks undecided": {observed(), reaching(witness.Verdict{Checks: []string{"status"}, Findings: []witness.Finding{{Check: "status"}},
			Undecided: &witness.Undecided{Reason: registry.Timeout}}), ledger.Policy{}, registry.Fail, "convicted:status", 1},
		"undecided over the run blocks": {observed(), reaching(witness.Verdict{Checks: []string{"status"},
			Undecided: &witness.Undecided{Reason: registry.Timeout}}), ledger.Policy{}, registry.Blocked, "timeout", 1},
		"undecided over the host is inapplicable": {observed(), reaching(witness.Verdict{
			Undecided: &witness.Undecided{Reason: registry.NoCause}}), ledger.Policy{}, registry.Inapplicable, "no-cause", 0},
		"undecided for no registered reason blocks": {observed(), reaching(witness.Verdict{
			Undecided: &witness.Undecided{Reason: "because"}}), ledger.Policy{}, registry.Blocked, "unreadable", 0},
		"no check is vacuous": {observed(), reaching(witness.Verdict{}), ledger.Policy{}, registry.Blocked, "vacuous", 0},
		"no judge blocks":     {observed(), ledger.Table{}, ledger.Policy{}, registry.Blocked, "unreadable", 0},
		"a judge's error blocks": {observed(), ledger.Table{someLeg: func(json.RawMessage) (witness.Verdict, error) {
			return witness.Verdict{}, errors.New("not of my kind")
		}}, ledger.Policy{}, registry.Blocked, "unreadable", 0},
		"a judge's panic blocks": {observed(), ledger.Table{someLeg: func(json.RawMessage) (witness.Verdict, error) {
			panic("index out of range")
		}}, ledger.Policy{}, registry.Blocked, "panicked", 0},

		"not advertised is inapplicable":        {stopped(registry.Inapplicable, registry.NotAdvertised), nil, ledger.Policy{}, registry.Inapplicable, "not-advertised", 0},
		"not advertised convicts in strict":     {stopped(registry.Inapplicable, registry.NotAdvertised), nil, strict, registry.Fail, "not-advertised", 1},
		"a class not listed convicts in strict": {stopped(registry.Fail, registry.ClassNotListed), nil, strict, registry.Fail, "class-not-listed", 1},
		"a strict record is re-judged leniently where the policy is lenient": {stopped(registry.Fail, registry.ClassNotListed), nil, ledger.Policy{},
			registry.Inapplicable, "class-not-listed", 0},
		"strict spares a family that was opted out of": {stopped(registry.Inapplicable, registry.NotAdvertised), nil,
			ledger.Policy{Strict: true, OptedOut: []string{"hostEvents.replay"}}, registry.Inapplicable, "not-advertised", 0},
		"strict spares what the operator didn't supply": {stopped(registry.Inapplicable, registry.NoCause), nil, strict, registry.Inapplicable, "no-cause", 0},
		"opted out is skipped":                          {stopped(registry.Skipped, registry.OptedOut), nil, strict, registry.Skipped, "opted-out", 0},
		"unreachable is blocked":                        {stopped(registry.Blocked, registry.Unreachable), nil, strict, registry.Blocked, "unreachable", 0},

		"a stop can't pass":               {stopped(registry.Pass, registry.NoCause), nil, ledger.Policy{}, registry.Blocked, "unreadable", 0},
		"a stop can't convict":            {stopped(registry.Fail, registry.Convicted), nil, ledger.Policy{}, registry.Blocked, "unreadable", 0},
		"a suite fact excuses nothing":    {stopped(registry.Inapplicable, registry.Timeout), nil, ledger.Policy{}, registry.Blocked, "unreadable", 0},
		"a host fact blocks nothing":      {stopped(registry.Blocked, registry.NotAdvertised), nil, ledger.Policy{}, registry.Blocked, "unreadable", 0},
		"only the operator skips":         {stopped(registry.Skipped, registry.Timeout), nil, ledger.Policy{}, registry.Blocked, "unreadable", 0},
		"an unknown reason is unreadable": {stopped(registry.Inapplicable, "mood"), nil, ledger.Policy{}, registry.Blocked, "unreadable", 0},
		"an unknown result is unreadable": {stopped("fine", registry.Timeout), nil, ledger.Policy{}, registry.Blocked, "unreadable", 0},
		"neither stop nor observation":    {witness.Record{Leg: someLeg, Major: 2}, acquits, ledger.Policy{}, registry.Blocked, "unreadable", 0},
		"both stop and observation": {witness.Record{Leg: someLeg, Major: 2, Observation: json.RawMessage(`{}`),
			Stop: &witness.Stop{Result: registry.Skipped, Reason: registry.OptedOut}}, acquits, ledger.Policy{}, registry.Blocked, "unreadable", 0},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			row := ledger.Judge(someCase(), tt.record, tt.table, tt.policy)
			if row.Result != tt.result || row.Detail != tt.detail || row.Assertions != tt.assertions {
				t.Errorf("got %s %q with %d assertions, want %s %q with %d",
					row.Result, row.Detail, row.Assertions, tt.result, tt.detail, tt.assertions)
			}
			if (row.Result == registry.Pass) == (row.Detail != "") {
				t.Errorf("a row has a reason exactly where it isn't a pass; got %s with %q", row.Result, row.Detail)
			}
		})
	}
}

func TestJudgeFillsTheRow(t *testing.T) {
	row := ledger.Judge(someCase(), observed(), reaching(witness.Verdict{Checks: []string{"status"}}), ledger.Policy{})
	want := registry.Row{
		ID: "openwop.requirement.0250.cursor-refused", Scenario: "an unknown cursor is refused", Result: registry.Pass,
		Assertions: 1, Cause: "production",
		Observation: "015abd7f5cc57a2dd94b7590f04ad8084273905ee33ec5cebeae62276a97f862", // printf '{"a":1}' | sha256sum
	}
	if row.Row != want {
		t.Errorf("got %+v\nwant %+v", row.Row, want)
	}
	invented := observed()
	invented.Cause = "a host's word"
	if row := ledger.Judge(someCase(), invented, nil, ledger.Policy{}); row.Cause != "" {
		t.Errorf("a cause outside the closed set is in the row: %q", row.Cause)
	}
}

func TestBuildStartsFromTheCases(t *testing.T) {
	acquits := reaching(witness.Verdict{Checks: []string{"status"}})
	cases := []registry.Case{someCase()}
	tests := map[string]struct {
		records     []witness.Record
		interrupted bool
		result      registry.Result
		detail      string
	}{
		"one record is judged":                 {[]witness.Record{observed()}, false, registry.Pass, ""},
		"no record is not run":                 {nil, false, registry.Blocked, "not-run"},
		"no record of an interrupted run":      {nil, true, registry.Blocked, "interrupted"},
		"two records can't both be true":       {[]witness.Record{observed(), observed()}, false, registry.Blocked, "unreadable"},
		"a record on another major is no help": {[]witness.Record{{Leg: someLeg, Major: 1, Observation: json.RawMessage(`{}`)}}, false, registry.Blocked, "not-run"},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			l := ledger.Build(cases, tt.records, acquits, ledger.Policy{}, tt.interrupted)
			if len(l.Rows) != 1 || l.Rows[0].Result != tt.result || l.Rows[0].Detail != tt.detail {
				t.Errorf("got %+v, want one row %s %q", l.Rows, tt.result, tt.detail)
			}
		})
	}
}

func TestStrictSparesAnExtension(t *testing.T) {
	spared, convicted := 0, 0
	for _, leg := range registry.Legs() {
		row := ledger.Judge(registry.Case{Leg: leg, Major: 2}, witness.Record{Leg: leg.ID, Major: 2,
			Stop: &witness.Stop{Result: registry.Inapplicable, Reason: registry.NotAdvertised}}, nil, ledger.Policy{Strict: true})
		switch {
		case leg.RFC == "agentdlq" && row.Result == registry.Inapplicable:
			spared++
		case leg.RFC != "agentdlq" && row.Result == registry.Fail:
			convicted++
		default:
			t.Errorf("%s of a host that doesn't advertise it is %s in strict mode", leg.ID, row.Result)
		}
	}
	if spared == 0 || convicted == 0 {
		t.Errorf("%d spared and %d convicted", spared, convicted)
	}
}

// TestTheDigestIsOverCompactJSON: space between tokens changes no digest, and space within a string does.
func TestTheDigestIsOverCompactJSON(t *testing.T) {
	digest := func(observation string) string {
		t.Helper()
		d, err := ledger.ObservationDigest(json.RawMessage(observation))
		if err != nil {
			t.Fatal(err)
		}
		return d
	}
	compact := `{"a b":[1,"\\\" c\t"," \\"],"d":{}}`
	for _, spaced := range []string{
		`{ "a b":[1,"\\\" c\t"," \\"],"d":{}}`, `{"a b":[1,"\\\" c\t"," \\"],"d":{}}` + "\n", "{\"a b\":[1,\t\"\\\\\\\" c\\t\",\r\n\" \\\\\"],\"d\":{ }}",
	} {
		if digest(spaced) != digest(compact) {
			t.Errorf("%q has another digest than %q", spaced, compact)
		}
	}
	if digest(`{"a b":1}`) == digest(`{"ab":1}`) || digest(`"\" "`) == digest(`"\""`) {
		t.Error("a space within a string was left out")
	}
}
