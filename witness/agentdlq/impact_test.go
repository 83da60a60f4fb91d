package agentdlq

import "testing"

// impacted is an impact with steps in these states, each resting on the one before it.
func impacted(active int, states ...string) object {
	steps := []any{}
	for i, state := range states {
		rests := []any{}
		if i > 0 {
			rests = append(rests, i-1)
		}
		steps = append(steps, object{"stepIndex": i, "tool": "tool", "state": state, "dependsOn": rests})
	}
	return object{"steps": steps, "activeWorkflows": active}
}

func TestJudgeImpactSteps(t *testing.T) {
	right := func() *shown {
		h := newShown()
		var steps []any
		for i := range 5 {
			s := object{"tool": "tool", "args": object{}}
			if i > 0 {
				s["dependsOn"] = []any{i - 1}
			}
			steps = append(steps, s)
		}
		h.sent(DidSend, "message", 202, object{}, object{"workflow": object{"steps": steps}})
		h.ask(DidImpact, "message", 200, impacted(1, "done", "failed", "suspect", "suspect", "blocked"))
		h.ask(DidAsk, "impact of no trace", 404, failure("not_found"))
		return h
	}
	state := func(step int, state string) func(*shown) {
		return put("", DidImpact, "message", state, "steps", step, "state")
	}
	try(t, JudgeImpactSteps, right, []shows{
		{"lawful: in another order", func(h *shown) {
			body := impacted(1, "done", "failed", "suspect", "suspect", "blocked")
			steps := body["steps"].([]any)
			steps[0], steps[4] = steps[4], steps[0]
			answer("", DidImpact, "message", 200, body)(h)
		}, "pass"},
		{"only the next is suspect", state(3, "blocked"), "states"},
		{"everything later is suspect", state(4, "suspect"), "states"},
		{"the failed one is not told", state(1, "blocked"), "states"},
		{"a step left out", answer("", DidImpact, "message", 200, impacted(1, "done", "failed", "suspect", "suspect")), "dependencies states tools"},
		{"other dependencies", put("", DidImpact, "message", []any{0}, "steps", 3, "dependsOn"), "dependencies"},
		{"another tool", put("", DidImpact, "message", "x", "steps", 2, "tool"), "tools"},
		{"an impact of nothing", answer("", DidAsk, "impact of no trace", 200, impacted(0)), "unknown-trace"},
	})
}

func TestJudgeSuspects(t *testing.T) {
	right := func() *shown {
		h := newShown()
		for _, role := range []string{"resolved", "replayed"} {
			h.part("unresolved").ask(DidImpact, role, 200, impacted(2, "failed", "suspect", "suspect"))
		}
		h.part("done with").ask(DidImpact, "resolved", 200, impacted(0, "blocked", "blocked", "blocked"))
		h.part("done with").ask(DidImpact, "replayed", 200, impacted(0, "done", "done", "done"))
		return h
	}
	try(t, JudgeSuspects, right, []shows{
		{"suspects forgotten", answer("unresolved", DidImpact, "resolved", 200, impacted(2, "failed", "blocked", "blocked")), "suspect"},
		{"suspect for ever", answer("done with", DidImpact, "resolved", 200, impacted(0, "blocked", "suspect", "suspect")), "no-longer-suspect"},
		{"failed for ever", answer("done with", DidImpact, "resolved", 200, impacted(0, "failed", "blocked", "blocked")), "no-longer-suspect"},
		{"suspect after a replay", answer("done with", DidImpact, "replayed", 200, impacted(0, "done", "suspect", "done")), "done no-longer-suspect"},
		{"no longer told", answer("done with", DidImpact, "resolved", 404, failure("not_found")), "answered"},
	})
}

func TestJudgeCompensation(t *testing.T) {
	told := func(compensation string) object {
		body := impacted(1, "done", "done", "done", "failed")
		for i := range 2 {
			body["steps"].([]any)[i].(object)["compensation"] = compensation
		}
		return body
	}
	right := func() *shown {
		h := newShown()
		h.part("before").ask(DidImpact, "message", 200, told("offered"))
		h.part("before").tool("booking")["effects"] = 2
		for _, when := range []string{"once", "twice"} {
			h.part(when).ask(DidCompensate, "message", 200, told("done"))
			h.part(when).tool("booking")
		}
		return h
	}
	try(t, JudgeCompensation, right, []shows{
		{"not offered", answer("before", DidImpact, "message", 200, impacted(1, "done", "done", "done", "failed")), "offered"},
		{"offered without a side effect", put("before", DidImpact, "message", "offered", "steps", 2, "compensation"), "offered"},
		{"not done", all(answer("once", DidCompensate, "message", 200, told("offered")), func(h *shown) { h.part("once").tool("booking")["effects"] = 2 }), "done undone"},
		{"one of two", func(h *shown) { h.part("once").tool("booking")["effects"] = 1 }, "undone"},
		{"twice", func(h *shown) { h.part("twice").tool("booking")["effects"] = -2 }, "undone-once"},
		{"refused", answer("once", DidCompensate, "message", 404, failure("not_found")), "done"},
	})
}

func TestJudgeActiveWorkflows(t *testing.T) {
	right := func() *shown {
		h := newShown()
		h.part("three failed").ask(DidImpact, "first", 200, impacted(3, "failed"))
		h.part("three failed").ask(DidImpact, "elsewhere", 200, impacted(1, "failed"))
		h.part("one resolved").ask(DidImpact, "first", 200, impacted(2, "failed"))
		return h
	}
	try(t, JudgeActiveWorkflows, right, []shows{
		{"always one", put("three failed", DidImpact, "first", 1, "activeWorkflows"), "counted"},
		{"of all tools", all(put("three failed", DidImpact, "first", 4, "activeWorkflows"), put("three failed", DidImpact, "elsewhere", 4, "activeWorkflows")), "by-tool counted"},
		{"resolved ones too", put("one resolved", DidImpact, "first", 3, "activeWorkflows"), "resolved-not-counted"},
		{"no count", put("one resolved", DidImpact, "first", gone{}, "activeWorkflows"), "resolved-not-counted"},
	})
}
