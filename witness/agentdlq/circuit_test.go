package agentdlq

import (
	"testing"
	"time"
)

// goneFor is a tool that was found gone by the message "opener".
func goneFor(h *shown) {
	h.part(Before).tool("gone")
	h.message("opener", ToolFailed)
	h.called("gone", "opener", 0, "gone")
	h.failed("opener", "gone", 0, 1, "gone")
	h.circuit("gone", "open", 1)
}

func TestJudgeCircuitOpen(t *testing.T) {
	right := func() *shown {
		h := newShown()
		goneFor(h)
		h.message("later", Completed)
		h.called("independent", "later", 1, "ok")
		h.tool("dependent")
		h.message("last", Completed)
		return h
	}
	floods := func(h *shown) { h.failed("later", "gone", 0, 1, "gone") }
	try(t, JudgeCircuitOpen, right, []shows{
		{"lawful: the run says that it failed", func(h *shown) { h.messages["later"]["status"] = ToolFailed; h.tools["independent"]["calls"] = []any{} }, "pass gave-up"},
		{"an entry a run", floods, "tool-queue"},
		{"an entry a run, and the run fails", func(h *shown) { floods(h); h.messages["later"]["status"] = ToolFailed }, "tool-queue"},
		{"in the message queue", func(h *shown) { h.deadLettered("later", "circuit_open", 1) }, "message-queue"},
		{"called again", func(h *shown) { h.called("gone", "later", 0, "gone") }, "calls calls-of-the-run"},
		{"an alert a run", func(h *shown) { h.circuit("gone", "open", 2) }, "alerts"},
		{"never opens", func(h *shown) { h.circuit("gone", "closed", 0) }, "alerts circuit-open"},
		{"what depends on it runs all the same", func(h *shown) { h.called("dependent", "later", 2, "ok") }, "calls-of-the-run"},
		{"what doesn't is left out", func(h *shown) { h.tools["independent"]["calls"] = []any{} }, "calls-of-the-run"},
		{"the run doesn't end", func(h *shown) { h.messages["later"]["status"] = "running" }, "status"},
		{"no run is named", func(h *shown) { delete(h.messages["later"], "runId") }, "calls-of-the-run run-named"},
	})
}

func TestJudgeCircuitShared(t *testing.T) {
	right := func() *shown {
		h := newShown()
		goneFor(h)
		for _, role := range []string{"later one", "later two", "of another tool", "of another tenant"} {
			h.message(role, Completed)
		}
		h.called("another", "of another tool", 0, "ok")
		h.called("their gone", "of another tenant", 0, "ok")
		return h
	}
	try(t, JudgeCircuitShared, right, []shows{
		{"open for one run only", func(h *shown) {
			h.called("gone", "later two", 0, "gone")
			h.failed("later two", "gone", 0, 1, "gone")
			h.messages["later two"]["status"] = ToolFailed
		},
			"calls calls-of-the-run tool-queue"},
		{"open for every tool", func(h *shown) { h.tools["another"]["calls"] = []any{} }, "calls-of-the-run"},
		{"open for every tenant", func(h *shown) { h.tools["their gone"]["calls"] = []any{}; h.circuit("their gone", "open", 1) }, "calls-of-the-run other-tenant-closed"},
		{"another tenant's run fails", func(h *shown) {
			h.message("of another tenant", ToolFailed)
			h.failed("of another tenant", "their gone", 0, 1, "gone")
		}, "status tool-queue"},
	})
}

func TestJudgeHalfOpens(t *testing.T) {
	right := func() *shown {
		h := newShown()
		goneFor(h)
		for _, role := range []string{"too early", "probe", "behind the probe", "second probe", "behind the second"} {
			h.message(role, Completed)
		}
		h.called("gone", "probe", 0, "gone")
		h.called("gone", "second probe", 0, "ok")
		h.called("gone", "behind the second", 0, "ok")
		h.circuit("gone", "closed", 1)
		h.part(Reopened).circuit("gone", "open", 1)
		return h
	}
	try(t, JudgeHalfOpens, right, []shows{
		{"lawful: a breaker too short to look at before", func(h *shown) { delete(h.messages, "too early") }, "pass"},
		{"half-opens too early", func(h *shown) { h.called("gone", "too early", 0, "gone") }, "calls-of-the-run"},
		{"never half-opens", func(h *shown) {
			h.tools["gone"]["calls"] = h.tools["gone"]["calls"].([]any)[:1]
			h.circuit("gone", "open", 1)
		}, "calls-of-the-run closed-by-success"},
		{"another entry", func(h *shown) { h.failed("probe", "gone", 0, 1, "gone"); h.messages["probe"]["status"] = ToolFailed }, "tool-queue"},
		{"another alert", func(h *shown) { h.circuit("gone", "closed", 2) }, "alerts"},
		{"a failure leaves it half open", func(h *shown) {
			h.part(Reopened).circuit("gone", "half_open", 1)
			h.called("gone", "behind the probe", 0, "gone")
		}, "calls-of-the-run circuit-open"},
		{"a success doesn't close it", func(h *shown) { h.circuit("gone", "half_open", 1) }, "closed-by-success"},
	})
}

