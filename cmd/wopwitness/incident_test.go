package main

import (
	"bufio"
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"syscall"
	"testing"
)

// TestTheIncidentIsAsThePageSays runs the script of docs/agent-dlq.md against a host of its own, and compares what came
// with what the page shows.
func TestTheIncidentIsAsThePageSays(t *testing.T) {
	for _, tool := range []string{"bash", "curl", "jq"} {
		if _, err := exec.LookPath(tool); err != nil {
			t.Skipf("%s is not installed, so the incident of docs/agent-dlq.md isn't tried", tool)
		}
	}
	root, err := filepath.Abs("../..")
	if err != nil {
		t.Fatal(err)
	}
	page, err := os.ReadFile(filepath.Join(root, "docs", "agent-dlq.md"))
	if err != nil {
		t.Fatal(err)
	}
	play := func(host string) (stdout, stderr bytes.Buffer, err error) {
		script := exec.CommandContext(t.Context(), "bash", filepath.Join(root, "docs", "examples", "agent-incident.sh"))
		script.Env = append(os.Environ(), "HOST="+host)
		script.Stdout, script.Stderr = &stdout, &stderr
		err = script.Run()
		return stdout, stderr, err
	}
	host := servedForAScript(t, "--seams", "--clock", "manual")
	stdout, stderr, err := play(host)
	if err != nil {
		t.Fatalf("the script ended with %v after\n%s%s", err, stdout.String(), stderr.String())
	}
	for on, says := range map[string]string{host: "was played on this host before", servedForAScript(t): "no agent seams"} {
		out, why, err := play(on)
		if err == nil || out.Len() > 0 || !strings.Contains(why.String(), says) || strings.Count(why.String(), "\n") != 1 {
			t.Errorf("where it can't be played it ended with %v, and said\n%s%swant one line with %q", err, out.String(), why.String(), says)
		}
	}
	var came []string
	for line := range strings.Lines(stdout.String()) {
		if !strings.HasPrefix(line, "# ") {
			came = append(came, impersonal(line))
		}
	}
	shown := consoleLines(string(page))
	if len(shown) < 40 {
		t.Fatalf("the page shows %d lines only", len(shown))
	}
	for i := range max(len(shown), len(came)) {
		at := func(lines []string) string {
			if i < len(lines) {
				return lines[i]
			}
			return "nothing"
		}
		if at(shown) != at(came) {
			t.Fatalf("line %d of the page's output:\nshows %s\ncame  %s", i+1, at(shown), at(came))
		}
	}
}

// servedForAScript is the address of a host, served by the program with these flags until the test ends.
func servedForAScript(t *testing.T, flags ...string) string {
	t.Helper()
	c := command(t, nil, append([]string{"serve", "--addr", "127.0.0.1:0"}, flags...)...)
	out, err := c.StdoutPipe()
	if err == nil {
		err = c.Start()
	}
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = c.Process.Signal(syscall.SIGTERM)
		_ = c.Wait()
	})
	lines := bufio.NewScanner(out)
	for lines.Scan() {
		if url, ok := strings.CutPrefix(lines.Text(), "mock host at "); ok {
			return url
		}
	}
	t.Fatal("serve said no address")
	return ""
}

// consoleLines are the lines of the page's console blocks.
func consoleLines(page string) []string {
	var out []string
	inside := false
	for line := range strings.Lines(page) {
		switch {
		case strings.HasPrefix(line, "```"):
			inside = strings.TrimSpace(line) == "```console"
		case inside:
			out = append(out, impersonal(line))
		}
	}
	return out
}

var personal = regexp.MustCompile(`(drain|dle)-[0-9A-HJKMNP-TV-Z]{26}`)

// impersonal is the line without what differs from host to host.
func impersonal(line string) string {
	return personal.ReplaceAllString(strings.TrimSpace(line), "$1-ID")
}
