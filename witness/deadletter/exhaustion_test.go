package deadletter

import (
	"strings"
	"testing"

	"github.com/wopwitness/wopwitness/witness/observe"
)

func exhaustion() Exhaustion { return Exhaustion{Major: 2, Run: deadRun()} }

func onMajor1(o *Exhaustion, name string) {
	o.Major, o.Run = 1, runOf(ownID, rename(exhausted(ownID), name))
}

func TestJudgeEvent(t *testing.T) {
	logged := func(events []event) func(*Exhaustion) { return func(o *Exhaustion) { o.Run = runOf(ownID, events) } }
	payload := func(from, to string) func(*Exhaustion) { return logged(repay(exhausted(ownID), from, to)) }
	seam := func(body string) func(*Exhaustion) { return func(o *Exhaustion) { o.Run = seamRun(body) } }
	try(t, "exhaustion.event", exhaustion, []judged[Exhaustion]{
		{"right", nil, "pass"},
		{"right on major 1", func(o *Exhaustion) { onMajor1(o, "run.dead_lettered") }, "pass"},
		{"camel-cased on major 1", func(o *Exhaustion) { onMajor1(o, "run.deadLettered") }, "pass camel-name"},
		{"after the terminal event", logged(append(without(exhausted(ownID), "run.dead-lettered"), event{"run.dead-lettered", "", letterPayload(ownID)})), "pass"},
		{"another one for the run", logged(append(exhausted(ownID), event{"run.dead-lettered", "", `{"runId":"` + ownID + `","reason":"a node died","attempts":1}`})), "pass several-events"},
		{"no node named", payload(`"nodeId":"poison",`, ``), "pass"},
		{"a member of the host's own", payload(`"attempts":3`, `"attempts":3,"severity":"high"`), "pass"},
		{"no retried events", logged(without(exhausted(ownID), "node.retried")), "pass"},
		{"payload null and data beside it", func(o *Exhaustion) {
			for i := range o.Run.Reads {
				o.Run.Reads[i].Response.Body = observe.Text(strings.Replace(o.Run.Reads[i].Response.Body.String(), `"payload":{"runId"`, `"payload":null,"data":{"runId"`, 1))
			}
		}, "pass"},
		{"no event", logged(rename(exhausted(ownID), "")), "dead-letter-event"},
		{"major 1's name on major 2", logged(rename(exhausted(ownID), "run.dead_lettered")), "name-for-major"},
		{"camel-cased on major 2", logged(rename(exhausted(ownID), "run.deadLettered")), "name-for-major"},
		{"major 2's name on major 1", func(o *Exhaustion) { onMajor1(o, "run.dead-lettered") }, "name-for-major"},
		{"another name", logged(rename(exhausted(ownID), "run.buried")), "dead-letter-event"},
		{"no reason", payload(`"reason":"retries exhausted",`, ``), "payload-form"},
		{"no attempts", payload(`,"attempts":3`, ``), "payload-form"},
		{"attempts of zero", payload(`"attempts":3`, `"attempts":0`), "payload-form"},
		{"attempts in a string", payload(`"attempts":3`, `"attempts":"3"`), "payload-form"},
		{"a null node in the payload", payload(`"nodeId":"poison"`, `"nodeId":null`), "payload-form"},
		{"no run in the payload", payload(`"runId":"`+ownID+`",`, ``), "payload-form"},
		{"another run", payload(ownID, childID), "own-run"},
		{"another node", payload(`"poison"`, `"after"`), "failing-node"},
		{"a second event that is malformed", logged(append(exhausted(ownID), event{"run.dead-lettered", "", `{"runId":"` + ownID + `"}`})), "payload-form"},
		{"no event, not watched for long enough", func(o *Exhaustion) {
			o.Run = runOf(ownID, rename(exhausted(ownID), ""))
			o.Run.Reads = o.Run.Reads[:1]
		}, "undecided timeout"},
		{"no event, and the end seen last of all", logged(exhausted(ownID)[:6]), "undecided timeout"},
		{"no event, no end in the snapshot either", func(o *Exhaustion) {
			o.Run = runOf(ownID, exhausted(ownID)[:6])
			o.Run.Snapshots = []observe.Exchange{reply(12*second, 200, `{"status":"running"}`)}
		}, "undecided timeout"},
		{"the fixture completes", logged([]event{{"run.started", "", ""}, {"run.completed", "", ""}}), "undecided unexpected-answer"},
		{"the log cannot be read", func(o *Exhaustion) { o.Run.Reads = []observe.Exchange{reply(0, 404, `{}`)} }, "undecided unexpected-answer"},
		{"no run was made", func(o *Exhaustion) { o.Run = Run{Label: "r", Made: []observe.Exchange{silent(observe.FailTimeout)}} }, "undecided timeout"},
		{"the seam's event", seam(seamBody("run.dead-lettered")), "pass"},
		{"the seam's event under the wrong name", seam(seamBody("run.dead_lettered")), "name-for-major"},
		{"the seam without an event", seam(`{"forkEligible":true}`), "dead-letter-event"},
		{"the seam says it cannot be forked", seam(strings.Replace(seamBody("run.dead-lettered"), "true", "false", 1)), "fork-eligible-claim"},
		{"the seam doesn't say", seam(strings.Replace(seamBody("run.dead-lettered"), `,"forkEligible":true`, "", 1)), "pass no-claim"},
		{"the seam failed", func(o *Exhaustion) {
			o.Run = Run{Seam: true, Made: []observe.Exchange{reply(0, 500, `{}`)}}
		}, "undecided unexpected-answer"},
	})
}

