package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func TestARunWithoutAKeyLeavesTheEarlierReports(t *testing.T) {
	out := t.TempDir()
	earlier := filepath.Join(out, "summary.md")
	if err := os.WriteFile(earlier, []byte("of an earlier run"), 0o600); err != nil {
		t.Fatal(err)
	}
	got := invoke(t, nil, "run", "--host", served(t).URL, "--out", out)
	if got.code != 2 || got.stdout != "" || got.stderr != "wopwitness: no key: give --key or OPENWOP_API_KEY\n" {
		t.Errorf("exit %d\n%s%s", got.code, got.stdout, got.stderr)
	}
	files, err := os.ReadDir(out)
	if err != nil || len(files) != 1 {
		t.Errorf("the folder holds %v: %v", files, err)
	}
	if text, err := os.ReadFile(earlier); err != nil || string(text) != "of an earlier run" {
		t.Errorf("the earlier report is %q: %v", text, err)
	}
}

func TestServeRefusesNonsense(t *testing.T) {
	for name, tt := range map[string]struct {
		args []string
		says string
	}{
		"no retention":           {[]string{"--min-retention", "0s"}, "--min-retention 0s: it must be whole seconds, at least one"},
		"less than no time":      {[]string{"--min-retention", "-1h"}, "--min-retention -1h0m0s: it must be whole seconds, at least one"},
		"no days":                {[]string{"--retention-days", "0"}, "--retention-days 0: it must be at least one"},
		"an origin of no page":   {[]string{"--cors", "nonsense"}, `page's origin "nonsense": it is * or scheme://host[:port]`},
		"an empty origin":        {[]string{"--cors", ""}, "--cors is empty"},
		"a rate in words":        {[]string{"--rate-limit", "few"}, `--rate-limit "few": expected a number of triggers a second above zero, as 5 or 5/s`},
		"a rate of no bound":     {[]string{"--rate-limit", "Inf/s"}, `--rate-limit "Inf/s"`},
		"a rate of none":         {[]string{"--rate-limit", "0"}, `--rate-limit "0"`},
		"an empty key":           {[]string{"--key-a", ""}, "--key-a is empty"},
		"an address and no flag": {[]string{"127.0.0.1:0"}, "did you mean --addr 127.0.0.1:0?"},
		"a word":                 {[]string{"extra"}, `serve takes no argument "extra": everything is said by flags, which wopwitness serve --help lists`},
		"nonsense, supervised":   {[]string{"--supervise", "--store", "sqlite:x.db", "--retention-days", "0"}, "--retention-days 0: it must be at least one"},
	} {
		t.Run(name, func(t *testing.T) {
			got := invoke(t, nil, append([]string{"serve", "--addr", "127.0.0.1:0"}, tt.args...)...)
			if got.code != 2 || !strings.Contains(got.stderr, tt.says) || strings.Count(got.stderr, "\n") != 1 {
				t.Errorf("exit %d, want it to say %q, and it says\n%s%s", got.code, tt.says, got.stdout, got.stderr)
			}
		})
	}
}

func TestARateIsANumberASecond(t *testing.T) {
	for text, want := range map[string]float64{"": 0, "5": 5, "5/s": 5, "0.5/s": 0.5} {
		if got, err := parseRate(text); err != nil || got != want {
			t.Errorf("%q is %v, %v; want %v", text, got, err, want)
		}
	}
	for _, text := range []string{"0", "-1/s", "5/m", "NaN", "inf", "/s"} {
		if got, err := parseRate(text); err == nil {
			t.Errorf("%q is taken for %v", text, got)
		}
	}
}

