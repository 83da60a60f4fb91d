package lawfulhost

import (
	"fmt"
	"time"
)

// scriptedTool is a tool of the page's kind. Calls that never reached it are not among its calls.
type scriptedTool struct {
	name       string
	raw        members
	script     []scriptedTurn
	next       int
	sideEffect bool
	idempotent bool
	fallback   string
	keys       map[string]bool
	effects    int
	calls      []any
	openedAt   time.Time
	open       bool
	alerts     int
}

type scriptedTurn struct {
	outcome    string
	retryAfter time.Duration
}

func (s *shift) serveTool(method, name string, body members) (int, members) {
	t := s.tools[name]
	if method == "GET" {
		if t == nil {
			return refusal(404, "not_found")
		}
		circuit := members{"state": "closed"}
		if t.open {
			circuit = members{"state": "open", "openedAt": instant(t.openedAt), "reason": "it refuses everybody"}
		}
		return 200, members{"calls": t.calls, "effects": t.effects, "circuit": circuit, "alerts": t.alerts}
	}
	if t == nil {
		t = &scriptedTool{name: name, keys: map[string]bool{}, calls: []any{}}
		s.tools[name] = t
	}
	t.raw, t.next, t.script = body, 0, nil
	turns, _ := body["script"].([]any)
	for _, v := range turns {
		turn, _ := v.(members)
		outcome, _ := turn["outcome"].(string)
		seconds, _ := turn["retryAfterSeconds"].(float64)
		t.script = append(t.script, scriptedTurn{outcome, time.Duration(seconds) * time.Second})
	}
	if len(t.script) == 0 {
		return refusal(400, "validation_error")
	}
	t.sideEffect, _ = body["sideEffect"].(bool)
	t.idempotent, _ = body["idempotent"].(bool)
	t.fallback, _ = body["fallback"].(string)
	return 200, body
}

// play makes one call of the tool: what it answers, and for how long it asks to be left alone.
func (t *scriptedTool) play(m *agentMessage, step, attempt int, at time.Time) scriptedTurn {
	turn := t.script[min(t.next, len(t.script)-1)]
	t.next++
	t.calls = append(t.calls, members{"runId": m.run, "stepIndex": step, "attempt": attempt, "at": instant(at), "outcome": turn.outcome})
	key := fmt.Sprint(m.run, "/", step)
	if turn.outcome == "ok" && t.sideEffect && (!t.idempotent || !t.keys[key]) {
		t.keys[key] = true
		t.effects++
	}
	return turn
}

// statusOf is the status that an outcome has, nil where nothing answered.
func statusOf(kind string) any {
	status := map[string]int{"ok": 200, "server_error": 500, "rate_limited": 429, "malformed": 200, "locked": 423, "bad_request": 400, "semantic": 422,
		"unauthorized": 401, "gone": 410}[kind]
	if status == 0 {
		return nil
	}
	return status
}
