package agent

import (
	"context"
	"slices"
	"strings"

	"github.com/wopwitness/wopwitness/mockhost/agent/keep"
	"github.com/wopwitness/wopwitness/mockhost/parts"
	"github.com/wopwitness/wopwitness/mockhost/store"
)

// Tracer implements parts.Tracer on the store.
type Tracer struct{ Store store.Store }

var _ parts.Tracer = Tracer{}

// Record implements parts.Tracer.
func (Tracer) Record(tx store.Tx, s parts.Span) error {
	_, err := keep.Spans.Insert(tx, &s)
	return err
}

// Trace implements parts.Tracer. Every span of a recovery is of the trace whose failure it
// recovers, so what is linked is followed from here.
func (t Tracer) Trace(ctx context.Context, p parts.Principal, traceID string) ([]parts.Span, error) {
	from := t.Store.Reading(ctx)
	out, err := keep.Spans.List(from, p.Tenant, store.RecordQuery{Trace: traceID})
	if err != nil || len(out) == 0 {
		return nil, err
	}
	seen := map[string]bool{traceID: true}
	for i := 0; i < len(out); i++ {
		for _, l := range out[i].Links {
			if seen[l.TraceID] {
				continue
			}
			seen[l.TraceID] = true
			linked, err := keep.Spans.List(from, p.Tenant, store.RecordQuery{Trace: l.TraceID})
			if err != nil {
				return nil, err
			}
			out = append(out, linked...)
		}
	}
	slices.SortStableFunc(out, func(a, b parts.Span) int {
		if by := a.Start.Compare(b.Start); by != 0 {
			return by
		}
		return strings.Compare(a.TraceID, b.TraceID)
	})
	return out, nil
}
