package agent

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"time"

	"github.com/wopwitness/wopwitness/mockhost/agent/keep"
	"github.com/wopwitness/wopwitness/mockhost/parts"
	"github.com/wopwitness/wopwitness/mockhost/store"
)

// Replay implements parts.Replayer. Who replays holds the message's lease, so that over all instances there is one at a
// time; whoever comes meanwhile does nothing.
func (w *Worker) Replay(ctx context.Context, tenant string, r parts.ReplayRequest) (parts.Entry, string, error) {
	e, ok, err := keep.Entries(r.Queue).Get(w.store.Reading(ctx), tenant, r.ID)
	if err == nil && !ok {
		err = parts.NotFound("entry")
	}
	if err != nil {
		return e, "", err
	}
	if r.Queue == parts.MessageQueue {
		return w.redeliver(ctx, e, r)
	}
	var end string
	for begun := false; !begun; {
		var done <-chan struct{}
		done, begun = w.crew.Go(Key(tenant, e.Message), func(work context.Context) {
			d := &delivery{worker: w, tenant: tenant, id: e.Message, again: true}
			var begins bool
			if begins, end, err = d.beginReplay(work, r); err != nil || !begins {
				return
			}
			broke := d.work(work)
			if end = d.replay; end == "" {
				end = parts.ReplayNot // another will end it
			}
			w.ended(d, broke)
		})
		select {
		case <-done:
		case <-ctx.Done():
			return e, parts.ReplayNot, nil // it goes on
		}
		if begun {
			break
		}
		// The work under way may have been the last of the delivery that made the entry, and then this replay is still to do.
		if end = parts.ReplayNot; w.crew.Stopping() || w.triedSince(ctx, tenant, e) {
			break
		}
	}
	if err != nil {
		return e, end, fmt.Errorf("replay entry %s: %w", r.ID, err)
	}
	e, ok, err = keep.ToolEntries.Get(w.store.Reading(ctx), tenant, r.ID)
	if err == nil && !ok {
		err = parts.NotFound("entry")
	}
	return e, end, err
}

// triedSince says whether another replay of the entry came to an end, or the entry is final by now.
func (w *Worker) triedSince(ctx context.Context, tenant string, e parts.Entry) bool {
	now, ok, err := keep.ToolEntries.Get(w.store.Reading(ctx), tenant, e.ID)
	return err != nil || !ok || now.Resolution != parts.Unresolved || now.Attempts != e.Attempts
}

// final is the answer to a change of what doesn't change any more.
func final(e parts.Entry) *parts.Problem {
	return &parts.Problem{
		Status: http.StatusConflict, Code: "run_state_conflict", Message: "the entry is " + e.Resolution + ", and that is final",
	}
}

// compensated is the answer to a replay of what was given up.
func compensated() *parts.Problem {
	return &parts.Problem{
		Status: http.StatusConflict, Code: "run_state_conflict",
		Message: "the run was compensated; resolve or discard the entry",
	}
}

// beginReplay takes the message over from its entry, where the entry can be replayed; end says what came of it where not.
func (d *delivery) beginReplay(ctx context.Context, r parts.ReplayRequest) (begins bool, end string, err error) {
	w := d.worker
	err = w.store.Write(ctx, func(tx store.Tx) error {
		e, ok, err := keep.ToolEntries.Get(tx, d.tenant, r.ID)
		switch {
		case err != nil:
			return err
		case !ok:
			return parts.NotFound("entry")
		case e.Resolution == parts.Replayed:
			end = parts.ReplayNot
			return nil
		case e.Resolution != parts.Unresolved:
			return final(e)
		}
		m, ok, err := keep.Messages.Get(tx, d.tenant, d.id)
		if err != nil {
			return err
		}
		if !ok {
			return fmt.Errorf("the entry's message %s isn't there", d.id)
		}
		now := w.now()
		if m.Replaying != "" || m.Progress[e.Step].State == parts.StepDone {
			end = parts.ReplayNot
			return nil
		}
		if m.Compensated() {
			return compensated()
		}
		if err := d.loadFor(tx, m, e); err != nil {
			return err
		}
		if d.conv.Expired {
			end = parts.ReplayExpired
			return w.cantReplay(tx, e, r, end, now)
		}
		allowed, err := w.parts.Agent.Breaker.Allow(tx, m, e.Tool, now)
		if err != nil {
			return err
		}
		if !allowed {
			end = parts.ReplayRefused
			return w.cantReplay(tx, e, r, end, now)
		}
		d.begun(&m, e, r, now)
		w.parts.Agent.Leases.TakeOver(&m, &d.conv, true)
		begins = true
		if r.Args != nil {
			d.inv.Payload, d.sent = r.Args, true
			return errors.Join(d.dispatched(tx, &m, now), d.keep(tx, m, hold{}))
		}
		return d.keep(tx, m, hold{})
	})
	if err == nil && end == parts.ReplayExpired {
		return false, end, expired()
	}
	return begins, end, err
}

