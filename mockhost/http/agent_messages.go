package hosthttp

import (
	"encoding/json"
	"net/http"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/wopwitness/wopwitness/mockhost/closedjson"
	"github.com/wopwitness/wopwitness/mockhost/parts"
)

// The bounds of a message.
const (
	longestMessageID = 200
	mostSteps        = 100
	mostRetries      = 10
	usualRetries     = 2
)

func (s *server) acceptMessage(w http.ResponseWriter, r *http.Request) {
	p, err := s.parts.Gate.Admit(r)
	var body []byte
	var m parts.MessageRequest
	if err == nil {
		body, err = readBody(w, r)
	}
	if err == nil {
		m, err = readMessageBody(body)
	}
	if err == nil {
		err = s.parts.Agent.Intake.Accept(r.Context(), p, m)
	}
	if err != nil {
		s.fail(w, r, err)
		return
	}
	writeJSON(w, http.StatusAccepted, map[string]any{"messageId": m.ID})
}

func readMessageBody(body []byte) (parts.MessageRequest, error) {
	m := parts.MessageRequest{RetryBudget: usualRetries}
	var workflow json.RawMessage
	var crashAt, trace *string
	err := closedjson.Object(body, map[string]any{
		"messageId": &m.ID, "body": &m.Body, "workflow": &workflow, "purpose": &m.Purpose, "retryBudget": &m.RetryBudget,
		"crashAt": &crashAt, "traceparent": &trace,
	}, "messageId", "body", "workflow")
	points := []string{
		parts.CrashBeforeClaim, parts.CrashAfterClaim, parts.CrashAfterWrite, parts.CrashAfterDispatch, parts.CrashAfterResult,
	}
	switch {
	case err != nil:
		return m, parts.Invalid("%s", err)
	case m.ID == "" || len(m.ID) > longestMessageID || !plain(m.ID):
		return m, parts.Invalid("messageId must be a text of 1 to %d bytes, without control characters and halves of characters", longestMessageID)
	case m.RetryBudget < 0 || m.RetryBudget > mostRetries:
		return m, parts.Invalid("retryBudget must be from 0 to %d", mostRetries)
	case crashAt != nil && !slices.Contains(points, *crashAt):
		return m, parts.Invalid("crashAt must be one of %v", points)
	case trace != nil && *trace == "":
		return m, parts.Invalid("traceparent may not be empty")
	}
	if crashAt != nil {
		m.CrashAt = *crashAt
	}
	if trace != nil {
		m.TraceParent = *trace
	}
	var steps []json.RawMessage
	if err := closedjson.Object(workflow, map[string]any{"steps": &steps}, "steps"); err != nil {
		return m, parts.Invalid("workflow: %s", err)
	}
	if len(steps) < 1 || len(steps) > mostSteps {
		return m, parts.Invalid("workflow: steps must be a list of 1 to %d", mostSteps)
	}
	for i, raw := range steps {
		step, err := readStep(i, raw)
		if err != nil {
			return m, err
		}
		m.Steps = append(m.Steps, step)
	}
	return m, nil
}

// plain says that a text can be an id: no store or log reads it otherwise than another. Half a surrogate pair has become U+FFFD
// by now, and two ids that differ in that alone would be one.
func plain(id string) bool {
	return !strings.ContainsFunc(id, func(r rune) bool { return unicode.IsControl(r) || r == utf8.RuneError })
}

func readStep(i int, raw json.RawMessage) (parts.Step, error) {
	var step parts.Step
	err := closedjson.Object(raw, map[string]any{"tool": &step.Tool, "args": &step.Args, "dependsOn": &step.DependsOn}, "tool", "args")
	switch {
	case err != nil:
		return step, parts.Invalid("step %d: %s", i, err)
	case !toolName(step.Tool):
		return step, parts.Invalid("step %d: tool must be the name of a tool", i)
	case step.Args[0] != '{':
		return step, parts.Invalid("step %d: args must be an object", i)
	}
	for _, on := range step.DependsOn {
		if on < 0 || on >= i {
			return step, parts.Invalid("step %d: dependsOn must list lower steps", i)
		}
	}
	return step, nil
}

func (s *server) readMessage(w http.ResponseWriter, r *http.Request) {
	p, err := s.parts.Gate.Admit(r)
	var m parts.Message
	if err == nil {
		var known bool
		if m, known, err = s.parts.Agent.Intake.Find(r.Context(), p, named(r, "id")); err == nil && !known {
			err = parts.NotFound("message")
		}
	}
	if err != nil {
		s.fail(w, r, err)
		return
	}
	answer := map[string]any{
		"messageId": m.ID, "status": m.Status, "deliveries": m.Deliveries, "modelCalls": m.ModelCalls,
		"tokensSpent": tokens(m.Tokens), "traceId": m.TraceID,
	}
	if m.Run != "" {
		answer["runId"] = m.Run
	}
	writeJSON(w, http.StatusOK, answer)
}
