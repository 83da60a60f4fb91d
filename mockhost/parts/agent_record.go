package parts

import (
	"encoding/json"
	"time"
)

// StatusChange is one item of an invocation's history.
type StatusChange struct {
	Status string    `json:"status"`
	At     time.Time `json:"at"`
}

// AttemptEnd is one item of an entry's history: Outcome is ToolOK or a kind of error.
type AttemptEnd struct {
	Attempt int       `json:"attempt"`
	At      time.Time `json:"at"`
	Outcome string    `json:"outcome"`
}

// Invocation is the record of one call of a tool by a run, however often it is attempted.
type Invocation struct {
	Tenant  string          `json:"-"`
	Seq     int64           `json:"-"`
	ID      string          `json:"id"`
	Agent   string          `json:"agent"`
	Message string          `json:"message"`
	Run     string          `json:"run"`
	Step    int             `json:"step"`
	Tool    string          `json:"tool"`
	Payload json.RawMessage `json:"payload"` // as it is sent; redacted where it is shown
	TraceID string          `json:"traceId"`

	Attempts    int            `json:"attempts"`
	MaxAttempts int            `json:"maxAttempts"`
	At          time.Time      `json:"at"`
	LastAt      time.Time      `json:"lastAt,omitzero"`
	Failure     *ToolError     `json:"failure,omitempty"`
	Status      string         `json:"status"`
	History     []StatusChange `json:"history"`
	Outcomes    []AttemptEnd   `json:"outcomes,omitempty"`
	// SideEffect says that the tool has one, as it was when the record was written.
	SideEffect bool `json:"sideEffect,omitempty"`
	// Span is that of the attempt under way or of the last one, SpanAt its beginning.
	Span   string    `json:"span,omitempty"`
	SpanAt time.Time `json:"spanAt,omitzero"`
}

// Audit is one item of what was done to an entry.
type Audit struct {
	At         time.Time `json:"at"`
	By         string    `json:"by"`
	Action     string    `json:"action"`
	Resolution string    `json:"resolution"`
	Notes      string    `json:"notes,omitempty"`
}

// Proposal is a repairer's.
type Proposal struct {
	Payload    json.RawMessage `json:"payload"`
	Confidence float64         `json:"confidence"`
}

// Entry is an entry of either queue. What a person reads of it is redacted before it is kept; Invocation points to what
// isn't.
type Entry struct {
	Tenant string          `json:"-"`
	Seq    int64           `json:"-"`
	Queue  string          `json:"queue"` // MessageQueue or ToolQueue
	ID     string          `json:"id"`
	Run    string          `json:"run,omitempty"`
	Step   int             `json:"step"`
	Tool   string          `json:"tool,omitempty"`
	Args   json.RawMessage `json:"args,omitempty"`
	Body   string          `json:"body,omitempty"`
	Reason string          `json:"reason,omitempty"`

	Attempts     int       `json:"attempts"`
	Deliveries   int       `json:"deliveries,omitempty"`
	LastError    ToolError `json:"lastError"`
	Conversation string    `json:"conversation,omitempty"`
	Tokens       Tokens    `json:"tokens"`
	FirstSeen    time.Time `json:"firstSeen"`
	Message      string    `json:"message"`
	Invocation   string    `json:"invocation,omitempty"`
	TraceID      string    `json:"traceId"`
	Category     string    `json:"category,omitempty"` // "" before the classifier has seen it
	Resolution   string    `json:"resolution"`
	LastAttempt  time.Time `json:"lastAttempt,omitzero"`
	NextReplay   time.Time `json:"nextReplay,omitzero"`
	Expires      time.Time `json:"expires"`
	Tags         []string  `json:"tags"`

	History []AttemptEnd `json:"history"`
	Audit   []Audit      `json:"audit"`

	// Review is HumanReview, SecurityReview or "" for none.
	Review   string    `json:"review,omitempty"`
	Proposal *Proposal `json:"proposal,omitempty"`
	// Automatic counts the replays that nobody asked for.
	Automatic int `json:"automatic,omitempty"`
	// Span is that of the enqueueing, which recovery links to.
	Span string `json:"span,omitempty"`
	// Ended is when it ceased to be unresolved.
	Ended time.Time `json:"ended,omitzero"`
}

// Span is one span of a trace.
type Span struct {
	Tenant     string         `json:"-"`
	Seq        int64          `json:"-"`
	Name       string         `json:"name"`
	TraceID    string         `json:"traceId"`
	SpanID     string         `json:"spanId"`
	Parent     string         `json:"parent,omitempty"`
	Start      time.Time      `json:"start"`
	End        time.Time      `json:"end"`
	Attributes map[string]any `json:"attributes,omitempty"`
	Links      []SpanLink     `json:"links,omitempty"`
}

// SpanLink points to a span of any trace.
type SpanLink struct {
	TraceID string `json:"traceId"`
	SpanID  string `json:"spanId"`
}

// The names of the spans.
const (
	SpanMessage  = "message"
	SpanToolCall = "tool.call"
	SpanEnqueue  = "dlq.enqueue"
	SpanRecover  = "dlq.recover"
)
