package mockhost_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/url"
	"testing"
	"time"

	"github.com/wopwitness/wopwitness/mockhost"
)

// agents is a host whose clock is moved by hand, and its agent worker's seams.
type agents struct{ *host }

func playAgents(t *testing.T, c mockhost.Config) agents {
	t.Helper()
	c.Seams, c.Clock = true, "manual"
	return agents{start(t, c)}
}

// jsonObject is a JSON object as it came.
type jsonObject = map[string]any

// ask sends a request to a seam and reads the object that it answers.
func (a agents) ask(method, path, body string, status int) jsonObject {
	a.t.Helper()
	got := a.do(method, "/v1/host/sample/agent-dlq"+path, a.KeyA, body, "Content-Type: application/json")
	if got.status != status {
		a.t.Fatalf("%s %s %s: answered %d %s, want %d", method, path, body, got.status, got.body, status)
	}
	var o object
	if got.body != "" {
		if err := json.Unmarshal([]byte(got.body), &o); err != nil {
			a.t.Fatalf("%s %s: %v: %s", method, path, err, got.body)
		}
	}
	return o
}

// tool gives a tool its outcomes, each "outcome" or "outcome:retryAfterSeconds"; more is further members, as `,"sideEffect":true`.
func (a agents) tool(name, more string, outcomes ...string) {
	a.t.Helper()
	script := ""
	for i, o := range outcomes {
		if i > 0 {
			script += ","
		}
		script += `{"outcome":"` + o + `"}`
	}
	a.ask("PUT", "/tools/"+name, `{"script":[`+script+`]`+more+`}`, http.StatusOK)
}

// call is a step of a workflow.
func call(tool, args string, dependsOn ...int) jsonObject {
	s := jsonObject{"tool": tool, "args": json.RawMessage(args)}
	if len(dependsOn) > 0 {
		s["dependsOn"] = dependsOn
	}
	return s
}

// offer sends a message without retries, and returns the answer's status.
func (a agents) offer(id string, steps ...jsonObject) int {
	a.t.Helper()
	body, err := json.Marshal(jsonObject{
		"messageId": id, "body": `{"task":"book"}`, "retryBudget": 0, "workflow": jsonObject{"steps": steps}, "purpose": "a trip",
	})
	if err != nil {
		a.t.Fatal(err)
	}
	return a.do("POST", "/v1/host/sample/agent-dlq/messages", a.KeyA, string(body), "Content-Type: application/json").status
}

// ended sends a message and waits for its end.
func (a agents) ended(id string, steps ...jsonObject) (status string) {
	a.t.Helper()
	if got := a.offer(id, steps...); got != http.StatusAccepted {
		a.t.Fatalf("message %s: answered %d", id, got)
	}
	a.until(func() bool {
		status = a.status(id)
		return status != "queued" && status != "running"
	}, "the end of message "+id)
	return status
}

func (a agents) status(id string) string {
	a.t.Helper()
	return fmt.Sprint(a.ask("GET", "/messages/"+id, "", http.StatusOK)["status"])
}

// until polls for what is about to be so, without the clock being moved.
func (a agents) until(so func() bool, what string) {
	a.t.Helper()
	for end := time.Now().Add(deadline); !so(); time.Sleep(2 * time.Millisecond) {
		if time.Now().After(end) {
			a.t.Fatalf("waited %s for %s", deadline, what)
		}
	}
}

// entries lists the tool queue.
func (a agents) entries(query string) []jsonObject {
	a.t.Helper()
	var out []jsonObject
	for _, e := range a.ask("GET", "/queues/tool?limit=200&"+query, "", http.StatusOK)["entries"].([]any) {
		out = append(out, e.(jsonObject))
	}
	return out
}

// classified waits for the one entry of a tool to be classified, and returns it.
func (a agents) classified(tool string) (e jsonObject) {
	a.t.Helper()
	a.until(func() bool {
		found := a.entries("tool=" + tool)
		if len(found) != 1 {
			return false
		}
		e = found[0]
		return e["category"] != nil
	}, "the entry of "+tool)
	return e
}

// entry reads an entry with its trail.
func (a agents) entry(id any) jsonObject {
	a.t.Helper()
	return a.ask("GET", "/queues/tool/"+fmt.Sprint(id), "", http.StatusOK)
}

// trail is what was done to an entry: who did what.
func (a agents) trail(id any) (out []string) {
	a.t.Helper()
	for _, item := range a.entry(id)["audit"].([]any) {
		out = append(out, fmt.Sprint(item.(jsonObject)["by"], " ", item.(jsonObject)["action"]))
	}
	return out
}

// advance moves the clock, and what falls due on the way is done after it.
func (a agents) advance(d time.Duration) {
	a.t.Helper()
	got := a.do("POST", "/v1/host/sample/clock/advance", a.KeyA, fmt.Sprintf(`{"seconds":%d}`, int(d/time.Second)), "Content-Type: application/json")
	if got.status != http.StatusOK {
		a.t.Fatalf("advance by %s: %d %s", d, got.status, got.body)
	}
}

// waiting lists what waits for a person, by tool.
func (a agents) waiting(review string) map[string]jsonObject {
	a.t.Helper()
	out := map[string]jsonObject{}
	for _, e := range a.ask("GET", "/reviews/"+review+"?limit=200", "", http.StatusOK)["entries"].([]any) {
		out[fmt.Sprint(e.(jsonObject)["toolName"])] = e.(jsonObject)
	}
	return out
}

// calls is how often a tool was called, and the side effects that it did.
func (a agents) calls(tool string) (calls int, effects any) {
	a.t.Helper()
	v := a.ask("GET", "/tools/"+url.PathEscape(tool), "", http.StatusOK)
	return len(v["calls"].([]any)), v["effects"]
}
