// Package agentdlq judges an agent worker's dead letters by the page docs/agent-dlq-seams.md: where a failure goes and
// where it must not, what an entry carries, how a queue drains, and what is on record before a call goes out. A leg's
// observation is a Scene: what the leg did and read, in order. Each judge is a pure and total function of one.
//
// It never does I/O. Start with Judges for the table, scene.go for what a scene is, bench.go for how one is judged,
// read.go for the typed readings.
package agentdlq

import (
	"maps"

	"github.com/wopwitness/wopwitness/scenarios/registry"
	"github.com/wopwitness/wopwitness/witness"
)

// Judges is the judge of every leg of this package.
func Judges() map[registry.LegID]witness.Judge {
	table := map[registry.LegID]witness.Judge{}
	for _, part := range []map[registry.LegID]witness.Judge{
		routeJudges(), entryJudges(), drainJudges(), interceptJudges(),
		shapeJudges(), storeJudges(), classifyJudges(), recoverJudges(), repairJudges(), impactJudges(), observeJudges(), operateJudges(), burstJudges(),
	} {
		maps.Copy(table, part)
	}
	return table
}

func routeJudges() map[registry.LegID]witness.Judge {
	return map[registry.LegID]witness.Judge{
		"agentdlq.route.malformed-message":  witness.Of(JudgeMalformed),
		"agentdlq.route.invalid-message":    witness.Of(JudgeInvalid),
		"agentdlq.route.poison-limit":       witness.Of(JudgePoison),
		"agentdlq.route.transient-in-band":  witness.Of(JudgeTransient),
		"agentdlq.route.budget-exhausted":   witness.Of(JudgeExhausted),
		"agentdlq.route.attempts-counted":   witness.Of(JudgeAttempts),
		"agentdlq.route.misconfigured-once": witness.Of(JudgeMisconfigured),
		"agentdlq.route.circuit-open":       witness.Of(JudgeCircuitOpen),
		"agentdlq.route.circuit-shared":     witness.Of(JudgeCircuitShared),
		"agentdlq.route.circuit-half-opens": witness.Of(JudgeHalfOpens),
		"agentdlq.route.crash-redelivered":  witness.Of(JudgeRedelivered),
		"agentdlq.route.crash-resumes":      witness.Of(JudgeResumes),
		"agentdlq.route.fallback":           witness.Of(JudgeFallback),
		"agentdlq.route.retry-after":        witness.Of(JudgeRetryAfter),
	}
}
