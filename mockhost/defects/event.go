package defects

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strconv"

	"github.com/wopwitness/wopwitness/mockhost/parts"
	"github.com/wopwitness/wopwitness/mockhost/store"
)

// envelopeTime is how the host writes an envelope's timestamp.
const envelopeTime = "2006-01-02T15:04:05.000Z"

func digits(n int64) string { return strconv.FormatInt(n, 10) }

// eventDefects are wrong about the host event itself: its envelope, its frame, its type, its class (RFC 0236).
func eventDefects() []Defect {
	d := func(name, says string, convicts []string, apply func(*parts.Parts)) Defect {
		return Defect{Info{Name: name, Says: says, RFC: "0236", Convicts: convicts}, wraps(apply)}
	}
	r := func(name, says string, convicts []string, apply func(*parts.Parts, *journal)) Defect {
		return Defect{Info{Name: name, Says: says, RFC: "0236", Convicts: convicts}, remembering(apply)}
	}
	envelope, listed := []string{"0236.host-event.envelope"}, []string{"0236.host-event.listed-types"}
	return []Defect{
		d("envelope-run-id", "gives a host event a runId, as if it belonged to a run", envelope,
			recoded(func(_ store.Event, m map[string]any) { m["runId"] = "acme/none-0000000000000000" })),
		d("envelope-sequence", "puts the log's position into the envelope as sequence", envelope,
			recoded(func(e store.Event, m map[string]any) { m["sequence"] = e.Seq })),
		d("envelope-no-payload", "leaves an empty payload out of the envelope", envelope,
			recoded(func(_ store.Event, m map[string]any) {
				if payload, ok := m["payload"].(map[string]any); ok && len(payload) == 0 {
					delete(m, "payload")
				}
			})),
		d("envelope-timestamp-epoch", "writes the timestamp as milliseconds since 1970", envelope,
			recoded(func(e store.Event, m map[string]any) { m["timestamp"] = e.At.UnixMilli() })),
		d("durable-without-id", "sends durable events without an id line, so no client has a cursor",
			[]string{"0236.host-event.envelope", "0250.bounded-stream"}, durableWithoutID),
		d("ephemeral-with-id", "gives the frame of an ephemeral event an id line", envelope, ephemeralWithID),
		d("unlisted-type-emitted", "tells of each triggered event by another one, of a type that isn't listed", listed,
			companion(parts.Draft{Type: "audit.trigger-used", Delivery: parts.Durable})),
		d("class-changed", "emits a type that is listed as durable as an ephemeral event when it is in a hurry", listed,
			companion(parts.Draft{Type: "inventory.item-changed", Delivery: parts.Ephemeral})),
		d("types-without-class", "lists its types without their classes", append(slices.Clone(listed), "0250.shape"), typesWithoutClass),
		r("ephemeral-redelivered", "sends a reconnecting stream the ephemeral events that it missed",
			[]string{"0236.ephemeral.no-resume"}, ephemeralRedelivered),
		{Info{
			Name: "ephemeral-replayed", Says: "puts ephemeral events into the strict backlog, between the durable ones", RFC: "0250",
			Convicts: []string{"0250.resume-backlog", "0250.ephemeral-not-replayed"},
		}, remembering(ephemeralReplayed)},
	}
}

// recode changes an envelope's members.
func recode(envelope []byte, change func(members map[string]any)) ([]byte, error) {
	var members map[string]any
	if err := json.Unmarshal(envelope, &members); err != nil {
		return nil, fmt.Errorf("read an envelope: %w", err)
	}
	change(members)
	return json.Marshal(members)
}

// encoder is a parts.Encoder that is a function.
type encoder func(e store.Event, delivery string, payload json.RawMessage) ([]byte, error)

func (f encoder) Encode(e store.Event, delivery string, payload json.RawMessage) ([]byte, error) {
	return f(e, delivery, payload)
}

func recoded(change func(e store.Event, members map[string]any)) func(*parts.Parts) {
	return func(p *parts.Parts) {
		right := p.Encoder
		p.Encoder = encoder(func(e store.Event, delivery string, payload json.RawMessage) ([]byte, error) {
			b, err := right.Encode(e, delivery, payload)
			if err != nil {
				return nil, err
			}
			return recode(b, func(m map[string]any) { change(e, m) })
		})
	}
}

// framer is a parts.Framer that is a function.
type framer func(e store.Event) []byte

func (f framer) Frame(e store.Event) []byte { return f(e) }

func durableWithoutID(p *parts.Parts) {
	right := p.Framer
	p.Framer = framer(func(e store.Event) []byte {
		return bytes.Replace(right.Frame(e), []byte("id: "+e.ID+"\n"), nil, 1)
	})
}

func ephemeralWithID(p *parts.Parts) {
	right := p.Framer
	p.Framer = framer(func(e store.Event) []byte {
		b := right.Frame(e)
		if e.Durable() {
			return b
		}
		return append([]byte("id: "+e.ID+"\n"), b...)
	})
}

// companion emits another event after each durable one of the trigger's.
func companion(d parts.Draft) func(*parts.Parts) {
	d.Payload = json.RawMessage(`{}`)
	return func(p *parts.Parts) {
		inner := p.Log
		appended(p, func(pr parts.Principal, e store.Event) {
			if e.Type == parts.TriggeredDurable {
				// The companion is not worth failing the trigger for.
				_, _ = inner.Append(context.Background(), pr, d, nil)
			}
		})
	}
}

func typesWithoutClass(p *parts.Parts) {
	advertises(p, func(record map[string]any) {
		var listed []any
		for _, t := range p.Discovery.Types() {
			listed = append(listed, map[string]any{"type": t.Type})
		}
		record["types"] = listed
	})
}

// missed is the ephemeral events of the principal's tenant from after the start.
func missed(p *parts.Parts, j *journal, pr parts.Principal, s parts.Start) []entry {
	return j.all(func(e entry) bool {
		return !e.event.Durable() && e.event.Tenant == pr.Tenant && e.place >= s.After && p.Visibility.Sees(pr, e.event)
	})
}

func ephemeralRedelivered(p *parts.Parts, j *journal) {
	resumed := p.Resumer
	p.Resumer = resumer(func(ctx context.Context, pr parts.Principal, r parts.StreamRequest) (parts.Start, error) {
		s, err := resumed.Start(ctx, pr, r)
		if r.Strict {
			s.Resumed = false // tells the stream below that it owes nothing
		}
		return s, err
	})
	throughStreams(p, func(pr parts.Principal, s parts.Start) passage {
		if !s.Resumed {
			return nil
		}
		owed := missed(p, j, pr, s)
		return func(frames []*parts.Frame) []*parts.Frame {
			var out []*parts.Frame
			for _, e := range owed {
				out = append(out, &parts.Frame{Event: e.event, Bytes: p.Framer.Frame(e.event)})
			}
			owed = nil
			return append(out, frames...)
		}
	})
}

func ephemeralReplayed(p *parts.Parts, j *journal) {
	throughStreams(p, func(pr parts.Principal, s parts.Start) passage {
		owed := missed(p, j, pr, s)
		return onlyBacklog(s, func(f *parts.Frame) []*parts.Frame {
			var out []*parts.Frame
			for len(owed) > 0 && owed[0].place < f.Event.Seq {
				out = append(out, &parts.Frame{Event: owed[0].event, Bytes: p.Framer.Frame(owed[0].event)})
				owed = owed[1:]
			}
			return append(out, f)
		})
	})
}
