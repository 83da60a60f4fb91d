package agent

import (
	"context"
	"fmt"
	"net/http"
	"time"

	"github.com/wopwitness/wopwitness/mockhost/agent/keep"
	"github.com/wopwitness/wopwitness/mockhost/parts"
	"github.com/wopwitness/wopwitness/mockhost/store"
)

// Queues implements parts.Queues on the store.
type Queues struct {
	Store store.Store
	Parts *parts.Parts
	// Wake tells the runner of due work that some is due now.
	Wake func()
}

var _ parts.Queues = Queues{}

// Append implements parts.Queues. It is on the way of every failure, so what can be done later is due work.
func (q Queues) Append(tx store.Tx, e *parts.Entry, now time.Time) error {
	if _, err := keep.Entries(e.Queue).Insert(tx, e); err != nil {
		return err
	}
	if err := tx.PutWork(store.Work{Kind: EnrichWork, Key: EntryKey(*e), Due: now}); err != nil {
		return err
	}
	if err := tx.PutWork(store.Work{Kind: ExpireWork, Key: EntryKey(*e), Due: e.Expires}); err != nil {
		return err
	}
	tx.AfterCommit(q.Wake)
	return q.Parts.Agent.Metrics.Enqueued(tx, *e)
}

// Save implements parts.Queues.
func (q Queues) Save(tx store.Tx, before, after parts.Entry) error {
	if err := keep.Entries(after.Queue).Put(tx, after); err != nil {
		return err
	}
	return q.Parts.Agent.Metrics.Changed(tx, before, after)
}

// List implements parts.Queues.
func (q Queues) List(ctx context.Context, p parts.Principal, ask parts.EntryQuery) ([]parts.Entry, parts.QueueDepth, error) {
	query := store.RecordQuery{Tool: ask.Tool, Trace: ask.TraceID, Category: ask.Category}
	if ask.OlderThan > 0 {
		query.Before = keep.Instant(q.Parts.Clock.Now()).Add(-ask.OlderThan)
	}
	unresolved := query
	unresolved.States = []string{parts.Unresolved}
	kind, from := keep.Entries(ask.Queue), q.Store.Reading(ctx)
	var depth parts.QueueDepth
	if ask.Resolution == "" || ask.Resolution == parts.Unresolved {
		t, err := kind.Count(from, p.Tenant, unresolved)
		if err != nil {
			return nil, depth, err
		}
		depth = parts.QueueDepth{Depth: t.Count, Oldest: t.Oldest}
	}
	query.After, query.Limit = ask.After, ask.Limit
	if ask.Resolution != "" {
		query.States = []string{ask.Resolution}
	}
	out, err := kind.List(from, p.Tenant, query)
	return out, depth, err
}

// Find implements parts.Queues.
func (q Queues) Find(ctx context.Context, p parts.Principal, queue, id string) (parts.Entry, bool, error) {
	return keep.Entries(queue).Get(q.Store.Reading(ctx), p.Tenant, id)
}

// Settle implements parts.Queues.
func (q Queues) Settle(ctx context.Context, p parts.Principal, queue, id, action, by, notes string) (e parts.Entry, err error) {
	resolution := parts.Resolved
	if action == parts.ActionDiscard {
		resolution = parts.Discarded
	}
	err = q.Store.Write(ctx, func(tx store.Tx) error {
		var ok bool
		if e, ok, err = keep.Entries(queue).Get(tx, p.Tenant, id); err != nil {
			return err
		}
		if !ok {
			return parts.NotFound("entry")
		}
		if e.Resolution != parts.Unresolved {
			return final(e)
		}
		m, _, err := keep.Messages.Get(tx, p.Tenant, e.Message)
		if err != nil {
			return err
		}
		if m.Replaying == e.ID {
			return &parts.Problem{
				Status: http.StatusConflict, Code: "run_state_conflict", Message: "a replay of this entry is under way",
			}
		}
		before, now := e, keep.Instant(q.Parts.Clock.Now())
		e.Resolution, e.Ended, e.NextReplay, e.Review = resolution, now, time.Time{}, ""
		e = keep.Audited(e, now, by, action, notes)
		return q.Parts.Agent.Queues.Save(tx, before, e)
	})
	if err != nil {
		return e, fmt.Errorf("%s entry %s: %w", action, id, err)
	}
	return e, nil
}
