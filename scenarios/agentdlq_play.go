package scenarios

import (
	"context"
	"crypto/rand"
	"encoding/hex"
	"net/http"
	"net/url"
	"slices"

	"github.com/wopwitness/wopwitness/seams/cause"
	"github.com/wopwitness/wopwitness/witness/agentdlq"
	"github.com/wopwitness/wopwitness/witness/observe"
)

// tool is a scripted tool as a leg registers it.
type tool struct {
	Script        []turn `json:"script"`
	Schema        any    `json:"schema,omitempty"`
	Documentation string `json:"documentation,omitempty"`
	SideEffect    bool   `json:"sideEffect,omitempty"`
	Idempotent    bool   `json:"idempotent,omitempty"`
	Fallback      string `json:"fallback,omitempty"` // a role
}

type turn struct {
	Outcome           string `json:"outcome"`
	DelayMs           int    `json:"delayMs,omitempty"`
	RetryAfterSeconds int64  `json:"retryAfterSeconds,omitempty"`
}

// script is a tool that does these, one call after another, and the last for ever.
func script(outcomes ...string) tool {
	var t tool
	for _, o := range outcomes {
		t.Script = append(t.Script, turn{Outcome: o})
	}
	return t
}

// message is one that a leg sends. Its steps name tools by their roles.
type message struct {
	body    string // as it goes over the wire; a valid one where it is empty
	steps   []step
	budget  *int // the host's default where it is nil
	crashAt string
	purpose string
	trace   string // a traceparent; a new one where it is empty
}

type step struct {
	Tool      string `json:"tool"`
	Args      any    `json:"args"`
	DependsOn []int  `json:"dependsOn,omitempty"`
}

// calls are the steps of a workflow that calls these tools in turn.
func calls(roles ...string) []step {
	var steps []step
	for _, r := range roles {
		steps = append(steps, step{Tool: r})
	}
	return steps
}

func budgetOf(n int) *int { return &n }

// set registers a tool, or gives it a new script.
func (a *agent) set(ctx context.Context, role string, t tool) error {
	if t.Fallback != "" {
		t.Fallback = a.name(t.Fallback)
	}
	if !slices.Contains(a.tools, role) {
		a.tools = append(a.tools, role)
	}
	return prepared(a.act(ctx, agentdlq.DidSetTool, role, http.MethodPut, "tools/"+url.PathEscape(a.name(role)), nil, t), 200)
}

// wire is the message as the seam takes it.
func (a *agent) wire(role string, m message) map[string]any {
	if m.trace == "" {
		m.trace = newTrace()
	}
	if m.body == "" {
		m.body = `{"task":"sum up the day"}`
	}
	steps := make([]step, 0, len(m.steps))
	for _, s := range m.steps {
		s.Tool = a.name(s.Tool)
		if s.Args == nil {
			s.Args = map[string]any{"order": "A-1042"}
		}
		steps = append(steps, s)
	}
	body := map[string]any{
		"messageId": a.name(role), "body": m.body, "workflow": map[string]any{"steps": steps}, "traceparent": m.trace,
	}
	if m.budget != nil {
		body["retryBudget"] = *m.budget
	}
	if m.crashAt != "" {
		body["crashAt"] = m.crashAt
	}
	if m.purpose != "" {
		body["purpose"] = m.purpose
	}
	return body
}

// send hands the worker a message, and waits where it pushes back.
func (a *agent) send(ctx context.Context, role string, m message) error {
	x := cause.AgentPatiently(ctx, a.d.Session, a.request(agentdlq.DidSend, role, http.MethodPost, "messages", nil, a.wire(role, m)), triggerPatience)
	a.note(agentdlq.DidSend, role, x)
	if !slices.Contains(a.sent, role) {
		a.sent = append(a.sent, role)
	}
	return prepared(x, 202)
}

// newTrace is a traceparent (W3C Trace Context) that nobody has used.
func newTrace() string {
	var b [24]byte
	_, _ = rand.Read(b[:]) // crypto/rand.Read never fails
	b[0], b[16] = b[0]|1, b[16]|1
	return "00-" + hex.EncodeToString(b[:16]) + "-" + hex.EncodeToString(b[16:]) + "-01"
}

