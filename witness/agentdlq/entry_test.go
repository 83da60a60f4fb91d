package agentdlq

import (
	"fmt"
	"maps"
	"slices"
	"testing"
	"time"
)

// entryOfRole edits the one entry that a message has in the tool queue.
func entryOfRole(role, member string, v any) func(*shown) {
	return func(h *shown) {
		if v == nil {
			delete(h.tooled[role][0], member)
			return
		}
		h.tooled[role][0][member] = v
	}
}

func TestJudgeEntryShape(t *testing.T) {
	right := func() *shown {
		h := newShown()
		h.message("exhausted", ToolFailed)
		h.called("right", "exhausted", 0, "ok")
		h.failed("exhausted", "failing", 1, 2, "server_error")
		h.detail("exhausted", "server_error", "server_error")
		h.message("malformed", DeadLettered)
		h.deadLettered("malformed", "malformed", 1)
		h.detail("malformed")
		return h
	}
	cases := []shows{
		{"lawful: more than the page names", entryOfRole("exhausted", "region", "eu"), "pass"},
		{"lawful: classified already", entryOfRole("exhausted", "category", "TRANSIENT_INFRASTRUCTURE"), "pass"},
		{"attempts as a text", entryOfRole("exhausted", "attempts", "2"), "tool-entry tool-entry-by-id"},
		{"no milliseconds", entryOfRole("exhausted", "firstSeenAt", "2026-03-01T12:00:00Z"), "tool-entry tool-entry-by-id"},
		{"an error without a status", entryOfRole("exhausted", "lastError", object{"kind": "timeout", "message": "m"}), "tool-entry tool-entry-by-id"},
		{"no history", func(h *shown) { delete(h.detailed["exhausted"], "history") }, "tool-entry-by-id"},
		{"no audit trail", func(h *shown) { delete(h.detailed["malformed"], "audit") }, "message-entry-by-id"},
		{"another one by its id", func(h *shown) { h.detailed["exhausted"]["entryId"] = "another" }, "same-by-id"},
		{"a message entry without its body", func(h *shown) { delete(h.messaged["malformed"][0], "body") }, "message-entry message-entry-by-id"},
		{"no entry", func(h *shown) { h.tooled["exhausted"] = nil }, "one-entry"},
		{"no message entry", func(h *shown) { h.messaged["malformed"] = nil }, "one-message-entry"},
		{"the malformed message calls", func(h *shown) { h.called("right", "malformed", 0, "ok") }, "calls"},
	}
	for _, member := range []string{"entryId", "runId", "stepIndex", "toolName", "toolArgs", "attempts", "lastError", "conversationRef", "tokensSpent", "firstSeenAt",
		"originalMessageId", "invocationId", "traceId", "category", "resolution", "lastAttemptedAt", "nextReplayAt", "expiresAt", "tags"} {
		cases = append(cases, shows{"no " + member, entryOfRole("exhausted", member, nil), "tool-entry tool-entry-by-id"})
	}
	try(t, JudgeEntryShape, right, cases)
}

func TestJudgeStepIndex(t *testing.T) {
	right := func() *shown {
		h := newShown()
		for step := range 3 {
			role := fmt.Sprintf("fails at %d", step)
			h.message(role, ToolFailed)
			for i := range step {
				h.called("right", role, i, "ok")
			}
			h.tool("right")
			h.called("failing", role, step, "server_error")
			h.failed(role, "failing", step, 1, "server_error")
		}
		return h
	}
	try(t, JudgeStepIndex, right, []shows{
		{"counted from 1", entryOfRole("fails at 2", "stepIndex", 3), "step-index"},
		{"always the first", entryOfRole("fails at 1", "stepIndex", 0), "step-index"},
		{"not an integer", entryOfRole("fails at 1", "stepIndex", 1.5), "step-index"},
		{"another tool", entryOfRole("fails at 1", "toolName", named("right")), "tool-name"},
		{"a step left out", func(h *shown) { h.tools["right"]["calls"] = h.tools["right"]["calls"].([]any)[:1] }, "calls-of-the-run"},
		{"in the message queue", func(h *shown) { h.deadLettered("fails at 0", "tool", 1) }, "message-queue"},
	})
}

func TestJudgeEntryAttempts(t *testing.T) {
	right := func() *shown {
		h := newShown()
		h.message("three", ToolFailed)
		h.called("fails in turn", "three", 0, FailingInTurn()...)
		h.failed("three", "fails in turn", 0, 3, "locked")
		h.detail("three", FailingInTurn()...)
		h.message("one", ToolFailed)
		h.called("fails", "one", 0, "locked")
		h.failed("one", "fails", 0, 1, "locked")
		h.detail("one", "locked")
		return h
	}
	try(t, JudgeEntryAttempts, right, []shows{
		{"retries alone", entryOfRole("three", "attempts", 2), "attempts"},
		{"always the budget", entryOfRole("one", "attempts", 3), "attempts"},
		{"the last attempt alone in its history", func(h *shown) { h.detail("three", "locked") }, "history"},
		{"the last error in place of each", func(h *shown) { h.detail("three", "locked", "locked", "locked") }, "history"},
		{"no history", func(h *shown) { delete(h.detailed["one"], "history") }, "history"},
	})
}

