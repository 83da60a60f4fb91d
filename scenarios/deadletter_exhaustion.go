package scenarios

import (
	"context"
	"time"

	"github.com/wopwitness/wopwitness/fixtures/vectors"
	"github.com/wopwitness/wopwitness/fixtures/workflows"
	"github.com/wopwitness/wopwitness/scenarios/registry"
	"github.com/wopwitness/wopwitness/seams/cause"
	"github.com/wopwitness/wopwitness/seams/client"
	"github.com/wopwitness/wopwitness/witness/deadletter"
	"github.com/wopwitness/wopwitness/witness/observe"
)

// deadLetterVectors gives 0053.shape.vectors its documents. No host is asked.
func deadLetterVectors(_ context.Context, d *Drive) (any, error) {
	o := deadletter.Vectors{Major: d.Major}
	for _, v := range vectors.DeadLetters(d.Major) {
		o.Vectors = append(o.Vectors, deadletter.Vector{Name: v.Name, Kind: v.Kind, Document: v.Document, Valid: v.Valid})
	}
	return o, nil
}

// deadLetterAdvertisement gives the discovery document as the run read it, for both legs that look at its form.
func deadLetterAdvertisement(_ context.Context, d *Drive) (any, error) {
	return deadletter.Advertisement{Major: d.Major, Discovery: d.run.host.Discovery[d.Major].Exchange}, nil
}

// exhausting are the fixtures that do nothing but exhaust, in the order in which most legs want them.
func exhausting() []string {
	return []string{workflows.Exhaust, workflows.Downstream, workflows.Fixable}
}

// exhaustionEvent drives 0053.exhaustion.event: one run dies, and so does its fork.
func exhaustionEvent(ctx context.Context, d *Drive) (any, error) {
	r, err := d.Die(ctx, death{label: "the dead run", fixtures: exhausting(), seam: exhaustRetries, asks: true})
	if err != nil {
		return nil, err
	}
	return d.dyingAgain(ctx, r, true), nil
}

// exhaustionAttempts drives 0053.exhaustion.attempts: one run dies, and so does its fork, and their logs are read.
func exhaustionAttempts(ctx context.Context, d *Drive) (any, error) {
	r, err := d.Die(ctx, death{label: "the dead run", fixtures: exhausting(), seam: exhaustRetries, reads: true})
	if err != nil {
		return nil, err
	}
	return d.dyingAgain(ctx, r, false), nil
}

// dyingAgain replays a dead run where the host does, and reads the fork until it has died of the same cause. A leg that
// asks whether there is a dead letter waits for it wholly.
func (d *Drive) dyingAgain(ctx context.Context, r deadletter.Run, asks bool) deadletter.Exhaustion {
	o := deadletter.Exhaustion{Major: d.Major, Run: r}
	if r.RunID == "" || !r.LogReadable() || len(r.DeadLetters()) == 0 || d.offers(modeReplay) != nil {
		return o
	}
	fork := d.fork(ctx, cause.ForkCall{Label: "fork", RunID: r.RunID, Mode: modeReplay})
	if child := d.child(ctx, fork, r.RunID, waits{letter: true, wholly: asks, failed: true}); child.RunID != "" && child.RunID != r.RunID {
		o.Child = &child
	}
	return o
}

// exhaustionStatus drives 0053.exhaustion.status: a run dies in its middle where the host lists that fixture, so that its
// log also shows whether the node behind the dead one was started.
func exhaustionStatus(ctx context.Context, d *Drive) (any, error) {
	fixtures := []string{workflows.Downstream, workflows.Exhaust, workflows.Fixable}
	r, err := d.Die(ctx, death{label: "the dead run", fixtures: fixtures, seam: exhaustRetries, reads: true})
	return deadletter.Exhaustion{Major: d.Major, Run: r}, err
}

// exhaustionRetained drives 0053.exhaustion.retained: a run dies and is read, and where the host's clock can be moved and
// it names a number of days, read again just before they are over.
func exhaustionRetained(ctx context.Context, d *Drive) (any, error) {
	if d.clockMoves(ctx) == nil {
		o, _, err := d.watchingClock(ctx, retainedToTheEnd)
		return o, err
	}
	r, err := d.Die(ctx, death{label: "the dead run", fixtures: exhausting(), seam: exhaustRetries, reads: true, asks: true})
	return deadletter.Retained{Run: r}, err
}

