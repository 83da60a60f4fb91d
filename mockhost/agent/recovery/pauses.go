package recovery

import (
	"context"
	"fmt"

	"github.com/wopwitness/wopwitness/mockhost/agent"
	"github.com/wopwitness/wopwitness/mockhost/agent/keep"
	"github.com/wopwitness/wopwitness/mockhost/parts"
	"github.com/wopwitness/wopwitness/mockhost/store"
)

// everything names the pause of all tools.
const everything = "*"

// Pause implements parts.Pauses. tool is "" for all.
func (r Recovery) Pause(ctx context.Context, p parts.Principal, tool string) (paused []string, err error) {
	if tool == "" {
		tool = everything
	}
	err = r.Store.Write(ctx, func(tx store.Tx) error {
		if err := known(tx, p.Tenant, tool); err != nil {
			return err
		}
		if _, err := keep.Pauses.Insert(tx, &keep.Pause{Tenant: p.Tenant, Tool: tool, At: r.now()}); err != nil {
			return err
		}
		paused, err = pausedNames(tx, p.Tenant)
		return err
	})
	if err != nil {
		return nil, fmt.Errorf("pause %s: %w", tool, err)
	}
	return paused, nil
}

// Resume implements parts.Pauses. Of all ("") it ends every pause; of a tool that is paused with all others, nothing.
func (r Recovery) Resume(ctx context.Context, p parts.Principal, tool string) (paused []string, err error) {
	err = r.Store.Write(ctx, func(tx store.Tx) error {
		if err := known(tx, p.Tenant, tool); err != nil {
			return err
		}
		ends := []string{tool}
		if tool == "" {
			if ends, err = pausedNames(tx, p.Tenant); err != nil {
				return err
			}
		}
		for _, name := range ends {
			if err := keep.Pauses.Drop(tx, p.Tenant, name); err != nil {
				return err
			}
		}
		if err := r.takeUp(tx, p.Tenant, tool); err != nil {
			return err
		}
		paused, err = pausedNames(tx, p.Tenant)
		return err
	})
	if err != nil {
		return nil, fmt.Errorf("resume %s: %w", tool, err)
	}
	return paused, nil
}

// List implements parts.Pauses.
func (r Recovery) List(ctx context.Context, p parts.Principal) ([]string, error) {
	return pausedNames(r.Store.Reading(ctx), p.Tenant)
}

// known refuses the name of a tool that nobody registered, that no entry has, and that isn't paused: it is mistyped, and
// whoever pauses it would believe that something is held back. Neither "" nor "*" is a tool's name.
func known(from store.RecordReader, tenant, tool string) error {
	if tool == "" || tool == everything {
		return nil
	}
	if _, ok, err := keep.Tools.Get(from, tenant, tool); err != nil || ok {
		return err
	}
	if _, ok, err := keep.Pauses.Get(from, tenant, tool); err != nil || ok {
		return err
	}
	named, err := keep.ToolEntries.List(from, tenant, store.RecordQuery{Tool: tool, Limit: 1})
	if err == nil && len(named) == 0 {
		err = parts.NotFound("tool: nobody registered it, and no entry names it")
	}
	return err
}

// Paused implements parts.Pauses.
func (r Recovery) Paused(ctx context.Context, tenant, tool string) (bool, error) {
	return pausedIn(r.Store.Reading(ctx), tenant, tool)
}

func pausedIn(from store.RecordReader, tenant, tool string) (bool, error) {
	for _, name := range []string{tool, everything} {
		if _, paused, err := keep.Pauses.Get(from, tenant, name); err != nil || paused {
			return paused, err
		}
	}
	return false, nil
}

func pausedNames(from store.RecordReader, tenant string) ([]string, error) {
	all, err := keep.Pauses.List(from, tenant, store.RecordQuery{})
	names := make([]string, 0, len(all))
	for _, p := range all {
		names = append(names, p.Tool)
	}
	return names, err
}

// takeUp schedules what was held back: the replays that have fallen due, the repairs, and the drains.
func (r Recovery) takeUp(tx store.Tx, tenant, tool string) error {
	now := r.now()
	waiting, err := keep.ToolEntries.List(tx, tenant, store.RecordQuery{States: []string{parts.Unresolved}, Tool: tool})
	if err != nil {
		return err
	}
	for _, e := range waiting {
		if paused, err := pausedIn(tx, tenant, e.Tool); err != nil || paused {
			if err != nil {
				return err
			}
			continue
		}
		switch {
		case !e.NextReplay.IsZero():
			err = r.Parts.Agent.Recovery.Due(tx, e)
		case e.Review == "" && e.Proposal != nil:
			err = tx.MoveWork(store.Work{Kind: enrichWork, Key: agent.EntryKey(e), Due: now})
		}
		if err != nil {
			return err
		}
	}
	drains, err := keep.Drains.List(tx, tenant, store.RecordQuery{States: []string{parts.DrainPaused}})
	if err != nil {
		return err
	}
	for _, d := range drains {
		d.State = parts.DrainRunning
		if err := keep.Drains.Put(tx, d); err != nil {
			return err
		}
		if err := tx.MoveWork(store.Work{Kind: DrainWork, Key: agent.Key(tenant, d.ID), Due: now}); err != nil {
			return err
		}
	}
	tx.AfterCommit(r.Wake)
	return nil
}
