package scenarios

import (
	"context"
	"errors"
	"math"

	"github.com/wopwitness/wopwitness/scenarios/registry"
	"github.com/wopwitness/wopwitness/witness/agentdlq"
)

func agentRepairSpecs() []spec {
	return []spec{
		{"agentdlq.repair.at-threshold", observed(agentAtThreshold)},
		{"agentdlq.repair.below-threshold", observed(agentBelowThreshold)},
		{"agentdlq.repair.semantic-only", observed(agentSemanticOnly)},
		{"agentdlq.repair.rule-first", observed(agentRuleFirst)},
	}
}

// threshold is the host's, from which on a proposal is replayed.
func (a *agent) threshold() (float64, error) {
	t := a.scene.Numbers.RepairThreshold
	if t <= 0.01 || t > 1 {
		return 0, blocked(registry.Unreadable, "the extension does not say repairThreshold as a number above 0.01 and up to 1")
	}
	return t, nil
}

func proposal() map[string]any { return map[string]any{"order": agentdlq.RepairedMark} }

// agentAtThreshold drives agentdlq.repair.at-threshold: one tool takes what is proposed, and one quotes it.
func agentAtThreshold(ctx context.Context, a *agent) error {
	sure, err := a.threshold()
	if err != nil {
		return err
	}
	if err := errors.Join(
		a.repairer(ctx, "mended tool", proposal(), sure),
		a.repairer(ctx, "quoting tool", proposal(), sure),
		a.fail(ctx, cast{"mended tool": {Script: script("semantic", "ok").Script, SideEffect: true}, "quoting tool": script("semantic", "bad_request")},
			mail{"mended": {steps: calls("mended tool")}, "quoting": {steps: calls("quoting tool")}})); err != nil {
		return err
	}
	a.awaits(ctx, "mended", resolved("replayed"))
	a.awaits(ctx, "quoting", func(e agentdlq.Entry) bool { return e.Kind == "bad_request" })
	a.ended(ctx, "mended")
	a.tool(ctx, "mended tool")
	a.tool(ctx, "quoting tool")
	return nil
}

// agentBelowThreshold drives agentdlq.repair.below-threshold. The tool would take a second call.
func agentBelowThreshold(ctx context.Context, a *agent) error {
	sure, err := a.threshold()
	if err != nil {
		return err
	}
	unsure := math.Round((sure-0.01)*1e6) / 1e6
	if err := errors.Join(
		a.repairer(ctx, "tool", proposal(), unsure),
		a.fail(ctx, cast{"tool": script("semantic", "ok")}, mail{"message": {steps: calls("tool")}})); err != nil {
		return err
	}
	a.reviews(ctx, "human", "message")
	a.tool(ctx, "tool")
	return nil
}

// agentSemanticOnly drives agentdlq.repair.semantic-only. The semantic failure comes last, and its repair is waited for.
func agentSemanticOnly(ctx context.Context, a *agent) error {
	kinds := []string{"bad_request", "server_error", "unauthorized", "unreachable"}
	for _, kind := range append([]string{"semantic"}, kinds...) {
		if err := a.repairer(ctx, kind+" tool", proposal(), 1); err != nil {
			return err
		}
	}
	tools, messages := cast{}, mail{}
	for _, kind := range kinds {
		if kind != "unreachable" {
			tools[kind+" tool"] = script(kind, "ok")
		}
		messages[kind] = message{steps: calls(kind + " tool")}
	}
	if err := errors.Join(
		a.fail(ctx, tools, messages),
		a.fail(ctx, cast{"semantic tool": script("semantic", "ok")}, mail{"semantic": {steps: calls("semantic tool")}})); err != nil {
		return err
	}
	a.awaits(ctx, "semantic", resolved("replayed"))
	for _, kind := range kinds {
		a.detail(ctx, kind)
		if kind != "unreachable" {
			a.tool(ctx, kind+" tool")
		}
	}
	return nil
}

// agentRuleFirst drives agentdlq.repair.rule-first: two days stand the wrong way round, and the scripted repairer is sure of
// something else.
func agentRuleFirst(ctx context.Context, a *agent) error {
	switch sure, err := a.threshold(); {
	case err != nil:
		return err
	case sure > agentdlq.RuleConfidence:
		return inapplicable(registry.NoCause, "the host replays what a repairer is %v sure of (repairThreshold), and its rules never are", sure)
	}
	args := map[string]any{"start": agentdlq.LaterDay, "end": agentdlq.EarlierDay}
	if err := errors.Join(
		a.repairer(ctx, "tool", map[string]any{"start": agentdlq.RepairedMark, "end": agentdlq.LaterDay}, 1),
		a.fail(ctx, cast{"tool": script("semantic", "bad_request")}, mail{"message": {steps: []step{{Tool: "tool", Args: args}}}})); err != nil {
		return err
	}
	a.awaits(ctx, "message", func(e agentdlq.Entry) bool { return e.Kind == "bad_request" })
	a.tool(ctx, "tool")
	return nil
}
