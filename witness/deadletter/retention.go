package deadletter

import (
	"fmt"
	"slices"

	"github.com/wopwitness/wopwitness/scenarios/registry"
	"github.com/wopwitness/wopwitness/witness"
	"github.com/wopwitness/wopwitness/witness/observe"
)

// Retention is a dead run asked for at one end of its time. On the operator's path Window is nil: the run is known to be
// purged, and nothing is known of the number of days. ForkBefore is a fork while the run was there, the zero Exchange
// where none was asked for. Never is the fork of a run that never was.
type Retention struct {
	Major      int               `json:"major"`
	Run        Run               `json:"run"` // on the operator's path with an id alone, only its RunID
	Window     *Window           `json:"window,omitempty"`
	Forced     *observe.Exchange `json:"forced,omitempty"` // the operator's means of expiring the run
	ForkBefore observe.Exchange  `json:"forkBefore"`
	// BranchBefore is the same by branch.
	BranchBefore observe.Exchange `json:"branchBefore,omitzero"`
	Looked       Looked           `json:"looked"`
	Never        observe.Exchange `json:"never"`
}

// JudgeFloor judges 0053.retention.floor (RFC 0053 §C.1, §C.2): until its days are over a dead run can be read and forked.
func JudgeFloor(o Retention) witness.Verdict {
	o.Run = o.Run.read()
	var v witness.Verdict
	if !o.Run.died(&v) {
		return v
	}
	if o.Window == nil {
		v.Undecide(registry.Unreadable, "the observation has no number of days")
		return v
	}
	floor, _, ok := o.Window.Ends(o.Run)
	if !ok {
		v.Undecide(registry.UnexpectedAnswer, "neither the log nor the clock tells when %s died", o.Run.Label)
		return v
	}
	if !o.Looked.insideWindow(&v, floor) || unanswered(&v, "reading the run before its time was over", o.Looked.Snapshot) {
		return v
	}
	v.Check("readable-before-the-end", o.Looked.Snapshot.Status() == 200, func() witness.Finding {
		return witness.Finding{
			Says:     fmt.Sprintf("a dead-lettered run is gone before its %d days are over", o.Window.Days),
			Expected: "200", Got: brief(o.Looked.Snapshot), Why: whyKept, Section: sectionContract,
		}
	})
	o.unaltered(&v)
	o.forks(&v)
	if len(v.Findings) == 0 {
		o.branches(&v)
	}
	return v
}

// forks checks that what forked when it had just died still does.
func (o Retention) forks(v *witness.Verdict) {
	if o.ForkBefore.Status() != 201 {
		v.Note("not-forkable-before", "the run did not fork when it had just died, so its forking later was not asked for")
		return
	}
	forksStill(v, "forkable-before-the-end", "forking the run before its time was over",
		fmt.Sprintf("a dead-lettered run does not fork any more before its %d days are over", o.Window.Days), o.Looked.Fork)
}

// branches checks that what branched when it had just died still does.
func (o Retention) branches(v *witness.Verdict) {
	if o.BranchBefore.Status() != 201 {
		return
	}
	forksStill(v, "branches-before-the-end", "branching the run before its time was over",
		fmt.Sprintf("a dead-lettered run does not fork by branch any more before its %d days are over", o.Window.Days), o.Looked.Branch)
}

// unaltered checks that the run is still the one that died: failed, and with its log. Neither is asked for where it was
// otherwise right after its death.
func (o Retention) unaltered(v *witness.Verdict) {
	if now := o.Looked.Snapshot; o.Run.Status() == "failed" && now.Status() == 200 {
		v.Check("failed-to-the-end", StatusOf(now) == "failed", func() witness.Finding {
			return witness.Finding{
				Says: "a dead-lettered run does not show as failed any more before its days are over", Expected: "status failed", Got: brief(now),
				Why: "whoever looks into it later is told that nothing went wrong", Section: sectionContract,
			}
		})
	}
	logKept(v, "log-kept-to-the-end", "the poll of its log before its time was over",
		fmt.Sprintf("the log of a dead-lettered run is gone before its %d days are over", o.Window.Days), o.Run, o.Looked.Poll)
}

// logKept checks that a run's log still shows events, where polls showed it before.
func logKept(v *witness.Verdict, check, asking, says string, r Run, poll observe.Exchange) {
	if len(ReadLog(r.Reads, nil)) == 0 || poll.Response == nil || unanswered(v, asking, poll) {
		return
	}
	shown := poll.Status() == 200 && (poll.Response.Truncated || len(ReadLog([]observe.Exchange{poll}, nil)) > 0)
	v.Check(check, shown, func() witness.Finding {
		return witness.Finding{Says: says, Expected: "the events that it had", Got: brief(poll), Why: whyKept, Section: sectionContract}
	})
}

