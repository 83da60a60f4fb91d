package agentdlq

import (
	"slices"
	"testing"
)

// went changes the statuses that a message's record went through.
func went(role string, statuses ...string) func(*shown) {
	return func(h *shown) {
		r := h.recorded(role, "x", 9, statuses...)
		h.records[role] = h.records[role][:len(h.records[role])-1]
		for _, member := range []string{"history", "status", "attemptCount"} {
			h.records[role][0][member] = r[member]
		}
	}
}

func TestJudgeWrittenFirst(t *testing.T) {
	right := func() *shown {
		h := newShown()
		h.message("dies", "running")
		h.message("later", Completed)
		h.called("first", "dies", 0, "ok")
		h.called("last", "later", 0, "ok")
		h.recorded("dies", "last", 1, "pending")
		return h
	}
	try(t, JudgeWrittenFirst, right, []shows{
		{"lawful: its lease is given back at once", func(h *shown) {
			h.message("dies", Completed)["deliveries"] = 2
			h.called("last", "dies", 1, "ok")
			went("dies", "pending", "in_flight", "success")(h)
		}, "pass redelivered-at-once"},
		{"lawful: other records of the run", func(h *shown) { h.recorded("dies", "first", 0, "pending", "in_flight", "success") }, "pass"},
		{"the call goes out first", func(h *shown) { h.called("last", "dies", 1, "ok") }, "calls"},
		{"the call goes out, and nothing is written", func(h *shown) { h.called("last", "dies", 1, "ok"); h.records["dies"] = []object{} }, "calls one-record"},
		{"written when it is sent", func(h *shown) { went("dies", "in_flight")(h) }, "history record-status"},
		{"written as done", func(h *shown) { went("dies", "pending", "success")(h) }, "history record-status"},
		{"ended", func(h *shown) { h.messages["dies"]["status"] = Completed }, "not-ended"},
		{"in the tool queue", func(h *shown) { h.failed("dies", "last", 1, 1, "outcome_unknown") }, "tool-queue"},
	})
}

func TestJudgePendingDispatched(t *testing.T) {
	right := func() *shown {
		h := newShown()
		h.message("dies", Completed)
		h.called("first", "dies", 0, "ok")
		h.called("last", "dies", 1, "ok")
		h.recorded("dies", "last", 1, "pending", "in_flight", "success")
		return h
	}
	try(t, JudgePendingDispatched, right, []shows{
		{"lawful: pending anew with the delivery", went("dies", "pending", "pending", "in_flight", "success"), "pass"},
		{"never sent", func(h *shown) {
			h.messages["dies"]["status"] = "running"
			h.tools["last"]["calls"] = []any{}
			went("dies", "pending")(h)
		}, "calls in-flight-once pending-first record-status status"},
		{"another record", func(h *shown) { h.recorded("dies", "last", 1, "pending", "in_flight", "success") }, "one-record"},
		{"sent twice", func(h *shown) {
			h.called("last", "dies", 1, "ok")
			went("dies", "pending", "in_flight", "failed", "in_flight", "success")(h)
		}, "calls in-flight-once"},
		{"to a person", func(h *shown) {
			h.message("dies", ToolFailed)
			h.failed("dies", "last", 1, 1, "outcome_unknown")
			h.tools["last"]["calls"] = []any{}
			went("dies", "pending", "dead_lettered")(h)
		}, "calls in-flight-once record-status status tool-queue"},
		{"from the start", func(h *shown) { h.called("first", "dies", 0, "ok") }, "calls"},
	})
}

// inFlightBefore shows the moment at which the tool has got the call.
func inFlightBefore(h *shown, statuses ...string) {
	before := h.part(Before)
	before.message("dies", "running")
	before.called("last", "dies", 1, "ok")
	before.recorded("dies", "last", 1, statuses...)
}

func TestJudgeRedispatched(t *testing.T) {
	right := func() *shown {
		h := newShown()
		inFlightBefore(h, "pending", "in_flight")
		h.message("dies", Completed)
		h.called("first", "dies", 0, "ok")
		h.called("last", "dies", 1, "ok", "ok")
		h.tools["last"]["effects"] = 1
		h.recorded("dies", "last", 1, "pending", "in_flight", "in_flight", "success")
		return h
	}
	try(t, JudgeRedispatched, right, []shows{
		{"lawful: its lease is given back at once", func(h *shown) { h.part(Before).called("last", "dies", 1, "ok") }, "pass"},
		{"lawful: a status between the two", went("dies", "pending", "in_flight", "pending", "in_flight", "success"), "pass"},
		{"under another key", func(h *shown) { h.tools["last"]["effects"] = 2 }, "one-effect"},
		{"never again", func(h *shown) {
			h.messages["dies"]["status"] = "running"
			h.tools["last"]["calls"] = h.tools["last"]["calls"].([]any)[:1]
			went("dies", "pending", "in_flight")(h)
		}, "calls further-attempt record-status status"},
		{"taken for done", func(h *shown) {
			h.tools["last"]["calls"] = h.tools["last"]["calls"].([]any)[:1]
			went("dies", "pending", "in_flight", "success")(h)
		}, "calls further-attempt"},
		{"not on record before it went out", func(h *shown) { h.parts = map[string]*shown{}; inFlightBefore(h, "pending") }, "in-flight-on-record"},
		{"nothing on record before it went out", func(h *shown) { h.part(Before).records["dies"] = []object{} }, "one-record"},
		{"in the tool queue", func(h *shown) {
			h.failed("dies", "last", 1, 1, "outcome_unknown")
			h.messages["dies"]["status"] = ToolFailed
		}, "status tool-queue"},
	})
}

