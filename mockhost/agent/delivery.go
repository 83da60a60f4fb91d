package agent

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/wopwitness/wopwitness/mockhost/agent/keep"
	"github.com/wopwitness/wopwitness/mockhost/parts"
	"github.com/wopwitness/wopwitness/mockhost/store"
)

// delivery is one delivery of a message to a worker, from the claim to where the worker lets go of it.
type delivery struct {
	worker *Worker
	tenant string
	id     string
	fresh  bool  // the first hand-over of the message
	again  bool  // begun by the replay of an entry
	token  int64 // of the lease

	// What is below is the message as this worker last wrote it, and what it needs to go on.
	m    parts.Message
	conv parts.Conversation
	inv  parts.Invocation // of m.Current, empty without one
	lost bool             // the message ends here, because a worker died over it
	last bool             // as many workers died over it as may: what was under way isn't begun again
	sent bool             // inv is in flight by this worker's own hand, and its call is still to be made

	// replay is what a replay came to: "" before it came to anything.
	replay string
}

// hold is what becomes of the lease after a write: it is renewed, or given back so that the message comes again at an
// instant, or never (over).
type hold struct {
	back bool
	at   time.Time // zero: never
}

// run works on the message until it has ended, has to wait, or the worker is told to stop.
func (d *delivery) run(ctx context.Context) (err error) {
	if d.dies(parts.CrashBeforeClaim) {
		return errDied
	}
	if mine, err := d.claim(ctx); err != nil || !mine {
		return err
	}
	if d.dies(parts.CrashAfterClaim) {
		return errDied
	}
	return d.work(ctx)
}

// work goes on with a claimed message.
func (d *delivery) work(ctx context.Context) (err error) {
	defer func() {
		// A bug of the consumer is the message's matter: it comes again, and not for ever.
		if r := recover(); r != nil {
			err = d.failed(ctx, fmt.Sprint("the consumer broke on the message: ", r))
		}
	}()
	ports := d.worker.parts.Agent
	if d.lost || d.last && d.inv.Status != parts.InvocationInFlight {
		return d.deadLetter(ctx, parts.ReasonRedelivery, parts.ToolError{Kind: consumerError, Message: "a worker died over the message"})
	}
	if d.m.Replaying == "" {
		buggy, malformed := ports.Bodies.Read(d.m.Body)
		switch {
		case malformed != nil:
			return d.deadLetter(ctx, parts.ReasonMalformed, parts.ToolError{Kind: parts.ReasonMalformed, Message: malformed.Error()})
		case buggy:
			return d.failed(ctx, "the consumer can't take this message")
		}
	}
	for {
		if d.worker.crew.Stopping() {
			return d.letGo(ctx)
		}
		if d.m.Wait.After(d.worker.now()) {
			return d.wait(ctx)
		}
		over, err := d.step(ctx)
		if err != nil || over {
			return err
		}
	}
}

func (d *delivery) dies(point string) bool {
	if point == parts.CrashBeforeClaim {
		m, ok, err := keep.Messages.Get(d.worker.store.Reading(d.worker.crew.ctx), d.tenant, d.id)
		if err != nil || !ok {
			return false
		}
		d.m = m
	}
	return !d.again && d.worker.parts.Agent.Crasher.Dies(d.m, point, d.fresh, d.inv.Step == len(d.m.Steps)-1)
}

// claim takes the lease, and begins the run where there is none. It gives false where the message isn't to be had.
func (d *delivery) claim(ctx context.Context) (mine bool, err error) {
	w := d.worker
	err = w.store.Write(ctx, func(tx store.Tx) error {
		mine = false
		m, ok, err := keep.Messages.Get(tx, d.tenant, d.id)
		if err != nil {
			return err
		}
		if !ok || m.Over() && m.Replaying == "" {
			return tx.MoveWork(store.Work{Kind: DeliverWork, Key: Key(d.tenant, d.id)})
		}
		now := w.now()
		if m.LeaseUntil.After(now) {
			return tx.MoveWork(store.Work{Kind: DeliverWork, Key: Key(d.tenant, d.id), Due: m.LeaseUntil})
		}
		died := m.Holder != ""
		if m.Wait.IsZero() && m.Replaying == "" {
			m.Deliveries++ // going on after a wait, or with a replay, is none
		}
		if m.Replaying == "" {
			m.Status = parts.MessageRunning
		}
		m.Wait = time.Time{}
		m.Span, m.SpanAt = hexID(8), now
		d.take(&m, now)
		if err := d.load(tx, &m, died && m.Replaying == "", now); err != nil {
			return err
		}
		mine = true
		return d.keep(tx, m, hold{})
	})
	if err != nil {
		return false, fmt.Errorf("claim message %s: %w", d.id, err)
	}
	return mine, nil
}

