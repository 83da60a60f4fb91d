package parts

import (
	"context"
	"encoding/json"
	"time"

	"github.com/wopwitness/wopwitness/mockhost/store"
)

// Classifier says what sort of failure an entry of the tool queue is.
type Classifier interface {
	// Classify returns a category, or Unclassified, always; an error is the second classifier's, for the log. gone says that
	// the entry's conversation isn't kept any more.
	Classify(ctx context.Context, e Entry, gone bool) (category string, err error)
}

// The ways of an entry.
const (
	WayReplay   = "replay"   // by itself, when it is due
	WayRepair   = "repair"   // asks the repairer
	WayHuman    = "human"    // waits for a person
	WaySecurity = "security" // waits for a person, and no drain may touch it
)

// Triage decides what becomes of a classified entry.
type Triage interface {
	Way(e Entry) string
	// Sure says whether a proposal is replayed without asking anybody.
	Sure(p Proposal) bool
	// Drains says whether a drain may replay the entry.
	Drains(e Entry) bool
}

// BackOff is the wait before a replay.
type BackOff interface {
	Delay(attempts int) time.Duration
}

// Recovery replays by itself what may be.
type Recovery interface {
	// Tick does the work of that key: an entry whose next replay is due. Ticks are at the instants at which recovery looks.
	Tick(ctx context.Context, key string, now time.Time) error
	// Due schedules the tick of an entry's next replay, inside the transaction that sets it.
	Due(tx store.Tx, e Entry) error
	// Expire does the work of that key: an entry is gone at the end of its days.
	Expire(ctx context.Context, key string, now time.Time) error
}

// RepairAsk is what a repairer is given.
type RepairAsk struct {
	Tenant, Tool  string
	Schema        json.RawMessage
	Documentation string
	Payload       json.RawMessage
	Reason        string
	Purpose       string
}

// Repairer proposes a payload; false where it knows none.
type Repairer interface {
	Propose(ctx context.Context, a RepairAsk) (Proposal, bool, error)
	// Script sets what the model-backed repairer says of a tool from now on.
	Script(ctx context.Context, p Principal, tool string, says Proposal) error
}

// DrainRequest is a drain as it was asked for. What wasn't given is zero.
type DrainRequest struct {
	Tool, Category string
	OlderThan      time.Duration
	Batch          int
	PerSecond      float64
	MinSuccessRate float64
}

// Drain is a drain under way or over.
type Drain struct {
	Tenant    string         `json:"-"`
	ID        string         `json:"id"`
	Request   DrainRequest   `json:"request"`
	At        time.Time      `json:"at"`
	State     string         `json:"state"` // running, paused, done or stopped
	Replayed  int            `json:"replayed"`
	Succeeded int            `json:"succeeded"`
	Failed    []DrainFailure `json:"failed"`
	// Remaining is worked out when it is asked for.
	Remaining int `json:"-"`
	// By is who asked for it.
	By string `json:"by"`
	// In and InSucceeded are what the batch at hand came to.
	In          int `json:"in"`
	InSucceeded int `json:"inSucceeded"`
	// Passed are the entries whose turn came while somebody else replayed them.
	Passed []string `json:"passed,omitempty"`
}

// The states of a drain.
const (
	DrainRunning = "running"
	DrainPaused  = "paused"
	DrainDone    = "done"
	DrainStopped = "stopped"
)

// DrainFailure is an entry that a drain couldn't replay.
type DrainFailure struct {
	Entry  string `json:"entryId"`
	Status string `json:"status"`
}

// Drainer runs drains.
type Drainer interface {
	// Start begins one. Only what is in the queue by then is drained.
	Start(ctx context.Context, p Principal, r DrainRequest) (id string, err error)
	Find(ctx context.Context, p Principal, id string) (Drain, bool, error)
	// Tick does the work of that key.
	Tick(ctx context.Context, key string, now time.Time) error
}

// Pauses holds back recovery and drains, of one tool or ("*") all.
type Pauses interface {
	// Pause and Resume answer with a Problem for a tool that nobody registered and no entry names.
	Pause(ctx context.Context, p Principal, tool string) (paused []string, err error)
	Resume(ctx context.Context, p Principal, tool string) (paused []string, err error)
	Paused(ctx context.Context, tenant, tool string) (bool, error)
	// List tells what is paused, as Pause and Resume do.
	List(ctx context.Context, p Principal) (paused []string, err error)
}

// ImpactStep is one step of an execution, as an incident touches it. Compensation is "", "offered" or "done".
type ImpactStep struct {
	Step         int
	Tool         string
	State        string // done, failed, suspect or blocked
	DependsOn    []int
	Compensation string
}

// Impact tells what a failure touches.
type Impact interface {
	// Of tells of a trace; false when the tenant has none of that ID.
	Of(ctx context.Context, p Principal, traceID string) (steps []ImpactStep, activeWorkflows int, known bool, err error)
	// Compensate does what is offered, once each. A run that anything was taken back of isn't replayed any more: its entries
	// go to human review. It answers with a Problem while one of them is being replayed.
	Compensate(ctx context.Context, p Principal, traceID string) (known bool, err error)
}

// Reviews are the entries that wait for a person.
type Reviews interface {
	// List reads those of HumanReview or SecurityReview, oldest first.
	List(ctx context.Context, p Principal, review string, after int64, limit int) ([]Entry, error)
}
