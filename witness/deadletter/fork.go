package deadletter

import (
	"fmt"
	"slices"

	"github.com/wopwitness/wopwitness/scenarios/registry"
	"github.com/wopwitness/wopwitness/witness"
	"github.com/wopwitness/wopwitness/witness/observe"
)

// Forked is a fork of a dead run, and its child as far as there is one.
type Forked struct {
	Major  int              `json:"major"`
	Mode   string           `json:"mode"` // "replay" or "branch"
	Source Run              `json:"source"`
	Fork   observe.Exchange `json:"fork"`
	Child  Run              `json:"child"`
	Again  observe.Exchange `json:"again,omitzero"` // a fork of the child, where that was dead-lettered in its turn
	Probes *ForkProbes      `json:"probes,omitempty"`
}

// ForkProbes tell a host that does not fork a run from one that has no fork operation, where major 1 advertises
// neither: what it says to a fork of no sensible mode, to one of a run that never was, to one of a run that is well, and
// to a verb that no host knows.
type ForkProbes struct {
	Malformed    observe.Exchange `json:"malformed"`
	NeverExisted observe.Exchange `json:"neverExisted"`
	Well         observe.Exchange `json:"well"`
	UnknownVerb  observe.Exchange `json:"unknownVerb"`
}

// served says whether the host has a fork operation. Major 2 advertises it, and its legs are not driven otherwise.
func (p *ForkProbes) served(major int, fork observe.Exchange) bool {
	if major >= 2 || fork.Status() == 201 || p == nil {
		return true
	}
	for _, x := range []observe.Exchange{fork, p.Malformed, p.NeverExisted, p.Well} {
		switch st := x.Status(); {
		case st >= 200 && st < 300, st == 400, st == 409, st == 410, st == 422:
			return true
		}
	}
	return p.NeverExisted.Status() == 404 && errorCode(p.NeverExisted) != errorCode(p.UnknownVerb)
}

const whyFork = "a dead run that cannot be forked cannot be mended: everything it did has to be done again"

// forked checks that the fork was made and is a run of its own. It says false where there is no child to go on with.
func (o Forked) forked(v *witness.Verdict) bool {
	if !o.Source.died(v) || unanswered(v, "the fork", o.Fork) {
		return false
	}
	if !o.Probes.served(o.Major, o.Fork) {
		v.Undecide(registry.NotAdvertised, "the host has no fork operation: %s", brief(o.Fork))
		return false
	}
	v.Check("forked", o.Fork.Status() == 201, func() witness.Finding {
		return witness.Finding{
			Says: "a dead-lettered run was not forked by " + o.Mode, Expected: "201", Got: brief(o.Fork), Why: whyFork, Section: sectionContract,
		}
	})
	if o.Fork.Status() != 201 {
		return false
	}
	m := members(o.Fork.Response.Body)
	id := str(m["runId"])
	v.Check("own-id", id != "" && id != o.Source.RunID, func() witness.Finding {
		return witness.Finding{
			Says: "the fork is not a run of its own", Expected: "a runId that is not the source's", Got: brief(o.Fork), Section: sectionContract,
			Why: "the dead run that was to be examined is overwritten",
		}
	})
	source, has := m["sourceRunId"]
	v.Check("source-named", !has || str(source) == o.Source.RunID, func() witness.Finding {
		return witness.Finding{
			Says: "the fork names another source", Expected: o.Source.RunID, Got: short(source), Section: sectionContract,
			Why: "nobody can find out which dead run this one repairs",
		}
	})
	if !has {
		v.Note("source-not-named", "the answer to the fork does not name its source")
	}
	return id != "" && id != o.Source.RunID
}

// watched says whether the child was waited for as long as is stated, and otherwise leaves the verdict undecided.
func (o Forked) watched(v *witness.Verdict) bool {
	c := o.Child
	last := c.lastAsked()
	for _, x := range c.Snapshots {
		last = max(last, x.SentAt)
	}
	waited, enough := last-o.Fork.AnsweredAt, c.Bound
	if len(c.Snapshots) > 0 && gone(lastOf(c.Snapshots).Status()) {
		enough = c.Patience // a child that is not there will not end either
	}
	if enough <= 0 || waited < enough {
		v.Undecide(registry.Timeout, "the child was not watched for as long as it was to be; %s", c.story())
		return false
	}
	return true
}

// JudgeForkReplay judges 0053.fork.replay (RFC 0053 §C.2): a dead run forks by replay, into a run that can be read and
// that ends; and one that is dead-lettered again forks again.
func JudgeForkReplay(o Forked) witness.Verdict {
	o.Source, o.Child = o.Source.read(), o.Child.read()
	var v witness.Verdict
	if !o.forked(&v) {
		return v
	}
	if unanswered(&v, "reading the child", lastOf(o.Child.Snapshots)) || o.Child.Ended() == "" && !o.watched(&v) {
		return v
	}
	v.Check("child-readable", o.Child.Readable(), func() witness.Finding {
		return witness.Finding{
			Says: "the fork's child cannot be read", Expected: "200", Got: brief(lastOf(o.Child.Snapshots)), Why: whyFork, Section: sectionContract,
		}
	})
	v.Check("child-ends", o.Child.Ended() != "", func() witness.Finding {
		return witness.Finding{
			Says:     fmt.Sprintf("the fork's child did not end within %s", o.Child.Bound.Duration()),
			Expected: "a terminal event", Got: o.Child.story(), Section: sectionContract,
			Why: "a fork that never runs repairs nothing",
		}
	})
	o.again(&v)
	o.tell(&v)
	return v
}

