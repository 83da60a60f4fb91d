package hostevents

import (
	"testing"

	"github.com/wopwitness/wopwitness/witness"
	"github.com/wopwitness/wopwitness/witness/observe"
)

// rightIsolation has A1, B1, A2 before the resumption at A1, and B2, A3 after it.
func rightIsolation() Isolation {
	own := append(durableAt(10*ms, "A1", "A2"), durableAt(80*ms, "A3")...)
	theirs := append(durableAt(15*ms, "B1"), durableAt(70*ms, "B2")...)
	for i := range theirs {
		theirs[i].Credential = observe.CredentialB
	}
	return Isolation{
		Reading: tapeReading, Own: own, Theirs: theirs, Cursor: "A1",
		Observer: subscriber("", 0, 200*ms, shortly(own...)...),
		Other:    subscriber("", 0, 200*ms, shortly(theirs...)...),
		Resumed:  subscriber(own[0].EventID, 50*ms, 200*ms, append(atOnce(52*ms, own[1]), shows(82*ms, own[2]))...),
	}
}

func TestJudgeBacklogIsolation(t *testing.T) {
	resumed := func(labels ...string) func(o *Isolation) {
		return func(o *Isolation) {
			var chunks []observe.Chunk
			for _, l := range labels {
				e := find(append(o.Own[:len(o.Own):len(o.Own)], o.Theirs...), l)
				chunks = append(chunks, shows(max(e.SentAt()+2*ms, 52*ms), e))
			}
			o.Resumed = subscriber(o.Own[0].EventID, 50*ms, 200*ms, chunks...)
		}
	}
	// passing has theirs show an ephemeral event, and the named stream as well.
	passing := func(also func(o *Isolation) *observe.Subscription) func(o *Isolation) {
		return func(o *Isolation) {
			e := triggered("BE", observe.CredentialB, "ephemeral", 60*ms)
			o.Passing, o.Window = []observe.Emit{e}, 40*ms
			for _, s := range []*observe.Subscription{&o.Other, also(o)} {
				if s != nil {
					s.Segments[0].Chunks = append(s.Segments[0].Chunks, shows(62*ms, e))
				}
			}
		}
	}
	nowhere := func(*Isolation) *observe.Subscription { return nil }
	rows := []judged[Isolation]{
		{name: "its own events alone", want: "pass"},
		{name: "an ephemeral one of theirs, for them alone", want: "pass", change: passing(nowhere)},
		{name: "an ephemeral one of theirs on the resumed stream", want: "no-ephemeral-on-resumed", change: passing(func(o *Isolation) *observe.Subscription { return &o.Resumed })},
		{name: "an ephemeral one of theirs on the live stream", want: "no-ephemeral-live", change: passing(func(o *Isolation) *observe.Subscription { return &o.Observer })},
		{name: "an ephemeral one of theirs, and not read for as long as it may take", want: "undecided", change: func(o *Isolation) {
			passing(nowhere)(o)
			o.Window = 300 * ms
		}},
		{name: "an ephemeral one of theirs that nobody was shown", want: "pass", note: "ephemeral-not-seen", change: func(o *Isolation) {
			o.Passing = []observe.Emit{triggered("BE", observe.CredentialB, "ephemeral", 60*ms)}
		}},
		{name: "theirs in the backlog", want: "not-replayed", change: resumed("B1", "A2", "A3")},
		{name: "theirs live on the resumed stream", want: "not-live-after-backlog", change: resumed("A2", "B2", "A3")},
		{name: "theirs on both", want: "not-live-after-backlog not-replayed", change: resumed("B1", "A2", "B2", "A3")},
		{name: "theirs live on the ordinary stream", want: "not-live", change: func(o *Isolation) {
			o.Observer = subscriber("", 0, 200*ms, shortly(o.Own[0], o.Theirs[0], o.Own[1], o.Own[2])...)
		}},
		{name: "an own event lost is another leg's question", want: "pass", change: resumed("A3")},
		{name: "the sentinel never came", want: "undecided", change: resumed("A2")},
		{name: "not read for the quiet window", want: "undecided", change: func(o *Isolation) {
			o.Resumed.Segments[0].EndedAt = 83 * ms
		}},
		{name: "theirs were never shown anywhere", want: "undecided", change: func(o *Isolation) { o.Other = subscriber("", 0, 200*ms) }},
		{name: "not resumed", want: "undecided", change: func(o *Isolation) { o.Resumed = refusedSubscriber(409, refusalBody) }},
		{name: "no events of theirs", want: "undecided", change: func(o *Isolation) { o.Theirs = nil }},
	}
	for name, judge := range map[string]func(Isolation) witness.Verdict{
		"tenant": JudgeTenantBacklog, "workspace": JudgeWorkspaceBacklog,
	} {
		t.Run(name, func(t *testing.T) { judgeAll(t, rightIsolation, judge, rows) })
	}
}

