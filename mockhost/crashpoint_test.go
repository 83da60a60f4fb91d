package mockhost_test

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/wopwitness/wopwitness/mockhost"
	"github.com/wopwitness/wopwitness/mockhost/store"
	"github.com/wopwitness/wopwitness/mockhost/store/postgres/pgtest"
)

// The environment of a process that is to die: its store, and at which write, which is done when it dies or is not.
const (
	crashStore = "WOPWITNESS_CRASH_STORE"
	crashWrite = "WOPWITNESS_CRASH_WRITE"
	crashDone  = "WOPWITNESS_CRASH_DONE"
)

// shortLease lets another process take over soon what a dead one held, in real time.
const shortLease = 250 * time.Millisecond

// deadly is a store whose process dies at one of its writes, without tidying up.
type deadly struct {
	store.Store
	at    int64
	done  bool // the write is done first
	armed atomic.Bool
	count atomic.Int64
}

func (d *deadly) Write(ctx context.Context, f func(store.Tx) error) error {
	if !d.armed.Load() || d.count.Add(1) != d.at {
		return d.Store.Write(ctx, f)
	}
	if d.done {
		_ = d.Store.Write(ctx, f) // nobody will ask how it went
	}
	if err := syscall.Kill(os.Getpid(), syscall.SIGKILL); err != nil {
		panic(err)
	}
	select {}
}

// incident is the messages that are sent in one life of a worker, each meeting another fate. Its names end in the number of
// the write at which it is cut short.
type incident struct {
	host   *mockhost.Host
	suffix string
}

func (i incident) do(ctx context.Context, method, path, body string) (int, map[string]any) {
	r := httptest.NewRequestWithContext(ctx, method, "/v1/host/sample/agent-dlq"+path, strings.NewReader(body))
	r.Header.Set("Authorization", "Bearer "+i.host.Credentials().KeyA)
	r.Header.Set("Content-Type", "application/json")
	w := httptest.NewRecorder()
	i.host.Handler().ServeHTTP(w, r)
	var answer map[string]any
	if w.Body.Len() > 0 && json.Unmarshal(w.Body.Bytes(), &answer) != nil {
		panic(fmt.Sprintf("%s %s: %d %s", method, path, w.Code, w.Body))
	}
	return w.Code, answer
}

// fates are the messages of an incident, with the ends that each may come to.
func (i incident) fates() []fate {
	step := func(tool string) string {
		return fmt.Sprintf(`{"tool":"%s-%s","args":{"to":"ana@example.com"}}`, tool, i.suffix)
	}
	const task = `{\"task\":\"x\"}`
	return []fate{
		{"right", task, []string{step("pay"), step("look")}, []string{"completed"}, 1},
		{"flaky", task, []string{step("pay"), step("flaky")}, []string{"completed"}, 1},
		{"broken", task, []string{step("pay"), step("broken")}, []string{"tool_failed"}, 1},
		{"malformed", `{not json`, []string{step("pay")}, []string{"message_dead_lettered"}, 0},
		{"poison", `{\"task\":\"x\",\"poison\":true}`, []string{step("pay")}, []string{"message_dead_lettered"}, 0},
		{"refused", task, []string{step("refused")}, []string{"tool_failed"}, 0},
		// A tool that knows no key: whether an interrupted call was done nobody knows, so a person is asked.
		{"unkeyed", task, []string{step("book")}, []string{"completed", "tool_failed"}, 0},
	}
}

type fate struct {
	name, body string
	steps      []string
	ends       []string
	pays       int
}

func (i incident) tools(ctx context.Context) error {
	for name, body := range map[string]string{
		"pay":     `{"script":[{"outcome":"ok"}],"sideEffect":true,"idempotent":true}`,
		"look":    `{"script":[{"outcome":"ok"}],"idempotent":true}`,
		"flaky":   `{"script":[{"outcome":"server_error"},{"outcome":"ok"}],"idempotent":true}`,
		"broken":  `{"script":[{"outcome":"bad_request"}],"idempotent":true}`,
		"refused": `{"script":[{"outcome":"unauthorized"}],"idempotent":true}`,
		"book":    `{"script":[{"outcome":"ok"}],"sideEffect":true}`,
	} {
		if code, _ := i.do(ctx, http.MethodPut, "/tools/"+name+"-"+i.suffix, body); code != http.StatusOK {
			return fmt.Errorf("register %s: %d", name, code)
		}
	}
	return nil
}

