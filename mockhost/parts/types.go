// Package parts is the vocabulary of the mock host: the principal, the host event on its way, the stream request, and
// the ports that the host is put together from.
//
// It holds no behaviour of its own. Start at Parts: package mockhost fills it with the right behaviour, and a defect of
// package defects replaces or wraps a member; nothing else distinguishes a defective host from the right one.
package parts

import (
	"encoding/json"
	"fmt"
	"net/http"
	"slices"
	"time"

	"github.com/wopwitness/wopwitness/mockhost/store"
)

// The scopes that this host's operations ask for.
const (
	ScopeRunsCreate     = "runs:create"
	ScopeRunsRead       = "runs:read"
	ScopeRunsCancel     = "runs:cancel"
	ScopeWebhooksManage = "webhooks:manage"
	ScopeManifestRead   = "manifest:read"
)

// The two delivery classes of RFC 0236, and the reserved type that RFC 0241 gives each.
const (
	Durable   = "durable"
	Ephemeral = "ephemeral"

	TriggeredDurable   = "host-test.durable-triggered"
	TriggeredEphemeral = "host-test.ephemeral-triggered"
)

// Principal is who asks: the first argument of every domain method after the context.
type Principal struct {
	Tenant    string
	Workspace string // "" for a key that belongs to no workspace
	Subject   string
	Scopes    []string
}

// May reports whether the principal holds the scope.
func (p Principal) May(scope string) bool { return slices.Contains(p.Scopes, scope) }

// EventType is a listed host event type and its delivery class.
type EventType struct {
	Type     string `json:"type"`
	Delivery string `json:"delivery"`
}

// Draft is a host event before it has an id, an instant and a place.
type Draft struct {
	Type      string
	Delivery  string
	Workspace string
	Payload   json.RawMessage
}

// Frame is an event as a stream sends it, encoded once for all subscribers. Neither it nor its bytes may be modified.
type Frame struct {
	Event store.Event
	Bytes []byte
}

// StreamRequest is what a consumer asked of GET /host/events.
type StreamRequest struct {
	Cursor    string // Last-Event-ID; "" when absent or empty
	Strict    bool   // replay=required (RFC 0250 §A)
	Resumable bool   // resumable=true (RFC 0247)
}

// Start is where a stream begins: after a place in the tenant's log.
type Start struct {
	After   int64
	Resumed bool // a cursor was accepted
	// Head is where the log stood when the start was fixed: what is above After and not above Head is backlog.
	Head int64
}

// TriggerRequest is a decoded body of POST /host/events/test (RFC 0241).
type TriggerRequest struct {
	Delivery  string `json:"delivery"`
	Workspace string `json:"workspaceId,omitempty"`
}

// Answer is a successful answer of a mutating operation, before it is sent.
type Answer struct {
	Status int
	Body   []byte // JSON, or empty for none
}

// Problem is an error that has its own answer on the wire: {error, message, details?} with a status.
type Problem struct {
	Status     int
	Code       string
	Message    string
	Details    map[string]any
	RetryAfter time.Duration // > 0: the Retry-After header, rounded up to whole seconds
}

func (p *Problem) Error() string { return fmt.Sprintf("%d %s: %s", p.Status, p.Code, p.Message) }

// Invalid is the answer to a request that breaks the operation's shape.
func Invalid(format string, args ...any) *Problem {
	return &Problem{Status: http.StatusBadRequest, Code: "validation_error", Message: fmt.Sprintf(format, args...)}
}

// NotFound is the answer to a route or thing that isn't there, with the kind of it. It is the same for what another tenant has.
func NotFound(kind string) *Problem {
	return &Problem{Status: http.StatusNotFound, Code: "not_found", Message: "there is no such " + kind}
}

// Resync is the refusal of RFC 0250 §C. It is the same whatever the cursor was.
func Resync() *Problem {
	return &Problem{
		Status:  http.StatusConflict,
		Code:    "host_event_resync_required",
		Message: "the stream cannot resume from this position; read the current state again and open a new stream",
	}
}
