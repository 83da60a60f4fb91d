package scenarios

import (
	"errors"
	"testing"

	"github.com/wopwitness/wopwitness/witness/agentdlq"
	"github.com/wopwitness/wopwitness/witness/observe"
)

func read(body string) observe.Exchange {
	return observe.Exchange{Request: observe.Request{Target: "/x"}, Response: &observe.Response{Status: 200, Body: observe.Text(body)}}
}

func TestASceneKeepsWhatSaysSomethingNew(t *testing.T) {
	a := &agent{scene: &agentdlq.Scene{}}
	a.note(agentdlq.DidMessage, "m", read("queued"))
	a.note(agentdlq.DidTool, "t", read("no call"))
	a.note(agentdlq.DidMessage, "m", read("queued"))
	a.note(agentdlq.DidMessage, "other", read("queued"))
	a.note(agentdlq.DidMessage, "m", read("running"))
	a.note(agentdlq.DidReplay, "m", read("202"))
	a.note(agentdlq.DidReplay, "m", read("202"))
	a.when = "later"
	a.note(agentdlq.DidMessage, "m", read("running"))
	var got []string
	for _, s := range a.scene.Steps {
		got = append(got, string(s.Did)+" "+s.Of+" "+s.When+": "+s.Exchanges[0].Response.Body.String())
	}
	want := []string{"tool t : no call", "message m : queued", "message other : queued", "message m : running",
		"replay m : 202", "replay m : 202", "message m later: running"}
	if len(got) != len(want) {
		t.Fatalf("kept %q, want %q", got, want)
	}
	for i := range want {
		if got[i] != want[i] {
			t.Errorf("step %d is %q, want %q", i, got[i], want[i])
		}
	}
}

func TestRolesHaveNamesOfTheLegsOwn(t *testing.T) {
	a := &agent{suffix: "x1", scene: &agentdlq.Scene{Names: map[string]string{}}}
	other := a.as(observe.CredentialB)
	if a.name("a tool") != "a-tool-x1" || other.name("a tool") != "a-tool-x1" || a.scene.Names["a tool"] != "a-tool-x1" {
		t.Errorf("names %v", a.scene.Names)
	}
	wire := a.wire("m", message{steps: calls("a tool"), budget: budgetOf(0), crashAt: "after_claim"})
	steps := wire["workflow"].(map[string]any)["steps"].([]step)
	if wire["messageId"] != "m-x1" || steps[0].Tool != "a-tool-x1" || wire["retryBudget"] != 0 || wire["crashAt"] != "after_claim" {
		t.Errorf("sends %v", wire)
	}
	first, second := newTrace(), newTrace()
	if len(first) != len("00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01") || first == second {
		t.Errorf("traceparents %s and %s", first, second)
	}
}

func TestPreparationsEndTheLegAsTheyWereAnswered(t *testing.T) {
	answered := func(status int) observe.Exchange {
		return observe.Exchange{Response: &observe.Response{Status: status}}
	}
	for _, c := range []struct {
		name string
		x    observe.Exchange
		want string
	}{
		{"right", answered(202), ""},
		{"not mounted", answered(404), "inapplicable no-cause"},
		{"pushed back", answered(503), "inapplicable rate-too-low"},
		{"refused", answered(400), "blocked unexpected-answer"},
		{"silence", observe.Exchange{Failure: &observe.Failure{Kind: observe.FailTimeout}}, "blocked timeout"},
	} {
		t.Run(c.name, func(t *testing.T) {
			got := ""
			var s *stop
			if err := prepared(c.x, 202); errors.As(err, &s) {
				got = string(s.Result) + " " + string(s.Reason)
			} else if err != nil {
				got = err.Error()
			}
			if got != c.want {
				t.Errorf("ends %q, want %q", got, c.want)
			}
		})
	}
}