func TestJudgeTheOtherTenantsBacklog(t *testing.T) {
	within := func(chunks func(o *Isolation) []observe.Chunk) func() Isolation {
		return func() Isolation {
			o := rightIsolation()
			s := subscriber(o.Theirs[0].EventID, 100*ms, 200*ms, chunks(&o)...)
			o.Within = &s
			return o
		}
	}
	right := within(func(o *Isolation) []observe.Chunk { return atOnce(102*ms, o.Theirs[1]) })
	judgeAll(t, right, JudgeTenantBacklog, []judged[Isolation]{
		{name: "each tenant its own", want: "pass"},
		{name: "the other tenant has no backlog", want: "own-not-replayed-to-them replayed-within", change: func(o *Isolation) {
			s := subscriber(o.Theirs[0].EventID, 100*ms, 1200*ms, atOnce(102*ms, o.Own[2])...)
			o.Within = &s
		}},
		{name: "the other tenant's backlog is empty", want: "replayed-within", change: func(o *Isolation) {
			s := subscriber(o.Theirs[0].EventID, 100*ms, 1200*ms)
			o.Within = &s
		}},
		{name: "the other tenant's backlog is empty, and wasn't waited for", want: "undecided", change: func(o *Isolation) {
			s := subscriber(o.Theirs[0].EventID, 100*ms, 150*ms)
			o.Within = &s
		}},
		{name: "the first tenant's in the other one's backlog", want: "own-not-replayed-to-them", change: func(o *Isolation) {
			s := subscriber(o.Theirs[0].EventID, 100*ms, 200*ms, atOnce(102*ms, o.Own[1], o.Theirs[1])...)
			o.Within = &s
		}},
		{name: "the other tenant's cursor refused", want: "cursor-resumed", change: func(o *Isolation) {
			s := refusedSubscriber(409, refusalBody)
			o.Within = &s
		}},
	})
}

// rightLiveStart has D1 and D2 long before two connections, and L1 after both.
func rightLiveStart() LiveStart {
	old, live := durableAt(10*ms, "D1", "D2"), durableAt(110*ms, "L1")
	return LiveStart{
		Reading: tapeReading, Old: old, Live: live, Window: 20 * ms,
		Observer: subscriber("", 0, 200*ms, shortly(append(old, live...)...)...),
		Absent:   subscriber("", 100*ms, 200*ms, shortly(live...)...),
		Empty:    subscriber("", 102*ms, 200*ms, shortly(live...)...),
	}
}

func TestJudgeLiveStart(t *testing.T) {
	judgeAll(t, rightLiveStart, JudgeLiveStart, []judged[LiveStart]{
		{name: "live and nothing else", want: "pass"},
		{name: "everything replayed without a cursor", want: "nothing-replayed", change: func(o *LiveStart) {
			o.Absent = subscriber("", 100*ms, 200*ms, append(atOnce(102*ms, o.Old...), shortly(o.Live...)...)...)
		}},
		{name: "everything replayed for an empty cursor", want: "nothing-replayed", change: func(o *LiveStart) {
			o.Empty = subscriber("", 102*ms, 200*ms, append(atOnce(104*ms, o.Old...), shortly(o.Live...)...)...)
		}},
		{name: "an event that was still on its way", want: "pass", change: func(o *LiveStart) {
			o.Observer = subscriber("", 0, 200*ms, append(shortly(o.Old[0]), append(atOnce(95*ms, o.Old[1]), shortly(o.Live...)...)...)...)
			o.Absent = subscriber("", 100*ms, 200*ms, append(atOnce(102*ms, o.Old[1]), shortly(o.Live...)...)...)
		}},
		{name: "an empty cursor refused", want: "opens-live", change: func(o *LiveStart) { o.Empty = refusedSubscriber(409, refusalBody) }},
		{name: "no cursor refused", want: "opens-live", change: func(o *LiveStart) { o.Absent = refusedSubscriber(400, "") }},
		{name: "asked to come back later", want: "undecided", change: func(o *LiveStart) { o.Absent = refusedSubscriber(503, "") }},
		{name: "no answer", want: "undecided", change: func(o *LiveStart) { o.Absent = over(lostConnection(observe.FailReset)) }},
		{name: "deaf for the whole patience", want: "then-live", change: func(o *LiveStart) { o.Absent = subscriber("", 100*ms, 1200*ms) }},
		{name: "silent, and not waited for", want: "undecided", change: func(o *LiveStart) { o.Absent = subscriber("", 100*ms, 130*ms) }},
		{name: "the first live event lost with the connection, the second there", want: "pass", change: func(o *LiveStart) {
			o.Live = durableAt(110*ms, "L1", "L2")
			all := append(durableAt(10*ms, "D1", "D2"), o.Live...)
			o.Observer = subscriber("", 0, 200*ms, shortly(all...)...)
			o.Absent = subscriber("", 100*ms, 200*ms, shortly(o.Live[1])...)
		}},
		{name: "no event from before", want: "undecided", change: func(o *LiveStart) { o.Old = nil }},
		{name: "no connection", want: "undecided", change: func(o *LiveStart) { o.Empty = observe.Subscription{} }},
	})
}
