package mockhost_test

import (
	"cmp"
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/wopwitness/wopwitness/mockhost"
)

// agentHost is a host with a clock to move and the means to play an incident on it.
type agentHost struct {
	*host
	patience time.Duration
}

func agentStart(t *testing.T, n mockhost.AgentNumbers) agentHost {
	n.ToolTimeout = cmp.Or(n.ToolTimeout, 200*time.Millisecond)
	return agentHost{start(t, mockhost.Config{Seams: true, Clock: "manual", Agent: n}), deadline}
}

func (a agentHost) call(method, path, key, body string) (int, map[string]any) {
	a.t.Helper()
	r := httptest.NewRequestWithContext(a.t.Context(), method, "/v1/host/sample"+path, strings.NewReader(body))
	r.Header.Set("Authorization", "Bearer "+key)
	r.Header.Set("Content-Type", "application/json")
	w := httptest.NewRecorder()
	a.host.host.Handler().ServeHTTP(w, r)
	var answer map[string]any
	if w.Body.Len() > 0 && json.Unmarshal(w.Body.Bytes(), &answer) != nil {
		a.t.Fatalf("%s %s: %d %s", method, path, w.Code, w.Body)
	}
	return w.Code, answer
}

func (a agentHost) want(status int, method, path, body string) map[string]any {
	a.t.Helper()
	code, answer := a.call(method, "/agent-dlq"+path, a.KeyA, body)
	if code != status {
		a.t.Fatalf("%s %s %s: got %d %v, want %d", method, path, body, code, answer, status)
	}
	return answer
}

func (a agentHost) tool(name, script string, more ...string) {
	a.t.Helper()
	a.want(200, "PUT", "/tools/"+name, `{"script":[`+script+`]`+strings.Join(more, "")+`}`)
}

// send sends a message whose steps are of these tools, each depending on the one before.
func (a agentHost) send(id, more string, tools ...string) {
	a.t.Helper()
	var steps []string
	for i, name := range tools {
		on := ""
		if i > 0 {
			on = fmt.Sprintf(`,"dependsOn":[%d]`, i-1)
		}
		steps = append(steps, fmt.Sprintf(`{"tool":%q,"args":{"to":"ana@example.com"}%s}`, name, on))
	}
	a.want(202, "POST", "/messages", fmt.Sprintf(`{"messageId":%q,"body":"{\"task\":\"x\"}","workflow":{"steps":[%s]}%s}`,
		id, strings.Join(steps, ","), more))
}

// ended waits for the message's end and gives it.
func (a agentHost) ended(id string) map[string]any {
	a.t.Helper()
	for end := time.Now().Add(a.patience); ; time.Sleep(time.Millisecond) {
		m := a.want(200, "GET", "/messages/"+id, "")
		if m["status"] != "queued" && m["status"] != "running" {
			return m
		}
		if time.Now().After(end) {
			a.t.Fatalf("%s hasn't ended: %v", id, m)
		}
	}
}

func (a agentHost) entries(query string) []map[string]any {
	a.t.Helper()
	var out []map[string]any
	for _, e := range a.want(200, "GET", "/queues/"+query, "")["entries"].([]any) {
		out = append(out, e.(map[string]any))
	}
	return out
}

