// Package timeline draws what one leg saw of event streams: when each event was sent, when each connection was open, which
// frames came on it, and how long was read on for what must not come. A gap or a duplicate is then seen at a glance.
//
// It holds no opinion: it marks an event that was sent and not seen on a stream, and whether that is wrong is for the
// judge to say. It draws no text that a host wrote. Start with Of.
package timeline

import (
	"bytes"
	"encoding/json"
	"slices"

	"github.com/wopwitness/wopwitness/witness/observe"
	"github.com/wopwitness/wopwitness/witness/observe/eventstream"
)

// Timeline is one leg's picture as data.
type Timeline struct {
	Emits     []Emit
	Lanes     []Lane
	Moves     []observe.Micros // moves of the host's clock
	Sentinels []string         // labels of the events that close a wait
	Quiet     observe.Micros   // how long streams were read on after the last event that had to come
	Left      int              // lanes that were left out, where there are too many to see anything
}

// Emit is one event that the suite caused.
type Emit struct {
	At         observe.Micros
	Label      string
	Credential string
	ID         string // "" where the host did not take it
	Durable    bool
}

// Lane is one subscriber, over all its connections.
type Lane struct {
	Name        string
	Credential  string
	Connections []Connection
	Frames      []Frame
	Missing     []Emit // durable events of this tenant that could have come here and were not seen
}

// Connection is one request for a stream. Opened is false where the answer was not a stream.
type Connection struct {
	SentAt, AnsweredAt, EndedAt observe.Micros
	Opened                      bool
	Status                      int
	End                         observe.StreamEnd
}

// FrameKind is what a frame was.
type FrameKind string

// The kinds of frames.
const (
	Durable   FrameKind = "durable"   // an event of the suite's, with an id line
	Ephemeral FrameKind = "ephemeral" // an event of the suite's, without one
	Again     FrameKind = "again"     // an event that this subscriber had seen already
	Other     FrameKind = "other"     // somebody else's event
	Comment   FrameKind = "comment"   // nothing that is dispatched
)

// Frame is one block of a stream. Label is the leg's name of the event, "" for what isn't the suite's.
type Frame struct {
	At    observe.Micros
	Kind  FrameKind
	Label string
}

const mostLanes = 16

// Of reads a picture out of any leg's observation; ok is false where there is no stream in it.
func Of(observation json.RawMessage) (t Timeline, ok bool) {
	var root map[string]json.RawMessage
	if json.Unmarshal(observation, &root) != nil {
		return Timeline{}, false
	}
	r := &reading{}
	r.object(root, "")
	for _, name := range []string{"quiet", "window", "ephemeralWindow"} {
		var d observe.Micros
		if json.Unmarshal(root[name], &d) == nil {
			r.Quiet = max(r.Quiet, d)
		}
	}
	var sentinel string
	if json.Unmarshal(root["sentinel"], &sentinel) == nil && sentinel != "" {
		r.Sentinels = append(r.Sentinels, sentinel)
	}
	slices.SortStableFunc(r.Emits, func(a, b Emit) int { return int(a.At - b.At) })
	for i, s := range r.streams {
		if i >= mostLanes {
			r.Left++
			continue
		}
		r.Lanes = append(r.Lanes, r.lane(s))
	}
	slices.SortStableFunc(r.Lanes, func(a, b Lane) int { return int(a.start() - b.start()) })
	return r.Timeline, len(r.Lanes) > 0
}

func (l Lane) start() observe.Micros {
	if len(l.Connections) == 0 {
		return 0
	}
	return l.Connections[0].SentAt
}

type subscriber struct {
	name     string
	segments []observe.Stream
}

// reading finds the parts of a picture by their form: each leg has its own type of observation, and all hold the same parts.
type reading struct {
	Timeline
	streams []subscriber
}

