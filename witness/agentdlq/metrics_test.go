package agentdlq

import "testing"

func measured() object {
	return object{
		"dlq.enqueue.rate":               []any{},
		"dlq.depth":                      object{"value": 0, "threshold": 100, "alert": false},
		"dlq.replay.success.rate":        object{"replayed": 0, "succeeded": 0, "rate": nil},
		"dlq.time.to.resolution":         object{"count": 0, "p50": nil, "p95": nil, "p99": nil},
		"dlq.semantic.repair.confidence": object{"count": 0, "mean": nil, "buckets": []any{}},
	}
}

func TestJudgeEnqueueRate(t *testing.T) {
	const rate = "dlq.enqueue.rate"
	row := func(tool, category string, count int) any {
		return object{"tool": named(tool), "category": category, "count": count, "perMinute": float64(count)}
	}
	right := func() *shown {
		h := newShown()
		h.know("failing tool", "other tool")
		h.part("after").ask(DidMetrics, "", 200, with(measured(), rate, []any{
			row("another's", "SEMANTIC_FAILURE", 7), row("failing tool", "SCHEMA_VALIDATION_FAILURE", 2), row("other tool", "TRANSIENT_INFRASTRUCTURE", 1)}))
		return h
	}
	try(t, JudgeEnqueueRate, right, []shows{
		{"not counted", put("after", DidMetrics, "", []any{}, rate), "by-category by-tool per-minute"},
		{"counted twice", put("after", DidMetrics, "", 4, rate, 1, "count"), "by-category by-tool"},
		{"all as unclassified", put("after", DidMetrics, "", "unclassified", rate, 1, "category"), "by-category per-minute"},
		{"counted again once it was classified", put("after", DidMetrics, "", row("failing tool", "unclassified", 2), rate, 0), "by-tool"},
		{"as another tool's", put("after", DidMetrics, "", "x", rate, 2, "tool"), "by-category by-tool per-minute"},
		{"no rate", put("after", DidMetrics, "", 0, rate, 2, "perMinute"), "per-minute"},
		{"refused", answer("after", DidMetrics, "", 404, failure("not_found")), "undecided unreadable"},
	})
}

func TestJudgeDepth(t *testing.T) {
	right := func() *shown {
		h := newShown()
		for when, depth := range map[string]int{"three unresolved": 3, "one unresolved": 1} {
			part := h.part(when)
			part.ask(DidQuery, "failing tool", 200, deepPage(depth))
			for _, moment := range []string{"before", "after"} {
				part.ask(DidAsk, "tool queue "+moment, 200, deepPage(10+depth))
				part.ask(DidAsk, "message queue "+moment, 200, deepPage(5))
			}
			part.ask(DidMetrics, "", 200, with(measured(), "dlq.depth", object{"value": 15 + depth, "threshold": 100, "alert": false}))
		}
		return h
	}
	value := func(v int) func(*shown) {
		return put("one unresolved", DidMetrics, "", v, "dlq.depth", "value")
	}
	try(t, JudgeDepth, right, []shows{
		{"resolved ones too", value(18), "value"},
		{"of one queue", value(11), "value"},
		{"resolved ones in the queue too", put("one unresolved", DidQuery, "failing tool", 3, "depth"), "of-a-tool"},
		{"another threshold", put("one unresolved", DidMetrics, "", 50, "dlq.depth", "threshold"), "threshold"},
		{"an alert below it", put("one unresolved", DidMetrics, "", true, "dlq.depth", "alert"), "alert"},
		{"no alert above it", all(value(216), func(h *shown) {
			for _, moment := range []string{"before", "after"} {
				put("one unresolved", DidAsk, "tool queue "+moment, 211, "depth")(h)
			}
		}), "alert"},
		{"lawful: either at just the threshold", all(value(100), func(h *shown) {
			for _, moment := range []string{"before", "after"} {
				put("one unresolved", DidAsk, "tool queue "+moment, 95, "depth")(h)
			}
		}), "pass"},
		{"a message queue that counts nothing", func(h *shown) {
			for _, moment := range []string{"before", "after"} {
				put("one unresolved", DidAsk, "message queue "+moment, 0, "depth")(h)
			}
			value(11)(h)
		}, "message-queue"},
		{"something else at work", put("one unresolved", DidAsk, "tool queue after", 12, "depth"), "undecided unexpected-answer"},
	})
}