// take makes the lease this worker's.
func (d *delivery) take(m *parts.Message, now time.Time) {
	m.Token++
	d.token = m.Token
	m.Holder = d.worker.crew.Name
	m.LeaseUntil = d.worker.parts.Agent.Leases.Until(now)
}

// load reads what the run goes on with, and begins the run of a message that can be read and has none. died says that the
// worker who had it did.
func (d *delivery) load(tx store.Tx, m *parts.Message, died bool, now time.Time) (err error) {
	if m.Run != "" {
		var ok bool
		if d.conv, ok, err = keep.Conversations.Get(tx, m.Tenant, m.Conversation); err != nil {
			return err
		}
		d.conv.Expired = d.conv.Expired || !ok
	}
	if died {
		d.lost = !d.worker.parts.Agent.Leases.TakeOver(m, &d.conv, false)
		// A bug that kills its worker reproduces as any other does, and says less: one death may be anything's, so the message is
		// delivered again after it however low the limit is.
		m.Died()
		d.last = m.Deaths >= max(d.worker.parts.Agent.Numbers.RedeliveryLimit, 2)
	}
	if m.Run == "" {
		if _, malformed := d.worker.parts.Agent.Bodies.Read(m.Body); malformed != nil {
			return nil
		}
		return d.beginRun(tx, m, now)
	}
	if m.Current == "" {
		return nil
	}
	d.inv, _, err = keep.Invocations.Get(tx, m.Tenant, m.Current)
	return err
}

func (d *delivery) beginRun(tx store.Tx, m *parts.Message, now time.Time) (err error) {
	if m.Run, err = newID("ar-", now); err != nil {
		return err
	}
	if m.Conversation, err = newID("conv_", now); err != nil {
		return err
	}
	m.Progress = make([]parts.StepState, len(m.Steps))
	d.conv = parts.Conversation{
		Tenant: m.Tenant, Ref: m.Conversation, Message: m.ID, Purpose: m.Purpose, Task: m.Body, Steps: m.Steps,
	}
	return keep.Conversations.Put(tx, d.conv)
}

// write changes the message, with all that belongs to the change, as long as this worker holds it.
func (d *delivery) write(ctx context.Context, doing string, f func(tx store.Tx, m *parts.Message, now time.Time) (hold, error)) error {
	inv, conv := d.inv, d.conv
	err := d.worker.store.Write(ctx, func(tx store.Tx) error {
		m, ok, err := keep.Messages.Get(tx, d.tenant, d.id)
		if err != nil {
			return err
		}
		if !ok || !d.worker.parts.Agent.Leases.Holds(m, d.token) {
			return errLost
		}
		now := d.worker.now()
		m.LeaseUntil = d.worker.parts.Agent.Leases.Until(now)
		h, err := f(tx, &m, now)
		if err != nil {
			return err
		}
		return d.keep(tx, m, h)
	})
	if err != nil {
		d.inv, d.conv = inv, conv
		return fmt.Errorf("%s, of message %s: %w", doing, d.id, err)
	}
	return nil
}

// keep writes the message and the work that brings it back.
func (d *delivery) keep(tx store.Tx, m parts.Message, h hold) error {
	due := m.LeaseUntil
	if h.back {
		m.LeaseUntil, m.Holder = time.Time{}, ""
		due = h.at
		tx.AfterCommit(d.worker.wake)
	}
	if err := tx.MoveWork(store.Work{Kind: DeliverWork, Key: Key(m.Tenant, m.ID), Due: due}); err != nil {
		return err
	}
	d.m = m
	return keep.Messages.Put(tx, m)
}

