package deadletter

import (
	"github.com/wopwitness/wopwitness/scenarios/registry"
	"github.com/wopwitness/wopwitness/witness"
	"github.com/wopwitness/wopwitness/witness/observe"
)

// Elsewhere is a run that died on one instance, asked for on another until it was there or the patience was over. Listed
// are the sink's pages where it died, where they show the run, and HomeFork a fork there; the rest is of the other
// instance, as it was answered last.
type Elsewhere struct {
	Run      Run                `json:"run"`
	Listed   []observe.Exchange `json:"listed,omitempty"`
	HomeFork observe.Exchange   `json:"homeFork"`
	Patience observe.Micros     `json:"patience"` // what one instance may take to know of another's runs
	Began    observe.Micros     `json:"began"`    // when the other one was first asked
	Snapshot observe.Exchange   `json:"snapshot"`
	Poll     observe.Exchange   `json:"poll"`
	Relisted []observe.Exchange `json:"relisted,omitempty"`
	Fork     observe.Exchange   `json:"fork"`
}

const whyElsewhere = "whoever looks into it meets one instance or another by chance, and is told by some that nothing died"

// JudgeElsewhere judges 0053.exhaustion.other-instance (RFC 0053 §C.1, §C.2): a run that died on one instance is there on
// another, with its event and its entry in the sink, and forks there.
func JudgeElsewhere(o Elsewhere) witness.Verdict {
	var v witness.Verdict
	r := o.Run
	switch {
	case !r.died(&v):
		return v
	case !r.Readable():
		v.Undecide(unreachable(lastOf(r.Snapshots)), "the dead run could not be read where it died: %s", brief(lastOf(r.Snapshots)))
		return v
	}
	if a := o.again(); a.complete() || o.Snapshot.SentAt-o.Began >= o.Patience {
		a.judge(&v)
	} else {
		v.Undecide(registry.Timeout, "the other instance was not asked for as long as it may take to know of the run")
		return v
	}
	if o.HomeFork.Status() != 201 {
		v.Note("not-forked-at-home", "the run did not fork where it died, so the other instance was not asked to fork it")
		return v
	}
	forksStill(&v, "forked-there", "forking the dead run on the other instance", "a dead-lettered run forks on the instance that it died on, and not on another", o.Fork)
	return v
}

// Complete says whether the other instance shows all that was shown where the run died.
func (o Elsewhere) Complete() bool { return o.again().complete() }

func (o Elsewhere) again() again {
	return again{
		run: o.Run, listed: o.Listed, snapshot: o.Snapshot, poll: o.Poll, relisted: o.Relisted,
		suffix: "there", gone: "is not there on another instance", before: "where the run died", after: "on the other instance", why: whyElsewhere,
	}
}

// complete says whether nothing that was there before is missing.
func (a again) complete() bool {
	letters := len(ReadLog(a.run.Reads, nil).DeadLetters()) == 0 || len(ReadLog([]observe.Exchange{a.poll}, nil).DeadLetters()) > 0
	entry := EntryOf(a.listed, a.run.RunID) == nil || EntryOf(a.relisted, a.run.RunID) != nil
	return a.snapshot.Status() == 200 && letters && entry
}

// PurgedElsewhere is a dead run past its time, asked for where it died and on another instance, which had shown it before:
// Before is what the other one answered then, and There what it answered afterwards.
type PurgedElsewhere struct {
	Retention
	Before observe.Exchange `json:"before"`
	There  Looked           `json:"there"`
}

// JudgePurgedElsewhere judges 0053.retention.other-instance (RFC 0053 §C.3): what is purged is gone from every instance.
func JudgePurgedElsewhere(o PurgedElsewhere) witness.Verdict {
	var v witness.Verdict
	if o.Window == nil {
		v.Undecide(registry.Unreadable, "the observation has no number of days")
		return v
	}
	if !o.over(&v) || unanswered(&v, "reading the dead run after its time", o.Looked.Snapshot) {
		return v
	}
	_, purged, _ := o.Window.Ends(o.Run)
	switch {
	case !gone(o.Looked.Snapshot.Status()):
		v.Undecide(registry.UnexpectedAnswer, "the run was not purged where it died: %s", brief(o.Looked.Snapshot))
		return v
	case o.Before.Status() != 200:
		v.Undecide(registry.UnexpectedAnswer, "the other instance did not show the run before its time was over: %s", brief(o.Before))
		return v
	case !o.There.afterWindow(&v, purged) || unanswered(&v, "reading the dead run on the other instance", o.There.Snapshot):
		return v
	}
	v.Check("gone-there", gone(o.There.Snapshot.Status()), func() witness.Finding {
		return witness.Finding{
			Says: "a dead run whose time is over is gone on one instance, and still there on another", Expected: "404 or 410", Got: brief(o.There.Snapshot),
			Why: whyPurged, Section: sectionContract,
		}
	})
	var home witness.Verdict
	if o.forkGone(&home); len(home.Findings) > 0 {
		v.Note("fork-wrong-at-home", "forking the purged run is answered wrongly where it died, so no other instance is held to an answer")
		return v
	}
	there := o.Retention
	there.Looked = o.There
	there.forkGone(&v)
	return v
}
