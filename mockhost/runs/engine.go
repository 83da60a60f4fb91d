// Package runs is the run engine: workflows run node by node, attempt by attempt, as due work on the host's clock.
//
// What a run is, its log says: every decision is a fold of the log, made and written in one transaction, so a crash at any
// moment loses no attempt and counts none twice. The engine knows no workflow by name, and nothing of majors or HTTP.
// Start at Engine; fold.go reads the log, step.go goes on from it, fork.go and purge.go are the other writers.
package runs

import (
	"context"
	"crypto/rand"
	"encoding/json"
	"fmt"
	"strings"
	"sync"
	"time"

	"github.com/oklog/ulid/v2"

	"github.com/wopwitness/wopwitness/mockhost/parts"
	"github.com/wopwitness/wopwitness/mockhost/store"
)

// The kinds of a run's due work; their key is Key of the run.
const (
	StepWork  = "runs.step"
	PurgeWork = "runs.purge"
)

// Engine implements parts.Runs.
type Engine struct {
	store store.Store
	parts *parts.Parts
	// wake tells the runner of due work that some is due now.
	wake func()
	stop func()

	mu       sync.Mutex
	watchers map[string]map[chan struct{}]struct{} // by run
}

var _ parts.Runs = (*Engine)(nil)

// New makes the engine of one instance, which listens to the store's signals until Close. wake is called once work is due.
func New(s store.Store, p *parts.Parts, wake func()) *Engine {
	e := &Engine{store: s, parts: p, wake: wake, watchers: map[string]map[chan struct{}]struct{}{}}
	e.stop = s.Listen(e.hear)
	return e
}

// Close ends the listening. Whoever watches a run isn't told any more.
func (e *Engine) Close() { e.stop() }

// Key is the key of a run's due work: its tenant and its ID.
func Key(r store.Run) string { return r.Tenant + "/" + r.ID }

// split undoes Key. No tenant has a slash in its name.
func split(key string) (tenant, id string) {
	tenant, id, _ = strings.Cut(key, "/")
	return tenant, id
}

// Create implements parts.Runs.
func (e *Engine) Create(ctx context.Context, p parts.Principal, workflow string, o parts.RunOptions, made parts.Made) (store.Run, error) {
	options, err := json.Marshal(o)
	if err != nil {
		return store.Run{}, fmt.Errorf("keep what the run was given: %w", err)
	}
	r := store.Run{
		Tenant: p.Tenant, Workspace: p.Workspace, Subject: p.Subject, Workflow: workflow, Options: options,
		At: instant(e.parts.Clock.Now()),
	}
	if r.ID, err = newID("r-", r.At); err != nil {
		return store.Run{}, err
	}
	if err := e.begin(ctx, r, nil, made); err != nil {
		return store.Run{}, fmt.Errorf("create a run of %s: %w", workflow, err)
	}
	return r, nil
}

// begin writes a run, the log that it begins with, and the work of its first step.
func (e *Engine) begin(ctx context.Context, r store.Run, log []store.RunEvent, made parts.Made) error {
	err := e.store.Write(ctx, func(tx store.Tx) error {
		if err := tx.InsertRun(r); err != nil {
			return err
		}
		for _, ev := range log {
			if err := tx.AppendRunEvent(r.Tenant, r.ID, ev); err != nil {
				return err
			}
		}
		if err := tx.PutWork(store.Work{Kind: StepWork, Key: Key(r), Due: r.At}); err != nil {
			return err
		}
		if made != nil {
			return made(tx, r)
		}
		return nil
	})
	if err == nil {
		e.wake()
	}
	return err
}

// Find implements parts.Runs.
func (e *Engine) Find(ctx context.Context, p parts.Principal, id string) (store.Run, bool, error) {
	r, ok, err := e.store.Run(ctx, p.Tenant, id)
	if err != nil || !ok || !sees(p, r) {
		return store.Run{}, false, err
	}
	return r, true, nil
}

// sees follows the owner: a run of a workspace is seen from that workspace alone.
func sees(p parts.Principal, r store.Run) bool {
	return r.Tenant == p.Tenant && (r.Workspace == "" || r.Workspace == p.Workspace)
}

// List implements parts.Runs.
func (e *Engine) List(ctx context.Context, p parts.Principal, after string, limit int) ([]store.Run, error) {
	return e.store.Runs(ctx, p.Tenant, store.RunPage{Workspace: p.Workspace, After: after, Limit: limit})
}

// wholeLog is a limit beyond every run's log.
const wholeLog = 1 << 20

// Events implements parts.Runs.
func (e *Engine) Events(ctx context.Context, r store.Run, after int64) ([]store.RunEvent, error) {
	return e.store.RunEvents(ctx, r.Tenant, r.ID, after, wholeLog)
}

// State implements parts.Runs.
func (e *Engine) State(ctx context.Context, r store.Run) (parts.RunState, error) {
	log, err := e.store.RunEvents(ctx, r.Tenant, r.ID, -1, wholeLog)
	if err != nil {
		return parts.RunState{}, err
	}
	return read(log).state(), nil
}

// Watch implements parts.Runs. A change that comes while nobody receives is kept.
func (e *Engine) Watch(r store.Run) (<-chan struct{}, func()) {
	c := make(chan struct{}, 1)
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.watchers[r.ID] == nil {
		e.watchers[r.ID] = map[chan struct{}]struct{}{}
	}
	e.watchers[r.ID][c] = struct{}{}
	return c, func() {
		e.mu.Lock()
		defer e.mu.Unlock()
		delete(e.watchers[r.ID], c)
		if len(e.watchers[r.ID]) == 0 {
			delete(e.watchers, r.ID)
		}
	}
}

func (e *Engine) hear(s store.Signal) {
	e.mu.Lock()
	defer e.mu.Unlock()
	if s.CatchUp {
		for _, watchers := range e.watchers {
			wake(watchers)
		}
		return
	}
	wake(e.watchers[s.Run])
}

func wake(watchers map[chan struct{}]struct{}) {
	for c := range watchers {
		select {
		case c <- struct{}{}:
		default:
		}
	}
}

// announce tells every instance, once the transaction is durable, that the run has changed.
func (e *Engine) announce(ctx context.Context, tx store.Tx, r store.Run) {
	tx.AfterCommit(func() {
		// A watcher that isn't told looks again by itself; a store that is closing has nobody left to tell.
		_ = e.store.Announce(context.WithoutCancel(ctx), store.Signal{Tenant: r.Tenant, Run: r.ID})
	})
}

// instant is a time as an event can carry it, so that the stored and the sent one are equal.
func instant(t time.Time) time.Time { return t.UTC().Truncate(time.Millisecond) }

// newID makes an unguessable id that sorts by its time. It has no "~", which no tenant-bound id may have.
func newID(prefix string, at time.Time) (string, error) {
	id, err := ulid.New(ulid.Timestamp(at), rand.Reader)
	if err != nil {
		return "", fmt.Errorf("make an id: %w", err)
	}
	return prefix + id.String(), nil
}
