package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/wopwitness/wopwitness/cmd/wopwitness/internal/boot"
	"github.com/wopwitness/wopwitness/mockhost"
	"github.com/wopwitness/wopwitness/reports/bundle"
	"github.com/wopwitness/wopwitness/scenarios/lawfulhost"
)

// asProgram makes the test binary the program itself, so that exit codes, streams and signals are the real ones.
const asProgram = "WOPWITNESS_TEST_AS_PROGRAM"

func TestMain(m *testing.M) {
	if os.Getenv(asProgram) != "" {
		main()
		return
	}
	os.Exit(m.Run())
}

type ended struct {
	code           int
	stdout, stderr string
}

// command is the program with arguments and an environment that holds nothing of the tester's.
func command(t *testing.T, env []string, args ...string) *exec.Cmd {
	t.Helper()
	executable, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	c := exec.CommandContext(t.Context(), executable, args...)
	c.Env = append([]string{asProgram + "=1", "HOME=" + t.TempDir(), "TMPDIR=" + os.TempDir()}, env...)
	c.Dir = t.TempDir()
	return c
}

func invoke(t *testing.T, env []string, args ...string) ended {
	t.Helper()
	c := command(t, env, args...)
	var stdout, stderr bytes.Buffer
	c.Stdout, c.Stderr = &stdout, &stderr
	var exit *exec.ExitError
	if err := c.Run(); err != nil && !errors.As(err, &exit) {
		t.Fatal(err)
	}
	return ended{code: c.ProcessState.ExitCode(), stdout: stdout.String(), stderr: stderr.String()}
}

// served is a right mock host.
func served(t *testing.T) *boot.Host {
	t.Helper()
	host, err := boot.Start(t.Context(), mockhost.Config{Seams: true, Clock: "manual"}, "127.0.0.1:0", false)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := host.Stop(); err != nil {
			t.Error(err)
		}
	})
	return host
}

