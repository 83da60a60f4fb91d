package scenarios

import (
	"context"
	"errors"
	"net/http"
	"net/url"

	"github.com/wopwitness/wopwitness/witness/agentdlq"
)

func agentObserveSpecs() []spec {
	return []spec{
		{"agentdlq.observe.enqueue-rate", observed(agentEnqueueRate)},
		{"agentdlq.observe.depth", observed(agentDepth)},
		{"agentdlq.observe.replay-success-rate", observed(agentReplaySuccess)},
		{"agentdlq.observe.time-to-resolution", observed(agentTimeToResolution)},
		{"agentdlq.observe.repair-confidence", observed(agentRepairConfidence)},
		{"agentdlq.observe.enqueue-span", playing(agentEnqueueSpan)},
		{"agentdlq.observe.recovery-linked", observed(agentRecoveryLinked)},
	}
}

// measured reads the metrics until they are as wanted, in the part of that name.
func (a *agent) measured(ctx context.Context, when string, wanted func(agentdlq.Metrics) bool) {
	a.when = when
	a.until(ctx, func() bool { return wanted(a.metrics(ctx)) })
	a.when = ""
}

func whatever(agentdlq.Metrics) bool { return true }

// agentEnqueueRate drives agentdlq.observe.enqueue-rate. The tools are the leg's own, so their counts begin at nothing.
func agentEnqueueRate(ctx context.Context, a *agent) error {
	messages := alike(message{steps: calls("failing tool")}, "first", "second")
	messages["third"] = message{steps: calls("other tool")}
	if err := a.fail(ctx, cast{"failing tool": script("bad_request"), "other tool": script("server_error")}, messages); err != nil {
		return err
	}
	a.measured(ctx, "after", func(m agentdlq.Metrics) bool {
		of := func(tool, category string) agentdlq.Count {
			count, _ := m.Enqueued(a.name(tool), category)
			return count
		}
		return of("failing tool", "SCHEMA_VALIDATION_FAILURE") >= 2 && of("other tool", "TRANSIENT_INFRASTRUCTURE") >= 1
	})
	return nil
}

// agentDepth drives agentdlq.observe.depth: with three entries of the leg's own unresolved in the tool queue and one in the
// message queue, and with one in each.
func agentDepth(ctx context.Context, a *agent) error {
	roles := numbered("message", 3)
	if err := a.stage(ctx, cast{"failing tool": script("bad_request")}); err != nil {
		return err
	}
	if err := a.post(ctx, mail{"malformed": {body: `{"task":`, steps: calls("failing tool")}}); err != nil {
		return err
	}
	if err := a.fail(ctx, cast{"failing tool": script("bad_request")}, alike(message{steps: calls("failing tool")}, roles...)); err != nil {
		return err
	}
	a.deep(ctx, "three unresolved")
	if err := errors.Join(
		prepared(a.dispose(ctx, agentdlq.DidResolve, roles[0], "lee", ""), 202),
		prepared(a.dispose(ctx, agentdlq.DidDiscard, roles[1], "lee", ""), 202)); err != nil {
		return err
	}
	a.deep(ctx, "one unresolved")
	return nil
}

// deep reads the depths of both queues, the metric, and the depths again: until they agree, or the event time-out has
// passed, since something else may be at work.
func (a *agent) deep(ctx context.Context, when string) {
	a.when = when
	depths := func(when string) agentdlq.Count {
		var sum agentdlq.Count
		for _, queue := range []string{"tool", "message"} {
			x := a.act(ctx, agentdlq.DidAsk, queue+" queue "+when, http.MethodGet, "queues/"+queue, url.Values{"limit": {"1"}}, nil)
			depth, _, _ := agentdlq.Depth(x)
			sum += depth
		}
		return sum
	}
	a.query(ctx, "failing tool", a.byTool("failing tool"))
	a.within(ctx, a.soon(), func() bool {
		before := depths("before")
		m := a.metrics(ctx)
		return depths("after") == before && m.Depth() == before
	})
	a.when = ""
}

// agentReplaySuccess drives agentdlq.observe.replay-success-rate: an entry is replayed in vain, and then not.
func agentReplaySuccess(ctx context.Context, a *agent) error {
	if err := a.fail(ctx, cast{"tool": script("bad_request", "bad_request", "ok")}, mail{"message": {steps: calls("tool")}}); err != nil {
		return err
	}
	a.measured(ctx, "before", whatever)
	replayed, succeeded := agentdlq.MetricsOf(a.scene.During("before").Last(agentdlq.DidMetrics, "")).Replays()
	if err := errors.Join(a.replayedInVain(ctx, "message"), a.replayed(ctx, "message")); err != nil {
		return err
	}
	a.measured(ctx, "after", func(m agentdlq.Metrics) bool {
		all, right := m.Replays()
		return all >= replayed+2 && right > succeeded
	})
	return nil
}

// agentTimeToResolution drives agentdlq.observe.time-to-resolution.
func agentTimeToResolution(ctx context.Context, a *agent) error {
	if err := a.fail(ctx, cast{"tool": script("bad_request")}, mail{"message": {steps: calls("tool")}}); err != nil {
		return err
	}
	a.measured(ctx, "before", whatever)
	counted := agentdlq.MetricsOf(a.scene.During("before").Last(agentdlq.DidMetrics, "")).Resolutions()
	if err := prepared(a.dispose(ctx, agentdlq.DidResolve, "message", "lee", ""), 202); err != nil {
		return err
	}
	a.measured(ctx, "after", func(m agentdlq.Metrics) bool { return m.Resolutions() > counted })
	return nil
}

// agentRepairConfidence drives agentdlq.observe.repair-confidence: one proposal above the threshold, and one far below.
func agentRepairConfidence(ctx context.Context, a *agent) error {
	a.measured(ctx, "before", whatever)
	counted := agentdlq.MetricsOf(a.scene.During("before").Last(agentdlq.DidMetrics, "")).Repairs()
	if err := errors.Join(
		a.repairer(ctx, "sure tool", proposal(), 1),
		a.repairer(ctx, "unsure tool", proposal(), 0.3),
		a.fail(ctx, cast{"sure tool": script("semantic", "ok"), "unsure tool": script("semantic")},
			mail{"sure": {steps: calls("sure tool")}, "unsure": {steps: calls("unsure tool")}})); err != nil {
		return err
	}
	a.measured(ctx, "after", func(m agentdlq.Metrics) bool { return m.Repairs() >= counted+2 })
	return nil
}

// agentEnqueueSpan drives agentdlq.observe.enqueue-span: two attempts and an entry.
func agentEnqueueSpan(ctx context.Context, a *agent) error {
	if err := a.fail(ctx, cast{"tool": script("bad_request")}, mail{"message": {steps: calls("tool"), budget: budgetOf(1)}}); err != nil {
		return err
	}
	a.spans(ctx, "message", "dlq.enqueue", 1)
	return nil
}

// agentRecoveryLinked drives agentdlq.observe.recovery-linked: a replay in vain, and one that isn't.
func agentRecoveryLinked(ctx context.Context, a *agent) error {
	if err := errors.Join(
		a.fail(ctx, cast{"tool": script("bad_request", "bad_request", "ok")}, mail{"message": {steps: calls("tool")}}),
		a.replayedInVain(ctx, "message"), a.replayed(ctx, "message")); err != nil {
		return err
	}
	a.spans(ctx, "message", "dlq.recover", 2)
	return nil
}
