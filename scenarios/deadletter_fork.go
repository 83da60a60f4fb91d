package scenarios

import (
	"context"
	"slices"

	"github.com/wopwitness/wopwitness/fixtures/workflows"
	"github.com/wopwitness/wopwitness/scenarios/registry"
	"github.com/wopwitness/wopwitness/seams/cause"
	"github.com/wopwitness/wopwitness/witness/deadletter"
	"github.com/wopwitness/wopwitness/witness/observe"
)

// The modes of a fork.
const (
	modeReplay = "replay"
	modeBranch = "branch"
)

// offers says whether the host forks in the mode. Major 2 advertises its modes; on major 1 the answer to a fork tells,
// unless discovery says outright that there is none.
func (d *Drive) offers(mode string) error {
	record, seats := d.run.host.Discovery[d.Major].Family("replay")
	if d.Major == 1 {
		if len(seats) > 0 && record["supported"] == false {
			return inapplicable(registry.NotAdvertised, "discovery says that runs do not fork")
		}
		return nil
	}
	modes, _ := record["modes"].([]any)
	if !slices.ContainsFunc(modes, func(m any) bool { return m == mode }) {
		return inapplicable(registry.NotAdvertised, "discovery does not list the mode %s under replay.modes", mode)
	}
	return nil
}

func (d *Drive) listsRuns() bool {
	_, seats := d.run.host.Discovery[d.Major].Family("runList")
	return d.Major >= 2 && len(seats) > 0
}

// fork forks a run, by the first tenant's key unless another one is named, and gives the deciding answer.
func (d *Drive) fork(ctx context.Context, f cause.ForkCall) observe.Exchange {
	if f.Credential == "" {
		f.Credential = observe.CredentialA
	}
	f.Major = d.Major
	attempts := cause.Fork(ctx, d.Session, f)
	return attempts[len(attempts)-1]
}

// child reads a fork's child to its end. It has no run where the fork was not made.
func (d *Drive) child(ctx context.Context, fork observe.Exchange, source string, wait waits) deadletter.Run {
	r := deadletter.Run{Label: "the child", Made: []observe.Exchange{fork}}
	if fork.Status() != 201 {
		return r
	}
	if r.RunID = runIDOf(fork); r.RunID != "" && r.RunID != source {
		d.watch(ctx, &r, wait)
	}
	return r
}

// probeFork asks what tells a host without the operation from one that does not fork this run. Major 2 advertises it.
func (d *Drive) probeFork(ctx context.Context, fork observe.Exchange, source string) *deadletter.ForkProbes {
	if d.Major >= 2 || fork.Status() == 201 {
		return nil
	}
	never := neverRun(d.Major, source)
	p := &deadletter.ForkProbes{
		Malformed:    d.fork(ctx, cause.ForkCall{Label: "no sensible mode", RunID: source, Mode: "wopwitness-no-such-mode"}),
		NeverExisted: d.fork(ctx, cause.ForkCall{Label: "never existed", RunID: never, Mode: modeReplay}),
		UnknownVerb:  d.fork(ctx, cause.ForkCall{Label: "no such verb", RunID: source, Verb: "wopwitness-no-such-verb", Mode: modeReplay}),
	}
	if d.seeded(workflows.Noop) {
		if well, err := d.runFixture(ctx, "a run that is well", workflows.Noop, nil, waits{}); err == nil {
			p.Well = d.fork(ctx, cause.ForkCall{Label: "a run that is well", RunID: well.RunID, Mode: modeReplay})
		}
	}
	return p
}

// forkReplay drives 0053.fork.replay: a dead run is forked by replay, and the child read to its end.
func forkReplay(ctx context.Context, d *Drive) (any, error) {
	if err := d.offers(modeReplay); err != nil {
		return nil, err
	}
	source, err := d.Die(ctx, death{label: "the dead run", fixtures: exhausting(), seam: forkAfterDeath, reads: true})
	if err != nil {
		return nil, err
	}
	o := deadletter.Forked{Major: d.Major, Mode: modeReplay, Source: source}
	o.Fork = d.fork(ctx, cause.ForkCall{Label: "fork", RunID: source.RunID, Mode: modeReplay})
	// Another leg asks whether the child is dead-lettered; a host that was waited for in vain isn't waited for again.
	o.Child = d.child(ctx, o.Fork, source.RunID, waits{wholly: true, letter: !d.run.vain.letter.Load(), failed: true})
	if len(o.Child.DeadLetters()) > 0 && o.Child.RunID != source.RunID {
		o.Again = d.fork(ctx, cause.ForkCall{Label: "fork of the fork", RunID: o.Child.RunID, Mode: modeReplay})
	}
	o.Probes = d.probeFork(ctx, o.Fork, source.RunID)
	return o, nil
}

// branchAlone branches a dead run where its node was first started, and mends nothing: the zero Exchange where the host
// doesn't offer branches.
func (d *Drive) branchAlone(ctx context.Context, label, credential string, source deadletter.Run) observe.Exchange {
	if d.offers(modeBranch) != nil {
		return observe.Exchange{}
	}
	from := source.Log().FirstStart(source.Node)
	return d.fork(ctx, cause.ForkCall{Label: label, Credential: credential, RunID: source.RunID, Mode: modeBranch, FromSeq: &from})
}