func TestJudgeAttempts(t *testing.T) {
	logged := func(events []event) func(*Exhaustion) { return func(o *Exhaustion) { o.Run = runOf(ownID, events) } }
	attempts := func(events []event, n string) func(*Exhaustion) {
		return logged(repay(events, `"attempts":3`, `"attempts":`+n))
	}
	bare := without(without(exhausted(ownID), "node.retried"), "node.failed")
	once := []event{{"run.started", "", ""}, {"node.started", "poison", ""}, {"node.failed", "poison", ""},
		{"run.dead-lettered", "", letterPayload(ownID)}, {"run.failed", "", ""}}
	numbered := []event{{"node.started", "poison", `{"attempt":3}`}, {"run.dead-lettered", "", letterPayload(ownID)}, {"run.failed", "", ""}}
	twice := append(slicesOf(exhausted(ownID)[:6]), exhausted(ownID)[9:]...)
	forRun := append(exhausted(ownID), event{"run.dead-lettered", "", `{"runId":"` + ownID + `","reason":"x","attempts":1}`})
	try(t, "exhaustion.attempts", exhaustion, []judged[Exhaustion]{
		{"right", nil, "pass"},
		{"no node.retried", logged(without(exhausted(ownID), "node.retried")), "pass"},
		{"node.failed once only", logged(append(without(exhausted(ownID), "node.failed"), event{"x.y", "", ""})), "pass"},
		{"starts alone", logged(bare), "pass"},
		{"numbered attempts alone", logged(numbered), "pass"},
		{"a policy of two tries", attempts(twice, "2"), "pass own-policy"},
		{"a log of one attempt is no evidence", logged(once), "pass attempts-not-shown"},
		{"the run's own event counts otherwise", logged(forRun), "pass"},
		{"no node named", logged(repay(exhausted(ownID), `"nodeId":"poison",`, ``)), "pass"},
		{"another node named is another question", logged(repay(exhausted(ownID), `"poison"`, `"after"`)), "pass"},
		{"one too few", attempts(exhausted(ownID), "2"), "attempts-match-log"},
		{"one too many", attempts(exhausted(ownID), "4"), "attempts-match-log"},
		{"zero", attempts(exhausted(ownID), "0"), "attempts-match-log attempts-positive"},
		{"a string", attempts(exhausted(ownID), `"3"`), "attempts-positive"},
		{"retries counted in place of tries", attempts(without(without(exhausted(ownID), "node.started"), "node.failed"), "2"), "attempts-match-log"},
		{"no dead letter", logged(rename(exhausted(ownID), "")), "undecided unexpected-answer"},
		{"the seam's run with a log", func(o *Exhaustion) {
			r := seamRun(seamBody("run.dead-lettered"))
			r.Reads, r.Snapshots = o.Run.Reads, o.Run.Snapshots
			o.Run = r
		}, "pass"},
	})
}

func slicesOf(events []event) []event { return append([]event(nil), events...) }

