package scenarios

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/wopwitness/wopwitness/witness/agentdlq"
)

// agentRouteSpecs pairs the legs of routing with their plays.
func agentRouteSpecs() []spec {
	return []spec{
		{"agentdlq.route.malformed-message", playing(agentMalformed)},
		{"agentdlq.route.invalid-message", playing(agentInvalid)},
		{"agentdlq.route.poison-limit", playing(agentPoison)},
		{"agentdlq.route.transient-in-band", playing(agentTransient)},
		{"agentdlq.route.budget-exhausted", playing(agentExhausted)},
		{"agentdlq.route.attempts-counted", playing(agentAttempts)},
		{"agentdlq.route.misconfigured-once", playing(agentMisconfigured)},
		{"agentdlq.route.circuit-open", playing(agentCircuitOpen)},
		{"agentdlq.route.circuit-shared", playing(agentCircuitShared)},
		{"agentdlq.route.circuit-half-opens", playing(agentHalfOpens)},
		{"agentdlq.route.crash-redelivered", playing(agentRedelivered)},
		{"agentdlq.route.crash-resumes", playing(agentResumes)},
		{"agentdlq.route.fallback", playing(agentFallback)},
		{"agentdlq.route.retry-after", playing(agentRetryAfter)},
	}
}

// agentMalformed drives agentdlq.route.malformed-message.
func agentMalformed(ctx context.Context, a *agent) error {
	return errors.Join(
		a.set(ctx, "tool", script("ok")),
		a.post(ctx, mail{"malformed": {body: `{"task":"sum up the day"`, steps: calls("tool")}}))
}

// agentInvalid drives agentdlq.route.invalid-message: bodies that are JSON and no message, and one that is more than it must be.
func agentInvalid(ctx context.Context, a *agent) error {
	messages := mail{"valid": {body: `{"task":"sum up the day","locale":"en","tags":[1,{"a":null}],"poison":false}`, steps: calls("other tool")}}
	for role, body := range agentdlq.InvalidBodies() {
		messages[role] = message{body: body, steps: calls("tool")}
	}
	return errors.Join(
		a.stage(ctx, cast{"tool": script("ok"), "other tool": script("ok")}),
		a.post(ctx, messages))
}

// agentPoison drives agentdlq.route.poison-limit. A host may keep a failed delivery for a lease, so leases are let run out.
func agentPoison(ctx context.Context, a *agent) error {
	if err := errors.Join(
		a.set(ctx, "tool", script("ok")),
		a.send(ctx, "poison", message{body: `{"task":"sum up the day","poison":true}`, steps: calls("tool")})); err != nil {
		return err
	}
	over := a.allEnded(ctx, "poison")
	for range a.scene.Numbers.RedeliveryLimit {
		if a.within(ctx, a.soon(), over) {
			return nil
		}
		if !a.mayAdvance(ctx, a.scene.Numbers.LeaseSeconds+1) {
			break
		}
	}
	a.until(ctx, over)
	return nil
}

// agentTransient drives agentdlq.route.transient-in-band: each way of failing for a moment, all at once.
func agentTransient(ctx context.Context, a *agent) error {
	tools, messages := cast{}, mail{}
	for _, o := range agentdlq.TransientOutcomes() {
		tools[o] = script(o, "ok")
		messages["after "+o] = message{steps: calls(o)}
	}
	return errors.Join(a.stage(ctx, tools), a.post(ctx, messages))
}

// agentExhausted drives agentdlq.route.budget-exhausted: the second of two steps fails for good.
func agentExhausted(ctx context.Context, a *agent) error {
	return errors.Join(
		a.stage(ctx, cast{"right": script("ok"), "failing": script("server_error"), "behind": script("ok")}),
		a.post(ctx, mail{"exhausted": {steps: calls("right", "failing", "behind"), budget: budgetOf(2)}}))
}

