package agent

import (
	"context"
	"slices"
	"time"

	"github.com/wopwitness/wopwitness/mockhost/agent/keep"
	"github.com/wopwitness/wopwitness/mockhost/parts"
	"github.com/wopwitness/wopwitness/mockhost/store"
)

// outcome writes what came of an attempt, and everything that follows from it.
func (d *delivery) outcome(ctx context.Context, failure *parts.ToolError) (over bool, err error) {
	ports := d.worker.parts.Agent
	err = d.write(ctx, "write the outcome of a call", func(tx store.Tx, m *parts.Message, now time.Time) (hold, error) {
		halfOpen, err := ports.Breaker.Learn(tx, *m, d.inv.Tool, failure, now)
		if err != nil {
			return hold{}, err
		}
		if err := d.callSpan(tx, m, failure, now); err != nil {
			return hold{}, err
		}
		if failure == nil {
			return hold{}, d.succeeded(tx, m, now)
		}
		if m.Replaying != "" {
			over = true
			return d.replayFailed(tx, m, *failure, now)
		}
		told := *failure
		if halfOpen {
			told.Kind = parts.CircuitOpen
		}
		h, err := d.routed(tx, m, told, *failure, now)
		over = h.back
		return h, err
	})
	return over, err
}

func (d *delivery) succeeded(tx store.Tx, m *parts.Message, now time.Time) error {
	if err := d.worker.parts.Agent.Interceptor.Ended(tx, &d.inv, parts.InvocationSuccess, nil, now); err != nil {
		return err
	}
	at := &m.Progress[d.inv.Step]
	at.State, at.SideEffect, at.Tool = parts.StepDone, d.inv.SideEffect, d.inv.Tool
	m.Current = ""
	d.said(parts.Turn{Role: parts.RoleTool, Step: d.inv.Step, Tool: d.inv.Tool})
	if err := d.keepConversation(tx); err != nil {
		return err
	}
	if m.Replaying != "" {
		return d.replaySucceeded(tx, m, now)
	}
	return nil
}

// routed sends a failed attempt, or a call that wasn't made, where the router says. cause is the failure as the record of
// the call keeps it.
func (d *delivery) routed(tx store.Tx, m *parts.Message, failure, cause parts.ToolError, now time.Time) (hold, error) {
	ports := d.worker.parts.Agent
	tool, _, err := keep.Tools.Get(tx, m.Tenant, d.inv.Tool)
	if err != nil {
		return hold{}, err
	}
	at := &m.Progress[d.inv.Step]
	at.Tried = append(slices.Clone(at.Tried), d.inv.Tool)
	fallback := tool.Fallback
	if slices.Contains(at.Tried, fallback) {
		fallback = ""
	}
	route := ports.Router.Route(parts.FailedAttempt{
		Message: *m, Invocation: d.inv, Error: failure, Fallback: fallback, Idempotent: tool.Idempotent,
	})
	switch route {
	case parts.RouteDeadLetter:
		return d.toQueue(tx, m, failure, now)
	case parts.RouteMessage:
		if err := d.recordFailed(tx, parts.InvocationDeadLettered, cause, now); err != nil {
			return hold{}, err
		}
		return hold{back: true}, d.worker.bury(tx, m, failure.Kind, failure, now)
	}
	if err := d.recordFailed(tx, parts.InvocationFailed, cause, now); err != nil {
		return hold{}, err
	}
	told := failure.Kind
	switch route {
	case parts.RouteRetry:
		at.Tried = at.Tried[:len(at.Tried)-1]
		if failure.RetryAfter > 0 {
			m.Wait = now.Add(failure.RetryAfter)
		}
	case parts.RouteFallback:
		told = parts.RouteFallback
		at.Tool, m.Current = fallback, ""
	default:
		told = parts.CircuitOpen
		m.Current = ""
		skip(m, d.inv.Step)
	}
	d.said(parts.Turn{Role: parts.RoleTool, Step: d.inv.Step, Tool: d.inv.Tool, Error: told, Text: failure.Message})
	return hold{}, d.keepConversation(tx)
}

// recordFailed writes the end of an attempt into its record; a call that wasn't made has none.
func (d *delivery) recordFailed(tx store.Tx, status string, failure parts.ToolError, now time.Time) error {
	if d.inv.Status != parts.InvocationInFlight {
		return nil
	}
	return d.worker.parts.Agent.Interceptor.Ended(tx, &d.inv, status, &failure, now)
}

// skip leaves a step out, and those that depend on it, directly or through others.
func skip(m *parts.Message, step int) {
	m.Progress[step].State = parts.StepSkipped
	for i := range m.Steps {
		for _, on := range m.Steps[i].DependsOn {
			if m.Progress[on].State == parts.StepSkipped && m.Progress[i].State == "" {
				m.Progress[i].State = parts.StepSkipped
			}
		}
	}
}

// toQueue ends the run in the tool queue.
func (d *delivery) toQueue(tx store.Tx, m *parts.Message, failure parts.ToolError, now time.Time) (hold, error) {
	ports := d.worker.parts.Agent
	if err := d.recordFailed(tx, parts.InvocationDeadLettered, failure, now); err != nil {
		return hold{}, err
	}
	m.Status = parts.MessageToolFailed
	m.Progress[d.inv.Step].State = parts.StepFailed
	m.Current = ""
	d.said(parts.Turn{Role: parts.RoleTool, Step: d.inv.Step, Tool: d.inv.Tool, Error: failure.Kind, Text: failure.Message})
	if err := d.keepConversation(tx); err != nil {
		return hold{}, err
	}
	e, err := ports.Entries.Tool(*m, d.inv, failure, now)
	if err != nil {
		return hold{}, err
	}
	e.Span = hexID(8)
	if err := ports.Tracer.Record(tx, parts.Span{
		Tenant: m.Tenant, Name: parts.SpanEnqueue, TraceID: m.TraceID, SpanID: e.Span, Parent: m.Span, Start: now, End: now,
		Attributes: map[string]any{
			"dlq.invocation_id": d.inv.ID, "dlq.tool_name": d.inv.Tool, "dlq.failure_reason": failure.Kind, "dlq.attempt_count": d.inv.Attempts,
		},
		Links: []parts.SpanLink{{TraceID: m.TraceID, SpanID: d.inv.Span}},
	}); err != nil {
		return hold{}, err
	}
	if err := ports.Queues.Append(tx, &e, now); err != nil {
		return hold{}, err
	}
	return hold{back: true}, d.span(tx, m, now)
}

// callSpan records one attempt.
func (d *delivery) callSpan(tx store.Tx, m *parts.Message, failure *parts.ToolError, now time.Time) error {
	outcome := parts.ToolOK
	if failure != nil {
		outcome = failure.Kind
	}
	return d.worker.parts.Agent.Tracer.Record(tx, parts.Span{
		Tenant: m.Tenant, Name: parts.SpanToolCall, TraceID: m.TraceID, SpanID: d.inv.Span, Parent: m.Span, Start: d.inv.SpanAt, End: now,
		Attributes: map[string]any{
			"tool.name": d.inv.Tool, "tool.attempt": d.inv.Attempts, "tool.outcome": outcome, "run.id": m.Run, "run.step": d.inv.Step,
		},
	})
}
