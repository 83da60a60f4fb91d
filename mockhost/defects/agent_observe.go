package defects

import (
	"context"
	"sync"
	"time"

	"github.com/wopwitness/wopwitness/mockhost/parts"
	"github.com/wopwitness/wopwitness/mockhost/store"
)

// The metrics that the defects lie about, as the page names them.
const (
	metricEnqueued   = "dlq.enqueue.rate"
	metricDepth      = "dlq.depth"
	metricResolution = "dlq.time.to.resolution"
)

// agentMetrics count wrongly what is in the queues and what becomes of it.
func agentMetrics() []Defect {
	return []Defect{
		agentDefect("metric-unmoved", "has a metric of what is enqueued, and never moves it", func(a *parts.Agent) {
			showsNumbers(a, func(_ context.Context, _ parts.Principal, all members) error {
				all[metricEnqueued] = []any{}
				return nil
			})
		}, "observe.enqueue-rate"),
		agentDefect("rate-by-tool-alone", "counts every entry of a tool under one category", func(a *parts.Agent) {
			right := a.Metrics
			a.Metrics = numbers{AgentMetrics: right, changed: func(tx store.Tx, before, after parts.Entry) error {
				if after.Category != "" {
					after.Category = parts.Transient
				}
				return right.Changed(tx, before, after)
			}}
		}, "observe.enqueue-rate"),
		agentDefectWith("depth-counts-resolved", "counts entries in the depth that are resolved", func() func(*parts.Parts) {
			var mu sync.Mutex
			ended := map[string]int{}
			return func(p *parts.Parts) {
				right := p.Agent.Metrics
				p.Agent.Metrics = numbers{AgentMetrics: right, changed: func(tx store.Tx, before, after parts.Entry) error {
					if before.Resolution == parts.Unresolved && after.Resolution != parts.Unresolved {
						tx.AfterCommit(func() {
							mu.Lock()
							defer mu.Unlock()
							ended[after.Tenant]++
						})
					}
					return right.Changed(tx, before, after)
				}, read: func(_ context.Context, who parts.Principal, all members) error {
					mu.Lock()
					defer mu.Unlock()
					moveDepth(all, ended[who.Tenant])
					return nil
				}}
			}
		}, "observe.depth", "drain.depth-moves"),
		agentDefect("depth-of-one-queue", "leaves the message queue out of the depth", func(a *parts.Agent) {
			right := a.Queues
			showsNumbers(a, func(ctx context.Context, p parts.Principal, all members) error {
				_, d, err := right.List(ctx, p, parts.EntryQuery{Queue: parts.MessageQueue, Limit: 1})
				moveDepth(all, -d.Depth)
				return err
			})
		}, "observe.depth"),
		agentDefect("alert-always", "raises the alert at the first entry", func(a *parts.Agent) {
			showsNumbers(a, func(_ context.Context, _ parts.Principal, all members) error {
				if d, ok := all[metricDepth].(members); ok {
					d["alert"] = d["value"] != 0
				}
				return nil
			})
		}, "observe.depth"),
		agentDefect("failures-uncounted", "counts only the replays that succeeded", func(a *parts.Agent) {
			right := a.Metrics
			a.Metrics = numbers{AgentMetrics: right, replayed: func(tx store.Tx, e parts.Entry, succeeded bool, now time.Time) error {
				if !succeeded {
					return nil
				}
				return right.Replayed(tx, e, succeeded, now)
			}}
		}, "observe.replay-success-rate"),
		agentDefect("resolutions-uncounted", "takes no time to resolution from entries that a person resolved", func(a *parts.Agent) {
			right := a.Metrics
			a.Metrics = numbers{AgentMetrics: right, changed: func(tx store.Tx, before, after parts.Entry) error {
				if after.Resolution == parts.Resolved {
					before.Resolution = after.Resolution
				}
				return right.Changed(tx, before, after)
			}}
		}, "observe.time-to-resolution"),
		agentDefect("quantiles-absent", "tells how many entries were resolved, and never how fast", func(a *parts.Agent) {
			showsNumbers(a, func(_ context.Context, _ parts.Principal, all members) error {
				if d, ok := all[metricResolution].(members); ok {
					d["p50"], d["p95"], d["p99"] = nil, nil, nil
				}
				return nil
			})
		}, "observe.time-to-resolution"),
		agentDefect("unsure-uncounted", "leaves the proposals that went to review out of the confidences", func(a *parts.Agent) {
			right, threshold := a.Metrics, a.Numbers.RepairThreshold
			a.Metrics = numbers{AgentMetrics: right, proposed: func(tx store.Tx, e parts.Entry, p parts.Proposal) error {
				if p.Confidence < threshold {
					return nil
				}
				return right.Proposed(tx, e, p)
			}}
		}, "observe.repair-confidence"),
	}
}

func moveDepth(all members, by int) {
	d, ok := all[metricDepth].(members)
	if !ok {
		return
	}
	if value, ok := d["value"].(int); ok {
		d["value"] = value + by
	}
}

// agentTraces lose the thread of an entry's life.
func agentTraces() []Defect {
	return []Defect{
		agentDefect("enqueue-unlinked", "begins an entry's span without a link to the call that failed", func(a *parts.Agent) {
			records(a, func(s *parts.Span) {
				if s.Name == parts.SpanEnqueue {
					s.Links = nil
				}
			})
		}, "observe.enqueue-span"),
		agentDefect("enqueue-span-bare", "records an entry's span without saying of which call it is", func(a *parts.Agent) {
			records(a, func(s *parts.Span) {
				if s.Name == parts.SpanEnqueue {
					s.Attributes = nil
				}
			})
		}, "observe.enqueue-span"),
		agentDefect("recovery-unlinked", "records a replay without a link to the entry that it replays", func(a *parts.Agent) {
			records(a, func(s *parts.Span) {
				if s.Name == parts.SpanRecover {
					s.Links = nil
				}
			})
		}, "observe.recovery-linked"),
		agentDefect("recovery-unrecorded", "records no replay that failed", func(a *parts.Agent) {
			records(a, func(s *parts.Span) {
				if s.Name == parts.SpanRecover && s.Attributes["dlq.outcome"] != parts.ReplaySucceeded {
					s.Name, s.Links = "dlq.internal", nil
				}
			})
		}, "observe.recovery-linked"),
	}
}
