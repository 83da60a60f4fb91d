package scenarios

import (
	"context"
	"time"

	"github.com/wopwitness/wopwitness/scenarios/registry"
	"github.com/wopwitness/wopwitness/seams/cause"
	"github.com/wopwitness/wopwitness/seams/sse"
	"github.com/wopwitness/wopwitness/witness/deadletter"
	"github.com/wopwitness/wopwitness/witness/observe"
)

const (
	// beforeTheEnd is how long before the last moment at which a run must be there it is asked for: a clock that also runs
	// by itself must not pass it meanwhile.
	beforeTheEnd = 2 * time.Minute
	// secondAfter is how long after an elder run a younger one dies at least, so that the elder's day for the sweep is over
	// before the younger's own time is.
	secondAfter = 25*time.Hour + 5*time.Minute
	mostDays    = 36500 // a clock moved by a century breaks more than it shows
)

// days is the number of days that the host promises.
func (d *Drive) days() int64 {
	family, ok := d.run.host.Discovery[d.Major].DeadLetter()
	if !ok {
		return 0
	}
	return family.RetentionDays
}

// clockMoves says why the end of a run's time cannot be reached by moving the host's clock, nil where it can.
func (d *Drive) clockMoves(ctx context.Context) error {
	switch days := d.days(); {
	case d.run.config.NoClock:
		return inapplicable(registry.NoCause, "the operator forbade moving the clock (--no-clock)")
	case days == 0:
		return inapplicable(registry.NoCause, "discovery names no retentionDays, so there is no end to move the clock to")
	case days > mostDays:
		return inapplicable(registry.NoCause, "the host keeps dead runs for %d days, which is farther than its clock is moved", days)
	}
	switch _, mode, x := cause.ClockNow(ctx, d.Session, d.Major); {
	case mode == "manual":
		return nil
	case mode == "":
		return inapplicable(registry.NoCause, "the host has no clock seam that could be moved (GET %s answered %d and no mode)", x.Request.Target, x.Status())
	default:
		return inapplicable(registry.NoCause, "the host's clock cannot be moved (GET %s says mode %q, and only a manual one can)", x.Request.Target, mode)
	}
}

// dieInWindow makes a run die, with the host's clock read before it was made and after it was dead.
func (d *Drive) dieInWindow(ctx context.Context, c death) (deadletter.Run, deadletter.Window, error) {
	w := deadletter.Window{Days: d.days()}
	_, _, w.Before = cause.ClockNow(ctx, d.Session, d.Major)
	c.fixtures, c.seam, c.reads = exhausting(), exhaustRetries, true
	r, err := d.Die(ctx, c)
	d.By(causeSeam) // the clock's
	if err != nil {
		return r, w, err
	}
	_, _, w.After = cause.ClockNow(ctx, d.Session, d.Major)
	return r, w, nil
}

// advanceTo moves the host's clock on to a moment; clock is its last reading. A moment that has passed moves nothing.
func (d *Drive) advanceTo(ctx context.Context, to time.Time, clock observe.Exchange) error {
	now, ok := deadletter.HostTime(clock)
	if !ok {
		return blocked(registry.UnexpectedAnswer, "the clock seam answered %d without a time", clock.Status())
	}
	by := to.Sub(now).Truncate(time.Second)
	if by < time.Second {
		return nil
	}
	_, err := d.Advance(ctx, by)
	return err
}

// asks is what a look asks for beside the snapshot.
type asks struct {
	log, doors, fork bool
	branch           *deadletter.Run // to be branched as well
}

// branched is the run where it branched when it had just died.
func branched(o deadletter.Retention) *deadletter.Run {
	if o.BranchBefore.Status() != 201 {
		return nil
	}
	return &o.Run
}

// look asks for a run at one moment of the host's clock.
func (d *Drive) look(ctx context.Context, runID string, a asks) deadletter.Looked {
	var l deadletter.Looked
	_, _, l.ClockBefore = cause.ClockNow(ctx, d.Session, d.Major)
	d.ask(ctx, &l, runID, a)
	_, _, l.ClockAfter = cause.ClockNow(ctx, d.Session, d.Major)
	return l
}

