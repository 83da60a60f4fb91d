package parts

import (
	"encoding/json"
	"time"
)

// ToolOutcome is one answer of a tool's script.
type ToolOutcome struct {
	Outcome           string `json:"outcome"`
	DelayMs           int    `json:"delayMs,omitempty"`
	RetryAfterSeconds int    `json:"retryAfterSeconds,omitempty"`
}

// Tool is a registered tool, and what is counted of it.
type Tool struct {
	Tenant string `json:"-"`
	Name   string `json:"name"`

	Script        []ToolOutcome   `json:"script"`
	Schema        json.RawMessage `json:"schema,omitempty"`
	Documentation string          `json:"documentation,omitempty"`
	SideEffect    bool            `json:"sideEffect"`
	Idempotent    bool            `json:"idempotent"`
	Fallback      string          `json:"fallback,omitempty"`

	Next int `json:"next"` // place in the script
	// Effects are the side effects done less those compensated.
	Effects int `json:"effects"`
}

// Circuit is a tool's breaker. It is kept apart from the tool, since a tool that nobody registered has one too.
type Circuit struct {
	Tenant string `json:"-"`
	Tool   string `json:"tool"`
	// OpenedAt is zero for a closed one.
	OpenedAt time.Time `json:"openedAt,omitzero"`
	Reason   string    `json:"reason,omitempty"` // a kind of error
	Alerts   int       `json:"alerts"`
	// Probe is when the one call that a half-open circuit lets through must have come back; zero for none under way.
	Probe time.Time `json:"probe,omitzero"`
	// ProbeBy is the message whose call that is.
	ProbeBy string `json:"probeBy,omitempty"`
}

// ToolArrival is one call as it reached its tool.
type ToolArrival struct {
	Tenant  string    `json:"-"`
	ID      string    `json:"id"`
	Tool    string    `json:"tool"`
	Run     string    `json:"runId"`
	Step    int       `json:"stepIndex"`
	Attempt int       `json:"attempt"`
	At      time.Time `json:"at"`
	Outcome string    `json:"outcome"`
}

// Effect is a side effect that a tool has done under an idempotency key.
type Effect struct {
	Tenant string `json:"-"`
	Tool   string `json:"tool"`
	Key    string `json:"key"`
}

// ToolError is why a call failed. Status is nil where the tool gave none.
type ToolError struct {
	Kind    string `json:"kind"`
	Status  *int   `json:"status"`
	Message string `json:"message"`
	// RetryAfter is the pause that the tool asked for; 0 for none.
	RetryAfter time.Duration `json:"-"`
}

// ToolCall is one call as a worker sends it.
type ToolCall struct {
	Tenant  string
	Tool    string
	Run     string
	Step    int
	Attempt int
	Args    json.RawMessage
	Trace   string // traceparent to send on
}

// IdempotencyKey names the step of the run: the same at each attempt.
func (c ToolCall) IdempotencyKey() string { return IdempotencyKey(c.Run, c.Step) }