func TestExitCodes(t *testing.T) {
	host := served(t)
	keys := host.Credentials
	page := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "text/html")
		_, _ = w.Write([]byte("<!doctype html><title>welcome</title>"))
	}))
	defer page.Close()
	dead := deadURL(t)
	run := []string{"run", "--host", host.URL, "--key", keys.KeyA, "--key-b", keys.KeyB, "--leg", "0250.cursor-refused"}
	with := func(more ...string) []string { return append(append([]string{}, run...), more...) }
	tests := map[string]struct {
		args []string
		code int
		says string
	}{
		"a right host":                    {run, 0, "verdict: nothing failed and nothing was blocked"},
		"an expected failure that passes": {with("--expect-fail", "0250.cursor-refused"), 1, "0250.cursor-refused passed, and --expect-fail says that it fails"},
		"a leg that isn't there":          {[]string{"certify", "--leg", "0250.cursor-refusd"}, 2, `--leg "0250.cursor-refusd" matches no leg; nearest: 0250.cursor-refused`},
		"an RFC that isn't there":         {[]string{"certify", "--rfc", "0251"}, 2, `--rfc "0251" has no legs; nearest: `},
		"a defect that isn't there":       {[]string{"certify", "--defect", "no-such"}, 2, `--defect "no-such" is not a defect`},
		"a defect that is empty":          {[]string{"certify", "--defect", ""}, 2, "--defect is empty: name a defect"},
		"a served defect that is empty":   {[]string{"serve", "--addr", "127.0.0.1:0", "--defect", ""}, 2, "--defect is empty: name a defect"},
		"a pattern of defects, empty":     {[]string{"selfcheck", "--defect", ""}, 2, "--defect is empty: give a pattern"},
		"an opt-out that isn't there":     {with("--opt-out", "hostEvents.replai"), 2, `nearest: hostEvents.replay`},
		"an expectation that isn't there": {with("--expect-fail", "0250.nothing"), 2, "--expect-fail"},
		"an unknown flag":                 {[]string{"run", "--hots", "x"}, 2, "unknown flag: --hots"},
		"an unknown command":              {[]string{"certfy"}, 2, `unknown command "certfy"`},
		"no host":                         {[]string{"run"}, 2, "no host: give --host URL or OPENWOP_BASE_URL"},
		"no key":                          {[]string{"run", "--host", host.URL}, 2, "no key: give --key or OPENWOP_API_KEY"},
		"an empty key":                    {[]string{"run", "--host", host.URL, "--key", ""}, 2, "no key: give --key or OPENWOP_API_KEY"},
		"a host without its flag":         {[]string{"run", host.URL}, 2, "did you mean --host " + host.URL + "?"},
		"a host without a scheme":         {[]string{"run", "--host", "127.0.0.1:8077"}, 2, `--host "127.0.0.1:8077": it must begin with http:// or https://`},
		"a peer without a scheme":         {with("--peer-url", "127.0.0.1:8077"), 2, `--peer-url "127.0.0.1:8077": it must begin with http:// or https://`},
		"a peer that is the host":         {with("--peer-url", strings.ToUpper(host.URL)+"/"), 2, "is the host itself"},
		"a peer that is it by name":       {with("--peer-url", strings.Replace(host.URL, "127.0.0.1", "localhost", 1)), 2, "is the host itself"},
		"a low key that nobody knows":     {with("--key-low", "nonsense", "--leg", "0250.auth-first"), 3, "refused --key-low"},
		"a host that names nothing":       {[]string{"run", "--host", "http://"}, 2, `--host "http://": it names no host`},
		"an RFC without its zeros":        {[]string{"run", "--host", host.URL, "--key", keys.KeyA, "--rfc", "rfc-250", "--leg", "0250.cursor-refused"}, 0, "1 passed"},
		"no folder":                       {with("--out", ""), 2, "--out is empty"},
		"a build that is no commit":       {with("--build", "commit:zz"), 2, `--build "commit:zz": after commit: there must be 7 to 64 hexadecimal digits`},
		"a host that is no URL":           {[]string{"run", "--host", "host.example"}, 2, "must begin with http:// or https://"},
		"a major that isn't there":        {with("--target-major", "3"), 2, `--target-major "3": expected 1, 2 or all`},
		"a header without a value":        {with("--header", "X"), 2, `--header "X": expected 'Name: value'`},
		"a build of no kind":              {with("--build", "v1"), 2, `--build "v1": expected KIND:ID`},
		"a key without its id":            {with("--sign", "k.pem"), 2, "--sign and --key-id go together"},
		"a workspace without its key":     {with("--workspace", "w"), 2, "--workspace and --key-ws go together"},
		"a folder that can't be made":     {with("--out", os.DevNull+"/reports"), 2, "cannot be made"},
		"a duration below zero":           {with("--timeout", "-1s"), 2, "durations above zero"},
		"a dead port":                     {[]string{"run", "--host", dead, "--key", "k"}, 3, "nothing listens at"},
		"a web page":                      {[]string{"run", "--host", page.URL, "--key", "k"}, 3, "BLCK"},
		"a wrong key":                     {[]string{"run", "--host", host.URL, "--key", "not-a-key"}, 3, "the host refused --key"},
		"a shape is no behaviour":         {[]string{"certify", "--target-major", "1"}, 2, "unknown flag: --target-major"},
		"a leg of another major":          {with("--target-major", "1"), 2, `--leg "0250.cursor-refused" and --target-major 1 select no leg together`},
		"a leg of another RFC":            {with("--leg", "0250.resume-twice", "--rfc", "53"), 2, `--leg "0250.cursor-refused", --leg "0250.resume-twice" and --rfc 0053 select no leg together`},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			got := invoke(t, nil, tt.args...)
			if got.code != tt.code {
				t.Errorf("exit %d, want %d\n%s%s", got.code, tt.code, got.stdout, got.stderr)
			}
			if all := got.stdout + got.stderr; !strings.Contains(all, tt.says) {
				t.Errorf("want it to say %q, and it says\n%s", tt.says, all)
			}
			if tt.code == 2 && strings.Count(got.stderr, "\n") != 1 {
				t.Errorf("want one line, and it says\n%s", got.stderr)
			}
		})
	}
}

