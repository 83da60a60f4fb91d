package mockhost_test

import (
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/wopwitness/wopwitness/mockhost"
)

// trace is the trace of a message, as a query.
func (a agents) trace(id string) string {
	a.t.Helper()
	return fmt.Sprint("traceId=", a.ask("GET", "/messages/"+id, "", http.StatusOK)["traceId"])
}

// TestACompensatedRunIsNeverReplayed gives two runs up, one that would be replayed by itself and one that would be repaired.
func TestACompensatedRunIsNeverReplayed(t *testing.T) {
	a := playAgents(t, mockhost.Config{})
	a.tool("stock", `,"sideEffect":true`, "ok")
	a.tool("pay", `,"sideEffect":true`, "server_error", "ok")
	a.tool("book", `,"sideEffect":true`, "semantic", "ok")
	a.ask("POST", "/pause", `{"tool":"book"}`, http.StatusOK)
	a.ended("paid", call("stock", `{}`), call("pay", `{}`, 0))
	a.ended("booked", call("stock", `{}`), call("book", `{"start":9,"end":2}`, 0))
	pay, book := a.classified("pay"), a.classified("book")
	for _, m := range []string{"paid", "booked"} {
		a.ask("POST", "/impact/compensate?"+a.trace(m), `{}`, http.StatusOK)
	}
	if _, effects := a.calls("stock"); effects != 0.0 {
		t.Fatalf("%v effects are left", effects)
	}
	a.ask("POST", "/resume", `{}`, http.StatusOK)
	drain := a.ask("POST", "/drains", `{"batch":1,"perSecond":1}`, http.StatusAccepted)["drainId"]
	a.advance(24 * time.Hour)
	if d := a.drain(drain); d["state"] != "done" || d["replayed"] != 0.0 || len(d["failed"].([]any)) != 0 {
		t.Errorf("the drain is %v", d)
	}
	waiting := a.waiting("human")
	for tool, e := range map[string]jsonObject{"pay": pay, "book": book} {
		id := fmt.Sprint(e["entryId"])
		got := a.ask("POST", "/queues/tool/"+id+"/replay", `{"by":"ana"}`, http.StatusConflict)
		if got["error"] != "run_state_conflict" || !strings.Contains(fmt.Sprint(got["message"]), "the run was compensated") {
			t.Errorf("%s: a person's replay is answered %v", tool, got)
		}
		if n, effects := a.calls(tool); n != 1 || effects != 0.0 || waiting[tool] == nil || a.entry(id)["nextReplayAt"] != nil {
			t.Errorf("%s: %d calls, %v effects; in review %v; the entry is %v", tool, n, effects, waiting[tool], a.entry(id))
		}
		if got := a.trail(id); tool == "pay" && got[len(got)-1] != "key-a review" {
			t.Errorf("%s: the trail is %v, want the holder of the key to have sent it to review", tool, got)
		}
		a.ask("POST", "/queues/tool/"+id+"/discard", `{"by":"ana"}`, http.StatusAccepted)
	}
}

// TestWhatIsBeingReplayedIsNotDecidedAbout has a replay whose tool doesn't answer.
func TestWhatIsBeingReplayedIsNotDecidedAbout(t *testing.T) {
	a := playAgents(t, mockhost.Config{Agent: mockhost.AgentNumbers{ToolTimeout: time.Hour}})
	a.tool("stock", `,"sideEffect":true`, "ok")
	a.tool("pay", "", "server_error", "timeout")
	a.ended("m", call("stock", `{}`), call("pay", `{}`, 0))
	id := fmt.Sprint(a.classified("pay")["entryId"])
	a.ask("POST", "/drains", `{"batch":1,"perSecond":1}`, http.StatusAccepted)
	a.until(func() bool {
		return len(a.ask("GET", "/invocations?status=in_flight", "", http.StatusOK)["entries"].([]any)) == 1
	}, "the replay")
	for _, path := range []string{"/queues/tool/" + id + "/discard", "/queues/tool/" + id + "/resolve", "/impact/compensate?" + a.trace("m")} {
		body := `{"by":"ana"}`
		if strings.HasPrefix(path, "/impact") {
			body = `{}`
		}
		got := a.ask("POST", path, body, http.StatusConflict)
		if got["error"] != "run_state_conflict" || !strings.Contains(fmt.Sprint(got["message"]), "is under way") {
			t.Errorf("%s is answered %v", path, got)
		}
	}
	if _, effects := a.calls("stock"); effects != 1.0 || a.entry(id)["resolution"] != "unresolved" {
		t.Errorf("%v effects; the entry is %v", effects, a.entry(id))
	}
}
