package telemetry

import (
	"context"
	"crypto/rand"
	"fmt"
	"slices"

	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/codes"
	"go.opentelemetry.io/otel/trace"

	"github.com/wopwitness/wopwitness/mockhost/parts"
)

// Span exports a span that is over, under the IDs that it has in the store. Without a collector it does nothing; a span
// whose IDs are none is not exported.
func (t *Telemetry) Span(s parts.Span) {
	if t.traces == nil {
		return
	}
	own, err := spanContext(s.TraceID, s.SpanID)
	if err != nil {
		return
	}
	ctx := context.WithValue(context.Background(), keptKey{}, own)
	if parent, err := spanContext(s.TraceID, s.Parent); err == nil {
		ctx = trace.ContextWithRemoteSpanContext(ctx, parent)
	}
	options := []trace.SpanStartOption{trace.WithTimestamp(s.Start), trace.WithSpanKind(kindOf(s.Name)), trace.WithAttributes(attributes(s)...)}
	for _, l := range s.Links {
		if to, err := spanContext(l.TraceID, l.SpanID); err == nil {
			options = append(options, trace.WithLinks(trace.Link{SpanContext: to}))
		}
	}
	_, span := t.tracer.Start(ctx, s.Name, options...)
	if reason, failed := s.Attributes["error.type"].(string); failed {
		span.SetStatus(codes.Error, reason)
	}
	span.End(trace.WithTimestamp(s.End))
}

func kindOf(name string) trace.SpanKind {
	switch name {
	case parts.SpanMessage:
		return trace.SpanKindConsumer
	case parts.SpanToolCall:
		return trace.SpanKindClient
	}
	return trace.SpanKindInternal
}

func attributes(s parts.Span) []attribute.KeyValue {
	out := []attribute.KeyValue{attribute.String(tenantLabel, s.Tenant)}
	for name, v := range s.Attributes {
		switch v := v.(type) {
		case string:
			out = append(out, attribute.String(name, v))
		case bool:
			out = append(out, attribute.Bool(name, v))
		case int:
			out = append(out, attribute.Int(name, v))
		case int64:
			out = append(out, attribute.Int64(name, v))
		case float64:
			if v == float64(int64(v)) { // a count that went through JSON
				out = append(out, attribute.Int64(name, int64(v)))
			} else {
				out = append(out, attribute.Float64(name, v))
			}
		default:
			out = append(out, attribute.String(name, fmt.Sprint(v)))
		}
	}
	slices.SortFunc(out, func(a, b attribute.KeyValue) int {
		if a.Key < b.Key {
			return -1
		}
		return 1
	})
	return out
}

func spanContext(traceID, spanID string) (trace.SpanContext, error) {
	t, err := trace.TraceIDFromHex(traceID)
	if err != nil {
		return trace.SpanContext{}, err
	}
	s, err := trace.SpanIDFromHex(spanID)
	if err != nil {
		return trace.SpanContext{}, err
	}
	return trace.NewSpanContext(trace.SpanContextConfig{TraceID: t, SpanID: s, TraceFlags: trace.FlagsSampled}), nil
}

// keptKey is where a context holds the IDs of the span to be started.
type keptKey struct{}

// keptIDs gives a span the IDs that it was kept under.
type keptIDs struct{}

// NewIDs is for a span without a parent.
func (keptIDs) NewIDs(ctx context.Context) (trace.TraceID, trace.SpanID) {
	if kept, ok := ctx.Value(keptKey{}).(trace.SpanContext); ok {
		return kept.TraceID(), kept.SpanID()
	}
	var t trace.TraceID
	var s trace.SpanID
	_, _ = rand.Read(t[:]) // never fails, says its package
	_, _ = rand.Read(s[:])
	return t, s
}

// NewSpanID is for a span with a parent.
func (k keptIDs) NewSpanID(ctx context.Context, _ trace.TraceID) trace.SpanID {
	_, s := k.NewIDs(ctx)
	return s
}
