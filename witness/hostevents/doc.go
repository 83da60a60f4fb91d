// Package hostevents judges host events: the trigger (RFC 0241), the envelope and its delivery (RFC 0236), and strict
// replay (RFC 0250). Each leg has an observation type, which is what its scenario records, and a judge, which is a pure
// and total function of it.
//
// It never does I/O. Start with Judges for the table, account.go for how a stream is held against what was emitted.
package hostevents

import (
	"github.com/wopwitness/wopwitness/scenarios/registry"
	"github.com/wopwitness/wopwitness/witness"
)

// Judges is the judge of every leg of this package.
func Judges() map[registry.LegID]witness.Judge {
	return map[registry.LegID]witness.Judge{
		"0241.trigger.bound-by-listing":    witness.Of(JudgeBoundByListing),
		"0241.trigger.body-closed":         witness.Of(JudgeBodyClosed),
		"0241.trigger.workspace-scope":     witness.Of(JudgeWorkspaceScope),
		"0241.trigger.idempotent":          witness.Of(JudgeIdempotent),
		"0241.trigger.other-instance":      witness.Of(JudgeIdempotentElsewhere),
		"0236.host-event.envelope":         witness.Of(JudgeEnvelope),
		"0236.host-event.listed-types":     witness.Of(JudgeListedTypes),
		"0236.host-event.tenant-isolation": witness.Of(JudgeTenantIsolation),
		"0236.ephemeral.no-resume":         witness.Of(JudgeNoResume),
		"0236.ephemeral.other-instance":    witness.Of(JudgeEphemeralElsewhere),
		"0250.shape":                       witness.Of(JudgeShape),
		"0250.resume-backlog":              witness.Of(JudgeResumeBacklog),
		"0250.ephemeral-not-replayed":      witness.Of(JudgeEphemeralNotReplayed),
		"0250.cursor-refused":              witness.Of(JudgeCursorRefused),
		"0250.refusal-uniform":             witness.Of(JudgeRefusalUniform),
		"0250.legacy-unchanged":            witness.Of(JudgeLegacyUnchanged),
		"0250.live-start":                  witness.Of(JudgeLiveStart),
		"0250.handoff":                     witness.Of(JudgeHandoff),
		"0250.unwatched":                   witness.Of(JudgeUnwatched),
		"0250.volume":                      witness.Of(JudgeVolume),
		"0250.tenant-backlog":              witness.Of(JudgeTenantBacklog),
		"0250.workspace-backlog":           witness.Of(JudgeWorkspaceBacklog),
		"0250.resume-stable":               witness.Of(JudgeResumeStable),
		"0250.resume-twice":                witness.Of(JudgeResumeTwice),
		"0250.refusal-reveals-nothing":     witness.Of(JudgeRefusalRevealsNothing),
		"0250.auth-first":                  witness.Of(JudgeAuthFirst),
		"0250.cursor-hostile":              witness.Of(JudgeCursorHostile),
		"0250.replay-value":                witness.Of(JudgeReplayValue),
		"0250.removed":                     witness.Of(JudgeRemoved),
		"0250.oversize":                    witness.Of(JudgeOversize),
		"0250.oversize.other-instance":     witness.Of(JudgeLargeElsewhere),
		"0250.bounded-stream":              witness.Of(JudgeBoundedStream),
		"0250.other-instance":              witness.Of(JudgeOtherInstance),
		"0250.expired":                     witness.Of(JudgeExpired),
		"0250.restart":                     witness.Of(JudgeRestarted),
	}
}
