package mockhost_test

import (
	"bufio"
	"context"
	"io"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/wopwitness/wopwitness/mockhost"
)

// shell runs commands in one sh, which keeps its variables from one to the next.
type shell struct {
	t   *testing.T
	in  io.Writer
	out *bufio.Reader
}

// over ends the output of each command.
const over = "=== over ==="

func newShell(t *testing.T, env ...string) *shell {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	t.Cleanup(cancel)
	c := exec.CommandContext(ctx, "sh")
	c.Env = append(os.Environ(), env...)
	in, err := c.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	out, err := c.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	c.Stderr = os.Stderr
	if err := c.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = in.Close()
		_ = c.Wait()
	})
	return &shell{t, in, bufio.NewReader(out)}
}

// run runs commands and returns what they print, without the blanks at the ends of lines.
func (s *shell) run(commands string) string {
	s.t.Helper()
	if _, err := io.WriteString(s.in, commands+"\necho\necho '"+over+"'\n"); err != nil {
		s.t.Fatal(err)
	}
	var lines []string
	for {
		line, err := s.out.ReadString('\n')
		if err != nil {
			s.t.Fatalf("%s: %v", commands, err)
		}
		if line = strings.TrimRight(line, " \n"); line == over {
			return strings.TrimRight(strings.Join(lines, "\n"), "\n")
		}
		lines = append(lines, line)
	}
}

// runbook gives the commands of the runbook and what the page says that they print: the function that all use, the steps, the
// incident, and what mends it.
func runbook(t *testing.T) (ask string, steps [][]string, incident, mended string) {
	t.Helper()
	needCurl(t)
	if _, err := exec.LookPath("jq"); err != nil {
		t.Skip("no jq is installed, so the runbook isn't tried")
	}
	text, err := os.ReadFile(filepath.Join("..", "docs", "runbook.md"))
	if err != nil {
		t.Fatal(err)
	}
	all := regexp.MustCompile("(?s)```sh\n(.*?)```(?:\n```text\n(.*?)\n```)?").FindAllStringSubmatch(string(text), -1)
	if len(all) < 9 {
		t.Fatalf("%d commands, which is not all of them", len(all))
	}
	last := len(all) - 2
	return all[0][1], all[1:last], all[last][1], all[last+1][1]
}

// TestTheRunbooksCommandsPrintWhatItSays plays the incident of the runbook and runs its steps in their order.
func TestTheRunbooksCommandsPrintWhatItSays(t *testing.T) {
	ask, steps, incident, mended := runbook(t)
	a := agents{start(t, mockhost.Config{Seams: true})}
	sh := newShell(t, "HOST="+a.url+"/v1/host/sample/agent-dlq", "KEY=Authorization: Bearer "+a.KeyA)
	sh.run(ask)
	sh.run(incident)
	a.until(func() bool {
		found := a.entries("resolution=unresolved")
		for _, e := range found {
			if e["category"] == nil {
				return false
			}
		}
		return len(found) == 8
	}, "the incident")
	for _, step := range steps {
		if strings.Contains(step[1], "/drains") {
			sh.run(mended)
		}
		if got := sh.run(step[1]); got != step[2] {
			t.Errorf("%sprints\n%s\nwant\n%s", step[1], got, step[2])
		}
	}
}

// TestTheRunbooksCommandsTellAnError runs the steps where none can be answered: each says why, and prints nothing that could
// be taken for an answer.
func TestTheRunbooksCommandsTellAnError(t *testing.T) {
	ask, steps, _, _ := runbook(t)
	a := agents{start(t, mockhost.Config{Seams: true})}
	for name, c := range map[string]struct{ host, key, says string }{
		"no such key":  {a.url, "key-of-nobody", `"error":"unauthenticated"`},
		"no such host": {"http://127.0.0.1:1", a.KeyA, "curl: (7)"},
	} {
		t.Run(name, func(t *testing.T) {
			sh := newShell(t, "HOST="+c.host+"/v1/host/sample/agent-dlq", "KEY=Authorization: Bearer "+c.key)
			sh.run(ask)
			sh.run("sleep() { :; }") // nothing comes that could be waited for
			for _, step := range steps {
				if got := sh.run("{\n" + step[1] + "} 2>/dev/null"); got != "" {
					t.Errorf("%sprints\n%s\nwant nothing", step[1], got)
				}
				if got := sh.run("{\n" + step[1] + "} 2>&1 >/dev/null"); !strings.Contains(got, c.says) {
					t.Errorf("%ssays\n%s\nwant %s", step[1], got, c.says)
				}
			}
		})
	}
}

// TestTheIncidentsScriptSaysWhereItCantMoveTheClock runs the script of docs/agent-dlq.md against a host whose clock is real.
func TestTheIncidentsScriptSaysWhereItCantMoveTheClock(t *testing.T) {
	needCurl(t)
	for _, tool := range []string{"bash", "jq"} {
		if _, err := exec.LookPath(tool); err != nil {
			t.Skipf("no %s is installed, so the incident isn't tried", tool)
		}
	}
	a := agents{start(t, mockhost.Config{Seams: true})}
	script := exec.CommandContext(t.Context(), "bash", filepath.Join("..", "docs", "examples", "agent-incident.sh"))
	script.Env = append(os.Environ(), "HOST="+a.url, "KEY="+a.KeyA)
	said, err := script.CombinedOutput()
	const want = "the host's clock can't be moved, as the incident needs: start it with serve --seams --clock manual\n"
	if err == nil || string(said) != want {
		t.Errorf("it ended with %v, and said\n%swant\n%s", err, said, want)
	}
	a.ask("GET", "/tools/payments", "", http.StatusNotFound)
}
