package agentdlq

import (
	"testing"
	"time"
)

// drained shows a tool's drain as it was read last.
func (h *shown) drained(tool, state string, replayed, succeeded, remaining int, failed ...object) {
	list := []any{}
	for _, f := range failed {
		list = append(list, f)
	}
	h.ask(DidDrain, tool, 200, object{"state": state, "replayed": replayed, "succeeded": succeeded, "failed": list, "remaining": remaining})
}

// redrained takes back what was shown of a drain before it shows another reading.
func (h *shown) redrained(tool, state string, replayed, succeeded, remaining int, failed ...object) {
	h.drop(DidDrain)
	h.drained(tool, state, replayed, succeeded, remaining, failed...)
}

// drop takes back what was asked.
func (h *shown) drop(did Did) {
	var kept []Step
	for _, s := range h.steps {
		if s.Did != did {
			kept = append(kept, s)
		}
	}
	h.steps = kept
}

// resolve shows the entry of a message as resolved in that way.
func (h *shown) resolve(role, resolution string) { h.tooled[role][0]["resolution"] = resolution }

func TestJudgeDrainResumes(t *testing.T) {
	right := func() *shown {
		h := newShown()
		h.part(Before).message("exhausted", ToolFailed)
		h.message("exhausted", Completed)["modelCalls"] = 4
		h.called("first", "exhausted", 0, "ok")
		h.called("failing", "exhausted", 1, "server_error", "ok")
		h.called("third", "exhausted", 2, "ok")
		h.failed("exhausted", "failing", 1, 2, "server_error")
		h.resolve("exhausted", "replayed")
		h.drained("failing", "done", 1, 1, 0)
		return h
	}
	try(t, JudgeDrainResumes, right, []shows{
		{"lawful: the model decides again", func(h *shown) { h.messages["exhausted"]["modelCalls"] = 5 }, "pass"},
		{"a fresh run", func(h *shown) {
			h.called("first", "another", 0, "ok")
			h.messages["exhausted"]["modelCalls"] = 6
		}, "calls remaining-model-calls same-run"},
		{"the whole run over again", func(h *shown) { h.called("first", "exhausted", 0, "ok"); h.messages["exhausted"]["modelCalls"] = 6 }, "calls remaining-model-calls"},
		{"no model call behind it", func(h *shown) { h.messages["exhausted"]["modelCalls"] = 2 }, "remaining-model-calls"},
		{"no further than the step", func(h *shown) {
			h.messages["exhausted"]["status"], h.messages["exhausted"]["modelCalls"] = ToolFailed, 2
			h.tools["third"]["calls"] = []any{}
		}, "calls remaining-model-calls status"},
		{"a second entry", func(h *shown) { h.failed("exhausted", "failing", 1, 2, "server_error") }, "resolution tool-queue"},
		{"resolved otherwise", func(h *shown) { h.resolve("exhausted", "resolved") }, "resolution"},
		{"in the message queue", func(h *shown) { h.deadLettered("exhausted", "replay", 1) }, "message-queue"},
		{"not done", func(h *shown) { h.redrained("failing", "running", 1, 1, 0) }, "drain-done"},
		{"counted otherwise", func(h *shown) { h.redrained("failing", "done", 1, 0, 1) }, "drain-counts"},
	})
}

func TestJudgeReplayIdempotent(t *testing.T) {
	right := func() *shown {
		h := newShown()
		for _, tool := range []string{"keyed", "plain"} {
			role := "of " + tool
			h.message(role, Completed)
			h.called(tool, role, 0, "server_error", "ok")
			h.failed(role, tool, 0, 2, "server_error")
			h.resolve(role, "replayed")
			h.ask(DidReplay, role, 202, object{"resolution": "unresolved"})
			h.ask(DidReplay, role, 202, object{"resolution": "unresolved"})
			h.part(Again).ask(DidReplay, role, 202, object{"resolution": "replayed"})
			h.message("behind "+tool, Completed)
			h.called(tool, "behind "+tool, 0, "ok")
			h.tools[tool]["effects"] = 2
		}
		return h
	}
	try(t, JudgeReplayIdempotent, right, []shows{
		{"lawful: one of two at once is refused", func(h *shown) { h.steps[1].Exchanges = answeredAs(409) }, "pass"},
		{"lawful: a second call under the same key", func(h *shown) { h.called("keyed", "of keyed", 0, "ok") }, "pass"},
		{"an effect a replay", func(h *shown) { h.called("plain", "of plain", 0, "ok"); h.tools["plain"]["effects"] = 3 }, "one-effect"},
		{"another key a replay", func(h *shown) { h.tools["keyed"]["effects"] = 3 }, "one-effect"},
		{"none", func(h *shown) { h.tools["keyed"]["effects"] = 1 }, "one-effect"},
		{"refused when it is replayed", func(h *shown) { h.part(Again).steps[0].Exchanges = answeredAs(409) }, "again-answered"},
		{"never taken", func(h *shown) { h.steps[0].Exchanges, h.steps[1].Exchanges = answeredAs(500), answeredAs(500) }, "replay-taken"},
		{"still unresolved", func(h *shown) { h.resolve("of plain", "unresolved") }, "resolution"},
		{"another entry", func(h *shown) { h.failed("of plain", "plain", 0, 1, "server_error") }, "resolution tool-queue"},
	})
}