// value looks at the first byte before it reads: most of an observation is text, which is no part of a picture.
func (r *reading) value(raw json.RawMessage, name string) {
	switch raw = bytes.TrimLeft(raw, " \t\r\n"); {
	case bytes.HasPrefix(raw, []byte("[")):
		var list []json.RawMessage
		if json.Unmarshal(raw, &list) == nil {
			for _, item := range list {
				r.value(item, name)
			}
		}
		return
	case !bytes.HasPrefix(raw, []byte("{")):
		return
	}
	var object map[string]json.RawMessage
	if json.Unmarshal(raw, &object) != nil {
		return
	}
	switch {
	case object["segments"] != nil:
		var s observe.Subscription
		if json.Unmarshal(raw, &s) == nil && len(s.Segments) > 0 {
			r.streams = append(r.streams, subscriber{named(s.Segments[0], name), s.Segments})
		}
	case object["attempts"] != nil && object["delivery"] != nil:
		var e observe.Emit
		if json.Unmarshal(raw, &e) == nil {
			r.Emits = append(r.Emits, Emit{At: e.SentAt(), Label: e.Label, Credential: e.Credential, ID: e.EventID, Durable: e.Delivery == "durable"})
		}
	case object["seconds"] != nil && object["exchange"] != nil:
		var m observe.ClockMove
		if json.Unmarshal(raw, &m) == nil {
			r.Moves = append(r.Moves, m.Exchange.SentAt)
		}
	case object["request"] != nil:
		var s observe.Stream
		if json.Unmarshal(raw, &s) == nil && asksForStream(s.Request) {
			r.streams = append(r.streams, subscriber{named(s, name), []observe.Stream{s}})
		}
	default:
		r.object(object, name)
	}
}

func (r *reading) object(object map[string]json.RawMessage, _ string) {
	names := make([]string, 0, len(object))
	for name := range object {
		names = append(names, name)
	}
	slices.Sort(names)
	for _, name := range names {
		r.value(object[name], name)
	}
}

func named(s observe.Stream, name string) string {
	if s.Label != "" {
		return s.Label
	}
	return name
}

func asksForStream(r observe.Request) bool {
	return slices.ContainsFunc(r.Headers, func(h observe.Header) bool { return h.Name == "Accept" && observe.IsEventStream(h.Value) })
}

// lane puts one subscriber's connections and frames side by side with what was sent.
func (r *reading) lane(s subscriber) Lane {
	l := Lane{Name: s.name, Credential: s.segments[0].Credential}
	byID := map[string]Emit{}
	for _, e := range r.Emits {
		if e.ID != "" {
			byID[e.ID] = e
		}
	}
	seen := map[string]bool{}
	for _, segment := range s.segments {
		c := Connection{
			SentAt: segment.SentAt, AnsweredAt: segment.AnsweredAt, EndedAt: max(segment.EndedAt, segment.AnsweredAt),
			Opened: segment.Opened(), Status: segment.Status(), End: segment.End,
		}
		l.Connections = append(l.Connections, c)
		for _, f := range eventstream.Frames(segment) {
			l.Frames = append(l.Frames, frame(f, byID, seen))
		}
	}
	l.Missing = r.missing(l, s, seen)
	return l
}

func frame(f eventstream.Frame, byID map[string]Emit, seen map[string]bool) Frame {
	id := f.ID
	if f.HasData {
		var envelope struct {
			EventID string `json:"eventId"`
		}
		if json.Unmarshal([]byte(f.Data), &envelope) == nil && envelope.EventID != "" {
			id = envelope.EventID
		}
	}
	e, ours := byID[id]
	switch {
	case !f.HasData:
		return Frame{At: f.At, Kind: Comment}
	case id != "" && seen[id]:
		return Frame{At: f.At, Kind: Again, Label: e.Label}
	case !ours:
		seen[id] = id != ""
		return Frame{At: f.At, Kind: Other}
	}
	seen[id] = true
	if f.HasID {
		return Frame{At: f.At, Kind: Durable, Label: e.Label}
	}
	return Frame{At: f.At, Kind: Ephemeral, Label: e.Label}
}

// missing lists the tenant's durable events that could have come on the lane: sent after the cursor's event where there
// was a cursor, after the connection opened where there was none, and before the reading stopped.
func (r *reading) missing(l Lane, s subscriber, seen map[string]bool) []Emit {
	last := l.Connections[len(l.Connections)-1]
	if !slices.ContainsFunc(l.Connections, func(c Connection) bool { return c.Opened }) {
		return nil
	}
	cursor := ""
	for _, h := range s.segments[0].Request.Headers {
		if h.Name == "Last-Event-Id" {
			cursor = h.Value
		}
	}
	from := l.Connections[0].AnsweredAt
	if at := slices.IndexFunc(r.Emits, func(e Emit) bool { return e.ID == cursor && cursor != "" }); at >= 0 {
		from = r.Emits[at].At + 1
	}
	var missing []Emit
	for _, e := range r.Emits {
		if e.Durable && e.ID != "" && !seen[e.ID] && e.Credential == l.Credential && e.At >= from && e.At < last.EndedAt {
			missing = append(missing, e)
		}
	}
	return missing
}
