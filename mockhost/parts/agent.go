package parts

import (
	"context"
	"encoding/json"
	"strconv"
	"time"

	"github.com/wopwitness/wopwitness/mockhost/store"
)

// IdempotencyKey names a step of a run: whatever dispatches it, and however often, sends this key.
func IdempotencyKey(run string, step int) string { return run + "/" + strconv.Itoa(step) }

// AgentNumbers are what the host says of its agent worker in discovery.
type AgentNumbers struct {
	Lease, Breaker   time.Duration
	RedeliveryLimit  int
	IntakeCapacity   int // messages of a tenant that wait or run
	QueueCapacity    int // unresolved entries of a tool, the messages under way counted
	RecoveryInterval time.Duration
	AutomaticReplays int // below 0 for none, since what is 0 was left out
	RepairThreshold  float64
	EntryTTL         time.Duration
	DepthAlert       int
	// ToolTimeout is how long a worker waits for a tool, in real time; it isn't in discovery.
	ToolTimeout time.Duration
}

// Agent is the agent worker, port by port. Ports that take a store.Tx act inside the transaction of what they belong to;
// the methods of a person's seams take the principal first.
type Agent struct {
	Numbers AgentNumbers

	// Intake takes messages in, and shows them.
	Intake AgentIntake
	Bodies Bodies
	Leases Leases
	// Crasher kills workers, where a message asks for it.
	Crasher Crasher
	Model   Model
	Tools   ToolCaller
	Bench   ToolBench
	Breaker Breaker
	Router  FailureRouter
	// Interceptor keeps the records of calls; Watchdog decides of one that was found in flight.
	Interceptor Interceptor
	Watchdog    Watchdog
	Redactor    Redactor
	Entries     EntryMaker
	Queues      Queues
	Replayer    Replayer

	// Enricher does what is due once an entry was appended: it classifies it, and sends it where its category goes.
	Enricher      Enricher
	Classifier    Classifier
	Triage        Triage
	BackOff       BackOff
	Recovery      Recovery
	Repairer      Repairer
	Drainer       Drainer
	Pauses        Pauses
	Conversations Conversations
	Reviews       Reviews
	Impact        Impact
	Metrics       AgentMetrics
	Tracer        Tracer
}

// AgentIntake is the door for messages.
type AgentIntake interface {
	// Accept keeps a message durably, or answers with a Problem: 429 where the tenant, or a queue of a tool that the workflow
	// calls, is full. One whose ID was accepted before changes nothing.
	Accept(ctx context.Context, p Principal, m MessageRequest) error
	// Find reads a message; false when the tenant has none of that ID.
	Find(ctx context.Context, p Principal, id string) (Message, bool, error)
}

// Bodies reads a message's body. An error is that of a malformed message; buggy says that the consumer has a bug that
// this body meets.
type Bodies interface {
	Read(body string) (buggy bool, err error)
}

// Leases decides about deliveries.
type Leases interface {
	// Until is when a lease taken or renewed now ends.
	Until(now time.Time) time.Time
	// Again is when a delivery that ended in a bug is followed by another; false when it was the last one.
	Again(m Message, now time.Time) (at time.Time, again bool)
	// TakeOver is asked where a worker goes on with a message that another began: replay says that an entry's replay does, else
	// the other died. The right host goes on with everything as it is; false ends the message instead.
	TakeOver(m *Message, c *Conversation, replay bool) (goesOn bool)
	// Holds reports whether the worker with that token still holds the message.
	Holds(m Message, token int64) bool
}

// Crasher says whether the worker of a message dies here. fresh is the message's first hand-over to a worker, last says
// that the step is the workflow's last one.
type Crasher interface {
	Dies(m Message, point string, fresh, last bool) bool
}

// Model decides what a run does next. An error is the model's own failure: a ModelAway where the same question may be
// answered later.
type Model interface {
	Turn(ctx context.Context, c Conversation) (Decision, Tokens, error)
}

// ModelAway is the error of a model that is busy, can't be reached, or is silent.
type ModelAway struct {
	Err error
	// RetryAfter is the pause that it asked for; 0 for none.
	RetryAfter time.Duration
}

func (e *ModelAway) Error() string { return e.Err.Error() }

func (e *ModelAway) Unwrap() error { return e.Err }

// ToolCaller sends a call; a nil ToolError is success, the error the host's own failure.
type ToolCaller interface {
	Call(ctx context.Context, c ToolCall) (*ToolError, error)
}

