// Package metrics counts what comes into the queues and what becomes of it, in the transactions of what it counts, so that
// a number is never ahead of the store or behind it.
//
// It counts for the seam, and tells OpenTelemetry once what it counted is durable. Start at Metrics.
package metrics

import (
	"cmp"
	"context"
	"math"
	"slices"
	"strings"
	"time"

	"github.com/wopwitness/wopwitness/mockhost/agent/keep"
	"github.com/wopwitness/wopwitness/mockhost/agent/telemetry"
	"github.com/wopwitness/wopwitness/mockhost/parts"
	"github.com/wopwitness/wopwitness/mockhost/store"
)

// latest is how many of the latest resolutions the quantiles are of.
const latest = 512

// bounds are those of the confidence's buckets.
func bounds() []float64 { return []float64{0.5, 0.85, 0.95, 1} }

// Metrics implements parts.AgentMetrics on the store.
type Metrics struct {
	Store store.Store
	Parts *parts.Parts
	// Telemetry is told too; nil for none.
	Telemetry *telemetry.Telemetry
}

var _ parts.AgentMetrics = Metrics{}

// count changes a counter.
func count(tx store.Tx, c keep.Counter, f func(c *keep.Counter)) error {
	kept, ok, err := keep.Counters.Get(tx, c.Tenant, keep.CounterID(c.Name, c.Tool, c.Of))
	if err != nil {
		return err
	}
	if ok {
		c = kept
	}
	f(&c)
	return keep.Counters.Put(tx, c)
}

// tell tells OpenTelemetry once the transaction is durable.
func (m Metrics) tell(tx store.Tx, f func(t *telemetry.Telemetry)) {
	if m.Telemetry != nil {
		tx.AfterCommit(func() { f(m.Telemetry) })
	}
}

// Enqueued implements parts.AgentMetrics. An entry of the tool queue is counted once its category is known: appending is on
// the way of every failure, and has to be quick.
func (m Metrics) Enqueued(tx store.Tx, e parts.Entry) error {
	if e.Queue == parts.MessageQueue {
		m.tell(tx, func(t *telemetry.Telemetry) { t.Enqueued(e) })
	}
	return nil
}

// Changed implements parts.AgentMetrics.
func (m Metrics) Changed(tx store.Tx, before, after parts.Entry) error {
	ended := before.Resolution == parts.Unresolved && after.Resolution != parts.Unresolved
	if after.Queue == parts.ToolQueue && before.Category == "" && (after.Category != "" || ended) {
		category := after.Category
		if category == "" {
			category = parts.Unclassified // and never will be
		}
		c := keep.Counter{Tenant: after.Tenant, Name: telemetry.EnqueueRate, Tool: after.Tool, Of: category}
		if err := count(tx, c, func(c *keep.Counter) { c.Count++ }); err != nil {
			return err
		}
		m.tell(tx, func(t *telemetry.Telemetry) { t.Enqueued(after) })
	}
	if !ended || after.Resolution == parts.Discarded {
		return nil
	}
	m.tell(tx, func(t *telemetry.Telemetry) { t.Resolved(after) })
	took := after.Ended.Sub(after.FirstSeen).Seconds()
	return count(tx, keep.Counter{Tenant: after.Tenant, Name: telemetry.TimeToResolution}, func(c *keep.Counter) {
		if len(c.Latest) < latest {
			c.Latest = append(c.Latest, took)
		} else {
			c.Latest[c.Count%latest] = took
		}
		c.Count++
	})
}

// Replayed implements parts.AgentMetrics.
func (m Metrics) Replayed(tx store.Tx, e parts.Entry, succeeded bool, _ time.Time) error {
	m.tell(tx, func(t *telemetry.Telemetry) { t.Replayed(e, succeeded) })
	return count(tx, keep.Counter{Tenant: e.Tenant, Name: telemetry.ReplaySuccessRate}, func(c *keep.Counter) {
		c.Count++
		if succeeded {
			c.Well++
		}
	})
}

