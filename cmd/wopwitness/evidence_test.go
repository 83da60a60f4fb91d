package main

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/wopwitness/wopwitness/mockhost"
	"github.com/wopwitness/wopwitness/reports/bundle"
	"github.com/wopwitness/wopwitness/reports/verify"

	"github.com/wopwitness/wopwitness/cmd/wopwitness/internal/boot"
)

// certified is a host that publishes a key, and a signed bundle of it in a folder.
type certified struct {
	url, folder, bundle, key, public string
	stdout                           string // of the run
}

func signedRun(t *testing.T, more ...string) certified {
	t.Helper()
	return signedRunOf(t, "", 0, more...)
}

// signedRunOf is signedRun of a host with a defect ("" for none), where the run must end with the given exit code.
func signedRunOf(t *testing.T, defect string, code int, more ...string) certified {
	t.Helper()
	folder := t.TempDir()
	c := certified{folder: folder, bundle: filepath.Join(folder, "out", "bundle-v2.json"), key: filepath.Join(folder, "key.pem")}
	c.public = c.key + ".pub"
	if got := invoke(t, nil, "keygen", "--out", c.key, "--key-id", "host-1"); got.code != 0 {
		t.Fatal(got.stderr)
	}
	text, err := os.ReadFile(c.key)
	if err != nil {
		t.Fatal(err)
	}
	key, err := bundle.ParsePrivateKey("host-1", text)
	if err != nil {
		t.Fatal(err)
	}
	host, err := boot.Start(t.Context(), mockhost.Config{
		Seams: true, Clock: "manual", Defect: defect, SigningKeys: []mockhost.SigningKey{{KeyID: key.ID, PublicKey: key.Published()}},
	}, "127.0.0.1:0", false)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := host.Stop(); err != nil {
			t.Error(err)
		}
	})
	c.url = host.URL
	args := append([]string{
		"run", "--host", host.URL, "--key", host.Credentials.KeyA, "--key-b", host.Credentials.KeyB, "--rfc", "0236,0241,0250", "--target-major", "2",
		"--sign", c.key, "--key-id", "host-1", "--build", "commit:3f2a91c", "--out", filepath.Join(folder, "out"),
	}, more...)
	got := invoke(t, nil, args...)
	if got.code != code {
		t.Fatalf("exit %d, want %d\n%s%s", got.code, code, got.stdout, got.stderr)
	}
	c.stdout = got.stdout
	return c
}