func expired() *parts.Problem {
	return &parts.Problem{
		Status: http.StatusConflict, Code: "conversation_expired",
		Message: "the conversation of this entry is expired, so its run can't be resumed",
	}
}

// loadFor reads the conversation and the record that an entry points to.
func (d *delivery) loadFor(tx store.Tx, m parts.Message, e parts.Entry) (err error) {
	var ok bool
	if d.conv, ok, err = keep.Conversations.Get(tx, m.Tenant, e.Conversation); err != nil {
		return err
	}
	if !ok {
		d.conv.Expired = true
	}
	if d.inv, ok, err = keep.Invocations.Get(tx, m.Tenant, e.Invocation); err == nil && !ok {
		err = fmt.Errorf("the entry's record %s isn't there", e.Invocation)
	}
	return err
}

// begun makes the message the replay's.
func (d *delivery) begun(m *parts.Message, e parts.Entry, r parts.ReplayRequest, now time.Time) {
	d.take(m, now)
	m.Replaying, m.ReplayBy, m.ReplayNotes, m.ReplayAction = e.ID, r.By, r.Notes, r.Action
	m.Current = e.Invocation
	m.Progress[e.Step].State = ""
	m.Span, m.SpanAt = hexID(8), now
	m.Wait = time.Time{}
}

// cantReplay notes on the entry why a replay didn't begin.
func (w *Worker) cantReplay(tx store.Tx, e parts.Entry, r parts.ReplayRequest, why string, now time.Time) error {
	before := e
	if why == parts.ReplayExpired {
		e.Category = parts.ContextEviction
		e.NextReplay = time.Time{}
		e.Review = parts.HumanReview
	}
	e = keep.Audited(e, now, r.By, r.Action, noted(r.Notes, why))
	if err := w.recoverSpan(tx, e, hexID(8), r.By, why, now, now); err != nil {
		return err
	}
	return w.parts.Agent.Queues.Save(tx, before, e)
}

func noted(notes, what string) string {
	if notes == "" {
		return what
	}
	return notes + " (" + what + ")"
}

// replaySucceeded ends the entry with the step that succeeded. The run goes on.
func (d *delivery) replaySucceeded(tx store.Tx, m *parts.Message, now time.Time) error {
	before, e, err := d.replayed(tx, m)
	if err != nil {
		return err
	}
	e.Attempts++
	e.LastAttempt = d.inv.LastAt
	e.History = append(e.History[:len(e.History):len(e.History)], parts.AttemptEnd{Attempt: e.Attempts, At: d.inv.LastAt, Outcome: parts.ToolOK})
	e.NextReplay, e.Review = time.Time{}, ""
	if e.Resolution == parts.Unresolved {
		e.Resolution, e.Ended = parts.Replayed, now
	}
	d.replay = parts.ReplaySucceeded
	m.Status = parts.MessageRunning
	return d.replayEnded(tx, m, before, e, parts.ReplaySucceeded, now)
}

// replayFailed ends a replay by the failure of its call.
func (d *delivery) replayFailed(tx store.Tx, m *parts.Message, failure parts.ToolError, now time.Time) (hold, error) {
	return d.replayMissed(tx, m, failure, d.inv.LastAt, true, now)
}

// replayBroke ends a replay by a failure of the worker's own, before any call. What the tool said last is still what is to be
// mended where the model was only away, and so the entry goes the way that it went.
func (d *delivery) replayBroke(tx store.Tx, m *parts.Message, why string, away bool, now time.Time) (hold, error) {
	return d.replayMissed(tx, m, parts.ToolError{Kind: consumerError, Message: why}, now, !away, now)
}

// replayMissed gives the message back: its entry is as unresolved as it was, with an attempt more, that of the instant at. The
// failure is the entry's last error where it is one to mend.
func (d *delivery) replayMissed(tx store.Tx, m *parts.Message, failure parts.ToolError, at time.Time, toMend bool, now time.Time) (hold, error) {
	if err := d.recordFailed(tx, parts.InvocationDeadLettered, failure, now); err != nil {
		return hold{}, err
	}
	before, e, err := d.replayed(tx, m)
	if err != nil {
		return hold{}, err
	}
	e.Attempts++
	e.LastAttempt = at
	if toMend {
		e.LastError = d.worker.redacted(failure)
	}
	e.History = append(e.History[:len(e.History):len(e.History)], parts.AttemptEnd{Attempt: e.Attempts, At: at, Outcome: failure.Kind})
	e.Tokens = m.Tokens
	e.NextReplay = time.Time{}
	if m.ReplayBy == parts.ByRecovery {
		e.Automatic++
	}
	d.replay = parts.ReplayFailed
	m.Progress[e.Step].State = parts.StepFailed
	m.Current = ""
	d.said(parts.Turn{Role: parts.RoleTool, Step: d.inv.Step, Tool: d.inv.Tool, Error: failure.Kind, Text: failure.Message})
	if err := d.keepConversation(tx); err != nil {
		return hold{}, err
	}
	if err := d.replayEnded(tx, m, before, e, failure.Kind, now); err != nil {
		return hold{}, err
	}
	// What is to become of it now is looked at afresh.
	err = tx.MoveWork(store.Work{Kind: EnrichWork, Key: EntryKey(e), Due: now})
	return hold{back: true}, err
}

