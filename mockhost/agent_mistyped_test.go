package mockhost_test

import (
	"fmt"
	"net/http"
	"strings"
	"testing"

	"github.com/wopwitness/wopwitness/mockhost"
)

func TestAToolThatIsNotThereIsNotHeldBack(t *testing.T) {
	a := playAgents(t, mockhost.Config{})
	a.tool("pay", "", "ok")
	a.ended("m", call("down", `{}`)) // nobody registered it, and its entry names it
	a.classified("down")
	for _, tool := range []string{"pay", "down"} {
		a.ask("POST", "/pause", `{"tool":"`+tool+`"}`, http.StatusOK)
		a.ask("POST", "/drains", `{"batch":1,"perSecond":1,"tool":"`+tool+`"}`, http.StatusAccepted)
	}
	for path, body := range map[string]string{
		"/pause": `{"tool":"pya"}`, "/resume": `{"tool":"pya"}`, "/drains": `{"tool":"pya","batch":1,"perSecond":1}`,
	} {
		if got := a.ask("POST", path, body, http.StatusNotFound); got["error"] != "not_found" {
			t.Errorf("%s is answered %v", path, got)
		}
	}
	paused := func() string { return fmt.Sprint(a.ask("GET", "/pause", "", http.StatusOK)["paused"]) }
	if got := paused(); !strings.Contains(got, "pay") || !strings.Contains(got, "down") || strings.Contains(got, "pya") {
		t.Errorf("%s are paused", got)
	}
	a.ask("POST", "/resume", `{}`, http.StatusOK)
	if got := paused(); got != "[]" {
		t.Errorf("all were resumed, and %s are paused", got)
	}
	a.ask("POST", "/pause", `{}`, http.StatusOK)
	if got := paused(); got != "[*]" {
		t.Errorf("all were paused, and %s are", got)
	}
	if got := a.do("GET", "/v1/host/sample/agent-dlq/pause", a.KeyB, ""); got.status != http.StatusOK || !strings.Contains(got.body, `"paused":[]`) {
		t.Errorf("another tenant reads %d %s", got.status, got.body)
	}
}

func TestAParameterThatNobodyTakesIsRefused(t *testing.T) {
	a := playAgents(t, mockhost.Config{})
	a.tool("pay", "", "ok")
	for path, name := range map[string]string{
		"/queues/tool?toolName=pay": "toolName", "/queues/message?limit=1&state=x": "state", "/invocations?tool=pay": "tool",
		"/reviews/human?tool=pay": "tool", "/impact?traceId=x&trace=x": "trace", "/metrics?tool=pay": "tool",
		"/tools/pay?limit=1": "limit", "/pause?tool=pay": "tool",
	} {
		got := a.ask("GET", path, "", http.StatusBadRequest)
		if got["error"] != "validation_error" || !strings.Contains(fmt.Sprint(got["message"]), `"`+name+`"`) {
			t.Errorf("%s is answered %v", path, got)
		}
	}
	if got := a.do("GET", "/v1/host/sample/agent-dlq/pause", a.KeyLow, ""); got.status != http.StatusOK {
		t.Errorf("a key of few scopes is answered %d %s", got.status, got.body)
	}
	a.ask("POST", "/pause?tool=pay", `{}`, http.StatusBadRequest)
	a.ask("PUT", "/tools/pay?idempotent=true", `{"script":[{"outcome":"ok"}]}`, http.StatusBadRequest)
	if got := a.do("GET", "/v1/host/sample/agent-dlq/queues/tool?more=1", "", ""); got.status != http.StatusUnauthorized {
		t.Errorf("without a key it is answered %d", got.status)
	}
}
