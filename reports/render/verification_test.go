package render_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/wopwitness/wopwitness/reports/render"
	"github.com/wopwitness/wopwitness/reports/verify"
)

func TestOnlyAVerifiedBundleIsSaidToCertify(t *testing.T) {
	for _, c := range []struct {
		verdict verify.Verdict
		line    string
	}{
		{verify.Verified, "certified hostEvents.replay (evidence: self)\n"},
		{verify.IntegrityOnly, "claims    hostEvents.replay (evidence: self), unproven\n"},
		{verify.Unresolved, "claims    hostEvents.replay (evidence: self), unproven\n"},
	} {
		t.Run(string(c.verdict), func(t *testing.T) {
			var out strings.Builder
			render.Verification(&out, verify.Report{Verdict: c.verdict, Summary: verify.Summary{Certified: []string{"hostEvents.replay"}, Tier: "self"}}, render.Paint{})
			if !strings.Contains(out.String(), "\n"+c.line) || strings.Contains(out.String(), "certified") != (c.verdict == verify.Verified) {
				t.Errorf("got\n%s", out.String())
			}
		})
	}
}

func TestAVerificationNamesWhatFailed(t *testing.T) {
	var many []string
	for i := range 23 {
		many = append(many, fmt.Sprintf("openwop.requirement.0250.row-%d", i))
	}
	for name, c := range map[string]struct {
		failed []string
		says   string
	}{
		"two":  {many[:2], "failed    0250.row-0, 0250.row-1\n"},
		"many": {many, "0250.row-19, and 3 more\n"},
	} {
		t.Run(name, func(t *testing.T) {
			var out strings.Builder
			render.Verification(&out, verify.Report{Verdict: verify.Verified, Summary: verify.Summary{Failed: c.failed}}, render.Paint{})
			if !strings.Contains(out.String(), c.says) {
				t.Errorf("got\n%s", out.String())
			}
		})
	}
}
