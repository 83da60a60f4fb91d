package agentdlq

import "testing"

func TestJudgeCategory(t *testing.T) {
	kinds := []string{"gone", "unreachable"}
	right := func() *shown {
		h := newShown()
		for _, kind := range kinds {
			h.message(kind, ToolFailed)
			h.failed(kind, "tool", 0, 1, kind)["category"] = "TOOL_UNAVAILABLE"
		}
		return h
	}
	try(t, judgeCategory("TOOL_UNAVAILABLE", kinds...), right, []shows{
		{"another category", entryOfRole("gone", "category", "TRANSIENT_INFRASTRUCTURE"), "category"},
		{"in other letters", entryOfRole("gone", "category", "tool_unavailable"), "category"},
		{"never classified", func(h *shown) { h.tooled["gone"][0]["category"] = nil }, "category"},
		{"unclassified", entryOfRole("unreachable", "category", "unclassified"), "category"},
		{"told as another kind", entryOfRole("unreachable", "lastError", object{"kind": "timeout", "status": nil, "message": "m"}), "kind"},
		{"no entry", func(h *shown) { h.tooled["gone"] = nil }, "one-entry"},
		{"the run goes on", func(h *shown) { h.messages["gone"]["status"] = Completed }, "status"},
	})
}

func TestJudgeUnknownReviewed(t *testing.T) {
	right := func() *shown {
		h := newShown()
		h.message("malformed", ToolFailed)
		h.failed("malformed", "tool", 0, 1, "malformed")["category"] = "unclassified"
		h.ask(DidReviews, "human", 200, page(letter("another", "bad_request", 1), letter("malformed", "malformed", 1)))
		h.ask(DidReviews, "security", 200, page())
		return h
	}
	try(t, JudgeUnknownReviewed, right, []shows{
		{"taken for transient", entryOfRole("malformed", "category", "TRANSIENT_INFRASTRUCTURE"), "category"},
		{"in no review", answer("", DidReviews, "human", 200, page(letter("another", "bad_request", 1))), "human-review"},
		{"in security review", all(answer("", DidReviews, "human", 200, page()), answer("", DidReviews, "security", 200, page(letter("malformed", "malformed", 1)))), "human-review not-in-security-review"},
		{"to be replayed by itself", put("", DidReviews, "human", after(0), "entries", 1, "nextReplayAt"), "no-next-replay"},
		{"resolved", put("", DidReviews, "human", "resolved", "entries", 1, "resolution"), "unresolved"},
		{"the review is refused", answer("", DidReviews, "human", 500, failure("internal")), "human-review"},
	})
}

func TestJudgeContextEviction(t *testing.T) {
	right := func() *shown {
		h := newShown()
		h.part("before").ask(DidEntry, "message", 200, letter("message", "server_error", 1, "category", "TRANSIENT_INFRASTRUCTURE"))
		h.part("after").ask(DidEntry, "message", 200, letter("message", "server_error", 1, "category", "CONTEXT_EVICTION"))
		return h
	}
	try(t, JudgeContextEviction, right, []shows{
		{"still transient", put("after", DidEntry, "message", "TRANSIENT_INFRASTRUCTURE", "category"), "category"},
		{"evicted from the start", put("before", DidEntry, "message", "CONTEXT_EVICTION", "category"), "category-before"},
		{"not read", func(h *shown) { h.part("after").steps = nil }, "category"},
	})
}
