package deadletter

import (
	"fmt"
	"slices"
	"strings"

	"github.com/wopwitness/wopwitness/witness"
)

// neverAfter are the events that major 2 forbids after a terminal one, beside every node's and interrupt's.
func neverAfter() []string {
	return []string{"run.started", "run.resumed", "run.resume-started", "run.paused", "run.restored-from-snapshot"}
}

// JudgeStatus judges 0053.exhaustion.status (RFC 0053 §C.1): the run failed, ended once, and stayed ended.
func JudgeStatus(o Exhaustion) witness.Verdict {
	o.Run = o.Run.read()
	var v witness.Verdict
	r := o.Run
	if !r.died(&v) {
		return v
	}
	if r.Status() == "" {
		v.Undecide(unreachable(lastOf(r.Snapshots)), "the run cannot be read: %s", brief(lastOf(r.Snapshots)))
	} else {
		v.Check("status-failed", r.Status() == "failed", func() witness.Finding {
			return witness.Finding{
				Says: "the snapshot of a dead-lettered run does not say that it failed", Expected: "status: failed",
				Got: "status: " + r.Status(), Section: sectionContract,
				Why: "whoever asks for the run believes that it is well, or still on its way",
			}
		})
	}
	if !r.LogReadable() {
		v.Note("no-log", "the host shows no log of the run")
		return v
	}
	log := r.Log()
	terminals := log.Terminals()
	v.Check("one-terminal-event", len(terminals) == 1, func() witness.Finding {
		return witness.Finding{
			Says:     fmt.Sprintf("the log of a dead-lettered run has %d terminal events", len(terminals)),
			Expected: "exactly one of run.failed, run.completed, run.cancelled", Got: r.story(), Section: sectionContract,
			Why: "whoever waits for the run's end waits for ever, or is told two stories",
		}
	})
	if o.Major >= 2 && len(terminals) > 0 {
		o.afterEnd(&v, log)
	}
	o.tellStatus(&v, log)
	return v
}

// afterEnd checks that nothing follows the first terminal event that says the run goes on.
func (o Exhaustion) afterEnd(v *witness.Verdict, log Log) {
	at := slices.IndexFunc(log, Event.IsTerminal)
	var wrong []string
	for _, e := range log[at+1:] {
		if slices.Contains(neverAfter(), e.Type) || strings.HasPrefix(e.Type, "node.") || strings.HasPrefix(e.Type, "interrupt.") {
			wrong = append(wrong, e.Type)
		}
	}
	v.Check("nothing-after-the-end", len(wrong) == 0, func() witness.Finding {
		return witness.Finding{
			Says: "the log goes on after its terminal event", Expected: "nothing of a node, an interrupt or the run's course",
			Got: strings.Join(wrong[:min(len(wrong), 8)], ", "), Section: sectionContract,
			Why: "a run that is said to be over still acts",
		}
	})
}

func (o Exhaustion) tellStatus(v *witness.Verdict, log Log) {
	for i := len(o.Run.Snapshots) - 1; i >= 0; i-- {
		if x := o.Run.Snapshots[i]; x.Status() == 200 {
			if members(members(x.Response.Body)["error"]) == nil {
				v.Note("no-error", "the snapshot of the failed run has no error")
			}
			break
		}
	}
	if len(log.of(func(e Event) bool { return e.NodeID == "after" && e.Type == "node.started" })) > 0 {
		v.Note("downstream-started", "a node behind the dead one was started")
	}
}
