package agent

import (
	"context"
	"fmt"
	"net/http"
	"slices"
	"time"

	"github.com/wopwitness/wopwitness/mockhost/agent/keep"
	"github.com/wopwitness/wopwitness/mockhost/parts"
	"github.com/wopwitness/wopwitness/mockhost/store"
)

// Accept implements parts.AgentIntake.
func (w *Worker) Accept(ctx context.Context, p parts.Principal, r parts.MessageRequest) error {
	traceID, span, err := trace(r.TraceParent)
	if err != nil {
		return err
	}
	at := w.now()
	m := parts.Message{
		Tenant: p.Tenant, ID: r.ID, Body: r.Body, Steps: r.Steps, Purpose: r.Purpose, Budget: r.RetryBudget, CrashAt: r.CrashAt,
		At: at, Status: parts.MessageQueued, TraceID: traceID, ParentSpan: span,
	}
	err = w.store.Write(ctx, func(tx store.Tx) error {
		if _, known, err := keep.Messages.Get(tx, m.Tenant, m.ID); err != nil || known {
			return err
		}
		if err := w.room(tx, m); err != nil {
			return err
		}
		if _, err := keep.Messages.Insert(tx, &m); err != nil {
			return err
		}
		// Should the worker that takes it up below never come to it, another does.
		work := store.Work{Kind: DeliverWork, Key: Key(m.Tenant, m.ID), Due: w.parts.Agent.Leases.Until(at)}
		if err := tx.PutWork(work); err != nil {
			return err
		}
		tx.AfterCommit(func() { w.begin(m.Tenant, m.ID, true) })
		return nil
	})
	if err != nil {
		return fmt.Errorf("accept message %s: %w", r.ID, err)
	}
	return nil
}

// Find implements parts.AgentIntake.
func (w *Worker) Find(ctx context.Context, p parts.Principal, id string) (parts.Message, bool, error) {
	return keep.Messages.Get(w.store.Reading(ctx), p.Tenant, id)
}

// room refuses a message where the tenant's intake is full, or the queue of a tool that it may fail on.
func (w *Worker) room(tx store.Tx, m parts.Message) error {
	n := w.parts.Agent.Numbers
	under, err := keep.Messages.Count(tx, m.Tenant, store.RecordQuery{States: keep.Waiting()})
	if err != nil {
		return err
	}
	if under.Count >= n.IntakeCapacity {
		return full("%d messages wait or run", under.Count)
	}
	var waiting []parts.Message
	for _, tool := range tools(m) {
		unresolved, err := keep.ToolEntries.Count(tx, m.Tenant, store.RecordQuery{States: []string{parts.Unresolved}, Tool: tool})
		if err != nil {
			return err
		}
		// Most are far from their bound, and then the messages under way needn't be read.
		if unresolved.Count+under.Count < n.QueueCapacity {
			continue
		}
		if waiting == nil {
			waiting, err = keep.Messages.List(tx, m.Tenant, store.RecordQuery{States: keep.Waiting()})
			if err != nil {
				return err
			}
		}
		may := 0
		for _, other := range waiting {
			if slices.Contains(tools(other), tool) {
				may++
			}
		}
		if unresolved.Count+may >= n.QueueCapacity {
			return full("%d entries of %s are unresolved, and %d messages under way call it", unresolved.Count, tool, may)
		}
	}
	return nil
}

// tools are those that a message's workflow calls, each once.
func tools(m parts.Message) []string {
	var out []string
	for _, s := range m.Steps {
		if !slices.Contains(out, s.Tool) {
			out = append(out, s.Tool)
		}
	}
	return out
}

func full(format string, args ...any) *parts.Problem {
	return &parts.Problem{
		Status: http.StatusTooManyRequests, Code: "rate_limited", RetryAfter: time.Second,
		Message: "no room for this message: " + fmt.Sprintf(format, args...),
	}
}
