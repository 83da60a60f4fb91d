package telemetry

import (
	"context"
	"time"

	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/metric"

	"github.com/wopwitness/wopwitness/mockhost/parts"
)

// The metrics' names. Those of the first group are the agent dead-letter page's, the others what an alert needs besides.
const (
	EnqueueRate       = "dlq.enqueue.rate"
	Depth             = "dlq.depth"
	ReplaySuccessRate = "dlq.replay.success.rate"
	TimeToResolution  = "dlq.time.to.resolution"
	RepairConfidence  = "dlq.semantic.repair.confidence"

	DepthThreshold = "dlq.depth.threshold"
	OldestAge      = "dlq.oldest.age"
	Replays        = "dlq.replays"
)

// tenantLabel tells the tenants apart, in OpenTelemetry and in Prometheus.
const tenantLabel = "tenant"

// Gauge is how a tenant's queues stand, as the store has it.
type Gauge struct {
	Tenant    string
	Queues    []QueueGauge
	Threshold int // of the depth, above which there is an alert
	// Replayed and Succeeded count replays since the tenant's first.
	Replayed, Succeeded int
}

// QueueGauge is one queue of a tenant. OldestAge is 0 for an empty one.
type QueueGauge struct {
	Queue     string
	Depth     int // unresolved entries
	OldestAge time.Duration
}

// instruments are what is counted here. Counters begin at 0 with the process, as both protocols expect.
type instruments struct {
	enqueued   metric.Int64Counter
	replays    metric.Int64Counter
	resolution metric.Float64Histogram
	confidence metric.Float64Histogram
}

func newInstruments(m metric.Meter, gauges func(context.Context) []Gauge) (i instruments, err error) {
	if i.enqueued, err = m.Int64Counter(EnqueueRate, metric.WithUnit("{entry}"),
		metric.WithDescription("Entries that came into a queue, by queue, tool and category; its rate is the enqueue rate.")); err != nil {
		return i, err
	}
	if i.replays, err = m.Int64Counter(Replays, metric.WithUnit("{replay}"),
		metric.WithDescription("Replays that ended, by tool and outcome.")); err != nil {
		return i, err
	}
	if i.resolution, err = m.Float64Histogram(TimeToResolution, metric.WithUnit("s"),
		metric.WithDescription("Domain time from an entry's first failure to its resolution, by tool.")); err != nil {
		return i, err
	}
	if i.confidence, err = m.Float64Histogram(RepairConfidence, metric.WithUnit("1"),
		metric.WithDescription("Confidence of the repairs that were proposed, by tool.")); err != nil {
		return i, err
	}
	return i, observe(m, gauges)
}

// observe registers the gauges, which are read together.
func observe(m metric.Meter, gauges func(context.Context) []Gauge) error {
	depth, err := m.Int64ObservableGauge(Depth, metric.WithUnit("{entry}"), metric.WithDescription("Unresolved entries, by queue."))
	if err != nil {
		return err
	}
	threshold, err := m.Int64ObservableGauge(DepthThreshold, metric.WithUnit("{entry}"),
		metric.WithDescription("Depth of both queues together above which someone should look."))
	if err != nil {
		return err
	}
	age, err := m.Float64ObservableGauge(OldestAge, metric.WithUnit("s"),
		metric.WithDescription("Domain time since the oldest unresolved entry's first failure, by queue; 0 for an empty queue."))
	if err != nil {
		return err
	}
	rate, err := m.Float64ObservableGauge(ReplaySuccessRate, metric.WithUnit("1"),
		metric.WithDescription("Part of all replays that succeeded; absent before the first."))
	if err != nil {
		return err
	}
	if gauges == nil {
		return nil
	}
	_, err = m.RegisterCallback(func(ctx context.Context, o metric.Observer) error {
		for _, g := range gauges(ctx) {
			tenant := attribute.String(tenantLabel, g.Tenant)
			for _, q := range g.Queues {
				of := metric.WithAttributes(tenant, attribute.String("queue", q.Queue))
				o.ObserveInt64(depth, int64(q.Depth), of)
				o.ObserveFloat64(age, q.OldestAge.Seconds(), of)
			}
			o.ObserveInt64(threshold, int64(g.Threshold), metric.WithAttributes(tenant))
			if g.Replayed > 0 {
				o.ObserveFloat64(rate, float64(g.Succeeded)/float64(g.Replayed), metric.WithAttributes(tenant))
			}
		}
		return nil
	}, depth, threshold, age, rate)
	return err
}

// Enqueued counts an entry. Its category must be known, or Unclassified by then.
func (t *Telemetry) Enqueued(e parts.Entry) {
	category := e.Category
	if category == "" {
		category = parts.Unclassified
	}
	t.enqueued.Add(context.Background(), 1, metric.WithAttributes(attribute.String(tenantLabel, e.Tenant),
		attribute.String("queue", e.Queue), attribute.String("tool", e.Tool), attribute.String("category", category)))
}

// Replayed counts the end of a replay.
func (t *Telemetry) Replayed(e parts.Entry, succeeded bool) {
	outcome := "failed"
	if succeeded {
		outcome = "succeeded"
	}
	t.replays.Add(context.Background(), 1, metric.WithAttributes(attribute.String(tenantLabel, e.Tenant),
		attribute.String("tool", e.Tool), attribute.String("outcome", outcome)))
}

// Resolved takes in how long an entry was unresolved.
func (t *Telemetry) Resolved(e parts.Entry) {
	t.resolution.Record(context.Background(), e.Ended.Sub(e.FirstSeen).Seconds(), metric.WithAttributes(
		attribute.String(tenantLabel, e.Tenant), attribute.String("tool", e.Tool)))
}

// Proposed takes in how sure a repairer was.
func (t *Telemetry) Proposed(e parts.Entry, p parts.Proposal) {
	t.confidence.Record(context.Background(), p.Confidence, metric.WithAttributes(
		attribute.String(tenantLabel, e.Tenant), attribute.String("tool", e.Tool)))
}
