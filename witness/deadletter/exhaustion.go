package deadletter

import (
	"encoding/json"
	"fmt"
	"slices"

	"github.com/wopwitness/wopwitness/fixtures/schema"
	"github.com/wopwitness/wopwitness/scenarios/registry"
	"github.com/wopwitness/wopwitness/witness"
)

// Exhaustion is one run whose node exhausts its retries, read until its end and its dead letter. Child is its replay, read
// in the same way, where the host made one.
type Exhaustion struct {
	Major int  `json:"major"`
	Run   Run  `json:"run"`
	Child *Run `json:"child,omitempty"`
}

const (
	sectionEvent    = "RFC 0053 §B"
	sectionContract = "RFC 0053 §C"
	whyEvent        = "without the event nobody who waits for the run learns that it died and where it lies"
)

// nameFor is the dead-letter event's name on a major.
func nameFor(major int) string {
	if major == 1 {
		return "run.dead_lettered"
	}
	return "run.dead-lettered"
}

// named says whether the name is the major's. Major 1 has camel-cased names beside its snake-cased ones.
func named(major int, name string) bool {
	return name == nameFor(major) || major == 1 && name == "run.deadLettered"
}

// JudgeEvent judges 0053.exhaustion.event (RFC 0053 §B, §C.1): the dead letter is there, under its name, in its form, and
// about this run and this node.
func JudgeEvent(o Exhaustion) witness.Verdict {
	o.Run = o.Run.read()
	var v witness.Verdict
	r := o.Run
	letters := r.DeadLetters()
	if r.Seam {
		o.seamAnswer(&v)
		if v.Undecided != nil {
			return v
		}
	} else if !r.made(&v) || len(letters) == 0 && !r.absenceShown(&v) {
		return v
	}
	v.Check("dead-letter-event", len(letters) > 0, func() witness.Finding {
		return witness.Finding{
			Says:     "a node exhausted its retries and no dead-letter event came",
			Expected: nameFor(o.Major), Got: r.story(), Why: whyEvent, Section: sectionContract,
		}
	})
	if len(letters) == 0 {
		return v
	}
	right := slices.DeleteFunc(slices.Clone(letters), func(e Event) bool { return !named(o.Major, e.Type) })
	v.Check("name-for-major", len(right) > 0, func() witness.Finding {
		return witness.Finding{
			Says:     fmt.Sprintf("the dead-letter event does not have the name that it has on major %d", o.Major),
			Expected: nameFor(o.Major), Got: letters[0].Type, Section: sectionEvent,
			Why: "a client that waits for the name never gets the event",
		}
	})
	if len(right) == 0 {
		right = letters
	}
	for _, e := range right {
		o.payload(&v, e)
	}
	o.tell(&v, letters)
	o.childsLetter(&v)
	return v
}

// childsLetter checks that a fork which dies as its source did is dead-lettered as well. It is held to that where its log
// shows the same failures; one that ends otherwise, or shows fewer, may have been spared them.
func (o Exhaustion) childsLetter(v *witness.Verdict) {
	c, tries, ok := o.childDied()
	if !ok {
		return
	}
	letters := c.DeadLetters()
	if len(letters) == 0 && !c.absenceShown(v) {
		return
	}
	v.Check("dead-letter-of-the-fork", len(letters) > 0, func() witness.Finding {
		return witness.Finding{
			Says:     fmt.Sprintf("a fork of a dead run failed %d times as its source did, and no dead-letter event came", tries),
			Expected: nameFor(o.Major), Got: c.story(), Why: whyEvent, Section: sectionContract,
		}
	})
}

// childDied is the fork where its log shows that the node failed in it as often as in its source, and the run with it.
func (o Exhaustion) childDied() (c Run, tries int64, ok bool) {
	if o.Child == nil {
		return Run{}, 0, false
	}
	c = o.Child.read()
	letters, log := accountable(o.Run.DeadLetters()), c.Log()
	if len(letters) == 0 || c.Ended() != "failed" {
		return c, 0, false
	}
	source := o.Run.Log()
	node := o.Run.nodeOf(letters[0], source)
	tries = log.Attempts(node)
	return c, tries, tries >= 2 && tries >= source.Attempts(node) && len(log.Terminals()) > 0
}