// play sends the messages, each once the one before has ended, and tells of each that was accepted.
func (i incident) play(ctx context.Context, accepted func(name string)) error {
	for _, f := range i.fates() {
		body := fmt.Sprintf(`{"messageId":"%s-%s","body":"%s","retryBudget":2,"workflow":{"steps":[%s]}}`,
			f.name, i.suffix, f.body, strings.Join(f.steps, ","))
		if code, answer := i.do(ctx, http.MethodPost, "/messages", body); code != http.StatusAccepted {
			return fmt.Errorf("send %s: %d %v", f.name, code, answer)
		}
		accepted(f.name)
		for {
			_, m := i.do(ctx, http.MethodGet, "/messages/"+f.name+"-"+i.suffix, "")
			if status, _ := m["status"].(string); status != "queued" && status != "running" {
				break
			}
			select {
			case <-ctx.Done():
				return fmt.Errorf("%s hasn't ended: %v", f.name, m)
			case <-time.After(time.Millisecond):
			}
		}
	}
	return nil
}

// audit looks where every message is, and how often each side effect was done.
func (i incident) audit(t *testing.T) {
	t.Helper()
	places, errs := map[string][]string{}, map[string]any{}
	for queue, end := range map[string]string{"tool": "tool_failed", "message": "message_dead_lettered"} {
		for cursor := ""; ; {
			_, page := i.do(t.Context(), http.MethodGet, "/queues/"+queue+"?limit=200"+cursor, "")
			entries, _ := page["entries"].([]any)
			for _, e := range entries {
				e := e.(map[string]any)
				id, _ := e["originalMessageId"].(string)
				if queue == "message" {
					id, _ = e["messageId"].(string)
				}
				places[id] = append(places[id], end)
				errs[id] = e["lastError"]
			}
			next, more := page["nextCursor"].(string)
			if !more {
				break
			}
			cursor = "&cursor=" + next
		}
	}
	pays := 0
	for _, f := range i.fates() {
		id := f.name + "-" + i.suffix
		_, m := i.do(t.Context(), http.MethodGet, "/messages/"+id, "")
		status, _ := m["status"].(string)
		if status == "completed" {
			places[id] = append(places[id], status)
		}
		if len(places[id]) != 1 || places[id][0] != status || !strings.Contains(strings.Join(f.ends, " "), status) {
			t.Errorf("write %s: %s is %s and in %v, want exactly one of %v; its entry says %v", i.suffix, f.name, status, places[id], f.ends, errs[id])
		}
		pays += f.pays
	}
	for tool, want := range map[string][]int{"pay": {pays, pays}, "book": {0, 1}} {
		_, v := i.do(t.Context(), http.MethodGet, "/tools/"+tool+"-"+i.suffix, "")
		if got, _ := v["effects"].(float64); int(got) < want[0] || int(got) > want[1] {
			t.Errorf("write %s: %s did %v side effects, want %d to %d", i.suffix, tool, v["effects"], want[0], want[1])
		}
	}
}

// TestCrashPointProcess is the process that dies. By itself it does nothing.
func TestCrashPointProcess(t *testing.T) {
	at, err := strconv.ParseInt(os.Getenv(crashWrite), 10, 64)
	if err != nil {
		t.Skip("it is for the tests of crash points to start")
	}
	var deadlyStore *deadly
	c := mockhost.Config{Store: os.Getenv(crashStore), Seams: true, Agent: mockhost.AgentNumbers{Lease: shortLease}}
	h, err := mockhost.New(t.Context(), c.WithStore(func(s store.Store) store.Store {
		deadlyStore = &deadly{Store: s, at: at, done: os.Getenv(crashDone) == "yes"}
		return deadlyStore
	}))
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = h.Shutdown(context.Background()) }()
	i := incident{h, suffix(at, deadlyStore.done)}
	if err := i.tools(t.Context()); err != nil {
		t.Fatal(err)
	}
	deadlyStore.armed.Store(true)
	ctx, cancel := context.WithTimeout(t.Context(), deadline)
	defer cancel()
	out := bufio.NewWriter(os.Stdout)
	err = i.play(ctx, func(name string) {
		fmt.Fprintln(out, "accepted", name)
		_ = out.Flush()
	})
	if err != nil {
		t.Fatal(err)
	}
	fmt.Fprintln(out, "outlived")
	_ = out.Flush()
}

