package hostevents

import (
	"encoding/json"

	"github.com/wopwitness/wopwitness/witness/observe"
	"github.com/wopwitness/wopwitness/witness/observe/eventstream"
)

// Envelope is what a judge reads of a host event (RFC 0236).
type Envelope struct {
	EventID     string          `json:"eventId"`
	Type        string          `json:"type"`
	Timestamp   string          `json:"timestamp"`
	Delivery    string          `json:"delivery"`
	WorkspaceID *string         `json:"workspaceId"`
	Payload     json.RawMessage `json:"payload"`
}

// ParseEnvelope reads a frame's data as a host event, tolerantly: what is wrong with it is another question.
func ParseEnvelope(data string) (Envelope, bool) {
	members := observe.Members([]byte(data))
	if members == nil {
		return Envelope{}, false
	}
	var e Envelope
	text := func(name string, to *string) {
		if plain, ok := observe.PlainString(members[name]); ok {
			*to = plain
		} else {
			_ = json.Unmarshal(members[name], to)
		}
	}
	text("eventId", &e.EventID)
	text("type", &e.Type)
	text("timestamp", &e.Timestamp)
	text("delivery", &e.Delivery)
	if raw, ok := members["workspaceId"]; ok {
		var w string
		_ = json.Unmarshal(raw, &w)
		e.WorkspaceID = &w
	}
	e.Payload = members["payload"]
	return e, true
}

// EventOf is the id of the host event in a frame: its envelope's, or, in a frame of a reserved type whose data names
// none, its id line's. It is "" for a frame that is not dispatched, and for one that is no host event: a heartbeat may
// repeat the id of the last event, and is no second delivery of it.
func EventOf(f eventstream.Frame) string {
	if !f.HasData {
		return ""
	}
	if e, ok := ParseEnvelope(f.Data); ok && e.EventID != "" {
		return e.EventID
	}
	if f.Event == typeDurable || f.Event == typeEphemeral {
		return f.ID
	}
	return ""
}

// The reserved types of the trigger (RFC 0241).
const (
	typeDurable   = "host-test.durable-triggered"
	typeEphemeral = "host-test.ephemeral-triggered"
)

// reserved is the reserved type of a class.
func reserved(delivery string) string {
	if delivery == "ephemeral" {
		return typeEphemeral
	}
	return typeDurable
}

// Sight is one kind of host event that a run has seen: the frame's event field, and the type and class in its envelope.
type Sight struct {
	Event    string `json:"event"`
	Type     string `json:"type"`
	Delivery string `json:"delivery"`
	HasID    bool   `json:"hasId"`
}

// SightOf reads a frame as a host event. It is false for anything else on the channel: a frame is a host event where its
// data names an event id, a type and a class, which a heartbeat does not.
func SightOf(f eventstream.Frame) (Sight, bool) {
	e, ok := ParseEnvelope(f.Data)
	if !f.HasData || !ok || e.EventID == "" || e.Type == "" || e.Delivery == "" {
		return Sight{}, false
	}
	return Sight{Event: f.Event, Type: e.Type, Delivery: e.Delivery, HasID: f.HasID}, true
}
