package agentdlq

import (
	"fmt"
	"testing"
	"time"
)

func TestBackOff(t *testing.T) {
	for attempts, want := range map[int64]time.Duration{1: time.Minute, 2: 2 * time.Minute, 3: 4 * time.Minute, 6: 32 * time.Minute, 7: time.Hour, 11: time.Hour, 1 << 40: time.Hour} {
		if got := BackOff(attempts); got != want {
			t.Errorf("after %d attempts %s, want %s", attempts, got, want)
		}
	}
}

// waiting shows the entry of a message that is replayed so long after its last attempt.
func (h *shown) waiting(role string, attempts int, wait time.Duration) {
	h.message(role, ToolFailed)
	h.failed(role, "tool", 0, attempts, "server_error")["nextReplayAt"] = stamp(h.now.Add(wait))
}

func waits(role string, wait time.Duration) func(*shown) {
	return func(h *shown) { h.tooled[role][0]["nextReplayAt"] = stamp(h.now.Add(wait)) }
}

func TestJudgeBackOff(t *testing.T) {
	right := func() *shown {
		h := newShown()
		h.waiting("one attempt", 1, 60*time.Second)
		h.waiting("two attempts", 2, 144*time.Second)
		h.waiting("three attempts", 3, 260*time.Second)
		return h
	}
	try(t, JudgeBackOff, right, []shows{
		{"lawful: the other end", waits("three attempts", 288*time.Second), "pass"},
		{"too soon by a millisecond more than rounding", waits("one attempt", time.Minute-3*time.Millisecond), "not-too-soon"},
		{"one doubling too few", waits("three attempts", 130*time.Second), "not-too-soon"},
		{"one doubling too many", waits("one attempt", 130*time.Second), "not-too-late"},
		{"more jitter than a fifth", waits("three attempts", 289*time.Second), "not-too-late"},
		{"no instant", func(h *shown) { h.tooled["one attempt"][0]["nextReplayAt"] = nil }, "not-too-late not-too-soon"},
		{"attempts miscounted", entryOfRole("two attempts", "attempts", 1), "attempts"},
	})
}

func TestJudgeCap(t *testing.T) {
	right := func() *shown {
		h := newShown()
		h.waiting("six attempts", 6, 1920*time.Second)
		h.waiting("seven attempts", 7, 3600*time.Second)
		h.waiting("eleven attempts", 11, 4320*time.Second)
		return h
	}
	try(t, JudgeCap, right, []shows{
		{"no cap", waits("seven attempts", 3840*2*time.Second), "not-too-late"},
		{"no cap at eleven", waits("eleven attempts", 30<<11*time.Second), "not-too-late"},
		{"a cap of half an hour", all(waits("six attempts", 1800*time.Second), waits("seven attempts", 1800*time.Second)), "not-too-soon"},
	})
}

func TestJudgeJitter(t *testing.T) {
	right := func() *shown {
		h := newShown()
		for i := range JitterEntries {
			h.waiting(fmt.Sprintf("message %d", i), 1, time.Minute+time.Duration(i)*time.Second)
		}
		return h
	}
	same := func(wait time.Duration) func(*shown) {
		return func(h *shown) {
			for i := range JitterEntries {
				waits(fmt.Sprintf("message %d", i), wait)(h)
			}
		}
	}
	try(t, JudgeJitter, right, []shows{
		{"none", same(time.Minute), "drawn-anew"},
		{"one for all", same(66 * time.Second), "drawn-anew"},
		{"too much", waits("message 3", 73*time.Second), "not-too-late"},
		{"backwards", waits("message 3", 59*time.Second), "not-too-soon"},
	})
}

func TestJudgeReplaysTransient(t *testing.T) {
	right := func() *shown {
		h := newShown()
		h.part("before it is due").called("tool", "message", 0, "server_error")
		due := h.part("once it is due")
		due.message("message", Completed)
		due.called("tool", "message", 0, "server_error", "ok")
		due.tools["tool"]["effects"] = 1
		due.ask(DidEntry, "message", 200, letter("message", "server_error", 1, "resolution", "replayed", "audit", []any{object{"by": "recovery", "action": "replay"}}))
		return h
	}
	try(t, JudgeReplaysTransient, right, []shows{
		{"replayed at once", func(h *shown) { h.part("before it is due").called("tool", "message", 0, "ok") }, "not-early"},
		{"never replayed", func(h *shown) {
			due := h.part("once it is due")
			due.messages["message"]["status"] = ToolFailed
			delete(due.tools, "tool")
			due.called("tool", "message", 0, "server_error")
			put("once it is due", DidEntry, "message", "unresolved", "resolution")(h)
			put("once it is due", DidEntry, "message", []any{}, "audit")(h)
		}, "calls one-effect replayed run-goes-on told"},
		{"the run doesn't go on", func(h *shown) { h.part("once it is due").messages["message"]["status"] = ToolFailed }, "run-goes-on"},
		{"two effects", func(h *shown) { h.part("once it is due").tools["tool"]["effects"] = 2 }, "one-effect"},
		{"not told", put("once it is due", DidEntry, "message", []any{}, "audit"), "told"},
	})
}

