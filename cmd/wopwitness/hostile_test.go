package main

import (
	"bytes"
	"context"
	"encoding/json"
	"encoding/xml"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net/http"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"
	"unicode"
	"unicode/utf8"

	"github.com/yuin/goldmark"
	"github.com/yuin/goldmark/extension"
	"github.com/yuin/goldmark/renderer/html"

	"github.com/wopwitness/wopwitness/scenarios/hostilehost"
	"github.com/wopwitness/wopwitness/scenarios/lawfulhost"
)

const (
	hostileLimit = 20 * time.Second  // --timeout
	hostileHang  = 120 * time.Second // a run that is not over by then hangs, on however busy a machine
	hostilePeak  = 300 << 20         // bytes resident
	mostLines    = 8                 // on standard error, where one cause stops every leg
)

// hostileLegs are the legs that attacks beyond discovery are met with: the trigger, a live stream, a resumed one, and
// refusals. Each attack is met within seconds.
func hostileLegs() []string {
	return []string{"0241.trigger.body-closed", "0236.host-event.envelope", "0250.resume-backlog", "0250.cursor-refused", "0250.refusal-reveals-nothing"}
}

// Every attack ends in bounded time and memory, with the row and the exit code that the case names, with nothing of a
// key in anything that was written, and with nothing of the host's text alive in it.
func TestHostileHostsAreSurvived(t *testing.T) {
	expected := hostileRows()
	var names []string
	dirs := map[string]string{}
	for _, a := range hostilehost.Attacks() {
		names = append(names, a.Name)
		dirs[a.Name] = t.TempDir()
	}
	for name := range expected {
		if !slices.Contains(names, name) {
			t.Errorf("there is no attack %s", name)
		}
	}
	result := visiting(t, names, func(ctx context.Context, name string) (visit, error) {
		return visitHostile(ctx, dirs[name], name, expected[name].all == "")
	})
	for _, name := range names {
		t.Run(name, func(t *testing.T) {
			v, err := result(name)
			if err != nil {
				t.Fatal(err)
			}
			t.Logf("exit %d, %d MiB, %s", v.code, v.peak>>20, v.took.Round(time.Millisecond))
			expected[name].check(t, v)
			if v.peak > hostilePeak {
				t.Errorf("%d MiB were resident", v.peak>>20)
			}
			written := v.files(t)
			noKeyIn(t, written)
			nothingAliveIn(t, written)
			if t.Failed() {
				t.Log(v.stderr)
			}
		})
	}
}

func visitHostile(ctx context.Context, dir, name string, some bool) (visit, error) {
	a, ok := hostilehost.Named(name)
	if !ok {
		return visit{}, fmt.Errorf("no attack %s", name)
	}
	right := lawfulhost.New(lawfulhost.Options{Serving: lawfulhost.Serving{Seams: true}})
	defer right.Close()
	s, err := hostilehost.Start(a, http.Handler(right))
	if err != nil {
		return visit{}, err
	}
	defer s.Close()
	args := []string{"--key", lawfulhost.KeyA, "--key-b", lawfulhost.KeyB, "--key-low", lawfulhost.KeyLow, "--workspace", lawfulhost.Workspace,
		"--key-ws", lawfulhost.KeyWS, "--timeout", hostileLimit.String(), "--volume", "50", "--event-timeout", "1s"}
	if some {
		for _, leg := range hostileLegs() {
			args = append(args, "--leg", leg)
		}
	}
	if s.CA != nil {
		ca := filepath.Join(dir, "ca.pem")
		if err := os.WriteFile(ca, s.CA, 0o600); err != nil {
			return visit{}, fmt.Errorf("write the CA file: %w", err)
		}
		args = append(args, "--ca", ca)
	}
	ctx, cancel := context.WithTimeout(ctx, hostileHang)
	defer cancel()
	v, err := visitHost(ctx, dir, s.URL, args...)
	if err == nil && ctx.Err() != nil {
		err = errors.New("the run hung")
	}
	if stolen := s.Stolen(); len(stolen) > 0 {
		return v, fmt.Errorf("another origin was sent %q", stolen)
	}
	return v, err
}

// files is everything that the run wrote, streams included, by name.
func (v visit) files(t *testing.T) map[string][]byte {
	t.Helper()
	written := map[string][]byte{"standard output": []byte(v.stdout), "standard error": []byte(v.stderr)}
	err := filepath.WalkDir(v.out, func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		b, err := os.ReadFile(path)
		written[d.Name()] = b
		return err
	})
	if err != nil {
		t.Error(err)
	}
	return written
}

