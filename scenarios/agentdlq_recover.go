package scenarios

import (
	"context"
	"errors"
	"time"

	"github.com/wopwitness/wopwitness/scenarios/registry"
	"github.com/wopwitness/wopwitness/witness/agentdlq"
)

func agentRecoverSpecs() []spec {
	return []spec{
		{"agentdlq.recover.back-off", playing(waitsOf(map[string]int{"one attempt": 0, "two attempts": 1, "three attempts": 2}))},
		{"agentdlq.recover.jitter", playing(agentJitter)},
		{"agentdlq.recover.cap", playing(waitsOf(map[string]int{"six attempts": 5, "seven attempts": 6, "eleven attempts": 10}))},
		{"agentdlq.recover.schema-reviewed", observed(reviewOf("bad_request"))},
		{"agentdlq.recover.unavailable-reviewed", observed(reviewOf("gone", "unreachable"))},
		{"agentdlq.recover.context-gone", observed(agentContextEviction)},
		{"agentdlq.recover.replays-transient", observed(agentReplaysTransient)},
		{"agentdlq.recover.limit", observed(agentLimit)},
		{"agentdlq.recover.authorization-never-replayed", observed(agentAuthorization)},
	}
}

// waitsOf fails one message for each budget, so that their entries have so many attempts and one.
func waitsOf(budgets map[string]int) func(context.Context, *agent) error {
	return func(ctx context.Context, a *agent) error {
		if err := a.waitsItself(); err != nil {
			return err
		}
		messages := mail{}
		for role, budget := range budgets {
			messages[role] = message{steps: calls("tool"), budget: budgetOf(budget)}
		}
		return a.fail(ctx, cast{"tool": script("server_error")}, messages)
	}
}

// agentJitter drives agentdlq.recover.jitter.
func agentJitter(ctx context.Context, a *agent) error {
	if err := a.waitsItself(); err != nil {
		return err
	}
	return a.fail(ctx, cast{"tool": script("server_error")}, alike(message{steps: calls("tool")}, numbered("message", agentdlq.JitterEntries)...))
}

// longestWait is the longest that an entry of so many attempts waits for its replay, in whole seconds, with a round of the
// recovery on top.
func (a *agent) longestWait(attempts int64) int64 {
	backOff := agentdlq.BackOff(attempts)
	return int64((backOff+agentdlq.JitterBeyond(backOff))/time.Second) + a.scene.Numbers.RecoveryIntervalSeconds + 1
}

// waitsItself is inapplicable where the host replays nothing by itself: what fails for a passing reason goes to a person at
// once then, and has no wait.
func (a *agent) waitsItself() error {
	if a.scene.Numbers.NoAutomaticReplays {
		return inapplicable(registry.NoCause, "the host replays nothing by itself (automaticReplays is 0)")
	}
	return nil
}

// recovers wants a host that replays by itself, and says how often and how soon.
func (a *agent) recovers() error {
	if err := a.waitsItself(); err != nil {
		return err
	}
	return errors.Join(a.needs(map[string]int64{"automaticReplays": a.scene.Numbers.AutomaticReplays}), a.rounds())
}

// rounds wants a host that says how often its recovery looks for what is due.
func (a *agent) rounds() error {
	return a.needs(map[string]int64{"recoveryIntervalSeconds": a.scene.Numbers.RecoveryIntervalSeconds})
}

// agentReplaysTransient drives agentdlq.recover.replays-transient.
func agentReplaysTransient(ctx context.Context, a *agent) error {
	const early = 5 // seconds before the entry is due
	if err := a.recovers(); err != nil {
		return err
	}
	if err := a.fail(ctx, cast{"tool": {Script: script("server_error", "ok").Script, SideEffect: true}}, mail{"message": {steps: calls("tool")}}); err != nil {
		return err
	}
	due := a.detail(ctx, "message").NextReplay
	soon, err := a.advanceTo(ctx, due.Add(-early*time.Second))
	if err != nil {
		return err
	}
	a.when = "before it is due"
	a.tool(ctx, "tool")
	a.when = ""
	if soon > 0 {
		if err := a.stillBefore(ctx, due, "the entry is due"); err != nil {
			return err
		}
	}
	if err := a.advance(ctx, early+a.scene.Numbers.RecoveryIntervalSeconds+2); err != nil {
		return err
	}
	a.when = "once it is due"
	a.awaits(ctx, "message", resolved("replayed"))
	a.ended(ctx, "message")
	a.tool(ctx, "tool")
	return nil
}

// agentLimit drives agentdlq.recover.limit: the tool never recovers. All of the waits pass in one advance, and so much more
// that one replay too many would show. A host whose replays are late is given the time for those that are left: how soon
// they come is another leg's matter.
func agentLimit(ctx context.Context, a *agent) error {
	wants := a.recovers
	if a.scene.Numbers.NoAutomaticReplays { // none is a limit as well
		wants = a.rounds
	}
	if err := wants(); err != nil {
		return err
	}
	if err := a.fail(ctx, cast{"tool": script("server_error")}, mail{"message": {steps: calls("tool")}}); err != nil {
		return err
	}
	most := a.scene.Numbers.AutomaticReplays + 1
	seconds := a.longestWait(most)
	for attempts := int64(1); attempts <= most; attempts++ {
		seconds += a.longestWait(attempts)
	}
	if err := a.advance(ctx, seconds); err != nil {
		return err
	}
	for range most {
		if int64(a.detail(ctx, "message").Attempts) >= most {
			break
		}
		if err := a.advance(ctx, a.longestWait(most)); err != nil {
			return err
		}
	}
	a.awaits(ctx, "message", func(e agentdlq.Entry) bool { return e.NextReplay.IsZero() && int64(e.Attempts) >= most })
	a.reviews(ctx, "human", "message")
	a.tool(ctx, "tool")
	return nil
}

// agentAuthorization drives agentdlq.recover.authorization-never-replayed: the credential would be taken the second time.
func agentAuthorization(ctx context.Context, a *agent) error {
	if err := a.rounds(); err != nil {
		return err
	}
	if err := a.fail(ctx, cast{"tool": script("unauthorized", "ok")}, mail{"message": {steps: calls("tool")}}); err != nil {
		return err
	}
	if err := a.advance(ctx, max(2*a.longestWait(1), a.scene.Numbers.BreakerSeconds+1)); err != nil {
		return err
	}
	a.when = "in time"
	a.reviews(ctx, "security", "message")
	a.tool(ctx, "tool")
	a.when = "by a drain"
	read, err := a.drainTool(ctx, "tool", map[string]any{"batch": 1, "perSecond": 1})
	if err != nil {
		return err
	}
	a.until(ctx, func() bool { return read().Over() })
	a.tool(ctx, "tool")
	a.when = "by a person"
	err = errors.Join(err, a.replayed(ctx, "message"))
	a.tool(ctx, "tool")
	return err
}
