package verify_test

import (
	"bytes"
	"slices"
	"strings"
	"testing"

	"github.com/wopwitness/wopwitness/reports/bundle"
	"github.com/wopwitness/wopwitness/reports/verify"
)

func TestTheVerifiersSignatureIsSomebodyElses(t *testing.T) {
	independent := func(b *bundle.Bundle) { b.ClaimedProfiles[0].EvidenceTier = bundle.TierIndependent }
	raw := signedBundle(t, independent)
	countersigned, _, err := verify.Countersign(raw, verifierKey(), withHostKey())
	if err != nil {
		t.Fatal(err)
	}
	both := withHostKey()
	both.VerifierKey = verifierKey().Public()
	stranger := withHostKey()
	stranger.VerifierKey = keyOf("verifier-1", 7).Public()
	mine := resigned(t, countersigned, func(b map[string]any) {
		b["verifierSignature"] = map[string]any{"alg": "ed25519", "keyId": "somebody-else", "sig": b["signature"].(map[string]any)["sig"]}
	})
	for _, c := range []struct {
		name    string
		raw     []byte
		options verify.Options
		codes   []verify.Code
		state   verify.VerifierState
	}{
		{"verified", countersigned, both, []verify.Code{}, verify.VerifierVerified},
		{"no key for it", countersigned, withHostKey(), []verify.Code{verify.IndependentUnverifiable}, verify.VerifierUnresolved},
		{"another verifier's key", countersigned, stranger, []verify.Code{verify.VerifierInvalid}, verify.VerifierDisproved},
		{"not there", raw, both, []verify.Code{verify.IndependentUnsigned}, verify.VerifierAbsent},
		{"the host's own under another id", mine, both, []verify.Code{verify.IndependentSelfSigned}, verify.VerifierDisproved},
		{"the host's own key given as the verifier's", countersigned, verify.Options{HostKey: hostKey().Public(), VerifierKey: hostKey().Public()},
			[]verify.Code{verify.IndependentSelfSigned}, verify.VerifierDisproved},
	} {
		t.Run(c.name, func(t *testing.T) {
			r := verify.Bundle(c.raw, c.options)
			if got := codes(r); !slices.Equal(got, c.codes) || r.Verifier.State != c.state {
				t.Errorf("got %v, %s", r.Refusals, r.Verifier.State)
			}
		})
	}
}

func TestCountersigningRefusesWhatNobodyShouldVouchFor(t *testing.T) {
	good := signedBundle(t, nil)
	done, _, err := verify.Countersign(good, verifierKey(), withHostKey())
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		name    string
		raw     []byte
		key     bundle.Key
		options verify.Options
		says    string
	}{
		{"a bundle whose key is only its own word", good, verifierKey(), verify.Options{}, "authenticity is not established"},
		{"a changed bundle", bytes.Replace(good, []byte(`"acme"`), []byte(`"acmf"`), 1), verifierKey(), withHostKey(), "signature-invalid"},
		{"the host's own key", good, keyOf("verifier-1", 1), withHostKey(), "the host's own key"},
		{"the host's own key id", good, keyOf("host-1", 2), withHostKey(), "the host's own key"},
		{"a bundle that has one", done, verifierKey(), withHostKey(), "already"},
	} {
		t.Run(c.name, func(t *testing.T) {
			if _, _, err := verify.Countersign(c.raw, c.key, c.options); err == nil || !strings.Contains(err.Error(), c.says) {
				t.Errorf("got %v, want an error with %q", err, c.says)
			}
		})
	}
}
