package verify_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/wopwitness/wopwitness/reports/bundle"
	"github.com/wopwitness/wopwitness/reports/verify"
)

// second is what the script says of a bundle: a member is nil where there was nothing to check or no key.
type second struct {
	Discovery         *bool `json:"discovery"`
	Witness           *bool `json:"witness"`
	Attestation       *bool `json:"attestation"`
	Signature         *bool `json:"signature"`
	VerifierSignature *bool `json:"verifierSignature"`
}

// ask runs the second implementation and gives its exit code.
func ask(t *testing.T, raw []byte, keys ...bundle.Key) (said second, exit int) {
	t.Helper()
	node, err := exec.LookPath("node")
	if err != nil {
		t.Skip("node is not installed, so the second implementation of digests and signatures can't be asked")
	}
	folder := t.TempDir()
	args := []string{"testdata/check-bundle.mjs", filepath.Join(folder, "bundle.json")}
	if err := os.WriteFile(args[1], raw, 0o600); err != nil {
		t.Fatal(err)
	}
	for i, k := range keys {
		pem, err := k.PublicPEM()
		if err != nil {
			t.Fatal(err)
		}
		path := filepath.Join(folder, fmt.Sprintf("key-%d.pem", i))
		if err := os.WriteFile(path, pem, 0o600); err != nil {
			t.Fatal(err)
		}
		args = append(args, path)
	}
	out, err := exec.CommandContext(t.Context(), node, args...).Output()
	if failed := (*exec.ExitError)(nil); errors.As(err, &failed) {
		exit = failed.ExitCode()
	} else if err != nil {
		t.Fatalf("node: %v", err)
	}
	if err := json.Unmarshal(out, &said); err != nil {
		t.Fatalf("node said %q: %v", out, err)
	}
	return said, exit
}

// exit is what the script must end with: 1 where anything is false.
func (s second) exit() int {
	for _, held := range []*bool{s.Discovery, s.Witness, s.Attestation, s.Signature, s.VerifierSignature} {
		if held != nil && !*held {
			return 1
		}
	}
	return 0
}

func TestTheSecondImplementationMissesASignatureThatAKeyWasGivenFor(t *testing.T) {
	tree := treeOf(t, signedBundle(t, nil))
	delete(tree, "attestation")
	delete(tree, "signature")
	for name, c := range map[string]struct {
		raw  []byte
		keys []bundle.Key
		exit int
	}{
		"unsigned, no key":             {encode(t, tree), nil, 0},
		"unsigned, and a key":          {encode(t, tree), []bundle.Key{hostKey()}, 1},
		"signed, and a verifier's key": {signedBundle(t, nil), []bundle.Key{hostKey(), verifierKey()}, 1},
		"signed, and the host's key":   {signedBundle(t, nil), []bundle.Key{hostKey()}, 0},
	} {
		t.Run(name, func(t *testing.T) {
			if said, exit := ask(t, c.raw, c.keys...); exit != c.exit {
				t.Errorf("exit %d, want %d: %+v", exit, c.exit, said)
			}
		})
	}
}

func TestASecondImplementationAgrees(t *testing.T) {
	yes, no := true, false
	good := signedBundle(t, nil)
	relaxed := signedBundle(t, func(b *bundle.Bundle) {
		b.Host.Relaxations = []string{"slow-commits", "é & <relaxed>"}
		b.ClaimedProfiles[0].Certified = false
		var err error
		if b.WitnessSha256, err = bundle.WitnessDigest(b.Results.Requirements, b.Host.Relaxations); err != nil {
			t.Fatal(err)
		}
	})
	countersigned, _, err := verify.Countersign(good, verifierKey(), withHostKey())
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		name string
		raw  []byte
		keys []bundle.Key
		want second
	}{
		{"the embedded key", good, nil, second{&yes, &yes, &yes, &yes, nil}},
		{"the host's key", good, []bundle.Key{hostKey()}, second{&yes, &yes, &yes, &yes, nil}},
		{"another key", good, []bundle.Key{keyOf("host-1", 5)}, second{&yes, &yes, &no, &no, nil}},
		{"relaxations", relaxed, []bundle.Key{hostKey()}, second{&yes, &yes, &yes, &yes, nil}},
		{"countersigned", countersigned, []bundle.Key{hostKey(), verifierKey()}, second{&yes, &yes, &yes, &yes, &yes}},
		{"a name changed", bytes.Replace(good, []byte(`"acme",`), []byte(`"acmf",`), 1), nil, second{&yes, &yes, &yes, &no, nil}},
		{"a row changed", bytes.Replace(good, []byte(`"assertions": 2`), []byte(`"assertions": 3`), 1), nil, second{&yes, &no, &yes, &no, nil}},
		{"the document changed", bytes.Replace(good, []byte(`3600`), []byte(`3601`), 1), nil, second{&no, &yes, &yes, &no, nil}},
	} {
		t.Run(c.name, func(t *testing.T) {
			said, exit := ask(t, c.raw, c.keys...)
			if exit != c.want.exit() {
				t.Errorf("exit %d, want %d", exit, c.want.exit())
			}
			if diff := cmp.Diff(c.want, said); diff != "" {
				t.Errorf("want −, node +:\n%s", diff)
			}
			options := verify.Options{}
			if len(c.keys) > 0 {
				options.HostKey = c.keys[0].Public()
			}
			if len(c.keys) > 1 {
				options.VerifierKey = c.keys[1].Public()
			}
			r := verify.Bundle(c.raw, options)
			ours := second{
				Discovery: held(!r.Has(verify.DiscoveryMismatch)), Witness: held(!r.Has(verify.WitnessMismatch)),
				Attestation: held(!r.Has(verify.AttestationInvalid)), Signature: held(!r.Has(verify.SignatureInvalid)),
			}
			if r.Verifier.State != verify.VerifierAbsent {
				ours.VerifierSignature = held(r.Verifier.State == verify.VerifierVerified)
			}
			if diff := cmp.Diff(c.want, ours); diff != "" {
				t.Errorf("want −, ours +:\n%s", diff)
			}
		})
	}
}

func held(b bool) *bool { return &b }
