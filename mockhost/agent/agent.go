// Package agent is the agent worker: messages come in, a model decides on tool calls, and every message, call and token is
// accounted for, whatever fails.
//
// What a worker does is written between two steps of its work, never during one: a record is durable before its call goes
// out, and an outcome with everything that follows from it is one transaction. So a worker that dies at any moment leaves
// what another can go on from. It decides nothing that a port of package parts decides. Start at Worker; intake.go is the
// door, delivery.go one delivery of a message, attempt.go one call of a tool, replay.go the way back out of the queue.
package agent

import (
	"context"
	"crypto/rand"
	"encoding/hex"
	"errors"
	"fmt"
	"log/slog"
	"strings"
	"time"

	"github.com/oklog/ulid/v2"

	"github.com/wopwitness/wopwitness/mockhost/agent/keep"
	"github.com/wopwitness/wopwitness/mockhost/parts"
	"github.com/wopwitness/wopwitness/mockhost/store"
)

// The kinds of the worker's due work. The key of DeliverWork is Key of the message, that of EnrichWork EntryKey.
const (
	DeliverWork = "agent.deliver"
	EnrichWork  = "agent.enrich"
	ExpireWork  = "agent.expire"
)

// errLost ends a delivery whose message another worker has taken over.
var errLost = errors.New("another worker has taken the message over")

// errDied ends a delivery whose worker was killed: nothing more is written.
var errDied = errors.New("the worker was killed")

// Worker takes messages in and works on them, for one instance.
type Worker struct {
	store store.Store
	parts *parts.Parts
	crew  *Crew
	log   *slog.Logger
	// wake tells the runner of due work that some is due now.
	wake func()
}

var (
	_ parts.AgentIntake = (*Worker)(nil)
	_ parts.Replayer    = (*Worker)(nil)
)

// New makes the worker of one instance; the crew does its work, and is that of all instances of this process.
func New(s store.Store, p *parts.Parts, crew *Crew, log *slog.Logger, wake func()) *Worker {
	return &Worker{store: s, parts: p, crew: crew, log: log, wake: wake}
}

func (w *Worker) now() time.Time { return keep.Instant(w.parts.Clock.Now()) }

// Key is the key of a message's due work. No tenant has a slash in its name.
func Key(tenant, id string) string { return tenant + "/" + id }

// SplitKey undoes Key.
func SplitKey(key string) (tenant, id string) {
	tenant, id, _ = strings.Cut(key, "/")
	return tenant, id
}

// EntryKey is the key of an entry's due work.
func EntryKey(e parts.Entry) string { return e.Tenant + "/" + e.Queue + "/" + e.ID }

// SplitEntryKey undoes EntryKey.
func SplitEntryKey(key string) (tenant, queue, id string) {
	tenant, rest, _ := strings.Cut(key, "/")
	queue, id, _ = strings.Cut(rest, "/")
	return tenant, queue, id
}

// newID makes an unguessable id that sorts by its time.
func newID(prefix string, at time.Time) (string, error) {
	id, err := ulid.New(ulid.Timestamp(at), rand.Reader)
	if err != nil {
		return "", fmt.Errorf("make an id: %w", err)
	}
	return prefix + id.String(), nil
}

// hexID is a random id of n bytes, as those of traces (16) and spans (8) are.
func hexID(n int) string {
	b := make([]byte, n)
	_, _ = rand.Read(b) // never fails, says its package
	return hex.EncodeToString(b)
}

// trace reads a traceparent of W3C Trace Context, or makes a trace where there is none.
func trace(parent string) (traceID, span string, err error) {
	if parent == "" {
		return hexID(16), "", nil
	}
	f := strings.Split(parent, "-")
	if len(f) != 4 || f[0] != "00" || !lowerHex(f[1], 32) || !lowerHex(f[2], 16) || !lowerHex(f[3], 2) ||
		strings.Trim(f[1], "0") == "" || strings.Trim(f[2], "0") == "" {
		return "", "", parts.Invalid("traceparent must be 00-, a trace of 32 hex digits, a span of 16, and flags")
	}
	return f[1], f[2], nil
}

func lowerHex(s string, n int) bool {
	return len(s) == n && strings.Trim(s, "0123456789abcdef") == ""
}

// Recover gives every message that is under way to a worker at once, whoever held it: for the start on a store that no
// other process can have open, where whoever held a lease is dead.
func (w *Worker) Recover(ctx context.Context) error {
	for _, tenant := range w.parts.Directory.Tenants() {
		found, err := keep.Messages.List(w.store.Reading(ctx), tenant, store.RecordQuery{States: keep.UnderWay()})
		if err != nil {
			return fmt.Errorf("find the messages that are under way: %w", err)
		}
		for _, m := range found {
			if err := w.release(ctx, m); err != nil {
				return fmt.Errorf("take up message %s: %w", m.ID, err)
			}
		}
	}
	return nil
}

func (w *Worker) release(ctx context.Context, found parts.Message) error {
	return w.store.Write(ctx, func(tx store.Tx) error {
		m, ok, err := keep.Messages.Get(tx, found.Tenant, found.ID)
		if err != nil || !ok {
			return err
		}
		due := w.now()
		if m.Wait.After(due) {
			due = m.Wait
		}
		m.LeaseUntil = time.Time{}
		m.Token++ // a worker that isn't dead after all writes nothing more
		if err := keep.Messages.Put(tx, m); err != nil {
			return err
		}
		tx.AfterCommit(w.wake)
		return tx.MoveWork(store.Work{Kind: DeliverWork, Key: Key(m.Tenant, m.ID), Due: due})
	})
}

// Deliver does the work of that key: a message whose lease is over, or whose wait, is given to a worker.
func (w *Worker) Deliver(ctx context.Context, key string, now time.Time) error {
	tenant, id := SplitKey(key)
	// One that this very process works on isn't delivered twice because the clock was moved: its lease goes on.
	later := w.parts.Agent.Leases.Until(now)
	err := w.store.Write(ctx, func(tx store.Tx) error {
		return tx.MoveWork(store.Work{Kind: DeliverWork, Key: key, Due: later})
	})
	if err == nil {
		w.begin(tenant, id, false)
	}
	return err
}

// begin lets the crew deliver a message, unless it has it already.
func (w *Worker) begin(tenant, id string, fresh bool) {
	w.crew.Go(Key(tenant, id), func(ctx context.Context) {
		d := &delivery{worker: w, tenant: tenant, id: id, fresh: fresh}
		w.ended(d, d.run(ctx))
	})
}

// ended tells an operator of a delivery that ended for a reason that isn't the message's. Its lease brings it back.
func (w *Worker) ended(d *delivery, err error) {
	if err == nil || errors.Is(err, errDied) || errors.Is(err, errLost) || errors.Is(err, context.Canceled) || errors.Is(err, store.ErrClosed) {
		return
	}
	w.log.Error("a delivery broke off, and comes again when its lease is over", "message", d.id, "error", err)
}
