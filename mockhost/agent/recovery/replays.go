package recovery

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"time"

	"github.com/wopwitness/wopwitness/mockhost/agent"
	"github.com/wopwitness/wopwitness/mockhost/agent/keep"
	"github.com/wopwitness/wopwitness/mockhost/parts"
	"github.com/wopwitness/wopwitness/mockhost/store"
)

// lookAt is the first instant at or after at at which recovery looks for due entries: the multiples of its interval.
func (r Recovery) lookAt(at time.Time) time.Time {
	every := r.Parts.Agent.Numbers.RecoveryInterval
	on := at.Truncate(every)
	if on.Before(at) {
		on = on.Add(every)
	}
	return on
}

// Due implements parts.Recovery.
func (r Recovery) Due(tx store.Tx, e parts.Entry) error {
	return tx.MoveWork(store.Work{Kind: ReplayWork, Key: agent.EntryKey(e), Due: r.lookAt(e.NextReplay)})
}

// Tick implements parts.Recovery. The work of a paused tool's entry is dropped, and scheduled again by Resume.
func (r Recovery) Tick(ctx context.Context, key string, now time.Time) error {
	e, ok, err := r.entry(r.Store.Reading(ctx), key)
	if err != nil {
		return err
	}
	if !ok || e.NextReplay.IsZero() {
		return r.drop(ctx, ReplayWork, key)
	}
	if e.NextReplay.After(now) {
		return r.Store.Write(ctx, func(tx store.Tx) error { return r.Parts.Agent.Recovery.Due(tx, e) })
	}
	paused, err := r.Parts.Agent.Pauses.Paused(ctx, e.Tenant, e.Tool)
	if err != nil {
		return err
	}
	if paused {
		return r.drop(ctx, ReplayWork, key)
	}
	return r.background(ctx, ReplayWork, key, now, func(ctx context.Context) error {
		_, end, err := r.Parts.Agent.Replayer.Replay(ctx, e.Tenant, parts.ReplayRequest{
			Queue: e.Queue, ID: e.ID, By: parts.ByRecovery, Action: parts.ActionReplay,
		})
		if err != nil && !settled(err) {
			return err
		}
		if end == parts.ReplayRefused {
			return r.putOff(ctx, key)
		}
		return nil
	})
}

// putOff gives an entry whose circuit is open the instant after which a call can go through.
func (r Recovery) putOff(ctx context.Context, key string) error {
	return r.Store.Write(ctx, func(tx store.Tx) error {
		before, ok, err := r.entry(tx, key)
		if err != nil || !ok {
			return err
		}
		e := before
		e.NextReplay = r.now().Add(r.Parts.Agent.Numbers.Breaker)
		if err := r.Parts.Agent.Recovery.Due(tx, e); err != nil {
			return err
		}
		return r.Parts.Agent.Queues.Save(tx, before, e)
	})
}

// settled says whether a replay was refused for a reason that the entry itself tells by now.
func settled(err error) bool {
	var p *parts.Problem
	return errors.As(err, &p) && (p.Status == http.StatusConflict || p.Status == http.StatusNotFound)
}

// Expire implements parts.Recovery. A conversation goes with the last entry that points to it.
func (r Recovery) Expire(ctx context.Context, key string, now time.Time) error {
	tenant, queue, id := agent.SplitEntryKey(key)
	kind := keep.Entries(queue)
	err := r.Store.Write(ctx, func(tx store.Tx) error {
		work := store.Work{Kind: agent.ExpireWork, Key: key}
		e, ok, err := kind.Get(tx, tenant, id)
		if err != nil {
			return err
		}
		if ok {
			m, _, err := keep.Messages.Get(tx, tenant, e.Message)
			if err != nil {
				return err
			}
			if m.Replaying == e.ID {
				work.Due = r.Parts.Agent.Leases.Until(now)
				return tx.MoveWork(work)
			}
			if err := r.remove(tx, e); err != nil {
				return err
			}
		}
		for _, kind := range []string{enrichWork, ReplayWork} {
			if err := tx.MoveWork(store.Work{Kind: kind, Key: key}); err != nil {
				return err
			}
		}
		return tx.MoveWork(work)
	})
	if err != nil {
		return fmt.Errorf("end the days of entry %s: %w", id, err)
	}
	return nil
}

func (r Recovery) remove(tx store.Tx, e parts.Entry) error {
	if err := keep.Entries(e.Queue).Drop(tx, e.Tenant, e.ID); err != nil {
		return err
	}
	if e.Queue != parts.ToolQueue {
		return nil
	}
	others, err := keep.ToolEntries.List(tx, e.Tenant, store.RecordQuery{Trace: e.TraceID})
	if err != nil {
		return err
	}
	for _, o := range others {
		if o.Conversation == e.Conversation {
			return nil
		}
	}
	return keep.Conversations.Drop(tx, e.Tenant, e.Conversation)
}
