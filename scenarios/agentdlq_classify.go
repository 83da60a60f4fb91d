package scenarios

import (
	"context"

	"github.com/wopwitness/wopwitness/witness/agentdlq"
)

func agentClassifySpecs() []spec {
	of := func(kinds ...string) func(context.Context, *Drive) (any, error) {
		return playing(func(ctx context.Context, a *agent) error {
			tools, messages := ofKinds(kinds...)
			return a.fail(ctx, tools, messages)
		})
	}
	return []spec{
		{"agentdlq.classify.transient", of("server_error", "timeout", "rate_limited", "locked")},
		{"agentdlq.classify.schema", of("bad_request")},
		{"agentdlq.classify.semantic", of("semantic")},
		{"agentdlq.classify.unavailable", of("gone", "unreachable")},
		{"agentdlq.classify.context-eviction", observed(agentContextEviction)},
		{"agentdlq.classify.authorization", of("unauthorized")},
		{"agentdlq.classify.unknown-reviewed", playing(reviewOf("malformed"))},
	}
}

// reviewOf fails calls in these ways and waits for their entries in human review.
func reviewOf(kinds ...string) func(context.Context, *agent) error {
	return func(ctx context.Context, a *agent) error {
		tools, messages := ofKinds(kinds...)
		if err := a.fail(ctx, tools, messages); err != nil {
			return err
		}
		a.reviews(ctx, "human", kinds...)
		return nil
	}
}

// agentContextEviction drives agentdlq.classify.context-eviction and agentdlq.recover.context-gone: a passing failure whose
// conversation expires before it is replayed.
func agentContextEviction(ctx context.Context, a *agent) error {
	if err := a.fail(ctx, cast{"tool": script("server_error", "ok")}, mail{"message": {steps: calls("tool")}}); err != nil {
		return err
	}
	a.when = "before"
	a.detail(ctx, "message")
	a.when = ""
	if err := a.expire(ctx, "message"); err != nil {
		return err
	}
	a.dispose(ctx, agentdlq.DidReplay, "message", "kim", "")
	a.when = "after"
	a.awaits(ctx, "message", func(e agentdlq.Entry) bool { return e.Category == "CONTEXT_EVICTION" })
	a.reviews(ctx, "human", "message")
	a.tool(ctx, "tool")
	return nil
}