// again checks that a child which was dead-lettered is as good a source as any dead run.
func (o Forked) again(v *witness.Verdict) {
	if len(o.Child.DeadLetters()) == 0 || o.Again.Response == nil && o.Again.Failure == nil {
		return
	}
	forksStill(v, "child-forks", "the fork of the fork", "a fork that was dead-lettered in its turn was not forked", o.Again)
}

// tell notes a child that looks like a copy: RFC 0053 does not say how a replay is to be told from one.
func (o Forked) tell(v *witness.Verdict) {
	var ids []string
	for _, e := range o.Source.Log() {
		if e.ID != "" {
			ids = append(ids, e.ID)
		}
	}
	for _, e := range o.Child.Log() {
		if e.ID != "" && slices.Contains(ids, e.ID) {
			v.Note("copied-events", "the child's log has events of the source under their own ids")
			return
		}
	}
}

// JudgeForkBranch judges 0053.fork.branch (RFC 0053 §C.2): a dead run forks by branch, and the child, whose overlay
// mends the cause, completes.
func JudgeForkBranch(o Forked) witness.Verdict {
	o.Source, o.Child = o.Source.read(), o.Child.read()
	var v witness.Verdict
	if !o.forked(&v) {
		return v
	}
	if o.Child.Ended() == "" && !o.watched(&v) {
		return v
	}
	v.Check("mended-child-completes", o.Child.Ended() == "completed", func() witness.Finding {
		return witness.Finding{
			Says:     "a branch whose overlay mends the cause does not complete",
			Expected: "run.completed", Got: o.Child.story(), Section: sectionContract,
			Why: "the reason to keep a dead run is to run it again once its cause is mended",
		}
	})
	return v
}

// State is a run's log and snapshot at one moment.
type State struct {
	Log      []observe.Exchange `json:"log"`
	Snapshot observe.Exchange   `json:"snapshot"`
}

// Untouched is a dead run before and after it was forked. Forks are the forks, with their children read to their end.
type Untouched struct {
	Major  int         `json:"major"`
	Source Run         `json:"source"`
	Before State       `json:"before"`
	Forks  []Run       `json:"forks"`
	After  State       `json:"after"`
	Probes *ForkProbes `json:"probes,omitempty"`
}

// JudgeSourceUnchanged judges 0053.fork.source-unchanged (RFC 0053 §C.2): forking leaves the dead run as it was.
func JudgeSourceUnchanged(o Untouched) witness.Verdict {
	o.Source = o.Source.read()
	var v witness.Verdict
	if !o.Source.died(&v) {
		return v
	}
	if !slices.ContainsFunc(o.Forks, func(r Run) bool { return r.Answer().Status() == 201 }) {
		answer := observe.Exchange{}
		if len(o.Forks) > 0 {
			answer = o.Forks[0].Answer()
		}
		if !o.Probes.served(o.Major, answer) {
			v.Undecide(registry.NotAdvertised, "the host has no fork operation: %s", brief(answer))
		} else {
			v.Undecide(unreachable(answer), "the run was not forked, so nothing could change it: %s", brief(answer))
		}
		return v
	}
	if unanswered(&v, "reading the source before", o.Before.Snapshot) || unanswered(&v, "reading the source after", o.After.Snapshot) {
		return v
	}
	o.sameLog(&v)
	before, after := members(o.Before.Snapshot.Response.Body), members(o.After.Snapshot.Response.Body)
	for _, name := range []string{"status", "error"} {
		v.Check(name+"-unchanged", same(before[name], after[name]) && o.After.Snapshot.Status() == o.Before.Snapshot.Status(), func() witness.Finding {
			return witness.Finding{
				Says:  "forking changed the dead run's " + name,
				Shown: []witness.Shown{{Label: "before", Text: brief(o.Before.Snapshot)}, {Label: "after", Text: brief(o.After.Snapshot)}},
				Why:   whyUnchanged, Section: sectionContract,
			}
		})
	}
	return v
}

const whyUnchanged = "the evidence of what went wrong is altered by looking into it"

func (o Untouched) sameLog(v *witness.Verdict) {
	if lastOf(o.Before.Log).Status() != 200 || lastOf(o.After.Log).Response == nil {
		v.Note("no-log", "the host shows no log of the run to compare")
		return
	}
	before, after := ReadLog(o.Before.Log, nil), ReadLog(o.After.Log, nil)
	v.Check("events-unchanged", firstDifference(before, after) < 0, func() witness.Finding {
		at := firstDifference(before, after)
		return witness.Finding{
			Says:    "forking changed the dead run's log",
			Shown:   []witness.Shown{{Label: "before", Text: eventAt(before, at)}, {Label: "after", Text: eventAt(after, at)}},
			Differs: fmt.Sprintf("event %d of %d before and %d after", at, len(before), len(after)), Why: whyUnchanged, Section: sectionContract,
		}
	})
}

func firstDifference(a, b Log) int {
	for i := range max(len(a), len(b)) {
		if i >= len(a) || i >= len(b) || !same(a[i].Raw, b[i].Raw) {
			return i
		}
	}
	return -1
}

func eventAt(l Log, i int) string {
	if i < 0 || i >= len(l) {
		return "no such event"
	}
	return short(l[i].Raw)
}
