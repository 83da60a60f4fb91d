package deadletter

import (
	"testing"

	"github.com/wopwitness/wopwitness/witness/observe"
)

func sinkPage(at observe.Micros, runs ...string) observe.Exchange {
	body := ""
	for i, id := range runs {
		if i > 0 {
			body += ","
		}
		body += `{"runId":"` + id + `","reason":"retries exhausted","attempts":3,"deadLetteredAt":"2026-03-01T12:00:00Z"}`
	}
	return reply(at, 200, `{"entries":[`+body+`]}`)
}

func TestJudgeElsewhere(t *testing.T) {
	right := func() Elsewhere {
		r := deadRun()
		return Elsewhere{
			Run: r, Listed: []observe.Exchange{sinkPage(13*second, ownID)}, HomeFork: reply(14*second, 201, `{"runId":"`+childID+`"}`),
			Patience: 10 * second, Began: 15 * second,
			Snapshot: reply(15*second, 200, failedSnapshot), Poll: page(15*second, logOf(ownID, exhausted(ownID)...)...),
			Relisted: []observe.Exchange{sinkPage(15*second, childID, ownID)}, Fork: reply(16*second, 201, `{"runId":"acme/r-00000000000000ff"}`),
		}
	}
	waited := func(o *Elsewhere) { o.Snapshot.SentAt = o.Began + o.Patience }
	missing := func(how func(o *Elsewhere)) func(o *Elsewhere) { return func(o *Elsewhere) { how(o); waited(o) } }
	try(t, "exhaustion.other-instance", right, []judged[Elsewhere]{
		{"right", nil, "pass"},
		{"right after a while", waited, "pass"},
		{"a host without a sink to show", func(o *Elsewhere) { o.Listed, o.Relisted = nil, nil }, "pass sink-not-asked"},
		{"a host that does not fork", func(o *Elsewhere) { o.HomeFork, o.Fork = reply(0, 409, `{}`), observe.Exchange{} }, "pass not-forked-at-home"},
		{"the run is not there", missing(func(o *Elsewhere) { o.Snapshot = reply(0, 404, `{}`) }), "run-there"},
		{"the event is not there", missing(func(o *Elsewhere) { o.Poll = page(15*second, logOf(ownID, event{"run.failed", "", ""})...) }), "event-there"},
		{"the log is not there", missing(func(o *Elsewhere) { o.Poll = reply(15*second, 404, `{}`) }), "event-there"},
		{"the entry is not there", missing(func(o *Elsewhere) { o.Relisted = []observe.Exchange{sinkPage(22*second, childID)} }), "entry-there"},
		{"it does not fork there", func(o *Elsewhere) { o.Fork = reply(16*second, 404, `{}`) }, "forked-there"},
		{"not asked for long enough", func(o *Elsewhere) { o.Snapshot = reply(15*second, 404, `{}`) }, "undecided timeout"},
		{"a peer that is not up", missing(func(o *Elsewhere) { o.Snapshot = reply(0, 503, `{}`) }), "undecided unexpected-answer"},
		{"a peer that is gone", func(o *Elsewhere) { o.Fork = silent(observe.FailRefused) }, "undecided unreachable"},
		{"a run that cannot be read at home", func(o *Elsewhere) { o.Run.Snapshots = []observe.Exchange{reply(12*second, 503, `{}`)} }, "undecided unexpected-answer"},
		{"a run that had not died", func(o *Elsewhere) {
			o.Run = runOf(ownID, exhausted(ownID)[:5])
			o.Run.Snapshots = []observe.Exchange{reply(12*second, 200, `{"status":"running"}`)}
		}, "undecided timeout"},
	})
}

func TestJudgePurgedElsewhere(t *testing.T) {
	late := func() Looked { return lookedGone(diedAt.AddDate(0, 0, 7), 25*60+1) }
	right := func() PurgedElsewhere {
		return PurgedElsewhere{
			Retention: Retention{Major: 2, Run: deadRun(), Window: windowOf(7), ForkBefore: reply(0, 201, `{}`), Looked: late()},
			Before:    reply(0, 200, failedSnapshot), There: late(),
		}
	}
	try(t, "retention.other-instance", right, []judged[PurgedElsewhere]{
		{"right", nil, "pass"},
		{"gone there as 410", func(o *PurgedElsewhere) { o.There.Snapshot = reply(0, 410, `{}`) }, "pass"},
		{"no fork operation", func(o *PurgedElsewhere) { o.ForkBefore, o.There.Fork = observe.Exchange{}, reply(0, 405, ``) }, "pass no-fork"},
		{"the fork is answered wrongly on both", func(o *PurgedElsewhere) {
			o.Looked.Fork, o.There.Fork = reply(0, 500, `{}`), reply(0, 500, `{}`)
		}, "pass fork-wrong-at-home"},
		{"still there", func(o *PurgedElsewhere) { o.There.Snapshot = reply(0, 200, failedSnapshot) }, "gone-there"},
		{"still forks there", func(o *PurgedElsewhere) { o.There.Fork = reply(0, 201, `{}`) }, "fork-not-found"},
		{"there and forks", func(o *PurgedElsewhere) {
			o.There.Snapshot, o.There.Fork = reply(0, 200, failedSnapshot), reply(0, 201, `{}`)
		}, "fork-not-found gone-there"},
		{"not purged at home", func(o *PurgedElsewhere) { o.Looked.Snapshot = reply(0, 200, failedSnapshot) }, "undecided unexpected-answer"},
		{"never shown there", func(o *PurgedElsewhere) { o.Before = reply(0, 404, `{}`) }, "undecided unexpected-answer"},
		{"the other's clock stands behind", func(o *PurgedElsewhere) { o.There.ClockBefore = clockAt(diedAt.AddDate(0, 0, 1)) }, "undecided clock-moved"},
		{"the home's clock stands behind", func(o *PurgedElsewhere) { o.Looked.ClockBefore = clockAt(diedAt.AddDate(0, 0, 1)) }, "undecided clock-moved"},
		{"a peer that is not up", func(o *PurgedElsewhere) { o.There.Snapshot = reply(0, 503, `{}`) }, "undecided unexpected-answer"},
		{"no window", func(o *PurgedElsewhere) { o.Window = nil }, "undecided unreadable"},
	})
}
