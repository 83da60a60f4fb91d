package agentdlq

import "testing"

func quoting(words string) object {
	return object{"kind": "bad_request", "status": 400, "message": words}
}

func TestJudgeAtThreshold(t *testing.T) {
	right := func() *shown {
		h := newShown()
		h.message("mended", Completed)
		h.called("mended tool", "mended", 0, "semantic", "ok")
		h.tools["mended tool"]["effects"] = 1
		h.called("quoting tool", "quoting", 0, "semantic", "bad_request")
		h.ask(DidEntry, "mended", 200, letter("mended", "semantic", 2, "resolution", "replayed", "audit", []any{object{"by": "repairer", "action": "repair"}}))
		h.ask(DidEntry, "quoting", 200, letter("quoting", "bad_request", 2, "lastError", quoting(`can't take {"order":"`+RepairedMark+`"}`)))
		return h
	}
	try(t, JudgeAtThreshold, right, []shows{
		{"only above the threshold", func(h *shown) {
			put("", DidEntry, "mended", "unresolved", "resolution")(h)
			put("", DidEntry, "mended", []any{}, "audit")(h)
			h.messages["mended"]["status"] = ToolFailed
			for _, tool := range []string{"mended tool", "quoting tool"} {
				h.tools[tool]["calls"] = h.tools[tool]["calls"].([]any)[:1]
			}
			h.tools["mended tool"]["effects"] = 0
			put("", DidEntry, "quoting", quoting(`can't take {"order":"A-1042"}`), "lastError")(h)
		}, "calls one-effect proposed-arguments replayed told"},
		{"replayed as it was", put("", DidEntry, "quoting", quoting(`can't take {"order":"A-1042"}`), "lastError"), "proposed-arguments"},
		{"the run doesn't go on", func(h *shown) { h.messages["mended"]["status"] = ToolFailed }, "replayed"},
		{"not told", put("", DidEntry, "mended", []any{}, "audit"), "told"},
		{"the effect twice", func(h *shown) { h.tools["mended tool"]["effects"] = 2 }, "one-effect"},
	})
}

func TestJudgeBelowThreshold(t *testing.T) {
	proposal := object{"payload": object{"order": RepairedMark}, "confidence": 0.84}
	right := func() *shown {
		h := newShown()
		h.know("message")
		h.called("tool", "message", 0, "semantic")
		h.sent(DidRepairer, "tool", 200, object{}, with(proposal, "tool", named("tool")))
		h.ask(DidReviews, "human", 200, page(letter("message", "semantic", 1, "proposal", proposal)))
		h.ask(DidReviews, "security", 200, page())
		return h
	}
	try(t, JudgeBelowThreshold, right, []shows{
		{"replayed below the threshold", all(func(h *shown) { h.called("tool", "message", 0, "ok") }, answer("", DidReviews, "human", 200, page())), "calls human-review"},
		{"the proposal is lost", put("", DidReviews, "human", gone{}, "entries", 0, "proposal"), "confidence proposal"},
		{"another payload", put("", DidReviews, "human", object{}, "entries", 0, "proposal", "payload"), "proposal"},
		{"another confidence", put("", DidReviews, "human", 0.9, "entries", 0, "proposal", "confidence"), "confidence"},
	})
}

func TestJudgeSemanticOnly(t *testing.T) {
	kinds := []string{"bad_request", "server_error", "unauthorized", "unreachable"}
	right := func() *shown {
		h := newShown()
		for _, kind := range kinds {
			h.ask(DidEntry, kind, 200, letter(kind, kind, 1, "audit", []any{object{"by": "worker", "action": "enqueued"}}))
			if kind != "unreachable" {
				h.called(kind+" tool", kind, 0, kind)
			}
		}
		h.ask(DidEntry, "semantic", 200, letter("semantic", "semantic", 2, "resolution", "replayed"))
		return h
	}
	try(t, JudgeSemanticOnly, right, []shows{
		{"a bad request is repaired", all(put("", DidEntry, "bad_request", "replayed", "resolution"), func(h *shown) { h.called("bad_request tool", "bad_request", 0, "ok") }), "not-called-again not-repaired"},
		{"a refused credential is repaired in vain", put("", DidEntry, "unauthorized", []any{object{"by": "repairer", "action": "repair"}}, "audit"), "not-repaired"},
		{"a proposal for a bad request", put("", DidEntry, "bad_request", object{"payload": object{}, "confidence": 0.5}, "proposal"), "no-proposal"},
		{"nothing is repaired", put("", DidEntry, "semantic", "unresolved", "resolution"), "undecided no-cause"},
	})
}

func TestJudgeRuleFirst(t *testing.T) {
	says := func(start string) object {
		return quoting(`can't take {"end":"` + LaterDay + `","start":"` + start + `"}`)
	}
	right := func() *shown {
		h := newShown()
		h.called("tool", "message", 0, "semantic", "bad_request")
		h.ask(DidEntry, "message", 200, letter("message", "bad_request", 2, "lastError", says(EarlierDay)))
		return h
	}
	try(t, JudgeRuleFirst, right, []shows{
		{"lawful: quoted otherwise", put("", DidEntry, "message", quoting("map[end:"+LaterDay+" start:"+EarlierDay+"]"), "lastError"), "pass"},
		{"lawful: quoted within a text", put("", DidEntry, "message", quoting(`{\"start\":\"`+EarlierDay+`\"}`), "lastError"), "pass"},
		{"the scripted one's is taken", put("", DidEntry, "message", says(RepairedMark), "lastError"), "not-the-model's swapped"},
		{"replayed as it was", put("", DidEntry, "message", quoting(`{"end":"`+EarlierDay+`","start":"`+LaterDay+`"}`), "lastError"), "swapped"},
		{"not replayed", all(put("", DidEntry, "message", quoting("no"), "lastError"), func(h *shown) { h.tools["tool"]["calls"] = h.tools["tool"]["calls"].([]any)[:1] }), "calls swapped"},
	})
}