func (d *Drive) ask(ctx context.Context, l *deadletter.Looked, runID string, a asks) {
	l.Snapshot = cause.ReadRun(ctx, d.Session, observe.CredentialA, runID, d.Major)
	if a.log || a.doors {
		l.Poll = cause.PollRun(ctx, d.Session, observe.CredentialA, runID, -1, d.Major)
	}
	if a.doors {
		if d.listsRuns() {
			list := cause.ListRuns(ctx, d.Session, "runs", observe.CredentialA, d.Major)
			l.List = &list
		}
		s := sse.Open(ctx, d.Session, cause.RunStream(observe.CredentialA, runID, d.Major))
		if s.Opened() {
			s.Wait(ctx, d.Quiet(), func([]frame) bool { return false })
		}
		s.Close()
		l.Stream = s.Record()
	}
	if a.fork {
		l.Fork = d.fork(ctx, cause.ForkCall{Label: "fork at that moment", RunID: runID, Mode: modeReplay})
	}
	if a.branch != nil {
		l.Branch = d.branchAlone(ctx, "branch at that moment", observe.CredentialA, *a.branch)
	}
}

// retentionFloor drives 0053.retention.floor: a run dies, forks, and is asked for just before its days are over.
func retentionFloor(ctx context.Context, d *Drive) (any, error) {
	if err := d.clockMoves(ctx); err != nil {
		return nil, err
	}
	o := deadletter.Retention{Major: d.Major}
	var w deadletter.Window
	var err error
	if o.Run, w, err = d.dieInWindow(ctx, death{label: "the dead run"}); err != nil {
		return nil, err
	}
	o.Window = &w
	forks := d.offers(modeReplay) == nil
	if forks {
		o.ForkBefore = d.fork(ctx, cause.ForkCall{Label: "fork right after death", RunID: o.Run.RunID, Mode: modeReplay})
	}
	o.BranchBefore = d.branchAlone(ctx, "branch right after death", observe.CredentialA, o.Run)
	floor, _, ok := w.Ends(o.Run)
	if !ok {
		return o, nil
	}
	if err := d.advanceTo(ctx, floor.Add(-beforeTheEnd), w.After); err != nil {
		return nil, err
	}
	o.Looked = d.look(ctx, o.Run.RunID, asks{log: true, fork: forks, branch: branched(o)})
	return o, nil
}

// retentionPurged drives 0053.retention.purged: a dead run is asked for at every door once its time is over.
func retentionPurged(ctx context.Context, d *Drive) (any, error) {
	return d.overTime(ctx, asks{doors: true, fork: true})
}

// retentionNoOracle drives 0053.retention.no-oracle: a purged run is forked, and one that never was.
func retentionNoOracle(ctx context.Context, d *Drive) (any, error) {
	if err := d.offers(modeReplay); err != nil {
		return nil, err
	}
	return d.overTime(ctx, asks{fork: true})
}

// overTime brings a dead run past its time, by the first means there is: the clock, an id that the operator knows to be
// purged, the operator's own way of expiring a run.
func (d *Drive) overTime(ctx context.Context, a asks) (any, error) {
	noClock := d.clockMoves(ctx)
	if noClock == nil {
		o, _, err := d.watchingClock(ctx, func(ctx context.Context, d *Drive) (any, error) { return d.overByClock(ctx, a) })
		return o, err
	}
	o := deadletter.Retention{Major: d.Major}
	switch c := d.run.config; {
	case c.ExpiredRunID != "":
		o.Run = deadletter.Run{Label: "the operator's expired run", RunID: c.ExpiredRunID}
	case c.ForceExpireURL != "":
		r, err := d.Die(ctx, death{label: "the dead run", fixtures: exhausting(), seam: exhaustRetries, reads: true})
		if err != nil {
			return nil, err
		}
		o.Run = r
		o.ForkBefore = d.forkBefore(ctx, r.RunID)
		forced, err := cause.ForceExpire(ctx, d.Session, c.ForceExpireURL, c.ForceExpireMethod, r.RunID, d.Major)
		if err != nil {
			return nil, blocked(registry.Unreachable, "the operator's force-expire URL: %v", err)
		}
		o.Forced = &forced
	default:
		return nil, noClock
	}
	d.By(causeOperator)
	d.ask(ctx, &o.Looked, o.Run.RunID, a)
	o.Never = d.fork(ctx, cause.ForkCall{Label: "never existed", RunID: neverRun(d.Major, o.Run.RunID), Mode: modeReplay})
	return o, nil
}