// agentAttempts drives agentdlq.route.attempts-counted.
func agentAttempts(ctx context.Context, a *agent) error {
	tools := cast{"failing by default": script("server_error")}
	messages := mail{"default budget": {steps: calls("failing by default")}}
	for _, budget := range agentdlq.Budgets() {
		failing, recovering := fmt.Sprintf("failing %d", budget), fmt.Sprintf("recovering %d", budget)
		tools[failing] = script("server_error")
		messages[fmt.Sprintf("budget %d", budget)] = message{steps: calls(failing), budget: budgetOf(budget)}
		tools[recovering] = tool{Script: append(turns("server_error", budget), turn{Outcome: "ok"})}
		messages[fmt.Sprintf("just enough %d", budget)] = message{steps: calls(recovering), budget: budgetOf(budget)}
	}
	return errors.Join(a.stage(ctx, tools), a.post(ctx, messages))
}

func turns(o string, times int) []turn {
	var all []turn
	for range times {
		all = append(all, turn{Outcome: o})
	}
	return all
}

// agentMisconfigured drives agentdlq.route.misconfigured-once.
func agentMisconfigured(ctx context.Context, a *agent) error {
	tools, messages := cast{}, mail{}
	for _, o := range agentdlq.Misconfigured() {
		tools[o] = script(o)
		messages["meets "+o] = message{steps: calls(o), budget: budgetOf(2)}
	}
	if err := a.stage(ctx, tools); err != nil {
		return err
	}
	a.before(ctx, agentdlq.Misconfigured()...)
	return a.post(ctx, messages)
}

// before reads tools as they are before anything is sent.
func (a *agent) before(ctx context.Context, roles ...string) {
	a.when = agentdlq.Before
	for _, role := range roles {
		a.tool(ctx, role)
	}
	a.when = ""
}

// opened sends the message that finds the tool gone.
func (a *agent) opened(ctx context.Context) error {
	a.before(ctx, "gone")
	return a.post(ctx, mail{"opener": {steps: calls("gone")}})
}

// agentCircuitOpen drives agentdlq.route.circuit-open: a later run whose first step calls the tool, with a step that
// depends on it and one that does not.
func agentCircuitOpen(ctx context.Context, a *agent) error {
	return errors.Join(
		a.stage(ctx, cast{"gone": script("gone"), "independent": script("ok"), "dependent": script("ok")}),
		a.opened(ctx),
		a.post(ctx, mail{"later": {steps: []step{{Tool: "gone"}, {Tool: "independent"}, {Tool: "dependent", DependsOn: []int{0}}}}}),
		a.post(ctx, mail{"last": {steps: calls("independent")}}))
}

// agentCircuitShared drives agentdlq.route.circuit-shared: two later runs at once; one of another tool; and another tenant
// with a tool of the same name.
func agentCircuitShared(ctx context.Context, a *agent) error {
	other, err := a.foreign(ctx)
	if err != nil {
		return err
	}
	a.scene.Names["their gone"] = a.name("gone")
	if err := errors.Join(
		a.stage(ctx, cast{"gone": script("gone"), "another": script("ok")}),
		a.opened(ctx),
		a.post(ctx, mail{"later one": {steps: calls("gone")}, "later two": {steps: calls("gone")}, "of another tool": {steps: calls("another")}}),
		other.set(ctx, "their gone", script("ok")),
		other.post(ctx, mail{"of another tenant": {steps: calls("their gone")}})); err != nil {
		return err
	}
	other.close(ctx)
	return nil
}

// agentHalfOpens drives agentdlq.route.circuit-half-opens.
func agentHalfOpens(ctx context.Context, a *agent) error {
	const early = 5 // seconds before the circuit lets a call through
	breaker := a.scene.Numbers.BreakerSeconds
	if err := a.set(ctx, "gone", script("gone")); err != nil {
		return err
	}
	began, err := a.now(ctx)
	if err != nil {
		return err
	}
	if err := a.opened(ctx); err != nil {
		return err
	}
	if breaker > 2*early {
		through := began.Add(time.Duration(breaker) * time.Second)
		passed, err := a.advanceTo(ctx, through.Add(-early*time.Second))
		if err != nil {
			return err
		}
		if err := errors.Join(
			a.post(ctx, mail{"too early": {steps: calls("gone")}}),
			a.stillBefore(ctx, through, "the circuit lets a call through"),
			a.advance(ctx, breaker-passed+1)); err != nil {
			return err
		}
	} else if err := a.advance(ctx, breaker+1); err != nil {
		return err
	}
	if err := a.post(ctx, mail{"probe": {steps: calls("gone")}}); err != nil {
		return err
	}
	a.when = agentdlq.Reopened
	a.tool(ctx, "gone")
	a.when = ""
	return errors.Join(
		a.post(ctx, mail{"behind the probe": {steps: calls("gone")}}),
		a.set(ctx, "gone", script("ok")),
		a.advance(ctx, breaker+1),
		a.post(ctx, mail{"second probe": {steps: calls("gone")}}),
		a.post(ctx, mail{"behind the second": {steps: calls("gone")}}))
}

