package recovery

import (
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/wopwitness/wopwitness/mockhost/agent/keep"
	"github.com/wopwitness/wopwitness/mockhost/parts"
	"github.com/wopwitness/wopwitness/mockhost/store"
)

// Enrich implements parts.Enricher.
func (r Recovery) Enrich(ctx context.Context, key string, now time.Time) error {
	e, ok, err := r.entry(r.Store.Reading(ctx), key)
	if err != nil {
		return err
	}
	if !ok || e.Queue == parts.MessageQueue {
		return r.enriched(ctx, e, ok, key)
	}
	return r.background(ctx, enrichWork, key, now, func(ctx context.Context) error { return r.look(ctx, key) })
}

// enriched ends the work on what isn't classified: an entry that is gone or final, or one of the message queue, which
// gets its tag.
func (r Recovery) enriched(ctx context.Context, e parts.Entry, ok bool, key string) error {
	return r.Store.Write(ctx, func(tx store.Tx) error {
		if ok {
			kept, still, err := r.entry(tx, key)
			if err != nil {
				return err
			}
			if still {
				after := kept
				after.Tags = []string{"reason:" + e.Reason}
				if err := r.Parts.Agent.Queues.Save(tx, kept, after); err != nil {
					return err
				}
			}
		}
		return tx.MoveWork(store.Work{Kind: enrichWork, Key: key})
	})
}

// look classifies the entry, asks the repairer where that is its way, and sends it on.
func (r Recovery) look(ctx context.Context, key string) error {
	from := r.Store.Reading(ctx)
	e, ok, err := r.entry(from, key)
	if err != nil {
		return err
	}
	if !ok {
		return r.drop(ctx, enrichWork, key)
	}
	ports := r.Parts.Agent
	conversation, known, err := keep.Conversations.Get(from, e.Tenant, e.Conversation)
	if err != nil {
		return err
	}
	category, err := ports.Classifier.Classify(ctx, e, !known || conversation.Expired)
	if err != nil {
		r.Log.Warn("an entry stays unclassified", "entry", e.ID, "error", err)
	}
	e.Category = category
	var proposal *parts.Proposal
	if ports.Triage.Way(e) == parts.WayRepair && e.Proposal == nil {
		if proposal, err = r.ask(ctx, from, e); err != nil {
			r.Log.Warn("no repair was proposed for an entry", "entry", e.ID, "error", err)
		}
	}
	var repair *parts.Proposal
	err = r.Store.Write(ctx, func(tx store.Tx) (err error) {
		repair, err = r.send(tx, key, e, proposal)
		return err
	})
	if err != nil || repair == nil {
		return err
	}
	// Until this is over, the work stays: should the process die meanwhile, the repair is taken up again.
	_, end, err := ports.Replayer.Replay(ctx, e.Tenant, parts.ReplayRequest{
		Queue: e.Queue, ID: e.ID, By: parts.ByRepairer, Action: parts.ActionRepair, Args: repair.Payload,
		Notes: fmt.Sprintf("confidence %g", repair.Confidence),
	})
	if settled(err) {
		err = nil
	}
	if err == nil && end == parts.ReplayRefused {
		return r.move(ctx, enrichWork, key, r.now())
	}
	return err
}

// ask gives the repairer all that is known: what was sent and not what is shown of it.
func (r Recovery) ask(ctx context.Context, from store.RecordReader, e parts.Entry) (*parts.Proposal, error) {
	tool, _, err := keep.Tools.Get(from, e.Tenant, e.Tool)
	if err != nil {
		return nil, err
	}
	m, _, err := keep.Messages.Get(from, e.Tenant, e.Message)
	if err != nil {
		return nil, err
	}
	call, ok, err := keep.Invocations.Get(from, e.Tenant, e.Invocation)
	if err != nil || !ok {
		return nil, err
	}
	p, ok, err := r.Parts.Agent.Repairer.Propose(ctx, parts.RepairAsk{
		Tenant: e.Tenant, Tool: e.Tool, Schema: tool.Schema, Documentation: tool.Documentation, Payload: call.Payload,
		Reason: e.LastError.Message, Purpose: m.Purpose,
	})
	if err != nil || !ok {
		return nil, err
	}
	return &p, nil
}

