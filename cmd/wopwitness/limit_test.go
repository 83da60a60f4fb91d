package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestARunWhoseTimeIsUpSaysSoOnce runs against a host that never answers on its stream.
func TestARunWhoseTimeIsUpSaysSoOnce(t *testing.T) {
	url, _ := hanging(t)
	out := t.TempDir()
	got := invoke(t, nil, "run", "--host", url, "--key", "some-key-of-a-tenant", "--out", out, "--no-clock", "--timeout", "700ms",
		"--leg", "0250.shape", "--leg", "0250.cursor-*", "--leg", "0250.resume-*", "--target-major", "2")
	const passed = "the limit of 700ms (--timeout) passed after "
	if got.code != 3 || strings.Count(got.stdout, "BLCK  ") != 1 || !strings.Contains(got.stdout, "\nBLCK  "+passed) ||
		!strings.Contains(got.stdout, "\nverdict: none, "+passed) || strings.Contains(got.stdout, "interrupted") {
		t.Errorf("exit %d\n%s%s", got.code, got.stdout, got.stderr)
	}
	text, err := os.ReadFile(filepath.Join(out, "summary.md"))
	if err != nil || !strings.HasPrefix(string(text), "## wopwitness: none, "+passed) || strings.Contains(string(text), "| blocked | ") {
		t.Errorf("%v: the summary says\n%s", err, text)
	}
}