func TestJudgeExpiredGoesOn(t *testing.T) {
	gone := object{"entryId": "entry of first", "status": "conversation_expired"}
	right := func() *shown {
		h := newShown()
		for _, role := range ThreeEntries() {
			h.message(role, Completed)
			h.failed(role, "failing", 0, 1, "server_error")
			h.resolve(role, "replayed")
		}
		h.messages["first"]["status"] = ToolFailed
		h.resolve("first", "unresolved")
		h.tooled["first"][0]["category"] = "CONTEXT_EVICTION"
		h.detail("first", "server_error")
		h.ask(DidReplay, "first", 409, object{"error": "conversation_expired", "message": "it is gone"})
		h.drained("failing", "done", 2, 2, 0, gone)
		return h
	}
	try(t, JudgeExpiredGoesOn, right, []shows{
		{"lawful: the one that failed is counted as replayed", func(h *shown) { h.redrained("failing", "done", 3, 2, 0, gone) }, "pass"},
		{"stops at the first", func(h *shown) {
			h.redrained("failing", "stopped", 1, 0, 2, gone)
			for _, role := range []string{"second", "third"} {
				h.messages[role]["status"] = ToolFailed
				h.resolve(role, "unresolved")
			}
		}, "drain-done resolution status succeeded"},
		{"a status like any other", func(h *shown) {
			h.redrained("failing", "done", 2, 2, 0, object{"entryId": "entry of first", "status": "tool_failed"})
		}, "status-of-its-own"},
		{"passed over in silence", func(h *shown) { h.redrained("failing", "done", 2, 2, 0) }, "fails-alone"},
		{"replayed without its conversation", func(h *shown) {
			h.redrained("failing", "done", 3, 3, 0)
			h.messages["first"]["status"] = Completed
			h.resolve("first", "replayed")
		}, "fails-alone resolution status succeeded"},
		{"a person's replay is taken", func(h *shown) { h.drop(DidReplay); h.ask(DidReplay, "first", 202, object{"resolution": "unresolved"}) }, "replay-refused"},
		{"a person's replay is refused like anything", func(h *shown) {
			h.drop(DidReplay)
			h.ask(DidReplay, "first", 409, object{"error": "run_state_conflict"})
		}, "replay-refused"},
		{"still transient", func(h *shown) { h.tooled["first"][0]["category"] = "TRANSIENT_INFRASTRUCTURE" }, "category"},
		{"discarded", func(h *shown) { h.resolve("first", "discarded") }, "resolution"},
	})
}

func TestJudgeDepthMoves(t *testing.T) {
	look := func(h *shown, when string, depth, all int) {
		part := h.part(when)
		part.drop(DidQuery)
		part.drop(DidMetrics)
		part.ask(DidQuery, when, 200, object{"entries": []any{}, "depth": depth, "oldestAgeSeconds": nil})
		part.ask(DidMetrics, "", 200, object{"dlq.depth": object{"value": all, "threshold": 100, "alert": false}})
	}
	right := func() *shown {
		h := newShown()
		look(h, Before, 0, 7)
		look(h, Full, 2, 9)
		look(h, Discarded, 1, 8)
		look(h, Empty, 0, 7)
		h.message("two", Completed)
		h.failed("two", "failing", 0, 2, "bad_request")
		return h
	}
	try(t, JudgeDepthMoves, right, []shows{
		{"lawful: somebody else resolves an entry meanwhile", func(h *shown) { look(h, Full, 2, 8); look(h, Empty, 0, 6) }, "pass"},
		{"always none", func(h *shown) { look(h, Full, 0, 9); look(h, Discarded, 0, 8) }, "depth"},
		{"the discarded count too", func(h *shown) { look(h, Discarded, 2, 8) }, "depth"},
		{"the replayed count too", func(h *shown) { look(h, Empty, 1, 7) }, "depth"},
		{"a metric that stands still", func(h *shown) { look(h, Full, 2, 7) }, "metric-falls metric-rises"},
		{"a metric that only rises", func(h *shown) { look(h, Empty, 0, 9) }, "metric-falls"},
		{"no metric", func(h *shown) {
			for _, when := range []string{Before, Full, Empty} {
				h.part(when).drop(DidMetrics)
				h.part(when).steps = append(h.part(when).steps, Step{Did: DidMetrics, Exchanges: answeredAs(404)})
			}
		}, "metric-falls metric-rises"},
	})
}

