package mockhost_test

import (
	"fmt"
	"net/http"
	"testing"
	"time"

	"github.com/wopwitness/wopwitness/mockhost"
)

func (a agents) drain(id any) jsonObject {
	a.t.Helper()
	return a.ask("GET", fmt.Sprint("/drains/", id), "", http.StatusOK)
}

func TestADrainPassesOverWhatIsPausedAndComesBackToIt(t *testing.T) {
	a := playAgents(t, mockhost.Config{})
	for _, tool := range []string{"one", "two"} {
		a.tool(tool, "", "bad_request", "bad_request", "ok")
		for i := range 2 {
			a.ended(fmt.Sprint(tool, i), call(tool, `{}`))
		}
	}
	a.ask("POST", "/pause", `{"tool":"one"}`, http.StatusOK)
	id := a.ask("POST", "/drains", `{"batch":2,"perSecond":1}`, http.StatusAccepted)["drainId"]
	a.advance(10 * time.Second)
	if d := a.drain(id); d["state"] != "paused" || d["succeeded"] != 2.0 || d["remaining"] != 2.0 {
		t.Errorf("while one tool is paused, the drain is %v", d)
	}
	a.ask("POST", "/resume", `{"tool":"one"}`, http.StatusOK)
	a.advance(10 * time.Second)
	if d := a.drain(id); d["state"] != "done" || d["succeeded"] != 4.0 || d["remaining"] != 0.0 {
		t.Errorf("resumed, the drain is %v", d)
	}
	if got := a.trail(a.entries("tool=one")[0]["entryId"]); got[len(got)-1] != "key-a replay" {
		t.Errorf("the trail is %v, want the replay to be of the holder of the key", got)
	}
}

func TestADrainTakesOnlyWhatWasThere(t *testing.T) {
	a := playAgents(t, mockhost.Config{})
	a.tool("pay", "", "bad_request", "bad_request", "ok")
	a.ended("before", call("pay", `{}`))
	a.ask("POST", "/pause", `{}`, http.StatusOK)
	id := a.ask("POST", "/drains", `{"batch":1,"perSecond":100}`, http.StatusAccepted)["drainId"]
	a.advance(time.Minute)
	a.ended("after", call("pay", `{}`))
	a.ask("POST", "/resume", `{}`, http.StatusOK)
	a.advance(time.Minute)
	if d := a.drain(id); d["state"] != "done" || d["replayed"] != 1.0 || a.status("before") != "completed" || a.status("after") != "tool_failed" {
		t.Errorf("the drain is %v; the message before it %s, the one after it %s", d, a.status("before"), a.status("after"))
	}
}

// TestADrainStopsAtTheRateThatItWasGiven has a tool whose first replay opens its circuit, so that the second is refused.
func TestADrainStopsAtTheRateThatItWasGiven(t *testing.T) {
	for rate, state := range map[string]string{"": "done", `,"minSuccessRate":0.5`: "stopped"} {
		a := playAgents(t, mockhost.Config{})
		a.tool("pay", "", "bad_request", "bad_request", "bad_request", "gone")
		for i := range 3 {
			a.ended(fmt.Sprint("m", i), call("pay", `{}`))
		}
		a.until(func() bool { return len(a.entries("tool=pay&category=SCHEMA_VALIDATION_FAILURE")) == 3 }, "the classifier")
		id := a.ask("POST", "/drains", `{"batch":2,"perSecond":1`+rate+`}`, http.StatusAccepted)["drainId"]
		a.advance(10 * time.Second)
		d := a.drain(id)
		failed := d["failed"].([]any)
		if d["state"] != state || len(failed) < 2 || d["replayed"] != float64(len(failed)) || failed[1].(jsonObject)["status"] != "circuit_open" {
			t.Errorf("with %q the drain is %v, want it %s", rate, d, state)
		}
	}
}

func TestWhatIsNoDrainIsRefused(t *testing.T) {
	a := playAgents(t, mockhost.Config{})
	for _, body := range []string{
		`{}`, `{"batch":1}`, `{"batch":0,"perSecond":1}`, `{"batch":101,"perSecond":1}`, `{"batch":1,"perSecond":0.5}`,
		`{"batch":1,"perSecond":101}`, `{"batch":1,"perSecond":1,"minSuccessRate":1.1}`, `{"batch":1,"perSecond":1,"category":"other"}`,
		`{"batch":1,"perSecond":1,"tool":"No Tool"}`, `{"batch":1,"perSecond":1,"olderThanSeconds":-1}`, `{"batch":1,"perSecond":1,"more":1}`,
	} {
		a.ask("POST", "/drains", body, http.StatusBadRequest)
	}
	a.ask("GET", "/drains/none", "", http.StatusNotFound)
	for _, body := range []string{`{"tool":""}`, `{"tool":"*"}`, `{"tool":null}`, `{"all":true}`} {
		a.ask("POST", "/pause", body, http.StatusBadRequest)
		a.ask("POST", "/resume", body, http.StatusBadRequest)
	}
	for _, body := range []string{
		`{"tool":"t","payload":{}}`, `{"tool":"t","payload":[],"confidence":1}`, `{"tool":"t","payload":{},"confidence":1.5}`, `{"payload":{},"confidence":1}`,
	} {
		a.ask("POST", "/semantic", body, http.StatusBadRequest)
	}
	a.ask("GET", "/reviews/nobody", "", http.StatusNotFound)
	a.ask("GET", "/impact", "", http.StatusBadRequest)
	a.ask("GET", "/impact?traceId=0af7651916cd43dd8448eb211c80319c", "", http.StatusNotFound)
	a.ask("POST", "/conversations/conv_none/expire", `{}`, http.StatusNotFound)
}