// seamAnswer checks what the seam says beside the event: that the run can be forked is a promise of every dead letter.
func (o Exhaustion) seamAnswer(v *witness.Verdict) {
	x := o.Run.Answer()
	if x.Status() != 200 || members(x.Response.Body) == nil {
		v.Undecide(unreachable(x), "the seam deadletter/exhaust: %s", brief(x))
		return
	}
	claim, has := members(x.Response.Body)["forkEligible"]
	if !has {
		v.Note("no-claim", "the seam does not say whether the run can be forked")
		return
	}
	v.Check("fork-eligible-claim", string(claim) == "true", func() witness.Finding {
		return witness.Finding{
			Says:     "the host says of a run that it has just dead-lettered that it cannot be forked",
			Expected: "forkEligible: true", Got: short(claim), Section: sectionContract,
			Why: "a dead run that cannot be forked is lost, whatever else is known of it",
		}
	})
}

// absenceShown says whether a missing dead letter is known to be missing: the run ended of its failure and was watched
// for long enough after it. Otherwise it leaves the verdict undecided.
func (r Run) absenceShown(v *witness.Verdict) bool {
	at, seen := r.endSeen()
	switch {
	case !r.LogReadable():
		v.Undecide(unreachable(lastOf(r.Reads)), "the log of %s cannot be read: %s", r.Label, brief(lastOf(r.Reads)))
	case !seen:
		v.Undecide(registry.Timeout, "%s did not end within %s; %s", r.Label, r.Bound.Duration(), r.story())
	case r.Ended() == "cancelled", r.Ended() == "completed" && len(r.Log().failingNodes()) == 0:
		v.Undecide(registry.UnexpectedAnswer, "%s did not exhaust anything, so the fixture is not seeded as it is catalogued; %s", r.Label, r.story())
	case r.Patience <= 0 || r.lastAsked()-at < r.Patience:
		v.Undecide(registry.Timeout, "the log of %s was not watched for long enough after its end; %s", r.Label, r.story())
	default:
		return true
	}
	return false
}

// payload checks one dead letter's payload: its form, its run and its node.
func (o Exhaustion) payload(v *witness.Verdict, e Event) {
	document := e.Payload
	if document == nil {
		document = json.RawMessage("null")
	}
	violations := schema.Validate(schema.DeadLetterPayload, document)
	v.Check("payload-form", len(violations) == 0, func() witness.Finding {
		return witness.Finding{
			Says: "the dead-letter event's payload is malformed", Expected: "runId, reason, attempts >= 1, and nodeId where a node died",
			Got: short(document) + ": " + listed(violations), Section: sectionEvent,
			Why: "a client cannot tell what died, why, or after how many attempts",
		}
	})
	m := members(document)
	if want := o.Run.RunID; want != "" {
		wrong := ""
		for _, id := range []string{str(m["runId"]), e.RunID} {
			if id != "" && id != want {
				wrong = id
			}
		}
		v.Check("own-run", wrong == "", func() witness.Finding {
			return witness.Finding{
				Says: "the dead-letter event names another run", Expected: want, Got: wrong, Section: sectionEvent,
				Why: "whoever follows the event looks at, or forks, a run that did not die",
			}
		})
	}
	if node := str(m["nodeId"]); node != "" && o.Run.Node != "" {
		v.Check("failing-node", node == o.Run.Node, func() witness.Finding {
			return witness.Finding{
				Says: "the dead-letter event names a node that did not fail", Expected: o.Run.Node, Got: node, Section: sectionEvent,
				Why: "whoever repairs the workflow repairs the wrong node",
			}
		})
	}
}

func (o Exhaustion) tell(v *witness.Verdict, letters []Event) {
	if len(letters) > 1 {
		v.Note("several-events", "the run has %d dead-letter events", len(letters))
	}
	for _, e := range letters {
		if e.Type != nameFor(o.Major) && named(o.Major, e.Type) {
			v.Note("camel-name", "the event's name is camel-cased")
			return
		}
	}
}