func retainedToTheEnd(ctx context.Context, d *Drive) (any, error) {
	r, w, err := d.dieInWindow(ctx, death{label: "the dead run", asks: true})
	if err != nil {
		return nil, err
	}
	o := deadletter.Retained{Run: r, Window: &w}
	floor, _, ok := w.Ends(r)
	if !ok {
		return o, nil
	}
	if err := d.advanceTo(ctx, floor.Add(-beforeTheEnd), w.After); err != nil {
		return nil, err
	}
	late := d.look(ctx, r.RunID, asks{})
	o.Late = &late
	return o, nil
}

// exhaustionNotEarly drives 0053.exhaustion.not-early: a run that recovers, then one that dies, then the quiet window.
func exhaustionNotEarly(ctx context.Context, d *Drive) (any, error) {
	for _, fixture := range []string{workflows.Recovers, workflows.Exhaust} {
		if !d.seeded(fixture) {
			return nil, inapplicable(registry.NoCause, "the host does not list the fixture %s", fixture)
		}
	}
	var o deadletter.Recovery
	var err error
	if o.Recovering, err = d.runFixture(ctx, "the recovering run", workflows.Recovers, nil, waits{}); err != nil {
		return nil, err
	}
	if o.Later, err = d.runFixture(ctx, "a later dead run", workflows.Exhaust, nil, waits{letter: true}); err != nil {
		return nil, err
	}
	d.Sleep(ctx, d.Quiet())
	if o.Recovering.LogReadable() && len(o.Recovering.Streams) == 0 {
		o.Recovering.Reads = append(o.Recovering.Reads, d.pollWhole(ctx, o.Recovering.RunID, o.Recovering.Log())...)
	}
	if pages := d.entries(ctx, observe.CredentialA, o.Recovering.RunID); cause.SeamMounted(pages[0]) {
		o.Sink = pages
	}
	return o, nil
}

// exhaustionRedacted drives 0053.exhaustion.redacted: a run dies with a secret in hand, and everything that can be read
// of it, and of its fork, is.
func exhaustionRedacted(ctx context.Context, d *Drive) (any, error) {
	o := deadletter.Redacted{
		Name: workflows.CanarySecret, Prefix: workflows.CanaryPrefix, Canary: d.run.config.CanaryValue,
		Marker: "wopwitness-marker-" + UnknownCursor(""),
	}
	var err error
	o.Run, err = d.Die(ctx, death{label: "the run with a secret", fixtures: []string{workflows.Secret}, inputs: map[string]any{"marker": o.Marker}})
	if err != nil {
		return nil, err
	}
	if len(o.Run.Streams) == 0 {
		o.Run.Streams = append(o.Run.Streams, d.readLog(ctx, o.Run.RunID, min(2*time.Second, d.run.config.eventTimeout()), false))
	}
	if again := d.dyingAgain(ctx, o.Run, false); again.Child != nil {
		o.Fork = again.Child
	}
	beyond := int64(1 << 30)
	o.Surfaces = append(o.Surfaces, cause.Fork(ctx, d.Session, cause.ForkCall{
		Label: "a fork beyond the log", Credential: observe.CredentialA, RunID: o.Run.RunID, Mode: "branch", FromSeq: &beyond, Major: d.Major})...)
	o.Surfaces = append(o.Surfaces, d.Do(ctx, client.Call{
		Label: "the workflow", Credential: observe.CredentialA, Path: client.WorkflowPath(d.Major, workflows.Secret), Major: d.Major, Patience: triggerPatience}))
	if d.listsRuns() {
		o.Surfaces = append(o.Surfaces, cause.ListRuns(ctx, d.Session, "runs", observe.CredentialA, d.Major))
	}
	if pages := d.entries(ctx, observe.CredentialA, o.Run.RunID); len(pages) > 0 && cause.SeamMounted(pages[0]) {
		o.Surfaces = append(o.Surfaces, pages...)
	}
	return o, nil
}
