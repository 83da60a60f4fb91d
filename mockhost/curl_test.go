package mockhost_test

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"io"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/wopwitness/wopwitness/mockhost"
)

// needCurl skips the test where there is no curl.
func needCurl(t *testing.T) {
	t.Helper()
	if _, err := exec.LookPath("curl"); err != nil {
		t.Skip("no curl is installed, so the host isn't tried with it")
	}
}

// ran is how a command ended; code is its exit code.
type ran struct {
	out  string
	code int
}

func run(t *testing.T, name string, args ...string) ran {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	var out, errs bytes.Buffer
	c := exec.CommandContext(ctx, name, args...)
	c.Stdout, c.Stderr = &out, &errs
	err := c.Run()
	var exit *exec.ExitError
	if err != nil && (!errors.As(err, &exit) || !exit.Exited()) {
		t.Fatalf("%s %q: %v %s", name, args, err, &errs)
	}
	if err != nil {
		t.Logf("%s %q: %v: %s", name, args, err, &errs) // shown where the test fails
	}
	return ran{out.String(), c.ProcessState.ExitCode()}
}

// follower reads a command's output while it runs.
type follower struct {
	t    *testing.T
	cmd  *exec.Cmd
	out  *bufio.Reader
	errs *bytes.Buffer
}

// follow starts a command, which the end of the test kills where it still runs.
func follow(t *testing.T, name string, args ...string) *follower {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	f := &follower{t: t, cmd: exec.CommandContext(ctx, name, args...), errs: &bytes.Buffer{}}
	f.cmd.Stderr = f.errs
	out, err := f.cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	f.out = bufio.NewReader(out)
	if err := f.cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		cancel()
		_ = f.cmd.Wait() // it was killed, or has been waited for
	})
	return f
}

// block is the lines up to the next empty one, without it; false at the end of the output.
func (f *follower) block() (string, bool) {
	f.t.Helper()
	var lines []string
	for {
		line, err := f.out.ReadString('\n')
		if err != nil {
			if err != io.EOF || line != "" || len(lines) > 0 {
				f.t.Fatalf("the output ended within %q: %v %s", append(lines, line), err, f.errs)
			}
			return "", false
		}
		if line = strings.TrimRight(line, "\r\n"); line == "" {
			return strings.Join(lines, "\n"), true
		}
		lines = append(lines, line)
	}
}

// event is the next block that isn't a comment; false at the end of the stream.
func (f *follower) event() (block, bool) {
	f.t.Helper()
	for {
		raw, ok := f.block()
		if b := parse(raw); !ok || !b.comment {
			return b, ok
		}
	}
}

func (f *follower) until(id string) []string {
	f.t.Helper()
	var out []string
	for {
		b, ok := f.event()
		if !ok {
			f.t.Fatalf("the stream ended before %s; it had %v", id, out)
		}
		if out = append(out, b.eventID()); b.eventID() == id {
			return out
		}
	}
}

// curled is curl's arguments for a request of tenant A's.
func (h *host) curled(path string, more ...string) []string {
	return append([]string{"-sS", "-H", "OpenWOP-Version: 2", "-H", "Authorization: Bearer " + h.KeyA, h.url + path}, more...)
}

// curlStream is `curl -N -i`, and its answer's head is read, so that the stream is open.
func (h *host) curlStream(path string, more ...string) *follower {
	h.t.Helper()
	f := follow(h.t, "curl", h.curled(path, append(more, "-N", "-i")...)...)
	head, _ := f.block()
	if status, _, _ := strings.Cut(head, "\n"); status != "HTTP/1.1 200 OK" {
		h.t.Fatalf("curl got %s", head)
	}
	return f
}

func TestCurlFollowsAStream(t *testing.T) {
	needCurl(t)
	h := start(t, mockhost.Config{})
	f := h.curlStream("/host/events" + strict)
	e := h.trigger(h.KeyA, "ephemeral")
	h.trigger(h.KeyB, "durable")
	first, _ := f.event()
	d := h.trigger(h.KeyA, "durable")
	second, _ := f.event()
	for _, c := range []struct {
		got            block
		event, of, id  string
		delivery, name string
	}{
		{first, "host-test.ephemeral-triggered", e, "", "ephemeral", "the ephemeral event"},
		{second, "host-test.durable-triggered", d, d, "durable", "the durable event"},
	} {
		if c.got.event != c.event || c.got.eventID() != c.of || c.got.id != c.id || c.got.withID != (c.id != "") || c.got.deliveryOfObject != c.delivery {
			t.Errorf("%s: curl printed %q", c.name, c.got.raw)
		}
	}
}

