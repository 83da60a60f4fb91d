// Package deadletter judges the dead-lettering of runs (RFC 0053): what discovery says of it, that a run which exhausts
// its retries is dead-lettered and kept, that it can be forked, that it is purged when its time is over, and who sees
// the sink. Each leg has an observation type, which is what its scenario records, and a judge, which is a pure and total
// function of it.
//
// It never does I/O. Start with Judges for the table, run.go for what a run looks like, log.go for how its log is read.
package deadletter

import (
	"github.com/wopwitness/wopwitness/scenarios/registry"
	"github.com/wopwitness/wopwitness/witness"
)

// Judges is the judge of every leg of this package.
func Judges() map[registry.LegID]witness.Judge {
	return map[registry.LegID]witness.Judge{
		"0053.shape.vectors":             witness.Of(JudgeVectors),
		"0053.shape.advertisement":       witness.Of(JudgeAdvertisement),
		"0053.shape.retention-days":      witness.Of(JudgeRetentionDays),
		"0053.exhaustion.event":          witness.Of(JudgeEvent),
		"0053.exhaustion.attempts":       witness.Of(JudgeAttempts),
		"0053.exhaustion.status":         witness.Of(JudgeStatus),
		"0053.exhaustion.retained":       witness.Of(JudgeRetained),
		"0053.exhaustion.durable":        witness.Of(JudgeDurable),
		"0053.exhaustion.other-instance": witness.Of(JudgeElsewhere),
		"0053.exhaustion.not-early":      witness.Of(JudgeNotEarly),
		"0053.exhaustion.redacted":       witness.Of(JudgeRedacted),
		"0053.fork.replay":               witness.Of(JudgeForkReplay),
		"0053.fork.branch":               witness.Of(JudgeForkBranch),
		"0053.fork.source-unchanged":     witness.Of(JudgeSourceUnchanged),
		"0053.fork.tenant":               witness.Of(JudgeForkTenant),
		"0053.retention.floor":           witness.Of(JudgeFloor),
		"0053.retention.purged":          witness.Of(JudgePurged),
		"0053.retention.no-oracle":       witness.Of(JudgeNoOracle),
		"0053.retention.neighbour":       witness.Of(JudgeNeighbour),
		"0053.retention.other-instance":  witness.Of(JudgePurgedElsewhere),
		"0053.sink.inspectable":          witness.Of(JudgeInspectable),
		"0053.sink.scoped":               witness.Of(JudgeScoped),
	}
}
