package deadletter

import (
	"encoding/json"
	"fmt"
	"strings"

	"github.com/wopwitness/wopwitness/scenarios/registry"
	"github.com/wopwitness/wopwitness/witness"
	"github.com/wopwitness/wopwitness/witness/observe"
)

// Run is one run as the suite made it and saw it end. Reads are the polls of its log that showed something new, and the
// last ones; Snapshots are reads of the run itself, the last of them after its end.
type Run struct {
	Label     string              `json:"label"`
	Workflow  string              `json:"workflow,omitempty"` // the fixture; "" where a seam made the run
	Node      string              `json:"node,omitempty"`     // the fixture's node that fails
	RunID     string              `json:"runId,omitempty"`    // "" where there is none
	Seam      bool                `json:"seam,omitempty"`     // made by deadletter/exhaust
	Made      []observe.Exchange  `json:"made"`               // the requests that made it; the last one decided
	Reads     []observe.Exchange  `json:"reads,omitempty"`
	Streams   []observe.Stream    `json:"streams,omitempty"`
	Snapshots []observe.Exchange  `json:"snapshots,omitempty"`
	Moves     []observe.ClockMove `json:"moves,omitempty"` // of the clock, to let a back-off pass
	Bound     observe.Micros      `json:"bound,omitempty"` // how long its end was waited for
	// Patience is how long a dead letter was waited for once the run had ended.
	Patience observe.Micros `json:"patience,omitempty"`

	log *Log // what read has read
}

// Answer is the exchange that made the run, the zero Exchange where none did.
func (r Run) Answer() observe.Exchange {
	if len(r.Made) == 0 {
		return observe.Exchange{}
	}
	return r.Made[len(r.Made)-1]
}

// Log is everything that was seen of the run's log.
func (r Run) Log() Log {
	if r.log != nil {
		return *r.log
	}
	return ReadLog(r.Reads, r.Streams)
}

// read is the run with its log read, for a judge: it asks for the log many times, and a run that is judged doesn't change.
func (r Run) read() Run {
	log := r.Log()
	r.log = &log
	return r
}

// DeadLetters are the run's dead-letter events: those of its log, and where a seam made the run and no log can be read,
// the one that the seam answered.
func (r Run) DeadLetters() []Event {
	if found := r.Log().DeadLetters(); len(found) > 0 {
		return found
	}
	if e, ok := r.seamEvent(); ok {
		return []Event{e}
	}
	return nil
}

func (r Run) seamEvent() (Event, bool) {
	if x := r.Answer(); r.Seam && x.Status() == 200 {
		return SeamEvent(x)
	}
	return Event{}, false
}

// SeamEvent is the dead-letter event in the answer of the seam deadletter/exhaust.
func SeamEvent(x observe.Exchange) (Event, bool) {
	if x.Response == nil {
		return Event{}, false
	}
	event := members(x.Response.Body)["event"]
	return readEvent(event, observe.MembersWithin(event))
}

// SeamRunID is the run that the seam's event speaks of.
func SeamRunID(x observe.Exchange) string {
	e, _ := SeamEvent(x)
	if id := str(members(e.Payload)["runId"]); id != "" {
		return id
	}
	return e.RunID
}

// Readable says whether the run could be read last.
func (r Run) Readable() bool { return len(r.Snapshots) > 0 && lastOf(r.Snapshots).Status() == 200 }

// LogReadable says whether any read of the log was answered as one.
func (r Run) LogReadable() bool {
	for _, x := range r.Reads {
		if x.Status() == 200 {
			return true
		}
	}
	for _, s := range r.Streams {
		if s.Opened() {
			return true
		}
	}
	return false
}

// Status is what the last readable snapshot says.
func (r Run) Status() string {
	for i := len(r.Snapshots) - 1; i >= 0; i-- {
		if r.Snapshots[i].Status() == 200 {
			return StatusOf(r.Snapshots[i])
		}
	}
	return ""
}

// StatusOf is the status that a snapshot, or the answer to a creation, names.
func StatusOf(x observe.Exchange) string {
	if x.Response == nil {
		return ""
	}
	return str(members(x.Response.Body)["status"])
}

// Ended is how the run ended: "completed", "failed" or "cancelled", "" where neither its log nor its snapshot says so.
func (r Run) Ended() string { return r.EndedIn(r.Log()) }

// EndedIn is Ended for a caller that has read the log already.
func (r Run) EndedIn(log Log) string {
	if t := log.Terminals(); len(t) > 0 {
		return strings.TrimPrefix(t[0].Type, "run.")
	}
	if s := r.Status(); ended(s) {
		return s
	}
	return ""
}

func ended(status string) bool {
	return status == "completed" || status == "failed" || status == "cancelled"
}

