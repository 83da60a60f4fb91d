// Package recovery is what happens to an entry of the tool queue after it was appended: it is classified, replays by
// itself or is repaired or waits for a person, drains in batches, and is gone at the end of its days.
//
// It replays nothing itself: that is the Replayer's, which sees to it that there is one replay of an entry at a time. It
// keeps nothing in memory: what is to be done is due work, and what was done is in the entry. Start at Recovery; enrich.go
// is the first look at an entry, replays.go the replays that are due, drain.go the drains, pauses.go what holds both back.
package recovery

import (
	"context"
	"errors"
	"log/slog"
	"time"

	"github.com/wopwitness/wopwitness/mockhost/agent"
	"github.com/wopwitness/wopwitness/mockhost/agent/keep"
	"github.com/wopwitness/wopwitness/mockhost/parts"
	"github.com/wopwitness/wopwitness/mockhost/store"
)

// The kinds of recovery's due work, besides those of package agent. The key of ReplayWork is EntryKey of the entry, that of
// DrainWork Key of the drain.
const (
	ReplayWork = "agent.recover"
	DrainWork  = "agent.drain"

	enrichWork = agent.EnrichWork
)

// Crew does work in the background; package agent's does.
type Crew interface {
	// Go works under a key, unless somebody does already.
	Go(key string, work func(ctx context.Context)) (end <-chan struct{}, begun bool)
}

// Recovery is recovery for one instance.
type Recovery struct {
	Store store.Store
	Parts *parts.Parts
	Crew  Crew
	Log   *slog.Logger
	// Wake tells the runner of due work that some is due now.
	Wake func()
}

var (
	_ parts.Enricher = Recovery{}
	_ parts.Recovery = Recovery{}
	_ parts.Pauses   = Recovery{}
)

func (r Recovery) now() time.Time { return keep.Instant(r.Parts.Clock.Now()) }

func (r Recovery) move(ctx context.Context, kind, key string, due time.Time) error {
	return r.Store.Write(ctx, func(tx store.Tx) error {
		return tx.MoveWork(store.Work{Kind: kind, Key: key, Due: due})
	})
}

func (r Recovery) drop(ctx context.Context, kind, key string) error {
	return r.move(ctx, kind, key, time.Time{})
}

// lastWords is how long, in real time, the piece of the same work before this one is waited for: it has said when this one is due,
// and may not have come to its end.
const lastWords = time.Second

// background does a piece of due work without holding up the work that is due after it: that of one tool may be slow. Until
// it is done, the work is due again after a lease, should this process die.
func (r Recovery) background(ctx context.Context, kind, key string, now time.Time, do func(ctx context.Context) error) error {
	if err := r.move(ctx, kind, key, r.Parts.Agent.Leases.Until(now)); err != nil {
		return err
	}
	late := time.NewTimer(lastWords)
	defer late.Stop()
	for range 2 { // a crew that has stopped begins nothing however often it is asked
		end, begun := r.Crew.Go(kind+" "+key, func(ctx context.Context) {
			err := do(ctx)
			if err != nil && ctx.Err() == nil && !errors.Is(err, store.ErrClosed) {
				r.Log.Error("recovery broke off, and goes on when its lease is over", "work", kind, "of", key, "error", err)
			}
		})
		if begun {
			return nil
		}
		select {
		case <-end:
		case <-late.C:
			return nil // still at work: its lease goes on
		case <-ctx.Done():
			return ctx.Err()
		}
	}
	return nil
}

// entry reads an entry of the tool queue by the key of its work; ok is false for one that is gone or final.
func (r Recovery) entry(from store.RecordReader, key string) (e parts.Entry, ok bool, err error) {
	tenant, queue, id := agent.SplitEntryKey(key)
	e, ok, err = keep.Entries(queue).Get(from, tenant, id)
	return e, ok && e.Resolution == parts.Unresolved, err
}
