package attest_test

import (
	"bytes"
	"context"
	"crypto"
	"crypto/ed25519"
	"encoding/json"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	testresult "github.com/in-toto/attestation/go/predicates/test_result/v0"
	intoto "github.com/in-toto/attestation/go/v1"
	"github.com/secure-systems-lab/go-securesystemslib/dsse"
	"google.golang.org/protobuf/encoding/protojson"

	"github.com/wopwitness/wopwitness/reports/attest"
	"github.com/wopwitness/wopwitness/reports/bundle"
	"github.com/wopwitness/wopwitness/reports/ledger"
	"github.com/wopwitness/wopwitness/scenarios/registry"
)

const (
	commit   = "3f2a91c0000000000000000000000000000000aa"
	sum      = "0000000000000000000000000000000000000000000000000000000000000001"
	contract = "0000000000000000000000000000000000000000000000000000000000000002"
)

func key(seed byte) bundle.Key {
	raw := make([]byte, ed25519.SeedSize)
	raw[0] = seed
	return bundle.Key{ID: "host-1", Private: ed25519.NewKeyFromSeed(raw)}
}

func sample() bundle.Bundle {
	b := bundle.Bundle{
		Suite: bundle.Suite{Version: "0.1.0", TargetMajor: 2, ContractSha256: contract},
		Host:  bundle.Host{Name: "acme <host>", Build: &bundle.Build{Kind: "commit", ID: commit}},
		Discovery: &bundle.Discovery{
			URL: "https://acme.test/.well-known/openwop", Sha256: sum,
		},
	}
	b.Results.Requirements = []registry.Row{
		{ID: "r.pass", Result: registry.Pass}, {ID: "r.none", Result: registry.Inapplicable}, {ID: "r.second", Result: registry.Pass},
	}
	b.Results.Totals = ledger.Totals{ExecutedPass: 2, Inapplicable: 1}
	return b
}

func TestStatementSaysWhatTheBundleSays(t *testing.T) {
	for _, c := range []struct {
		name   string
		change func(*bundle.Bundle)
		digest map[string]string
		result string
		failed []string
		warned []string
	}{
		{"a commit", func(*bundle.Bundle) {}, map[string]string{"gitCommit": commit}, attest.Passed, nil, nil},
		{"a short commit", func(b *bundle.Bundle) { b.Host.Build.ID = "3f2a91c" }, map[string]string{"commit": "3f2a91c"}, attest.Passed, nil, nil},
		{"an artifact", func(b *bundle.Bundle) { b.Host.Build = &bundle.Build{Kind: "artifact-sha256", ID: sum} }, map[string]string{"sha256": sum}, attest.Passed, nil, nil},
		{"an image", func(b *bundle.Bundle) { b.Host.Build = &bundle.Build{Kind: "image-digest", ID: "sha256:" + sum} }, map[string]string{"sha256": sum}, attest.Passed, nil, nil},
		{"a failure", func(b *bundle.Bundle) {
			b.Results.Requirements[0].Result, b.Results.Totals = registry.Fail, ledger.Totals{ExecutedPass: 1, ExecutedFail: 1, Inapplicable: 1}
		}, map[string]string{"gitCommit": commit}, attest.Failed, []string{"r.pass"}, nil},
		{"a blocked row", func(b *bundle.Bundle) {
			b.Results.Requirements[0].Result, b.Results.Totals = registry.Blocked, ledger.Totals{ExecutedPass: 1, Blocked: 1, Inapplicable: 1}
		}, map[string]string{"gitCommit": commit}, attest.Warned, nil, []string{"r.pass"}},
		{"nothing passed", func(b *bundle.Bundle) { b.Results.Requirements, b.Results.Totals = nil, ledger.Totals{} },
			map[string]string{"gitCommit": commit}, attest.Warned, nil, nil},
	} {
		t.Run(c.name, func(t *testing.T) {
			b := sample()
			c.change(&b)
			raw, err := attest.Statement(b, []byte("file"))
			if err != nil {
				t.Fatal(err)
			}
			statement, result := parsed(t, raw)
			if diff := cmp.Diff(c.digest, statement.GetSubject()[0].GetDigest()); diff != "" {
				t.Error(diff)
			}
			if result.GetResult() != c.result || !cmp.Equal(result.GetFailedTests(), c.failed) || !cmp.Equal(result.GetWarnedTests(), c.warned) {
				t.Errorf("got %s, failed %q, warned %q", result.GetResult(), result.GetFailedTests(), result.GetWarnedTests())
			}
		})
	}
}