// branchCall mends the cause of the fixable fixture: everything from the dead node's first start on runs again, under a
// configurable that says the cause is fixed.
func (d *Drive) branchCall(source deadletter.Run) cause.ForkCall {
	from := source.Log().FirstStart(source.Node)
	return cause.ForkCall{
		Label: "branch", RunID: source.RunID, Mode: modeBranch, FromSeq: &from,
		Overlay: map[string]any{"configurable": workflows.Configurable(d.Major)},
	}
}

// forkBranch drives 0053.fork.branch: a run dies of a cause that its configurable mends, and a branch mends it.
func forkBranch(ctx context.Context, d *Drive) (any, error) {
	if err := d.offers(modeBranch); err != nil {
		return nil, err
	}
	source, err := d.Die(ctx, death{label: "the fixable run", fixtures: []string{workflows.Fixable}})
	if err != nil {
		return nil, err
	}
	o := deadletter.Forked{Major: d.Major, Mode: modeBranch, Source: source}
	o.Fork = d.fork(ctx, d.branchCall(source))
	o.Child = d.child(ctx, o.Fork, source.RunID, waits{wholly: true})
	o.Probes = d.probeFork(ctx, o.Fork, source.RunID)
	return o, nil
}

// forkSourceUnchanged drives 0053.fork.source-unchanged: a dead run is read, forked in each mode that the host offers,
// its children read to their end, and read again.
func forkSourceUnchanged(ctx context.Context, d *Drive) (any, error) {
	replay, branch := d.offers(modeReplay) == nil, d.offers(modeBranch) == nil
	if !replay && !branch {
		return nil, d.offers(modeReplay)
	}
	fixtures := []string{workflows.Fixable, workflows.Exhaust, workflows.Downstream}
	source, err := d.Die(ctx, death{label: "the dead run", fixtures: fixtures, seam: forkAfterDeath, reads: true})
	if err != nil {
		return nil, err
	}
	o := deadletter.Untouched{Major: d.Major, Source: source, Before: d.state(ctx, source)}
	if replay {
		fork := d.fork(ctx, cause.ForkCall{Label: "fork", RunID: source.RunID, Mode: modeReplay})
		o.Forks = append(o.Forks, d.child(ctx, fork, source.RunID, waits{}))
	}
	if branch && source.Workflow == workflows.Fixable {
		o.Forks = append(o.Forks, d.child(ctx, d.fork(ctx, d.branchCall(source)), source.RunID, waits{}))
	}
	d.Sleep(ctx, d.Quiet())
	o.After = d.state(ctx, source)
	if len(o.Forks) > 0 {
		o.Probes = d.probeFork(ctx, o.Forks[0].Answer(), source.RunID)
	}
	return o, nil
}

// state is a run's whole log, as far as it is shown by polls, and its snapshot.
func (d *Drive) state(ctx context.Context, r deadletter.Run) deadletter.State {
	return deadletter.State{
		Log:      d.pollWhole(ctx, r.RunID, r.Log()),
		Snapshot: cause.ReadRun(ctx, d.Session, observe.CredentialA, r.RunID, d.Major),
	}
}

// forkTenant drives 0053.fork.tenant: the owner forks a dead run, which shows that it forks; then another tenant tries.
func forkTenant(ctx context.Context, d *Drive) (any, error) {
	if err := d.offers(modeReplay); err != nil {
		return nil, err
	}
	source, err := d.Die(ctx, death{label: "the dead run", fixtures: exhausting(), seam: forkAfterDeath, reads: true})
	if err != nil {
		return nil, err
	}
	if err := d.twoOwners(ctx, source); err != nil {
		return nil, err
	}
	o := deadletter.ForkTenant{Major: d.Major, Source: source}
	o.OwnerFork = d.fork(ctx, cause.ForkCall{Label: "the owner's fork", RunID: source.RunID, Mode: modeReplay})
	if o.OwnerFork.Status() != 201 {
		o.Probes = d.probeFork(ctx, o.OwnerFork, source.RunID)
		return o, nil
	}
	o.OwnerBranch = d.branchAlone(ctx, "the owner's branch", observe.CredentialA, source)
	if d.listsRuns() {
		o.Lists = &deadletter.RunLists{
			OwnerBefore: cause.ListRuns(ctx, d.Session, "owner before", observe.CredentialA, d.Major),
			OtherBefore: cause.ListRuns(ctx, d.Session, "other before", observe.CredentialB, d.Major),
		}
	}
	o.Foreign = d.fork(ctx, cause.ForkCall{Label: "the other tenant's fork", Credential: observe.CredentialB, RunID: source.RunID, Mode: modeReplay})
	if o.OwnerBranch.Status() == 201 {
		o.ForeignBranch = d.branchAlone(ctx, "the other tenant's branch", observe.CredentialB, source)
	}
	if o.Lists != nil {
		d.Sleep(ctx, d.Quiet())
		o.Lists.OwnerAfter = cause.ListRuns(ctx, d.Session, "owner after", observe.CredentialA, d.Major)
		o.Lists.OtherAfter = cause.ListRuns(ctx, d.Session, "other after", observe.CredentialB, d.Major)
	}
	return o, nil
}