// JudgeAttempts judges 0053.exhaustion.attempts (RFC 0053 §B): the dead letter's attempts are those that the log shows.
func JudgeAttempts(o Exhaustion) witness.Verdict {
	o.Run = o.Run.read()
	var v witness.Verdict
	r := o.Run
	if !r.died(&v) {
		return v
	}
	if len(r.DeadLetters()) == 0 {
		v.Undecide(registry.UnexpectedAnswer, "%s has no dead-letter event, so it counts no attempts; %s", r.Label, r.story())
		return v
	}
	log := r.Log()
	for _, e := range accountable(r.DeadLetters()) {
		m := members(e.Payload)
		attempts, whole := integer(m["attempts"])
		v.Check("attempts-positive", whole && attempts >= 1, func() witness.Finding {
			return witness.Finding{
				Says: "the dead letter does not say how often the node was tried", Expected: "attempts, an integer of at least 1",
				Got: short(m["attempts"]), Why: "nobody can tell a node that was retried from one that was given up at once", Section: sectionEvent,
			}
		})
		node := r.nodeOf(e, log)
		shown := log.Attempts(node)
		if shown < 2 {
			v.Note("attempts-not-shown", "the log shows %d attempts of the node, which is no evidence against another number", shown)
			continue
		}
		v.Check("attempts-match-log", !whole || attempts == shown, func() witness.Finding {
			return witness.Finding{
				Says: "the dead letter counts other attempts than the log shows", Expected: fmt.Sprintf("attempts: %d, as the log shows for node %s", shown, node),
				Got: fmt.Sprintf("attempts: %d; %s", attempts, r.story()), Section: sectionEvent,
				Why: "whoever weighs whether a retry is worth it weighs by a wrong number",
			}
		})
		if shown != 3 && r.Workflow != "" {
			v.Note("own-policy", "the node was tried %d times where the fixture asks for 3", shown)
		}
	}
	if len(v.Findings) == 0 { // who counts wrongly is told so once
		o.childsAttempts(&v)
	}
	return v
}

// childsAttempts holds the dead letter of a fork to the fork's own log. A log that begins with its source's events may
// count them or not.
func (o Exhaustion) childsAttempts(v *witness.Verdict) {
	c, shown, ok := o.childDied()
	if !ok || len(c.DeadLetters()) == 0 {
		return
	}
	for _, e := range accountable(c.DeadLetters()) {
		attempts, whole := integer(members(e.Payload)["attempts"])
		v.Check("attempts-of-the-fork", whole && attempts == shown, func() witness.Finding {
			return witness.Finding{
				Says: "the dead letter of a fork counts other attempts than the fork's log shows", Expected: fmt.Sprintf("attempts: %d", shown),
				Got: fmt.Sprintf("attempts: %s; %s", short(members(e.Payload)["attempts"]), c.story()), Section: sectionEvent,
				Why: "whoever weighs whether a retry is worth it weighs by a wrong number",
			}
		})
	}
}

// accountable are the dead letters that speak of a node, or where none does all of them: the one that a host adds for
// the whole run counts what it likes.
func accountable(letters []Event) []Event {
	ofNodes := slices.DeleteFunc(slices.Clone(letters), func(e Event) bool { return str(members(e.Payload)["nodeId"]) == "" })
	if len(ofNodes) > 0 {
		return ofNodes
	}
	return letters
}

// nodeOf is the node that a dead letter speaks of: the one it names where the log knows it, else the fixture's, else the only one that failed.
func (r Run) nodeOf(e Event, log Log) string {
	if node := str(members(e.Payload)["nodeId"]); node != "" && (r.Node == "" || log.Attempts(node) > 0 && node == r.Node) {
		return node
	}
	if r.Node != "" {
		return r.Node
	}
	if failing := log.failingNodes(); len(failing) == 1 {
		return failing[0]
	}
	return e.NodeID
}