// ToolBench registers tools and shows them.
type ToolBench interface {
	Put(ctx context.Context, p Principal, t Tool) error
	// Find shows a tool; false when nobody registered it.
	Find(ctx context.Context, p Principal, name string) (ToolView, bool, error)
}

// ToolView is a tool, what reached it, and its circuit.
type ToolView struct {
	Tool    Tool
	Calls   []ToolArrival
	Circuit Circuit
	State   string // of the circuit: CircuitClosed, CircuitIsOpen or CircuitHalfOpen
}

// The states of a circuit.
const (
	CircuitClosed   = "closed"
	CircuitIsOpen   = "open"
	CircuitHalfOpen = "half_open"
)

// Breaker is the circuits of the tools. m is the message whose run calls.
type Breaker interface {
	// Allow says whether a call may go out now; probe marks the one that a half-open circuit lets through.
	Allow(tx store.Tx, m Message, tool string, now time.Time) (allowed bool, err error)
	// Learn takes in how a call ended (nil: well). It says whether the failure found the circuit half open: then it is told to
	// the run as CircuitOpen, and is neither entry nor alert.
	Learn(tx store.Tx, m Message, tool string, failure *ToolError, now time.Time) (wasHalfOpen bool, err error)
	State(c Circuit, now time.Time) string
}

// The routes of a failed attempt.
const (
	RouteRetry      = "retry"       // the model is told, and calls again
	RouteFallback   = "fallback"    // the model is told, and calls the fallback
	RouteInBand     = "in_band"     // the model is told, and finishes without the step
	RouteDeadLetter = "dead_letter" // the run ends, with an entry in the tool queue
	// RouteMessage is one that the right host never takes: an entry in the message queue.
	RouteMessage = "message"
)

// FailedAttempt is what a router decides on.
type FailedAttempt struct {
	Message    Message
	Invocation Invocation // as it stands, this attempt counted
	Error      ToolError  // of the kind CircuitOpen where no call was made
	Fallback   string     // the tool's, "" for none or one that was tried already
	Idempotent bool
}

// FailureRouter sends a failed attempt where it belongs.
type FailureRouter interface {
	Route(f FailedAttempt) string
}

// Interceptor keeps the record of each call: durable before the call goes out, and with its outcome after.
type Interceptor interface {
	// Write makes the record, pending.
	Write(tx store.Tx, i *Invocation, now time.Time) error
	// Dispatched takes one attempt into the record, in flight.
	Dispatched(tx store.Tx, i *Invocation, now time.Time) error
	// Ended takes the outcome of the attempt into the record: status is InvocationSuccess, InvocationFailed or
	// InvocationDeadLettered.
	Ended(tx store.Tx, i *Invocation, status string, failure *ToolError, now time.Time) error
	// List reads the tenant's records, oldest first.
	List(ctx context.Context, p Principal, q InvocationQuery) ([]Invocation, error)
}

// InvocationQuery narrows a list of records; empty members don't.
type InvocationQuery struct {
	TraceID, Status string
	After           int64 // Seq of the last one of the page before
	Limit           int
}

// Watchdog decides what becomes of a record that is found in flight though its worker is gone: true to dispatch it again
// under the same key.
type Watchdog interface {
	Again(i Invocation, idempotent bool) bool
}

// Redactor takes out of what is shown what logs may not hold.
type Redactor interface {
	Text(s string) string
	JSON(raw json.RawMessage) json.RawMessage
}

// AgentMetrics counts, inside the transactions of what it counts.
type AgentMetrics interface {
	Enqueued(tx store.Tx, e Entry) error
	// Changed is told of an entry that was saved: its category, resolution or review may differ.
	Changed(tx store.Tx, before, after Entry) error
	// Replayed counts the end of a replay's attempt.
	Replayed(tx store.Tx, e Entry, succeeded bool, now time.Time) error
	Proposed(tx store.Tx, e Entry, p Proposal) error
	// Read is the answer of the seam.
	Read(ctx context.Context, p Principal) (map[string]any, error)
}

// Tracer keeps spans, inside the transactions of what they tell of.
type Tracer interface {
	Record(tx store.Tx, s Span) error
	// Trace gives the spans of a trace and those linked to them, directly or through others; none for an unknown trace.
	Trace(ctx context.Context, p Principal, traceID string) ([]Span, error)
}