func TestAgentSeamsRefuseWhatThePageDoesntKnow(t *testing.T) {
	a := agentStart(t, mockhost.AgentNumbers{})
	const steps = `"workflow":{"steps":[{"tool":"t","args":{}}]}`
	for _, c := range []struct{ name, method, path, body string }{
		{"a tool without a script", "PUT", "/tools/t", `{}`},
		{"an empty script", "PUT", "/tools/t", `{"script":[]}`},
		{"an unknown outcome", "PUT", "/tools/t", `{"script":[{"outcome":"perhaps"}]}`},
		{"an unknown member of an outcome", "PUT", "/tools/t", `{"script":[{"outcome":"ok","often":1}]}`},
		{"too long a delay", "PUT", "/tools/t", `{"script":[{"outcome":"ok","delayMs":2001}]}`},
		{"a tool's name", "PUT", "/tools/Tool", `{"script":[{"outcome":"ok"}]}`},
		{"a fallback's name", "PUT", "/tools/t", `{"script":[{"outcome":"ok"}],"fallback":""}`},
		{"a text for a flag", "PUT", "/tools/t", `{"script":[{"outcome":"ok"}],"idempotent":"yes"}`},
		{"a schema that is no object", "PUT", "/tools/t", `{"script":[{"outcome":"ok"}],"schema":[]}`},
		{"a message without steps", "POST", "/messages", `{"messageId":"m","body":"","workflow":{"steps":[]}}`},
		{"a message without a name", "POST", "/messages", `{"messageId":"","body":"",` + steps + `}`},
		{"a name with a NUL, which a database can't keep", "POST", "/messages", `{"messageId":"m\u0000","body":"",` + steps + `}`},
		{"a name with a line break", "POST", "/messages", `{"messageId":"m\n","body":"",` + steps + `}`},
		{"a name with half a character, which would be that of another", "POST", "/messages", `{"messageId":"m\ud800","body":"",` + steps + `}`},
		{"a retry budget of 11", "POST", "/messages", `{"messageId":"m","body":"","retryBudget":11,` + steps + `}`},
		{"an unknown crash point", "POST", "/messages", `{"messageId":"m","body":"","crashAt":"noon",` + steps + `}`},
		{"a step that depends on itself", "POST", "/messages", `{"messageId":"m","body":"","workflow":{"steps":[{"tool":"t","args":{},"dependsOn":[0]}]}}`},
		{"arguments that are a list", "POST", "/messages", `{"messageId":"m","body":"","workflow":{"steps":[{"tool":"t","args":[]}]}}`},
		{"an unknown member of a step", "POST", "/messages", `{"messageId":"m","body":"","workflow":{"steps":[{"tool":"t","args":{},"when":1}]}}`},
		{"a traceparent of nothing", "POST", "/messages", `{"messageId":"m","body":"","traceparent":"00-1-2-3",` + steps + `}`},
		{"a traceparent of zeros", "POST", "/messages", `{"messageId":"m","body":"","traceparent":"00-00000000000000000000000000000000-b7ad6b7169203331-01",` + steps + `}`},
		{"an unknown category", "GET", "/queues/tool?category=BAD_LUCK", ""},
		{"an unknown resolution", "GET", "/queues/message?resolution=open", ""},
		{"a negative age", "GET", "/queues/tool?olderThanSeconds=-1", ""},
		{"a page of none", "GET", "/queues/tool?limit=0", ""},
		{"a page too large", "GET", "/invocations?limit=201", ""},
		{"a cursor of nowhere", "GET", "/queues/tool?cursor=here", ""},
		{"an unknown status", "GET", "/invocations?status=lost", ""},
		{"a replay by nobody", "POST", "/queues/tool/dle-1/replay", `{"notes":"x"}`},
		{"a resolution by an address, which no entry shows", "POST", "/queues/tool/dle-1/resolve", `{"by":"ana@example.com"}`},
	} {
		code, answer := a.call(c.method, "/agent-dlq"+c.path, a.KeyA, c.body)
		if code != http.StatusBadRequest || answer["error"] != "validation_error" {
			t.Errorf("%s: got %d %v", c.name, code, answer)
		}
	}
	for _, path := range []string{"/tools/unknown", "/messages/unknown", "/queues/other", "/queues/tool/unknown", "/traces/unknown"} {
		if code, answer := a.call("GET", "/agent-dlq"+path, a.KeyA, ""); code != 404 || answer["error"] != "not_found" {
			t.Errorf("%s: got %d %v", path, code, answer)
		}
	}
	if got := a.entries("message"); len(got) != 0 {
		t.Errorf("something of what was refused was kept: %v", got)
	}
}

func TestAgentSeamsSayWhatIsUnknown(t *testing.T) {
	a := agentStart(t, mockhost.AgentNumbers{})
	const by, trace = `{"by":"ana"}`, "/impact?traceId=4bf92f3577b34da6a3ce929d0e0e4736"
	for _, c := range []struct{ method, path, body, says string }{
		{"GET", "/tools/t", "", "there is no such tool"},
		{"GET", "/messages/m", "", "there is no such message"},
		{"GET", "/queues/tools", "", "there is no such queue; known are message, tool"},
		{"GET", "/queues/tool/e", "", "there is no such entry"},
		{"POST", "/queues/tool/e/replay", by, "there is no such entry"},
		{"POST", "/queues/message/e/replay", by, "there is no such entry"},
		{"POST", "/queues/tool/e/discard", by, "there is no such entry"},
		{"POST", "/queues/tool/e/forget", by, "there is no such action; known are discard, replay, resolve"},
		{"GET", "/reviews/legal", "", "there is no such review; known are human, security"},
		{"GET", "/drains/d", "", "there is no such drain"},
		{"GET", "/traces/t", "", "there is no such trace"},
		{"GET", trace, "", "there is no such trace"},
		{"POST", strings.Replace(trace, "?", "/compensate?", 1), `{}`, "there is no such trace"},
		{"POST", "/conversations/conv_1/expire", `{}`, "there is no such conversation"},
		{"POST", "/pause", `{"tool":"t"}`, "there is no such tool: nobody registered it, and no entry names it"},
		{"POST", "/drains", `{"tool":"t","batch":1,"perSecond":1}`, "there is no such tool: nobody registered it, and no entry names it"},
		{"GET", "/queue", "", "there is no such path"},
		{"GET", "/reviews/human?tool=t", "", `unknown parameter "tool"; known are cursor, limit`},
		{"GET", "/metrics?tool=t", "", `unknown parameter "tool"; none is known`},
		{"POST", "/pause", `{"tools":"t"}`, `unknown member "tools"; known are tool`},
	} {
		_, answer := a.call(c.method, "/agent-dlq"+c.path, a.KeyA, c.body)
		if answer["message"] != c.says {
			t.Errorf("%s %s: got %v, want %q", c.method, c.path, answer, c.says)
		}
	}
}