func TestJudgeReplaySuccess(t *testing.T) {
	const name = "dlq.replay.success.rate"
	replays := func(replayed, succeeded int, rate any) object {
		return with(measured(), name, object{"replayed": replayed, "succeeded": succeeded, "rate": rate})
	}
	right := func() *shown {
		h := newShown()
		h.part("before").ask(DidMetrics, "", 200, replays(2, 2, 1))
		h.part("after").ask(DidMetrics, "", 200, replays(4, 3, 0.75))
		return h
	}
	try(t, JudgeReplaySuccess, right, []shows{
		{"lawful: others meanwhile", answer("after", DidMetrics, "", 200, replays(10, 4, 0.4)), "pass"},
		{"failures not counted", answer("after", DidMetrics, "", 200, replays(3, 3, 1)), "failures"},
		{"all taken for successes", answer("after", DidMetrics, "", 200, replays(4, 4, 1)), "failures"},
		{"nothing counted", answer("after", DidMetrics, "", 200, replays(2, 2, 1)), "failures successes"},
		{"another rate", put("after", DidMetrics, "", 1, name, "rate"), "rate"},
		{"no rate", put("after", DidMetrics, "", nil, name, "rate"), "rate"},
	})
}

func TestJudgeTimeToResolution(t *testing.T) {
	const name = "dlq.time.to.resolution"
	right := func() *shown {
		h := newShown()
		h.part("before").ask(DidMetrics, "", 200, measured())
		h.part("after").ask(DidMetrics, "", 200, with(measured(), name, object{"count": 1, "p50": 0.2, "p95": 0.2, "p99": 0.3}))
		return h
	}
	try(t, JudgeTimeToResolution, right, []shows{
		{"not counted", put("after", DidMetrics, "", 0, name, "count"), "counted"},
		{"no quantiles", put("after", DidMetrics, "", nil, name, "p95"), "quantiles"},
		{"out of order", put("after", DidMetrics, "", 9, name, "p50"), "quantiles"},
		{"before it began", put("after", DidMetrics, "", -1, name, "p50"), "quantiles"},
	})
}

func TestJudgeRepairConfidence(t *testing.T) {
	const name = "dlq.semantic.repair.confidence"
	told := func(count int, mean any, counts ...int) object {
		buckets := []any{}
		for i, le := range []float64{0.5, 0.85, 1} {
			buckets = append(buckets, object{"le": le, "count": counts[i]})
		}
		return with(measured(), name, object{"count": count, "mean": mean, "buckets": buckets})
	}
	right := func() *shown {
		h := newShown()
		h.part("before").ask(DidMetrics, "", 200, told(3, 0.9, 0, 1, 3))
		h.part("after").ask(DidMetrics, "", 200, told(5, 0.8, 1, 2, 5))
		h.sent(DidRepairer, "sure tool", 200, object{}, object{"confidence": 1})
		h.sent(DidRepairer, "unsure tool", 200, object{}, object{"confidence": 0.3})
		return h
	}
	try(t, JudgeRepairConfidence, right, []shows{
		{"lawful: the first ones", answer("before", DidMetrics, "", 200, measured()), "pass"},
		{"lawful: another proposal meanwhile", answer("after", DidMetrics, "", 200, told(6, 0.8, 1, 3, 6)), "pass"},
		{"only what was replayed", answer("after", DidMetrics, "", 200, told(4, 0.9, 0, 1, 4)), "counted in-its-bucket"},
		{"all in the highest bucket", answer("after", DidMetrics, "", 200, told(5, 0.8, 0, 1, 5)), "in-its-bucket"},
		{"all in the lowest bucket", answer("after", DidMetrics, "", 200, told(5, 0.8, 2, 3, 5)), "in-its-bucket"},
		{"not cumulative", answer("after", DidMetrics, "", 200, told(5, 0.8, 2, 1, 2)), "cumulative in-its-bucket"},
		{"no buckets", put("after", DidMetrics, "", []any{}, name, "buckets"), "buckets"},
		{"no mean", put("after", DidMetrics, "", nil, name, "mean"), "mean"},
	})
}