// parsed reads a statement with in-toto's own types, and refuses any member that they don't have.
func parsed(t *testing.T, raw []byte) (*intoto.Statement, *testresult.TestResult) {
	t.Helper()
	statement := &intoto.Statement{}
	if err := protojson.Unmarshal(raw, statement); err != nil {
		t.Fatalf("in-toto can't read the statement: %v", err)
	}
	if err := statement.Validate(); err != nil {
		t.Fatalf("in-toto refuses the statement: %v", err)
	}
	if statement.GetType() != "https://in-toto.io/Statement/v1" || statement.GetPredicateType() != "https://in-toto.io/attestation/test-result/v0.1" {
		t.Fatalf("types %s, %s", statement.GetType(), statement.GetPredicateType())
	}
	inner, err := protojson.Marshal(statement.GetPredicate())
	if err != nil {
		t.Fatal(err)
	}
	result := &testresult.TestResult{}
	if err := protojson.Unmarshal(inner, result); err != nil {
		t.Fatalf("in-toto can't read the predicate: %v", err)
	}
	for _, c := range result.GetConfiguration() {
		if err := c.Validate(); err != nil {
			t.Errorf("configuration %s: %v", c.GetName(), err)
		}
	}
	return statement, result
}

// published is a key as somebody who verifies has it: public alone.
type published struct{ key ed25519.PublicKey }

func (p published) Verify(_ context.Context, data, sig []byte) error {
	if !ed25519.Verify(p.key, data, sig) {
		return errors.New("does not verify")
	}
	return nil
}
func (p published) KeyID() (string, error)   { return "host-1", nil }
func (p published) Public() crypto.PublicKey { return p.key }

func TestThePublicLibraryVerifiesTheEnvelope(t *testing.T) {
	raw, err := attest.Envelope(t.Context(), sample(), []byte("file"), key(1))
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		name  string
		raw   []byte
		key   bundle.Key
		holds bool
	}{
		{"as it was written", raw, key(1), true},
		{"another key", raw, key(2), false},
		{"another payload type", bytes.Replace(raw, []byte("in-toto+json"), []byte("in-toto+jsom"), 1), key(1), false},
		{"another payload", bytes.Replace(raw, []byte(`"payload": "ey`), []byte(`"payload": "eZ`), 1), key(1), false},
	} {
		t.Run(c.name, func(t *testing.T) {
			verifier, err := dsse.NewEnvelopeVerifier(published{c.key.Public()})
			if err != nil {
				t.Fatal(err)
			}
			var envelope dsse.Envelope
			if err := json.Unmarshal(c.raw, &envelope); err != nil {
				t.Fatal(err)
			}
			if _, err := verifier.Verify(t.Context(), &envelope); (err == nil) != c.holds {
				t.Errorf("verified %v: %v", err == nil, err)
			}
		})
	}
}

func TestAScriptWithoutOurCodeVerifiesTheEnvelope(t *testing.T) {
	node, err := exec.LookPath("node")
	if err != nil {
		t.Skip("node is not installed, so the envelope can't be checked by the script")
	}
	raw, err := attest.Envelope(t.Context(), sample(), []byte("file"), key(1))
	if err != nil {
		t.Fatal(err)
	}
	check := func(raw []byte, k bundle.Key) ([]byte, error) {
		folder := t.TempDir()
		pem, err := k.PublicPEM()
		if err != nil {
			t.Fatal(err)
		}
		envelope, keyFile := filepath.Join(folder, "attestation.json"), filepath.Join(folder, "key.pem")
		if err := errors.Join(os.WriteFile(envelope, raw, 0o600), os.WriteFile(keyFile, pem, 0o600)); err != nil {
			t.Fatal(err)
		}
		return exec.CommandContext(t.Context(), node, "testdata/check-envelope.mjs", envelope, keyFile).Output()
	}
	statement, err := check(raw, key(1))
	if err != nil {
		t.Fatal(err)
	}
	parsed(t, statement)
	if _, err := check(raw, key(2)); err == nil {
		t.Error("it verifies under another key")
	}
	if _, err := check(bytes.Replace(raw, []byte("in-toto"), []byte("in_toto"), 1), key(1)); err == nil {
		t.Error("it verifies with another payload type")
	}
}

func TestABundleWithoutABuildHasNoSubject(t *testing.T) {
	b := sample()
	b.Host.Build = nil
	if _, err := attest.Envelope(t.Context(), b, nil, key(1)); err == nil || !strings.Contains(err.Error(), "names no build") {
		t.Errorf("got %v", err)
	}
}