func TestABuildHasTheFormOfItsKind(t *testing.T) {
	digest := strings.Repeat("0a", 32)
	for text, taken := range map[string]bool{
		"commit:3f2a91c": true, "commit:" + digest: true, "image-digest:sha256:" + digest: true, "artifact-sha256:" + digest: true,
		"commit:3f2a91": false, "commit:zzzzzzz": false, "commit:" + digest + "0": false, "commit:": false,
		"image-digest:" + digest: false, "image-digest:sha256:" + digest[1:]: false, "image-digest:latest": false,
		"artifact-sha256:sha256:" + digest: false, "artifact-sha256:00": false, "tag:v1": false,
	} {
		if _, err := parseBuild(text); (err == nil) != taken {
			t.Errorf("%q: %v, want it taken: %v", text, err, taken)
		}
	}
}

func TestAnRFCIsKnownByItsNumber(t *testing.T) {
	for text, want := range map[string]string{
		"0250": "0250", "250": "0250", "53": "0053", "RFC 0250": "0250", "rfc-250": "0250", "rfc250": "0250", " 0053 ": "0053",
		"": "", "rfc": "rfc", "replay": "replay", "02500": "02500",
	} {
		if got := rfcNumber(text); got != want {
			t.Errorf("%q is %q, want %q", text, got, want)
		}
	}
}

// TestAWrongSecondKeyStopsOnlyWhatNeedsIt reads each report as its reader does: one cause, said once.
func TestAWrongSecondKeyStopsOnlyWhatNeedsIt(t *testing.T) {
	host := served(t)
	out := t.TempDir()
	got := invoke(t, nil, "run", "--host", host.URL, "--key", host.Credentials.KeyA, "--key-b", "wrong", "--out", out,
		"--leg", "0250.cursor-refused", "--leg", "0250.refusal-uniform", "--leg", "0250.tenant-backlog", "--leg", "0236.host-event.tenant-isolation")
	const says = "the host refused --key-b: GET /host/events answered 401; check the key and that it belongs to this host"
	if got.code != 3 || strings.Count(got.stdout, says) != 1 || !strings.Contains(got.stdout, "and 2 more for the same reasons") ||
		!strings.Contains(got.stdout, "1 passed, 0 failed, 0 inapplicable, 0 skipped, 3 blocked") || strings.Contains(got.stdout, "scope") {
		t.Errorf("exit %d\n%s", got.code, got.stdout)
	}
	if want := "warning: " + says + "; what needs a second tenant is blocked\n"; got.stderr != want {
		t.Errorf("at once it says\n%s", got.stderr)
	}
	got = invoke(t, nil, "run", "--host", host.URL, "--key", host.Credentials.KeyA, "--key-b", "wrong", "--out", t.TempDir(), "--leg", "0250.cursor-refused")
	if got.code != 0 || got.stderr != "" {
		t.Errorf("where nothing needs it: exit %d\n%s%s", got.code, got.stdout, got.stderr)
	}
}