func TestAgentThingsAreTheirTenants(t *testing.T) {
	a := agentStart(t, mockhost.AgentNumbers{})
	a.tool("t", `{"outcome":"bad_request"}`)
	a.send("m", `,"retryBudget":0`, "t")
	m := a.ended("m")
	e := a.entries("tool")[0]
	for _, path := range []string{"/tools/t", "/messages/m", "/queues/tool/" + e["entryId"].(string), "/traces/" + m["traceId"].(string)} {
		if code, _ := a.call("GET", "/agent-dlq"+path, a.KeyB, ""); code != 404 {
			t.Errorf("another tenant reads %s: %d", path, code)
		}
		a.want(200, "GET", path, "")
	}
	for _, path := range []string{"/queues/tool", "/invocations"} {
		if _, answer := a.call("GET", "/agent-dlq"+path, a.KeyB, ""); len(answer["entries"].([]any)) != 0 {
			t.Errorf("another tenant lists %s: %v", path, answer)
		}
	}
	if code, _ := a.call("POST", "/agent-dlq/queues/tool/"+e["entryId"].(string)+"/discard", a.KeyB, `{"by":"bo"}`); code != 404 {
		t.Errorf("another tenant discards an entry: %d", code)
	}
}

func TestAMessageIsFoundByWhateverItIsNamed(t *testing.T) {
	a := agentStart(t, mockhost.AgentNumbers{})
	a.tool("t", `{"outcome":"ok"}`)
	for _, id := range []string{"a/b", "a b", "..", "%2e", "%252F", "ü\u202e", "\U0001F600"} {
		a.send(id, "", "t")
		if m := a.ended(url.PathEscape(id)); m["messageId"] != id {
			t.Errorf("%q is found as %v", id, m["messageId"])
		}
	}
}

func TestAMessagesNameShowsNoAddressInAQueue(t *testing.T) {
	a := agentStart(t, mockhost.AgentNumbers{})
	a.tool("t", `{"outcome":"bad_request"}`)
	a.send("order of ana@example.com", `,"retryBudget":0`, "t")
	m := a.ended(url.PathEscape("order of ana@example.com"))
	a.want(202, "POST", "/messages", `{"messageId":"bo@example.com","body":"nonsense","workflow":{"steps":[{"tool":"t","args":{}}]}}`)
	a.ended(url.PathEscape("bo@example.com"))
	for _, got := range []any{a.entries("tool"), a.entries("message"), a.want(200, "GET", "/traces/"+m["traceId"].(string), "")} {
		if text := fmt.Sprint(got); strings.Contains(text, "@example") || !strings.Contains(text, "[redacted-email]") {
			t.Errorf("it shows %s", text)
		}
	}
}

func TestARunThatFailedTwiceAndWasReplayedHasPaidOnce(t *testing.T) {
	a := agentStart(t, mockhost.AgentNumbers{})
	a.tool("pay", `{"outcome":"ok"}`, `,"sideEffect":true,"idempotent":true`)
	a.tool("book", `{"outcome":"bad_request"},{"outcome":"bad_request"},{"outcome":"ok"}`, `,"sideEffect":true`)
	a.send("m", `,"retryBudget":0`, "pay", "book", "pay")
	if m := a.ended("m"); m["status"] != "tool_failed" || m["modelCalls"] != 2.0 {
		t.Fatalf("got %v", m)
	}
	e := a.entries("tool")[0]
	path := "/queues/tool/" + e["entryId"].(string)
	for _, want := range []string{"unresolved", "replayed", "replayed"} {
		if got := a.want(202, "POST", path+"/replay", `{"by":"ana"}`); got["resolution"] != want {
			t.Fatalf("got %v, want %s", got, want)
		}
	}
	if m := a.ended("m"); m["status"] != "completed" || m["modelCalls"] != 6.0 {
		t.Errorf("got %v, want 2 turns before, one for each attempt, one for the last step and the answer", m)
	}
	for tool, want := range map[string]float64{"pay": 2, "book": 1} {
		if got := a.want(200, "GET", "/tools/"+tool, ""); got["effects"] != want {
			t.Errorf("%s did %v effects, want %v", tool, got["effects"], want)
		}
	}
	for action, status := range map[string]int{"resolve": 409, "discard": 409, "replay": 202} {
		a.want(status, "POST", path+"/"+action, `{"by":"ana"}`)
	}
}

