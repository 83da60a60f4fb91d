package store

import (
	"context"
	"time"
)

// Run is one run as it was made; what became of it is its events. Nothing of it changes after it was inserted.
type Run struct {
	Tenant    string
	ID        string // opaque, unique over all tenants
	Workspace string // "" when the run belongs to no workspace
	Subject   string // who made the run, or the run that it was forked from
	Workflow  string
	Source    string // ID of the run that it was forked from, "" for none
	Mode      string // of the fork
	FromSeq   int64  // of the fork
	Options   []byte // JSON: what the run was given
	At        time.Time
}

// RunEvent is one event of a run's log.
type RunEvent struct {
	Seq     int64 // from 0, without gaps
	ID      string
	Type    string
	Node    string // "" for an event of the whole run
	Cause   string // ID of the event that led to it, "" for none
	At      time.Time
	Payload []byte // JSON object
}

// DeadLetter is an entry of the sink.
type DeadLetter struct {
	Tenant    string
	Run       string
	Workspace string // the run's
	Node      string // "" where the run as a whole died
	Reason    string
	Attempts  int
	At        time.Time
	Expires   time.Time // when the run is purged, and the entry with it
}

// RunPage bounds a listing of what a principal sees: entries without a workspace, and those of Workspace.
type RunPage struct {
	Workspace string
	After     string // the last ID of the page before; "" for the first page
	Limit     int
}

// RunTx is what a transaction does with runs.
type RunTx interface {
	InsertRun(Run) error
	// Run reads a run inside the transaction; false when the tenant has none of that ID.
	Run(tenant, id string) (Run, bool, error)
	// RunEvents reads a run's whole log inside the transaction.
	RunEvents(tenant, id string) ([]RunEvent, error)
	// AppendRunEvent fails where the place is taken.
	AppendRunEvent(tenant, id string, e RunEvent) error
	// PurgeRun removes the run, its log and its entries in the sink; false when there was no such run.
	PurgeRun(tenant, id string) (bool, error)
	// PutDeadLetter replaces the entry of that run and node where there is one.
	PutDeadLetter(DeadLetter) error
}

// RunReads is what is read of runs outside a transaction.
type RunReads interface {
	// Run reads a run; false when the tenant has none of that ID.
	Run(ctx context.Context, tenant, id string) (Run, bool, error)
	// Runs lists the tenant's runs, newest first.
	Runs(ctx context.Context, tenant string, page RunPage) ([]Run, error)
	// RunEvents reads a run's events with a sequence above after, in order, at most limit of them.
	RunEvents(ctx context.Context, tenant, id string, after int64, limit int) ([]RunEvent, error)
	// DeadLetters lists the tenant's entries, newest first; After is a run's ID.
	DeadLetters(ctx context.Context, tenant string, page RunPage) ([]DeadLetter, error)
}
