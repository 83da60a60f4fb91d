package agentdlq

import (
	"fmt"
	"testing"
	"time"

	"github.com/wopwitness/wopwitness/witness/observe"
)

func drainSays(state string, replayed, succeeded, remaining int, failed ...string) object {
	list := []any{}
	for i, status := range failed {
		list = append(list, object{"entryId": fmt.Sprint("e", i), "status": status})
	}
	return object{"state": state, "replayed": replayed, "succeeded": succeeded, "failed": list, "remaining": remaining}
}

func TestJudgePauseTool(t *testing.T) {
	const while, person = "while it is paused", "by a person"
	right := func() *shown {
		h := newShown()
		h.know("paused tool")
		h.ask(DidPause, "paused tool", 200, object{"paused": []any{"x", named("paused tool")}})
		p := h.part(while)
		p.ask(DidEntry, "other", 200, letter("other", "server_error", 1, "resolution", "replayed"))
		p.ask(DidEntry, "paused", 200, letter("paused", "server_error", 1))
		p.ask(DidDrain, "paused tool", 200, drainSays("paused", 0, 0, 1))
		p.called("paused tool", "paused", 0, "server_error")
		p.called("other tool", "other", 0, "server_error", "ok")
		h.part(person).ask(DidEntry, "paused", 200, letter("paused", "server_error", 1, "resolution", "replayed"))
		return h
	}
	try(t, JudgePauseTool, right, []shows{
		{"lawful: all is paused as well", put("", DidPause, "paused tool", []any{"*", named("paused tool")}, "paused"), "pass"},
		{"not listed", put("", DidPause, "paused tool", []any{}, "paused"), "listed"},
		{"replayed all the same", all(put(while, DidEntry, "paused", "replayed", "resolution"), func(h *shown) { h.part(while).called("paused tool", "paused", 0, "ok") }), "not-replayed"},
		{"tried all the same", func(h *shown) { h.part(while).called("paused tool", "paused", 0, "server_error") }, "not-replayed"},
		{"all is held up", put(while, DidEntry, "other", "unresolved", "resolution"), "replayed"},
		{"drained all the same", answer(while, DidDrain, "paused tool", 200, drainSays("done", 1, 1, 0)), "drain-waits"},
		{"a drain that stops", answer(while, DidDrain, "paused tool", 200, drainSays("stopped", 0, 0, 1)), "drain-waits"},
		{"a person is held up too", put(person, DidEntry, "paused", "unresolved", "resolution"), "by-a-person"},
	})
}

func TestJudgePauseAll(t *testing.T) {
	const while = "while all is paused"
	right := func() *shown {
		h := newShown()
		h.ask(DidPause, "", 200, object{"paused": []any{"*"}})
		p := h.part(while)
		for _, role := range []string{"first", "second"} {
			p.ask(DidEntry, role, 200, letter(role, "server_error", 1))
			p.called(role+" tool", role, 0, "server_error")
		}
		p.message("new", Completed)
		return h
	}
	try(t, JudgePauseAll, right, []shows{
		{"not listed", put("", DidPause, "", []any{}, "paused"), "listed"},
		{"one is replayed", all(put(while, DidEntry, "second", "replayed", "resolution"), func(h *shown) { h.part(while).called("second tool", "second", 0, "ok") }), "not-replayed"},
		{"messages are held up", func(h *shown) { h.part(while).messages["new"]["status"] = "queued" }, "messages-go-on"},
	})
}

func TestJudgeResume(t *testing.T) {
	right := func() *shown {
		h := newShown()
		h.know("tool")
		h.ask(DidResume, "tool", 200, object{"paused": []any{"*"}})
		h.ask(DidResume, "", 200, object{"paused": []any{}})
		p := h.part("while it is paused")
		p.ask(DidEntry, "message", 200, letter("message", "server_error", 1))
		p.called("tool", "message", 0, "server_error")
		h.part("resumed").ask(DidEntry, "message", 200, letter("message", "server_error", 1, "resolution", "replayed"))
		return h
	}
	try(t, JudgeResume, right, []shows{
		{"the tool is listed still", put("", DidResume, "tool", []any{named("tool"), "*"}, "paused"), "no-longer-listed"},
		{"all is listed still", put("", DidResume, "", []any{"*"}, "paused"), "no-longer-listed"},
		{"never replayed", put("resumed", DidEntry, "message", "unresolved", "resolution"), "replayed"},
		{"not paused at all", put("while it is paused", DidEntry, "message", "replayed", "resolution"), "not-replayed"},
	})
}

// drained shows a tool that a drain called at these moments.
func drained(at ...time.Duration) func(*shown) {
	return func(h *shown) {
		calls := []any{}
		for i, d := range at {
			calls = append(calls, object{"runId": fmt.Sprint("r", i), "stepIndex": 0, "attempt": 1, "at": after(-time.Second), "outcome": "bad_request"},
				object{"runId": fmt.Sprint("r", i), "stepIndex": 0, "attempt": 2, "at": after(d), "outcome": "ok"})
		}
		h.tool("tool")["calls"] = calls
	}
}

