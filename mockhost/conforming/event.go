package conforming

import (
	"encoding/json"
	"fmt"

	"github.com/wopwitness/wopwitness/mockhost/parts"
	"github.com/wopwitness/wopwitness/mockhost/store"
)

// TimeLayout is the timestamp of an envelope: RFC 3339, UTC, milliseconds.
const TimeLayout = "2006-01-02T15:04:05.000Z"

// envelope is RFC 0236's closed host event.
type envelope struct {
	EventID   string          `json:"eventId"`
	Type      string          `json:"type"`
	Timestamp string          `json:"timestamp"`
	Delivery  string          `json:"delivery"`
	Workspace string          `json:"workspaceId,omitempty"`
	Payload   json.RawMessage `json:"payload"`
}

// Encoder implements parts.Encoder.
type Encoder struct{}

// Encode implements parts.Encoder.
func (Encoder) Encode(e store.Event, delivery string, payload json.RawMessage) ([]byte, error) {
	b, err := json.Marshal(envelope{
		EventID: e.ID, Type: e.Type, Timestamp: e.At.UTC().Format(TimeLayout),
		Delivery: delivery, Workspace: e.Workspace, Payload: payload,
	})
	if err != nil {
		return nil, fmt.Errorf("encode a host event: %w", err)
	}
	return b, nil
}

// Framer implements parts.Framer: an id line for a durable event only.
type Framer struct{}

// Frame implements parts.Framer. An envelope is one line, since JSON escapes line ends.
func (Framer) Frame(e store.Event) []byte {
	b := make([]byte, 0, len(e.Type)+len(e.ID)+len(e.Envelope)+24)
	b = append(append(append(b, "event: "...), e.Type...), '\n')
	if e.Durable() {
		b = append(append(append(b, "id: "...), e.ID...), '\n')
	}
	b = append(append(b, "data: "...), e.Envelope...)
	return append(b, "\n\n"...)
}

// Emitter implements parts.Emitter over the listed types.
type Emitter struct{ Parts *parts.Parts }

// MaxPayload bounds the payload that the emit seam makes, in bytes.
const MaxPayload = 1 << 20

// Draft implements parts.Emitter. The reserved types are left to the trigger (RFC 0241).
func (m Emitter) Draft(p parts.Principal, eventType, workspace string, payloadBytes int) (parts.Draft, error) {
	for _, t := range m.Parts.Discovery.Types() {
		switch {
		case t.Type != eventType:
		case reserved(t.Type):
			return parts.Draft{}, parts.Invalid("%s is emitted in answer to the trigger only", t.Type)
		case payloadBytes < 0 || payloadBytes > MaxPayload:
			return parts.Draft{}, parts.Invalid("payloadBytes must be from 0 to %d", MaxPayload)
		default:
			if err := m.Parts.Trigger.Scope(p, workspace); err != nil {
				return parts.Draft{}, err
			}
			return parts.Draft{
				Type: t.Type, Delivery: t.Delivery, Workspace: workspace, Payload: filler(payloadBytes),
			}, nil
		}
	}
	return parts.Draft{}, parts.Invalid("this host doesn't list that type")
}

func reserved(t string) bool { return t == parts.TriggeredDurable || t == parts.TriggeredEphemeral }

// filler is a payload of exactly size bytes, or the smallest one when size is less.
func filler(size int) json.RawMessage {
	const head, tail = `{"note":"`, `"}`
	b := make([]byte, 0, max(size, len(head)+len(tail)))
	b = append(b, head...)
	for i := len(head) + len(tail); i < size; i++ {
		b = append(b, "abcdefghijklmnopqrstuvwxyz0123456789"[i%36])
	}
	return append(b, tail...)
}
