package agent

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"time"

	"github.com/wopwitness/wopwitness/mockhost/agent/keep"
	"github.com/wopwitness/wopwitness/mockhost/parts"
	"github.com/wopwitness/wopwitness/mockhost/store"
)

// step does what comes next of the run: a turn of the model, and the call that it decides on. It says true when the
// worker has let go of the message.
func (d *delivery) step(ctx context.Context) (over bool, err error) {
	if d.m.Current != "" {
		switch d.inv.Status {
		case parts.InvocationInFlight:
			if d.sent {
				d.sent = false
				return d.call(ctx, true)
			}
			return d.found(ctx)
		case parts.InvocationPending:
			return d.call(ctx, false)
		}
	}
	var decision parts.Decision
	var tokens parts.Tokens
	conversation := d.conv
	if lost := d.holding(ctx, func(ctx context.Context) {
		decision, tokens, err = d.worker.parts.Agent.Model.Turn(ctx, conversation)
	}); lost != nil {
		return true, lost
	}
	if err != nil {
		if ctx.Err() != nil {
			return false, ctx.Err()
		}
		return true, d.modelFailed(ctx, err)
	}
	if why := d.refuses(decision); why != "" {
		return true, d.failed(ctx, why)
	}
	if decision.Final {
		return true, d.finish(ctx, decision, tokens)
	}
	goes, err := d.decided(ctx, decision, tokens)
	if err != nil || !goes {
		return false, err
	}
	return d.call(ctx, d.inv.Status == parts.InvocationInFlight)
}

// refuses says why a decision can't be followed; "" where it can. A replay is of one step: a model that ends the run without
// it, or turns to another, would leave the replay without an end.
func (d *delivery) refuses(decision parts.Decision) string {
	switch {
	case d.m.Replaying != "" && decision.Final:
		return fmt.Sprintf("the model ended the run without step %d, which is being replayed", d.inv.Step)
	case decision.Final:
		return ""
	case decision.Step < 0 || decision.Step >= len(d.m.Steps) || d.m.Progress[decision.Step].State != "":
		return fmt.Sprintf("the model decided on step %d, which isn't to be taken", decision.Step)
	case d.m.Replaying != "" && decision.Step != d.inv.Step:
		return fmt.Sprintf("the model decided on step %d while step %d is being replayed", decision.Step, d.inv.Step)
	}
	return ""
}

// decided writes the model's turn, and with it the record of the call that follows: pending for a first attempt, in flight
// at once for a further one, whose record is there. It gives false where no call follows.
func (d *delivery) decided(ctx context.Context, decision parts.Decision, tokens parts.Tokens) (goes bool, err error) {
	ports := d.worker.parts.Agent
	err = d.write(ctx, "write a turn of the model", func(tx store.Tx, m *parts.Message, now time.Time) (hold, error) {
		goes = false
		d.spent(m, tokens)
		at := &m.Progress[decision.Step]
		tool, args := m.Steps[decision.Step].Tool, decision.Args
		if at.Tool != "" {
			tool = at.Tool
		}
		if args == nil {
			args = m.Steps[decision.Step].Args
		}
		d.said(parts.Turn{Role: parts.RoleAssistant, Step: decision.Step, Tool: tool, Args: args})
		allowed := m.Replaying != "" // it was asked before the replay began
		if !allowed {
			if allowed, err = ports.Breaker.Allow(tx, *m, tool, now); err != nil {
				return hold{}, err
			}
		}
		registered, known, err := keep.Tools.Get(tx, m.Tenant, tool)
		if err != nil {
			return hold{}, err
		}
		if err := d.turnsTo(tx, m, decision.Step, tool); err != nil {
			return hold{}, err
		}
		if m.Current == "" {
			d.inv = parts.Invocation{
				Tenant: m.Tenant, Agent: agentID, Message: m.ID, Run: m.Run, Step: decision.Step, Tool: tool, Payload: args,
				TraceID: m.TraceID, MaxAttempts: m.Budget + 1, At: now, SideEffect: known && registered.SideEffect,
			}
		}
		if !allowed {
			refused := parts.ToolError{Kind: parts.CircuitOpen, Message: "the tool's circuit is open, and no call was made"}
			return d.routed(tx, m, refused, refused, now)
		}
		goes = true
		switch {
		case m.Current != "":
			if err = d.sends(tx, m, args); err == nil {
				err = d.dispatched(tx, m, now)
			}
		default:
			if d.inv.ID, err = newID("inv-", now); err != nil {
				return hold{}, err
			}
			m.Current, at.Invocation = d.inv.ID, d.inv.ID
			err = ports.Interceptor.Write(tx, &d.inv, now)
		}
		if err != nil {
			return hold{}, err
		}
		return hold{}, d.keepConversation(tx)
	})
	return goes, err
}

// turnsTo takes up the record of the step that the model decided on: the current one where it calls again what failed, that
// of an earlier attempt where it comes back to a step that it had left, and none where the step is new. The record that it
// leaves stays as it is, failed and raised to its caller.
func (d *delivery) turnsTo(tx store.Tx, m *parts.Message, step int, tool string) error {
	if m.Current != "" && d.inv.Step == step {
		return nil
	}
	m.Current = ""
	if m.Progress[step].Invocation == "" {
		return nil
	}
	earlier, ok, err := keep.Invocations.Get(tx, m.Tenant, m.Progress[step].Invocation)
	if err == nil && ok && earlier.Tool == tool {
		d.inv, m.Current = earlier, earlier.ID
	}
	return err
}

