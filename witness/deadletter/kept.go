package deadletter

import (
	"github.com/wopwitness/wopwitness/scenarios/registry"
	"github.com/wopwitness/wopwitness/witness"
	"github.com/wopwitness/wopwitness/witness/observe"
)

// Retained is a dead run asked for right after its death, and where the host's clock can be moved again just before
// its time is over.
type Retained struct {
	Run    Run     `json:"run"`
	Window *Window `json:"window,omitempty"`
	Late   *Looked `json:"late,omitempty"`
}

const whyKept = "a dead run that is gone before its time cannot be looked into, and its cause is never found"

// JudgeRetained judges 0053.exhaustion.retained (RFC 0053 §C.1): a dead-lettered run is there, right after its death and,
// where the host names a number of days and its clock can be moved, until they are over.
func JudgeRetained(o Retained) witness.Verdict {
	o.Run = o.Run.read()
	var v witness.Verdict
	r := o.Run
	now := lastOf(r.Snapshots)
	if !r.vanished(now) && !r.died(&v) {
		return v
	}
	if unanswered(&v, "reading the dead run", now) {
		return v
	}
	v.Check("readable-after-death", now.Status() == 200, func() witness.Finding {
		return witness.Finding{
			Says: "a run cannot be read right after it was dead-lettered", Expected: "200", Got: brief(now),
			Why: whyKept, Section: sectionContract,
		}
	})
	if o.Window == nil || o.Late == nil {
		v.Note("not-waited-for", "the end of the run's time was not waited for: the host's clock cannot be moved, or it names no number of days")
		return v
	}
	floor, _, ok := o.Window.Ends(r)
	if !ok {
		v.Undecide(registry.UnexpectedAnswer, "neither the log nor the clock tells when %s died", r.Label)
		return v
	}
	if !o.Late.insideWindow(&v, floor) || unanswered(&v, "reading the dead run before its time was over", o.Late.Snapshot) {
		return v
	}
	v.Check("readable-until-the-end", o.Late.Snapshot.Status() == 200, func() witness.Finding {
		return witness.Finding{
			Says: "a dead-lettered run is gone before its days are over", Expected: "200", Got: brief(o.Late.Snapshot),
			Why: whyKept, Section: sectionContract,
		}
	})
	return v
}

// vanished says whether a run that the host made of an exhausting fixture is not there, and was asked for as long as an
// event may take to arrive. Its log, which would show its death, is gone with it.
func (r Run) vanished(now observe.Exchange) bool {
	return r.RunID != "" && !r.Seam && gone(now.Status()) && r.Patience > 0 && now.SentAt-r.Answer().AnsweredAt >= r.Patience
}

// Recovery is a run that fails twice and recovers, and an exhausting run made after it: the second one's dead letter
// shows that a dead letter of the first would have come by then.
type Recovery struct {
	Recovering Run `json:"recovering"`
	Later      Run `json:"later"`
	// Sink is the owner's listing of the sink once both had ended, where the host shows one.
	Sink []observe.Exchange `json:"sink,omitempty"`
}

// enoughTries is from which attempt on the recovering fixture completes.
const enoughTries = 3

// JudgeNotEarly judges 0053.exhaustion.not-early (RFC 0053 §C.1): only exhaustion dead-letters. A node that has tries
// left, or that succeeds, is not dead.
func JudgeNotEarly(o Recovery) witness.Verdict {
	o.Recovering, o.Later = o.Recovering.read(), o.Later.read()
	var v witness.Verdict
	r := o.Recovering
	if !r.made(&v) {
		return v
	}
	letters, tries := r.Log().DeadLetters(), r.Log().Attempts(r.Node)
	if len(letters) > 0 && r.Ended() != "completed" && tries < enoughTries {
		v.Undecide(registry.NoCause, "the host gives a node up after %d attempts, so the fixture does not recover there", tries)
		return v
	}
	if len(letters) == 0 {
		switch {
		case !r.LogReadable():
			v.Undecide(unreachable(lastOf(r.Reads)), "the log of %s cannot be read: %s", r.Label, brief(lastOf(r.Reads)))
			return v
		case r.Ended() == "":
			v.Undecide(registry.Timeout, "%s did not end within %s; %s", r.Label, r.Bound.Duration(), r.story())
			return v
		case r.Ended() != "completed" && tries < enoughTries:
			v.Undecide(registry.NoCause, "the run did not recover: it ended as %s after %d attempts that its log shows", r.Ended(), tries)
			return v
		case len(o.Later.Log().DeadLetters()) == 0:
			v.Undecide(registry.Timeout, "the later run that exhausts its retries showed no dead letter, so the absence of one here says nothing; %s", o.Later.story())
			return v
		}
	}
	v.Check("no-early-dead-letter", len(letters) == 0, func() witness.Finding {
		return witness.Finding{
			Says: "a node that still had a try, or that succeeded, was dead-lettered", Expected: "no dead-letter event",
			Got: r.story(), Section: sectionContract,
			Why: "whoever is called for every dead letter is called for runs that are well, and stops listening",
		}
	})
	if len(letters) == 0 && len(o.Sink) > 0 && lastOf(o.Sink).Status() == 200 {
		entry := EntryOf(o.Sink, r.RunID)
		v.Check("not-in-the-sink", entry == nil, func() witness.Finding {
			return witness.Finding{
				Says: "a run that recovered is in the sink of dead ones", Expected: "no entry for " + r.RunID, Got: short(entry), Section: sectionContract,
				Why: "whoever works through the sink mends what is well",
			}
		})
	}
	if r.Ended() == "completed" && tries < enoughTries {
		v.Note("attempts-not-shown", "the log shows %d attempts of a node that completes on the third", tries)
	}
	return v
}
