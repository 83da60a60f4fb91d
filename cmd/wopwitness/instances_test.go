package main

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"log"
	"math/rand/v2"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"os/exec"
	"slices"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/wopwitness/wopwitness/mockhost/store/postgres/pgtest"
)

// process is one served instance in a process of its own.
type process struct {
	url string
	cmd *exec.Cmd
}

// serveProcess starts an instance over the store and returns once it says where it is. It ends with the test.
func serveProcess(t *testing.T, store string, more ...string) *process {
	t.Helper()
	c := command(t, nil, append([]string{"serve", "--addr", "127.0.0.1:0", "--seams", "--clock", "manual", "--store", store}, more...)...)
	out, err := c.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	c.Cancel = func() error { return c.Process.Signal(syscall.SIGTERM) }
	if err := c.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = c.Wait() }) // the test's context is over by now, and told the process to stop
	lines := bufio.NewScanner(out)
	for lines.Scan() {
		if at, ok := strings.CutPrefix(lines.Text(), "mock host at "); ok {
			go func() {
				for lines.Scan() { // so that it never waits for a reader
				}
			}()
			return &process{url: at, cmd: c}
		}
	}
	t.Fatal("the host didn't say where it is")
	return nil
}

// kill ends the process as kill -9 does, and returns once it is gone.
func (p *process) kill(t *testing.T) {
	t.Helper()
	if err := p.cmd.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	_ = p.cmd.Wait()
}

type attemptEvent struct {
	Type    string
	Payload struct{ Attempt, Attempts int }
}

// must sends a request that has to be answered with the status.
func (p *process) must(ctx context.Context, t *testing.T, want int, method, path, body string) string {
	t.Helper()
	status, answer, err := request(ctx, method, p.url+path, body)
	if err != nil || status != want {
		t.Fatalf("%s %s: %d %s, %v; want %d", method, path, status, answer, err, want)
	}
	return answer
}

func runPath(id string) string { return "/runs/" + strings.ReplaceAll(id, "/", "~2F") }

// log reads a run's log as it stands.
func (p *process) log(ctx context.Context, t *testing.T, id string) (events []attemptEvent) {
	t.Helper()
	var page struct{ Events []attemptEvent }
	answer := p.must(ctx, t, http.StatusOK, "GET", runPath(id)+"/events/poll?timeout=1&afterSequence=-1", "")
	if err := json.Unmarshal([]byte(answer), &page); err != nil {
		t.Fatal(err)
	}
	return page.Events
}

func over(log []attemptEvent) bool {
	return len(log) > 0 && slices.Contains([]string{"run.failed", "run.completed"}, log[len(log)-1].Type)
}

// create makes a run of a fixture and gives its id.
func (p *process) create(ctx context.Context, t *testing.T, fixture string) string {
	t.Helper()
	return field(t, p.must(ctx, t, http.StatusCreated, "POST", "/runs", `{"workflowId":"`+fixture+`"}`), "runId")
}

func field(t *testing.T, answer, name string) string {
	t.Helper()
	var members map[string]any
	if err := json.Unmarshal([]byte(answer), &members); err != nil {
		t.Fatalf("%s: %v", answer, err)
	}
	text, _ := members[name].(string)
	return text
}

// exhausted is the whole log of a run of three attempts, in short.
func exhausted() []string {
	var all []string
	for n := range 3 {
		if n > 0 {
			all = append(all, fmt.Sprintf("node.retried %d", n+1))
		}
		all = append(all, fmt.Sprintf("node.started %d", n+1), fmt.Sprintf("node.failed %d", n+1))
	}
	return append(append([]string{"run.started 0"}, all...), "run.dead-lettered 3", "run.failed 0")
}

func inShort(log []attemptEvent) (all []string) {
	for _, e := range log {
		all = append(all, fmt.Sprintf("%s %d", e.Type, max(e.Payload.Attempt, e.Payload.Attempts)))
	}
	return all
}

// TestARunGoesOnOnTheOtherInstance kills the instance that a run was made on, at a moment of its three attempts, and has
// the other one go on: no attempt is lost and none counted twice, and there is one entry in the sink.
func TestARunGoesOnOnTheOtherInstance(t *testing.T) {
	ctx, cancel := context.WithTimeout(t.Context(), 2*time.Minute)
	defer cancel()
	store := pgtest.Schema(t)
	made, stays := serveProcess(t, store), serveProcess(t, store)
	const enough, most = 4, 40
	interrupted := 0
	var runs []string
	for round := 0; interrupted < enough; round++ {
		if round == most {
			t.Fatalf("of %d kills only %d fell into a run", most, interrupted)
		}
		id := made.create(ctx, t, "conformance-deadletter-exhaust")
		runs = append(runs, id)
		for reached := rand.IntN(8); ; { // as many events as the log has when the process dies, at least
			if events := stays.log(ctx, t, id); len(events) >= reached {
				break
			}
		}
		made.kill(t)
		if !over(stays.log(ctx, t, id)) {
			interrupted++
		}
		// In turn the other one goes on, or both do once the dead one's place is taken.
		next := serveProcess(t, store)
		for !over(stays.log(ctx, t, id)) {
			if ctx.Err() != nil {
				t.Fatalf("run %s doesn't go on: %v", id, inShort(stays.log(ctx, t, id)))
			}
		}
		made, stays = stays, next
	}
	for _, id := range runs {
		if got := inShort(stays.log(ctx, t, id)); !slices.Equal(got, exhausted()) {
			t.Errorf("the log of %s is\n%q, want\n%q", id, got, exhausted())
		}
	}
	sink := stays.must(ctx, t, http.StatusOK, "GET", "/conformance/seams/sample/deadletter/entries?limit=100", "")
	for _, id := range runs {
		if n := strings.Count(sink, `"`+id+`"`); n != 1 {
			t.Errorf("the sink has %d entries of %s", n, id)
		}
	}
	t.Logf("%d of %d kills fell into a run", interrupted, len(runs))
}