func TestJudgeLastError(t *testing.T) {
	right := func() *shown {
		h := newShown()
		for _, kind := range slices.Sorted(maps.Keys(Kinds())) {
			h.message("of "+kind, ToolFailed)
			h.failed("of "+kind, kind, 0, 1, kind)
		}
		return h
	}
	says := func(role, member string, v any) func(*shown) {
		return func(h *shown) { h.tooled[role][0]["lastError"].(object)[member] = v }
	}
	try(t, JudgeLastError, right, []shows{
		{"every failure a server error", says("of locked", "kind", "server_error"), "kind"},
		{"a status where none was answered", says("of timeout", "status", 504), "status-of-the-error"},
		{"null for a status that was answered", says("of malformed", "status", nil), "status-of-the-error"},
		{"the status as a text", says("of gone", "status", "410"), "status-of-the-error"},
		{"no text", says("of semantic", "message", ""), "error-message"},
		{"a hand-off that is lost", func(h *shown) { h.message("of unreachable", Completed); h.tooled["of unreachable"] = nil }, "status tool-queue"},
	})
}

func TestJudgeRedacted(t *testing.T) {
	address := Address("x1y2z3")
	right := func() *shown {
		h := newShown()
		h.names[AddressRole] = address
		h.message("exhausted", ToolFailed)
		h.failed("exhausted", "failing", 1, 2, "server_error")["toolArgs"] = object{"customer": "Ada <[e-mail]>"}
		h.detail("exhausted", "server_error", "server_error")
		h.recorded("exhausted", "failing", 1, "pending", "in_flight", "dead_lettered")
		h.message("malformed", DeadLettered)
		h.deadLettered("malformed", "malformed", 1)
		h.detail("malformed")
		h.ask(DidTrace, "exhausted", 200, object{"spans": []any{object{"name": "tool.call", "attributes": object{"to": "[e-mail]"}}}})
		return h
	}
	both := "not-in-entries not-in-lists"
	try(t, JudgeRedacted, right, []shows{
		{"lawful: no trace is served", func(h *shown) { h.steps = nil; h.ask(DidTrace, "exhausted", 404, object{}) }, "pass"},
		{"in the arguments", entryOfRole("exhausted", "toolArgs", object{"customer": "Ada <" + address + ">"}), both},
		{"deep in the arguments", entryOfRole("exhausted", "toolArgs", object{"copies": []any{object{"to": address}}}), both},
		{"in capitals", entryOfRole("exhausted", "toolArgs", object{"to": "ADA.X1Y2Z3@CUSTOMER.EXAMPLE"}), both},
		{"as the name of a member", entryOfRole("exhausted", "toolArgs", object{address: true}), both},
		{"in a link", entryOfRole("exhausted", "toolArgs", object{"link": "https://x/?mail=ada.x1y2z3%40customer.example&a=%zz"}), both},
		{"in what the tool says", entryOfRole("exhausted", "lastError", object{"kind": "server_error", "status": 500, "message": `can't send {"to":"ada.x1y2z3\u0040customer.example"}`}), both},
		{"in a tag", entryOfRole("exhausted", "tags", []any{address}), both},
		{"in the body of the message", func(h *shown) { h.messaged["malformed"][0]["body"] = `{"task":"write to ` + address }, both},
		{"by its id alone", func(h *shown) { h.detailed["exhausted"]["history"] = []any{object{"message": address}} }, "not-in-entries"},
		{"in a record", func(h *shown) { h.records["exhausted"][0]["payload"] = object{"to": address} }, "not-in-records"},
		{"in a record's reason", func(h *shown) { h.records["exhausted"][0]["failureReason"] = "no such " + address }, "not-in-records"},
		{"in a span", func(h *shown) {
			h.steps = nil
			h.ask(DidTrace, "exhausted", 200, object{"spans": []any{object{"attributes": object{"to": address}}}})
		}, "not-in-spans"},
		{"no entry to look at", func(h *shown) { h.tooled["exhausted"] = nil }, "one-entry"},
	})
}