// noKeyIn looks for every key in every form that a host was seen to give back, and for the plain key in any case, since
// a host can make it the name of a header.
func noKeyIn(t *testing.T, written map[string][]byte) {
	t.Helper()
	for _, key := range []string{lawfulhost.KeyA, lawfulhost.KeyB, lawfulhost.KeyLow, lawfulhost.KeyWS} {
		for name, content := range written {
			text := string(content)
			for form, secret := range hostilehost.Forms(key) {
				if strings.Contains(text, secret) {
					t.Errorf("%s holds a key, in the form %q", name, form)
				}
			}
			if strings.Contains(strings.ToLower(text), strings.ToLower(key)) {
				t.Errorf("%s holds a key in another case", name)
			}
		}
	}
}

// nothingAliveIn looks for what a terminal, a browser, a Markdown reader or a CI runner would act on.
func nothingAliveIn(t *testing.T, written map[string][]byte) {
	t.Helper()
	for _, name := range []string{"standard error", "report.html", "summary.md", "junit.xml"} {
		text := string(written[name])
		if !utf8.ValidString(text) {
			t.Errorf("%s is not UTF-8", name)
		}
		for _, r := range text {
			if r != '\n' && r != '\t' && (unicode.Is(unicode.Cc, r) || unicode.Is(unicode.Cf, r) || r == '\u2028' || r == '\u2029') {
				t.Errorf("%s holds U+%04X", name, r)
				break
			}
		}
		if at := regexp.MustCompile(`(?m)^(::error|##\[)`).FindStringIndex(text); at != nil {
			t.Errorf("%s holds a command for a CI runner", name)
		}
	}
	// What stands in a code span or a fenced block is not alive, so the summary is looked at as a reader renders it, with
	// every liberty that Markdown gives.
	var rendered bytes.Buffer
	reader := goldmark.New(goldmark.WithExtensions(extension.GFM), goldmark.WithRendererOptions(html.WithUnsafe()))
	if err := reader.Convert(written["summary.md"], &rendered); err != nil {
		t.Fatal(err)
	}
	written["summary.md as rendered"] = rendered.Bytes()
	for _, live := range []string{"<script>alert", "<img src=x", "<b>boom", `href="javascript:`} {
		for _, name := range []string{"report.html", "summary.md as rendered"} {
			if strings.Contains(string(written[name]), live) {
				t.Errorf("%s holds %s", name, live)
			}
		}
	}
	for d := xml.NewDecoder(strings.NewReader(string(written["junit.xml"]))); ; {
		if _, err := d.Token(); errors.Is(err, io.EOF) {
			break
		} else if err != nil {
			t.Errorf("junit.xml: %v", err)
			break
		}
	}
	for i, line := range strings.Split(strings.TrimSuffix(string(written["observations.jsonl"]), "\n"), "\n") {
		if !json.Valid([]byte(line)) {
			t.Errorf("line %d of observations.jsonl is no JSON", i+1)
		}
	}
}

// hostileCase is what an attack comes to. Either all rows are the same, for one cause that is said once; or each of
// hostileLegs has its own, and a row that isn't named passes.
type hostileCase struct {
	all  string
	rows map[string]string // leg → row
	exit int
}

func (c hostileCase) check(t *testing.T, v visit) {
	t.Helper()
	if !exitFits(v.code, c.exit) {
		t.Errorf("exit %d, want %d", v.code, c.exit)
	}
	if c.all != "" {
		if got := countsOf(v.rows); got != fmt.Sprintf("%d × %s", len(v.rows), c.all) || len(v.rows) == 0 {
			t.Errorf("rows: %s, want %s", got, c.all)
		}
		if n := strings.Count(v.stderr, "\n"); n > mostLines {
			t.Errorf("one cause takes %d lines", n)
		}
		return
	}
	want := map[string]string{}
	for _, leg := range hostileLegs() {
		name := onMajor(leg, 2)
		want[name] = "executed-pass"
		if row, named := c.rows[leg]; named {
			want[name] = row
		}
		if alternatives := strings.Split(want[name], "|"); slices.Contains(alternatives, v.rows[name]) {
			want[name] = v.rows[name]
		}
	}
	for _, d := range differences(v.rows, want) {
		t.Error(d)
	}
}