// JudgePurged judges 0053.retention.purged (RFC 0053 §C.3): after its days, and a day for the sweep, a dead run is gone
// from every door, and a fork gets the host's own not-found.
func JudgePurged(o Retention) witness.Verdict {
	o.Run = o.Run.read()
	var v witness.Verdict
	if !o.over(&v) {
		return v
	}
	for _, door := range []struct {
		check, name string
		answer      observe.Exchange
	}{
		{"snapshot-gone", "the run", o.Looked.Snapshot},
		{"poll-gone", "the poll of its log", o.Looked.Poll},
		{"stream-gone", "the stream of its log", o.Looked.Stream.Exchange},
	} {
		if unanswered(&v, door.name+" after its time", door.answer) {
			return v
		}
		v.Check(door.check, gone(door.answer.Status()), func() witness.Finding {
			return witness.Finding{
				Says: door.name + " is still there after the time of a dead run is over", Expected: "404 or 410", Got: brief(door.answer),
				Why: whyPurged, Section: sectionContract,
			}
		})
	}
	if list := o.Looked.List; list != nil && list.Status() == 200 {
		listed := slices.ContainsFunc(runsOf(*list), func(r listedRun) bool { return o.Run.RunID != "" && r.id == o.Run.RunID })
		v.Check("list-gone", !listed, func() witness.Finding {
			return witness.Finding{
				Says: "the list of runs still shows a dead run whose time is over", Expected: "no run " + o.Run.RunID, Got: brief(*list),
				Why: whyPurged, Section: sectionContract,
			}
		})
	}
	o.forkGone(&v)
	if len(v.Findings) == 0 {
		o.branchGone(&v)
	}
	return v
}

const whyPurged = "data that was promised to be gone is still there, and still runs"

// forkGone checks the fork of a purged run. A host without the operation has nothing to answer there.
func (o Retention) forkGone(v *witness.Verdict) {
	x := o.Looked.Fork
	if unanswered(v, "forking the run after its time", x) {
		return
	}
	if o.ForkBefore.Status() != 201 && (x.Status() == 405 || x.Status() == 501) {
		v.Note("no-fork", "the host has no fork operation to ask")
		return
	}
	lawful := x.Status() == 404 || o.Major >= 2 && (x.Status() == 410 || x.Status() == 422)
	v.Check("fork-not-found", lawful, func() witness.Finding {
		return witness.Finding{
			Says: "forking a purged run does not get the host's not-found answer", Expected: "404", Got: brief(x),
			Why: whyPurged, Section: sectionContract,
		}
	})
	if lawful && x.Status() != 404 {
		v.Note("fork-refused-otherwise", "forking a purged run is answered %d, which the replay text of major 2 allows", x.Status())
	}
}

// branchGone checks the branch of a purged run, which had branched before.
func (o Retention) branchGone(v *witness.Verdict) {
	x := o.Looked.Branch
	if o.BranchBefore.Status() != 201 || unanswered(v, "branching the run after its time", x) {
		return
	}
	v.Check("branch-not-found", x.Status() == 404 || o.Major >= 2 && (x.Status() == 410 || x.Status() == 422), func() witness.Finding {
		return witness.Finding{
			Says: "branching a purged run does not get the host's not-found answer", Expected: "404", Got: brief(x),
			Why: whyPurged, Section: sectionContract,
		}
	})
}

// over says whether the run is known to be past its time, by the clock or by the operator's word.
func (o Retention) over(v *witness.Verdict) bool {
	if o.Window == nil {
		if o.Run.RunID == "" {
			v.Undecide(registry.Unreadable, "the observation names no run")
			return false
		}
		if o.Forced != nil && o.Forced.Status()/100 != 2 {
			v.Undecide(unreachable(*o.Forced), "the operator's means of expiring a run: %s", brief(*o.Forced))
			return false
		}
		return true
	}
	if !o.Run.died(v) {
		return false
	}
	_, purged, ok := o.Window.Ends(o.Run)
	if !ok {
		v.Undecide(registry.UnexpectedAnswer, "neither the log nor the clock tells when %s died", o.Run.Label)
		return false
	}
	return o.Looked.afterWindow(v, purged)
}

