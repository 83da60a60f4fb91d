package agentdlq

import (
	"fmt"
	"slices"
	"strings"

	"github.com/wopwitness/wopwitness/scenarios/registry"
	"github.com/wopwitness/wopwitness/witness"
	"github.com/wopwitness/wopwitness/witness/observe"
)

// bench is a scene before its judge, and what the judge has found. A reading that the scene doesn't hold voids the whole
// verdict: nothing is concluded from what nobody looked at.
type bench struct {
	Scene
	whole        Scene // of which Scene may be a part
	v            witness.Verdict
	section, why string
	lacks        []string
}

// judge sits over a usable scene. Section is the page's heading, why says what a failure of it costs.
func judge(s Scene, section, why string, sit func(*bench)) witness.Verdict {
	b := &bench{Scene: s, whole: s, section: section, why: why}
	if !s.usable(&b.v) {
		return b.v
	}
	sit(b)
	if len(b.lacks) > 0 {
		var v witness.Verdict
		v.Undecide(registry.Unreadable, "the observation lacks %s", strings.Join(b.lacks, ", "))
		return v
	}
	return b.v
}

// hold records a check, and the finding where it does not hold.
func (b *bench) hold(check string, held bool, says, expected, got string) {
	if got == "" {
		got = "nothing"
	}
	b.v.Check(check, held, func() witness.Finding {
		return witness.Finding{Says: says, Expected: expected, Got: shorten(got), Section: b.section, Why: b.why}
	})
}

// read gives the pages of the last such step.
func (b *bench) read(did Did, of string) []observe.Exchange {
	step := b.find(did, of)
	if step == nil {
		b.lacks = append(b.lacks, fmt.Sprintf("%s %s", did, of))
		return nil
	}
	return step.Exchanges
}

func (b *bench) one(did Did, of string) observe.Exchange {
	pages := b.read(did, of)
	if len(pages) == 0 {
		return observe.Exchange{}
	}
	return pages[len(pages)-1]
}

// during is the bench before one part of its scene; what it finds and lacks goes to the same verdict.
func (b *bench) during(when string, sit func(*bench)) {
	part := &bench{Scene: b.During(when), whole: b.whole, v: b.v, section: b.section, why: b.why}
	sit(part)
	b.v = part.v
	for _, l := range part.lacks {
		b.lacks = append(b.lacks, l+" ("+when+")")
	}
}

func (b *bench) message(role string) Message { return MessageOf(b.one(DidMessage, role)) }
func (b *bench) tool(role string) Tool       { return ToolOf(b.one(DidTool, role)) }

// toolEntries are the entries of the tool queue that come of the message.
func (b *bench) toolEntries(role string) []Entry { return b.own(DidToolQueue, role) }

// messageEntries are the entries of the message queue that come of the message.
func (b *bench) messageEntries(role string) []Entry { return b.own(DidMessageQueue, role) }

// own gives the entries that come of the message. A list that shows others too is another requirement's business.
func (b *bench) own(did Did, role string) []Entry {
	step := b.find(DidMessage, role)
	if step == nil {
		step = b.whole.find(DidMessage, role)
	}
	if step == nil {
		b.lacks = append(b.lacks, "message "+role)
		return nil
	}
	m := MessageOf(step.Exchanges[len(step.Exchanges)-1])
	id, run, trace := b.Names[role], m.RunID, m.TraceID
	return slices.DeleteFunc(EntriesOf(b.read(did, role)...), func(e Entry) bool {
		return e.MessageID != id && (run == "" || e.RunID != run) && (trace == "" || e.TraceID != trace)
	})
}

// entry gives the one entry of the tool queue that comes of the message, and holds that it is one.
func (b *bench) entry(role string) (Entry, bool) {
	entries := b.toolEntries(role)
	b.hold("one-entry", len(entries) == 1, fmt.Sprintf("the run of the message %q is not in the tool queue once", role), "one entry", told(entries))
	if len(entries) == 0 {
		return Entry{}, false
	}
	return entries[0], true
}

// invocations are the records of the message's run.
func (b *bench) invocations(role string) []Invocation {
	trace := b.message(role).TraceID
	return slices.DeleteFunc(InvocationsOf(b.read(DidInvocations, role)...), func(r Invocation) bool { return r.TraceID != trace })
}

// end is where a message must come to: a state (any of several), and so many entries of either queue.
type end struct {
	states          []string
	messages, tools int
}

// The ends of the routing table.
func completed() end    { return end{states: []string{Completed}} }
func toolFailed() end   { return end{states: []string{ToolFailed}, tools: 1} }
func deadLettered() end { return end{states: []string{DeadLettered}, messages: 1} }

// ends holds that the message came to its end, that the queue which gets it got it once, and that the other got nothing.
func (b *bench) ends(role string, want end) {
	m := b.message(role)
	got := m.Status
	if !m.Final() {
		got = fmt.Sprintf("%q after %s", m.Status, b.Patience.Duration())
	}
	b.hold("status", slices.Contains(want.states, m.Status), fmt.Sprintf("the message %q ended otherwise", role), strings.Join(want.states, " or "), got)
	b.queued("message-queue", "message queue", role, b.messageEntries(role), want.messages)
	b.queued("tool-queue", "tool queue", role, b.toolEntries(role), want.tools)
}

func (b *bench) queued(check, queue, role string, entries []Entry, want int) {
	says := fmt.Sprintf("the message %q has %d entries in the %s", role, len(entries), queue)
	if want == 0 {
		says = fmt.Sprintf("the %s got an entry of the message %q, which it must not get", queue, role)
	}
	b.hold(check, len(entries) == want, says, fmt.Sprintf("%d", want), told(entries))
}

// called holds how often a tool was called.
func (b *bench) called(role string, want int) {
	calls := b.tool(role).Calls
	b.hold("calls", len(calls) == want, fmt.Sprintf("the tool %q was called %d times", role, len(calls)), fmt.Sprintf("%d calls", want), calling(calls))
}

func told(entries []Entry) string {
	if len(entries) == 0 {
		return "no entry"
	}
	var lines []string
	for _, e := range entries {
		lines = append(lines, e.Raw)
	}
	return fmt.Sprintf("%d: %s", len(entries), strings.Join(lines, " "))
}

func calling(calls []Call) string {
	if len(calls) == 0 {
		return "no call"
	}
	var each []string
	for _, c := range calls {
		each = append(each, fmt.Sprintf("run %s step %s attempt %s: %s", c.RunID, c.Step, c.Attempt, c.Outcome))
	}
	return strings.Join(each, "; ")
}