// TestARunSaysWhatACertificateLacks runs against one host, from the least that was given to all of it.
func TestARunSaysWhatACertificateLacks(t *testing.T) {
	host := served(t)
	keys := host.Credentials
	const noBuild = "nothing is certified: give --build commit:SHA (or image-digest:sha256:…, artifact-sha256:…)\n"
	for name, tt := range map[string]struct {
		args         []string
		code         int
		says, silent []string
	}{
		"all but a build": {[]string{"--key-b", keys.KeyB}, 0, []string{noBuild}, []string{"certified: hostEvents", "not certified"}},
		"neither a build nor a second tenant": {nil, 0,
			[]string{noBuild, "not certified: hostEvents.replay (major 2): 0250.refusal-uniform did not apply (no-cause) and must have passed\n"},
			[]string{"certified: deadLetter", "not certified: deadLetter"}},
		"a build, and a row opted out of": {[]string{"--key-b", keys.KeyB, "--build", "commit:3f2a91c", "--opt-out", "0053.fork.replay"}, 0,
			[]string{"certified: hostEvents.replay (major 2), example.agent-dlq (major 2)\n", "not certified: deadLetter (major 1): 0053.fork.replay was opted out of\n",
				"not certified: deadLetter (major 2): 0053.fork.replay was opted out of\n"}, []string{"nothing is certified"}},
		"a few legs": {[]string{"--key-b", keys.KeyB, "--leg", "0250.cursor-refused"}, 0,
			[]string{"nothing is certified: that takes --build, and a run that --leg and --rfc don't narrow\n"}, []string{"not certified"}},
		"a few legs, and a build": {[]string{"--key-b", keys.KeyB, "--leg", "0250.cursor-refused", "--build", "commit:3f2a91c"}, 0,
			[]string{"not certified: hostEvents.replay (major 2): ", "0236.host-event.envelope was not run; and "}, []string{"nothing is certified"}},
		"a leg that nothing causes": {[]string{"--leg", "0250.bounded-stream"}, 3,
			[]string{"; one that ends its streams sooner shows it (the mock host: serve --stream-life 300ms)"}, []string{"certified"}},
	} {
		t.Run(name, func(t *testing.T) {
			got := invoke(t, nil, append([]string{"run", "--host", host.URL, "--key", keys.KeyA, "--no-clock", "--volume", "40"}, tt.args...)...)
			if got.code != tt.code {
				t.Errorf("exit %d, want %d\n%s", got.code, tt.code, got.stdout)
			}
			for _, says := range tt.says {
				if strings.Count(got.stdout, says) != 1 {
					t.Errorf("want it to say once %q, and it says\n%s", says, got.stdout)
				}
			}
			for _, silent := range tt.silent {
				if strings.Contains(got.stdout, silent) {
					t.Errorf("it says %q in\n%s", silent, got.stdout)
				}
			}
			certified := strings.HasPrefix(got.stdout, "certified: ") || strings.Contains(got.stdout, "\ncertified: ")
			if unsigned := strings.Contains(got.stderr, "warning: the bundles are not signed"); unsigned != certified {
				t.Errorf("certified: %v, and said to be unsigned: %v\n%s", certified, unsigned, got.stderr)
			}
		})
	}
}

func TestARunSaysThatARelaxedHostIsNotCertified(t *testing.T) {
	host := served(t)
	const says = "nothing is certified: OPENWOP_HOST_RELAXATIONS says that the host was relaxed (foo, bar): run it unrelaxed, without the variable\n"
	for name, tt := range map[string]struct {
		env  []string
		want int
	}{
		"relaxed":     {[]string{"OPENWOP_HOST_RELAXATIONS=foo, bar"}, 1},
		"not relaxed": {nil, 0},
	} {
		got := invoke(t, tt.env, "run", "--host", host.URL, "--key", host.Credentials.KeyA, "--build", "commit:3f2a91c", "--leg", "0250.cursor-refused")
		if n := strings.Count(got.stdout, says); got.code != 0 || n != tt.want {
			t.Errorf("%s: exit %d, and it says so %d times, want %d\n%s%s", name, got.code, n, tt.want, got.stdout, got.stderr)
		}
	}
}

func TestARunWithoutASecondTenantSaysWhatThatCosts(t *testing.T) {
	host := served(t)
	const warning = "warning: no key of a second tenant (--key-b or OPENWOP_TEST_TENANT_B_API_KEY) leaves 1 requirement about tenants kept apart unwitnessed"
	for name, tt := range map[string]struct {
		args []string
		want int
	}{
		"forgotten":  {nil, 1},
		"given":      {[]string{"--key-b", host.Credentials.KeyB}, 0},
		"not needed": {[]string{"--leg", "0250.cursor-refused"}, 0},
	} {
		args := append([]string{"run", "--host", host.URL, "--key", host.Credentials.KeyA}, tt.args...)
		if name != "not needed" {
			args = append(args, "--leg", "0250.refusal-uniform")
		}
		got := invoke(t, nil, args...)
		if n := strings.Count(got.stderr, warning); n != tt.want {
			t.Errorf("%s: it warns %d times, want %d\n%s", name, n, tt.want, got.stderr)
		}
	}
}
