package lawfulhost

import "time"

// The keys that every host of this package issues. KeyLow is tenant A's without runs:read; KeyWS is tenant A's, bound
// to Workspace.
const (
	KeyA      = "lawful-key-a-4pX29sQm"
	KeyB      = "lawful-key-b-7tR51nWc"
	KeyLow    = "lawful-key-low-9kJ33vZe"
	KeyWS     = "lawful-key-ws-2hD84yBu"
	Workspace = "atelier"
)

// Orders of an envelope's members.
const (
	KeysReversed = "reversed"
	KeysSorted   = "sorted"
)

// Line ends of an event stream. The zero value is LF.
const (
	EndsCRLF  = "crlf"
	EndsCR    = "cr"
	EndsMixed = "mixed" // a line at a time: LF, CRLF, CR
)

// Ways for the host to end a stream whose life is bounded. The zero value is an orderly end of the body.
const EndReset = "reset"

// Options are the lawful differences, each off in the zero value, and all of them combinable unless said otherwise.
type Options struct {
	Serving
	Framing
	Pace
	Answers
	Listing
	DeadLetters
	Agents
	Transport
}

// Serving is which part of the protocol the host has.
type Serving struct {
	Majors  []int  // nil is both
	Version string // the OpenWOP-Version of major-2 answers; "2.0" where empty
	Seams   bool   // mounts the clock, emit and remove seams
	Runs    bool   // seeds the no-op fixture and lets runs of it be created; Sink seeds every fixture
}

// Framing is how events are written on a stream.
type Framing struct {
	Keys          string // order of the envelope's members
	LineEnds      string
	Comments      bool // between frames and inside them
	Retry         bool // a retry line in every third frame
	SplitData     bool // the envelope over several data lines
	TightColons   bool // no space after a field's colon
	UnknownFields bool // lines whose field name nobody knows
	ByteOrderMark bool // at the start of the stream
	DataFirst     bool // data before event and id
	Escapes       bool // \u escapes for characters that need none
	ByteByByte    bool // each byte of the stream in a write of its own

	Heartbeat      time.Duration // a frame of its own event type this often, without an id; 0 is never
	Microseconds   bool          // timestamps with six digits, cut to three when replayed
	Offset         bool          // timestamps with an offset in place of Z
	Reserialised   bool          // a replayed envelope comes in another order and spacing, as out of a database
	LongIDs        bool          // event ids of 128 characters, of every character that the grammar allows
	MediaParameter bool          // Content-Type with a charset and unusual case
}

// Pace is how fast and how steadily the host delivers.
type Pace struct {
	Delivery  time.Duration // from the commit to the frame
	Ephemeral time.Duration // as Delivery, of ephemeral events alone and on top of it
	Commit    time.Duration // from the 202 to the commit; 0 commits before the answer
	Answer    time.Duration // from the commit, and the delivery, to the 202
	Busy      time.Duration // emits other listed types of both classes to every tenant this often; 0 is never
	Rate      int           // triggers accepted a second, over all tenants; 0 is unlimited
	Life      time.Duration // how long a stream is left open; 0 is for ever
	End       string        // how such a stream ends
	LiveFirst time.Duration // withholds the whole answer to a stream request this long
}

// Answers is the choice among lawful answers.
type Answers struct {
	Details          bool   // the refusal has a details object, always the same
	ResumesExpired   bool   // a cursor past the bound is resumed; false refuses it and forgets what is past the bound
	HidesWorkspaces  bool   // another tenant's workspace is 404 rather than 403
	UnauthorizedCode string // in place of "unauthenticated"
	ReplayValue      bool   // an unknown value of replay is a 400; false ignores it
	LegacyReplays    bool   // without the parameter an unknown cursor replays all that is kept; false opens live
	PrettyBodies     bool   // JSON answers indented, with a line end
	EarlyHints       bool   // an informational 103 before every answer
}

// Listing is what discovery says.
type Listing struct {
	NoHostEvents  bool
	NoReplay      bool
	NoTrigger     bool   // neither reserved type is listed, and the trigger is not served
	Only          string // "durable" or "ephemeral": the one reserved type that is listed
	MoreTypes     bool
	ExtraMetadata bool
	Retention     int // minRetentionSeconds; 3600 where 0
}

// Transport is what lies between the host and its clients. It takes effect with Start only.
type Transport struct {
	HTTP2        bool          // over TLS; Server.CA is what to trust
	TLS          bool          // HTTP/1.1 over TLS
	Headers      string        // "lower" or "upper": the case of header names (HTTP/1.1 only)
	ClosesAlways bool          // answers in HTTP/1.0 and closes the connection (not for streams)
	Buffers      int           // a proxy that holds an answer back, headers too, until so many bytes are there
	BuffersOn    bool          // the same proxy goes on doing so, block after block
	Distance     time.Duration // a path that delays each piece by this much,
	Jitter       time.Duration // and by up to this much more

	Floats   bool   // every integer of an answer is written as 3.0
	Instants string // how instants are written
	Closes   bool   // closes the connection behind every answer
	Gzip     bool   // compresses every answer, streams too
	PutsOff  int    // each so many'th request is put off once by a 429, whatever it asks; 0 is never
}