func TestJudgeInFlightReviewed(t *testing.T) {
	review := func(h *shown, roles ...string) {
		h.drop(DidReviews)
		var entries []object
		for _, role := range roles {
			entries = append(entries, h.tooled[role]...)
		}
		h.ask(DidReviews, "human", 200, listing(entries))
	}
	right := func() *shown {
		h := newShown()
		inFlightBefore(h, "pending", "in_flight")
		h.message("dies", ToolFailed)
		h.called("first", "dies", 0, "ok")
		h.called("last", "dies", 1, "ok")
		h.tools["last"]["effects"] = 1
		h.recorded("dies", "last", 1, "pending", "in_flight", "dead_lettered")
		h.failed("dies", "last", 1, 1, "outcome_unknown")
		review(h, "dies")
		return h
	}
	try(t, JudgeInFlightReviewed, right, []shows{
		{"called again", func(h *shown) {
			h.message("dies", Completed)
			h.called("last", "dies", 1, "ok")
			h.tools["last"]["effects"] = 2
			h.tooled["dies"] = nil
			went("dies", "pending", "in_flight", "in_flight", "success")(h)
			review(h)
		}, "calls human-review one-effect record-status status tool-queue"},
		{"no entry of it", func(h *shown) { h.tooled["dies"] = nil; review(h) }, "human-review tool-queue"},
		{"in no review", func(h *shown) { review(h) }, "human-review"},
		{"taken for done", func(h *shown) {
			h.message("dies", Completed)
			h.tooled["dies"] = nil
			went("dies", "pending", "in_flight", "success")(h)
			review(h)
		},
			"human-review record-status status tool-queue"},
		{"taken for a server's error", func(h *shown) {
			h.tooled["dies"][0]["lastError"] = object{"kind": "server_error", "status": 500, "message": "m"}
		}, "outcome-unknown"},
	})
}

func TestJudgeResultKept(t *testing.T) {
	right := func() *shown {
		h := newShown()
		inFlightBefore(h, "pending", "in_flight", "success")
		h.message("dies", Completed)
		h.called("first", "dies", 0, "ok")
		h.called("last", "dies", 1, "ok")
		h.tools["last"]["effects"] = 1
		h.recorded("dies", "last", 1, "pending", "in_flight", "success")
		return h
	}
	try(t, JudgeResultKept, right, []shows{
		{"called again", func(h *shown) {
			h.called("last", "dies", 1, "ok")
			h.tools["last"]["effects"] = 2
			went("dies", "pending", "in_flight", "success", "in_flight", "success")(h)
		},
			"calls history one-effect"},
		{"to a person", func(h *shown) { h.message("dies", ToolFailed); h.failed("dies", "last", 1, 1, "outcome_unknown") }, "status tool-queue"},
		{"never on", func(h *shown) { h.messages["dies"]["status"] = "running" }, "status"},
	})
}

func TestJudgeFailedRaised(t *testing.T) {
	right := func() *shown {
		h := newShown()
		h.message("recovers", Completed)["modelCalls"] = 3
		h.called("recovering", "recovers", 0, "server_error", "ok")
		h.recorded("recovers", "recovering", 0, "pending", "in_flight", "failed", "in_flight", "success")["maxAttempts"] = 2
		h.message("gives up", ToolFailed)
		h.called("failing", "gives up", 0, "server_error", "server_error")
		h.failed("gives up", "failing", 0, 2, "server_error")
		r := h.recorded("gives up", "failing", 0, "pending", "in_flight", "failed", "in_flight", "dead_lettered")
		r["maxAttempts"], r["failureReason"] = 2, "server_error"
		return h
	}
	try(t, JudgeFailedRaised, right, []shows{
		{"retried behind the model's back", func(h *shown) { h.messages["recovers"]["modelCalls"] = 2 }, "model-told"},
		{"the failure is not on record", went("recovers", "pending", "in_flight", "success"), "attempt-count history"},
		{"given up at the first", went("recovers", "pending", "in_flight", "dead_lettered", "in_flight", "success"), "history"},
		{"the last one only failed", went("gives up", "pending", "in_flight", "failed", "in_flight", "failed"), "history record-status"},
		{"no reason", func(h *shown) { delete(h.records["gives up"][0], "failureReason") }, "failure-reason"},
		{"a budget of its own", func(h *shown) { h.records["gives up"][0]["maxAttempts"] = 3 }, "max-attempts"},
		{"a record an attempt", func(h *shown) { h.recorded("recovers", "recovering", 0, "pending", "in_flight", "success") }, "one-record"},
		{"swallowed", func(h *shown) { h.message("gives up", Completed); h.tooled["gives up"] = nil }, "status tool-queue"},
	})
}

