package agentdlq

import (
	"fmt"
	"testing"
)

// both is a host with one queue for both kinds of failure.
func both(role string) func(*shown) {
	return func(h *shown) {
		h.tooled[role] = append(h.tooled[role], h.messaged[role]...)
		h.messaged[role] = append(h.messaged[role], h.tooled[role]...)
	}
}

func TestJudgeMalformed(t *testing.T) {
	right := func() *shown {
		h := newShown()
		h.message("malformed", DeadLettered)
		h.deadLettered("malformed", "malformed", 1)
		h.tool("tool")
		return h
	}
	try(t, JudgeMalformed, right, []shows{
		{"lawful: an entry of another trace in the list", func(h *shown) {
			h.tooled["malformed"] = append(h.tooled["malformed"], object{"entryId": "e", "traceId": "another"})
		}, "pass"},
		{"in both queues", func(h *shown) { h.tooled["malformed"] = h.messaged["malformed"] }, "tool-queue"},
		{"in the tool queue", func(h *shown) { h.tooled["malformed"], h.messaged["malformed"] = h.messaged["malformed"], nil }, "message-queue tool-queue"},
		{"an entry twice", func(h *shown) { h.deadLettered("malformed", "malformed", 1) }, "message-queue"},
		{"delivered again", func(h *shown) { h.messages["malformed"]["deliveries"] = 4 }, "one-delivery"},
		{"the model is asked", func(h *shown) { h.messages["malformed"]["modelCalls"] = 1 }, "no-model-call"},
		{"a run is started", func(h *shown) { h.messages["malformed"]["runId"] = "r" }, "no-run"},
		{"the tool is called", func(h *shown) { h.called("tool", "malformed", 0, "ok") }, "calls"},
		{"another reason", func(h *shown) { h.messaged["malformed"][0]["reason"] = "redelivery_limit" }, "reason"},
		{"another end", func(h *shown) { h.messages["malformed"]["status"] = ToolFailed }, "status"},
		{"no end", func(h *shown) { h.messages["malformed"]["status"] = "queued" }, "status"},
		{"nothing counted", func(h *shown) { delete(h.messages["malformed"], "deliveries") }, "one-delivery"},
		{"lost", func(h *shown) { h.messaged["malformed"] = nil }, "message-queue"},
	})
}

func TestJudgeInvalid(t *testing.T) {
	right := func() *shown {
		h := newShown()
		for role := range InvalidBodies() {
			h.message(role, DeadLettered)
			h.deadLettered(role, "malformed", 1)
		}
		h.message("valid", Completed)
		h.tool("tool")
		h.called("other tool", "valid", 0, "ok")
		return h
	}
	try(t, JudgeInvalid, right, []shows{
		{"null is taken", func(h *shown) {
			h.message("of null", Completed)
			h.messaged["of null"] = nil
			h.called("tool", "of null", 0, "ok")
		},
			"calls message-queue no-model-call no-run status"},
		{"a task with more is refused", func(h *shown) {
			h.message("valid", DeadLettered)
			h.deadLettered("valid", "malformed", 1)
			delete(h.tools, "other tool")
			h.tool("other tool")
		},
			"calls message-queue status"},
		{"a list is retried", func(h *shown) { h.messages["in a list"]["deliveries"] = 4 }, "one-delivery"},
	})
}

func TestJudgePoison(t *testing.T) {
	right := func() *shown {
		h := newShown()
		h.message("poison", DeadLettered)["deliveries"] = 4
		h.deadLettered("poison", "redelivery_limit", 4)
		h.tool("tool")
		return h
	}
	going := func(h *shown) {
		h.message("poison", "queued")["deliveries"] = 3
		h.messages["poison"]["modelCalls"], h.messaged["poison"] = 0, nil
	}
	try(t, JudgePoison, right, []shows{
		{"lawful: a run that was begun", func(h *shown) { h.messages["poison"]["runId"] = "r" }, "pass"},
		{"given up at once", func(h *shown) { h.messages["poison"]["deliveries"], h.messaged["poison"][0]["deliveries"] = 1, 1 }, "deliveries entry-deliveries"},
		{"given up one too late", func(h *shown) { h.messages["poison"]["deliveries"], h.messaged["poison"][0]["deliveries"] = 5, 5 }, "deliveries entry-deliveries"},
		{"under way, with too little time", going, "undecided timeout"},
		{"under way after all its leases", func(h *shown) { going(h); h.moved = 124 }, "deliveries message-queue status"},
		{"delivered for ever", func(h *shown) { going(h); h.messages["poison"]["deliveries"] = 40 }, "deliveries message-queue status"},
		{"taken for malformed", func(h *shown) { h.messaged["poison"][0]["reason"] = "malformed" }, "reason"},
		{"the model is asked", func(h *shown) { h.messages["poison"]["modelCalls"] = 4 }, "no-model-call"},
		{"in the tool queue", func(h *shown) { h.failed("poison", "tool", 0, 4, "server_error") }, "tool-queue"},
		{"in both queues", func(h *shown) { both("poison")(h) }, "message-queue tool-queue"},
	})
}

