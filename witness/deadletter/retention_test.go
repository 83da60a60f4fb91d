package deadletter

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/wopwitness/wopwitness/witness/observe"
)

func clockAt(t time.Time) observe.Exchange {
	return reply(0, 200, fmt.Sprintf(`{"now":%q,"mode":"manual"}`, t.Format(time.RFC3339)))
}

func windowOf(days int64) *Window {
	return &Window{Days: days, Before: clockAt(diedAt.Add(-time.Minute)), After: clockAt(diedAt.Add(time.Second))}
}

// lookedAt is a look at a run that is there, the given minutes after a moment.
func lookedAt(at time.Time, minutes int) *Looked {
	at = at.Add(time.Duration(minutes) * time.Minute)
	return &Looked{ClockBefore: clockAt(at), Snapshot: reply(0, 200, failedSnapshot), Fork: reply(0, 201, `{"runId":"`+childID+`"}`), ClockAfter: clockAt(at.Add(time.Second))}
}

// lookedGone is a look at a run that is not there.
func lookedGone(at time.Time, minutes int) Looked {
	l := *lookedAt(at, minutes)
	none := reply(0, 404, `{"error":"not_found","message":"no such run"}`)
	l.Snapshot, l.Poll, l.Fork, l.Stream.Exchange = none, none, none, none
	return l
}

func TestJudgeFloor(t *testing.T) {
	right := func() Retention {
		return Retention{Major: 2, Run: deadRun(), Window: windowOf(7), ForkBefore: reply(0, 201, `{}`), Looked: *lookedAt(diedAt.AddDate(0, 0, 7), -2)}
	}
	try(t, "retention.floor", right, []judged[Retention]{
		{"right", nil, "pass"},
		{"no timestamps in the log", func(o *Retention) {
			o.Run.Reads = []observe.Exchange{page(second, `{"type":"run.dead-lettered","sequence":1,"payload":`+letterPayload(ownID)+`}`, `{"type":"run.failed","sequence":2}`)}
			o.Looked = *lookedAt(diedAt.AddDate(0, 0, 7), -3)
		}, "pass"},
		{"no fork to ask for", func(o *Retention) { o.ForkBefore, o.Looked.Fork = observe.Exchange{}, observe.Exchange{} }, "pass not-forkable-before"},
		{"gone", func(o *Retention) { o.Looked.Snapshot = reply(0, 404, `{}`) }, "readable-before-the-end"},
		{"expired", func(o *Retention) { o.Looked.Snapshot = reply(0, 410, `{}`) }, "readable-before-the-end"},
		{"does not fork any more", func(o *Retention) { o.Looked.Fork = reply(0, 409, `{}`) }, "forkable-before-the-end"},
		{"asked too late", func(o *Retention) { o.Looked = *lookedAt(diedAt.AddDate(0, 0, 7), 1) }, "undecided clock-moved"},
		{"asked a day before", func(o *Retention) { o.Looked = *lookedAt(diedAt.AddDate(0, 0, 6), 0) }, "undecided clock-moved"},
		{"no moment of death", func(o *Retention) {
			o.Run.Reads = []observe.Exchange{page(second, `{"type":"run.failed","sequence":2}`)}
			o.Window.Before = observe.Exchange{}
		}, "undecided unexpected-answer"},
		{"no window", func(o *Retention) { o.Window = nil }, "undecided unreadable"},
	})
}

