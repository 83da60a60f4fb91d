package defects

import (
	"encoding/json"
	"time"

	"github.com/wopwitness/wopwitness/mockhost/parts"
	"github.com/wopwitness/wopwitness/mockhost/store"
)

// agentEntries make entries that lack what they need, or hold what they may not.
func agentEntries() []Defect {
	return []Defect{
		agentDefect("step-from-one", "counts the steps of an entry from 1", func(a *parts.Agent) {
			shows(a, func(e *parts.Entry) { e.Step++ })
		}, "entry.step-index", "intercept.hand-off-down", "route.budget-exhausted"),
		agentDefect("attempts-are-retries", "leaves the first attempt out of an entry's attempts", func(a *parts.Agent) {
			shows(a, func(e *parts.Entry) { e.Attempts = max(0, e.Attempts-1) })
		}, "entry.attempts", "entry.first-seen", "recover.back-off", "recover.cap", "recover.jitter", "recover.limit", "route.attempts-counted", "route.misconfigured-once"),
		agentDefect("error-without-status", "leaves the status out of an entry's error", func(a *parts.Agent) {
			shows(a, func(e *parts.Entry) { e.LastError.Status = nil })
		}, "entry.last-error", "store.context"),
		agentDefect("error-of-the-host", "says of every failure that it is the server's", func(a *parts.Agent) {
			shows(a, func(e *parts.Entry) {
				if e.Queue == parts.ToolQueue {
					e.LastError.Kind = parts.ServerError
				}
			})
		}, "classify.authorization", "classify.schema", "classify.semantic", "classify.transient", "classify.unavailable", "classify.unknown-reviewed", "entry.last-error", "intercept.hand-off-down", "intercept.in-flight-reviewed", "intercept.rate-limited-never-complete"),
		agentDefect("email-in-error", "keeps what a tool said as it said it, with the customer's address", func(a *parts.Agent) {
			a.Entries = entryMaker{EntryMaker: a.Entries, tool: func(e *parts.Entry, _ parts.Invocation, failure parts.ToolError) {
				e.LastError.Message = failure.Message
			}}
		}, "entry.redacted"),
		agentDefect("email-in-arguments", "keeps a call's arguments as they were, with the customer's address", func(a *parts.Agent) {
			a.Entries = entryMaker{EntryMaker: a.Entries, tool: func(e *parts.Entry, i parts.Invocation, _ parts.ToolError) { e.Args = i.Payload }}
		}, "entry.redacted"),
		agentDefect("email-in-body", "keeps the text of a message that couldn't be read as it came, with the customer's address", func(a *parts.Agent) {
			a.Entries = entryMaker{EntryMaker: a.Entries, message: func(e *parts.Entry, m parts.Message) { e.Body = m.Body }}
		}, "entry.redacted"),
		agentDefect("whole-conversation", "puts the conversation into the entry, rather than a pointer to it", func(a *parts.Agent) {
			shows(a, func(e *parts.Entry) {
				if e.Queue == parts.ToolQueue {
					e.Conversation = `[{"role":"user","content":"sum up the day"},{"role":"tool","content":"` + e.LastError.Kind + `"}]`
				}
			})
		}, "entry.conversation-pointer", "entry.shape"),
		agentDefect("tokens-uncounted", "says that a run has spent no tokens", func(a *parts.Agent) {
			shows(a, func(e *parts.Entry) { e.Tokens = parts.Tokens{} })
		}, "entry.tokens-spent"),
		agentDefect("seen-anew", "takes the time of the last attempt for that at which an entry was first seen", func(a *parts.Agent) {
			right := a.Queues
			a.Queues = queues{Queues: right, save: func(tx store.Tx, before, after parts.Entry) error {
				if after.Attempts > before.Attempts {
					after.FirstSeen = after.LastAttempt
				}
				return right.Save(tx, before, after)
			}}
		}, "entry.first-seen"),
		agentDefect("origin-forgotten", "names the run where an entry should name its message", func(a *parts.Agent) {
			shows(a, func(e *parts.Entry) {
				if e.Queue == parts.ToolQueue {
					e.Message = e.Run
				}
			})
		}, "burst.accounted", "entry.original-message", "operate.grouped", "store.by-resolution", "store.by-tool", "store.by-trace"),
		agentDefect("arguments-left-out", "keeps no arguments of a call, for fear of what they hold", func(a *parts.Agent) {
			shows(a, func(e *parts.Entry) {
				if e.Queue == parts.ToolQueue {
					e.Args = json.RawMessage(`{}`)
				}
			})
		}, "store.context"),
	}
}

// entryMaker changes entries before they are kept.
type entryMaker struct {
	parts.EntryMaker
	tool    func(e *parts.Entry, i parts.Invocation, failure parts.ToolError)
	message func(e *parts.Entry, m parts.Message)
}

func (n entryMaker) Tool(m parts.Message, i parts.Invocation, failure parts.ToolError, now time.Time) (parts.Entry, error) {
	e, err := n.EntryMaker.Tool(m, i, failure, now)
	if n.tool != nil {
		n.tool(&e, i, failure)
	}
	return e, err
}

func (n entryMaker) Message(m parts.Message, reason string, failure parts.ToolError, now time.Time) (parts.Entry, error) {
	e, err := n.EntryMaker.Message(m, reason, failure, now)
	if n.message != nil {
		n.message(&e, m)
	}
	return e, err
}
