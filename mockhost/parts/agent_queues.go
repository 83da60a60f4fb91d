package parts

import (
	"context"
	"encoding/json"
	"time"

	"github.com/wopwitness/wopwitness/mockhost/store"
)

// EntryMaker makes entries, redacted.
type EntryMaker interface {
	Tool(m Message, i Invocation, failure ToolError, now time.Time) (Entry, error)
	Message(m Message, reason string, failure ToolError, now time.Time) (Entry, error)
}

// EntryQuery narrows a queue; empty members don't.
type EntryQuery struct {
	Queue                               string
	Tool, TraceID, Category, Resolution string
	OlderThan                           time.Duration // 0 for any age
	After                               int64         // Seq of the last one of the page before
	Limit                               int
}

// QueueDepth is how many unresolved entries fit a query, and since when the oldest of them is there.
type QueueDepth struct {
	Depth  int
	Oldest time.Time // zero where there is none
}

// Queues is both queues.
type Queues interface {
	// Append puts a fresh entry into its queue, inside the transaction that ends its cause; enrichment is due after it.
	Append(tx store.Tx, e *Entry, now time.Time) error
	// Save writes an entry that was changed; before is what it was.
	Save(tx store.Tx, before, after Entry) error
	List(ctx context.Context, p Principal, q EntryQuery) ([]Entry, QueueDepth, error)
	Find(ctx context.Context, p Principal, queue, id string) (Entry, bool, error)
	// Settle resolves or discards an entry, or answers with a Problem: NotFound, or 409 where its resolution is final.
	Settle(ctx context.Context, p Principal, queue, id string, action, by, notes string) (Entry, error)
}

// ReplayRequest asks for a replay of an entry.
type ReplayRequest struct {
	Queue, ID string
	By, Notes string
	Action    string          // ActionReplay or ActionRepair
	Args      json.RawMessage // of a repair; nil for those that failed
}

// The ends of a replay.
const (
	ReplaySucceeded = "succeeded"
	ReplayFailed    = "tool_failed"
	ReplayExpired   = "conversation_expired"
	ReplayRefused   = "circuit_open"
	ReplayNot       = "not_unresolved" // it is final, or another replay of it is under way: nothing was done
)

// Replayer replays an entry, by whatever means it was begun: one at a time over all instances.
type Replayer interface {
	// Replay does it and waits for the attempt's end. It answers with a Problem for an entry that isn't there, whose
	// resolution is final (but for Replayed), whose conversation is expired, or whose run was compensated.
	Replay(ctx context.Context, tenant string, r ReplayRequest) (e Entry, end string, err error)
}

// Enricher does the work that is due after an entry was appended or failed again.
type Enricher interface {
	// Enrich classifies, tags, and sends to recovery, repair or review. key is the work's.
	Enrich(ctx context.Context, key string, now time.Time) error
}

// Conversations keeps what entries point to.
type Conversations interface {
	// Expire makes a conversation unusable; false when there is none of that name.
	Expire(ctx context.Context, p Principal, ref string) (bool, error)
}