// agentRedelivered drives agentdlq.route.crash-redelivered: two messages whose worker dies before anything is done, and one
// that does not suffer from it.
func agentRedelivered(ctx context.Context, a *agent) error {
	return errors.Join(
		a.stage(ctx, cast{"claimed": script("ok"), "unclaimed": script("ok"), "bystander": script("ok")}),
		a.send(ctx, "dies after the claim", message{steps: calls("claimed"), crashAt: "after_claim"}),
		a.send(ctx, "dies before the claim", message{steps: calls("unclaimed"), crashAt: "before_claim"}),
		a.post(ctx, mail{"does not suffer": {steps: calls("bystander")}}),
		a.redelivered(ctx, 2, "dies after the claim", "dies before the claim"))
}

// agentResumes drives agentdlq.route.crash-resumes: the worker dies in the last of three steps.
func agentResumes(ctx context.Context, a *agent) error {
	return errors.Join(
		a.stage(ctx, cast{"first": script("ok"), "second": script("ok"), "last": script("ok"), "bystander": script("ok")}),
		a.send(ctx, "dies", message{steps: calls("first", "second", "last"), crashAt: "after_write"}),
		a.post(ctx, mail{"does not suffer": {steps: calls("bystander")}}),
		a.redelivered(ctx, 2, "dies"))
}

// agentFallback drives agentdlq.route.fallback: for a tool whose budget is spent, and for one whose circuit is open.
func agentFallback(ctx context.Context, a *agent) error {
	return errors.Join(
		a.stage(ctx, cast{"failing": {Script: turns("server_error", 1), Fallback: "spare"}, "spare": script("ok"), "gone": script("gone"), "other spare": script("ok")}),
		a.post(ctx, mail{"spent": {steps: calls("failing"), budget: budgetOf(2)}, "opener": {steps: calls("gone")}}),
		a.set(ctx, "gone", tool{Script: turns("gone", 1), Fallback: "other spare"}),
		a.post(ctx, mail{"open circuit": {steps: calls("gone")}}))
}

// agentRetryAfter drives agentdlq.route.retry-after. That the tool isn't called too early is shown by a message that was sent
// later and has ended.
func agentRetryAfter(ctx context.Context, a *agent) error {
	const early = 5 // seconds before the tool may be called again
	limited := tool{Script: []turn{{Outcome: "rate_limited", RetryAfterSeconds: agentdlq.RetryAfter}, {Outcome: "ok"}}}
	if err := a.stage(ctx, cast{"limited": limited, "bystander": script("ok")}); err != nil {
		return err
	}
	began, err := a.now(ctx)
	if err != nil {
		return err
	}
	if err := a.send(ctx, "put off", message{steps: calls("limited")}); err != nil {
		return err
	}
	a.until(ctx, func() bool { return len(a.tool(ctx, "limited").Calls) > 0 })
	again := began.Add(time.Duration(agentdlq.RetryAfter) * time.Second)
	passed, err := a.advanceTo(ctx, again.Add(-early*time.Second))
	if err != nil {
		return err
	}
	if err := a.post(ctx, mail{"later": {steps: calls("bystander")}}); err != nil {
		return err
	}
	a.when = agentdlq.Before
	a.tool(ctx, "limited")
	a.when = ""
	if err := a.stillBefore(ctx, again, "the tool may be called again"); err != nil {
		return err
	}
	if err := a.advance(ctx, agentdlq.RetryAfter-passed+1); err != nil {
		return err
	}
	if !a.within(ctx, a.soon(), a.allEnded(ctx, "put off")) {
		return a.redelivered(ctx, 1, "put off")
	}
	return nil
}