func TestVerifyFromTheCommandLine(t *testing.T) {
	c := signedRun(t, "--evidence-tier", "independent")
	stranger := filepath.Join(c.folder, "stranger.pem")
	if got := invoke(t, nil, "keygen", "--out", stranger, "--key-id", "stranger-1"); got.code != 0 {
		t.Fatal(got.stderr)
	}
	tampered := filepath.Join(c.folder, "tampered.json")
	text, err := os.ReadFile(c.bundle)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(tampered, []byte(strings.Replace(string(text), `"targetMajor": 2`, `"targetMajor": 1`, 1)), 0o600); err != nil {
		t.Fatal(err)
	}
	nothing := httptest.NewServer(http.NotFoundHandler())
	defer nothing.Close()
	signed := filepath.Join(c.folder, "countersigned.json")
	for _, tt := range []struct {
		name string
		args []string
		code int
		says string
	}{
		{"independent and not countersigned", []string{"verify", c.bundle, "--host-key", c.public}, 1, "independent-without-verifier-signature"},
		{"the host's own key cannot countersign", []string{"verify", c.bundle, "--host-key", c.public, "--countersign", c.key, "--key-id", "other", "--out", signed}, 1, "the host's own key"},
		{"nobody vouches for an unknown key", []string{"verify", c.bundle, "--countersign", stranger, "--key-id", "stranger-1", "--out", signed}, 1, "authenticity is not established"},
		{"countersigned", []string{"verify", c.bundle, "--host-key", c.public, "--countersign", stranger, "--key-id", "stranger-1", "--out", signed}, 0, "countersigned as stranger-1"},
		{"verified by files", []string{"verify", signed, "--host-key", c.public, "--verifier-key", stranger + ".pub", "--key-id", "stranger-1"}, 0, "verdict: verified"},
		{"verified by the host itself", []string{"verify", signed, "--discovery", c.url, "--verifier-key", stranger + ".pub"}, 0, "the host publishes the key"},
		{"another key", []string{"verify", signed, "--host-key", stranger + ".pub", "--verifier-key", stranger + ".pub"}, 1, "attestation-does-not-verify"},
		{"a document that isn't there", []string{"verify", signed, "--discovery", nothing.URL, "--verifier-key", stranger + ".pub"}, 3, "no-discovery-document"},
		{"a document without the key", []string{"verify", signed, "--discovery", c.bundle, "--verifier-key", stranger + ".pub"}, 1, "key-not-published"},
		{"tampered with", []string{"verify", tampered, "--host-key", c.public}, 1, "signature-invalid"},
		{"no file", []string{"verify", filepath.Join(c.folder, "no.json")}, 2, "no such file"},
		{"a key that is none", []string{"verify", c.bundle, "--host-key", c.bundle}, 2, "not a PEM file"},
		{"a private key for the host's", []string{"verify", c.bundle, "--host-key", c.key}, 2, "this is a private key; give the public one"},
		{"a document's file that isn't there", []string{"verify", c.bundle, "--discovery", filepath.Join(c.folder, "no.json")}, 2, "--discovery: open "},
		{"nothing but the bundle", []string{"verify", signed, "--verifier-key", stranger + ".pub"}, 0, "claims    hostEvents.replay (evidence: independent), unproven"},
		{"two sources", []string{"verify", c.bundle, "--host-key", c.public, "--discovery", c.url}, 2,
			fmt.Sprintf("wopwitness: --host-key %q and --discovery %q both say whose key is the host's: expected one of the two, as --discovery https://", c.public, c.url)},
		{"a host's key that is empty", []string{"verify", c.bundle, "--host-key", ""}, 2, "--host-key is empty: give a value (the host's public key (PEM)), or leave it out"},
		{"a document that is empty", []string{"verify", c.bundle, "--discovery", ""}, 2, "--discovery is empty: give a value (the host's discovery document, a file or an http(s) address), or leave it out"},
		{"a verifier's key that is empty", []string{"verify", signed, "--verifier-key", ""}, 2, "--verifier-key is empty: "},
		{"a countersigning key that is empty", []string{"verify", c.bundle, "--countersign", ""}, 2, "--countersign is empty: "},
		{"a bundle to compare with that is empty", []string{"rejudge", "observations.jsonl", "--bundle", ""}, 2, "--bundle is empty: "},
		{"a countersigning key without its id", []string{"verify", c.bundle, "--countersign", stranger}, 2, "--countersign needs --key-id"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			got := invoke(t, nil, tt.args...)
			if all := got.stdout + got.stderr; got.code != tt.code || !strings.Contains(all, tt.says) || tt.code == 2 && strings.Count(all, "\n") != 1 {
				t.Errorf("exit %d, want %d; want it to say %q, and it says\n%s", got.code, tt.code, tt.says, all)
			}
		})
	}
	got := invoke(t, nil, "verify", signed, "--host-key", c.public, "--verifier-key", stranger+".pub", "--json")
	var r verify.Report
	if err := json.Unmarshal([]byte(got.stdout), &r); err != nil || r.Verdict != verify.Verified || r.Summary.Tier != bundle.TierIndependent {
		t.Errorf("%v: %s", err, got.stdout)
	}
}

// TestACertificateIsWithheldForWhatItLeansOn: a fault of RFC 0236 takes the certificate of hostEvents.replay away, in the
// run and for whoever verifies its bundle.
func TestACertificateIsWithheldForWhatItLeansOn(t *testing.T) {
	c := signedRunOf(t, "ephemeral-redelivered", 1)
	if strings.Contains(c.stdout, "certified: hostEvents.replay (major 2)\n") {
		t.Errorf("the run certifies:\n%s", c.stdout)
	}
	got := invoke(t, nil, "verify", c.bundle, "--host-key", c.public)
	if got.code != 0 || !strings.Contains(got.stdout, "\nfailed    0236.ephemeral.no-resume\n") || strings.Contains(got.stdout, "\ncertified") {
		t.Errorf("exit %d\n%s", got.code, got.stdout)
	}
	right := signedRun(t)
	got = invoke(t, nil, "verify", right.bundle, "--host-key", right.public)
	if got.code != 0 || !strings.Contains(got.stdout, "\ncertified hostEvents.replay (evidence: self)\n") || strings.Contains(got.stdout, "\nfailed") {
		t.Errorf("exit %d\n%s", got.code, got.stdout)
	}
}

