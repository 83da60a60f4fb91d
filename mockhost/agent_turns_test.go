package mockhost_test

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"slices"
	"sync/atomic"
	"testing"
	"time"

	"github.com/wopwitness/wopwitness/mockhost"
)

// turned plays a host whose model is a function of the outcomes so far: the tool turns as they came.
func turned(t *testing.T, decide func(came []jsonObject) jsonObject) agents {
	t.Helper()
	s := serveModels(t, map[string]func(jsonObject) any{"/model": func(q jsonObject) any {
		var came []jsonObject
		for _, turn := range q["turns"].([]any) {
			if turn := turn.(jsonObject); turn["role"] == "tool" {
				came = append(came, turn)
			}
		}
		answer := decide(came)
		answer["usage"] = jsonObject{"input": 10, "output": 1}
		return answer
	}})
	return playAgents(t, mockhost.Config{Models: mockhost.ModelServers{Model: s.URL + "/model"}})
}

// sent offers a message whose tools may be called again, and waits for its end.
func (a agents) sent(id, steps string) string {
	a.t.Helper()
	a.ask("POST", "/messages", `{"messageId":"`+id+`","body":"{\"task\":\"book\"}","workflow":{"steps":[`+steps+`]}}`, http.StatusAccepted)
	a.until(func() bool { return a.status(id) != "queued" && a.status(id) != "running" }, "the end of "+id)
	return a.status(id)
}

// records are the invocations of a message, by tool.
func (a agents) records(id string) map[string]jsonObject {
	a.t.Helper()
	out := map[string]jsonObject{}
	for _, r := range a.ask("GET", "/invocations?traceId="+traceOf(a, id), "", http.StatusOK)["entries"].([]any) {
		out[fmt.Sprint(r.(jsonObject)["toolName"])] = r.(jsonObject)
	}
	return out
}

func TestAModelMendsTheArgumentsThatWereRefused(t *testing.T) {
	a := turned(t, func(came []jsonObject) jsonObject {
		switch len(came) {
		case 0:
			return jsonObject{"call": jsonObject{"step": 0}}
		case 1:
			return jsonObject{"call": jsonObject{"step": 0, "args": jsonObject{"seat": "12A"}}}
		}
		return jsonObject{"final": "booked"}
	})
	a.tool("book", "", "bad_request", "ok")
	if got := a.sent("m", `{"tool":"book","args":{"seat":"any"}}`); got != "completed" {
		t.Fatalf("it ended %s", got)
	}
	if r := a.records("m")["book"]; fmt.Sprint(r["payload"]) != "map[seat:12A]" || r["attemptCount"] != 2.0 {
		t.Errorf("the model was told, mended its arguments, and sent was %v", r)
	}
}

// TestAModelTurnsToAnotherStep has one that leaves what failed, does what doesn't rest on it, and comes back.
func TestAModelTurnsToAnotherStep(t *testing.T) {
	steps := []int{0, 1, 0}
	a := turned(t, func(came []jsonObject) jsonObject {
		if len(came) == len(steps) {
			return jsonObject{"final": "both"}
		}
		return jsonObject{"call": jsonObject{"step": steps[len(came)]}}
	})
	a.tool("flaky", `,"sideEffect":true`, "server_error", "ok")
	a.tool("fine", `,"sideEffect":true`, "ok")
	if got := a.sent("m", `{"tool":"flaky","args":{}},{"tool":"fine","args":{}}`); got != "completed" {
		t.Fatalf("it ended %s", got)
	}
	for tool, want := range map[string]int{"flaky": 2, "fine": 1} {
		calls, effects := a.calls(tool)
		if r := a.records("m")[tool]; calls != want || effects != 1.0 || r["status"] != "success" || r["attemptCount"] != float64(want) {
			t.Errorf("%s was called %d times with %v effects, want %d and 1; its record: %v", tool, calls, effects, want, r)
		}
	}
}