func TestJudgeTransient(t *testing.T) {
	right := func() *shown {
		h := newShown()
		for _, o := range TransientOutcomes() {
			h.message("after "+o, Completed)["modelCalls"] = 3
			h.called(o, "after "+o, 0, o, "ok")
		}
		return h
	}
	try(t, JudgeTransient, right, []shows{
		{"into the tool queue, and on", func(h *shown) { h.failed("after locked", "locked", 0, 1, "locked") }, "tool-queue"},
		{"into the tool queue, and no further", func(h *shown) {
			h.message("after timeout", ToolFailed)
			h.failed("after timeout", "timeout", 0, 1, "timeout")
			h.tools["timeout"]["calls"] = []any{}
		}, "calls model-told status tool-queue"},
		{"into the message queue", func(h *shown) { h.deadLettered("after malformed", "malformed", 1) }, "message-queue"},
		{"retried without asking the model", func(h *shown) { h.messages["after rate_limited"]["modelCalls"] = 2 }, "model-told"},
		{"called once more", func(h *shown) { h.called("server_error", "after server_error", 0, "ok") }, "calls"},
	})
}

func TestJudgeExhausted(t *testing.T) {
	right := func() *shown {
		h := newShown()
		h.message("exhausted", ToolFailed)
		h.called("right", "exhausted", 0, "ok")
		h.called("failing", "exhausted", 1, "server_error", "server_error", "server_error")
		h.tool("behind")
		h.failed("exhausted", "failing", 1, 3, "server_error")
		return h
	}
	try(t, JudgeExhausted, right, []shows{
		{"into the message queue", func(h *shown) { h.tooled["exhausted"] = nil; h.deadLettered("exhausted", "tool", 1) }, "message-queue tool-queue"},
		{"into both", func(h *shown) { h.deadLettered("exhausted", "tool", 1) }, "message-queue"},
		{"an entry an attempt", func(h *shown) { h.failed("exhausted", "failing", 1, 2, "server_error") }, "tool-queue"},
		{"nowhere", func(h *shown) { h.tooled["exhausted"] = nil }, "tool-queue"},
		{"of another step", func(h *shown) { h.tooled["exhausted"][0]["stepIndex"] = 0 }, "entry-of-the-step"},
		{"of another tool", func(h *shown) { h.tooled["exhausted"][0]["toolName"] = named("right") }, "entry-of-the-step"},
		{"resolved by itself", func(h *shown) { h.tooled["exhausted"][0]["resolution"] = "resolved" }, "unresolved"},
		{"completed", func(h *shown) { h.messages["exhausted"]["status"] = Completed }, "status"},
		{"the run goes on", func(h *shown) { h.called("behind", "exhausted", 2, "ok") }, "calls"},
	})
}

func TestJudgeAttempts(t *testing.T) {
	right := func() *shown {
		h := newShown()
		fails := func(role, tool string, times int) {
			h.message(role, ToolFailed)
			for range times {
				h.called(tool, role, 0, "server_error")
			}
			for i, c := range h.tool(tool)["calls"].([]any) {
				c.(object)["attempt"] = i + 1
			}
			h.failed(role, tool, 0, times, "server_error")
		}
		fails("default budget", "failing by default", 3)
		for _, b := range Budgets() {
			fails(fmt.Sprintf("budget %d", b), fmt.Sprintf("failing %d", b), b+1)
			role := fmt.Sprintf("just enough %d", b)
			h.message(role, Completed)
			for range b + 1 {
				h.called(fmt.Sprintf("recovering %d", b), role, 0, "server_error")
			}
		}
		return h
	}
	try(t, JudgeAttempts, right, []shows{
		{"one too few", func(h *shown) {
			h.tools["failing 4"]["calls"] = h.tools["failing 4"]["calls"].([]any)[:4]
			h.tooled["budget 4"][0]["attempts"] = 4
		}, "calls entry-attempts"},
		{"retries counted as attempts", func(h *shown) { h.tooled["budget 1"][0]["attempts"] = 1 }, "entry-attempts"},
		{"counted from 0", func(h *shown) { h.tools["failing 0"]["calls"].([]any)[0].(object)["attempt"] = 0 }, "numbered"},
		{"given up before the last", func(h *shown) {
			h.message("just enough 4", ToolFailed)
			h.failed("just enough 4", "recovering 4", 0, 5, "server_error")
		}, "status tool-queue"},
		{"another budget by default", func(h *shown) {
			h.called("failing by default", "default budget", 0, "server_error")
			h.tooled["default budget"][0]["attempts"] = 4
		}, "calls entry-attempts numbered"},
	})
}

func TestJudgeMisconfigured(t *testing.T) {
	right := func() *shown {
		h := newShown()
		for _, o := range Misconfigured() {
			h.part(Before).tool(o)
			h.message("meets "+o, ToolFailed)
			h.called(o, "meets "+o, 0, o)
			h.failed("meets "+o, o, 0, 1, o)
			h.circuit(o, "open", 1)
		}
		return h
	}
	try(t, JudgeMisconfigured, right, []shows{
		{"lawful: alerts that were there before", func(h *shown) { h.part(Before).circuit("gone", "closed", 3); h.circuit("gone", "open", 4) }, "pass"},
		{"tried again", func(h *shown) { h.called("gone", "meets gone", 0, "gone"); h.tooled["meets gone"][0]["attempts"] = 2 }, "calls entry-attempts"},
		{"no circuit", func(h *shown) { h.circuit("unauthorized", "closed", 1) }, "circuit-open"},
		{"no alert", func(h *shown) { h.circuit("unauthorized", "open", 0) }, "alerts"},
		{"two alerts", func(h *shown) { h.circuit("gone", "open", 2) }, "alerts"},
		{"alerts not told", func(h *shown) { delete(h.tools["gone"], "alerts") }, "alerts"},
		{"no entry", func(h *shown) { h.tooled["meets gone"] = nil }, "tool-queue"},
		{"in the message queue", func(h *shown) { both("meets gone")(h) }, "message-queue"},
		{"completed", func(h *shown) { h.messages["meets gone"]["status"] = Completed }, "status"},
	})
}