// sends puts the arguments that the model decided on into a further attempt. A replay after a repair goes on with what was
// repaired, unless that was refused too: the model's own arguments are known to be wrong.
func (d *delivery) sends(tx store.Tx, m *parts.Message, args json.RawMessage) error {
	last := d.inv.Failure
	if m.Replaying != "" && last != nil && last.Kind != parts.SemanticError && last.Kind != parts.BadRequest {
		e, ok, err := keep.ToolEntries.Get(tx, m.Tenant, m.Replaying)
		if err != nil {
			return err
		}
		if ok && e.Proposal != nil && bytes.Equal(e.Proposal.Payload, d.inv.Payload) {
			return nil
		}
	}
	d.inv.Payload = args
	return nil
}

// agentID is who calls, in every record.
const agentID = "agent-worker"

// call makes one attempt, and writes what came of it.
func (d *delivery) call(ctx context.Context, inFlight bool) (over bool, err error) {
	last := d.inv.Step == len(d.m.Steps)-1
	if !inFlight && last && d.dies(parts.CrashAfterWrite) {
		return true, errDied
	}
	leave, err := d.place(ctx)
	if err != nil {
		return true, err
	}
	defer leave()
	if !inFlight {
		err := d.write(ctx, "send a call out", func(tx store.Tx, m *parts.Message, now time.Time) (hold, error) {
			return hold{}, d.dispatched(tx, m, now)
		})
		if err != nil {
			return true, err
		}
	}
	call := parts.ToolCall{
		Tenant: d.tenant, Tool: d.inv.Tool, Run: d.m.Run, Step: d.inv.Step, Attempt: d.inv.Attempts, Args: d.inv.Payload,
		Trace: fmt.Sprintf("00-%s-%s-01", d.m.TraceID, d.inv.Span),
	}
	var failure *parts.ToolError
	if lost := d.holding(ctx, func(ctx context.Context) { failure, err = d.worker.parts.Agent.Tools.Call(ctx, call) }); lost != nil {
		return true, lost
	}
	if err != nil {
		return true, fmt.Errorf("call %s for message %s: %w", d.inv.Tool, d.id, err)
	}
	if last && d.dies(parts.CrashAfterDispatch) {
		return true, errDied
	}
	if over, err = d.outcome(ctx, failure); err != nil {
		return true, err
	}
	if last && failure == nil && d.dies(parts.CrashAfterResult) {
		return true, errDied
	}
	return over, nil
}

// place waits for a place among the calls of the tool; leave gives it back.
func (d *delivery) place(ctx context.Context) (leave func(), err error) {
	tool := d.inv.Tool
	lost := d.holding(ctx, func(ctx context.Context) { leave, err = d.worker.crew.lane(ctx, d.tenant, tool) })
	if lost != nil && err == nil {
		leave()
	}
	return leave, cmp.Or(lost, err)
}

// dispatched takes an attempt into the record.
func (d *delivery) dispatched(tx store.Tx, m *parts.Message, now time.Time) error {
	d.inv.Span, d.inv.SpanAt = hexID(8), now
	m.Current = d.inv.ID
	return d.worker.parts.Agent.Interceptor.Dispatched(tx, &d.inv, now)
}

// found decides about a record in flight whose worker is gone: nobody knows whether its call was done.
func (d *delivery) found(ctx context.Context) (over bool, err error) {
	ports := d.worker.parts.Agent
	again := false
	err = d.write(ctx, "decide about a call that was in flight", func(tx store.Tx, m *parts.Message, now time.Time) (hold, error) {
		tool, _, err := keep.Tools.Get(tx, m.Tenant, d.inv.Tool)
		if err != nil {
			return hold{}, err
		}
		if again = !d.last && ports.Watchdog.Again(d.inv, tool.Idempotent); again {
			d.inv.Outcomes = append(d.inv.Outcomes, parts.AttemptEnd{Attempt: d.inv.Attempts, At: d.inv.LastAt, Outcome: parts.OutcomeUnknown})
			return hold{}, d.dispatched(tx, m, now)
		}
		unknown := parts.ToolError{Kind: parts.OutcomeUnknown, Message: "the worker died while the call was under way; nobody knows whether it was done"}
		over = true
		if m.Replaying != "" {
			return d.replayFailed(tx, m, unknown, now)
		}
		return d.toQueue(tx, m, unknown, now)
	})
	if err != nil || !again {
		return over, err
	}
	return d.call(ctx, true)
}

// finish writes the final answer.
func (d *delivery) finish(ctx context.Context, decision parts.Decision, tokens parts.Tokens) error {
	return d.write(ctx, "finish", func(tx store.Tx, m *parts.Message, now time.Time) (hold, error) {
		d.spent(m, tokens)
		d.said(parts.Turn{Role: parts.RoleAssistant, Step: -1, Text: decision.Text})
		m.Status = parts.MessageCompleted
		if err := d.keepConversation(tx); err != nil {
			return hold{}, err
		}
		return hold{back: true}, d.span(tx, m, now)
	})
}

func (d *delivery) spent(m *parts.Message, tokens parts.Tokens) {
	m.ModelCalls++
	m.Tokens = m.Tokens.Plus(tokens)
}

func (d *delivery) said(t parts.Turn) { d.conv.Turns = append(slices.Clone(d.conv.Turns), t) }

// keepConversation writes the conversation; whether it is expired is somebody else's to say.
func (d *delivery) keepConversation(tx store.Tx) error {
	kept, _, err := keep.Conversations.Get(tx, d.tenant, d.conv.Ref)
	if err != nil {
		return err
	}
	d.conv.Expired = kept.Expired
	return keep.Conversations.Put(tx, d.conv)
}