func TestTheHalfOpenCallIsOneAmongMany(t *testing.T) {
	a := agentStart(t, mockhost.AgentNumbers{ToolTimeout: time.Minute})
	a.tool("t", `{"outcome":"gone"},{"outcome":"ok","delayMs":1500}`)
	a.send("first", "", "t")
	if m := a.ended("first"); m["status"] != "tool_failed" {
		t.Fatalf("got %v", m)
	}
	if code, answer := a.call("POST", "/clock/advance", a.KeyA, `{"seconds":60}`); code != 200 {
		t.Fatalf("got %d %v", code, answer)
	}
	for i := range 5 {
		a.send(fmt.Sprint("m", i), "", "t")
	}
	for i := range 5 {
		if m := a.ended(fmt.Sprint("m", i)); m["status"] != "completed" {
			t.Errorf("got %v", m)
		}
	}
	v := a.want(200, "GET", "/tools/t", "")
	if calls := v["calls"].([]any); len(calls) != 2 || v["alerts"] != 1.0 || v["circuit"].(map[string]any)["state"] != "closed" {
		t.Errorf("got %v", v)
	}
}

func TestAFullIntakeTakesNothingAndLosesNothing(t *testing.T) {
	a := agentStart(t, mockhost.AgentNumbers{IntakeCapacity: 3, QueueCapacity: 2})
	a.tool("slow", `{"outcome":"rate_limited","retryAfterSeconds":30},{"outcome":"rate_limited","retryAfterSeconds":30},{"outcome":"rate_limited","retryAfterSeconds":30},{"outcome":"ok"}`)
	a.tool("late", `{"outcome":"rate_limited","retryAfterSeconds":30},{"outcome":"ok"}`)
	send := func(id, tool string) int {
		code, answer := a.call("POST", "/agent-dlq/messages", a.KeyA, fmt.Sprintf(`{"messageId":%q,"body":"{\"task\":\"x\"}","workflow":{"steps":[{"tool":%q,"args":{}}]}}`, id, tool))
		if code == 429 && answer["error"] != "rate_limited" {
			t.Errorf("%s: refused with %v", id, answer)
		}
		return code
	}
	for _, c := range []struct {
		id, tool string
		want     int
	}{{"a", "slow", 202}, {"b", "slow", 202}, {"c", "slow", 429}, {"a", "slow", 202}, {"d", "late", 202}, {"e", "late", 429}} {
		if got := send(c.id, c.tool); got != c.want {
			t.Errorf("%s: got %d, want %d", c.id, got, c.want)
		}
	}
	for range 3 {
		a.call("POST", "/clock/advance", a.KeyA, `{"seconds":31}`)
	}
	for _, id := range []string{"a", "b", "d"} {
		if m := a.ended(id); m["status"] != "completed" {
			t.Errorf("got %v", m)
		}
	}
	for _, id := range []string{"c", "e"} {
		a.want(404, "GET", "/messages/"+id, "")
	}
	if got := send("f", "late"); got != 202 {
		t.Errorf("with room again: got %d", got)
	}
}

func TestALongAdvanceIsNotManySmallOnes(t *testing.T) {
	a := agentStart(t, mockhost.AgentNumbers{})
	a.tool("t", `{"outcome":"server_error"}`)
	a.send("m", `,"retryBudget":0`, "t")
	a.ended("m")
	began := time.Now()
	if code, answer := a.call("POST", "/clock/advance", a.KeyA, `{"seconds":2592000}`); code != 200 {
		t.Fatalf("got %d %v", code, answer)
	}
	// Half a minute of intervals would be 86,400 ticks; the test's own limit is far above what a handful takes.
	if took := time.Since(began); took > deadline {
		t.Errorf("30 days took %s", took)
	}
	if got := a.entries("tool"); len(got) != 0 {
		t.Errorf("after their days entries are there: %v", got)
	}
}