func TestJudgeLimit(t *testing.T) {
	right := func() *shown {
		h := newShown()
		h.know("message")
		e := letter("message", "server_error", 7)
		h.ask(DidEntry, "message", 200, e)
		h.called("tool", "message", 0, "server_error", "server_error", "server_error", "server_error", "server_error", "server_error", "server_error")
		h.ask(DidReviews, "human", 200, page(e))
		h.ask(DidReviews, "security", 200, page())
		return h
	}
	none := func(h *shown) {
		h.numbers.AutomaticReplays, h.numbers.NoAutomaticReplays = 0, true
	}
	once := func(h *shown) { h.tools["tool"]["calls"] = h.tools["tool"]["calls"].([]any)[:1] }
	try(t, JudgeLimit, right, []shows{
		{"lawful: no automatic replay", all(none, once, put("", DidEntry, "message", 1, "attempts")), "pass"},
		{"a replay where none is automatic", none, "attempts calls"},
		{"one replay too many", all(func(h *shown) { h.called("tool", "message", 0, "server_error") }, put("", DidEntry, "message", 8, "attempts")), "attempts calls"},
		{"given up too soon", all(put("", DidEntry, "message", 4, "attempts"), func(h *shown) { h.tools["tool"]["calls"] = h.tools["tool"]["calls"].([]any)[:4] }), "attempts calls"},
		{"in no review", answer("", DidReviews, "human", 200, page()), "human-review"},
		{"to be replayed again", put("", DidReviews, "human", after(time.Hour), "entries", 0, "nextReplayAt"), "no-next-replay"},
	})
}

func TestJudgeReviewed(t *testing.T) {
	right := func() *shown {
		h := newShown()
		h.know("bad_request", "gone", "unreachable")
		h.ask(DidReviews, "human", 200, page(letter("bad_request", "bad_request", 1), letter("gone", "gone", 1), letter("unreachable", "unreachable", 1)))
		h.ask(DidReviews, "security", 200, page())
		return h
	}
	try(t, JudgeSchemaReviewed, right, []shows{
		{"in no review", answer("", DidReviews, "human", 200, page()), "human-review"},
		{"to be replayed by itself", put("", DidReviews, "human", after(time.Minute), "entries", 0, "nextReplayAt"), "no-next-replay"},
	})
	try(t, JudgeUnavailableReviewed, right, []shows{
		{"one in no review", answer("", DidReviews, "human", 200, page(letter("gone", "gone", 1))), "human-review"},
		{"one in security review", answer("", DidReviews, "security", 200, page(letter("gone", "gone", 1))), "not-in-security-review"},
	})
}

func TestJudgeAuthorization(t *testing.T) {
	right := func() *shown {
		h := newShown()
		h.know("message")
		in := h.part("in time")
		in.ask(DidReviews, "security", 200, page(letter("message", "unauthorized", 1)))
		in.ask(DidReviews, "human", 200, page())
		in.called("tool", "message", 0, "unauthorized")
		by := h.part("by a drain")
		by.ask(DidDrain, "tool", 200, object{"state": "done", "replayed": 0, "succeeded": 0, "failed": []any{}, "remaining": 0})
		by.called("tool", "message", 0, "unauthorized")
		person := h.part("by a person")
		person.ask(DidEntry, "message", 200, letter("message", "unauthorized", 1, "resolution", "replayed"))
		person.called("tool", "message", 0, "unauthorized", "ok")
		return h
	}
	try(t, JudgeAuthorization, right, []shows{
		{"replayed by itself", func(h *shown) { h.part("in time").called("tool", "message", 0, "ok") }, "calls"},
		{"in human review", all(answer("in time", DidReviews, "security", 200, page()), answer("in time", DidReviews, "human", 200, page(letter("message", "unauthorized", 1)))),
			"not-in-human-review security-review"},
		{"drained", all(put("by a drain", DidDrain, "tool", 1, "replayed"), func(h *shown) { h.part("by a drain").called("tool", "message", 0, "ok") }), "drain-calls passed-over"},
		{"the drain never ends", put("by a drain", DidDrain, "tool", "running", "state"), "passed-over"},
		{"not even a person can", put("by a person", DidEntry, "message", "unresolved", "resolution"), "by-a-person"},
	})
}

func TestJudgeContextGone(t *testing.T) {
	right := func() *shown {
		h := newShown()
		h.know("message")
		h.ask(DidReplay, "message", 409, failure("conversation_expired"))
		late := h.part("after")
		late.called("tool", "message", 0, "server_error")
		late.ask(DidReviews, "human", 200, page(letter("message", "server_error", 1)))
		late.ask(DidReviews, "security", 200, page())
		return h
	}
	try(t, JudgeContextGone, right, []shows{
		{"replayed all the same", all(answer("", DidReplay, "message", 202, object{"resolution": "replayed"}), func(h *shown) { h.part("after").called("tool", "message", 0, "ok") }), "calls says-so"},
		{"refused by another code", answer("", DidReplay, "message", 409, failure("run_state_conflict")), "says-so"},
		{"waits for a replay", put("after", DidReviews, "human", after(time.Minute), "entries", 0, "nextReplayAt"), "no-next-replay"},
		{"nobody is told", answer("after", DidReviews, "human", 200, page()), "human-review"},
	})
}
