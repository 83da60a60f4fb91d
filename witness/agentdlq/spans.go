package agentdlq

import (
	"fmt"
	"strings"

	"github.com/wopwitness/wopwitness/witness"
	"github.com/wopwitness/wopwitness/witness/observe"
)

// Span is one span of a trace.
type Span struct {
	Name, TraceID, ID string
	Links             []string // trace and span, with a slash between
	attributes        value
	raw               string
}

// SpansOf reads GET /traces/{traceId}.
func SpansOf(x observe.Exchange) []Span {
	var all []Span
	for _, s := range bodyOf(x, 200).get("spans").items() {
		span := Span{Name: s.get("name").text(), TraceID: s.get("traceId").text(), ID: s.get("spanId").text(), attributes: s.get("attributes"), raw: s.raw()}
		for _, l := range s.get("links").items() {
			span.Links = append(span.Links, l.get("traceId").text()+"/"+l.get("spanId").text())
		}
		all = append(all, span)
	}
	return all
}

// Named gives the spans of that name.
func Named(spans []Span, name string) []Span {
	var some []Span
	for _, s := range spans {
		if s.Name == name {
			some = append(some, s)
		}
	}
	return some
}

// linksTo says whether the span links to one of the others.
func (s Span) linksTo(others []Span) bool {
	for _, o := range others {
		for _, l := range s.Links {
			if o.ID != "" && l == o.TraceID+"/"+o.ID {
				return true
			}
		}
	}
	return false
}

func spanned(spans []Span) string {
	if len(spans) == 0 {
		return "no span"
	}
	var each []string
	for _, s := range spans {
		each = append(each, s.raw)
	}
	return strings.Join(each, " ")
}

func (b *bench) spans(role string) []Span { return SpansOf(b.one(DidTrace, role)) }

const whySpans = "the life of a failed call ends in the trace where it fails, and what was done about it is elsewhere"

// JudgeEnqueueSpan judges agentdlq.observe.enqueue-span: the entry is in the trace of its message, linked to the call
// that failed, and says what it is.
func JudgeEnqueueSpan(s Scene) witness.Verdict {
	return judge(s, telemetry, whySpans, func(b *bench) {
		e, is := b.fell("message")
		if !is {
			return
		}
		spans := b.spans("message")
		enqueues := Named(spans, "dlq.enqueue")
		b.hold("span", len(enqueues) == 1, "the trace doesn't have the entry's span once", "one span dlq.enqueue", fmt.Sprintf("%d spans, %d of them", len(spans), len(enqueues)))
		if len(enqueues) == 0 {
			return
		}
		enqueue, calls := enqueues[0], Named(spans, "tool.call")
		b.hold("calls", len(calls) == 2, "the trace doesn't have a span for each attempt", "2 spans tool.call", fmt.Sprint(len(calls)))
		b.hold("linked", enqueue.linksTo(calls), "the entry's span doesn't link to the call that failed", "a link to a span tool.call", enqueue.raw)
		b.hold("invocation", enqueue.attributes.get("dlq.invocation_id").text() == e.InvocationID, "the span names another invocation than the entry", e.InvocationID, enqueue.attributes.raw())
		b.hold("tool", enqueue.attributes.get("dlq.tool_name").text() == b.Names["tool"], "the span names another tool", b.Names["tool"], enqueue.attributes.raw())
		b.hold("reason", enqueue.attributes.get("dlq.failure_reason").text() != "", "the span doesn't say why", "a failure reason", enqueue.attributes.raw())
		b.hold("attempts", enqueue.attributes.get("dlq.attempt_count").count() == 2, "the span counts the attempts wrongly", "2", enqueue.attributes.raw())
	})
}

// JudgeRecoveryLinked judges agentdlq.observe.recovery-linked: each attempt to recover links to the entry's span, and one
// view shows all.
func JudgeRecoveryLinked(s Scene) witness.Verdict {
	return judge(s, telemetry, whySpans, func(b *bench) {
		spans := b.spans("message")
		enqueues, recoveries := Named(spans, "dlq.enqueue"), Named(spans, "dlq.recover")
		b.hold("each-attempt", len(recoveries) == 2, "the trace doesn't have a span for each replay", "2 spans dlq.recover", fmt.Sprintf("%d: %s", len(recoveries), spanned(recoveries)))
		for _, r := range recoveries {
			b.hold("linked", r.linksTo(enqueues), "a replay's span doesn't link to the entry's", "a link to the span dlq.enqueue", r.raw)
		}
	})
}
