package parts

import (
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"time"

	"github.com/wopwitness/wopwitness/mockhost/store"
)

// ErrStreamOver is what a Subscription returns when the host is stopping.
var ErrStreamOver = errors.New("the host is stopping")

// ErrCursorRefused is what a Resumer returns for a cursor that it doesn't resume under replay=required.
var ErrCursorRefused = errors.New("the cursor is not resumed")

// Parts is the host, port by port. Every part reaches the others through it, so a part that a defect put in is used by
// all of them.
type Parts struct {
	Clock       Clock
	Directory   Directory
	Gate        Gate
	Discovery   Discovery
	Trigger     Trigger
	Emitter     Emitter
	Idempotency Idempotency
	Log         Log
	Resumer     Resumer
	Refuser     Refuser
	Asker       Asker
	Encoder     Encoder
	Framer      Framer
	Visibility  Visibility
	Ephemerals  Ephemerals
	Retention   Retention
	Pulse       Pulse
	Lifetime    Lifetime
	Front       Front

	// The run engine and the dead-letter sink; their ports are in runs.go.
	Workflows   Workflows
	Runs        Runs
	RunFinder   RunFinder
	Nodes       Nodes
	Secrets     Secrets
	Retrier     Retrier
	DeadLetters DeadLetters
	Sink        Sink
	Purger      Purger
	RunWire     RunWire

	// Agent is the agent worker; its ports are in agent.go.
	Agent Agent

	// Hub names this instance among those over one store.
	Hub string
}

// Clock is the domain's time, which the clock seam moves.
type Clock interface {
	Now() time.Time
	// Mode is "real" or "manual".
	Mode() string
	// Advance moves the clock and returns when all work that fell due on the way is done. A real clock answers with a
	// Problem.
	Advance(ctx context.Context, d time.Duration) (time.Time, error)
}

// Directory knows the tenants and their workspaces.
type Directory interface {
	Tenants() []string
	// WorkspaceOwner is the tenant that the workspace belongs to.
	WorkspaceOwner(workspace string) (tenant string, known bool)
}

// Gate turns a request's credential into a principal, or into a Problem.
type Gate interface {
	Admit(r *http.Request) (Principal, error)
	// Require answers with a Problem when the principal lacks the scope.
	Require(p Principal, scope string) error
	// Throttle answers with a Problem when the principal triggers too fast.
	Throttle(p Principal) error
}

// Discovery makes the document of a major (1 or 2).
type Discovery interface {
	Document(major int) map[string]any
	// Types lists what the host may emit.
	Types() []EventType
}

// Trigger is the test trigger of RFC 0241.
type Trigger interface {
	// Served reports whether the operation exists: whether a reserved type is listed.
	Served() bool
	// Decode reads the closed body, or returns a Problem.
	Decode(body []byte) (TriggerRequest, error)
	// Scope checks that the principal may emit into the workspace.
	Scope(p Principal, workspace string) error
	// Draft makes the event that the request asks for.
	Draft(p Principal, r TriggerRequest) (Draft, error)
}

// Emitter makes an event of any listed type but the reserved ones, for the emit seam.
type Emitter interface {
	Draft(p Principal, eventType, workspace string, payloadBytes int) (Draft, error)
}

// Request names a mutating request for idempotency.
type Request struct {
	Operation   string
	Given       bool // the client sent a key
	Key         string
	Fingerprint string // equal for equal bodies
}

// Keep records the answer inside the transaction of the effect; it fails when another instance has just done so.
type Keep func(tx store.Tx, a Answer) error

// Idempotency runs an effect at most once for a tenant, operation and key.
type Idempotency interface {
	// Run returns the effect's answer, or the first one again with replayed true. keep is nil when there is no key.
	Run(ctx context.Context, p Principal, r Request, effect func(ctx context.Context, keep Keep) (Answer, error)) (a Answer, replayed bool, err error)
}

// Log is the tenant's event log and its subscribers.
type Log interface {
	// Append emits an event and returns after its commit. also, when not nil, joins the transaction; an ephemeral event
	// has a transaction only then, and goes out after it.
	Append(ctx context.Context, p Principal, d Draft, also func(store.Tx, store.Event) error) (store.Event, error)
	// Remove removes a durable event that the principal can see; false when there is none.
	Remove(ctx context.Context, p Principal, id string) (bool, error)
	// Find looks up a durable event that the principal can see, by its id byte for byte.
	Find(ctx context.Context, p Principal, id string) (store.Event, bool, error)
	// Head is the tenant's highest sequence.
	Head(ctx context.Context, p Principal) (int64, error)
	// Subscribe opens a stream at the start; ephemeral events from now on are part of it.
	Subscribe(ctx context.Context, p Principal, s Start) (Subscription, error)
}

// Subscription is one stream's reading end. It belongs to one goroutine.
type Subscription interface {
	// Next waits for the next frames: at least one, in the order to be sent. It ends with ctx's error or ErrStreamOver.
	Next(ctx context.Context) ([]*Frame, error)
	Close()
}

// Resumer fixes where a stream starts, before any byte of it is sent.
type Resumer interface {
	// Start returns ErrCursorRefused for a cursor that a strict request can't resume.
	Start(ctx context.Context, p Principal, r StreamRequest) (Start, error)
}

// Refuser answers a refused cursor.
type Refuser interface {
	Refuse(w http.ResponseWriter, r *http.Request, p Principal, s StreamRequest)
}

// Asker reads a stream request, or returns a Problem.
type Asker interface {
	Ask(r *http.Request) (StreamRequest, error)
}

// Encoder makes the envelope of RFC 0236.
type Encoder interface {
	Encode(e store.Event, delivery string, payload json.RawMessage) ([]byte, error)
}

// Framer makes the SSE frame of an event.
type Framer interface {
	Frame(e store.Event) []byte
}

// Visibility decides whether a principal of the event's tenant sees an event of the workspace.
type Visibility interface {
	Sees(p Principal, e store.Event) bool
}

// Ephemerals carries ephemeral events to the subscribers of every instance.
type Ephemerals interface {
	Publish(ctx context.Context, e store.Event) error
}

// Retention removes what is older than the promise.
type Retention interface {
	// Sweep removes the tenant's expired events and schedules the next sweep.
	Sweep(ctx context.Context, tenant string, now time.Time) error
	// FirstDue is when an event emitted at the instant first may go.
	FirstDue(emitted time.Time) time.Time
}

// Pulse makes the bytes that keep an idle stream open, and the first ones of a stream.
type Pulse interface {
	Opening() []byte
	Beat(p Principal) []byte
	Every() time.Duration
}

// Lifetime bounds a stream in real time; 0 is no bound.
type Lifetime interface {
	Bound(s StreamRequest) time.Duration
}

// Front is the outermost handler: the right host's passes everything on.
type Front interface {
	Wrap(next http.Handler) http.Handler
}