func TestCurlResumes(t *testing.T) {
	needCurl(t)
	h := start(t, mockhost.Config{})
	cursor, d2 := h.trigger(h.KeyA, "durable"), h.trigger(h.KeyA, "durable")
	h.trigger(h.KeyA, "ephemeral")
	d3 := h.trigger(h.KeyA, "durable")
	f := h.curlStream("/host/events"+strict, "-H", "Last-Event-ID: "+cursor)
	d4 := h.trigger(h.KeyA, "durable")
	if got, want := f.until(d4), []string{d2, d3, d4}; !slices.Equal(got, want) {
		t.Errorf("got %v, want %v", got, want)
	}
}

// TestCurlEndsWithTheStream shows that a script can loop: curl ends well when the host ends the stream, and not well when
// it refuses the cursor.
func TestCurlEndsWithTheStream(t *testing.T) {
	needCurl(t)
	h := start(t, mockhost.Config{StreamLife: 100 * time.Millisecond})
	cursor := h.trigger(h.KeyA, "durable")
	for range 2 {
		next := h.trigger(h.KeyA, "durable")
		got := ran{}
		// A busy machine may let a stream's life pass before its first event; its reader comes back as it was.
		for limit := time.Now().Add(deadline); !strings.Contains(got.out, "data: ") && time.Now().Before(limit); {
			got = run(t, "curl", h.curled("/host/events"+strict, "-N", "--fail-with-body", "-H", "Last-Event-ID: "+cursor)...)
		}
		if id := parse(lastBlock(got.out)).id; got.code != 0 || id != next {
			t.Errorf("the stream ended with exit %d after %q, want %s", got.code, got.out, next)
		}
		cursor = next
	}
	got := run(t, "curl", h.curled("/host/events"+strict, "-N", "--fail-with-body", "-H", "Last-Event-ID: no-such-event-0000")...)
	if want := (ran{refusal, 22}); got != want {
		t.Errorf("an unknown cursor: got %+v, want %+v", got, want)
	}
}

// lastBlock is a stream's last block.
func lastBlock(out string) string {
	blocks := strings.Split(strings.TrimSuffix(out, "\n\n"), "\n\n")
	return blocks[len(blocks)-1]
}

func TestCurlShowsTheRefusal(t *testing.T) {
	needCurl(t)
	h := start(t, mockhost.Config{})
	ephemeral, foreign := h.trigger(h.KeyA, "ephemeral"), h.trigger(h.KeyB, "durable")
	for _, c := range []struct{ name, cursor string }{
		{"unknown", "no-such-event-0000"}, {"an ephemeral event's", ephemeral}, {"another tenant's", foreign},
	} {
		got := run(t, "curl", h.curled("/host/events"+strict, "-H", "Last-Event-ID: "+c.cursor, "-w", `\n%{http_code} %{content_type}`)...)
		if want := (ran{refusal + "\n409 application/json", 0}); got != want {
			t.Errorf("%s: got %+v, want %+v", c.name, got, want)
		}
	}
}

func TestCurlAsksForDiscoveryOnlyWhereItChanged(t *testing.T) {
	needCurl(t)
	h := start(t, mockhost.Config{})
	path := h.url + "/.well-known/openwop"
	direct := h.do("GET", "/.well-known/openwop", "", "", "OpenWOP-Version: 2")
	kept := filepath.Join(t.TempDir(), "etag")
	for _, c := range []struct {
		name string
		args []string
		want string
	}{
		{"at first", []string{"-H", "OpenWOP-Version: 2", "--etag-save", kept}, direct.body + "\n200"},
		{"again", []string{"-H", "OpenWOP-Version: 2", "--etag-compare", kept}, "\n304"},
		{"again, by hand", []string{"-H", "OpenWOP-Version: 2", "-H", "If-None-Match: " + direct.header.Get("ETag")}, "\n304"},
		{"with another tag", []string{"-H", "OpenWOP-Version: 2", "-H", `If-None-Match: "other"`}, direct.body + "\n200"},
		{
			"in the other major", []string{"-H", "OpenWOP-Version: 1", "--etag-compare", kept},
			h.do("GET", "/.well-known/openwop", "", "", "OpenWOP-Version: 1").body + "\n200",
		},
	} {
		got := run(t, "curl", append([]string{"-sS", "-w", `\n%{http_code}`, path}, c.args...)...)
		if want := (ran{c.want, 0}); got != want {
			t.Errorf("%s: got %+v, want %+v", c.name, got, want)
		}
	}
}