// endSeen is when an end was first seen, and lastSeen when the log was last asked for.
func (r Run) endSeen() (at observe.Micros, seen bool) {
	consider := func(t observe.Micros) {
		if !seen || t < at {
			at, seen = t, true
		}
	}
	for i, x := range r.Reads {
		if len(ReadLog(r.Reads[i:i+1], nil).Terminals()) > 0 {
			consider(x.AnsweredAt)
		}
	}
	for _, s := range r.Streams {
		if len(ReadLog(nil, []observe.Stream{s}).Terminals()) > 0 {
			consider(s.EndedAt)
		}
	}
	for _, x := range r.Snapshots {
		if x.Status() == 200 && ended(StatusOf(x)) {
			consider(x.AnsweredAt)
		}
	}
	return at, seen
}

func (r Run) lastAsked() observe.Micros {
	var at observe.Micros
	for _, x := range r.Reads {
		at = max(at, x.SentAt)
	}
	for _, s := range r.Streams {
		at = max(at, s.EndedAt)
	}
	return at
}

// story is what was seen of the run, in one line.
func (r Run) story() string {
	log := r.Log()
	var types []string
	for _, e := range log {
		types = append(types, e.Type)
	}
	if len(types) > 12 {
		types = append(append(types[:6:6], fmt.Sprintf("… %d more …", len(types)-11)), types[len(types)-5:]...)
	}
	line := "log: " + strings.Join(types, ", ")
	if len(types) == 0 {
		line = "its log showed no event"
	}
	if s := r.Status(); s != "" {
		line += "; status " + s
	}
	return line
}

// made says whether there is a run to speak of, and otherwise leaves the verdict undecided.
func (r Run) made(v *witness.Verdict) bool {
	if r.RunID != "" || r.Seam && len(r.DeadLetters()) > 0 {
		return true
	}
	v.Undecide(unreachable(r.Answer()), "%s: no run was made: %s", r.Label, brief(r.Answer()))
	return false
}

// died says whether the run exhausted its retries: it is dead-lettered, or it failed where its fixture does nothing but
// exhaust. Otherwise the verdict is left undecided. A missing event convicts in one requirement, not in every one.
func (r Run) died(v *witness.Verdict) bool {
	if !r.made(v) {
		return false
	}
	if len(r.DeadLetters()) > 0 || r.Ended() == "failed" {
		return true
	}
	reason := registry.UnexpectedAnswer
	if r.Ended() == "" {
		reason = registry.Timeout
	}
	v.Undecide(reason, "%s did not exhaust its retries, so there is nothing to ask of it here; %s", r.Label, r.story())
	return false
}

// brief is one exchange in one line: status and the start of the body.
func brief(x observe.Exchange) string {
	if x.Response == nil {
		if x.Failure != nil {
			return x.Failure.Text
		}
		return "no answer"
	}
	body := x.Response.Body.String()
	if len(body) > 300 {
		body = strings.ToValidUTF8(body[:300], "") + "…"
	}
	return strings.TrimSpace(fmt.Sprintf("%d %s", x.Status(), body))
}

// unreachable is the reason for an exchange that leaves nothing to judge.
func unreachable(x observe.Exchange) registry.Reason {
	switch {
	case x.Response != nil || x.Failure == nil:
		return registry.UnexpectedAnswer
	case x.Failure.Kind == observe.FailTimeout:
		return registry.Timeout
	case x.Failure.Kind == observe.FailTooLarge, x.Failure.Kind == observe.FailMalformed:
		return registry.Unreadable
	case x.Failure.Kind == observe.FailCancelled:
		return registry.Interrupted
	}
	return registry.Unreachable
}

// errorCode is the code of an error body, "" where there is none.
func errorCode(x observe.Exchange) string {
	if x.Response == nil {
		return ""
	}
	m := members(x.Response.Body)
	if code := str(m["error"]); code != "" {
		return code
	}
	return str(members(m["error"])["code"])
}

func lastOf(xs []observe.Exchange) observe.Exchange {
	if len(xs) == 0 {
		return observe.Exchange{}
	}
	return xs[len(xs)-1]
}

// same says whether two JSON texts are one value, whatever the order of their members.
func same(a, b json.RawMessage) bool {
	x, errX := canonical(a)
	y, errY := canonical(b)
	return errX == nil && errY == nil && x == y
}

func canonical(raw json.RawMessage) (string, error) {
	if len(raw) == 0 {
		return "", nil
	}
	var v any
	d := json.NewDecoder(strings.NewReader(string(raw)))
	d.UseNumber()
	if err := d.Decode(&v); err != nil {
		return "", err
	}
	b, err := json.Marshal(v) // members of a map are written sorted
	return string(b), err
}
