package agentdlq

import "testing"

func spanOf(name, id string, links ...string) object {
	all := []any{}
	for _, l := range links {
		all = append(all, object{"traceId": "t", "spanId": l})
	}
	return object{"name": name, "traceId": "t", "spanId": id, "startAt": after(0), "endAt": after(0), "attributes": object{}, "links": all}
}

func TestJudgeEnqueueSpan(t *testing.T) {
	right := func() *shown {
		h := newShown()
		h.message("message", ToolFailed)
		h.failed("message", "tool", 0, 2, "bad_request")
		h.know("tool")
		enqueue := spanOf("dlq.enqueue", "e", "c2")
		enqueue["attributes"] = object{"dlq.invocation_id": h.tooled["message"][0]["invocationId"], "dlq.tool_name": named("tool"), "dlq.failure_reason": "bad_request", "dlq.attempt_count": 2}
		h.ask(DidTrace, "message", 200, object{"spans": []any{spanOf("message", "m"), spanOf("tool.call", "c1"), spanOf("tool.call", "c2"), enqueue}})
		return h
	}
	attribute := func(name string, v any) func(*shown) {
		return put("", DidTrace, "message", v, "spans", 3, "attributes", name)
	}
	try(t, JudgeEnqueueSpan, right, []shows{
		{"not linked", put("", DidTrace, "message", []any{}, "spans", 3, "links"), "linked"},
		{"linked to the message", put("", DidTrace, "message", []any{object{"traceId": "t", "spanId": "m"}}, "spans", 3, "links"), "linked"},
		{"linked to a call of another trace", put("", DidTrace, "message", "u", "spans", 3, "links", 0, "traceId"), "linked"},
		{"no span", put("", DidTrace, "message", spanOf("dlq.other", "e"), "spans", 3), "span"},
		{"twice", put("", DidTrace, "message", spanOf("dlq.enqueue", "f", "c2"), "spans", 0), "attempts invocation reason span tool"},
		{"one span for two attempts", put("", DidTrace, "message", spanOf("message", "n"), "spans", 1), "calls"},
		{"another invocation", attribute("dlq.invocation_id", "i"), "invocation"},
		{"another tool", attribute("dlq.tool_name", "x"), "tool"},
		{"no reason", attribute("dlq.failure_reason", gone{}), "reason"},
		{"another count", attribute("dlq.attempt_count", 1), "attempts"},
		{"no trace", answer("", DidTrace, "message", 404, failure("not_found")), "span"},
	})
}

func TestJudgeRecoveryLinked(t *testing.T) {
	right := func() *shown {
		h := newShown()
		h.ask(DidTrace, "message", 200, object{"spans": []any{spanOf("tool.call", "c"), spanOf("dlq.enqueue", "e", "c"), spanOf("dlq.recover", "r1", "e"), spanOf("dlq.recover", "r2", "e")}})
		return h
	}
	try(t, JudgeRecoveryLinked, right, []shows{
		{"lawful: of another trace", put("", DidTrace, "message", "u", "spans", 2, "traceId"), "pass"},
		{"one not linked", put("", DidTrace, "message", []any{}, "spans", 3, "links"), "linked"},
		{"linked to the call", put("", DidTrace, "message", "c", "spans", 3, "links", 0, "spanId"), "linked"},
		{"only the one that succeeded", put("", DidTrace, "message", spanOf("other", "r1"), "spans", 2), "each-attempt"},
	})
}
