package scenarios

import (
	"context"
	"errors"
	"net/http"
	"net/url"
	"slices"

	"github.com/wopwitness/wopwitness/witness/agentdlq"
)

func agentImpactSpecs() []spec {
	return []spec{
		{"agentdlq.impact.steps", observed(agentImpactSteps)},
		{"agentdlq.impact.suspect-until-resolved", observed(agentSuspects)},
		{"agentdlq.impact.compensation-once", observed(agentCompensation)},
		{"agentdlq.impact.active-workflows", observed(agentActiveWorkflows)},
	}
}

// agentImpactSteps drives agentdlq.impact.steps: one step done, one failed, one that rests on it, one that rests on that, and
// one that rests on nothing.
func agentImpactSteps(ctx context.Context, a *agent) error {
	steps := []step{{Tool: "right"}, {Tool: "failing", DependsOn: []int{0}}, {Tool: "second", DependsOn: []int{1}}, {Tool: "third", DependsOn: []int{0, 2}}, {Tool: "apart"}}
	tools := cast{"right": script("ok"), "failing": script("bad_request"), "second": script("ok"), "third": script("ok"), "apart": script("ok")}
	if err := a.fail(ctx, tools, mail{"message": {steps: steps}}); err != nil {
		return err
	}
	a.impact(ctx, "message")
	a.act(ctx, agentdlq.DidAsk, "impact of no trace", http.MethodGet, "impact", url.Values{"traceId": {newTrace()[3:35]}}, nil)
	return nil
}

// agentSuspects drives agentdlq.impact.suspect-until-resolved: one entry is resolved by a person, and one is replayed.
func agentSuspects(ctx context.Context, a *agent) error {
	steps := []step{{Tool: "failing"}, {Tool: "behind", DependsOn: []int{0}}, {Tool: "behind", DependsOn: []int{1}}}
	roles := []string{"resolved", "replayed"}
	tools := cast{"failing": script("bad_request", "bad_request", "ok"), "behind": script("ok")}
	if err := a.fail(ctx, tools, alike(message{steps: steps}, roles...)); err != nil {
		return err
	}
	a.when = "unresolved"
	for _, role := range roles {
		a.impact(ctx, role)
	}
	a.when = ""
	if err := errors.Join(prepared(a.dispose(ctx, agentdlq.DidResolve, "resolved", "lee", ""), 202), a.replayed(ctx, "replayed")); err != nil {
		return err
	}
	a.ended(ctx, "replayed")
	a.when = "done with"
	for _, role := range roles {
		a.until(ctx, func() bool {
			return !slices.ContainsFunc(a.impact(ctx, role).Steps, func(s agentdlq.ImpactStep) bool { return s.State == "suspect" || s.State == "failed" })
		})
	}
	return nil
}

// agentCompensation drives agentdlq.impact.compensation-once: two steps with a side effect are done, one without, one fails.
func agentCompensation(ctx context.Context, a *agent) error {
	tools := cast{"booking": {Script: turns("ok", 1), SideEffect: true}, "looking": script("ok"), "failing": script("bad_request")}
	if err := a.fail(ctx, tools, mail{"message": {steps: calls("booking", "booking", "looking", "failing")}}); err != nil {
		return err
	}
	a.when = "before"
	a.impact(ctx, "message")
	a.tool(ctx, "booking")
	for _, a.when = range []string{"once", "twice"} {
		a.act(ctx, agentdlq.DidCompensate, "message", http.MethodPost, "impact/compensate", a.traceQuery("message"), map[string]any{})
		a.tool(ctx, "booking")
	}
	return nil
}

// agentActiveWorkflows drives agentdlq.impact.active-workflows.
func agentActiveWorkflows(ctx context.Context, a *agent) error {
	messages := alike(message{steps: calls("failing")}, "first", "second", "third")
	messages["elsewhere"] = message{steps: calls("other")}
	if err := a.fail(ctx, cast{"failing": script("bad_request"), "other": script("bad_request")}, messages); err != nil {
		return err
	}
	a.when = "three failed"
	a.impact(ctx, "first")
	a.impact(ctx, "elsewhere")
	a.when = ""
	if err := prepared(a.dispose(ctx, agentdlq.DidResolve, "third", "lee", ""), 202); err != nil {
		return err
	}
	a.when = "one resolved"
	a.until(ctx, func() bool { return a.impact(ctx, "first").Active < 3 })
	return nil
}
