package ledger_test

import (
	"testing"

	"github.com/wopwitness/wopwitness/reports/ledger"
	"github.com/wopwitness/wopwitness/scenarios/registry"
	"github.com/wopwitness/wopwitness/witness"
)

func ended(id registry.LegID, result registry.Result, observes registry.Observes, judged bool) ledger.Row {
	r := ledger.Row{Leg: registry.Leg{ID: id, RFC: "0250", Profile: "hostEvents.replay", Observes: observes}, Major: 2}
	r.Result = result
	if judged {
		r.Verdict = &witness.Verdict{}
	}
	return r
}

func TestExit(t *testing.T) {
	pass := ended("0250.a", registry.Pass, registry.Behaviour, true)
	shape := ended("0250.shape", registry.Pass, registry.Shape, true)
	absence := ended("0241.x", registry.Pass, registry.Behaviour, true)
	absence.Verdict.Absence = true
	fail := ended("0250.b", registry.Fail, registry.Behaviour, true)
	strict := ended("0250.c", registry.Fail, registry.Behaviour, false)
	blocked := ended("0250.d", registry.Blocked, registry.Behaviour, false)
	inapplicable := ended("0250.e", registry.Inapplicable, registry.Behaviour, false)
	tests := map[string]struct {
		rows        []ledger.Row
		expectFail  []string
		interrupted bool
		want        int
	}{
		"a pass of behaviour":                    {[]ledger.Row{pass, inapplicable}, nil, false, 0},
		"nothing selected":                       {nil, nil, false, 3},
		"a shape alone is no behaviour":          {[]ledger.Row{shape}, nil, false, 3},
		"an absence alone is no behaviour":       {[]ledger.Row{absence}, nil, false, 3},
		"an absence beside behaviour":            {[]ledger.Row{absence, pass}, nil, false, 0},
		"nothing applied":                        {[]ledger.Row{shape, inapplicable}, nil, false, 3},
		"a failure":                              {[]ledger.Row{pass, fail}, nil, false, 1},
		"a failure of strict mode":               {[]ledger.Row{pass, strict}, nil, false, 1},
		"a blocked row":                          {[]ledger.Row{pass, blocked}, nil, false, 3},
		"a failure outranks a blocked row":       {[]ledger.Row{pass, fail, blocked}, nil, false, 1},
		"an interruption outranks a failure":     {[]ledger.Row{fail}, nil, true, 130},
		"an expected failure":                    {[]ledger.Row{pass, fail}, []string{"0250.b"}, false, 0},
		"an expected failure alone is behaviour": {[]ledger.Row{fail}, []string{"0250.b"}, false, 0},
		"an expected failure beside another":     {[]ledger.Row{pass, fail}, []string{"0250.x*"}, false, 1},
		"an expected failure that passed":        {[]ledger.Row{pass}, []string{"0250.a"}, false, 1},
		"an expected failure that is blocked":    {[]ledger.Row{pass, blocked}, []string{"0250.d"}, false, 3},
		"an expected failure that doesn't apply": {[]ledger.Row{pass, inapplicable}, []string{"0250.e"}, false, 0},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			l := ledger.Ledger{Rows: tt.rows, Interrupted: tt.interrupted}
			if got := l.Exit(tt.expectFail); got != tt.want {
				t.Errorf("exit %d, want %d", got, tt.want)
			}
		})
	}
}

func TestCovers(t *testing.T) {
	leg := registry.Leg{ID: "0250.refusal-uniform", RFC: "0250", Profile: "hostEvents.replay"}
	for name, want := range map[string]bool{
		"hostEvents.replay": true, "hostEvents": true, "0250": true, "0250.refusal-*": true, "0250.refusal-uniform": true,
		"openwop.requirement.0250.refusal-uniform": true,
		"hostEvent": false, "replay": false, "0251": false, "0250.resume-*": false, "": false,
	} {
		if got := registry.Covers(name, leg); got != want {
			t.Errorf("Covers(%q) = %v, want %v", name, got, want)
		}
	}
}

func TestCheckNamesOffersTheNearest(t *testing.T) {
	if err := ledger.CheckNames("--opt-out", []string{"hostEvents.replay", "0250.*", "hostEvents"}); err != nil {
		t.Errorf("names that are real are refused: %v", err)
	}
	err := ledger.CheckNames("--opt-out", []string{"hostEvents.replai"})
	want := `--opt-out "hostEvents.replai" names no leg, profile or family; nearest: hostEvents.replay, hostEvents (wopwitness legs lists them all)`
	if err == nil || err.Error() != want {
		t.Errorf("got %v, want %s", err, want)
	}
}