func deadURL(t *testing.T) string {
	t.Helper()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = listener.Close() }()
	return "http://" + listener.Addr().String()
}

// A command that restarts nothing looks like processes that take turns, so that is said.
func TestARestartThatNobodyNoticesIsSaid(t *testing.T) {
	host := served(t)
	got := invoke(t, []string{"PATH=" + os.Getenv("PATH")}, "run", "--host", host.URL, "--key", host.Credentials.KeyA, "--restart-cmd", "true", "--leg", "0250.restart")
	if want := "warning: the host answered throughout --restart-cmd"; got.code != 0 || !strings.Contains(got.stderr, want) {
		t.Errorf("exit %d, and it doesn't say %q:\n%s%s", got.code, want, got.stdout, got.stderr)
	}
}

// TestOneCauseIsSaidOnce is about a host that is dead at start.
func TestOneCauseIsSaidOnce(t *testing.T) {
	got := invoke(t, nil, "run", "--host", deadURL(t), "--key", "k")
	if n := strings.Count(got.stdout+got.stderr, "nothing listens at"); n != 1 {
		t.Errorf("it is said %d times:\n%s%s", n, got.stdout, got.stderr)
	}
}

func TestJSONLeavesStandardOutputToTheBundles(t *testing.T) {
	got := invoke(t, nil, "certify", "--json", "--leg", "0250.cursor-refused", "--leg", "0250.legacy-unchanged")
	var printed struct {
		Bundles []bundle.Bundle `json:"bundles"`
	}
	if err := json.Unmarshal([]byte(got.stdout), &printed); err != nil {
		t.Fatalf("%v in\n%s", err, got.stdout)
	}
	if len(printed.Bundles) != 1 || len(printed.Bundles[0].Results.Requirements) != 2 || printed.Bundles[0].Signature == nil {
		t.Errorf("printed %+v", printed.Bundles)
	}
	if !strings.Contains(got.stderr, "2 passed") {
		t.Errorf("standard error says\n%s", got.stderr)
	}
}

func TestTheEnvironmentServesWhereNoFlagDoes(t *testing.T) {
	host := served(t)
	env := []string{"OPENWOP_BASE_URL=" + host.URL, "OPENWOP_API_KEY=" + host.Credentials.KeyA, "OPENWOP_IMPLEMENTATION_NAME=the operator's name"}
	if got := invoke(t, env, "run", "--leg", "0250.cursor-refused"); got.code != 0 {
		t.Errorf("exit %d\n%s%s", got.code, got.stdout, got.stderr)
	}
	if got := invoke(t, env, "run", "--leg", "0250.cursor-refused", "--key", "another"); got.code != 3 {
		t.Errorf("the flag does not win: exit %d\n%s%s", got.code, got.stdout, got.stderr)
	}
}

