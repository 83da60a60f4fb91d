package agentdlq

import (
	"fmt"
	"math"

	"github.com/wopwitness/wopwitness/scenarios/registry"
	"github.com/wopwitness/wopwitness/witness"
	"github.com/wopwitness/wopwitness/witness/observe"
)

const telemetry = "Metrics and traces"

func observeJudges() map[registry.LegID]witness.Judge {
	return map[registry.LegID]witness.Judge{
		"agentdlq.observe.enqueue-rate":        witness.Of(JudgeEnqueueRate),
		"agentdlq.observe.depth":               witness.Of(JudgeDepth),
		"agentdlq.observe.replay-success-rate": witness.Of(JudgeReplaySuccess),
		"agentdlq.observe.time-to-resolution":  witness.Of(JudgeTimeToResolution),
		"agentdlq.observe.repair-confidence":   witness.Of(JudgeRepairConfidence),
		"agentdlq.observe.enqueue-span":        witness.Of(JudgeEnqueueSpan),
		"agentdlq.observe.recovery-linked":     witness.Of(JudgeRecoveryLinked),
	}
}

// Metrics are the five of the queue as GET /metrics tells them.
type Metrics struct {
	value
}

// MetricsOf reads them.
func MetricsOf(x observe.Exchange) Metrics { return Metrics{bodyOf(x, 200)} }

// Enqueued is how many entries of a tool were made, of one category or, where it is "", of all; and their rate.
func (m Metrics) Enqueued(tool, category string) (count Count, perMinute float64) {
	for _, row := range m.get("dlq.enqueue.rate").items() {
		if row.get("tool").text() == tool && (category == "" || row.get("category").text() == category) {
			count += max(row.get("count").count(), 0)
			rate, _ := row.get("perMinute").number()
			perMinute += rate
		}
	}
	return count, perMinute
}

// Depth is how many entries are unresolved.
func (m Metrics) Depth() Count { return m.get("dlq.depth").get("value").count() }

// Replays is how many replays were made, and how many of them succeeded.
func (m Metrics) Replays() (replayed, succeeded Count) {
	r := m.get("dlq.replay.success.rate")
	return r.get("replayed").count(), r.get("succeeded").count()
}

// Resolutions is how many entries the time to resolution speaks of.
func (m Metrics) Resolutions() Count { return m.get("dlq.time.to.resolution").get("count").count() }

// Repairs is how many proposals the repair confidence speaks of.
func (m Metrics) Repairs() Count { return m.get("dlq.semantic.repair.confidence").get("count").count() }

// metrics reads them as they were in one part of the scene.
func (b *bench) metrics(when string) Metrics {
	part := b.During(when)
	x := part.Last(DidMetrics, "")
	if x.Status() != 200 {
		b.lacks = append(b.lacks, fmt.Sprintf("the metrics (%s): %s", when, brief(x)))
	}
	return MetricsOf(x)
}

// JudgeEnqueueRate judges agentdlq.observe.enqueue-rate: what was enqueued, by tool and category.
func JudgeEnqueueRate(s Scene) witness.Verdict {
	return judge(s, telemetry, "the first signal of a tool that fails for everyone doesn't come, or names another", func(b *bench) {
		m := b.metrics("after")
		for _, c := range []struct {
			tool, category string
			want           Count
		}{
			{"failing tool", "SCHEMA_VALIDATION_FAILURE", 2},
			{"failing tool", "", 2},
			{"other tool", "TRANSIENT_INFRASTRUCTURE", 1},
			{"other tool", "", 1},
		} {
			count, perMinute := m.Enqueued(b.Names[c.tool], c.category)
			check, of := "by-category", c.category
			if c.category == "" {
				check, of = "by-tool", "any category"
			}
			b.hold(check, count == c.want, fmt.Sprintf("the entries of the %s of %s are counted wrongly", c.tool, of), c.want.String(), count.String())
			b.hold("per-minute", perMinute > 0, fmt.Sprintf("the rate of the %s shows nothing of what was enqueued just now", c.tool), "more than 0", fmt.Sprint(perMinute))
		}
	})
}

// JudgeDepth judges agentdlq.observe.depth: the unresolved entries of both queues, and no others, against the threshold.
// A reading counts only where the queues tell the same before and after it: something else may be at work.
func JudgeDepth(s Scene) witness.Verdict {
	return judge(s, telemetry, "nobody is woken when failed work piles up, or everyone is when it doesn't", func(b *bench) {
		for _, c := range []struct {
			when string
			own  Count
		}{{"three unresolved", 3}, {"one unresolved", 1}} {
			b.during(c.when, func(b *bench) {
				own, _, _ := Depth(b.one(DidQuery, "failing tool"))
				b.hold("of-a-tool", own == c.own, "the unresolved entries of a tool are counted wrongly", c.own.String(), own.String())
				before, after := b.depths("before"), b.depths("after")
				m := MetricsOf(b.one(DidMetrics, ""))
				if before != after {
					b.v.Undecide(registry.UnexpectedAnswer, "the depth of the queues changed from %s to %s while the metrics were read", before, after)
					return
				}
				messages, _, _ := Depth(b.one(DidAsk, "message queue before"))
				b.hold("message-queue", messages >= 1, "the message queue counts nothing, with a malformed message in it", "at least 1", messages.String())
				b.hold("value", m.Depth() == before, "the metric is not the number of unresolved entries of both queues", before.String(), m.Depth().String())
				threshold, alert := m.get("dlq.depth").get("threshold").count(), m.get("dlq.depth").get("alert").raw()
				b.hold("threshold", threshold == Count(b.Numbers.DepthAlertThreshold), "the alert's threshold is not the one that discovery names",
					fmt.Sprint(b.Numbers.DepthAlertThreshold), threshold.String())
				if m.Depth() != threshold { // the page doesn't say what holds at just the threshold
					want := fmt.Sprint(m.Depth() > threshold)
					b.hold("alert", alert == want, "the alert is not what value and threshold make it", want, alert)
				}
			})
		}
	})
}