func TestJudgeRateLimited(t *testing.T) {
	right := func() *shown {
		h := newShown()
		h.message("waits", Completed)
		h.called("limited once", "waits", 0, "rate_limited", "ok")
		h.recorded("waits", "limited once", 0, "pending", "in_flight", "failed", "in_flight", "success")
		h.message("gives up", ToolFailed)
		h.called("limited", "gives up", 0, "rate_limited", "rate_limited")
		h.failed("gives up", "limited", 0, 2, "rate_limited")
		h.recorded("gives up", "limited", 0, "pending", "in_flight", "failed", "in_flight", "dead_lettered")
		return h
	}
	try(t, JudgeRateLimited, right, []shows{
		{"taken for done", func(h *shown) {
			h.message("gives up", Completed)
			h.tooled["gives up"] = nil
			h.tools["limited"]["calls"] = h.tools["limited"]["calls"].([]any)[:1]
			went("gives up", "pending", "in_flight", "success")(h)
		}, "calls history never-success record-status status tool-queue"},
		{"on record as done, and tried again", went("waits", "pending", "in_flight", "success", "in_flight", "success"), "history"},
		{"another kind", func(h *shown) {
			h.tooled["gives up"][0]["lastError"] = object{"kind": "server_error", "status": 500, "message": "m"}
		}, "kind"},
	})
}

func TestJudgeHandOffDown(t *testing.T) {
	right := func() *shown {
		h := newShown()
		h.names["nobody"] = named("nobody")
		h.message("hands over", ToolFailed)
		h.called("first", "hands over", 0, "ok")
		h.failed("hands over", "nobody", 1, 1, "unreachable")
		h.recorded("hands over", "nobody", 1, "pending", "in_flight", "dead_lettered")["failureReason"] = "unreachable"
		h.ask(DidAsk, "nobody", 404, object{"error": "not_found"})
		return h
	}
	try(t, JudgeHandOffDown, right, []shows{
		{"silence", func(h *shown) {
			h.message("hands over", Completed)
			h.tooled["hands over"], h.records["hands over"] = nil, []object{}
		}, "one-record status tool-queue"},
		{"in the message queue", func(h *shown) { h.deadLettered("hands over", "malformed", 1); h.tooled["hands over"] = nil }, "message-queue tool-queue"},
		{"gone", func(h *shown) {
			h.tooled["hands over"][0]["lastError"] = object{"kind": "gone", "status": 410, "message": "m"}
		}, "kind no-status"},
		{"no reason", func(h *shown) { delete(h.records["hands over"][0], "failureReason") }, "failure-reason"},
		{"never sent", went("hands over", "pending", "dead_lettered"), "history"},
		{"of another step", func(h *shown) { h.tooled["hands over"][0]["stepIndex"] = 0 }, "entry-of-the-step"},
		{"shown all the same", func(h *shown) { h.drop(DidAsk); h.ask(DidAsk, "nobody", 200, object{"calls": []any{}}) }, "tool-not-there"},
	})
}

func TestJudgeIDsUnique(t *testing.T) {
	right := func() *shown {
		h := newShown()
		for _, role := range RecordedRuns() {
			h.message(role, Completed)
			h.recorded(role, "right", 0, "pending", "in_flight", "success")
			h.recorded(role, "right", 1, "pending", "in_flight", "success")
		}
		h.messages["fails"]["status"] = ToolFailed
		h.failed("fails", "failing", 1, 2, "server_error")
		return h
	}
	try(t, JudgeIDsUnique, right, []shows{
		{"the step's number as the id", func(h *shown) {
			for _, role := range RecordedRuns() {
				for i, r := range h.records[role] {
					r["invocationId"] = []string{"0", "1"}[i]
				}
			}
			h.tooled["fails"][0]["invocationId"] = "1"
		}, "own-id"},
		{"one id a run", func(h *shown) { h.records["retries"][1]["invocationId"] = h.records["retries"][0]["invocationId"] }, "own-id"},
		{"no id", func(h *shown) { delete(h.records["retries"][0], "invocationId") }, "has-an-id record-form"},
		{"a record an attempt", func(h *shown) { h.recorded("retries", "right", 2, "pending", "in_flight", "success") }, "a-record-a-step"},
		{"no record of a fallback", func(h *shown) { h.records["falls back"] = h.records["falls back"][:1] }, "a-record-a-step"},
		{"nobody's record", func(h *shown) { h.tooled["fails"][0]["invocationId"] = "invocation 1 of retries" }, "entry-names-its-record"},
		{"no agent", func(h *shown) { delete(h.records["fails"][0], "agentId") }, "record-form"},
	})
	if !slices.Contains(RecordedRuns(), "fails") {
		t.Error("the run that fails is not among those that are recorded")
	}
}
