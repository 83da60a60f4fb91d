package parts

import (
	"context"
	"encoding/json"
	"net/http"
	"time"

	"github.com/wopwitness/wopwitness/fixtures/workflows"
	"github.com/wopwitness/wopwitness/mockhost/store"
)

// The states of a run that this engine knows.
const (
	Pending   = "pending"
	Running   = "running"
	Completed = "completed"
	Failed    = "failed"
	Cancelled = "cancelled"
)

// The events of a run, as major 2 names them and as the log keeps them.
const (
	RunStarted      = "run.started"
	RunCompleted    = "run.completed"
	RunFailed       = "run.failed"
	RunCancelled    = "run.cancelled"
	RunDeadLettered = "run.dead-lettered"
	NodeStarted     = "node.started"
	NodeCompleted   = "node.completed"
	NodeFailed      = "node.failed"
	NodeRetried     = "node.retried"
)

// The modes of a fork.
const (
	Replay = "replay"
	Branch = "branch"
)

// RunOptions is what a run is given, and what a branch's overlay may replace member by member.
type RunOptions struct {
	Inputs       json.RawMessage `json:"inputs,omitempty"`
	Configurable json.RawMessage `json:"configurable,omitempty"`
	Tags         json.RawMessage `json:"tags,omitempty"`
	Metadata     json.RawMessage `json:"metadata,omitempty"`
}

// RunState is what a run's log says of it: a fold, kept nowhere.
type RunState struct {
	Status string
	Error  *RunError // of a failed run
	Last   int64     // the last sequence, -1 for an empty log
	Ended  time.Time // when the terminal event was written, zero before
	Begun  time.Time // when the run started, zero before
}

// Over reports whether the run has ended.
func (s RunState) Over() bool {
	return s.Status == Completed || s.Status == Failed || s.Status == Cancelled
}

// RunError is why a run or an attempt failed.
type RunError struct {
	Code    string `json:"code"`
	Message string `json:"message"`
}

// ForkRequest is a fork as it was asked for. FromSeq is nil where the body had none.
type ForkRequest struct {
	Mode    string
	FromSeq *int64
	Overlay *RunOptions
}

// Made is called in the transaction that makes a run, so that the answer is kept with it.
type Made func(tx store.Tx, r store.Run) error

// Runs is the run engine. A run that the principal doesn't see is one that isn't there.
type Runs interface {
	// Create makes a run of a workflow that exists; made may be nil.
	Create(ctx context.Context, p Principal, workflow string, o RunOptions, made Made) (store.Run, error)
	Find(ctx context.Context, p Principal, id string) (store.Run, bool, error)
	// List gives the runs that the principal sees, newest first, after the one with that id.
	List(ctx context.Context, p Principal, after string, limit int) ([]store.Run, error)
	State(ctx context.Context, r store.Run) (RunState, error)
	// Events reads the run's log after a sequence.
	Events(ctx context.Context, r store.Run, after int64) ([]store.RunEvent, error)
	// Watch tells, until stop, when the run may have changed.
	Watch(r store.Run) (changed <-chan struct{}, stop func())
	// Cancel ends the run, or answers with a Problem where it has ended.
	Cancel(ctx context.Context, r store.Run, made Made) error
	// Fork makes a run from a run, or answers with a Problem where the point isn't one.
	Fork(ctx context.Context, source store.Run, f ForkRequest, made Made) (store.Run, error)
	// Step does what is due of the run with the work's key.
	Step(ctx context.Context, key string, now time.Time) error
}

// The doors to a run, by which a RunFinder is asked.
const (
	DoorRead   = "read"
	DoorPoll   = "poll"
	DoorStream = "stream"
	DoorCancel = "cancel"
	DoorFork   = "fork"
)

// RunFinder finds the run that a decoded path segment names to the principal, or returns a Problem.
type RunFinder interface {
	Named(ctx context.Context, p Principal, major int, door, segment string) (store.Run, error)
}

// NoRun is the answer to a run that isn't there, or isn't there for the caller.
func NoRun() *Problem {
	return &Problem{Status: http.StatusNotFound, Code: "not_found", Message: "there is no such run"}
}

// Workflows knows what the host can run.
type Workflows interface {
	List() []string
	Find(id string) (workflows.Workflow, bool)
	// Document is the workflow's JSON.
	Document(id string) ([]byte, bool)
}

// Attempt is one try of a node.
type Attempt struct {
	Run     store.Run
	Node    workflows.Node
	Number  int // from 1
	Options RunOptions
}

// Nodes does what a node's type says. A nil RunError is success; the error is the host's own failure.
type Nodes interface {
	Do(ctx context.Context, a Attempt) (*RunError, error)
}

// Secrets is the host's secret store.
type Secrets interface {
	Resolve(tenant, name string) (value string, ok bool)
}

// Retrier decides whether a failed attempt is followed by another.
type Retrier interface {
	// Again gives the pause before the next attempt; false when the attempt was the last. maxRetries is the workflow's.
	Again(attempt, maxRetries int) (pause time.Duration, again bool)
}

// NodeEnd is the end of one attempt of a node.
type NodeEnd struct {
	Run      store.Run
	Node     string
	Attempts int       // so far, this one among them
	Error    *RunError // nil where it completed
	Final    bool      // no attempt follows
}

// Letter is what a dead letter says.
type Letter struct {
	Node     string // "" for the run as a whole
	Reason   string
	Attempts int
}

// DeadLetters decides whether the end of an attempt is a dead letter.
type DeadLetters interface {
	Letter(e NodeEnd) (Letter, bool)
}

// Sink holds the dead letters, each for its owner.
type Sink interface {
	Put(tx store.Tx, d store.DeadLetter) error
	// List gives the entries that the principal sees, newest first, after the one of that run.
	List(ctx context.Context, p Principal, after string, limit int) ([]store.DeadLetter, error)
}

// Purger removes runs at the end of their days.
type Purger interface {
	// Due is when a run that ended at the instant is purged.
	Due(r store.Run, ended time.Time) time.Time
	// Purge does the work with that key.
	Purge(ctx context.Context, key string, now time.Time) error
}

// RunWire writes runs as a major shows them (1 or 2).
type RunWire interface {
	ID(major int, r store.Run) string
	Snapshot(major int, r store.Run, s RunState) map[string]any
	Event(major int, r store.Run, e store.RunEvent) map[string]any
	Entry(major int, d store.DeadLetter) map[string]any
}