func TestJudgeAge(t *testing.T) {
	type ages = map[string]any
	shownAges := func(h *shown, changed ages) {
		h.drop(DidQuery)
		all := ages{"young": 1, "old": 102, "young again": 1, "of a tool without entries": nil}
		for query, age := range changed {
			all[query] = age
		}
		for _, query := range []string{"young", "old", "young again", "of a tool without entries"} {
			depth := 1
			if all[query] == nil {
				depth = 0
			}
			h.ask(DidQuery, query, 200, object{"entries": []any{}, "depth": depth, "oldestAgeSeconds": all[query]})
		}
	}
	right := func() *shown { h := newShown(); shownAges(h, nil); return h }
	try(t, JudgeAge, right, []shows{
		{"no age", func(h *shown) { shownAges(h, ages{"young": nil}) }, "fresh"},
		{"the age in real time", func(h *shown) { shownAges(h, ages{"old": 1}) }, "grows-old"},
		{"the age of the youngest", func(h *shown) { shownAges(h, ages{"old": 0}) }, "grows-old"},
		{"the age of what was discarded", func(h *shown) { shownAges(h, ages{"young again": 102}) }, "oldest-unresolved"},
		{"0 where there is none", func(h *shown) { shownAges(h, ages{"of a tool without entries": 0}) }, "null-where-none"},
		{"not an integer", func(h *shown) { shownAges(h, ages{"old": 102.5}) }, "grows-old"},
		{"milliseconds", func(h *shown) { shownAges(h, ages{"young": 1000, "old": 101000}) }, "fresh grows-old"},
	})
}

func TestJudgeOldestFirst(t *testing.T) {
	ran := func(h *shown, order ...string) {
		h.tools["failing"]["calls"] = h.tools["failing"]["calls"].([]any)[:3]
		for _, role := range order {
			h.called("failing", role, 0, "ok")
		}
	}
	list := func(h *shown, order ...string) {
		h.drop(DidQuery)
		var entries []object
		for _, role := range order {
			entries = append(entries, h.tooled[role]...)
		}
		h.ask(DidQuery, "all", 200, listing(entries))
	}
	right := func() *shown {
		h := newShown()
		for _, role := range ThreeEntries() {
			h.message(role, Completed)
			h.called("failing", role, 0, "server_error")
			h.failed(role, "failing", 0, 1, "server_error")
			h.resolve(role, "replayed")
		}
		list(h, ThreeEntries()...)
		ran(h, ThreeEntries()...)
		h.drained("failing", "done", 3, 3, 0)
		return h
	}
	try(t, JudgeOldestFirst, right, []shows{
		{"lawful: two of one millisecond in any order", func(h *shown) {
			h.tooled["second"][0]["firstSeenAt"] = h.tooled["first"][0]["firstSeenAt"]
			list(h, "second", "first", "third")
			ran(h, "second", "first", "third")
		}, "pass"},
		{"youngest first", func(h *shown) { ran(h, "third", "second", "first") }, "oldest-first"},
		{"in no order", func(h *shown) { ran(h, "first", "third", "second") }, "oldest-first"},
		{"one left out", func(h *shown) { ran(h, "first", "second"); h.resolve("third", "unresolved") }, "oldest-first"},
		{"listed youngest first", func(h *shown) { list(h, "third", "second", "first") }, "listed-oldest-first"},
		{"one not listed", func(h *shown) { list(h, "first", "second") }, "listed-oldest-first"},
		{"not done", func(h *shown) { h.redrained("failing", "running", 2, 2, 1); h.now = h.now.Add(time.Second) }, "drain-done"},
	})
}