func TestJudgeBatchRate(t *testing.T) {
	const s = time.Second
	right := func() *shown {
		h := newShown()
		drained(0, s/2, s, 3*s/2, 2*s, 5*s/2)(h)
		h.ask(DidDrain, "tool", 200, drainSays("done", RateEntries, RateEntries, 0))
		return h
	}
	try(t, JudgeBatchRate, right, []shows{
		{"lawful: batch by batch", drained(0, 0, s, s, 2*s, 2*s), "pass"},
		{"lawful: slower", drained(0, s, 2*s, 3*s, 4*s, 5*s), "pass"},
		{"all at once", drained(0, 0, 0, 0, 0, 0), "rate"},
		{"twice as fast", drained(0, 0, s/2, s/2, s, s), "rate"},
		{"batches of three", drained(0, 0, 0, 3*s/2, 3*s/2, 3*s/2), "rate"},
		{"not all", all(drained(0, s/2, s, 3*s/2, 2*s), answer("", DidDrain, "tool", 200, drainSays("done", 5, 5, 1))), "calls done"},
		{"not over", put("", DidDrain, "tool", "running", "state"), "done"},
	})
}

func TestJudgeStopsOnFailures(t *testing.T) {
	right := func() *shown {
		h := newShown()
		for i := range StopEntries {
			h.called("tool", fmt.Sprint("message ", i), 0, "bad_request")
		}
		h.called("tool", "message 0", 0, "bad_request")
		h.called("tool", "message 1", 0, "bad_request")
		h.ask(DidDrain, "tool", 200, drainSays("stopped", 2, 0, 4, "tool_failed", "tool_failed"))
		return h
	}
	try(t, JudgeStopsOnFailures, right, []shows{
		{"goes on", all(answer("", DidDrain, "tool", 200, drainSays("done", 6, 0, 0, "tool_failed", "tool_failed", "tool_failed", "tool_failed", "tool_failed", "tool_failed")),
			func(h *shown) { h.called("tool", "message 2", 0, "bad_request") }), "no-more-calls stopped"},
		{"says that it is done", put("", DidDrain, "tool", "done", "state"), "stopped"},
		{"counts failures as successes", put("", DidDrain, "tool", 2, "succeeded"), "stopped"},
		{"goes on behind its word", func(h *shown) { h.called("tool", "message 2", 0, "bad_request") }, "no-more-calls"},
		{"another status", put("", DidDrain, "tool", "circuit_open", "failed", 0, "status"), "status"},
	})
}

func TestJudgeReplayedOnce(t *testing.T) {
	right := func() *shown {
		h := newShown()
		for i := range ReplayedOnceEntries {
			role := fmt.Sprint("message ", i)
			h.called("tool", role, 0, "bad_request", "ok")
			h.ask(DidEntry, role, 200, letter(role, "bad_request", 1, "resolution", "replayed"))
			h.ask(DidReplay, role, 202, object{"resolution": "unresolved"})
			h.ask(DidReplay, role, 202, object{"resolution": "replayed"})
		}
		h.tools["tool"]["effects"] = ReplayedOnceEntries
		return h
	}
	try(t, JudgeReplayedOnce, right, []shows{
		{"lawful: the second is refused", answer("", DidReplay, "message 1", 409, failure("run_state_conflict")), "pass"},
		{"both replay one", func(h *shown) { h.called("tool", "message 0", 0, "ok"); h.tools["tool"]["effects"] = 5 }, "one-effect one-replay"},
		{"neither replays one", func(h *shown) {
			put("", DidEntry, "message 2", "unresolved", "resolution")(h)
			h.tools["tool"]["calls"], h.tools["tool"]["effects"] = h.tools["tool"]["calls"].([]any)[1:], 3
		}, "one-effect one-replay replayed"},
		{"one fails", answer("", DidReplay, "message 1", 500, failure("internal")), "answered"},
		{"one is lost", func(h *shown) {
			h.in("", DidReplay, "message 1").Exchanges = []observe.Exchange{{Failure: &observe.Failure{Kind: observe.FailReset, Text: "reset"}}}
		}, "answered"},
	})
}

func TestJudgeGrouped(t *testing.T) {
	const category = "SCHEMA_VALIDATION_FAILURE"
	one, two, elsewhere := letter("schema 1", "bad_request", 1, "category", category), letter("schema 2", "bad_request", 1, "category", category), letter("elsewhere", "bad_request", 1, "category", category)
	transient := letter("transient", "server_error", 1, "category", "TRANSIENT_INFRASTRUCTURE")
	right := func() *shown {
		h := newShown()
		h.know("schema 1", "schema 2", "elsewhere", "transient")
		h.ask(DidQuery, "failing tool, schema", 200, deepPage(2, one, two))
		h.ask(DidQuery, "failing tool, transient", 200, deepPage(1, transient))
		h.ask(DidQuery, "failing tool, an hour old", 200, deepPage(0))
		h.ask(DidQuery, "schema", 200, deepPage(4, letter("of another leg", "bad_request", 1, "category", category), one, elsewhere, two))
		return h
	}
	try(t, JudgeGrouped, right, []shows{
		{"by the tool alone", answer("", DidQuery, "failing tool, schema", 200, deepPage(3, one, two, transient)), "depth nothing-else"},
		{"by the category alone", answer("", DidQuery, "failing tool, schema", 200, deepPage(4, one, two, elsewhere)), "depth nothing-else"},
		{"the age is ignored", answer("", DidQuery, "failing tool, an hour old", 200, deepPage(3, one, two, transient)), "depth nothing-else"},
		{"another category's too", answer("", DidQuery, "schema", 200, deepPage(4, one, two, elsewhere, transient)), "by-category"},
		{"not all of it", answer("", DidQuery, "schema", 200, deepPage(2, one, two)), "all-of-it"},
	})
}
