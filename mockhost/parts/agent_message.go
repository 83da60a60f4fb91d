package parts

import (
	"encoding/json"
	"slices"
	"time"
)

// Tokens counts what a model read and wrote.
type Tokens struct {
	Input  int `json:"input"`
	Output int `json:"output"`
}

// Plus is the sum.
func (t Tokens) Plus(u Tokens) Tokens { return Tokens{t.Input + u.Input, t.Output + u.Output} }

// Step is one step of a message's workflow.
type Step struct {
	Tool      string          `json:"tool"`
	Args      json.RawMessage `json:"args"`
	DependsOn []int           `json:"dependsOn,omitempty"`
}

// MessageRequest is a message as it was handed in.
type MessageRequest struct {
	ID          string
	Body        string // text as it came from the wire
	Steps       []Step
	Purpose     string
	RetryBudget int
	CrashAt     string // "" for nowhere
	TraceParent string // of W3C Trace Context; "" for none
}

// StepState is what became of one step.
type StepState struct {
	// State is "" before the step was called or while it is tried, StepDone, StepFailed or StepSkipped.
	State string `json:"state"`
	// Compensated is set once its side effect was undone.
	Compensated bool `json:"compensated,omitempty"`
	// SideEffect says that the call that did it had one.
	SideEffect bool `json:"sideEffect,omitempty"`
	// Tool is the one that answered, where it isn't the step's own: its fallback.
	Tool string `json:"tool,omitempty"`
	// Invocation is the latest record of the step, "" before the first.
	Invocation string `json:"invocation,omitempty"`
	// Tried are the tools whose budget is spent, where a fallback is tried.
	Tried []string `json:"tried,omitempty"`
}

// The states of a step.
const (
	StepDone    = "done"
	StepFailed  = "failed"
	StepSkipped = "skipped" // its circuit was open, or it depends on such a step
)

// Message is an accepted message, its deliveries and the run that it started.
type Message struct {
	Tenant  string    `json:"-"`
	Seq     int64     `json:"-"` // order of acceptance
	ID      string    `json:"id"`
	Body    string    `json:"body"`
	Steps   []Step    `json:"steps"`
	Purpose string    `json:"purpose,omitempty"`
	Budget  int       `json:"budget"` // retries after the first attempt
	CrashAt string    `json:"crashAt,omitempty"`
	At      time.Time `json:"at"`

	Status     string `json:"status"`
	Deliveries int    `json:"deliveries"`
	Failures   int    `json:"failures"` // deliveries that ended in a bug of the consumer
	// Deaths are the workers that died over it one after the other, with no turn of the model but the first DiedAfter.
	Deaths    int `json:"deaths,omitempty"`
	DiedAfter int `json:"diedAfter,omitempty"`

	Run          string      `json:"run,omitempty"`
	Conversation string      `json:"conversation,omitempty"`
	Progress     []StepState `json:"progress,omitempty"`
	// Current is the record of the call under way, "" between two; its outcome may be awaited, or a further attempt.
	Current    string `json:"current,omitempty"`
	ModelCalls int    `json:"modelCalls"`
	Tokens     Tokens `json:"tokens"`

	TraceID string `json:"traceId"`
	// ParentSpan is the span that the message came with, Span that of the delivery under way.
	ParentSpan string    `json:"parentSpan,omitempty"`
	Span       string    `json:"span,omitempty"`
	SpanAt     time.Time `json:"spanAt,omitzero"`

	// Token is the fencing token of the lease: a worker whose token isn't the message's any more writes nothing.
	Token int64 `json:"token"`
	// LeaseUntil is when the lease ends; zero when nobody holds one.
	LeaseUntil time.Time `json:"leaseUntil,omitzero"`
	Holder     string    `json:"holder,omitempty"`
	// Wait is until when the run may not go on, as a rate limit asked; zero for no such wait.
	Wait time.Time `json:"wait,omitzero"`
	// Replaying is the entry whose replay holds the lease, ReplayBy and ReplayNotes who asked for it.
	Replaying   string `json:"replaying,omitempty"`
	ReplayBy    string `json:"replayBy,omitempty"`
	ReplayNotes string `json:"replayNotes,omitempty"`
	// ReplayAction is ActionReplay or ActionRepair.
	ReplayAction string `json:"replayAction,omitempty"`
}

// Over reports whether the message has ended.
func (m Message) Over() bool {
	return m.Status == MessageCompleted || m.Status == MessageToolFailed || m.Status == MessageDeadLettered
}

// Died counts the death of a worker. One that the run went on after says nothing of the message.
func (m *Message) Died() {
	if m.DiedAfter != m.ModelCalls {
		m.Deaths, m.DiedAfter = 0, m.ModelCalls
	}
	m.Deaths++
}

// Compensated reports whether a side effect of the run was taken back. The run isn't resumed any more: what rests on that
// effect would be done without it.
func (m Message) Compensated() bool {
	return slices.ContainsFunc(m.Progress, func(s StepState) bool { return s.Compensated })
}

// Conversation is what a model is asked with. It is kept apart from the entries that point to it.
type Conversation struct {
	Tenant  string `json:"-"`
	Ref     string `json:"ref"` // "conv_…"
	Message string `json:"message"`
	Purpose string `json:"purpose,omitempty"`
	Task    string `json:"task"` // the message's body
	Steps   []Step `json:"steps"`
	Turns   []Turn `json:"turns"`
	Expired bool   `json:"expired,omitempty"`
}

// The roles of a turn.
const (
	RoleAssistant = "assistant"
	RoleTool      = "tool"
)

// Turn is one turn of a conversation: a decision of the model, or what came of its call.
type Turn struct {
	Role  string          `json:"role"`
	Step  int             `json:"step"` // -1 for the final answer
	Tool  string          `json:"tool,omitempty"`
	Args  json.RawMessage `json:"args,omitempty"`
	Error string          `json:"error,omitempty"` // kind of error of a call that failed; CircuitOpen for one that wasn't made
	Text  string          `json:"text,omitempty"`
}

// Decision is what a model wants next: a call of the step's tool, or to finish.
type Decision struct {
	Final bool
	Text  string // the final answer
	Step  int
	Args  json.RawMessage // nil for the step's own
}
