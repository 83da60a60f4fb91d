package lawfulhost

import "time"

// Seats of the family in a major-1 document.
const (
	SeatCapabilities = "capabilities"
	SeatRoot         = "root"
	SeatHost         = "host"
)

// DeadLetters are the lawful differences of a host with dead letters (RFC 0053). The zero value has none.
type DeadLetters struct {
	Sink bool // advertises the family, and seeds and runs the fixtures
	Promise
	Policy
	Log
	RunAnswers
	RunSeams
}

// Promise is what discovery says of dead letters and of forks.
type Promise struct {
	Seats        []string // on major 1; nil is under capabilities
	Unsupported  bool     // major 1 says supported: false, and major 2 has no record
	OtherSinks   bool     // advertises sinks of messages and of webhooks, and none of runs
	Days         int      // retentionDays; 7 where 0
	NoDays       bool     // no retentionDays: nothing is promised, and nothing purged
	Experimental bool     // the major-2 record is experimental, until a version
	OwnFacet     bool     // the major-2 record has a facet of the host's own
	NoFixtures   bool     // none is seeded
	Seeds        []string // the fixtures that are; nil is all
	NoFork       bool     // no fork operation, and on major 2 no replay record
	ReplayOnly   bool     // forks by replay only, and major 2 says so
	ListsRuns    bool     // major 2 lists runs, and says so
}

// Policy is how the host tries, keeps and purges.
type Policy struct {
	Attempts    int           // its own number of tries of a failing node; 0 asks the workflow
	Backoff     time.Duration // by the host's clock, between two tries; 0 is at once
	Start       time.Duration // by the host's clock, from the creation or the fork to the first event that is run
	GoesOn      bool          // starts the nodes behind the dead one before the run fails
	DailySweep  bool          // purges at midnight only
	PurgesAll   bool          // purges every run that has ended after the same days
	StillClock  bool          // the manual clock stands still between advances
	ClockTick   time.Duration // the clock shows no time between two ticks; 0 is a smooth one
	RealClock   bool          // the clock seam reads the real clock, and does not move it
	SnapshotLag time.Duration // the snapshot shows the log as it was so long ago
}

// Log is what a run's log looks like.
type Log struct {
	Retried       bool          // a node.retried before each try but the first
	FailedOnce    bool          // node.failed after the last try alone
	StartedOnce   bool          // node.started before the first try alone
	NamesAttempt  bool          // the attempt in the payloads of a node's events
	LetterAfter   bool          // the dead letter follows run.failed
	LetterLate    time.Duration // and so much later, by the host's clock
	RunLetter     bool          // one more dead letter, for the run as a whole
	OnlyRunLetter bool          // the dead letter names no node
	CamelNames    bool          // run.deadLettered on major 1
	MoreEvents    bool          // other types, also after the terminal event
	OwnErrors     bool          // error codes and messages of its own making
	NamesSecret   bool          // the reason names the secret that was resolved, never its value
	NoError       bool          // the snapshot of a failed run has no error
	MoreMembers   bool          // more members in events' payloads, snapshots, answers and sink entries
	Nulls         bool          // major 1: payload null and data beside it, nodeId null
	Seq           bool          // major 1: seq beside sequence
	OnlySeq       bool          // major 1: seq in place of sequence
	NoSchema      bool          // major 1: no schemaVersion
	NumberIDs     bool          // major 1: event ids that are short numbers
	Micros        bool          // timestamps with six digits
	Seconds       bool          // timestamps to the second
	Gaps          bool          // sequences that leave numbers out
}

// RunAnswers is the choice among lawful answers about runs.
type RunAnswers struct {
	Created      int    // status of a creation on major 1; 201 where 0
	SaysStatus   string // the status that a creation names, whatever the run's is
	NoEventsURL  bool   // major 1: a creation and a fork name no address
	OddIDs       bool   // major 1: run ids of characters that a path has to escape
	UnknownFlow  int    // status for an unknown workflow; 400 on major 1 and 404 on major 2 where 0
	NotFoundCode string // in place of not_found and run_not_found, for runs
	HidesForeign bool   // major 2: another tenant's run is 404 rather than 403
	Purged       int    // status of a purged run's doors; 404 where 0
	PurgedFork   int    // major 2: status of its fork; 404 where 0
	OtherMessage bool   // the not-found message names what was looked for
	PollName     string // major 1: the poll's parameter; "lastSequence" where empty
	BareList     bool   // major 1: the poll answers a bare list
	HoldsPolls   bool   // a poll waits for news, as long as it was asked to
	NoPoll       bool   // major 1: no poll operation; the stream alone
	PollPage     int    // events an answer of the poll at most; 0 is all
	NoSourceID   bool   // major 1: a fork's answer does not name its source
}

// RunSeams are the seams of dead letters. The clock is one of Serving.Seams.
type RunSeams struct {
	Exhaust       bool // deadletter/exhaust
	ExhaustUnread bool // the run that it speaks of cannot be read, nor anything else be asked of it
	Entries       bool // deadletter/entries
	EntriesPage   int  // entries a page; 0 is as many as asked for
}

func (d DeadLetters) days() int {
	switch {
	case d.NoDays:
		return 0
	case d.Days > 0:
		return d.Days
	}
	return 7
}
