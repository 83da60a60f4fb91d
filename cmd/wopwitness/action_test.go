package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// certifyStep is the script of the action's step that runs the suite.
func certifyStep(t *testing.T) string {
	t.Helper()
	action, err := os.ReadFile(filepath.Join("..", "..", "action.yml"))
	if err != nil {
		t.Fatal(err)
	}
	_, step, found := strings.Cut(string(action), "\n      id: run\n")
	_, script, begins := strings.Cut(step, "\n      run: |\n")
	if script, _, _ = strings.Cut(script, "\n    - name: "); !found || !begins || script == "" {
		t.Fatal("action.yml has no step with the id run")
	}
	return script
}

// TestTheActionShowsNoEarlierRun has the action's script run a program that writes a summary or is refused, over the
// folder of an earlier run.
func TestTheActionShowsNoEarlierRun(t *testing.T) {
	script := certifyStep(t)
	for name, tt := range map[string]struct {
		program, out string
		code         int
		page         string
		left         bool // what the earlier run left is still there
	}{
		"a run that is refused":     {"exit 2", "reports", 2, "", false},
		"a run that fails":          {`mkdir -p "$OUT"; echo red > "$OUT/summary.md"; exit 1`, "reports", 1, "red\n", false},
		"the working folder":        {"exit 0", ".", 2, "", true},
		"one that holds the former": {"exit 0", "..", 2, "", true},
		"the same by another name":  {"exit 0", "../link/work", 2, "", true},
	} {
		t.Run(name, func(t *testing.T) {
			base, temp := t.TempDir(), t.TempDir()
			if err := os.Symlink(".", filepath.Join(base, "link")); err != nil {
				t.Fatal(err)
			}
			work := filepath.Join(base, "link", "work") // as a runner's working folder may be entered
			earlier := filepath.Join(work, "reports", "summary.md")
			for path, text := range map[string]string{
				earlier: "green\n", filepath.Join(work, "go.mod"): "module x\n", filepath.Join(temp, "wopwitness"): "#!/bin/sh\n" + tt.program + "\n",
			} {
				if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
					t.Fatal(err)
				}
				if err := os.WriteFile(path, []byte(text), 0o755); err != nil {
					t.Fatal(err)
				}
			}
			page := filepath.Join(temp, "page")
			c := exec.CommandContext(t.Context(), "bash", "-eo", "pipefail", "-c", script)
			c.Dir = work
			c.Env = []string{"PATH=" + os.Getenv("PATH"), "PWD=" + work, "RUNNER_TEMP=" + temp, "GITHUB_OUTPUT=" + filepath.Join(temp, "output"),
				"GITHUB_STEP_SUMMARY=" + page, "OUT=" + tt.out, "TIMEOUT=15m"}
			said, _ := c.CombinedOutput()
			if c.ProcessState.ExitCode() != tt.code {
				t.Errorf("exit %d, want %d: %s", c.ProcessState.ExitCode(), tt.code, said)
			}
			if shown, _ := os.ReadFile(page); string(shown) != tt.page {
				t.Errorf("the page shows %q, want %q", shown, tt.page)
			}
			text, _ := os.ReadFile(earlier)
			if left := string(text) == "green\n"; left != tt.left {
				t.Errorf("what the earlier run left is there: %v, want %v", left, tt.left)
			}
			if _, err := os.Stat(filepath.Join(work, "go.mod")); err != nil {
				t.Errorf("the checkout is gone: %v", err)
			}
		})
	}
}