func TestJudgeStatus(t *testing.T) {
	logged := func(events []event) func(*Exhaustion) { return func(o *Exhaustion) { o.Run = runOf(ownID, events) } }
	snapshot := func(body string) func(*Exhaustion) {
		return func(o *Exhaustion) { o.Run.Snapshots = []observe.Exchange{reply(12*second, 200, body)} }
	}
	try(t, "exhaustion.status", exhaustion, []judged[Exhaustion]{
		{"right", nil, "pass"},
		{"no error in the snapshot", snapshot(`{"status":"failed"}`), "pass no-error"},
		{"other events after the end", logged(append(exhausted(ownID), event{"run.archived", "", ""})), "pass"},
		{"the dead letter after the end", logged(append(without(exhausted(ownID), "run.dead-lettered"), event{"run.dead-lettered", "", letterPayload(ownID)})), "pass"},
		{"a node's event after the end on major 1", func(o *Exhaustion) {
			onMajor1(o, "run.dead_lettered")
			o.Run = runOf(ownID, append(rename(exhausted(ownID), "run.dead_lettered"), event{"node.failed", "poison", ""}))
		}, "pass"},
		{"the node behind was started", logged(append([]event{{"node.started", "after", ""}}, exhausted(ownID)...)), "pass downstream-started"},
		{"no log", func(o *Exhaustion) {
			o.Run = seamRun(seamBody("run.dead-lettered"))
			o.Run.Snapshots = []observe.Exchange{reply(0, 200, failedSnapshot)}
		}, "pass no-log"},
		{"completed", snapshot(`{"status":"completed"}`), "status-failed"},
		{"still running", snapshot(`{"status":"running","error":{}}`), "status-failed"},
		{"no terminal event", logged(without(exhausted(ownID), "run.failed")), "one-terminal-event"},
		{"two terminal events", logged(append(exhausted(ownID), event{"run.failed", "", ""})), "one-terminal-event"},
		{"two ends", logged(append(exhausted(ownID), event{"run.completed", "", ""})), "one-terminal-event"},
		{"a node after the end", logged(append(exhausted(ownID), event{"node.started", "poison", ""})), "nothing-after-the-end"},
		{"resumed after the end", logged(append(exhausted(ownID), event{"run.resumed", "", ""})), "nothing-after-the-end"},
		{"an interrupt after the end", logged(append(exhausted(ownID), event{"interrupt.raised", "", ""})), "nothing-after-the-end"},
		{"the run cannot be read", func(o *Exhaustion) { o.Run.Snapshots = []observe.Exchange{reply(0, 404, `{}`)} }, "undecided unexpected-answer"},
		{"it recovered", func(o *Exhaustion) {
			o.Run = runOf(ownID, []event{{"run.started", "", ""}, {"run.completed", "", ""}})
			o.Run.Snapshots = []observe.Exchange{reply(0, 200, `{"status":"completed"}`)}
		}, "undecided unexpected-answer"},
	})
}

func TestJudgeRetained(t *testing.T) {
	right := func() Retained {
		return Retained{Run: deadRun(), Window: windowOf(30), Late: lookedAt(diedAt.AddDate(0, 0, 30), -2)}
	}
	try(t, "exhaustion.retained", right, []judged[Retained]{
		{"right", nil, "pass"},
		{"no clock", func(o *Retained) { o.Window, o.Late = nil, nil }, "pass not-waited-for"},
		{"gone at once", func(o *Retained) {
			o.Run.Snapshots = []observe.Exchange{reply(0, 404, `{}`)}
			o.Window, o.Late = nil, nil
		}, "readable-after-death"},
		{"gone at once, log and all", func(o *Retained) {
			none := reply(12*second, 404, `{}`)
			o.Run.Reads, o.Run.Snapshots, o.Window, o.Late = []observe.Exchange{none}, []observe.Exchange{none}, nil, nil
		}, "readable-after-death"},
		{"not there yet", func(o *Retained) {
			none := reply(second, 404, `{}`)
			o.Run.Reads, o.Run.Snapshots, o.Window, o.Late = []observe.Exchange{none}, []observe.Exchange{none}, nil, nil
		}, "undecided timeout"},
		{"gone early", func(o *Retained) { o.Late.Snapshot = reply(0, 404, `{}`) }, "readable-until-the-end"},
		{"asked too late", func(o *Retained) { o.Late = lookedAt(diedAt.AddDate(0, 0, 30), 5) }, "undecided clock-moved"},
		{"asked long before", func(o *Retained) { o.Late = lookedAt(diedAt, 0) }, "undecided clock-moved"},
		{"the clock could not be read", func(o *Retained) { o.Late.ClockAfter = reply(0, 404, `{}`) }, "undecided unexpected-answer"},
		{"busy", func(o *Retained) { o.Late.Snapshot = reply(0, 429, `{}`) }, "undecided unexpected-answer"},
	})
}
