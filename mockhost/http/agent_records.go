package hosthttp

import (
	"net/http"

	"github.com/wopwitness/wopwitness/mockhost/parts"
)

// readInvocations lists the records of calls, oldest first.
func (s *server) readInvocations(w http.ResponseWriter, r *http.Request) {
	p, err := s.parts.Gate.Admit(r)
	var q parts.InvocationQuery
	ask := r.URL.Query()
	if err == nil {
		q.TraceID, err = text(ask, "traceId")
	}
	if err == nil {
		q.Status, err = oneOf(ask, "status", parts.InvocationPending, parts.InvocationInFlight, parts.InvocationSuccess,
			parts.InvocationFailed, parts.InvocationDeadLettered)
	}
	if err == nil {
		q.After, q.Limit, err = agentPage(ask)
	}
	limit := q.Limit
	var found []parts.Invocation
	if err == nil {
		q.Limit++
		found, err = s.parts.Agent.Interceptor.List(r.Context(), p, q)
	}
	if err != nil {
		s.fail(w, r, err)
		return
	}
	writeJSON(w, http.StatusOK, paged(found, limit, func(i parts.Invocation) int64 { return i.Seq }, s.invocation))
}

func (s *server) invocation(i parts.Invocation) map[string]any {
	history := make([]any, 0, len(i.History))
	for _, h := range i.History {
		history = append(history, map[string]any{"status": h.Status, "at": instant(h.At)})
	}
	out := map[string]any{
		"invocationId": i.ID, "agentId": i.Agent, "toolName": i.Tool, "payload": s.parts.Agent.Redactor.JSON(i.Payload),
		"workflowTraceId": i.TraceID, "attemptCount": i.Attempts, "maxAttempts": i.MaxAttempts, "createdAt": instant(i.At),
		"status": i.Status, "history": history,
	}
	if !i.LastAt.IsZero() {
		out["lastAttemptedAt"] = instant(i.LastAt)
	}
	if i.Failure != nil {
		out["failureReason"] = s.parts.Agent.Redactor.Text(i.Failure.Kind + ": " + i.Failure.Message)
	}
	return out
}

// readTrace shows the spans of a trace, and those that they lead to.
func (s *server) readTrace(w http.ResponseWriter, r *http.Request) {
	p, err := s.parts.Gate.Admit(r)
	var found []parts.Span
	if err == nil {
		if found, err = s.parts.Agent.Tracer.Trace(r.Context(), p, named(r, "trace")); err == nil && len(found) == 0 {
			err = parts.NotFound("trace")
		}
	}
	if err != nil {
		s.fail(w, r, err)
		return
	}
	spans := make([]any, 0, len(found))
	for _, span := range found {
		spans = append(spans, s.span(span))
	}
	writeJSON(w, http.StatusOK, map[string]any{"spans": spans})
}

func (s *server) span(span parts.Span) map[string]any {
	links := make([]any, 0, len(span.Links))
	for _, l := range span.Links {
		links = append(links, map[string]any{"traceId": l.TraceID, "spanId": l.SpanID})
	}
	attributes := map[string]any{}
	for name, value := range span.Attributes {
		if t, ok := value.(string); ok {
			value = s.parts.Agent.Redactor.Text(t)
		}
		attributes[name] = value
	}
	out := map[string]any{
		"name": span.Name, "traceId": span.TraceID, "spanId": span.SpanID, "startAt": instant(span.Start), "endAt": instant(span.End),
		"attributes": attributes, "links": links,
	}
	if span.Parent != "" {
		out["parentSpanId"] = span.Parent
	}
	return out
}