// depths is what the two queues count unresolved, asked in turn.
func (b *bench) depths(when string) Count {
	tools, _, _ := Depth(b.one(DidAsk, "tool queue "+when))
	messages, _, _ := Depth(b.one(DidAsk, "message queue "+when))
	if tools == unknown || messages == unknown {
		b.lacks = append(b.lacks, "the depths of both queues "+when)
		return unknown
	}
	return tools + messages
}

// JudgeReplaySuccess judges agentdlq.observe.replay-success-rate: replays that fail are counted as well as those that
// succeed. Others may be made meanwhile, so the leg's own are the least that must be there.
func JudgeReplaySuccess(s Scene) witness.Verdict {
	return judge(s, telemetry, "replays that go on failing look as if the cause were mended", func(b *bench) {
		before, after := b.metrics("before"), b.metrics("after")
		replayed, succeeded := before.Replays()
		replayedThen, succeededThen := after.Replays()
		replayed, succeeded = replayedThen-replayed, succeededThen-succeeded
		told := fmt.Sprintf("%d replayed, %d succeeded", replayed, succeeded)
		b.hold("successes", succeeded >= 1, "a replay that succeeded is not counted", "one more succeeded", told)
		b.hold("failures", replayed-succeeded >= 1, "a replay that failed is not counted as one", "one more replayed that did not succeed", told)
		rate, is := after.get("dlq.replay.success.rate").get("rate").number()
		want := float64(succeededThen) / float64(max(replayedThen, 1))
		b.hold("rate", is && math.Abs(rate-want) < 0.01, "the rate is not what its numbers make it", fmt.Sprintf("%.4f", want), after.get("dlq.replay.success.rate").raw())
	})
}

// JudgeTimeToResolution judges agentdlq.observe.time-to-resolution: it counts what is resolved, and its quantiles are in
// their order.
func JudgeTimeToResolution(s Scene) witness.Verdict {
	return judge(s, telemetry, "how long failed work waits isn't known", func(b *bench) {
		before, after := b.metrics("before"), b.metrics("after")
		more := after.Resolutions() - before.Resolutions()
		b.hold("counted", more >= 1, "an entry that was resolved is not counted", "one more", more.String())
		t := after.get("dlq.time.to.resolution")
		p50, ok50 := t.get("p50").number()
		p95, ok95 := t.get("p95").number()
		p99, ok99 := t.get("p99").number()
		b.hold("quantiles", ok50 && ok95 && ok99 && p50 >= 0 && p50 <= p95 && p95 <= p99, "the quantiles are missing, or not in their order", "0 ≤ p50 ≤ p95 ≤ p99", t.raw())
	})
}

// JudgeRepairConfidence judges agentdlq.observe.repair-confidence: how sure the repairer was of each proposal.
func JudgeRepairConfidence(s Scene) witness.Verdict {
	return judge(s, telemetry, "a repairer that gets worse isn't noticed", func(b *bench) {
		const name = "dlq.semantic.repair.confidence"
		before, after := b.metrics("before"), b.metrics("after")
		var sure []float64
		for _, role := range []string{"sure tool", "unsure tool"} {
			c, _ := decode(b.one(DidRepairer, role).Request.Body).get("confidence").number()
			sure = append(sure, c)
		}
		more := after.Repairs() - before.Repairs()
		b.hold("counted", more >= 2, "a proposal is not counted", "two more", more.String())
		within := func(m Metrics, le float64) (Count, bool) {
			for _, bucket := range m.get(name).get("buckets").items() {
				if at, is := bucket.get("le").number(); is && at == le {
					return bucket.get("count").count(), true
				}
			}
			return 0, false
		}
		buckets := after.get(name).get("buckets").items()
		b.hold("buckets", len(buckets) > 0, "the confidences are not told by buckets", "buckets", after.get(name).raw())
		last := Count(0)
		for _, bucket := range buckets {
			le, _ := bucket.get("le").number()
			now := bucket.get("count").count()
			b.hold("cumulative", now >= last && now <= after.Repairs(), "the buckets are not cumulative", "counts that don't fall, up to the whole count", after.get(name).raw())
			last = now
			then, _ := within(before, le) // none before means that the host names its buckets once it has something
			below := Count(0)
			for _, c := range sure {
				if c <= le {
					below++
				}
			}
			b.hold("in-its-bucket", now-then >= below && more-(now-then) >= Count(len(sure))-below,
				fmt.Sprintf("the bucket up to %v does not hold what it must of confidences of %v", le, sure), fmt.Sprintf("%d more in it, and %d above", below, Count(len(sure))-below), after.get(name).raw())
		}
		mean, is := after.get(name).get("mean").number()
		b.hold("mean", is && mean >= 0 && mean <= 1, "the mean is no confidence", "0 to 1", after.get(name).raw())
	})
}