func TestJudgePurged(t *testing.T) {
	late := func() Looked { return lookedGone(diedAt.AddDate(0, 0, 7), 25*60+1) }
	right := func() Retention {
		return Retention{Major: 2, Run: deadRun(), Window: windowOf(7), ForkBefore: reply(0, 201, `{}`), Looked: late()}
	}
	operator := func(o *Retention) {
		o.Window, o.Run, o.ForkBefore = nil, Run{Label: "expired", RunID: ownID}, observe.Exchange{}
	}
	branched := func(before, now int) func(*Retention) {
		return func(o *Retention) { o.BranchBefore, o.Looked.Branch = reply(0, before, `{}`), reply(0, now, `{}`) }
	}
	try(t, "retention.purged", right, []judged[Retention]{
		{"right", nil, "pass"},
		{"gone as 410", func(o *Retention) { o.Looked.Snapshot, o.Looked.Poll = reply(0, 410, `{}`), reply(0, 410, `{}`) }, "pass"},
		{"the fork is 410 on major 2", func(o *Retention) { o.Looked.Fork = reply(0, 410, `{}`) }, "pass fork-refused-otherwise"},
		{"the fork is 422 on major 2", func(o *Retention) { o.Looked.Fork = reply(0, 422, `{}`) }, "pass fork-refused-otherwise"},
		{"no fork operation", func(o *Retention) { o.ForkBefore, o.Looked.Fork = observe.Exchange{}, reply(0, 405, ``) }, "pass no-fork"},
		{"the operator's id", operator, "pass"},
		{"the operator's forced expiry", func(o *Retention) { operator(o); x := reply(0, 202, ``); o.Forced = &x }, "pass"},
		{"the forced expiry failed", func(o *Retention) { operator(o); x := reply(0, 500, ``); o.Forced = &x }, "undecided unexpected-answer"},
		{"the run is still there", func(o *Retention) { o.Looked.Snapshot = reply(0, 200, failedSnapshot) }, "snapshot-gone"},
		{"the poll is still there", func(o *Retention) { o.Looked.Poll = page(0) }, "poll-gone"},
		{"the stream is still there", func(o *Retention) { o.Looked.Stream.Exchange = reply(0, 200, ``) }, "stream-gone"},
		{"it still forks", func(o *Retention) { o.Looked.Fork = reply(0, 201, `{}`) }, "fork-not-found"},
		{"the fork is 410 on major 1", func(o *Retention) { o.Major = 1; o.Looked.Fork = reply(0, 410, `{}`) }, "fork-not-found"},
		{"the fork is a conflict", func(o *Retention) { o.Looked.Fork = reply(0, 409, `{}`) }, "fork-not-found"},
		{"the fork fails", func(o *Retention) { o.Looked.Fork = reply(0, 500, `{}`) }, "fork-not-found"},
		{"it does not branch either", branched(201, 404), "pass"},
		{"the branch is 422 on major 2", branched(201, 422), "pass"},
		{"the branch is 422 on major 1", func(o *Retention) { branched(201, 422)(o); o.Major = 1 }, "branch-not-found"},
		{"it still branches", branched(201, 201), "branch-not-found"},
		{"it never branched", branched(409, 409), "pass"},
		{"asked before the sweep's day was over", func(o *Retention) { o.Looked = lookedGone(diedAt.AddDate(0, 0, 7), 24*60) }, "undecided clock-moved"},
		{"busy", func(o *Retention) { o.Looked.Poll = reply(0, 503, `{}`) }, "undecided unexpected-answer"},
		{"no answer", func(o *Retention) { o.Looked.Snapshot = silent(observe.FailReset) }, "undecided unreachable"},
	})
}

func TestJudgeNoOracle(t *testing.T) {
	right := func() Retention {
		return Retention{Major: 2, Run: deadRun(), Window: windowOf(7), Looked: lookedGone(diedAt.AddDate(0, 0, 7), 25*60+1),
			Never: reply(0, 404, `{"error":"not_found","message":"no such run"}`)}
	}
	try(t, "retention.no-oracle", right, []judged[Retention]{
		{"right", nil, "pass"},
		{"the host's own code, twice", func(o *Retention) {
			o.Looked.Fork, o.Never = reply(0, 404, `{"error":"run_not_found","message":"a"}`), reply(0, 404, `{"error":"run_not_found","message":"a"}`)
		}, "pass"},
		{"another message", func(o *Retention) { o.Never = reply(0, 404, `{"error":"not_found","message":"never heard of it"}`) }, "pass other-message"},
		{"another code", func(o *Retention) { o.Looked.Fork = reply(0, 404, `{"error":"run_purged","message":"no such run"}`) }, "like-never-existed"},
		{"410 on major 2", func(o *Retention) { o.Looked.Fork = reply(0, 410, `{"error":"run_expired","message":"x"}`) }, "undecided no-cause"},
		{"no fork operation", func(o *Retention) { o.Looked.Fork = reply(0, 405, ``) }, "undecided not-advertised"},
		{"no fork route on major 1", func(o *Retention) {
			o.Major, o.ForkBefore = 1, reply(0, 404, `{"error":"not_found","message":"no such route"}`)
		}, "undecided not-advertised"},
		{"forked before on major 1", func(o *Retention) { o.Major, o.ForkBefore = 1, reply(0, 201, `{}`) }, "pass"},
		{"not purged", func(o *Retention) { o.Looked.Fork = reply(0, 201, `{}`) }, "undecided unexpected-answer"},
		{"the other is no not-found", func(o *Retention) { o.Never = reply(0, 400, `{}`) }, "undecided unexpected-answer"},
		{"the other has no answer", func(o *Retention) { o.Never = silent(observe.FailTimeout) }, "undecided timeout"},
	})
}

