package witness

import (
	"encoding/json"
	"slices"
	"testing"

	"github.com/wopwitness/wopwitness/scenarios/registry"
)

func TestACheckIsCountedOnceAndConvictsEachTime(t *testing.T) {
	var v Verdict
	v.Check("held", true, func() Finding { t.Error("a finding was made for a check that held"); return Finding{} })
	v.Check("broken", false, func() Finding { return Finding{Says: "first"} })
	v.Check("broken", false, func() Finding { return Finding{Says: "second"} })
	if !slices.Equal(v.Checks, []string{"held", "broken"}) {
		t.Errorf("checks %v", v.Checks)
	}
	if len(v.Findings) != 2 || v.Findings[0].Check != "broken" || v.Findings[1].Says != "second" {
		t.Errorf("findings %+v", v.Findings)
	}
}

func TestTheFirstReasonForBeingUndecidedStays(t *testing.T) {
	var v Verdict
	v.Undecide(registry.Timeout, "waited for %s", "D1")
	v.Undecide(registry.Unreachable, "gone")
	if v.Undecided == nil || v.Undecided.Reason != registry.Timeout || v.Undecided.Says != "waited for D1" {
		t.Errorf("undecided %+v", v.Undecided)
	}
}

func TestAJudgeReadsOnlyItsOwnKindOfObservation(t *testing.T) {
	type observation struct {
		Seen int `json:"seen"`
	}
	judge := Of(func(o observation) Verdict {
		var v Verdict
		v.Check("seen", o.Seen > 0, func() Finding { return Finding{Says: "nothing seen"} })
		return v
	})
	for _, c := range []struct {
		name, raw string
		err       bool
		findings  int
	}{
		{"right", `{"seen":1}`, false, 0},
		{"convicting", `{"seen":0}`, false, 1},
		{"an unknown member", `{"seen":1,"more":2}`, true, 0},
		{"data behind", `{"seen":1} {}`, true, 0},
		{"another type", `{"seen":"1"}`, true, 0},
		{"nothing", ``, true, 0},
	} {
		t.Run(c.name, func(t *testing.T) {
			v, err := judge(json.RawMessage(c.raw))
			if (err != nil) != c.err || len(v.Findings) != c.findings {
				t.Errorf("verdict %+v, error %v", v, err)
			}
		})
	}
}