func (d *Drive) forkBefore(ctx context.Context, runID string) observe.Exchange {
	if d.offers(modeReplay) != nil {
		return observe.Exchange{}
	}
	return d.fork(ctx, cause.ForkCall{Label: "fork right after death", RunID: runID, Mode: modeReplay})
}

func (d *Drive) overByClock(ctx context.Context, a asks) (any, error) {
	o := deadletter.Retention{Major: d.Major}
	r, w, err := d.dieInWindow(ctx, death{label: "the dead run"})
	if err != nil {
		return nil, err
	}
	o.Run, o.Window = r, &w
	o.ForkBefore = d.forkBefore(ctx, r.RunID)
	if a.doors {
		o.BranchBefore = d.branchAlone(ctx, "branch right after death", observe.CredentialA, r)
		a.branch = branched(o)
	}
	_, purged, ok := w.Ends(r)
	if !ok {
		return o, nil
	}
	if err := d.advanceTo(ctx, purged.Add(time.Minute), w.After); err != nil {
		return nil, err
	}
	o.Looked = d.look(ctx, r.RunID, a)
	o.Never = d.fork(ctx, cause.ForkCall{Label: "never existed", RunID: neverRun(d.Major, r.RunID), Mode: modeReplay})
	return o, nil
}

// retentionNeighbour drives 0053.retention.neighbour: a run dies; just before its time is over, or as soon as a younger
// run outlives the elder's day for the sweep, it is forked and another one dies; then the elder's time passes.
func retentionNeighbour(ctx context.Context, d *Drive) (any, error) {
	if err := d.clockMoves(ctx); err != nil {
		return nil, err
	}
	o := deadletter.Neighbour{Major: d.Major}
	var err error
	if o.First, o.FirstWindow, err = d.dieInWindow(ctx, death{label: "the elder run"}); err != nil {
		return nil, err
	}
	floor, purged, ok := o.FirstWindow.Ends(o.First)
	if !ok {
		return o, nil
	}
	next := floor.Add(-beforeTheEnd)
	if died, ok := deadletter.HostTime(o.FirstWindow.After); ok && next.Before(died.Add(secondAfter)) {
		next = died.Add(secondAfter)
	}
	if err := d.advanceTo(ctx, next, o.FirstWindow.After); err != nil {
		return nil, err
	}
	if next.Before(floor) && d.offers(modeReplay) == nil {
		o.Fork = d.lateFork(ctx, o.First.RunID)
	}
	if o.Second, o.SecondWindow, err = d.dieInWindow(ctx, death{label: "the younger run"}); err != nil {
		return nil, err
	}
	if err := d.advanceTo(ctx, purged.Add(time.Minute), o.SecondWindow.After); err != nil {
		return nil, err
	}
	o.FirstLooked = d.look(ctx, o.First.RunID, asks{})
	o.SecondLooked = d.look(ctx, o.Second.RunID, asks{log: true})
	if o.Fork != nil && o.Fork.Run.RunID != "" {
		o.Fork.Looked = d.look(ctx, o.Fork.Run.RunID, asks{log: true})
	}
	return o, nil
}

// lateFork forks a run near the end of its time, and waits for the fork's own end: it dies of what its source died of.
func (d *Drive) lateFork(ctx context.Context, source string) *deadletter.Kept {
	k := deadletter.Kept{Window: deadletter.Window{Days: d.days()}}
	_, _, k.Window.Before = cause.ClockNow(ctx, d.Session, d.Major)
	k.Run = d.child(ctx, d.fork(ctx, cause.ForkCall{Label: "fork near the end", RunID: source, Mode: modeReplay}), source, waits{wholly: true})
	_, _, k.Window.After = cause.ClockNow(ctx, d.Session, d.Major)
	return &k
}