func suffix(at int64, done bool) string {
	if done {
		return fmt.Sprintf("%d.after", at)
	}
	return fmt.Sprintf("%d.before", at)
}

// die runs the process until it dies at that write; it gives what was accepted, and false when the write never came.
func die(t *testing.T, storeName string, at int64, done bool) (accepted []string, died bool) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 2*deadline)
	defer cancel()
	c := exec.CommandContext(ctx, os.Args[0], "-test.run=^TestCrashPointProcess$")
	c.Env = append(os.Environ(), crashStore+"="+storeName, crashWrite+"="+strconv.FormatInt(at, 10))
	if done {
		c.Env = append(c.Env, crashDone+"=yes")
	}
	out, err := c.Output()
	outlived := false
	for line := range bytes.Lines(out) {
		name, ok := bytes.CutPrefix(bytes.TrimSpace(line), []byte("accepted "))
		if ok {
			accepted = append(accepted, string(name))
		}
		outlived = outlived || strings.TrimSpace(string(line)) == "outlived"
	}
	if outlived {
		return accepted, false
	}
	status, ok := c.ProcessState.Sys().(syscall.WaitStatus)
	if !ok || !status.Signaled() || status.Signal() != syscall.SIGKILL || ctx.Err() != nil {
		t.Fatalf("write %d: the process ended with %v: %s", at, err, out)
	}
	return accepted, true
}

// everyWrite has a process die at each of its writes, and then lets goOn finish. It dies before one write and after the next
// in turns: after a write is before the following one, but for what the process did between the two.
func everyWrite(t *testing.T, storeName string, goOn func(t *testing.T, i incident, accepted []string)) {
	stride := int64(1)
	if testing.Short() {
		stride = 7
	}
	lives := 0
	for at := int64(1); ; at += stride {
		done := at%2 == 0
		accepted, died := die(t, storeName, at, done)
		if !died {
			// The incident above has at least this many writes: seven messages, each kept, claimed and ended.
			if lives < 21/int(stride) {
				t.Errorf("only %d lives were cut short", lives)
			}
			t.Logf("%d lives were cut short", lives)
			return
		}
		lives++
		goOn(t, incident{suffix: suffix(at, done)}, accepted)
		if t.Failed() {
			return
		}
	}
}

// finish goes on with a cut-short incident on a host, as a producer does who doesn't know what arrived, and audits it.
func finish(t *testing.T, h *mockhost.Host, i incident, accepted []string) {
	t.Helper()
	i.host = h
	for _, name := range accepted {
		if code, _ := i.do(t.Context(), http.MethodGet, "/messages/"+name+"-"+i.suffix, ""); code != http.StatusOK {
			t.Errorf("write %s: %s was accepted, and is gone: %d", i.suffix, name, code)
		}
	}
	ctx, cancel := context.WithTimeout(t.Context(), deadline)
	defer cancel()
	if err := i.play(ctx, func(string) {}); err != nil {
		t.Fatalf("write %s: %v", i.suffix, err)
	}
	i.audit(t)
}

func TestAWorkerThatDiesAtAnyWriteLosesAndRepeatsNothing(t *testing.T) {
	name := "sqlite:" + filepath.Join(t.TempDir(), "host.db")
	everyWrite(t, name, func(t *testing.T, i incident, accepted []string) {
		// A lease of its own would hold the next process up; one that is alone with its store doesn't wait for it.
		h, err := mockhost.New(t.Context(), mockhost.Config{Store: name, Seams: true})
		if err != nil {
			t.Fatal(err)
		}
		defer func() {
			if err := h.Shutdown(context.Background()); err != nil {
				t.Error(err)
			}
		}()
		finish(t, h, i, accepted)
	})
}

func TestAWorkerThatDiesAtAnyWriteIsFollowedByAnother(t *testing.T) {
	name := pgtest.Schema(t)
	other, err := mockhost.New(t.Context(), mockhost.Config{Store: name, Seams: true, Agent: mockhost.AgentNumbers{Lease: shortLease}})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := other.Shutdown(context.Background()); err != nil {
			t.Error(err)
		}
	})
	everyWrite(t, name, func(t *testing.T, i incident, accepted []string) { finish(t, other, i, accepted) })
}
