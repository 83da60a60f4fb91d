package verify_test

import (
	"strings"
	"testing"

	"github.com/wopwitness/wopwitness/reports/verify"
)

func TestAnAttestationIsNamedAndNotReadAsABundle(t *testing.T) {
	for name, tt := range map[string]struct {
		text     string
		envelope bool
	}{
		"an envelope":               {`{"payloadType":"application/vnd.in-toto+json","payload":"e30=","signatures":[]}`, true},
		"an envelope without one":   {`{"payloadType":"application/vnd.in-toto+json","payload":"e30="}`, false},
		"a bundle that hides as it": {`{"bundleVersion":"1","payloadType":"x","payload":"e30=","signatures":[]}`, false},
	} {
		r := verify.Bundle([]byte(tt.text), verify.Options{})
		alone := len(r.Refusals) == 1 && r.Refusals[0].Code == verify.WrongType && strings.Contains(r.Refusals[0].Says, "this is an attestation")
		if alone != tt.envelope || r.Verdict != verify.Refused {
			t.Errorf("%s: %s, %v", name, r.Verdict, r.Refusals)
		}
	}
}
