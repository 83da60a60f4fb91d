package deadletter

import (
	"github.com/wopwitness/wopwitness/scenarios/registry"
	"github.com/wopwitness/wopwitness/witness"
	"github.com/wopwitness/wopwitness/witness/observe"
)

// again is a dead run that was there, asked for once more where it must be there as well: after a restart, or on another
// instance. listed and relisted are the sink's pages then and now; listed is empty where the host shows no sink.
type again struct {
	run              Run
	listed, relisted []observe.Exchange
	snapshot, poll   observe.Exchange

	suffix string // of the checks' names
	gone   string // what is said of something that isn't there any more
	before string // when, or where, it was there
	after  string // when, or where, it was asked for again
	why    string
}

func (a again) judge(v *witness.Verdict) {
	if unanswered(v, "reading the dead run "+a.after, a.snapshot) {
		return
	}
	v.Check("run-"+a.suffix, a.snapshot.Status() == 200, func() witness.Finding {
		return witness.Finding{
			Says: "a dead-lettered run " + a.gone, Expected: "200", Got: brief(a.snapshot), Why: a.why, Section: sectionContract,
		}
	})
	a.event(v)
	a.entry(v)
}

// event looks for the dead-letter event in the log, where the log showed one before.
func (a again) event(v *witness.Verdict) {
	polled := ReadLog(a.run.Reads, nil).DeadLetters()
	if len(polled) == 0 {
		v.Note("event-not-asked-for", "no poll of the log showed the dead letter %s, so none was looked for %s", a.before, a.after)
		return
	}
	if unanswered(v, "reading the dead run's log "+a.after, a.poll) {
		return
	}
	v.Check("event-"+a.suffix, len(ReadLog([]observe.Exchange{a.poll}, nil).DeadLetters()) > 0, func() witness.Finding {
		return witness.Finding{
			Says: "a run's dead-letter event " + a.gone, Expected: short(polled[0].Raw), Got: brief(a.poll), Why: a.why, Section: sectionContract,
		}
	})
}

// entry looks for the run in the sink, where the sink showed it before.
func (a again) entry(v *witness.Verdict) {
	before := EntryOf(a.listed, a.run.RunID)
	if before == nil {
		v.Note("sink-not-asked", "the host showed no entry of the run %s, so none was looked for %s", a.before, a.after)
		return
	}
	end := lastOf(a.relisted)
	found := EntryOf(a.relisted, a.run.RunID) != nil
	switch {
	case unanswered(v, "the sink's entries "+a.after, end):
		return
	case !found && (end.Status() != 200 || NextCursor(end) != ""):
		v.Undecide(registry.UnexpectedAnswer, "the sink's listing was not read to its end %s: %s", a.after, brief(end))
		return
	}
	v.Check("entry-"+a.suffix, found, func() witness.Finding {
		return witness.Finding{
			Says: "a dead run's entry in the sink " + a.gone, Expected: short(before), Got: brief(end), Why: a.why, Section: sectionContract,
		}
	})
}

// forksStill checks the answer to a fork of a run that has to fork: asking is what was asked, and says what is said of a
// host that doesn't make one.
func forksStill(v *witness.Verdict, check, asking, says string, fork observe.Exchange) {
	if unanswered(v, asking, fork) {
		return
	}
	v.Check(check, fork.Status() == 201, func() witness.Finding {
		return witness.Finding{Says: says, Expected: "201", Got: brief(fork), Why: whyFork, Section: sectionContract}
	})
}
