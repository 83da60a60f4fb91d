package mockhost_test

import (
	"net/http"
	"testing"
	"time"

	"github.com/wopwitness/wopwitness/mockhost"
	"github.com/wopwitness/wopwitness/mockhost/store/postgres/pgtest"
)

// TestWhoeverWaitsForASlowModelIsNotDead has a model that takes several leases for each of its turns, and another worker that
// would take the message over from a dead one.
func TestWhoeverWaitsForASlowModelIsNotDead(t *testing.T) {
	const lease = 400 * time.Millisecond
	usage := jsonObject{"input": 1, "output": 1}
	s := serveModels(t, map[string]func(jsonObject) any{"/model": func(q jsonObject) any {
		time.Sleep(3 * lease) // that it is slow is what is tried
		if len(q["turns"].([]any)) == 0 {
			return jsonObject{"call": jsonObject{"step": 0}, "usage": usage}
		}
		return jsonObject{"final": "done", "usage": usage}
	}})
	c := mockhost.Config{
		Store: pgtest.Schema(t), Seams: true, Agent: mockhost.AgentNumbers{Lease: lease},
		Models: mockhost.ModelServers{Model: s.URL + "/model"}, KeyA: "the key of tenant a",
	}
	a := agents{start(t, c)}
	start(t, c)
	a.tool("pay", `,"sideEffect":true`, "ok")
	if got := a.ended("m", call("pay", `{}`)); got != "completed" {
		t.Fatalf("it ended %s", got)
	}
	m := a.ask("GET", "/messages/m", "", http.StatusOK)
	if m["deliveries"] != 1.0 || m["modelCalls"] != 2.0 || s.times("/model") != 2 {
		t.Errorf("the model was asked %d times, and the message is %v", s.times("/model"), m)
	}
}
