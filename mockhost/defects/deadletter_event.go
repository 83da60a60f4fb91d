package defects

import (
	"slices"

	"github.com/wopwitness/wopwitness/mockhost/parts"
	"github.com/wopwitness/wopwitness/mockhost/store"
)

// deadLetterEvents are wrong about the event (RFC 0053 §B), or about when there is one (§C.1).
func deadLetterEvents() []Defect {
	return []Defect{
		deadLetter("no-event", "puts a dead run into its sink without an event", func(p *parts.Parts) {
			shownLog(p, func(_ store.Run, log []store.RunEvent) []store.RunEvent {
				return slices.DeleteFunc(log, func(e store.RunEvent) bool { return e.Type == parts.RunDeadLettered })
			})
		}, legEvent).silent(),
		deadLetter("never", "fails a run whose retries are exhausted as any other, without event or entry", func(p *parts.Parts) {
			p.DeadLetters = letters(func(parts.NodeEnd) (parts.Letter, bool) { return parts.Letter{}, false })
		}, legEvent, legInspectable).silent(),
		deadLetter("other-major-name", "gives the event the name that it has on the other major", func(p *parts.Parts) {
			showsLetters(p, func(major int, _ store.Run, event, _ members) {
				event["type"] = "run.dead-lettered"
				if major == 2 {
					event["type"] = "run.dead_lettered"
				}
			})
		}, legEvent),
		deadLetter("other-run", "names another run in the event's payload", payload(func(p members) {
			p["runId"] = "r-00000000000000000000000000"
		}), legEvent),
		deadLetter("other-node", "names a node that didn't fail", payload(func(p members) { p["nodeId"] = "entry" }), legEvent),
		deadLetter("no-run", "leaves the run out of the event's payload", payload(func(p members) { delete(p, "runId") }), legEvent),
		deadLetter("no-reason", "doesn't say why the run died", payload(func(p members) { delete(p, "reason") }), legEvent),
		deadLetter("reason-object", "gives the error object for the reason", payload(func(p members) {
			p["reason"] = members{"code": "poisoned"}
		}), legEvent),
		deadLetter("attempts-missing", "doesn't say how often it tried", payload(func(p members) { delete(p, "attempts") }),
			legEvent, legAttempts),
		deadLetter("attempts-zero", "says that it never tried", payload(func(p members) { p["attempts"] = 0 }), legEvent, legAttempts),
		deadLetter("attempts-text", "says the number of attempts as text", payload(func(p members) { p["attempts"] = "3" }),
			legEvent, legAttempts),
		deadLetter("attempts-retries", "counts the retries for the attempts, one too few", func(p *parts.Parts) {
			changesLetters(p, func(_ parts.NodeEnd, l *parts.Letter) { l.Attempts-- })
		}, legAttempts),
		deadLetter("attempts-next", "counts the attempt that it didn't make", func(p *parts.Parts) {
			changesLetters(p, func(_ parts.NodeEnd, l *parts.Letter) { l.Attempts++ })
		}, legAttempts),
		deadLetter("early", "dead-letters a node at its first failure, and goes on retrying", func(p *parts.Parts) {
			p.DeadLetters = letters(func(e parts.NodeEnd) (parts.Letter, bool) {
				return parts.Letter{Node: e.Node, Reason: "the node failed", Attempts: e.Attempts}, e.Error != nil && e.Attempts == 1
			})
		}, legAttempts, legNotEarly),
		deadLetter("success", "dead-letters a node that succeeded on its last attempt", func(p *parts.Parts) {
			right := p.DeadLetters
			p.DeadLetters = letters(func(e parts.NodeEnd) (parts.Letter, bool) {
				if e.Error == nil && e.Attempts > 1 {
					return parts.Letter{Node: e.Node, Reason: "the node needed every attempt", Attempts: e.Attempts}, true
				}
				return right.Letter(e)
			})
		}, legNotEarly),
		deadLetter("last-try-forgotten", "dead-letters a node before the last attempt that its policy gives it", func(p *parts.Parts) {
			right := p.DeadLetters
			p.DeadLetters = letters(func(e parts.NodeEnd) (parts.Letter, bool) {
				e.Final = e.Final || e.Error != nil && e.Attempts == 2
				return right.Letter(e)
			})
		}, legAttempts, legNotEarly),
	}
}

// payload changes the payload of every dead-letter event.
func payload(change func(p members)) func(*parts.Parts) {
	return func(p *parts.Parts) {
		showsLetters(p, func(_ int, _ store.Run, _, payload members) { change(payload) })
	}
}