func TestJudgeConversation(t *testing.T) {
	right := func() *shown {
		h := newShown()
		h.names[SaidRole] = Said("x1y2z3")
		for _, role := range []string{"one", "another"} {
			h.message(role, ToolFailed)
			h.failed(role, "failing", 1, 1, "server_error")
			h.detail(role, "server_error")
			h.steps = append(h.steps, Step{Did: DidExpire, Of: role, Exchanges: answeredAs(204)})
		}
		return h
	}
	try(t, JudgeConversation, right, []shows{
		{"no pointer", entryOfRole("one", "conversationRef", "17"), "is-a-pointer"},
		{"nothing after its beginning", entryOfRole("one", "conversationRef", "conv_"), "is-a-pointer"},
		{"one conversation for all", entryOfRole("one", "conversationRef", "conv_"+named("another")), "own-conversation"},
		{"the messages beside it", entryOfRole("one", "messages", []any{object{"role": "user", "text": Said("x1y2z3")}}), "not-the-messages"},
		{"the messages by its id", func(h *shown) { h.detailed["one"]["conversation"] = Said("x1y2z3") }, "not-the-messages"},
		{"points to nothing", func(h *shown) { h.steps[0].Exchanges = answeredAs(404) }, "points-to-something"},
		{"no entry", func(h *shown) { h.tooled["one"] = nil; delete(h.detailed, "one") }, "one-entry"},
	})
}

func TestJudgeTokens(t *testing.T) {
	right := func() *shown {
		h := newShown()
		for role, input := range map[string]int{"early": 20, "late": 40} {
			h.message(role, ToolFailed)
			h.failed(role, "failing", 0, 1, "server_error")["tokensSpent"] = object{"input": input, "output": 0}
		}
		return h
	}
	try(t, JudgeTokens, right, []shows{
		{"none", func(h *shown) {
			entryOfRole("early", "tokensSpent", object{"input": 0, "output": 0})(h)
			entryOfRole("late", "tokensSpent", object{"input": 0, "output": 0})(h)
		}, "grows input"},
		{"the same for all", entryOfRole("late", "tokensSpent", object{"input": 20, "output": 0}), "grows"},
		{"no output", entryOfRole("early", "tokensSpent", object{"input": 20}), "output"},
		{"more than the message", entryOfRole("late", "tokensSpent", object{"input": 41, "output": 0}), "no-more-than-the-message"},
	})
}

func TestJudgeFirstSeen(t *testing.T) {
	right := func() *shown {
		h := newShown()
		h.message("exhausted", ToolFailed)
		h.called("failing", "exhausted", 0, "bad_request")
		first := h.failed("exhausted", "failing", 0, 2, "bad_request")
		before := h.part(Before)
		before.message("exhausted", ToolFailed)
		was := maps.Clone(first)
		was["attempts"] = 1
		before.tooled["exhausted"] = []object{was}
		h.steps = append(h.steps, Step{Did: DidReplay, Of: "exhausted", Exchanges: answeredAs(202)})
		return h
	}
	try(t, JudgeFirstSeen, right, []shows{
		{"seen anew with a replay", entryOfRole("exhausted", "firstSeenAt", stamp(began.Add(time.Hour))), "first-seen-kept"},
		{"no time", func(h *shown) {
			h.part(Before).tooled["exhausted"][0]["firstSeenAt"] = "today"
			h.tooled["exhausted"][0]["firstSeenAt"] = "today"
		}, "is-a-time"},
		{"the real time", func(h *shown) {
			h.part(Before).tooled["exhausted"][0]["firstSeenAt"] = stamp(began.AddDate(1, 0, 0))
			h.tooled["exhausted"][0]["firstSeenAt"] = stamp(began.AddDate(1, 0, 0))
		}, "when-it-failed"},
		{"resolved by a replay that failed", entryOfRole("exhausted", "resolution", "replayed"), "stays-unresolved"},
		{"not counted", entryOfRole("exhausted", "attempts", 1), "counts-the-replay"},
		{"an entry a replay", func(h *shown) { h.failed("exhausted", "failing", 0, 2, "bad_request") }, "one-entry"},
		{"replay refused", func(h *shown) { h.steps[0].Exchanges = answeredAs(500) }, "undecided unexpected-answer"},
		{"never in the queue", func(h *shown) { h.part(Before).tooled["exhausted"] = nil }, "one-entry"},
	})
}

func TestJudgeOriginal(t *testing.T) {
	right := func() *shown {
		h := newShown()
		for _, role := range []string{"one", "another"} {
			h.message(role, ToolFailed)
			h.failed(role, "failing", 0, 1, "server_error")
		}
		return h
	}
	try(t, JudgeOriginal, right, []shows{
		{"another message", entryOfRole("one", "originalMessageId", named("another")), "original-message"},
		{"no message", entryOfRole("one", "originalMessageId", nil), "original-message"},
		{"another run", entryOfRole("one", "runId", "run of another"), "run"},
		{"another trace", entryOfRole("one", "traceId", traceOf("another")), "trace"},
	})
}
