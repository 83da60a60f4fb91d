package verify_test

import (
	"slices"
	"testing"

	"github.com/wopwitness/wopwitness/reports/bundle"
	"github.com/wopwitness/wopwitness/reports/ledger"
	"github.com/wopwitness/wopwitness/reports/verify"
	"github.com/wopwitness/wopwitness/scenarios/registry"
)

// TestWhatFailedAndWhatWasNotRunIsNamed: a failure is refused beside a certificate only, and named beside anything.
func TestWhatFailedAndWhatWasNotRunIsNamed(t *testing.T) {
	const leaning = "openwop.requirement.0236.ephemeral.no-resume"
	ended := func(result registry.Result, detail string) []ledger.Row {
		all := rows()
		for i := range all {
			if all[i].ID == leaning {
				all[i].Result, all[i].Detail = result, detail
			}
		}
		return all
	}
	signed := func(rows []ledger.Row, certify bool) []byte {
		b, err := bundle.New(rows, facts())
		if err != nil {
			t.Fatal(err)
		}
		b.ClaimedProfiles[0].Certified = b.ClaimedProfiles[0].Certified || certify
		if err := b.Sign(hostKey()); err != nil {
			t.Fatal(err)
		}
		return file(t, b)
	}
	cut := slices.DeleteFunc(rows(), func(r ledger.Row) bool { return r.ID == leaning })
	for _, c := range []struct {
		name    string
		raw     []byte
		codes   []verify.Code
		failed  []string
		notRuns []string
	}{
		{"all passed", signed(rows(), false), []verify.Code{}, []string{}, nil},
		{"failed, and not certified", signed(ended(registry.Fail, "convicted"), false), []verify.Code{}, []string{leaning}, nil},
		{"failed, and certified", signed(ended(registry.Fail, "convicted"), true), []verify.Code{verify.FailedCertified}, []string{leaning}, nil},
		{"not run, and not certified", signed(cut, false), []verify.Code{}, []string{}, nil},
		{"not run, and certified", signed(cut, true), []verify.Code{}, []string{},
			[]string{`"hostEvents.replay" is certified, and these legs that this build knows for it were not run: 0236.ephemeral.no-resume`}},
	} {
		t.Run(c.name, func(t *testing.T) {
			r := verify.Bundle(c.raw, withHostKey())
			var notRuns []string
			for _, n := range r.Notes {
				if n.Code == verify.NoteNotRun {
					notRuns = append(notRuns, n.Says)
				}
			}
			if got := codes(r); !slices.Equal(got, c.codes) || !slices.Equal(r.Summary.Failed, c.failed) || !slices.Equal(notRuns, c.notRuns) {
				t.Errorf("refusals %v, failed %q, not run %q; want %v, %q, %q", got, r.Summary.Failed, notRuns, c.codes, c.failed, c.notRuns)
			}
		})
	}
}

func TestAnUnsignedBundleIsSaidToBeUnsigned(t *testing.T) {
	for name, c := range map[string]struct {
		gone    []string
		outcome verify.Outcome
	}{
		"signed": {nil, verify.KeyVerified}, "neither": {[]string{"attestation", "signature"}, verify.KeyUnsigned},
		"no signature": {[]string{"signature"}, verify.KeyUnsigned}, "no attestation": {[]string{"attestation"}, verify.KeyUnsigned},
	} {
		t.Run(name, func(t *testing.T) {
			tree := treeOf(t, signedBundle(t, nil))
			for _, member := range c.gone {
				delete(tree, member)
			}
			if r := verify.Bundle(encode(t, tree), withHostKey()); r.Key.Outcome != c.outcome {
				t.Errorf("got %s: %s", r.Key.Outcome, r.Key.Says)
			}
		})
	}
	if r := verify.Bundle([]byte("{"), withHostKey()); r.Key.Outcome != verify.KeyNotChecked {
		t.Errorf("what can't be read is %s", r.Key.Outcome)
	}
}

func TestAnEmptyFileIsSaidToBeEmpty(t *testing.T) {
	for raw, says := range map[string]string{"": "the file is empty", "{": "it is not JSON: unexpected EOF"} {
		r := verify.Bundle([]byte(raw), verify.Options{})
		if len(r.Refusals) != 1 || r.Refusals[0].Code != verify.NotJSON || r.Refusals[0].Says != says {
			t.Errorf("%q: %v", raw, r.Refusals)
		}
	}
}

// A bundle that was signed as it is can be one of a run that failed, or was cut short: whoever reads the verdict alone is told.
func TestABundleThatCertifiesNothingSaysSo(t *testing.T) {
	noted := func(rows []ledger.Row, relaxations ...string) []string {
		f := facts()
		f.Relaxations = relaxations
		b, err := bundle.New(rows, f)
		if err != nil {
			t.Fatal(err)
		}
		if err := b.Sign(hostKey()); err != nil {
			t.Fatal(err)
		}
		r := verify.Bundle(file(t, b), withHostKey())
		if r.Verdict != verify.Verified {
			t.Fatalf("%s: %v", r.Verdict, r.Refusals)
		}
		codes := []string{}
		for _, n := range r.Notes {
			if n.Code == verify.NoteNothingCertified || n.Code == verify.NoteRelaxed {
				codes = append(codes, n.Code)
			}
		}
		return codes
	}
	failed := rows()
	for i := range failed {
		failed[i].Result, failed[i].Detail = registry.Fail, "convicted"
	}
	for _, c := range []struct {
		name      string
		got, want []string
	}{
		{"certified", noted(rows()), []string{}},
		{"failed", noted(failed), []string{verify.NoteNothingCertified}},
		{"relaxed", noted(rows(), "loose"), []string{verify.NoteNothingCertified, verify.NoteRelaxed}},
	} {
		if !slices.Equal(c.got, c.want) {
			t.Errorf("%s: notes %v, want %v", c.name, c.got, c.want)
		}
	}
}