func TestJudgeNeighbour(t *testing.T) {
	const days = 7
	end := diedAt.AddDate(0, 0, days)
	right := func() Neighbour {
		younger := runOf(childID, exhausted(childID))
		for i := range younger.Reads { // the younger died five days after the elder
			younger.Reads[i].Response.Body = observe.Text(strings.ReplaceAll(younger.Reads[i].Response.Body.String(), "2026-03-01", "2026-03-06"))
		}
		return Neighbour{Major: 2, First: deadRun(), FirstWindow: *windowOf(days), FirstLooked: lookedGone(end, 25*60+1),
			Second: younger, SecondWindow: *windowOf(days), SecondLooked: *lookedAt(end, 25*60+2)}
	}
	forked := func(change func(*Kept)) func(*Neighbour) {
		return func(o *Neighbour) {
			o.Fork = &Kept{Run: o.Second, Window: o.SecondWindow, Looked: o.SecondLooked}
			if change != nil {
				change(o.Fork)
			}
		}
	}
	try(t, "retention.neighbour", right, []judged[Neighbour]{
		{"right", nil, "pass"},
		{"purged with it", func(o *Neighbour) { o.SecondLooked.Snapshot = reply(0, 404, `{}`) }, "neighbour-kept"},
		{"the elder is still there", func(o *Neighbour) { o.FirstLooked.Snapshot = reply(0, 200, `{}`) }, "undecided unexpected-answer"},
		{"the younger's time is over too", func(o *Neighbour) { o.SecondLooked = *lookedAt(end.AddDate(0, 0, 5), 0) }, "undecided clock-moved"},
		{"the elder's time is not over", func(o *Neighbour) { o.FirstLooked = lookedGone(end, 0) }, "undecided clock-moved"},
		{"no clock", func(o *Neighbour) { o.SecondLooked.ClockAfter = observe.Exchange{} }, "undecided unexpected-answer"},
		{"its log is kept", func(o *Neighbour) { o.SecondLooked.Poll = o.Second.Reads[0] }, "pass"},
		{"its log is gone", func(o *Neighbour) { o.SecondLooked.Poll = reply(0, 404, `{}`) }, "neighbour-log-kept"},
		{"its log is empty", func(o *Neighbour) { o.SecondLooked.Poll = page(0) }, "neighbour-log-kept"},
		{"its log not asked for", func(o *Neighbour) { o.SecondLooked.Poll = observe.Exchange{} }, "pass"},
		{"the fork's log is empty", forked(func(k *Kept) { k.Looked.Poll = page(0) }), "fork-log-kept"},
		{"the fork's poll is put off", forked(func(k *Kept) { k.Looked.Poll = reply(0, 503, `{}`) }), "undecided unexpected-answer"},
		{"with a fork that is kept", forked(nil), "pass"},
		{"with a fork that was not made", func(o *Neighbour) { o.Fork = &Kept{} }, "pass"},
		{"lawful: a fork that was not dead-lettered has no days of its own", forked(func(k *Kept) {
			k.Run = runOf(childID, rename(exhausted(childID), ""))
			k.Looked.Snapshot = reply(0, 404, `{}`)
		}), "pass"},
		{"the fork purged with its source", forked(func(k *Kept) { k.Looked.Snapshot = reply(0, 404, `{}`) }), "fork-kept"},
		{"lawful: the fork's own time is over too", forked(func(k *Kept) {
			k.Looked = *lookedAt(end.AddDate(0, 0, 5), 0)
			k.Looked.Snapshot = reply(0, 404, `{}`)
		}), "pass"},
	})
}
