package scenarios

import (
	"context"
	"errors"
	"net/http"
	"net/url"

	"github.com/wopwitness/wopwitness/witness/agentdlq"
)

// agentInterceptSpecs pairs the legs of the records of calls with their plays.
func agentInterceptSpecs() []spec {
	return []spec{
		{"agentdlq.intercept.written-first", playing(agentWrittenFirst)},
		{"agentdlq.intercept.pending-dispatched", playing(agentPendingDispatched)},
		{"agentdlq.intercept.in-flight-redispatched", playing(agentRedispatched)},
		{"agentdlq.intercept.in-flight-reviewed", playing(agentInFlightReviewed)},
		{"agentdlq.intercept.failed-raised", playing(agentFailedRaised)},
		{"agentdlq.intercept.rate-limited-never-complete", playing(agentRateLimited)},
		{"agentdlq.intercept.hand-off-down", playing(agentHandOffDown)},
		{"agentdlq.intercept.ids-unique", playing(agentIDsUnique)},
		{"agentdlq.intercept.result-kept", playing(agentResultKept)},
	}
}

// written waits until a call of the message's run to the tool is on record, or the message has ended without.
func (a *agent) written(ctx context.Context, role, tool string) {
	a.until(ctx, func() bool {
		over := a.message(ctx, role).Final()
		for _, r := range a.invocations(ctx, role) {
			if r.Tool == a.name(tool) {
				return true
			}
		}
		return over
	})
}

// dies sends a message whose worker dies at that point of the last step.
func (a *agent) dies(ctx context.Context, crashAt string) error {
	return a.send(ctx, "dies", message{steps: calls("first", "last"), crashAt: crashAt})
}

// agentWrittenFirst drives agentdlq.intercept.written-first. That no call went out is shown by a later message that called the
// same tool and has ended.
func agentWrittenFirst(ctx context.Context, a *agent) error {
	if err := errors.Join(a.stage(ctx, cast{"first": script("ok"), "last": script("ok")}), a.dies(ctx, "after_write")); err != nil {
		return err
	}
	a.written(ctx, "dies", "last")
	if err := a.post(ctx, mail{"later": {steps: calls("last")}}); err != nil {
		return err
	}
	a.message(ctx, "dies")
	a.invocations(ctx, "dies")
	return nil
}

// agentPendingDispatched drives agentdlq.intercept.pending-dispatched.
func agentPendingDispatched(ctx context.Context, a *agent) error {
	if err := errors.Join(a.stage(ctx, cast{"first": script("ok"), "last": script("ok")}), a.dies(ctx, "after_write")); err != nil {
		return err
	}
	a.written(ctx, "dies", "last")
	err := a.redelivered(ctx, 2, "dies")
	a.invocations(ctx, "dies")
	return err
}

// inFlight has the worker die when the tool has got the call, and looks at the record of it.
func (a *agent) inFlight(ctx context.Context, last tool, crashAt string) error {
	if err := errors.Join(a.stage(ctx, cast{"first": script("ok"), "last": last}), a.dies(ctx, crashAt)); err != nil {
		return err
	}
	a.until(ctx, func() bool { return len(a.tool(ctx, "last").Calls) > 0 || a.message(ctx, "dies").Final() })
	a.when = agentdlq.Before
	a.message(ctx, "dies")
	a.invocations(ctx, "dies")
	a.tool(ctx, "last")
	a.when = ""
	err := a.redelivered(ctx, 2, "dies")
	a.invocations(ctx, "dies")
	return err
}

// agentRedispatched drives agentdlq.intercept.in-flight-redispatched.
func agentRedispatched(ctx context.Context, a *agent) error {
	return a.inFlight(ctx, tool{Script: turns("ok", 1), SideEffect: true, Idempotent: true}, "after_dispatch")
}

// agentInFlightReviewed drives agentdlq.intercept.in-flight-reviewed.
func agentInFlightReviewed(ctx context.Context, a *agent) error {
	if err := a.inFlight(ctx, tool{Script: turns("ok", 1), SideEffect: true}, "after_dispatch"); err != nil {
		return err
	}
	a.reviews(ctx, "human", "dies")
	return nil
}

// agentResultKept drives agentdlq.intercept.result-kept.
func agentResultKept(ctx context.Context, a *agent) error {
	return a.inFlight(ctx, tool{Script: turns("ok", 1), SideEffect: true}, "after_result")
}

// agentFailedRaised drives agentdlq.intercept.failed-raised.
func agentFailedRaised(ctx context.Context, a *agent) error {
	err := errors.Join(
		a.stage(ctx, cast{"recovering": script("server_error", "ok"), "failing": script("server_error")}),
		a.post(ctx, mail{"recovers": {steps: calls("recovering"), budget: budgetOf(1)}, "gives up": {steps: calls("failing"), budget: budgetOf(1)}}))
	a.invocations(ctx, "recovers")
	a.invocations(ctx, "gives up")
	return err
}

// agentRateLimited drives agentdlq.intercept.rate-limited-never-complete.
func agentRateLimited(ctx context.Context, a *agent) error {
	err := errors.Join(
		a.stage(ctx, cast{"limited once": script("rate_limited", "ok"), "limited": script("rate_limited")}),
		a.post(ctx, mail{"waits": {steps: calls("limited once"), budget: budgetOf(1)}, "gives up": {steps: calls("limited"), budget: budgetOf(1)}}))
	a.invocations(ctx, "waits")
	a.invocations(ctx, "gives up")
	return err
}

// agentHandOffDown drives agentdlq.intercept.hand-off-down: the second step hands over to an agent that is not there.
func agentHandOffDown(ctx context.Context, a *agent) error {
	err := errors.Join(
		a.set(ctx, "first", script("ok")),
		a.post(ctx, mail{"hands over": {steps: calls("first", "nobody"), budget: budgetOf(0)}}))
	a.invocations(ctx, "hands over")
	a.act(ctx, agentdlq.DidAsk, "nobody", http.MethodGet, "tools/"+url.PathEscape(a.name("nobody")), nil, nil)
	return err
}

// agentIDsUnique drives agentdlq.intercept.ids-unique: runs of two steps, with a retry, with a fallback, and one that fails.
func agentIDsUnique(ctx context.Context, a *agent) error {
	err := errors.Join(
		a.stage(ctx, cast{"right": script("ok"), "recovering": script("server_error", "ok"), "spare": script("ok"), "failing": script("server_error"),
			"planned for": {Script: turns("server_error", 1), Fallback: "spare"}}),
		a.post(ctx, mail{
			"two steps": {steps: calls("right", "right")}, "retries": {steps: calls("right", "recovering")},
			"falls back": {steps: calls("planned for"), budget: budgetOf(0)}, "fails": {steps: calls("right", "failing"), budget: budgetOf(1)},
		}))
	for _, role := range agentdlq.RecordedRuns() {
		a.invocations(ctx, role)
	}
	return err
}