// TestAVariableIsReadAsStrictlyAsItsFlag: what is taken for another value than was meant makes a gate lax in silence.
func TestAVariableIsReadAsStrictlyAsItsFlag(t *testing.T) {
	host := served(t)
	for name, tt := range map[string]struct {
		env  string
		code int
		says string // the one line, and nothing where the run is right
	}{
		"strict, as yes":          {"OPENWOP_REQUIRE_BEHAVIOR=yes", 2, `OPENWOP_REQUIRE_BEHAVIOR is "yes": expected true or 1, or false, 0 or nothing`},
		"strict, as maybe":        {"OPENWOP_REQUIRE_BEHAVIOR=maybe", 2, `OPENWOP_REQUIRE_BEHAVIOR is "maybe"`},
		"strict":                  {"OPENWOP_REQUIRE_BEHAVIOR=True", 0, ""},
		"lax":                     {"OPENWOP_REQUIRE_BEHAVIOR=false", 0, ""},
		"not said":                {"OPENWOP_REQUIRE_BEHAVIOR=", 0, ""},
		"opted out of nothing":    {"OPENWOP_OPTED_OUT_PROFILES=deadLetter,zzz", 2, `OPENWOP_OPTED_OUT_PROFILES "zzz" names no leg, profile or family`},
		"opted out of a profile":  {"OPENWOP_OPTED_OUT_PROFILES=deadLetter", 0, ""},
		"a URL of no run":         {"OPENWOP_TEST_FORCE_EXPIRE_URL=http://127.0.0.1/expire", 2, "OPENWOP_TEST_FORCE_EXPIRE_URL has no {runId} in it"},
		"a URL of no scheme":      {"OPENWOP_TEST_FORCE_EXPIRE_URL=127.0.0.1/{runId}", 2, `OPENWOP_TEST_FORCE_EXPIRE_URL "127.0.0.1/{runId}": it must begin with http://`},
		"a URL":                   {"OPENWOP_TEST_FORCE_EXPIRE_URL=http://127.0.0.1/{runId}", 0, ""},
		"a method without a URL":  {"OPENWOP_TEST_FORCE_EXPIRE_METHOD=DELETE", 2, "OPENWOP_TEST_FORCE_EXPIRE_METHOD goes with OPENWOP_TEST_FORCE_EXPIRE_URL"},
		"a base URL of no scheme": {"OPENWOP_BASE_URL=127.0.0.1:8077", 2, `OPENWOP_BASE_URL "127.0.0.1:8077": it must begin with http:// or https://`},
	} {
		t.Run(name, func(t *testing.T) {
			args := []string{"run", "--key", host.Credentials.KeyA, "--leg", "0250.cursor-refused"}
			if !strings.HasPrefix(tt.env, "OPENWOP_BASE_URL=") {
				args = append(args, "--host", host.URL)
			}
			got := invoke(t, []string{tt.env}, args...)
			if got.code != tt.code || !strings.Contains(got.stderr, tt.says) || (tt.code == 2) != (strings.Count(got.stderr, "\n") == 1) {
				t.Errorf("exit %d, want %d and that it says %q\n%s%s", got.code, tt.code, tt.says, got.stdout, got.stderr)
			}
		})
	}
}

// TestAStrictVariableIsStrict has a host that leaves out what is looked at: that is a failure to the strict, and nothing that
// was observed to the lax.
func TestAStrictVariableIsStrict(t *testing.T) {
	var options lawfulhost.Options
	options.NoReplay = true
	host, err := lawfulhost.Start(options)
	if err != nil {
		t.Fatal(err)
	}
	defer host.Close()
	for value, want := range map[string]int{"true": 1, "True": 1, " 1 ": 1, "false": 3, "0": 3, "": 3} {
		got := invoke(t, []string{"OPENWOP_REQUIRE_BEHAVIOR=" + value}, "run", "--host", host.URL, "--key", lawfulhost.KeyA, "--leg", "0250.cursor-refused")
		if got.code != want {
			t.Errorf("%q: exit %d, want %d\n%s%s", value, got.code, want, got.stdout, got.stderr)
		}
	}
}

func TestRejudgeAgreesUntilAByteChanges(t *testing.T) {
	out := t.TempDir()
	if got := invoke(t, nil, "certify", "--leg", "0250.cursor-refused", "--out", out); got.code != 0 {
		t.Fatalf("exit %d\n%s%s", got.code, got.stdout, got.stderr)
	}
	observations, v2 := filepath.Join(out, "observations.jsonl"), filepath.Join(out, "bundle-v2.json")
	if got := invoke(t, nil, "rejudge", observations); got.code != 0 || !strings.Contains(got.stdout, "PASS  0250.cursor-refused") {
		t.Errorf("exit %d\n%s%s", got.code, got.stdout, got.stderr)
	}
	if got := invoke(t, nil, "rejudge", observations, "--bundle", v2); got.code != 0 || got.stdout != "the observations give the 1 rows of the bundle\n" {
		t.Errorf("exit %d\n%s%s", got.code, got.stdout, got.stderr)
	}
	text, err := os.ReadFile(observations)
	if err != nil {
		t.Fatal(err)
	}
	changed := strings.Replace(string(text), `"status":409`, `"status":404`, 1)
	if changed == string(text) {
		t.Fatal("there is no status to change")
	}
	if err := os.WriteFile(observations, []byte(changed), 0o600); err != nil {
		t.Fatal(err)
	}
	got := invoke(t, nil, "rejudge", observations, "--bundle", v2)
	if got.code != 1 || !strings.Contains(got.stdout, "0250.cursor-refused: result is \"executed-pass\" in the bundle and \"executed-fail\"") || !strings.Contains(got.stdout, "observationSha256 is") {
		t.Errorf("exit %d\n%s%s", got.code, got.stdout, got.stderr)
	}
}