// span records the delivery, or the replay, that ends here.
func (d *delivery) span(tx store.Tx, m *parts.Message, now time.Time) error {
	if m.SpanAt.IsZero() {
		return nil
	}
	s := parts.Span{
		Tenant: m.Tenant, Name: parts.SpanMessage, TraceID: m.TraceID, SpanID: m.Span, Parent: m.ParentSpan, Start: m.SpanAt, End: now,
		Attributes: map[string]any{"message.id": m.ID, "message.delivery": m.Deliveries, "message.status": m.Status},
	}
	m.SpanAt = time.Time{}
	return d.worker.parts.Agent.Tracer.Record(tx, s)
}

// letGo hands the message over to whoever comes next, where this worker is told to stop.
func (d *delivery) letGo(ctx context.Context) error {
	return d.write(ctx, "hand over", func(tx store.Tx, m *parts.Message, now time.Time) (hold, error) {
		return hold{back: true, at: now}, d.span(tx, m, now)
	})
}

// wait gives the message back until its wait is over.
func (d *delivery) wait(ctx context.Context) error {
	return d.write(ctx, "wait", func(tx store.Tx, m *parts.Message, now time.Time) (hold, error) {
		return hold{back: true, at: m.Wait}, d.span(tx, m, now)
	})
}

// consumerError is the kind of error that is the consumer's own.
const consumerError = "consumer_error"

// failed ends a delivery that met a bug of the consumer: the message comes again, unless that was the last time.
func (d *delivery) failed(ctx context.Context, why string) error { return d.gaveBack(ctx, why, nil) }

// modelFailed ends a delivery whose model failed. One that is only away gets time to come back, as much as it asked for or a
// lease: a rate limit would have used all deliveries up before it is over.
func (d *delivery) modelFailed(ctx context.Context, err error) error {
	var away *parts.ModelAway
	errors.As(err, &away)
	return d.gaveBack(ctx, "the model failed: "+err.Error(), away)
}

func (d *delivery) gaveBack(ctx context.Context, why string, away *parts.ModelAway) error {
	last := false
	err := d.write(ctx, "give back", func(tx store.Tx, m *parts.Message, now time.Time) (hold, error) {
		if m.Replaying != "" {
			return d.replayBroke(tx, m, why, away != nil, now)
		}
		m.Failures++
		at, again := d.worker.parts.Agent.Leases.Again(*m, now)
		if away != nil {
			at = now.Add(cmp.Or(away.RetryAfter, d.worker.parts.Agent.Numbers.Lease))
		}
		if last = !again; last {
			return hold{}, nil
		}
		m.Status = parts.MessageQueued
		return hold{back: true, at: at}, d.span(tx, m, now)
	})
	if err != nil || !last {
		return err
	}
	return d.deadLetter(ctx, parts.ReasonRedelivery, parts.ToolError{Kind: consumerError, Message: why})
}

// deadLetter ends the message in the message queue.
func (d *delivery) deadLetter(ctx context.Context, reason string, failure parts.ToolError) error {
	return d.write(ctx, "dead-letter", func(tx store.Tx, m *parts.Message, now time.Time) (hold, error) {
		return hold{back: true}, d.worker.bury(tx, m, reason, failure, now)
	})
}

// bury puts the message into the message queue.
func (w *Worker) bury(tx store.Tx, m *parts.Message, reason string, failure parts.ToolError, now time.Time) error {
	ports := w.parts.Agent
	m.Status = parts.MessageDeadLettered
	e, err := ports.Entries.Message(*m, reason, failure, now)
	if err != nil {
		return err
	}
	e.Span = hexID(8)
	if err := ports.Tracer.Record(tx, parts.Span{
		Tenant: m.Tenant, Name: parts.SpanEnqueue, TraceID: m.TraceID, SpanID: e.Span, Parent: m.Span, Start: now, End: now,
		Attributes: map[string]any{"dlq.failure_reason": failure.Kind, "dlq.attempt_count": m.Deliveries, "message.id": m.ID},
		Links:      []parts.SpanLink{{TraceID: m.TraceID, SpanID: m.Span}},
	}); err != nil {
		return err
	}
	if err := ports.Queues.Append(tx, &e, now); err != nil {
		return err
	}
	return (&delivery{worker: w}).span(tx, m, now)
}
