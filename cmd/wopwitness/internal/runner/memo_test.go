package runner

import (
	"encoding/json"
	"testing"

	"github.com/wopwitness/wopwitness/reports/ledger"
	"github.com/wopwitness/wopwitness/scenarios"
	"github.com/wopwitness/wopwitness/witness"
)

func TestAVerdictIsRememberedForItsOwnLegAndObservationOnly(t *testing.T) {
	asked := 0
	judge := func(json.RawMessage) (witness.Verdict, error) {
		asked++
		return witness.Verdict{Checks: []string{"asked"}}, nil
	}
	var m memo
	table := m.over(ledger.Table{"0250.a": judge, "0250.b": judge})
	seen := json.RawMessage(`{"n":1}`)
	m.remember(scenarios.Entry{Record: witness.Record{Leg: "0250.a", Observation: seen}, Verdict: &witness.Verdict{Checks: []string{"kept"}}})
	m.remember(scenarios.Entry{Record: witness.Record{Leg: "0250.b", Stop: &witness.Stop{}}})
	for _, c := range []struct {
		name, leg, observation, check string
		asked                         int
	}{
		{"the same", "0250.a", `{"n":1}`, "kept", 0},
		{"another observation", "0250.a", `{"n":2}`, "asked", 1},
		{"another leg", "0250.b", `{"n":1}`, "asked", 2},
	} {
		t.Run(c.name, func(t *testing.T) {
			for leg, judge := range table {
				if string(leg) != c.leg {
					continue
				}
				v, err := judge(json.RawMessage(c.observation))
				if err != nil || v.Checks[0] != c.check || asked != c.asked {
					t.Errorf("verdict %v, %v, judge asked %d times; want %s and %d", v.Checks, err, asked, c.check, c.asked)
				}
			}
		})
	}
}
