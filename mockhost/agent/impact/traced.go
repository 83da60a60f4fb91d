package impact

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

// Traced implements parts.Impact on the store.
type Traced struct {
	Store store.Store
	Parts *parts.Parts
}

var _ parts.Impact = Traced{}

// execution is the run that a trace is about, with its entries that are unresolved.
type execution struct {
	message    parts.Message
	unresolved []parts.Entry
}

// find reads the execution of a trace: of several that share it, the first that has an unresolved entry, else the first.
func find(from store.RecordReader, tenant, traceID string) (x execution, known bool, err error) {
	messages, err := keep.Messages.List(from, tenant, store.RecordQuery{Trace: traceID})
	if err != nil || len(messages) == 0 {
		return x, false, err
	}
	entries, err := keep.ToolEntries.List(from, tenant, store.RecordQuery{States: []string{parts.Unresolved}, Trace: traceID})
	if err != nil {
		return x, false, err
	}
	x.message = messages[0]
	if len(entries) > 0 {
		for _, m := range messages {
			if m.ID == entries[0].Message {
				x.message = m
			}
		}
	}
	for _, e := range entries {
		if e.Message == x.message.ID {
			x.unresolved = append(x.unresolved, e)
		}
	}
	return x, true, nil
}

func (x execution) steps() []Step {
	steps := make([]Step, len(x.message.Steps))
	for i, s := range x.message.Steps {
		steps[i] = Step{Tool: s.Tool, DependsOn: s.DependsOn}
		if i < len(x.message.Progress) {
			p := x.message.Progress[i]
			steps[i].Done, steps[i].SideEffect, steps[i].Compensated = p.State == parts.StepDone, p.SideEffect, p.Compensated
		}
	}
	for _, e := range x.unresolved {
		if e.Step < len(steps) {
			steps[e.Step].Unresolved = true
		}
	}
	return steps
}

// Of implements parts.Impact.
func (t Traced) Of(ctx context.Context, p parts.Principal, traceID string) ([]parts.ImpactStep, int, bool, error) {
	from := t.Store.Reading(ctx)
	x, known, err := find(from, p.Tenant, traceID)
	if err != nil || !known {
		return nil, 0, false, err
	}
	active := map[string]bool{}
	for _, e := range x.unresolved {
		same, err := keep.ToolEntries.List(from, p.Tenant, store.RecordQuery{States: []string{parts.Unresolved}, Tool: e.Tool})
		if err != nil {
			return nil, 0, false, err
		}
		for _, other := range same {
			active[other.Run] = true
		}
	}
	return Of(x.steps()), len(active), true, nil
}

// Compensate implements parts.Impact. Each side effect is taken back in the transaction that says so, and so once. With the
// first the run is given up: a replay that went on from effects which aren't there any more would tear the two sides apart.
func (t Traced) Compensate(ctx context.Context, p parts.Principal, traceID string) (known bool, err error) {
	err = t.Store.Write(ctx, func(tx store.Tx) error {
		var x execution
		if x, known, err = find(tx, p.Tenant, traceID); err != nil || !known {
			return err
		}
		offered := slices.DeleteFunc(Of(x.steps()), func(s parts.ImpactStep) bool { return s.Compensation != Offered })
		if len(offered) == 0 {
			return nil
		}
		if x.message.Replaying != "" {
			return &parts.Problem{
				Status: http.StatusConflict, Code: "run_state_conflict", Message: "a replay of this run is under way; compensate when it is over",
			}
		}
		for _, step := range offered {
			did := &x.message.Progress[step.Step]
			did.Compensated = true
			name := did.Tool
			if name == "" {
				name = step.Tool
			}
			tool, ok, err := keep.Tools.Get(tx, p.Tenant, name)
			if err != nil || !ok {
				return err
			}
			tool.Effects--
			if err := keep.Tools.Put(tx, tool); err != nil {
				return err
			}
		}
		if err := keep.Messages.Put(tx, x.message); err != nil {
			return err
		}
		return t.handOver(tx, p, x.unresolved)
	})
	if err != nil {
		return false, fmt.Errorf("compensate what trace %s did: %w", traceID, err)
	}
	return known, nil
}

// handOver gives the entries of a run that was given up to a person, and nothing replays them.
func (t Traced) handOver(tx store.Tx, p parts.Principal, unresolved []parts.Entry) error {
	now := keep.Instant(t.Parts.Clock.Now())
	for _, before := range unresolved {
		e := before
		e.NextReplay = time.Time{}
		if e.Review == "" {
			e.Review = parts.HumanReview
			e = keep.Audited(e, now, p.Subject, parts.ActionReview, e.Review)
		}
		if err := t.Parts.Agent.Queues.Save(tx, before, e); err != nil {
			return err
		}
	}
	return nil
}
