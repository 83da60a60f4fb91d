package deadletter

import (
	"github.com/wopwitness/wopwitness/scenarios/registry"
	"github.com/wopwitness/wopwitness/witness"
	"github.com/wopwitness/wopwitness/witness/observe"
)

// Durable is a dead run, asked for again after the host's process was replaced. Listed are the sink's pages from before,
// where they show the run, and Relisted those from after; Listed is empty where the host shows no sink.
type Durable struct {
	Run      Run                `json:"run"`
	Listed   []observe.Exchange `json:"listed,omitempty"`
	Restart  observe.Restart    `json:"restart"`
	Snapshot observe.Exchange   `json:"snapshot"`
	Poll     observe.Exchange   `json:"poll"`
	Relisted []observe.Exchange `json:"relisted,omitempty"`
	// A fork before the restart, the zero Exchange where none was asked for, and where it was made one after it.
	ForkBefore observe.Exchange `json:"forkBefore,omitzero"`
	ForkAfter  observe.Exchange `json:"forkAfter,omitzero"`
}

const whyDurable = "whoever comes to look after an outage finds that nothing ever died"

// JudgeDurable judges 0053.exhaustion.durable (RFC 0053 §C.1, §C.2): the dead run, its dead-letter event and its entry in
// the sink are there after the host's process was replaced, and it forks.
func JudgeDurable(o Durable) witness.Verdict {
	o.Run = o.Run.read()
	var v witness.Verdict
	r := o.Run
	back := o.Restart.Back
	switch {
	case !r.died(&v):
		return v
	case !r.Readable():
		v.Undecide(unreachable(lastOf(r.Snapshots)), "the dead run could not be read before the restart: %s", brief(lastOf(r.Snapshots)))
		return v
	case back.Status() != 200:
		v.Undecide(unreachable(back), "the host did not come back after its restart: %s", brief(back))
		return v
	case lastOf(r.Snapshots).AnsweredAt > back.SentAt || o.Snapshot.SentAt < back.AnsweredAt:
		v.Undecide(registry.Unreadable, "the restart did not fall between the run's death and the questions")
		return v
	}
	if !o.Restart.Away {
		v.Note(witness.NeverAway, "the host answered throughout its restart, as one does whose processes take turns")
	}
	again{
		run: o.Run, listed: o.Listed, snapshot: o.Snapshot, poll: o.Poll, relisted: o.Relisted,
		suffix: "outlives", gone: "is gone once the host was restarted", before: "before the restart", after: "after the restart", why: whyDurable,
	}.judge(&v)
	if o.ForkBefore.Status() != 201 {
		v.Note("not-forked-before", "the run did not fork before the restart, so it was not asked to afterwards")
		return v
	}
	forksStill(&v, "fork-outlives", "forking the dead run after the restart", "a dead-lettered run does not fork any more once the host was restarted", o.ForkAfter)
	return v
}
