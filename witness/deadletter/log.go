package deadletter

import (
	"bytes"
	"encoding/json"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/wopwitness/wopwitness/witness/observe"
	"github.com/wopwitness/wopwitness/witness/observe/eventstream"
)

// Event is one event of a run's log, read tolerantly: what is missing or of another type is zero. Real hosts write
// payload: null with data beside it, seq for sequence, and nodeId: null.
type Event struct {
	Sequence    int64
	HasSequence bool
	ID          string
	Type        string
	RunID       string
	NodeID      string
	Timestamp   string
	Payload     json.RawMessage // of payload where it is an object, else of data
	Raw         json.RawMessage
}

// Log is a run's events in the order of their sequence, or as they were first shown where they have none.
type Log []Event

// ReadLog merges what several reads of one log showed, from polls and from streams. An event shown twice counts once.
func ReadLog(reads []observe.Exchange, streams []observe.Stream) Log {
	var r LogReader
	for _, x := range reads {
		r.Poll(x)
	}
	for _, s := range streams {
		r.stream(s)
	}
	return r.Log()
}

// LogReader merges reads of one log as they come.
type LogReader struct {
	log         Log
	seen, known map[string]bool
	bodies      map[string]bool // of polls: many a log is read once more to see that nothing came
}

// Poll takes in what a poll showed.
func (r *LogReader) Poll(x observe.Exchange) {
	if x.Status() != 200 || r.bodies[string(x.Response.Body)] {
		return
	}
	if r.bodies == nil {
		r.bodies = map[string]bool{}
	}
	r.bodies[string(x.Response.Body)] = true
	for _, raw := range pageOf(x) {
		r.take(raw, observe.MembersWithin)
	}
}

func (r *LogReader) stream(s observe.Stream) {
	for _, f := range eventstream.Frames(s) {
		if f.HasData {
			r.take(json.RawMessage(f.Data), observe.Members)
		}
	}
}

func (r *LogReader) take(raw json.RawMessage, members func([]byte) map[string]json.RawMessage) {
	if r.seen == nil {
		r.seen, r.known = map[string]bool{}, map[string]bool{}
	}
	if r.known[string(raw)] { // most reads show the whole log again
		return
	}
	r.known[string(raw)] = true
	e, ok := readEvent(raw, members(raw))
	if !ok || r.seen[e.key()] {
		return
	}
	r.seen[e.key()] = true
	r.log = append(r.log, e)
}

// Log is what was read so far.
func (r *LogReader) Log() Log {
	log := slices.Clone(r.log)
	if !slices.ContainsFunc(log, func(e Event) bool { return !e.HasSequence }) {
		slices.SortStableFunc(log, func(a, b Event) int { return int(min(max(a.Sequence-b.Sequence, -1), 1)) })
	}
	return log
}

// pageOf is the events of one poll's answer: its events member, or the answer itself where that is a list.
func pageOf(x observe.Exchange) []json.RawMessage {
	if x.Status() != 200 || x.Response.Truncated {
		return nil
	}
	if list, is := observe.Elements(x.Response.Body); is {
		return list
	}
	list, _ := observe.ElementsWithin(members(x.Response.Body)["events"])
	return list
}

func readEvent(raw json.RawMessage, m map[string]json.RawMessage) (Event, bool) {
	e := Event{
		Raw: raw, ID: str(m["eventId"]), Type: str(m["type"]), RunID: str(m["runId"]), NodeID: str(m["nodeId"]), Timestamp: str(m["timestamp"]),
	}
	if e.Type == "" {
		return Event{}, false
	}
	for _, name := range []string{"sequence", "seq"} {
		if n, ok := integer(m[name]); ok {
			e.Sequence, e.HasSequence = n, true
			break
		}
	}
	for _, name := range []string{"payload", "data"} {
		if isObject(m[name]) {
			e.Payload = m[name]
			break
		}
	}
	if e.NodeID == "" {
		e.NodeID = str(observe.MembersWithin(e.Payload)["nodeId"])
	}
	return e, true
}

