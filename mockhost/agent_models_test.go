package mockhost_test

import (
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/wopwitness/wopwitness/mockhost"
)

// modelServer answers the questions of an agent worker, and keeps them by their path.
type modelServer struct {
	*httptest.Server
	mu    sync.Mutex
	asked map[string][]jsonObject
	keys  map[string]bool
}

func serveModels(t *testing.T, answers map[string]func(question jsonObject) any) *modelServer {
	t.Helper()
	s := &modelServer{asked: map[string][]jsonObject{}, keys: map[string]bool{}}
	s.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		var question jsonObject
		if err := json.NewDecoder(r.Body).Decode(&question); err != nil {
			t.Errorf("%s was asked no JSON: %v", r.URL.Path, err)
		}
		s.mu.Lock()
		s.asked[r.URL.Path] = append(s.asked[r.URL.Path], question)
		s.keys[r.Header.Get("Authorization")] = true
		s.mu.Unlock()
		w.Header().Set("Content-Type", "application/json")
		_ = json.NewEncoder(w).Encode(answers[r.URL.Path](question))
	}))
	t.Cleanup(s.Close)
	return s
}

func (s *modelServer) times(path string) int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return len(s.asked[path])
}

// TestModelServersAreAsked lets model servers decide on a run's steps, classify what no rule does, and repair.
func TestModelServersAreAsked(t *testing.T) {
	usage := jsonObject{"input": 100, "output": 7}
	s := serveModels(t, map[string]func(jsonObject) any{
		"/model": func(q jsonObject) any {
			for _, turn := range q["turns"].([]any) {
				if turn.(jsonObject)["role"] == "tool" {
					return jsonObject{"final": "booked", "usage": usage}
				}
			}
			return jsonObject{"call": jsonObject{"step": 0, "args": jsonObject{"seat": "12A"}}, "usage": usage}
		},
		"/classify": func(jsonObject) any { return jsonObject{"category": "TOOL_UNAVAILABLE"} },
		"/repair": func(jsonObject) any {
			return jsonObject{"payload": jsonObject{"from": "2026-01-01"}, "confidence": 0.95}
		},
	})
	a := playAgents(t, mockhost.Config{Models: mockhost.ModelServers{
		Model: s.URL + "/model", Classifier: s.URL + "/classify", Repairer: s.URL + "/repair", Key: "the model's key",
	}})
	a.tool("book", "", "ok")
	if got := a.ended("m-model", call("book", `{"seat":"any"}`)); got != "completed" || s.times("/model") != 2 {
		t.Errorf("the run ended %s after %d questions to the model", got, s.times("/model"))
	}
	if spent := a.ask("GET", "/messages/m-model", "", http.StatusOK)["tokensSpent"]; spent.(jsonObject)["input"] != 200.0 || spent.(jsonObject)["output"] != 14.0 {
		t.Errorf("tokens spent: %v, want what the server said", spent)
	}
	if !s.keys["Bearer the model's key"] || len(s.keys) != 1 {
		t.Errorf("asked with %v", s.keys)
	}

	a.tool("garbled", "", "malformed")
	a.ended("m-classify", call("garbled", `{}`))
	if e := a.classified("garbled"); e["category"] != "TOOL_UNAVAILABLE" || s.times("/classify") != 1 {
		t.Errorf("classified as %v after %d questions", e["category"], s.times("/classify"))
	}

	a.tool("search", `,"documentation":"dates in order"`, "semantic", "ok")
	a.ended("m-repair", call("search", `{"from":"tomorrow's yesterday"}`))
	a.until(func() bool { return a.status("m-repair") == "completed" }, "the repaired run")
	if s.times("/repair") != 1 || !strings.Contains(a.ask("GET", "/invocations?traceId="+traceOf(a, "m-repair"), "", http.StatusOK)["entries"].([]any)[0].(jsonObject)["payload"].(jsonObject)["from"].(string), "2026") {
		t.Errorf("asked %d times for a repair", s.times("/repair"))
	}
}

func traceOf(a agents, id string) string {
	a.t.Helper()
	trace, _ := a.ask("GET", "/messages/"+id, "", http.StatusOK)["traceId"].(string)
	return trace
}

// TestAModelServerThatFailsLosesNothing has a model server that isn't there: the message ends where a consumer's bug ends it.
func TestAModelServerThatFailsLosesNothing(t *testing.T) {
	gone := httptest.NewServer(http.NotFoundHandler())
	gone.Close()
	a := playAgents(t, mockhost.Config{Models: mockhost.ModelServers{Model: gone.URL}})
	a.tool("book", "", "ok")
	if got := a.offer("m", call("book", `{}`)); got != http.StatusAccepted {
		t.Fatalf("answered %d", got)
	}
	for range 12 {
		a.advance(30 * time.Second)
	}
	if got := a.status("m"); got != "message_dead_lettered" {
		t.Fatalf("the message is %s", got)
	}
	entries := a.ask("GET", "/queues/message", "", http.StatusOK)["entries"].([]any)
	if len(entries) != 1 || !strings.Contains(entries[0].(jsonObject)["lastError"].(jsonObject)["message"].(string), "the model failed") {
		t.Errorf("the message queue holds %v", entries)
	}
}
