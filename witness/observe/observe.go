// Package observe holds what a leg saw, as plain recorded data: exchanges, streams of raw chunks, emitted events and
// moves of the host's clock. The suite writes these values while it drives a host, encodes them, and hands the decoded
// copy to a judge, so that a judge that runs live and one that runs years later on the file read the same thing.
//
// Nothing here does I/O or holds an opinion. Start with Exchange and Stream.
package observe

import "time"

// Micros is a moment as microseconds since the leg began, by a monotonic clock. It orders what one leg saw and never
// leaves the observation: rows hold no times.
type Micros int64

// Duration is m as a time.Duration since the leg began.
func (m Micros) Duration() time.Duration { return time.Duration(m) * time.Microsecond }

// Since gives the moment of t for a leg that began at start.
func Since(start, t time.Time) Micros { return Micros(t.Sub(start).Microseconds()) }

// The credentials a request can be sent with. They name a key without holding it.
const (
	CredentialA         = "a"         // the first tenant's key
	CredentialB         = "b"         // the second tenant's key
	CredentialLow       = "low"       // a valid key that lacks runs:read
	CredentialWorkspace = "workspace" // a key of the first tenant, bound to the operator's workspace
	CredentialBad       = "bad"       // a key that no host issued
	CredentialNone      = ""          // no Authorization header
)

// Marker is what the recorder writes wherever it found the key of a credential, in plain, base64 or percent form. A
// judge that looks for a leaked key looks for this.
func Marker(credential string) string { return "{{credential:" + credential + "}}" }

// Header is one header line as received or sent. Values keep their order; names are in canonical form.
type Header struct {
	Name  string `json:"name"`
	Value string `json:"value"`
}

// Request is what was sent. Target is the path with its query, as on the request line.
type Request struct {
	Method  string   `json:"method"`
	Target  string   `json:"target"`
	Headers []Header `json:"headers,omitempty"`
	Body    Text     `json:"body,omitempty"`
}

// Response is what came back. Body is the content after decoding, up to the client's limit; Truncated says that more
// was sent. For an event stream Body is absent: its bytes are the chunks of the Stream.
type Response struct {
	Proto     string   `json:"proto"`
	Status    int      `json:"status"`
	Reason    string   `json:"reason,omitempty"`
	Headers   []Header `json:"headers,omitempty"`
	Body      Text     `json:"body,omitempty"`
	Truncated bool     `json:"truncated,omitempty"`
}

// Header gives the first value of the named header (any case), or "".
func (r *Response) Header(name string) string {
	if r == nil {
		return ""
	}
	for _, h := range r.Headers {
		if equalFold(h.Name, name) {
			return h.Value
		}
	}
	return ""
}

// Exchange is one request with its answer, or the failure that took the answer's place. Exactly one of Response and
// Failure is set, except that a body cut short has both.
type Exchange struct {
	Label      string    `json:"label,omitempty"`      // what the leg calls it: "unknown", "foreign", …
	Credential string    `json:"credential,omitempty"` // one of the Credential constants
	Request    Request   `json:"request"`
	Response   *Response `json:"response,omitempty"`
	Failure    *Failure  `json:"failure,omitempty"`
	SentAt     Micros    `json:"sentAt"`
	AnsweredAt Micros    `json:"answeredAt"` // when the response headers were there, or the failure
}

// Status is the response's status, 0 where there was no answer.
func (e Exchange) Status() int {
	if e.Response == nil {
		return 0
	}
	return e.Response.Status
}

// FailureKind is a closed set of ways in which an exchange or a stream goes wrong on the way.
type FailureKind string

// The kinds of failure.
const (
	FailRefused   FailureKind = "refused"   // nothing listens there
	FailUnknown   FailureKind = "unknown"   // the name does not resolve, or the network says no
	FailTLS       FailureKind = "tls"       // the certificate or the handshake
	FailTimeout   FailureKind = "timeout"   // no answer within the deadline
	FailReset     FailureKind = "reset"     // the connection ended before the answer did
	FailMalformed FailureKind = "malformed" // not HTTP, or a body that does not decode
	FailTooLarge  FailureKind = "too-large" // a line, frame, header or body beyond the client's limit
	FailCancelled FailureKind = "cancelled" // the run was interrupted
)

// Failure is why an answer is missing or incomplete. Text is for people and may hold host text.
type Failure struct {
	Kind FailureKind `json:"kind"`
	Text string      `json:"text"`
}

// Chunk is one read from a stream's body: raw bytes and when they came.
type Chunk struct {
	At    Micros `json:"at"`
	Bytes Text   `json:"bytes"`
}

// StreamEnd is how a stream ended.
type StreamEnd string

// The ways a stream ends.
const (
	EndSuite  StreamEnd = "suite"  // the suite had seen enough and closed it
	EndHost   StreamEnd = "host"   // the host ended it in order
	EndFailed StreamEnd = "failed" // Exchange.Failure says how
)

// Stream is one connection to an event stream. Where the answer is not an event stream, the exchange has its body,
// Chunks is empty and End is "".
type Stream struct {
	Exchange
	Chunks  []Chunk   `json:"chunks,omitempty"`
	End     StreamEnd `json:"end,omitempty"`
	EndedAt Micros    `json:"endedAt,omitempty"` // reading stopped here: nothing is known of what came later
}

// Opened says whether the host answered 200 with an event stream.
func (s Stream) Opened() bool {
	return s.Status() == 200 && IsEventStream(s.Response.Header("Content-Type"))
}

// EndedByHost says whether the stream was over without the suite's doing: in order, or by its connection breaking, as it
// does where a bounded life is enforced by cutting it.
func (s Stream) EndedByHost() bool {
	return s.End == EndHost || s.End == EndFailed && s.Failure != nil && s.Failure.Kind == FailReset
}

// Subscription is one subscriber as an application is one: a stream, and where the host ended it, the reconnections
// with the last event's id. A host may bound a stream's life, so a leg that reads on reads a subscription.
type Subscription struct {
	Segments []Stream `json:"segments"`
	Until    Micros   `json:"until,omitempty"` // the suite listened until then, between two connections too
}

// Emit is one event that the suite caused: through the trigger (RFC 0241) or the emit seam. Attempts are all the
// requests made; the last one decided. EventID is empty where the host did not accept it.
type Emit struct {
	Label      string     `json:"label"`      // "D1", "E", …: what the leg calls the event
	Credential string     `json:"credential"` // whose event
	Delivery   string     `json:"delivery"`   // "durable" or "ephemeral"
	Workspace  string     `json:"workspace,omitempty"`
	EventID    string     `json:"eventId,omitempty"`
	Type       string     `json:"type,omitempty"`
	Attempts   []Exchange `json:"attempts"`
}

// SentAt is when the deciding request went out.
func (e Emit) SentAt() Micros {
	if len(e.Attempts) == 0 {
		return 0
	}
	return e.Attempts[len(e.Attempts)-1].SentAt
}

// Answer is the deciding exchange, the zero Exchange where none was made.
func (e Emit) Answer() Exchange {
	if len(e.Attempts) == 0 {
		return Exchange{}
	}
	return e.Attempts[len(e.Attempts)-1]
}

// Waited is how long the host made the suite wait before it took the deciding request.
func (e Emit) Waited() time.Duration {
	if len(e.Attempts) < 2 {
		return 0
	}
	return (e.SentAt() - e.Attempts[0].SentAt).Duration()
}

// ClockMove is one advance of the host's clock through the clock seam.
type ClockMove struct {
	Seconds  int64    `json:"seconds"`
	Exchange Exchange `json:"exchange"`
}
