package hostevents

import (
	"strings"
	"testing"

	"github.com/wopwitness/wopwitness/scenarios/registry"
	"github.com/wopwitness/wopwitness/witness/observe"
)

// deliveredBoth is one event of each class that arrived on one stream; the change may alter the text of a frame.
func deliveredBoth(change func(delivery, text string) string) Delivered {
	d, e := triggered("D", observe.CredentialA, "durable", 10*ms), triggered("E", observe.CredentialA, "ephemeral", 20*ms)
	return Delivered{
		Reading: reads(), Tries: []Try{{Emit: d}, {Emit: e}},
		Streams: []observe.Subscription{over(stream(observe.CredentialA, "", 1*ms, 40*ms,
			chunk(12*ms, change("durable", frameText(d))), chunk(22*ms, change("ephemeral", frameText(e)))))},
	}
}

// deaf is two durable events, each waited for in full on a stream of its own that never showed it. A greeting says that
// bytes come through at all.
func deaf(greeting string, pushed int) Delivered {
	o := Delivered{Reading: reads()}
	for i, label := range []string{"D1", "D2"} {
		at := observe.Micros(i) * 1200 * ms
		o.Tries = append(o.Tries, Try{Emit: triggered(label, observe.CredentialA, "durable", at+10*ms), Stream: i, Pushed: pushed})
		s := stream(observe.CredentialA, "", at+1*ms, at+1050*ms)
		if greeting != "" {
			s.Chunks = []observe.Chunk{chunk(at+3*ms, greeting)}
		}
		o.Streams = append(o.Streams, over(s))
	}
	return o
}

func TestJudgeEnvelope(t *testing.T) {
	same := func(_, text string) string { return text }
	durable := func(from, to string) Delivered {
		return deliveredBoth(func(delivery, text string) string {
			if delivery == "durable" {
				return strings.Replace(text, from, to, 1)
			}
			return text
		})
	}
	ephemeral := func(from, to string) Delivered {
		return deliveredBoth(func(delivery, text string) string {
			if delivery == "ephemeral" {
				return strings.Replace(text, from, to, 1)
			}
			return text
		})
	}
	edit := func(o Delivered, change func(*Delivered)) Delivered {
		change(&o)
		return o
	}
	for _, c := range []struct {
		name string
		o    any
		want outcome
	}{
		{"conforming", deliveredBoth(same), pass()},
		{"lawful: one class only", edit(deliveredBoth(same), func(o *Delivered) { o.Tries = o.Tries[:1] }), pass()},
		{"lawful: CRLF", deliveredBoth(func(_, s string) string { return strings.ReplaceAll(s, "\n", "\r\n") }), pass()},
		{"lawful: fields in another order", deliveredBoth(func(_, s string) string {
			lines := strings.Split(strings.TrimSuffix(s, "\n\n"), "\n")
			return lines[len(lines)-1] + "\n" + strings.Join(lines[:len(lines)-1], "\n") + "\n\n"
		}), pass()},
		{"lawful: another form of the same instant", durable(`2026-11-30T10:00:00.5Z`, `2026-11-30T11:00:00.500000+01:00`), pass()},
		{"lawful: it belongs to a workspace", durable(`"payload"`, `"workspaceId":"w-1","payload"`), pass()},
		{"lawful: heartbeats in between", deliveredBoth(func(_, s string) string { return "event: heartbeat\nid: 7\ndata: {}\n\n: ok\n\n" + s }), pass()},
		{"lawful: one is lost and the next comes", func() Delivered {
			o := deaf(": hello\n\n", 0)
			o.Streams[1].Segments[0].Chunks = append(o.Streams[1].Segments[0].Chunks, shows(1300*ms, o.Tries[1].Emit))
			return o
		}(), pass("not-at-once")},

		{"an envelope with a run id", durable(`"payload"`, `"runId":"r","payload"`), convicts("envelope")},
		{"an envelope with a sequence", ephemeral(`"payload"`, `"sequence":4,"payload"`), convicts("envelope")},
		{"an envelope without a payload", durable(`,"payload":{}`, ``), convicts("envelope", "payload-empty")},
		{"an envelope without a timestamp", durable(`"timestamp":"2026-11-30T10:00:00.5Z",`, ``), convicts("envelope")},
		{"a timestamp in milliseconds", durable(`"2026-11-30T10:00:00.5Z"`, `1780000000000`), convicts("envelope")},
		{"a member that stands twice", durable(`"payload"`, `"delivery":"durable","payload"`), convicts("envelope")},
		{"a payload with something in it", durable(`{}`, `{"by":"someone"}`), convicts("payload-empty")},
		{"a payload that is null", durable(`{}`, `null`), convicts("envelope", "payload-empty")},
		{"another type in the envelope", durable(`"type":"host-test.durable-triggered"`, `"type":"host-test.other-triggered"`), convicts("event-field", "type")},
		{"the other class in the envelope", ephemeral(`"delivery":"ephemeral"`, `"delivery":"durable"`), convicts("class")},
		{"another event field", durable("event: host-test.durable-triggered", "event: message"), convicts("event-field")},
		{"no event field", durable("event: host-test.durable-triggered\n", ""), convicts("event-field")},
		{"a durable frame without an id line", durable("id: "+idOf("D")+"\n", ""), convicts("durable-id-line")},
		{"a durable frame with a number for an id", durable("id: "+idOf("D"), "id: 17"), convicts("durable-id-line")},
		{"an ephemeral frame with its id", ephemeral("data:", "id: "+idOf("E")+"\ndata:"), convicts("ephemeral-no-id-line")},
		{"an ephemeral frame with an empty id line", ephemeral("data:", "id\ndata:"), convicts("ephemeral-no-id-line")},
		{"an ephemeral frame with a NUL in its id", ephemeral("data:", "id: \x00\ndata:"), convicts("ephemeral-no-id-line")},
		{"an answer that names another type", edit(deliveredBoth(same), func(o *Delivered) { o.Tries[0].Emit.Type = "a.b" }), convicts("type")},
		{"accepts and delivers nothing", deaf(": hello\n\n", 0), convicts("durable-delivered")},
		{"accepts and delivers nothing, however much is pushed", deaf("", 30), convicts("durable-delivered")},
		{"delivers under another id", edit(deaf("", 0), func(o *Delivered) {
			for i := range o.Streams {
				o.Streams[i].Segments[0].Chunks = []observe.Chunk{shows(observe.Micros(i)*1200*ms+20*ms, triggered("other", "a", "durable", 0))}
			}
		}), convicts("durable-delivered")},

		{"undecided: a stream that never showed a byte", deaf("", 0), undecided(registry.Timeout)},
		{"undecided: one event only", edit(deaf(": hello\n\n", 0), func(o *Delivered) { o.Tries = o.Tries[:1] }), undecided(registry.Timeout)},
		{"undecided: not waited for in full", edit(deaf(": hello\n\n", 0), func(o *Delivered) { o.Patience = 2000 * ms }), undecided(registry.Timeout)},
		{"undecided: the connections broke", edit(deaf(": hello\n\n", 0), func(o *Delivered) {
			for i := range o.Streams {
				o.Streams[i].Segments[0].Failure = &observe.Failure{Kind: observe.FailReset, Text: "reset"}
			}
		}), undecided(registry.Timeout)},
		{"undecided: nothing recorded", Delivered{}, undecided(registry.Unreadable)},
		{"undecided: a stream that is not there", Delivered{Tries: []Try{{Emit: triggered("D", "a", "durable", 0), Stream: 3}}}, undecided(registry.Unreadable)},
	} {
		t.Run(c.name, func(t *testing.T) { expect(t, "0236.host-event.envelope", c.o, c.want) })
	}
}