// hanging is a host that advertises everything and never answers on the stream.
func hanging(t *testing.T) (url string, asked <-chan struct{}) {
	t.Helper()
	first := make(chan struct{}, 100)
	release := make(chan struct{})
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/.well-known/openwop" {
			w.Header().Set("Content-Type", "application/json")
			w.Header().Set("OpenWOP-Version", "2.0")
			_, _ = w.Write([]byte(`{"protocolVersions":["2.0"],"preferredVersion":"2.0","hostEvents":{"status":"stable","since":"2.0",
				"witness":"witnessable-gated","types":[{"type":"host-test.durable-triggered","delivery":"durable"}],"replay":{"minRetentionSeconds":60}}}`))
			return
		}
		first <- struct{}{}
		select {
		case <-release:
		case <-r.Context().Done():
		}
	}))
	t.Cleanup(func() { close(release); s.Close() })
	return s.URL, first
}

func TestAnInterruptionWritesWhatWasDone(t *testing.T) {
	url, asked := hanging(t)
	out := t.TempDir()
	c := command(t, nil, "run", "--host", url, "--key", "some-key-of-a-tenant", "--out", out)
	var said bytes.Buffer
	c.Stdout, c.Stderr = &said, &said
	if err := c.Start(); err != nil {
		t.Fatal(err)
	}
	gone := make(chan error, 1)
	go func() { gone <- c.Wait() }()
	select {
	case <-asked:
	case err := <-gone:
		t.Fatalf("it ended before it asked for anything: %v\n%s", err, said.String())
	}
	if err := c.Process.Signal(syscall.SIGINT); err != nil {
		t.Fatal(err)
	}
	<-gone
	if code := c.ProcessState.ExitCode(); code != 130 {
		t.Errorf("exit %d\n%s", code, said.String())
	}
	text, err := os.ReadFile(filepath.Join(out, "observations.jsonl"))
	if err != nil || !strings.Contains(string(text), `"interrupted":true`) {
		t.Errorf("the file does not say that the run was interrupted: %v\n%s", err, text)
	}
	if _, err := os.Stat(filepath.Join(out, "bundle-v2.json")); err != nil {
		t.Error(err)
	}
}

func TestKeygenNeverWritesOverAKey(t *testing.T) {
	path := filepath.Join(t.TempDir(), "key.pem")
	if got := invoke(t, nil, "keygen", "--out", path); got.code != 0 || !strings.Contains(got.stdout, `"alg": "ed25519"`) {
		t.Fatalf("exit %d\n%s%s", got.code, got.stdout, got.stderr)
	}
	info, err := os.Stat(path)
	if err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("the key's file: %v, %v", info, err)
	}
	for taken, out := range map[string]string{path: path, path + ".pub": path + ".pub"} {
		want := "wopwitness: " + taken + " exists and is not overwritten; --out names another file\n"
		if got := invoke(t, nil, "keygen", "--out", out); got.code != 2 || got.stderr != want {
			t.Errorf("exit %d, and it says\n%s%s", got.code, got.stdout, got.stderr)
		}
	}
	if err := os.Remove(path); err != nil {
		t.Fatal(err)
	}
	if got := invoke(t, nil, "keygen", "--out", path); got.code != 2 || !strings.Contains(got.stderr, path+".pub exists") {
		t.Errorf("exit %d\n%s%s", got.code, got.stdout, got.stderr)
	}
	if _, err := os.Stat(path); err == nil {
		t.Error("half a pair was written")
	}
}