// send writes what was found out about the entry, and where it goes. It returns the proposal that is to be replayed now.
func (r Recovery) send(tx store.Tx, key string, looked parts.Entry, proposal *parts.Proposal) (*parts.Proposal, error) {
	ports := r.Parts.Agent
	before, ok, err := r.entry(tx, key)
	if err != nil {
		return nil, err
	}
	work := store.Work{Kind: enrichWork, Key: key}
	if !ok {
		return nil, tx.MoveWork(work)
	}
	now := r.now()
	if before.Attempts != looked.Attempts {
		work.Due = now // it has failed again meanwhile
		tx.AfterCommit(r.Wake)
		return nil, tx.MoveWork(work)
	}
	e := before
	if e.Category != looked.Category {
		e.Category = looked.Category
		e = keep.Audited(e, now, parts.ByClassifier, parts.ActionClassified, e.Category)
	}
	e.Tags = []string{"kind:" + e.LastError.Kind}
	if proposal != nil {
		e.Proposal = proposal
		if err := ports.Metrics.Proposed(tx, e, *proposal); err != nil {
			return nil, err
		}
	}
	way := ports.Triage.Way(e)
	m, _, err := keep.Messages.Get(tx, e.Tenant, e.Message)
	if err != nil {
		return nil, err
	}
	if m.Compensated() && way != parts.WaySecurity {
		way = parts.WayHuman // the run was given up
	}
	if e.Review == parts.SecurityReview {
		way = parts.WaySecurity // whatever else it failed by since: a person has to look
	}
	var repair *parts.Proposal
	switch way {
	case parts.WayReplay:
		e.Review = ""
		e.NextReplay = keep.Instant(e.LastAttempt.Add(ports.BackOff.Delay(e.Attempts)))
		if err := ports.Recovery.Due(tx, e); err != nil {
			return nil, err
		}
	case parts.WayRepair:
		if repair, err = r.repair(tx, &e, &work, now); err != nil {
			return nil, err
		}
	case parts.WaySecurity:
		e = reviewed(e, now, parts.SecurityReview, parts.ByClassifier)
	default:
		by := parts.ByClassifier
		if e.Category == parts.Transient {
			by = parts.ByRecovery // which has given up
		}
		e = reviewed(e, now, parts.HumanReview, by)
	}
	if err := tx.MoveWork(work); err != nil {
		return nil, err
	}
	return repair, ports.Queues.Save(tx, before, e)
}

// repair decides about a semantic failure: a proposal that is sure enough is replayed, once, and any other waits for a person.
func (r Recovery) repair(tx store.Tx, e *parts.Entry, work *store.Work, now time.Time) (*parts.Proposal, error) {
	ports := r.Parts.Agent
	tried := slices.ContainsFunc(e.Audit, func(a parts.Audit) bool {
		return a.Action == parts.ActionRepair && a.By == parts.ByRepairer
	})
	if e.Proposal == nil || tried || !ports.Triage.Sure(*e.Proposal) {
		*e = reviewed(*e, now, parts.HumanReview, parts.ByRepairer)
		return nil, nil
	}
	paused, err := pausedIn(tx, e.Tenant, e.Tool)
	if err != nil || paused {
		return nil, err // it is looked at again when it is resumed
	}
	work.Due = ports.Leases.Until(now)
	return e.Proposal, nil
}

// reviewed hands the entry to a person. What is a matter of security stays one.
func reviewed(e parts.Entry, now time.Time, review, by string) parts.Entry {
	e.NextReplay = time.Time{}
	if e.Review == review || e.Review == parts.SecurityReview {
		return e
	}
	e.Review = review
	return keep.Audited(e, now, by, parts.ActionReview, review)
}