func TestJudgeRedelivered(t *testing.T) {
	right := func() *shown {
		h := newShown()
		h.moved = 31
		h.message("dies after the claim", Completed)["deliveries"] = 2
		h.message("dies before the claim", Completed)
		h.message("does not suffer", Completed)
		h.called("claimed", "dies after the claim", 0, "ok")
		h.called("unclaimed", "dies before the claim", 0, "ok")
		return h
	}
	try(t, JudgeRedelivered, right, []shows{
		{"lawful: both are counted", func(h *shown) { h.messages["dies before the claim"]["deliveries"] = 2 }, "pass"},
		{"lost", func(h *shown) {
			h.messages["dies after the claim"]["status"] = "running"
			h.messages["dies after the claim"]["deliveries"] = 1
			h.tools["claimed"]["calls"] = []any{}
		},
			"calls delivered-again status"},
		{"into the message queue", func(h *shown) {
			h.message("dies after the claim", DeadLettered)["deliveries"] = 2
			h.deadLettered("dies after the claim", "crash", 2)
		}, "message-queue status"},
		{"into the tool queue", func(h *shown) { h.failed("dies before the claim", "unclaimed", 0, 1, "server_error") }, "tool-queue"},
		{"done twice", func(h *shown) { h.called("claimed", "dies after the claim", 0, "ok") }, "calls"},
		{"the others are taken along", func(h *shown) { h.messages["does not suffer"]["deliveries"] = 2 }, "others-once"},
	})
}

func TestJudgeResumes(t *testing.T) {
	right := func() *shown {
		h := newShown()
		h.moved = 31
		h.message("dies", Completed)["deliveries"] = 2
		h.message("does not suffer", Completed)
		for i, tool := range []string{"first", "second", "last"} {
			h.called(tool, "dies", i, "ok")
		}
		return h
	}
	try(t, JudgeResumes, right, []shows{
		{"from the start", func(h *shown) { h.called("first", "dies", 0, "ok"); h.called("second", "dies", 1, "ok") }, "calls calls-of-the-run"},
		{"as another run", func(h *shown) { h.messages["dies"]["runId"] = "another" }, "calls-of-the-run"},
		{"never", func(h *shown) { h.messages["dies"]["status"] = "running"; h.tools["last"]["calls"] = []any{} }, "calls calls-of-the-run status"},
		{"into the tool queue", func(h *shown) {
			h.failed("dies", "last", 2, 1, "outcome_unknown")
			h.messages["dies"]["status"] = ToolFailed
		}, "status tool-queue"},
		{"into the message queue", func(h *shown) { h.deadLettered("dies", "crash", 1) }, "message-queue"},
	})
}

func TestJudgeFallback(t *testing.T) {
	right := func() *shown {
		h := newShown()
		h.message("spent", Completed)
		h.called("failing", "spent", 0, "server_error", "server_error", "server_error")
		h.called("spare", "spent", 0, "ok")
		goneFor(h)
		h.message("open circuit", Completed)
		h.called("other spare", "open circuit", 0, "ok")
		delete(h.parts, Before)
		return h
	}
	try(t, JudgeFallback, right, []shows{
		{"into the tool queue all the same", func(h *shown) { h.failed("spent", "failing", 0, 3, "server_error") }, "tool-queue"},
		{"no fallback", func(h *shown) {
			h.message("spent", ToolFailed)
			h.failed("spent", "failing", 0, 3, "server_error")
			h.tools["spare"]["calls"] = []any{}
		}, "calls-of-the-run status tool-queue"},
		{"before the budget is spent", func(h *shown) { h.tools["failing"]["calls"] = h.tools["failing"]["calls"].([]any)[:1] }, "calls"},
		{"not with an open circuit", func(h *shown) { h.tools["other spare"]["calls"] = []any{} }, "calls-of-the-run"},
		{"both with an open circuit", func(h *shown) { h.called("gone", "open circuit", 0, "gone") }, "calls-of-the-run"},
	})
}

func TestJudgeRetryAfter(t *testing.T) {
	right := func() *shown {
		h := newShown()
		h.moved = 21
		h.message("put off", Completed)
		h.message("later", Completed)
		h.called("limited", "put off", 0, "rate_limited")
		h.part(Before).called("limited", "put off", 0, "rate_limited")
		h.now = h.now.Add(20 * time.Second)
		h.called("limited", "put off", 0, "ok")
		return h
	}
	try(t, JudgeRetryAfter, right, []shows{
		{"at once", func(h *shown) {
			h.tools["limited"]["calls"] = []any{}
			h.called("limited", "put off", 0, "rate_limited", "ok")
			h.parts[Before] = newShown()
			h.part(Before).called("limited", "put off", 0, "rate_limited", "ok")
		}, "apart not-early"},
		{"a little too early", func(h *shown) { h.tools["limited"]["calls"].([]any)[1].(object)["at"] = stamp(h.now.Add(-time.Second)) }, "apart"},
		{"never", func(h *shown) {
			h.messages["put off"]["status"] = "running"
			h.tools["limited"]["calls"] = h.tools["limited"]["calls"].([]any)[:1]
		}, "calls status"},
		{"into the tool queue", func(h *shown) { h.message("put off", ToolFailed); h.failed("put off", "limited", 0, 1, "rate_limited") }, "status tool-queue"},
	})
}
