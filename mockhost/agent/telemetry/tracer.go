package telemetry

import (
	"maps"

	"github.com/wopwitness/wopwitness/mockhost/parts"
	"github.com/wopwitness/wopwitness/mockhost/store"
)

// Tracer implements parts.Tracer: another one keeps the spans, and what is durable is exported, redacted as what is shown.
type Tracer struct {
	parts.Tracer
	To    *Telemetry
	Parts *parts.Parts
}

// Record implements parts.Tracer.
func (t Tracer) Record(tx store.Tx, s parts.Span) error {
	tx.AfterCommit(func() {
		s.Attributes = maps.Clone(s.Attributes)
		for name, v := range s.Attributes {
			if text, ok := v.(string); ok {
				s.Attributes[name] = t.Parts.Agent.Redactor.Text(text)
			}
		}
		t.To.Span(s)
	})
	return t.Tracer.Record(tx, s)
}
