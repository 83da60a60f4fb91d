package recovery

import (
	"context"
	"crypto/rand"
	"fmt"
	"slices"
	"time"

	"github.com/oklog/ulid/v2"

	"github.com/wopwitness/wopwitness/mockhost/agent"
	"github.com/wopwitness/wopwitness/mockhost/agent/keep"
	"github.com/wopwitness/wopwitness/mockhost/parts"
	"github.com/wopwitness/wopwitness/mockhost/store"
)

// Drains is the drains of one instance.
type Drains struct{ Recovery }

var _ parts.Drainer = Drains{}

// Start implements parts.Drainer.
func (r Drains) Start(ctx context.Context, p parts.Principal, ask parts.DrainRequest) (string, error) {
	now := r.now()
	id, err := ulid.New(ulid.Timestamp(now), rand.Reader)
	if err != nil {
		return "", fmt.Errorf("make an id: %w", err)
	}
	d := parts.Drain{
		Tenant: p.Tenant, ID: "drain-" + id.String(), Request: ask, At: now, State: parts.DrainRunning, By: p.Subject,
		Failed: []parts.DrainFailure{},
	}
	err = r.Store.Write(ctx, func(tx store.Tx) error {
		if err := known(tx, p.Tenant, ask.Tool); err != nil {
			return err
		}
		if _, err := keep.Drains.Insert(tx, &d); err != nil {
			return err
		}
		tx.AfterCommit(r.Wake)
		return tx.PutWork(store.Work{Kind: DrainWork, Key: agent.Key(p.Tenant, d.ID), Due: now})
	})
	if err != nil {
		return "", fmt.Errorf("begin a drain: %w", err)
	}
	return d.ID, nil
}

// Find implements parts.Drainer.
func (r Drains) Find(ctx context.Context, p parts.Principal, id string) (parts.Drain, bool, error) {
	from := r.Store.Reading(ctx)
	d, ok, err := keep.Drains.Get(from, p.Tenant, id)
	if err != nil || !ok {
		return d, false, err
	}
	left, err := r.left(from, d)
	d.Remaining = len(left)
	return d, true, err
}

// left are the entries whose turn is still to come, oldest first.
func (r Drains) left(from store.RecordReader, d parts.Drain) ([]parts.Entry, error) {
	if d.State == parts.DrainDone {
		return nil, nil
	}
	before := d.At.Add(time.Millisecond)
	if d.Request.OlderThan > 0 {
		before = d.At.Add(-d.Request.OlderThan)
	}
	all, err := keep.ToolEntries.List(from, d.Tenant, store.RecordQuery{
		States: []string{parts.Unresolved}, Tool: d.Request.Tool, Category: d.Request.Category, Before: before,
	})
	return slices.DeleteFunc(all, func(e parts.Entry) bool {
		return !r.Parts.Agent.Triage.Drains(e) || slices.Contains(d.Passed, e.ID) ||
			slices.ContainsFunc(d.Failed, func(f parts.DrainFailure) bool { return f.Entry == e.ID })
	}), err
}

// Tick implements parts.Drainer: one turn of a drain, which is an entry, or the end.
func (r Drains) Tick(ctx context.Context, key string, now time.Time) error {
	tenant, id := agent.SplitKey(key)
	from := r.Store.Reading(ctx)
	d, ok, err := keep.Drains.Get(from, tenant, id)
	if err != nil {
		return err
	}
	if !ok || d.State != parts.DrainRunning {
		return r.drop(ctx, DrainWork, key)
	}
	left, err := r.left(from, d)
	if err != nil {
		return err
	}
	for _, e := range left {
		paused, err := r.Parts.Agent.Pauses.Paused(ctx, tenant, e.Tool)
		if err != nil {
			return err
		}
		if !paused {
			return r.background(ctx, DrainWork, key, now, func(ctx context.Context) error { return r.turn(ctx, d, e, now) })
		}
	}
	state := parts.DrainDone
	if len(left) > 0 {
		state = parts.DrainPaused
	}
	return r.change(ctx, d, func(d *parts.Drain) (next time.Time) {
		d.State = state
		return time.Time{}
	})
}

// turn replays an entry, and schedules the next turn: no earlier than the rate allows.
func (r Drains) turn(ctx context.Context, d parts.Drain, e parts.Entry, now time.Time) error {
	_, end, err := r.Parts.Agent.Replayer.Replay(ctx, d.Tenant, parts.ReplayRequest{
		Queue: e.Queue, ID: e.ID, By: d.By, Action: parts.ActionReplay, Notes: "by " + d.ID,
	})
	if err != nil && !settled(err) {
		return err
	}
	if ctx.Err() != nil {
		return ctx.Err()
	}
	return r.change(ctx, d, func(d *parts.Drain) (next time.Time) {
		switch end {
		case parts.ReplaySucceeded:
			d.Succeeded++
			d.InSucceeded++
		case parts.ReplayFailed, parts.ReplayExpired, parts.ReplayRefused:
			d.Failed = append(d.Failed, parts.DrainFailure{Entry: e.ID, Status: end})
		default:
			d.Passed = append(d.Passed, e.ID)
			return now // its turn cost nothing
		}
		d.Replayed++
		if d.In++; d.In == d.Request.Batch {
			if float64(d.InSucceeded) < d.Request.MinSuccessRate*float64(d.In) {
				d.State = parts.DrainStopped
				return time.Time{}
			}
			d.In, d.InSucceeded = 0, 0
		}
		return now.Add(time.Duration(float64(time.Second) / d.Request.PerSecond))
	})
}

// change writes what a turn came to, and when the next one is; the zero time for none.
func (r Drains) change(ctx context.Context, of parts.Drain, f func(d *parts.Drain) (next time.Time)) error {
	return r.Store.Write(ctx, func(tx store.Tx) error {
		d, ok, err := keep.Drains.Get(tx, of.Tenant, of.ID)
		if err != nil || !ok {
			return err
		}
		next := f(&d)
		if err := keep.Drains.Put(tx, d); err != nil {
			return err
		}
		tx.AfterCommit(r.Wake)
		return tx.MoveWork(store.Work{Kind: DrainWork, Key: agent.Key(d.Tenant, d.ID), Due: next})
	})
}
