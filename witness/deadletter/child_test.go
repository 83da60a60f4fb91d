package deadletter

import (
	"testing"

	"github.com/wopwitness/wopwitness/witness/observe"
)

// withChild is a dead run and its replay.
func withChild(events []event, status string) func() Exhaustion {
	return func() Exhaustion {
		c := childOf(events, status)
		return Exhaustion{Major: 2, Run: deadRun(), Child: &c}
	}
}

func child(events []event, status string) func(*Exhaustion) {
	return func(o *Exhaustion) { *o = withChild(events, status)() }
}

func TestAForkThatDiesIsDeadLettered(t *testing.T) {
	untold := rename(exhausted(childID), "")
	try(t, "exhaustion.event", withChild(exhausted(childID), "failed"), []judged[Exhaustion]{
		{"its replay dies and is dead-lettered", nil, "pass"},
		{"its replay dies, and no event comes", child(untold, "failed"), "dead-letter-of-the-fork"},
		{"its replay dies, and wasn't watched", func(o *Exhaustion) {
			child(untold, "failed")(o)
			o.Child.Reads[1].SentAt, o.Child.Snapshots[0].SentAt = 2*second, 2*second
		}, "undecided timeout"},
		{"lawful: the replay is spared the failure", child(completes, "completed"), "pass"},
		{"lawful: the replay's log shows fewer tries", child(untold[6:], "failed"), "pass"},
		{"lawful: the replay fails at once and shows no node", child([]event{{"run.started", "", ""}, {"run.failed", "", ""}}, "failed"), "pass"},
		{"lawful: the replay is cancelled", child(append(untold[:9:9], event{"run.cancelled", "", ""}), "cancelled"), "pass"},
		{"the replay can't be read", func(o *Exhaustion) {
			o.Child.Reads, o.Child.Snapshots = []observe.Exchange{reply(0, 404, `{}`)}, []observe.Exchange{reply(0, 404, `{}`)}
		}, "pass"},
	})
}

func TestAForksDeadLetterCountsItsOwnAttempts(t *testing.T) {
	try(t, "exhaustion.attempts", withChild(exhausted(childID), "failed"), []judged[Exhaustion]{
		{"its replay counts its own", nil, "pass"},
		{"its replay adds its source's", child(repay(exhausted(childID), `"attempts":3`, `"attempts":6`), "failed"), "attempts-of-the-fork"},
		{"its replay doesn't count", child(repay(exhausted(childID), `,"attempts":3`, ``), "failed"), "attempts-of-the-fork"},
		{"lawful: a second dead letter of the replay, for the run, counts otherwise", child(append(exhausted(childID),
			event{"run.dead-lettered", "", `{"runId":"` + childID + `","reason":"a node died","attempts":1}`}), "failed"), "pass"},
		{"no event of the replay's", child(rename(exhausted(childID), ""), "failed"), "pass"},
		{"lawful: the replay's log shows fewer tries", child(append(exhausted(childID)[6:9:9], exhausted(childID)[9:]...), "failed"), "pass"},
	})
}