// TestADeadRunOfOneInstanceIsForkedAndPurgedOnAnother is about what two processes have in common: the run, its fork, its
// end, and the clock.
func TestADeadRunOfOneInstanceIsForkedAndPurgedOnAnother(t *testing.T) {
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	store := pgtest.Schema(t)
	a, b := serveProcess(t, store), serveProcess(t, store)
	id := a.create(ctx, t, "conformance-deadletter-fixable")
	for !over(b.log(ctx, t, id)) {
		if ctx.Err() != nil {
			t.Fatal("the run doesn't end")
		}
	}
	fork := `{"mode":"branch","fromSeq":0,"runOptionsOverlay":{"configurable":{"version":1,"extensions":{"example":{"conformanceFixed":true}}}}}`
	child := field(t, b.must(ctx, t, http.StatusCreated, "POST", runPath(id)+":fork", fork), "runId")
	for !over(a.log(ctx, t, child)) {
		if ctx.Err() != nil {
			t.Fatal("the fork doesn't end")
		}
	}
	if events := a.log(ctx, t, child); events[len(events)-1].Type != "run.completed" {
		t.Errorf("the mended fork's log is %q", inShort(events))
	}
	// Both move the clock at once, and the run's seven days pass only by both moves together.
	const half = 4 * 24 * time.Hour
	began := instant(t, a.must(ctx, t, http.StatusOK, "GET", "/conformance/seams/sample/clock", ""))
	moved := make(chan error, 2)
	for _, p := range []*process{a, b} {
		go func() {
			body := fmt.Sprintf(`{"seconds":%d}`, int(half.Seconds()))
			status, answer, err := request(ctx, "POST", p.url+"/conformance/seams/sample/clock/advance", body)
			if err == nil && status != http.StatusOK {
				err = fmt.Errorf("advance: %d %s", status, answer)
			}
			moved <- err
		}()
	}
	for range 2 {
		if err := <-moved; err != nil {
			t.Fatal(err)
		}
	}
	for _, p := range []*process{a, b} {
		if now := instant(t, p.must(ctx, t, http.StatusOK, "GET", "/conformance/seams/sample/clock", "")); now.Before(began.Add(2 * half)) {
			t.Errorf("two moves of %s took the clock from %s to %s", half, began, now)
		}
		p.must(ctx, t, http.StatusNotFound, "GET", runPath(id), "")
		p.must(ctx, t, http.StatusNotFound, "POST", runPath(id)+":fork", fork)
		if sink := p.must(ctx, t, http.StatusOK, "GET", "/conformance/seams/sample/deadletter/entries", ""); strings.Contains(sink, id) {
			t.Errorf("the purged run is in the sink: %s", sink)
		}
	}
}

func instant(t *testing.T, answer string) time.Time {
	t.Helper()
	at, err := time.Parse(time.RFC3339, field(t, answer, "now"))
	if err != nil {
		t.Fatal(err)
	}
	return at
}

// alternating is one address that gives each request to the next of the hosts, as a balancer without affinity does.
func alternating(t *testing.T, hosts ...*process) string {
	t.Helper()
	var next atomic.Int64
	proxy := &httputil.ReverseProxy{
		FlushInterval: -1,
		ErrorLog:      log.New(io.Discard, "", 0), // a stream that its reader closes is no error
		Rewrite: func(r *httputil.ProxyRequest) {
			to, err := url.Parse(hosts[int(next.Add(1))%len(hosts)].url)
			if err != nil {
				panic(err)
			}
			r.SetURL(to)
		},
	}
	s := httptest.NewServer(proxy)
	t.Cleanup(s.Close)
	return s.URL
}

// TestTwoInstancesBehindOneAddressAreOneHost runs every leg against two processes over one
// database, each request at the next of them. Each process is started again where a leg kills it.
func TestTwoInstancesBehindOneAddressAreOneHost(t *testing.T) {
	store := pgtest.Schema(t)
	more := []string{"--stream-life", "300ms", "--supervise"}
	a, b := serveProcess(t, store, more...), serveProcess(t, store, more...)
	one := alternating(t, a, b)
	out := t.TempDir()
	got := invoke(t, nil, "run", "--host", one, "--peer-url", b.url, "--key", keyA, "--key-b", "local-key-of-tenant-b",
		"--key-low", "local-key-without-read", "--workspace", "acme-assembly", "--key-ws", "local-key-of-workspace", "--out", out, "--timeout", "4m")
	if got.code != 0 || !strings.Contains(got.stdout, " 0 failed, 0 inapplicable, 0 skipped, 0 blocked") {
		t.Errorf("exit %d\n%s%s", got.code, got.stdout, got.stderr)
	}
}
