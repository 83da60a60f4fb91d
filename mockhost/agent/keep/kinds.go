package keep

import (
	"github.com/wopwitness/wopwitness/mockhost/parts"
	"github.com/wopwitness/wopwitness/mockhost/store"
)

// StateReplaying is what a message is looked up by while an entry's replay holds it, whatever its status says.
const StateReplaying = "replaying"

// UnderWay are the states of a message that a worker has, or will have.
func UnderWay() []string {
	return []string{parts.MessageQueued, parts.MessageRunning, StateReplaying}
}

// Waiting are the states of the messages that the intake counts.
func Waiting() []string { return []string{parts.MessageQueued, parts.MessageRunning} }

//nolint:gochecknoglobals // each is a type's description, and never changed
var (
	// Messages are looked up by their status and their trace.
	Messages = Kind[parts.Message]{"message", func(m parts.Message) store.Record {
		state := m.Status
		if m.Replaying != "" {
			state = StateReplaying
		}
		return store.Record{Tenant: m.Tenant, ID: m.ID, State: state, Trace: m.TraceID, At: m.At}
	}, func(m *parts.Message, tenant string, seq int64) { m.Tenant, m.Seq = tenant, seq }}

	// Invocations are looked up by their status, tool and trace.
	Invocations = Kind[parts.Invocation]{"invocation", func(i parts.Invocation) store.Record {
		return store.Record{Tenant: i.Tenant, ID: i.ID, State: i.Status, Tool: i.Tool, Trace: i.TraceID, At: i.At}
	}, func(i *parts.Invocation, tenant string, seq int64) { i.Tenant, i.Seq = tenant, seq }}

	// ToolEntries and MessageEntries are looked up by their resolution, tool, trace and category.
	ToolEntries    = entries("tool-entry")
	MessageEntries = entries("message-entry")

	// Conversations are named by their reference.
	Conversations = Kind[parts.Conversation]{"conversation", func(c parts.Conversation) store.Record {
		return store.Record{Tenant: c.Tenant, ID: c.Ref}
	}, func(c *parts.Conversation, tenant string, _ int64) { c.Tenant = tenant }}

	// Tools and Circuits are named by the tool.
	Tools = Kind[parts.Tool]{"tool", func(t parts.Tool) store.Record {
		return store.Record{Tenant: t.Tenant, ID: t.Name}
	}, func(t *parts.Tool, tenant string, _ int64) { t.Tenant = tenant }}
	Circuits = Kind[parts.Circuit]{"circuit", func(c parts.Circuit) store.Record {
		return store.Record{Tenant: c.Tenant, ID: c.Tool}
	}, func(c *parts.Circuit, tenant string, _ int64) { c.Tenant = tenant }}

	// Arrivals are the calls that reached a tool, looked up by it.
	Arrivals = Kind[parts.ToolArrival]{"arrival", func(a parts.ToolArrival) store.Record {
		return store.Record{Tenant: a.Tenant, ID: a.ID, Tool: a.Tool, At: a.At}
	}, func(a *parts.ToolArrival, tenant string, _ int64) { a.Tenant = tenant }}

	// Effects are the side effects that a tool has done under a key: EffectID names them.
	Effects = Kind[parts.Effect]{"effect", func(e parts.Effect) store.Record {
		return store.Record{Tenant: e.Tenant, ID: EffectID(e.Tool, e.Key), Tool: e.Tool}
	}, func(e *parts.Effect, tenant string, _ int64) { e.Tenant = tenant }}

	// Drains are looked up by their state.
	Drains = Kind[parts.Drain]{"drain", func(d parts.Drain) store.Record {
		return store.Record{Tenant: d.Tenant, ID: d.ID, State: d.State, At: d.At}
	}, func(d *parts.Drain, tenant string, _ int64) { d.Tenant = tenant }}

	// Spans are looked up by their trace.
	Spans = Kind[parts.Span]{"span", func(s parts.Span) store.Record {
		return store.Record{Tenant: s.Tenant, ID: s.SpanID, Trace: s.TraceID, At: s.Start}
	}, func(s *parts.Span, tenant string, seq int64) { s.Tenant, s.Seq = tenant, seq }}
)

func entries(name string) Kind[parts.Entry] {
	return Kind[parts.Entry]{name, func(e parts.Entry) store.Record {
		category := e.Category
		if category == "" {
			category = parts.Unclassified
		}
		return store.Record{
			Tenant: e.Tenant, ID: e.ID, State: e.Resolution, Tool: e.Tool, Trace: e.TraceID, Category: category, At: e.FirstSeen,
		}
	}, func(e *parts.Entry, tenant string, seq int64) { e.Tenant, e.Seq = tenant, seq }}
}

// Entries are those of a queue.
func Entries(queue string) Kind[parts.Entry] {
	if queue == parts.MessageQueue {
		return MessageEntries
	}
	return ToolEntries
}

// EffectID names what a tool has done under a key.
func EffectID(tool, key string) string { return tool + " " + key }