// Proposed implements parts.AgentMetrics.
func (m Metrics) Proposed(tx store.Tx, e parts.Entry, p parts.Proposal) error {
	m.tell(tx, func(t *telemetry.Telemetry) { t.Proposed(e, p) })
	return count(tx, keep.Counter{Tenant: e.Tenant, Name: telemetry.RepairConfidence}, func(c *keep.Counter) {
		c.Count++
		c.Sum += p.Confidence
		if c.Below == nil {
			c.Below = make([]int, len(bounds()))
		}
		for i, le := range bounds() {
			if p.Confidence <= le {
				c.Below[i]++
			}
		}
	})
}

// Read implements parts.AgentMetrics.
func (m Metrics) Read(ctx context.Context, p parts.Principal) (map[string]any, error) {
	from := m.Store.Reading(ctx)
	rates, err := m.enqueued(from, p.Tenant)
	if err != nil {
		return nil, err
	}
	g, err := m.standing().of(from, p.Tenant)
	if err != nil {
		return nil, err
	}
	took, _, err := keep.Counters.Get(from, p.Tenant, keep.CounterID(telemetry.TimeToResolution, "", ""))
	if err != nil {
		return nil, err
	}
	sure, _, err := keep.Counters.Get(from, p.Tenant, keep.CounterID(telemetry.RepairConfidence, "", ""))
	if err != nil {
		return nil, err
	}
	depth := 0
	for _, q := range g.Queues {
		depth += q.Depth
	}
	return map[string]any{
		telemetry.EnqueueRate:       rates,
		telemetry.Depth:             map[string]any{"value": depth, "threshold": g.Threshold, "alert": depth > g.Threshold},
		telemetry.ReplaySuccessRate: map[string]any{"replayed": g.Replayed, "succeeded": g.Succeeded, "rate": part(float64(g.Succeeded), g.Replayed)},
		telemetry.TimeToResolution: map[string]any{
			"count": took.Count, "p50": quantile(took.Latest, 0.5), "p95": quantile(took.Latest, 0.95), "p99": quantile(took.Latest, 0.99),
		},
		telemetry.RepairConfidence: map[string]any{"count": sure.Count, "mean": part(sure.Sum, sure.Count), "buckets": buckets(sure)},
	}, nil
}

func (m Metrics) standing() Standing {
	return Standing{
		Store: m.Store, Now: m.Parts.Clock.Now, Tenants: m.Parts.Directory.Tenants, Threshold: m.Parts.Agent.Numbers.DepthAlert,
	}
}

// enqueued are the entries by tool and category, since the first and in the last minute.
func (m Metrics) enqueued(from store.RecordReader, tenant string) ([]any, error) {
	all, err := keep.Counters.List(from, tenant, store.RecordQuery{States: []string{telemetry.EnqueueRate}})
	if err != nil {
		return nil, err
	}
	slices.SortFunc(all, func(a, b keep.Counter) int {
		return cmp.Or(strings.Compare(a.Tool, b.Tool), strings.Compare(a.Of, b.Of))
	})
	minute := keep.Instant(m.Parts.Clock.Now()).Add(-time.Minute)
	out := make([]any, 0, len(all))
	for _, c := range all {
		fits := store.RecordQuery{Tool: c.Tool, Category: c.Of}
		total, err := keep.ToolEntries.Count(from, tenant, fits)
		if err != nil {
			return nil, err
		}
		fits.Before = minute
		older, err := keep.ToolEntries.Count(from, tenant, fits)
		if err != nil {
			return nil, err
		}
		out = append(out, map[string]any{
			"tool": c.Tool, "category": c.Of, "count": c.Count, "perMinute": float64(total.Count - older.Count),
		})
	}
	return out, nil
}

// part is null of nothing.
func part(of float64, all int) any {
	if all == 0 {
		return nil
	}
	return of / float64(all)
}

// quantile is by the nearest rank: a value that was there. It is null of nothing.
func quantile(values []float64, q float64) any {
	if len(values) == 0 {
		return nil
	}
	sorted := slices.Sorted(slices.Values(values))
	return sorted[max(0, int(math.Ceil(q*float64(len(sorted))))-1)]
}

func buckets(c keep.Counter) []any {
	var out []any
	for i, le := range bounds() {
		n := 0
		if i < len(c.Below) {
			n = c.Below[i]
		}
		out = append(out, map[string]any{"le": le, "count": n})
	}
	return out
}
