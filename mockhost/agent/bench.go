package agent

import (
	"context"
	"fmt"
	"time"

	"github.com/wopwitness/wopwitness/mockhost/agent/keep"
	"github.com/wopwitness/wopwitness/mockhost/parts"
	"github.com/wopwitness/wopwitness/mockhost/store"
)

// Bench implements parts.ToolBench, and is the book of the tool server: the scripts of the tools and what is counted of
// them, in the store, so that instances and restarts agree.
type Bench struct {
	Store store.Store
	Now   func() time.Time
	// Parts gives the breaker, for what a person is shown; a book needs none.
	Parts *parts.Parts
}

var _ parts.ToolBench = Bench{}

// Put implements parts.ToolBench.
func (b Bench) Put(ctx context.Context, p parts.Principal, t parts.Tool) error {
	t.Tenant, t.Next = p.Tenant, 0
	err := b.Store.Write(ctx, func(tx store.Tx) error {
		before, _, err := keep.Tools.Get(tx, t.Tenant, t.Name)
		if err != nil {
			return err
		}
		t.Effects = before.Effects
		return keep.Tools.Put(tx, t)
	})
	if err != nil {
		return fmt.Errorf("register tool %s: %w", t.Name, err)
	}
	return nil
}

// Find implements parts.ToolBench.
func (b Bench) Find(ctx context.Context, p parts.Principal, name string) (parts.ToolView, bool, error) {
	var v parts.ToolView
	from := b.Store.Reading(ctx)
	t, known, err := keep.Tools.Get(from, p.Tenant, name)
	if err != nil || !known {
		return v, false, err
	}
	v.Tool = t
	if v.Calls, err = keep.Arrivals.List(from, p.Tenant, store.RecordQuery{Tool: name}); err != nil {
		return v, false, err
	}
	if v.Circuit, _, err = keep.Circuits.Get(from, p.Tenant, name); err != nil {
		return v, false, err
	}
	v.State = b.Parts.Agent.Breaker.State(v.Circuit, keep.Instant(b.Now()))
	return v, true, nil
}

// Take lets a call arrive at its tool: the next outcome of the script, the call counted, and its side effect done where it
// has one. A key that an idempotent tool has seen counts no second effect.
func (b Bench) Take(ctx context.Context, c parts.ToolCall) (out parts.ToolOutcome, known bool, err error) {
	err = b.Store.Write(ctx, func(tx store.Tx) error {
		var t parts.Tool
		if t, known, err = keep.Tools.Get(tx, c.Tenant, c.Tool); err != nil || !known {
			return err
		}
		out = t.Script[min(t.Next, len(t.Script)-1)]
		t.Next++
		now := keep.Instant(b.Now())
		a := parts.ToolArrival{Tenant: c.Tenant, Tool: c.Tool, Run: c.Run, Step: c.Step, Attempt: c.Attempt, At: now, Outcome: out.Outcome}
		if a.ID, err = newID("", now); err != nil {
			return err
		}
		if _, err := keep.Arrivals.Insert(tx, &a); err != nil {
			return err
		}
		if out.Outcome == parts.ToolOK && t.SideEffect {
			e := parts.Effect{Tenant: c.Tenant, Tool: c.Tool, Key: c.IdempotencyKey()}
			first, err := keep.Effects.Insert(tx, &e)
			if err != nil {
				return err
			}
			if first || !t.Idempotent {
				t.Effects++
			}
		}
		return keep.Tools.Put(tx, t)
	})
	if err != nil {
		return out, false, fmt.Errorf("take a call of %s: %w", c.Tool, err)
	}
	return out, known, nil
}