// key tells events apart. Two events under one sequence are two where they differ in type: a host may be that wrong.
func (e Event) key() string {
	if e.HasSequence {
		return e.Type + "\x00" + strconv.FormatInt(e.Sequence, 10)
	}
	if e.ID != "" {
		return e.Type + "\x00" + e.ID
	}
	return string(e.Raw)
}

// At is when the host says the event happened.
func (e Event) At() (time.Time, bool) {
	return observe.Instant(e.Timestamp)
}

// IsDeadLetter says whether the event is a dead letter under any spelling of its name.
func (e Event) IsDeadLetter() bool {
	return strings.ToLower(strings.NewReplacer("-", "", "_", "").Replace(e.Type)) == "run.deadlettered"
}

// IsTerminal says whether the event ends its run.
func (e Event) IsTerminal() bool {
	return e.Type == "run.completed" || e.Type == "run.failed" || e.Type == "run.cancelled"
}

// of gives the events that the condition holds for.
func (l Log) of(holds func(Event) bool) []Event {
	var some []Event
	for _, e := range l {
		if holds(e) {
			some = append(some, e)
		}
	}
	return some
}

// DeadLetters are the dead-letter events.
func (l Log) DeadLetters() []Event { return l.of(Event.IsDeadLetter) }

// Terminals are the events that end the run.
func (l Log) Terminals() []Event { return l.of(Event.IsTerminal) }

// Last is the largest sequence, -1 where no event has one.
func (l Log) Last() int64 {
	last := int64(-1)
	for _, e := range l {
		if e.HasSequence {
			last = max(last, e.Sequence)
		}
	}
	return last
}

// FirstStart is the sequence of the node's first start, 0 where the log does not show it.
func (l Log) FirstStart(node string) int64 {
	for _, e := range l {
		if e.Type == "node.started" && e.NodeID == node && e.HasSequence {
			return e.Sequence
		}
	}
	return 0
}

// Attempts is how often the log shows that the node was tried: the largest of its starts, its failures, its retries
// and one, and the attempt that a payload of its events names.
func (l Log) Attempts(node string) int64 {
	var started, failed, retried, named int64
	for _, e := range l {
		if e.NodeID != node || !strings.HasPrefix(e.Type, "node.") {
			continue
		}
		switch e.Type {
		case "node.started":
			started++
		case "node.failed":
			failed++
		case "node.retried":
			retried++
		}
		if n, ok := integer(members(e.Payload)["attempt"]); ok {
			named = max(named, n)
		}
	}
	if retried > 0 {
		retried++
	}
	return max(started, failed, retried, named)
}

// failingNodes are the nodes that the log shows to have failed, in order.
func (l Log) failingNodes() []string {
	var nodes []string
	for _, e := range l {
		if e.Type == "node.failed" && e.NodeID != "" && !slices.Contains(nodes, e.NodeID) {
			nodes = append(nodes, e.NodeID)
		}
	}
	return nodes
}

func members(raw []byte) map[string]json.RawMessage { return observe.Members(raw) }

func isObject(raw []byte) bool { return bytes.HasPrefix(bytes.TrimSpace(raw), []byte("{")) }

func str(raw json.RawMessage) string {
	if s, ok := observe.PlainString(raw); ok {
		return s
	}
	var s string
	_ = json.Unmarshal(raw, &s)
	return s
}

// integer reads a JSON number that is an integer; 3, 3.0 and 3e0 are one number.
func integer(raw json.RawMessage) (int64, bool) {
	if len(raw) == 1 && raw[0] >= '0' && raw[0] <= '9' {
		return int64(raw[0] - '0'), true
	}
	var f float64
	if len(raw) == 0 || bytes.Equal(raw, []byte("null")) || json.Unmarshal(raw, &f) != nil || f != float64(int64(f)) || f > 1<<53 || f < -(1<<53) {
		return 0, false
	}
	return int64(f), true
}
