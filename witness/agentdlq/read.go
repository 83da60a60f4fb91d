package agentdlq

import (
	"time"

	"github.com/wopwitness/wopwitness/witness/observe"
)

// bodyOf reads the body of an answer of that status.
func bodyOf(x observe.Exchange, status int) value {
	if x.Status() != status {
		return value{}
	}
	return decode(x.Response.Body)
}

// NextCursor is the cursor of the page after this one, "" where there is none.
func NextCursor(x observe.Exchange) string { return bodyOf(x, 200).get("nextCursor").text() }

// ErrorCode is the code of an error body, "" where there is none.
func ErrorCode(x observe.Exchange) string {
	if x.Response == nil {
		return ""
	}
	body := decode(x.Response.Body)
	if code := body.get("error").text(); code != "" {
		return code
	}
	return body.get("error").get("code").text()
}

// The states in which a message ends.
const (
	Completed    = "completed"
	ToolFailed   = "tool_failed"
	DeadLettered = "message_dead_lettered"
)

// Tokens are those that a model was given and gave.
type Tokens struct{ Input, Output Count }

func (x value) tokens() Tokens { return Tokens{x.get("input").count(), x.get("output").count()} }

// Message is what a host says of a message.
type Message struct {
	ID, Status, RunID, TraceID string
	Deliveries, ModelCalls     Count
	Tokens                     Tokens
}

// MessageOf reads GET /messages/{messageId}.
func MessageOf(x observe.Exchange) Message {
	m := bodyOf(x, 200)
	return Message{
		ID: m.get("messageId").text(), Status: m.get("status").text(), RunID: m.get("runId").text(), TraceID: m.get("traceId").text(),
		Deliveries: m.get("deliveries").count(), ModelCalls: m.get("modelCalls").count(), Tokens: m.get("tokensSpent").tokens(),
	}
}

// Final says whether the message has ended.
func (m Message) Final() bool {
	return m.Status == Completed || m.Status == ToolFailed || m.Status == DeadLettered
}

// Call is one call that reached a tool.
type Call struct {
	RunID, Outcome string
	Step, Attempt  Count
	At             time.Time
}

// Tool is what a host says of a scripted tool.
type Tool struct {
	Calls           []Call
	Effects, Alerts Count
	Circuit         string
}

// ToolOf reads GET /tools/{name}.
func ToolOf(x observe.Exchange) Tool {
	body := bodyOf(x, 200)
	t := Tool{Effects: body.get("effects").count(), Alerts: body.get("alerts").count(), Circuit: body.get("circuit").get("state").text()}
	for _, c := range body.get("calls").items() {
		t.Calls = append(t.Calls, Call{
			RunID: c.get("runId").text(), Outcome: c.get("outcome").text(), Step: c.get("stepIndex").count(), Attempt: c.get("attempt").count(),
			At: c.get("at").instant(),
		})
	}
	return t
}

// of gives the calls of one run.
func (t Tool) of(runID string) []Call {
	var own []Call
	for _, c := range t.Calls {
		if c.RunID == runID {
			own = append(own, c)
		}
	}
	return own
}

// Entry is one entry of a queue. Raw is the whole of it, as JSON with its members sorted.
type Entry struct {
	ID, RunID, MessageID, TraceID, InvocationID string // MessageID is originalMessageId in the tool queue
	Reason, Tool, Resolution, Category          string
	Kind                                        string // of the last error
	Step, Attempts, Deliveries                  Count
	Conversation                                string
	Tokens                                      Tokens
	FirstSeen, LastAttempted, NextReplay        time.Time
	Raw                                         string
	json                                        value
}

func entryOf(e value) Entry {
	id := e.get("originalMessageId").text()
	if id == "" {
		id = e.get("messageId").text()
	}
	return Entry{
		ID: e.get("entryId").text(), RunID: e.get("runId").text(), MessageID: id, TraceID: e.get("traceId").text(),
		InvocationID: e.get("invocationId").text(), Reason: e.get("reason").text(), Tool: e.get("toolName").text(),
		Resolution: e.get("resolution").text(), Category: e.get("category").text(), Kind: e.get("lastError").get("kind").text(),
		Step: e.get("stepIndex").count(), Attempts: e.get("attempts").count(), Deliveries: e.get("deliveries").count(),
		Conversation: e.get("conversationRef").text(), Tokens: e.get("tokensSpent").tokens(),
		FirstSeen: e.get("firstSeenAt").instant(), LastAttempted: e.get("lastAttemptedAt").instant(), NextReplay: e.get("nextReplayAt").instant(),
		Raw: e.raw(), json: e,
	}
}

// EntriesOf reads the pages of a queue or of reviews.
func EntriesOf(pages ...observe.Exchange) []Entry {
	var all []Entry
	for _, x := range pages {
		for _, e := range bodyOf(x, 200).get("entries").items() {
			all = append(all, entryOf(e))
		}
	}
	return all
}

// EntryOf reads GET /queues/{…}/{entryId}.
func EntryOf(x observe.Exchange) Entry { return entryOf(bodyOf(x, 200)) }

// Depth reads the count and the age that a queue's answer tells. Idle says that the age is null.
func Depth(x observe.Exchange) (depth, oldest Count, idle bool) {
	body := bodyOf(x, 200)
	return body.get("depth").count(), body.get("oldestAgeSeconds").count(), body.get("oldestAgeSeconds").isNull()
}

// Invocation is one record of the interceptor.
type Invocation struct {
	ID, Agent, Tool, TraceID, Status, Reason string
	Attempts, MaxAttempts                    Count
	History                                  []string // the statuses in order
	Raw                                      string
	json                                     value
}

// InvocationsOf reads the pages of GET /invocations.
func InvocationsOf(pages ...observe.Exchange) []Invocation {
	var all []Invocation
	for _, x := range pages {
		for _, r := range bodyOf(x, 200).get("entries").items() {
			record := Invocation{
				ID: r.get("invocationId").text(), Agent: r.get("agentId").text(), Tool: r.get("toolName").text(), TraceID: r.get("workflowTraceId").text(),
				Status: r.get("status").text(), Reason: r.get("failureReason").text(),
				Attempts: r.get("attemptCount").count(), MaxAttempts: r.get("maxAttempts").count(), Raw: r.raw(), json: r,
			}
			for _, h := range r.get("history").items() {
				record.History = append(record.History, h.get("status").text())
			}
			all = append(all, record)
		}
	}
	return all
}

// Drain is what a host says of a drain.
type Drain struct {
	State                          string
	Replayed, Succeeded, Remaining Count
	Failed                         []FailedReplay
}

// FailedReplay is an entry that a drain could not replay, and why.
type FailedReplay struct{ EntryID, Status string }

// DrainOf reads GET /drains/{id}.
func DrainOf(x observe.Exchange) Drain {
	body := bodyOf(x, 200)
	d := Drain{State: body.get("state").text(), Replayed: body.get("replayed").count(), Succeeded: body.get("succeeded").count(), Remaining: body.get("remaining").count()}
	for _, f := range body.get("failed").items() {
		d.Failed = append(d.Failed, FailedReplay{f.get("entryId").text(), f.get("status").text()})
	}
	return d
}

// Over says whether a drain has come to its end.
func (d Drain) Over() bool { return d.State == "done" || d.State == "stopped" }

// DrainID reads the answer to POST /drains.
func DrainID(x observe.Exchange) string { return bodyOf(x, 202).get("drainId").text() }