// JudgeNoOracle judges 0053.retention.no-oracle (RFC 0053 §C.3): forking a purged run is answered like forking one that
// never was.
func JudgeNoOracle(o Retention) witness.Verdict {
	o.Run = o.Run.read()
	var v witness.Verdict
	if !o.over(&v) {
		return v
	}
	x, never := o.Looked.Fork, o.Never
	if unanswered(&v, "forking the purged run", x) || unanswered(&v, "forking a run that never was", never) {
		return v
	}
	switch {
	case o.Major >= 2 && (x.Status() == 410 || x.Status() == 422):
		v.Undecide(registry.NoCause, "the host answers %d to the fork of a purged run, which is lawful and not a not-found answer", x.Status())
	case x.Status() == 405 || x.Status() == 501:
		v.Undecide(registry.NotAdvertised, "the host has no fork operation: %s", brief(x))
	case o.Major == 1 && o.ForkBefore.Status() == 404:
		// Major 1 advertises no fork operation: an unknown path is answered alike before and after.
		v.Undecide(registry.NotAdvertised, "the fork was answered as not found while the run was there, so such an answer says nothing later: %s", brief(o.ForkBefore))
	case x.Status() != 404 || never.Status() != 404:
		v.Undecide(registry.UnexpectedAnswer, "the two answers are not both not-found: %s, and %s for a run that never was", brief(x), brief(never))
	}
	if v.Undecided != nil {
		return v
	}
	v.Check("like-never-existed", errorCode(x) == errorCode(never), func() witness.Finding {
		return witness.Finding{
			Says:  "forking a purged run gets another error code than forking one that never was",
			Shown: []witness.Shown{{Label: "purged", Text: brief(x)}, {Label: "never existed", Text: brief(never)}}, Differs: "error code",
			Why: "the text promises the same not-found answer; another one tells who asks that there was such a run", Section: sectionContract,
		}
	})
	if str(members(x.Response.Body)["message"]) != str(members(never.Response.Body)["message"]) {
		v.Note("other-message", "the two not-found answers differ in their message")
	}
	return v
}

// Kept is a dead run that is asked for while its time runs.
type Kept struct {
	Run    Run    `json:"run"`
	Window Window `json:"window"`
	Looked Looked `json:"looked"`
}

// Neighbour is a run that is purged, and one that died just before the clock's last move. Fork is a fork of the first, made
// before that move as well; nil where none could be made in time.
type Neighbour struct {
	Major        int    `json:"major"`
	First        Run    `json:"first"`
	FirstWindow  Window `json:"firstWindow"`
	FirstLooked  Looked `json:"firstLooked"`
	Second       Run    `json:"second"`
	SecondWindow Window `json:"secondWindow"`
	SecondLooked Looked `json:"secondLooked"`
	Fork         *Kept  `json:"fork,omitempty"`
}

// JudgeNeighbour judges 0053.retention.neighbour (RFC 0053 §C.1): purging one dead run leaves a younger one alone.
func JudgeNeighbour(o Neighbour) witness.Verdict {
	o.First, o.Second = o.First.read(), o.Second.read()
	var v witness.Verdict
	if !o.First.died(&v) || !o.Second.died(&v) {
		return v
	}
	_, purged, okFirst := o.FirstWindow.Ends(o.First)
	floor, _, okSecond := o.SecondWindow.Ends(o.Second)
	now, okNow := HostTime(o.SecondLooked.ClockAfter)
	switch {
	case !okFirst || !okSecond || !okNow:
		v.Undecide(registry.UnexpectedAnswer, "neither the logs nor the clock tell when the runs died")
	case !o.FirstLooked.afterWindow(&v, purged):
	case now.After(floor):
		v.Undecide(registry.ClockMoved, "the younger run's own time was over when it was asked for")
	case !gone(o.FirstLooked.Snapshot.Status()):
		v.Undecide(unreachable(o.FirstLooked.Snapshot), "the elder run was not purged, so nothing could be purged with it: %s", brief(o.FirstLooked.Snapshot))
	}
	if v.Undecided != nil || unanswered(&v, "reading the younger run", o.SecondLooked.Snapshot) {
		return v
	}
	v.Check("neighbour-kept", o.SecondLooked.Snapshot.Status() == 200, func() witness.Finding {
		return witness.Finding{
			Says: "a younger dead run was purged with an elder one", Expected: "200", Got: brief(o.SecondLooked.Snapshot),
			Why: whyKept, Section: sectionContract,
		}
	})
	outlivesElder(&v, "neighbour-log-kept", "a younger dead run", o.Second, o.SecondLooked)
	forkKept(&v, o.Fork)
	return v
}

// outlivesElder checks that the log of a run that is there after the purge of an elder one is there as well.
func outlivesElder(v *witness.Verdict, check, whose string, r Run, l Looked) {
	if l.Snapshot.Status() == 200 {
		logKept(v, check, "the poll of the log of "+whose, "the log of "+whose+" is gone once an elder run was purged", r, l.Poll)
	}
}

// forkKept checks that a fork which died by itself outlives its source. Of a fork that was not made, or didn't die, the
// text promises no days.
func forkKept(v *witness.Verdict, k *Kept) {
	if k == nil || len(k.Run.DeadLetters()) == 0 {
		return
	}
	floor, _, ok := k.Window.Ends(k.Run)
	if now, told := HostTime(k.Looked.ClockAfter); !ok || !told || now.After(floor) || k.Looked.Snapshot.Response == nil {
		return
	}
	v.Check("fork-kept", k.Looked.Snapshot.Status() == 200, func() witness.Finding {
		return witness.Finding{
			Says: "a fork that was dead-lettered itself was purged with the run it was made from", Expected: "200", Got: brief(k.Looked.Snapshot),
			Why: whyKept, Section: sectionContract,
		}
	})
	outlivesElder(v, "fork-log-kept", "a fork that was dead-lettered itself", k.Run, k.Looked)
}
