package verify_test

import (
	"fmt"
	"testing"

	"github.com/wopwitness/wopwitness/reports/bundle"
	"github.com/wopwitness/wopwitness/reports/verify"
	"github.com/wopwitness/wopwitness/scenarios/registry"
)

// manyRows makes a bundle of n rows more than it has legs.
func manyRows(t testing.TB, n int) []byte {
	return signedBundle(t, func(b *bundle.Bundle) {
		for i := range n {
			b.Results.Requirements = append(b.Results.Requirements, registry.Row{
				ID: fmt.Sprintf("openwop.requirement.9999.row-%05d", i), Scenario: "one of many rows", Result: registry.Pass, Assertions: 3, Observation: observed,
			})
			b.Results.Totals.Add(registry.Pass)
			b.AssertionCount += 3
		}
		var err error
		if b.WitnessSha256, err = bundle.WitnessDigest(b.Results.Requirements, nil); err != nil {
			t.Fatal(err)
		}
	})
}

func TestABundleOfTenThousandRowsIsVerified(t *testing.T) {
	if r := verify.Bundle(manyRows(t, 10_000), withHostKey()); r.Verdict != verify.Verified {
		t.Fatalf("%s: %v", r.Verdict, r.Refusals)
	}
}

func BenchmarkBundleOfTenThousandRows(b *testing.B) {
	raw := manyRows(b, 10_000)
	b.SetBytes(int64(len(raw)))
	for b.Loop() {
		if r := verify.Bundle(raw, withHostKey()); r.Verdict != verify.Verified {
			b.Fatal(r.Verdict)
		}
	}
}
