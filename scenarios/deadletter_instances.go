package scenarios

import (
	"context"
	"time"

	"github.com/wopwitness/wopwitness/scenarios/registry"
	"github.com/wopwitness/wopwitness/seams/cause"
	"github.com/wopwitness/wopwitness/witness/deadletter"
	"github.com/wopwitness/wopwitness/witness/observe"
)

// exhaustionOtherInstance drives 0053.exhaustion.other-instance: a run dies on the instance under test, and is asked for,
// and forked, on its peer.
func exhaustionOtherInstance(ctx context.Context, d *Drive) (any, error) {
	d.By(causeOperator)
	o := deadletter.Elsewhere{Patience: observe.Micros(d.run.config.eventTimeout().Microseconds())}
	var err error
	if o.Run, err = d.Die(ctx, death{label: "the dead run", fixtures: exhausting(), seam: exhaustRetries, reads: true}); err != nil {
		return nil, err
	}
	if pages := d.entries(ctx, observe.CredentialA, o.Run.RunID); deadletter.EntryOf(pages, o.Run.RunID) != nil {
		o.Listed = pages
	}
	o.HomeFork = d.forkBefore(ctx, o.Run.RunID)
	peer := d.Peer()
	o.Began = peer.Now()
	for {
		o.Snapshot = cause.ReadRun(ctx, peer.Session, observe.CredentialA, o.Run.RunID, d.Major)
		o.Poll = peer.pollLetter(ctx, o.Run)
		if len(o.Listed) > 0 {
			o.Relisted = peer.entries(ctx, observe.CredentialA, o.Run.RunID)
		}
		if o.Complete() || o.Snapshot.SentAt-o.Began >= o.Patience || !d.Sleep(ctx, 20*time.Millisecond) {
			break
		}
	}
	if o.HomeFork.Status() == 201 {
		o.Fork = peer.fork(ctx, cause.ForkCall{Label: "fork on the other instance", RunID: o.Run.RunID, Mode: modeReplay})
	}
	return o, nil
}

// retentionOtherInstance drives 0053.retention.other-instance: a run dies, the peer shows it, and its time passes; then
// both are asked.
func retentionOtherInstance(ctx context.Context, d *Drive) (any, error) {
	if err := d.clockMoves(ctx); err != nil {
		return nil, err
	}
	r, w, err := d.dieInWindow(ctx, death{label: "the dead run"})
	if err != nil {
		return nil, err
	}
	o := deadletter.PurgedElsewhere{Retention: deadletter.Retention{Major: d.Major, Run: r, Window: &w}}
	o.ForkBefore = d.forkBefore(ctx, r.RunID)
	o.Before = d.Peer().readable(ctx, r.RunID)
	_, purged, ok := w.Ends(r)
	if !ok {
		return nil, blocked(registry.UnexpectedAnswer, "neither the log nor the clock tells when the run died")
	}
	if err := d.advanceTo(ctx, purged.Add(time.Minute), w.After); err != nil {
		return nil, err
	}
	o.Looked = d.look(ctx, r.RunID, asks{fork: true})
	o.There = d.Peer().look(ctx, r.RunID, asks{fork: true})
	return o, nil
}

// readable reads a run until it is there, for as long as an event may take.
func (d *Drive) readable(ctx context.Context, runID string) observe.Exchange {
	deadline := time.Now().Add(d.run.config.eventTimeout())
	for {
		x := cause.ReadRun(ctx, d.Session, observe.CredentialA, runID, d.Major)
		if x.Status() == 200 || time.Now().After(deadline) || !d.Sleep(ctx, 20*time.Millisecond) {
			return x
		}
	}
}
