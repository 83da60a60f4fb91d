package scenarios

import (
	"context"
	"slices"

	"github.com/wopwitness/wopwitness/scenarios/registry"
)

// spec pairs a leg with the function that drives it. The function gives the observation, of the type its judge takes.
type spec struct {
	id    registry.LegID
	drive func(ctx context.Context, d *Drive) (any, error)
}

// specs is every scenario that is built.
func specs() []spec {
	return append([]spec{
		{"0241.trigger.bound-by-listing", boundByListing},
		{"0241.trigger.body-closed", bodyClosed},
		{"0241.trigger.workspace-scope", workspaceScope},
		{"0241.trigger.idempotent", idempotent},
		{"0241.trigger.other-instance", idempotentElsewhere},
		{"0236.host-event.envelope", deliveredInEnvelope},
		{"0236.ephemeral.no-resume", noResume},
		{"0236.ephemeral.other-instance", ephemeralElsewhere},
		{"0236.host-event.tenant-isolation", tenantIsolation},
		{"0236.host-event.listed-types", listedTypes},
		{"0250.shape", shape},
		{"0250.resume-backlog", resumeBacklog},
		{"0250.ephemeral-not-replayed", ephemeralNotReplayed},
		{"0250.cursor-refused", cursorRefused},
		{"0250.refusal-uniform", refusalUniform},
		{"0250.legacy-unchanged", legacyUnchanged},
		{"0250.live-start", liveStart},
		{"0250.unwatched", unwatched},
		{"0250.handoff", handoff},
		{"0250.volume", volume},
		{"0250.tenant-backlog", tenantBacklog},
		{"0250.workspace-backlog", workspaceBacklog},
		{"0250.resume-stable", resumeStable},
		{"0250.resume-twice", resumeTwice},
		{"0250.refusal-reveals-nothing", refusalRevealsNothing},
		{"0250.auth-first", authFirst},
		{"0250.cursor-hostile", cursorHostile},
		{"0250.replay-value", replayValue},
		{"0250.removed", removed},
		{"0250.oversize", oversize},
		{"0250.bounded-stream", boundedStream},
		{"0250.other-instance", otherInstance},
		{"0250.oversize.other-instance", largeElsewhere},
		{"0250.expired", expired},
		{"0250.restart", restarted},
	}, slices.Concat(deadLetterSpecs(), agentDLQSpecs())...)
}