// message reads a message.
func (a *agent) message(ctx context.Context, role string) agentdlq.Message {
	return agentdlq.MessageOf(a.act(ctx, agentdlq.DidMessage, role, http.MethodGet, "messages/"+url.PathEscape(a.name(role)), nil, nil))
}

// ended waits until the messages have come to their ends, all of those sent where none is named. What has not by then is
// for the judge to say.
func (a *agent) ended(ctx context.Context, roles ...string) bool {
	return a.until(ctx, a.allEnded(ctx, roles...))
}

func (a *agent) allEnded(ctx context.Context, roles ...string) func() bool {
	if len(roles) == 0 {
		roles = a.sent
	}
	left := slices.Clone(roles)
	return func() bool {
		left = slices.DeleteFunc(left, func(role string) bool { return a.message(ctx, role).Final() })
		return len(left) == 0
	}
}

// tool reads a tool.
func (a *agent) tool(ctx context.Context, role string) agentdlq.Tool {
	return agentdlq.ToolOf(a.act(ctx, agentdlq.DidTool, role, http.MethodGet, "tools/"+url.PathEscape(a.name(role)), nil, nil))
}

// trace is the trace that the host says a message has.
func (a *agent) trace(role string) string {
	return agentdlq.MessageOf(a.scene.Last(agentdlq.DidMessage, role)).TraceID
}

// queue reads what a queue has of a message, by its trace.
func (a *agent) queue(ctx context.Context, which agentdlq.Did, role string) []agentdlq.Entry {
	path := "queues/tool"
	if which == agentdlq.DidMessageQueue {
		path = "queues/message"
	}
	return agentdlq.EntriesOf(a.list(ctx, which, role, path, url.Values{"traceId": {a.trace(role)}})...)
}

// invocations reads the records of a message's run.
func (a *agent) invocations(ctx context.Context, role string) []agentdlq.Invocation {
	return agentdlq.InvocationsOf(a.list(ctx, agentdlq.DidInvocations, role, "invocations", url.Values{"traceId": {a.trace(role)}})...)
}

// queues reads both queues for each message. An ended message's entry may be a moment late, so the queue that gets it is
// asked until it shows it; what the other shows by then it shows.
func (a *agent) queues(ctx context.Context, roles ...string) {
	for _, role := range roles {
		switch agentdlq.MessageOf(a.scene.Last(agentdlq.DidMessage, role)).Status {
		case agentdlq.ToolFailed:
			a.late(ctx, agentdlq.DidToolQueue, role)
			a.queue(ctx, agentdlq.DidMessageQueue, role)
		case agentdlq.DeadLettered:
			a.late(ctx, agentdlq.DidMessageQueue, role)
			a.queue(ctx, agentdlq.DidToolQueue, role)
		default:
			a.queue(ctx, agentdlq.DidToolQueue, role)
			a.queue(ctx, agentdlq.DidMessageQueue, role)
		}
	}
}

// late reads a queue until it shows something of the message, or the event time-out passes. A host that let the leg wait in
// vain once isn't waited for as long again.
func (a *agent) late(ctx context.Context, which agentdlq.Did, role string) {
	patience := a.d.run.config.eventTimeout()
	if a.vain {
		patience = 5 * a.d.Quiet()
	}
	if !a.within(ctx, patience, func() bool { return len(a.queue(ctx, which, role)) > 0 }) {
		a.vain = true
	}
}

// close reads everything once more, and gives the scene: each message, both queues for it, each tool.
func (a *agent) close(ctx context.Context) agentdlq.Scene {
	for _, role := range a.sent {
		a.message(ctx, role)
	}
	a.queues(ctx, a.sent...)
	for _, role := range a.tools {
		a.tool(ctx, role)
	}
	return *a.scene
}

// foreign is the second tenant's key, once it is known to be one.
func (a *agent) foreign(ctx context.Context) (*agent, error) {
	if err := a.d.TwoTenants(ctx); err != nil {
		return nil, err
	}
	return a.as(observe.CredentialB), nil
}
