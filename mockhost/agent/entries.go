package agent

import (
	"time"

	"github.com/wopwitness/wopwitness/mockhost/parts"
)

// Entries implements parts.EntryMaker. An entry is read by many more people than a conversation, for weeks: it holds what
// logs may hold, and points to the rest.
type Entries struct{ Parts *parts.Parts }

var _ parts.EntryMaker = Entries{}

// Tool implements parts.EntryMaker.
func (n Entries) Tool(m parts.Message, i parts.Invocation, failure parts.ToolError, now time.Time) (parts.Entry, error) {
	e, err := n.entry(m, parts.ToolQueue, failure, now)
	e.Run, e.Step, e.Tool, e.Invocation, e.Conversation = m.Run, i.Step, i.Tool, i.ID, m.Conversation
	e.Args = n.Parts.Agent.Redactor.JSON(i.Payload)
	e.Attempts, e.LastAttempt, e.Tokens = i.Attempts, i.LastAt, m.Tokens
	e.History = append([]parts.AttemptEnd{}, i.Outcomes...)
	return e, err
}

// Message implements parts.EntryMaker.
func (n Entries) Message(m parts.Message, reason string, failure parts.ToolError, now time.Time) (parts.Entry, error) {
	e, err := n.entry(m, parts.MessageQueue, failure, now)
	e.Body, e.Reason, e.Deliveries = n.Parts.Agent.Redactor.Text(m.Body), reason, m.Deliveries
	e.LastAttempt = now
	e.History = []parts.AttemptEnd{{Attempt: m.Deliveries, At: now, Outcome: failure.Kind}}
	return e, err
}

func (n Entries) entry(m parts.Message, queue string, failure parts.ToolError, now time.Time) (parts.Entry, error) {
	id, err := newID("dle-", now)
	failure.Message = n.Parts.Agent.Redactor.Text(failure.Message)
	return parts.Entry{
		Tenant: m.Tenant, Queue: queue, ID: id, Message: m.ID, TraceID: m.TraceID, LastError: failure, FirstSeen: now,
		Resolution: parts.Unresolved, Expires: now.Add(n.Parts.Agent.Numbers.EntryTTL), Tags: []string{},
		Audit: []parts.Audit{{At: now, By: parts.ByWorker, Action: parts.ActionEnqueued, Resolution: parts.Unresolved}},
	}, err
}

// redacted is an error as an entry may hold it.
func (w *Worker) redacted(failure parts.ToolError) parts.ToolError {
	failure.Message = w.parts.Agent.Redactor.Text(failure.Message)
	return failure
}