// TestAReplayIsOfItsStep has a model that would rather end the run, or do another step, than what is replayed.
func TestAReplayIsOfItsStep(t *testing.T) {
	for name, instead := range map[string]jsonObject{
		"ends the run": {"final": "never mind"}, "does another step": {"call": jsonObject{"step": 1}},
	} {
		t.Run(name, func(t *testing.T) {
			var willing atomic.Bool
			a := turned(t, func(came []jsonObject) jsonObject {
				last := len(came) - 1
				switch {
				case last < 0 || willing.Load() && came[last]["error"] != nil:
					return jsonObject{"call": jsonObject{"step": 0}}
				case willing.Load():
					return jsonObject{"final": "done"}
				}
				return instead
			})
			a.tool("pay", "", "gone", "ok")
			a.tool("other", "", "ok")
			if got := a.sent("m", `{"tool":"pay","args":{}},{"tool":"other","args":{}}`); got != "tool_failed" {
				t.Fatalf("it ended %s", got)
			}
			id := a.classified("pay")["entryId"]
			a.advance(61 * time.Second) // the circuit lets a call through
			if got := a.ask("POST", fmt.Sprint("/queues/tool/", id, "/replay"), `{"by":"ana"}`, http.StatusAccepted); got["resolution"] != "unresolved" || a.status("m") != "tool_failed" {
				t.Fatalf("answered %v, and the message is %s", got, a.status("m"))
			}
			if n, _ := a.calls("other"); n != 0 {
				t.Errorf("the other tool was called %d times", n)
			}
			willing.Store(true)
			if got := a.ask("POST", fmt.Sprint("/queues/tool/", id, "/replay"), `{"by":"ana"}`, http.StatusAccepted); got["resolution"] != "replayed" || a.status("m") != "completed" {
				t.Errorf("the next replay is answered %v, and the message is %s", got, a.status("m"))
			}
		})
	}
}

// busy is a model server that can be told to refuse for now.
func busy(t *testing.T) (a agents, refuses func(after string), asked func() int64) {
	t.Helper()
	var says atomic.Value
	var times atomic.Int64
	says.Store("")
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		times.Add(1)
		if after := says.Load().(string); after != "" {
			w.Header().Set("Retry-After", after)
			w.WriteHeader(http.StatusTooManyRequests)
			return
		}
		fmt.Fprint(w, `{"call":{"step":0},"usage":{"input":1,"output":1}}`)
	}))
	t.Cleanup(s.Close)
	return playAgents(t, mockhost.Config{Models: mockhost.ModelServers{Model: s.URL}}), func(after string) { says.Store(after) }, times.Load
}

func TestAModelThatIsBusyIsAskedLater(t *testing.T) {
	a, refuses, asked := busy(t)
	refuses("300")
	a.tool("pay", "", "server_error")
	a.offer("m", call("pay", `{}`))
	a.until(func() bool { return a.status("m") == "queued" && asked() == 1 }, "the refusal")
	a.advance(299 * time.Second)
	if got := asked(); got != 1 || a.status("m") != "queued" {
		t.Fatalf("asked to wait 300 s, the worker asked %d times in 299, and the message is %s", got, a.status("m"))
	}
	refuses("")
	a.advance(time.Second)
	a.until(func() bool { return a.status("m") == "tool_failed" }, "the run")
	if m := a.ask("GET", "/messages/m", "", http.StatusOK); m["deliveries"] != 2.0 || m["modelCalls"] != 1.0 {
		t.Errorf("the message is %v", m)
	}
}

// TestAnEntryWaitsForItsModel has an entry that is due while the model is busy: it is the tool's failure still, and recovers.
func TestAnEntryWaitsForItsModel(t *testing.T) {
	a, refuses, _ := busy(t)
	a.tool("pay", "", "server_error")
	a.ended("m", call("pay", `{}`))
	id := a.classified("pay")["entryId"]
	refuses("1")
	a.advance(100 * time.Second)
	e := a.entry(id)
	if e["attempts"] != 2.0 || e["category"] != "TRANSIENT_INFRASTRUCTURE" || e["nextReplayAt"] == nil || e["lastError"].(jsonObject)["kind"] != "server_error" {
		t.Errorf("the entry is %v", e)
	}
	if n, _ := a.calls("pay"); n != 1 {
		t.Errorf("called %d times without a decision of the model", n)
	}
	refuses("")
	a.tool("pay", "", "ok")
	a.advance(10 * time.Minute)
	if got := a.trail(id); !slices.Contains(got, "recovery replay") || a.entry(id)["resolution"] != "replayed" {
		t.Errorf("the model is back, and the trail is %v", got)
	}
}