func TestJudgeListedTypes(t *testing.T) {
	own := over(stream(observe.CredentialA, "", 1*ms, 40*ms, shows(12*ms, triggered("D", "a", "durable", 10*ms))))
	lists := discovery(record("", durableType, ephemeralType, otherType))
	sight := func(eventType, delivery string) Sight {
		return Sight{Event: eventType, Type: eventType, Delivery: delivery, HasID: delivery == "durable"}
	}
	for _, c := range []struct {
		name string
		o    any
		want outcome
	}{
		{"conforming", Sighted{Discovery: lists, Own: own, Sights: []Sight{sight("inventory.item-changed", "durable"), sight(typeEphemeral, "ephemeral")}}, pass()},
		{"lawful: own events alone", Sighted{Discovery: lists, Own: own}, pass()},
		{"lawful: a heartbeat of an unlisted name", Sighted{Discovery: lists, Own: over(stream("a", "", 1*ms, 40*ms,
			chunk(5*ms, "event: host.heartbeat\ndata: {\"type\":\"host.heartbeat\",\"timestamp\":\"2026-11-30T10:00:00Z\"}\n\n"),
			shows(12*ms, triggered("D", "a", "durable", 10*ms))))}, pass()},
		{"an event of an unlisted type", Sighted{Discovery: lists, Own: own, Sights: []Sight{sight("billing.invoice-paid", "durable")}}, convicts("only-listed-types")},
		{"a listed type in the other class", Sighted{Discovery: lists, Own: own, Sights: []Sight{sight("inventory.item-changed", "ephemeral")}}, convicts("class-kept")},
		{"both", Sighted{Discovery: lists, Own: own, Sights: []Sight{sight(typeDurable, "ephemeral"), sight("x.y", "durable")}}, convicts("class-kept", "only-listed-types")},
		{"an unlisted type on its own stream", Sighted{Discovery: discovery(record("", ephemeralType)), Own: own}, convicts("only-listed-types")},
		{"a type listed without its class", Sighted{Discovery: discovery(record("", durableType, `{"type":"a.b"}`)), Own: own}, convicts("types-form")},
		{"undecided: nothing was seen", Sighted{Discovery: lists}, undecided(registry.Timeout)},
		{"undecided: heartbeats alone", Sighted{Discovery: lists, Own: over(stream("a", "", 1*ms, 40*ms, chunk(5*ms, "event: heartbeat\ndata: {}\n\n")))}, undecided(registry.Timeout)},
		{"undecided: no discovery", Sighted{Discovery: failed(observe.FailReset), Own: own}, undecided(registry.Unreadable)},
		{"undecided: nothing recorded", Sighted{}, undecided(registry.Unreadable)},
	} {
		t.Run(c.name, func(t *testing.T) { expect(t, "0236.host-event.listed-types", c.o, c.want) })
	}
}