func TestTheSameHostTwiceDiffersInNothing(t *testing.T) {
	a, b := signedRun(t), signedRun(t)
	got := invoke(t, nil, "diff", a.bundle, b.bundle, "--json")
	var r struct {
		Rows        []any    `json:"rows"`
		Uncertified []string `json:"uncertified"`
	}
	if err := json.Unmarshal([]byte(got.stdout), &r); err != nil || got.code != 0 || len(r.Rows) != 0 || len(r.Uncertified) != 0 {
		t.Errorf("exit %d, %v\n%s", got.code, err, got.stdout)
	}
	if _, err := os.Stat(filepath.Join(a.folder, "out", "attestation-v2.json")); err != nil {
		t.Error(err)
	}
	text, err := os.ReadFile(b.bundle)
	if err != nil {
		t.Fatal(err)
	}
	lost := strings.Replace(string(text), `"result": "executed-pass"`, `"result": "executed-fail"`, 1)
	if err := os.WriteFile(b.bundle, []byte(lost), 0o600); err != nil {
		t.Fatal(err)
	}
	empty := filepath.Join(b.folder, "empty.json")
	if err := os.WriteFile(empty, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if got := invoke(t, nil, "diff", a.bundle, empty); got.code != 2 || !strings.Contains(got.stderr, "empty.json is empty") {
		t.Errorf("exit %d\n%s", got.code, got.stderr)
	}
	other := invoke(t, nil, "rejudge", filepath.Join(a.folder, "out", "observations.jsonl"), "--bundle", b.bundle)
	if other.code != 1 || !strings.HasPrefix(other.stdout, "these observations belong to another run") {
		t.Errorf("exit %d\n%s", other.code, other.stdout)
	}
	if got := invoke(t, nil, "diff", a.bundle, b.bundle); got.code != 1 || !strings.Contains(got.stdout, "pass-lost") {
		t.Errorf("exit %d\n%s", got.code, got.stdout)
	}
}

func TestCoverageFromTheCommandLine(t *testing.T) {
	write := func(text string) string {
		path := filepath.Join(t.TempDir(), "rfc.md")
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		return path
	}
	const sections = "# RFC 0250\n\n### A. Facet\n\n### B. Resume\n\n### C. Refusal\n\n### D. Safety\n\n### E. Interface\n\n## Conformance\n\n| Id | Case |\n| --- | --- |\n"
	for _, tt := range []struct {
		name, text string
		code       int
		says       string
	}{
		{"covered", sections + "| `0250.cursor-refused` | refused |\n", 0, "verdict: covered"},
		{"a case that nobody covers", sections + "| `0250.no-such` | x |\n", 1, "no leg witnesses it"},
		{"a section that isn't there", strings.Replace(sections, "### D. Safety\n", "", 1) + "| `0250.cursor-refused` | refused |\n", 1, "which the text does not have"},
		{"nothing to compare", "# A poem\n", 3, "no requirement"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			got := invoke(t, nil, "coverage", write(tt.text))
			if got.code != tt.code || !strings.Contains(got.stdout, tt.says) {
				t.Errorf("exit %d, want %d\n%s%s", got.code, tt.code, got.stdout, got.stderr)
			}
		})
	}
	if got := invoke(t, nil, "coverage", filepath.Join(t.TempDir(), "no.md")); got.code != 2 {
		t.Errorf("exit %d for a file that isn't there", got.code)
	}
}

func TestCompletions(t *testing.T) {
	for _, shell := range []string{"bash", "zsh", "fish", "powershell"} {
		if got := invoke(t, nil, "completion", shell); got.code != 0 || !strings.Contains(got.stdout, "wopwitness") {
			t.Errorf("%s: exit %d", shell, got.code)
		}
	}
}
