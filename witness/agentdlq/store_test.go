package agentdlq

import (
	"encoding/json"
	"strings"
	"testing"
	"time"
)

func TestJudgeContext(t *testing.T) {
	args := object{"order": "A-1042", "lines": []any{object{"sku": "x-1", "count": 2}}}
	counting := func(n string) object {
		return object{"order": "A-1042", "lines": []any{object{"sku": "x-1", "count": json.RawMessage(n)}}}
	}
	right := func() *shown {
		h := newShown()
		h.message("message", ToolFailed)
		trace := strings.Repeat("4b", 16)
		e := h.failed("message", "tool", 0, 2, "server_error")
		e["toolArgs"], e["traceId"] = args, trace
		h.messages["message"]["traceId"] = trace
		h.detail("message", "server_error", "server_error")
		h.sent(DidSend, "message", 202, object{}, object{"traceparent": "00-" + trace + "-00f067aa0ba902b7-01", "workflow": object{"steps": []any{object{"tool": "tool", "args": args}}}})
		return h
	}
	history := func(h *shown) []any { return h.detailed["message"]["history"].([]any) }
	try(t, JudgeContext, right, []shows{
		{"lawful: tags", entryOfRole("message", "tags", []any{"urgent"}), "pass"},
		{"lawful: a number of the arguments written otherwise", entryOfRole("message", "toolArgs", counting("2.0")), "pass"},
		{"another number", entryOfRole("message", "toolArgs", counting("2.5")), "payload"},
		{"other arguments", entryOfRole("message", "toolArgs", object{"order": "A-1042"}), "payload"},
		{"another trace", entryOfRole("message", "traceId", "t"), "trace"},
		{"no reason", entryOfRole("message", "lastError", object{"kind": "server_error", "status": 500, "message": ""}), "reason"},
		{"another kind", entryOfRole("message", "lastError", object{"kind": "timeout", "status": nil, "message": "m"}), "reason"},
		{"the first attempt forgotten", func(h *shown) { h.detailed["message"]["history"] = history(h)[1:] }, "history"},
		{"no history", func(h *shown) { delete(h.detailed["message"], "history") }, "history"},
		{"no tags", entryOfRole("message", "tags", nil), "tags"},
		{"no entry", func(h *shown) { h.tooled["message"] = nil }, "one-entry"},
		{"the run goes on", func(h *shown) { h.messages["message"]["status"] = Completed }, "status"},
	})
}

func TestJudgeByTrace(t *testing.T) {
	first, second, other := letter("first", "bad_request", 1), letter("second", "bad_request", 1), letter("other", "bad_request", 1)
	right := func() *shown {
		h := newShown()
		h.know("first", "second", "other")
		h.ask(DidQuery, "shared trace", 200, deepPage(2, first, second))
		h.ask(DidQuery, "other trace", 200, deepPage(1, other))
		return h
	}
	try(t, JudgeByTrace, right, []shows{
		{"lawful: another order", answer("", DidQuery, "shared trace", 200, deepPage(2, second, first)), "pass"},
		{"one is missing", answer("", DidQuery, "shared trace", 200, deepPage(2, first)), "nothing-missing"},
		{"another trace's too", answer("", DidQuery, "other trace", 200, deepPage(1, other, first)), "nothing-else"},
		{"one twice", answer("", DidQuery, "shared trace", 200, deepPage(2, first, first, second)), "each-once"},
		{"counted wrongly", put("", DidQuery, "shared trace", 3, "depth"), "depth"},
		{"refused", answer("", DidQuery, "shared trace", 400, failure("validation_error")), "undecided unexpected-answer"},
		{"not read to its end", put("", DidQuery, "shared trace", "c", "nextCursor"), "undecided timeout"},
	})
}

func TestJudgeByTool(t *testing.T) {
	first, second, other := letter("first", "bad_request", 1), letter("second", "bad_request", 1), letter("other", "bad_request", 1)
	right := func() *shown {
		h := newShown()
		h.know("first", "second", "other")
		h.ask(DidQuery, "failing tool", 200, deepPage(2, first, second))
		h.ask(DidQuery, "other tool", 200, deepPage(1, other))
		return h
	}
	try(t, JudgeByTool, right, []shows{
		{"not narrowed", all(answer("", DidQuery, "failing tool", 200, deepPage(3, first, second, other)), answer("", DidQuery, "other tool", 200, deepPage(3, first, second, other))),
			"depth nothing-else"},
		{"one is missing", answer("", DidQuery, "other tool", 200, deepPage(0)), "nothing-missing"},
	})
}

func TestJudgeByResolution(t *testing.T) {
	resolutions := []string{"unresolved", "resolved", "replayed", "discarded"}
	right := func() *shown {
		h := newShown()
		h.know(resolutions...)
		var entries []object
		for _, r := range resolutions {
			e := letter(r, "bad_request", 1, "resolution", r)
			entries = append(entries, e)
			depth := 0
			if r == "unresolved" {
				depth = 1
			}
			h.ask(DidQuery, r, 200, deepPage(depth, e))
		}
		h.ask(DidQuery, "all", 200, deepPage(1, entries...))
		return h
	}
	try(t, JudgeByResolution, right, []shows{
		{"resolved ones are counted", put("", DidQuery, "all", 4, "depth"), "depth"},
		{"discarded ones are gone", answer("", DidQuery, "discarded", 200, deepPage(0)), "nothing-missing"},
		{"unresolved ones shown as resolved", answer("", DidQuery, "resolved", 200, deepPage(0, letter("resolved", "bad_request", 1), letter("unresolved", "bad_request", 1))), "nothing-else"},
	})
}