func (d *delivery) replayed(tx store.Tx, m *parts.Message) (before, e parts.Entry, err error) {
	e, ok, err := keep.ToolEntries.Get(tx, m.Tenant, m.Replaying)
	if err == nil && !ok {
		err = fmt.Errorf("the entry %s that is replayed isn't there any more", m.Replaying)
	}
	return e, e, err
}

func (d *delivery) replayEnded(tx store.Tx, m *parts.Message, before, e parts.Entry, outcome string, now time.Time) error {
	ports := d.worker.parts.Agent
	e = keep.Audited(e, now, m.ReplayBy, m.ReplayAction, noted(m.ReplayNotes, outcome))
	if err := d.worker.recoverSpan(tx, e, m.Span, m.ReplayBy, outcome, m.SpanAt, now); err != nil {
		return err
	}
	m.Replaying, m.ReplayBy, m.ReplayNotes, m.ReplayAction, m.SpanAt = "", "", "", "", time.Time{}
	if err := ports.Queues.Save(tx, before, e); err != nil {
		return err
	}
	return ports.Metrics.Replayed(tx, e, outcome == parts.ReplaySucceeded, now)
}

// redelivered is what came of the replay of a message, as far as it is known then: it was delivered again.
const redelivered = "redelivered"

// recoverSpan records an attempt at an entry, whatever came of it, so that its trace shows the whole of its life.
func (w *Worker) recoverSpan(tx store.Tx, e parts.Entry, span, by, outcome string, start, end time.Time) error {
	attributes := map[string]any{"dlq.entry_id": e.ID, "dlq.by": by, "dlq.outcome": outcome}
	if e.Tool != "" {
		attributes["dlq.tool_name"] = e.Tool
	}
	return w.parts.Agent.Tracer.Record(tx, parts.Span{
		Tenant: e.Tenant, Name: parts.SpanRecover, TraceID: e.TraceID, SpanID: span, Start: start, End: end, Attributes: attributes,
		Links: []parts.SpanLink{{TraceID: e.TraceID, SpanID: e.Span}},
	})
}

// redeliver replays a message from its start.
func (w *Worker) redeliver(ctx context.Context, e parts.Entry, r parts.ReplayRequest) (parts.Entry, string, error) {
	end := parts.ReplayNot
	err := w.store.Write(ctx, func(tx store.Tx) error {
		var ok bool
		var err error
		if e, ok, err = keep.MessageEntries.Get(tx, e.Tenant, e.ID); err != nil {
			return err
		}
		if !ok {
			return parts.NotFound("entry")
		}
		if e.Resolution == parts.Replayed {
			return nil
		}
		if e.Resolution != parts.Unresolved {
			return final(e)
		}
		m, ok, err := keep.Messages.Get(tx, e.Tenant, e.Message)
		if err == nil && !ok {
			err = fmt.Errorf("the entry's message %s isn't there", e.Message)
		}
		if err != nil {
			return err
		}
		if m.Compensated() {
			return compensated()
		}
		now := w.now()
		m.Status, m.Failures, m.Deaths, m.LeaseUntil, m.Wait = parts.MessageQueued, 0, 0, time.Time{}, time.Time{}
		before := e
		e.Resolution, e.Ended, e.Review = parts.Replayed, now, ""
		e = keep.Audited(e, now, r.By, r.Action, r.Notes)
		end = parts.ReplaySucceeded
		if err := errors.Join(
			keep.Messages.Put(tx, m), w.parts.Agent.Queues.Save(tx, before, e),
			w.recoverSpan(tx, e, hexID(8), r.By, redelivered, now, now),
		); err != nil {
			return err
		}
		tx.AfterCommit(func() { w.begin(m.Tenant, m.ID, false) })
		return tx.MoveWork(store.Work{Kind: DeliverWork, Key: Key(m.Tenant, m.ID), Due: w.parts.Agent.Leases.Until(now)})
	})
	if err != nil {
		return e, "", fmt.Errorf("replay entry %s: %w", r.ID, err)
	}
	return e, end, nil
}
