// Package store is what the mock host keeps: host events, runs and dead letters, the agent worker's records, the answers of idempotent requests, due
// work and the clock's offset, as methods of the domain.
//
// It never reads a clock (time is an argument), never shows SQL to a caller, and has no read that isn't scoped to a
// tenant. Start at Store; a backend is right when it passes package storetest.
package store

import (
	"context"
	"errors"
	"time"
)

// ErrClosed is returned by every method once Close was called.
var ErrClosed = errors.New("the store is closed")

// ErrUnavailable marks a failure that is nobody's fault here and may pass by itself: the database can't be reached, is
// restarting, or is full. Of a Write that ends with it nothing is known, but that no caller was told it was done.
var ErrUnavailable = errors.New("the store is unavailable for now")

// Event is one host event (RFC 0236). A durable one has a Seq; an ephemeral one has none and is never stored.
type Event struct {
	Tenant    string
	Seq       int64 // place in the tenant's commit order, from 1; 0 for an ephemeral event
	ID        string
	Type      string
	Workspace string // "" when the event belongs to no workspace
	At        time.Time
	Envelope  []byte // the JSON envelope as it goes on the wire; not to be modified
}

// Durable reports whether the event has a place in the log.
func (e Event) Durable() bool { return e.Seq > 0 }

// Page bounds one read of a log: at most Rows events, and no further event once Bytes of envelopes were read (so a page
// always holds at least one event where there is one).
type Page struct {
	Rows  int
	Bytes int
}

// Slot is the place a new event takes, fixed inside the transaction that inserts it.
type Slot struct {
	Seq int64
	// At is the time of emission: the time passed in, or the tenant's latest when that is later. So At never falls as
	// Seq rises, and removing what is old removes a prefix.
	At time.Time
	// Unswept tells that no sweep of this tenant's log is scheduled; who takes the slot schedules one.
	Unswept bool
}

// Swept is the outcome of a sweep.
type Swept struct {
	Removed int
	Through int64     // highest sequence removed, 0 when none was
	Oldest  time.Time // At of the oldest event left
	Left    bool      // whether an event is left; when not, the next Slot is Unswept again
}

// Answer is the first answer to an idempotent request, kept to be given again.
type Answer struct {
	Tenant, Operation, Key string
	Fingerprint            string // of the request's body
	Status                 int
	Body                   []byte
	At                     time.Time
}

// Work is something to be done at an instant of the host's clock. (Kind, Key) is unique.
type Work struct {
	Kind, Key string
	Due       time.Time
}

// Claim asks for due work on behalf of one instance.
type Claim struct {
	By   string    // the instance; what it holds already is given to it again
	UpTo time.Time // work that falls due later isn't given
	Now  time.Time // a claim of another that ended by now is void
	// Until ends the claim, so that work whose claimer died is done by another.
	Until time.Time
}

// Signal is what instances over one store tell each other. It wakes readers and never carries a durable event, so no
// event can be too large for it.
type Signal struct {
	Tenant    string
	Head      int64  // > 0: the tenant's log reaches this far
	Removed   int64  // > 0: the event with this sequence was removed
	SweptTo   int64  // > 0: every event up to this sequence was removed
	Ephemeral *Event // an event that exists on the wire only
	Run       string // the run with this ID has new events, or is gone
	Clock     bool   // the clock's offset was changed
	Lost      bool   // other instances can't be heard for now
	CatchUp   bool   // they can be heard again, and anything may have happened meanwhile
}

// Tx is the inside of one Write. Its methods are called from the closure only. A closure is about one tenant at most, and
// the first method it calls names that tenant: a backend may order a tenant's transactions by it.
type Tx interface {
	RunTx
	RecordTx

	// NextSlot takes the next place in the tenant's commit order.
	NextSlot(tenant string, now time.Time) (Slot, error)
	InsertEvent(Event) error
	// RemoveEvent removes the tenant's event with that id and returns it; false when the tenant has none.
	RemoveEvent(tenant, id string) (Event, bool, error)
	// SweepEvents removes the tenant's events emitted before the instant.
	SweepEvents(tenant string, before time.Time) (Swept, error)

	Answer(tenant, operation, key string) (Answer, bool, error)
	PutAnswer(Answer) error
	// ForgetAnswers removes answers kept before the instant and returns the oldest one's time left, if any.
	ForgetAnswers(before time.Time) (oldest time.Time, left bool, err error)

	// PutWork schedules; work of that kind and key that was scheduled already keeps its instant.
	PutWork(Work) error
	// MoveWork gives work another instant, or removes it when the instant is zero.
	MoveWork(Work) error

	// MoveClock sets the clock's offset to to where it still stands at from, and says whether it did. at is where it stands
	// then: another instance may have moved it meanwhile, to the same place even.
	MoveClock(from, to time.Duration) (at time.Duration, moved bool, err error)

	// AfterCommit runs f once the transaction is durable, before Write returns; the functions of several transactions
	// run one after another in commit order. f must not call Write.
	AfterCommit(f func())
}

// Store keeps one host's data, for any number of hubs. All methods may be called at once by many goroutines.
type Store interface {
	RunReads
	RecordReads

	// Write runs f in a transaction and returns after it is durable. Closures of several callers may share one commit;
	// one that fails undoes its own writes only. f runs at most once.
	Write(ctx context.Context, f func(Tx) error) error

	// Head is the tenant's highest sequence ever taken, 0 for none; removal doesn't lower it.
	Head(ctx context.Context, tenant string) (int64, error)
	// EventsAfter reads the tenant's events with a sequence above after, in order.
	EventsAfter(ctx context.Context, tenant string, after int64, page Page) ([]Event, error)
	// FindEvent looks up an id, byte for byte, among the tenant's events; the envelope is left out.
	FindEvent(ctx context.Context, tenant, id string) (Event, bool, error)

	// Answer looks up a kept answer outside a transaction.
	Answer(ctx context.Context, tenant, operation, key string) (Answer, bool, error)
	// NextWork is the work that falls due first.
	NextWork(ctx context.Context) (Work, bool, error)
	// ClaimWork gives the first due work that nobody else has claimed; false when there is none. Rescheduling or dropping
	// the work ends the claim.
	ClaimWork(ctx context.Context, c Claim) (Work, bool, error)
	// FreeWork ends every claim of an instance that stops: what it hasn't done is anybody's at once.
	FreeWork(ctx context.Context, by string) error
	ClockOffset(ctx context.Context) (time.Duration, error)

	// Announce passes a signal to every listener of every instance, the caller's own among them. What a transaction did,
	// other instances may hear by its commit already: no crash comes between the two there.
	Announce(ctx context.Context, s Signal) error
	// Listen registers a listener until stop is called; it must return quickly and not call Write.
	Listen(f func(Signal)) (stop func())

	// Close finishes the writes under way and releases everything; further calls do nothing.
	Close() error
}