func TestJudgeAuditTrail(t *testing.T) {
	item := func(at time.Duration, by, action, resolution string, more ...any) any {
		return with(object{"at": after(at), "by": by, "action": action, "resolution": resolution}, more...)
	}
	begun := []any{item(0, "worker", "enqueued", "unresolved"), item(1, "classifier", "classified", "unresolved")}
	replayed := append(append([]any{}, begun...), item(2, "kim", "replay", "unresolved"))
	done := append(append([]any{}, replayed...), item(3, "lee", "resolve", "resolved", "notes", "done by hand"))
	right := func() *shown {
		h := newShown()
		for _, trail := range [][]any{begun, replayed, done} {
			h.ask(DidEntry, "message", 200, letter("message", "bad_request", 2, "audit", trail, "resolution", "resolved"))
		}
		h.ask(DidDiscard, "message", 409, failure("run_state_conflict"))
		return h
	}
	last := func(trail ...any) func(*shown) { return put("", DidEntry, "message", trail, "audit") }
	try(t, JudgeAuditTrail, right, []shows{
		{"overwritten", last(begun[0], begun[1], done[3]), "never-changed replay-told"},
		{"a note changed later", last(item(0, "worker", "enqueued", "unresolved", "notes", "x"), done[1], done[2], done[3]), "never-changed"},
		{"the resolution without its notes", last(done[0], done[1], done[2], item(3, "lee", "resolve", "resolved")), "resolution-told"},
		{"the resolution by nobody", last(done[0], done[1], done[2], item(3, "", "resolve", "resolved", "notes", "done by hand")), "resolution-told"},
		{"without instants", last(done[0], done[1], done[2], object{"by": "lee", "action": "resolve", "resolution": "resolved", "notes": "done by hand"}), "in-order"},
		{"no trail", put("", DidEntry, "message", gone{}, "audit"), "begins-with-the-enqueuing in-order never-changed replay-told resolution-told"},
		{"begins later", func(h *shown) {
			for i := range h.steps[:3] {
				h.steps[i].Exchanges[0] = answered(200, letter("message", "bad_request", 2, "audit", done[1:], "resolution", "resolved"))
			}
		}, "begins-with-the-enqueuing"},
		{"discarded after it was resolved", all(answer("", DidDiscard, "message", 202, object{"resolution": "discarded"}), put("", DidEntry, "message", "discarded", "resolution")), "final"},
		{"refused by another code", answer("", DidDiscard, "message", 409, failure("conflict")), "final"},
		{"read once", func(h *shown) { h.steps = h.steps[2:] }, "undecided unreadable"},
	})
}

func TestJudgeTimeToLive(t *testing.T) {
	right := func() *shown {
		h := newShown()
		h.know("message")
		h.ask(DidEntry, "message", 200, letter("message", "bad_request", 1))
		h.part("just before").ask(DidAsk, "entry", 200, letter("message", "bad_request", 1))
		late := h.part("just after")
		late.ask(DidAsk, "entry", 404, failure("not_found"))
		late.ask(DidQuery, "tool", 200, deepPage(0))
		late.ask(DidAsk, "conversation", 404, failure("not_found"))
		return h
	}
	try(t, JudgeTimeToLive, right, []shows{
		{"another time is said", put("", DidEntry, "message", after(time.Hour), "expiresAt"), "said"},
		{"no time is said", put("", DidEntry, "message", gone{}, "expiresAt"), "said"},
		{"gone too early", answer("just before", DidAsk, "entry", 404, failure("not_found")), "not-early"},
		{"never gone", all(answer("just after", DidAsk, "entry", 200, letter("message", "bad_request", 1)), answer("just after", DidQuery, "tool", 200, deepPage(1, letter("message", "bad_request", 1)))),
			"gone not-listed"},
		{"gone and listed", answer("just after", DidQuery, "tool", 200, deepPage(1, letter("message", "bad_request", 1))), "not-listed"},
		{"gone by another code", answer("just after", DidAsk, "entry", 404, failure("gone")), "gone"},
		{"the conversation is kept", answer("just after", DidAsk, "conversation", 204, nil), "conversation-gone"},
	})
}

func TestJudgeScoped(t *testing.T) {
	right := func() *shown {
		h := newShown()
		h.know("message")
		other, own := h.part("as another tenant"), h.part("as the owner")
		for _, what := range []string{"entry", "tool", "message", "trace", "impact", "replay"} {
			other.ask(DidAsk, what, 404, failure("not_found"))
		}
		other.ask(DidQuery, "entries", 200, deepPage(0))
		other.ask(DidQuery, "invocations", 200, page())
		own.ask(DidEntry, "message", 200, letter("message", "bad_request", 1))
		own.called("tool", "message", 0, "bad_request")
		return h
	}
	try(t, JudgeScoped, right, []shows{
		{"the entry is shown", answer("as another tenant", DidAsk, "entry", 200, letter("message", "bad_request", 1)), "not-there"},
		{"the tool is shown", answer("as another tenant", DidAsk, "tool", 200, object{}), "not-there"},
		{"refused as another's", answer("as another tenant", DidAsk, "message", 403, failure("forbidden")), "not-there"},
		{"listed", answer("as another tenant", DidQuery, "entries", 200, page(letter("message", "bad_request", 1))), "not-listed"},
		{"an invocation is listed", answer("as another tenant", DidQuery, "invocations", 200, page(object{"invocationId": "i"})), "not-listed"},
		{"replayed by another", all(answer("as another tenant", DidAsk, "replay", 202, object{}), put("as the owner", DidEntry, "message", "replayed", "resolution"),
			func(h *shown) { h.part("as the owner").called("tool", "message", 0, "ok") }), "not-replayed not-there untouched"},
	})
}
