package hosthttp

import (
	"encoding/json"
	"net/http"

	"github.com/wopwitness/wopwitness/mockhost/closedjson"
	"github.com/wopwitness/wopwitness/mockhost/parts"
)

// The bounds of a scripted tool.
const (
	longestScript = 1000
	longestDelay  = 2000 // milliseconds, in real time
	longestRetry  = 24 * 3600
)

// toolName reports whether the text can name a tool.
func toolName(s string) bool {
	if len(s) < 1 || len(s) > 64 {
		return false
	}
	for _, c := range []byte(s) {
		switch {
		case c >= 'a' && c <= 'z', c >= '0' && c <= '9', c == '.', c == '_', c == '-':
		default:
			return false
		}
	}
	return true
}

func outcomes() map[string]bool {
	out := map[string]bool{}
	for _, o := range []string{
		parts.ToolOK, parts.ServerError, parts.ToolTimeout, parts.RateLimited, parts.MalformedAnswer, parts.Locked,
		parts.BadRequest, parts.SemanticError, parts.Unauthorized, parts.Gone,
	} {
		out[o] = true
	}
	return out
}

// putTool registers a scripted tool, and answers with what was sent.
func (s *server) putTool(w http.ResponseWriter, r *http.Request) {
	p, err := s.parts.Gate.Admit(r)
	var body []byte
	var t parts.Tool
	if err == nil {
		body, err = readBody(w, r)
	}
	if err == nil {
		t, err = readToolBody(named(r, "name"), body)
	}
	if err == nil {
		err = s.parts.Agent.Bench.Put(r.Context(), p, t)
	}
	if err != nil {
		s.fail(w, r, err)
		return
	}
	writeBody(w, http.StatusOK, body)
}

func readToolBody(name string, body []byte) (parts.Tool, error) {
	t := parts.Tool{Name: name}
	var script []json.RawMessage
	var fallback *string
	err := closedjson.Object(body, map[string]any{
		"script": &script, "schema": &t.Schema, "documentation": &t.Documentation, "sideEffect": &t.SideEffect,
		"idempotent": &t.Idempotent, "fallback": &fallback,
	}, "script")
	switch {
	case err != nil:
		return t, parts.Invalid("%s", err)
	case !toolName(name):
		return t, parts.Invalid("a tool's name is 1 to 64 of a-z 0-9 . _ -")
	case len(script) < 1 || len(script) > longestScript:
		return t, parts.Invalid("script must be a list of 1 to %d outcomes", longestScript)
	case fallback != nil && !toolName(*fallback):
		return t, parts.Invalid("fallback must be the name of a tool")
	case t.Schema != nil && t.Schema[0] != '{':
		return t, parts.Invalid("schema must be an object")
	}
	if fallback != nil {
		t.Fallback = *fallback
	}
	for i, raw := range script {
		var o parts.ToolOutcome
		var retry *int
		err := closedjson.Object(raw, map[string]any{
			"outcome": &o.Outcome, "delayMs": &o.DelayMs, "retryAfterSeconds": &retry,
		}, "outcome")
		switch {
		case err != nil:
			return t, parts.Invalid("script, item %d: %s", i, err)
		case !outcomes()[o.Outcome]:
			return t, parts.Invalid("script, item %d: there is no outcome %q", i, o.Outcome)
		case o.DelayMs < 0 || o.DelayMs > longestDelay:
			return t, parts.Invalid("script, item %d: delayMs must be from 0 to %d", i, longestDelay)
		case retry != nil && (*retry < 0 || *retry > longestRetry):
			return t, parts.Invalid("script, item %d: retryAfterSeconds must be from 0 to %d", i, longestRetry)
		}
		if retry != nil {
			o.RetryAfterSeconds = *retry
		}
		t.Script = append(t.Script, o)
	}
	return t, nil
}

func (s *server) readTool(w http.ResponseWriter, r *http.Request) {
	p, err := s.parts.Gate.Admit(r)
	var v parts.ToolView
	if err == nil {
		var known bool
		if v, known, err = s.parts.Agent.Bench.Find(r.Context(), p, named(r, "name")); err == nil && !known {
			err = parts.NotFound("tool")
		}
	}
	if err != nil {
		s.fail(w, r, err)
		return
	}
	calls := make([]any, 0, len(v.Calls))
	for _, c := range v.Calls {
		calls = append(calls, map[string]any{
			"runId": c.Run, "stepIndex": c.Step, "attempt": c.Attempt, "at": instant(c.At), "outcome": c.Outcome,
		})
	}
	circuit := map[string]any{"state": v.State}
	if v.State != parts.CircuitClosed {
		circuit["openedAt"], circuit["reason"] = instant(v.Circuit.OpenedAt), v.Circuit.Reason
	}
	writeJSON(w, http.StatusOK, map[string]any{
		"calls": calls, "effects": v.Tool.Effects, "circuit": circuit, "alerts": v.Circuit.Alerts,
	})
}
