package metrics

import (
	"context"
	"time"

	"github.com/wopwitness/wopwitness/mockhost/agent/keep"
	"github.com/wopwitness/wopwitness/mockhost/agent/telemetry"
	"github.com/wopwitness/wopwitness/mockhost/parts"
	"github.com/wopwitness/wopwitness/mockhost/store"
)

// Standing is how the queues stand, as the store has it.
type Standing struct {
	Store     store.Store
	Now       func() time.Time
	Tenants   func() []string
	Threshold int // of the depth
}

// Gauges is that of all tenants, for OpenTelemetry.
func (s Standing) Gauges(ctx context.Context) ([]telemetry.Gauge, error) {
	from := s.Store.Reading(ctx)
	var out []telemetry.Gauge
	for _, tenant := range s.Tenants() {
		g, err := s.of(from, tenant)
		if err != nil {
			return nil, err
		}
		out = append(out, g)
	}
	return out, nil
}

func (s Standing) of(from store.RecordReader, tenant string) (telemetry.Gauge, error) {
	g := telemetry.Gauge{Tenant: tenant, Threshold: s.Threshold}
	for _, queue := range []string{parts.MessageQueue, parts.ToolQueue} {
		t, err := keep.Entries(queue).Count(from, tenant, store.RecordQuery{States: []string{parts.Unresolved}})
		if err != nil {
			return g, err
		}
		q := telemetry.QueueGauge{Queue: queue, Depth: t.Count}
		if t.Count > 0 {
			q.OldestAge = max(0, s.Now().Sub(t.Oldest))
		}
		g.Queues = append(g.Queues, q)
	}
	replays, _, err := keep.Counters.Get(from, tenant, keep.CounterID(telemetry.ReplaySuccessRate, "", ""))
	g.Replayed, g.Succeeded = replays.Count, replays.Well
	return g, err
}
