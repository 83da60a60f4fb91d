package hostevents

import (
	"testing"

	"github.com/wopwitness/wopwitness/witness/observe"
)

func TestJudgeUnwatched(t *testing.T) {
	// D2 and D3 were accepted while nobody was connected, S once the stream was.
	right := func() Suffix {
		emits := durableAt(10*ms, "D1", "D2", "D3", "S")
		emits[3].Attempts[0].SentAt, emits[3].Attempts[0].AnsweredAt = 60*ms, 61*ms
		return Suffix{
			Reading: tapeReading, Observer: subscriber("", 0, 15*ms, shortly(emits[0])...), Emits: emits, Cursor: "D1",
			Resumed: subscriber(emits[0].EventID, 45*ms, 200*ms, append(atOnce(50*ms, emits[1:3]...), shows(63*ms, emits[3]))...),
		}
	}
	judgeAll(t, right, JudgeUnwatched, []judged[Suffix]{
		{name: "all replayed", want: "pass"},
		{name: "in another order, which nobody knows", want: "pass", change: resumedWith(200*ms, "D3", "D2", "S")},
		{name: "one lost", want: "accepted-and-kept", change: resumedWith(1100*ms, "D2", "S")},
		{name: "all lost", want: "accepted-and-kept", change: resumedWith(1100*ms, "S")},
		{name: "one missing, not waited for", want: "undecided", change: resumedWith(200*ms, "D2", "S")},
		{name: "one missing and nothing later shown", want: "undecided", change: resumedWith(1100*ms, "D2")},
		{name: "the cursor's event again", want: "nothing-before", change: resumedWith(200*ms, "D1", "D2", "D3", "S")},
		{name: "one twice", want: "nothing-twice", change: resumedWith(200*ms, "D2", "D2", "D3", "S")},
		{name: "the cursor refused", want: "cursor-resumed", change: func(o *Suffix) { o.Resumed = refusedSubscriber(409, refusalBody) }},
	})
}

func TestCursorRefusedInEachWay(t *testing.T) {
	more := func(label string, s observe.Stream) Attempt {
		s.Label = label
		o := beside(resync())
		o.More = []observe.Stream{s}
		return o
	}
	for _, c := range []struct {
		name string
		o    Attempt
		want outcome
	}{
		{"each refused", more("asked for again", resync()), pass()},
		{"opened the second time", more("asked for again", stream(observe.CredentialA, "unknown", 50*ms, 80*ms)), convicts("refused-with-409", "not-an-event-stream", "error-code")},
		{"nearly an id, and resumed", more("nearly an event's id", stream(observe.CredentialA, "near", 50*ms, 80*ms)), convicts("refused-with-409", "not-an-event-stream", "error-code")},
		{"lawful: details of null, as the error row has them", beside(answer(409, "application/json", `{"error":"host_event_resync_required","message":"no","details":null}`)), pass("details")},
		{"a member of its own", beside(answer(409, "application/json", `{"error":"host_event_resync_required","message":"no","retriable":false}`)), convicts("error-body")},
		{"no message", beside(answer(409, "application/json", `{"error":"host_event_resync_required"}`)), convicts("error-body")},
	} {
		t.Run(c.name, func(t *testing.T) { expect(t, "0250.cursor-refused", c.o, c.want) })
	}
	t.Run("wrong about every cursor, and told so once", func(t *testing.T) {
		live := stream(observe.CredentialA, "unknown", 50*ms, 80*ms)
		o := beside(live)
		o.More = []observe.Stream{live, live}
		if got := JudgeCursorRefused(o).Findings; len(got) != 3 {
			t.Errorf("%d findings: %v, want the three of the first cursor", len(got), got)
		}
	})
}

func TestRemovalTakesNothingElse(t *testing.T) {
	right := func() Removed {
		emits := durableAt(10*ms, "D0", "D1", "D2", "R", "D3", "D4")
		return Removed{
			Reading: tapeReading, Emits: emits, Cursor: "D1", Gone: "R",
			Removal:  exchange("POST", "/conformance/seams/sample/host-events/remove", observe.CredentialA, 80*ms, 204, "", ""),
			Observer: subscriber("", 0, 1200*ms, shortly(emits...)...),
			Before:   subscriber(emits[0].EventID, 70*ms, 79*ms, atOnce(72*ms, emits[1:]...)...),
			Resumed:  subscriber(emits[1].EventID, 90*ms, 200*ms, atOnce(92*ms, emits[2], emits[4], emits[5])...),
			Unknown:  turnedAway("unknown", unknownCursor, 409, refusalBody),
			AtGone:   turnedAway("removed", emits[3].EventID, 409, refusalBody),
		}
	}
	showing := func(until observe.Micros, at ...int) func(o *Removed) {
		return func(o *Removed) {
			var emits []observe.Emit
			for _, i := range at {
				emits = append(emits, o.Emits[i])
			}
			o.Resumed = subscriber(o.Emits[1].EventID, 90*ms, until, atOnce(92*ms, emits...)...)
		}
	}
	judgeAll(t, right, JudgeRemoved, []judged[Removed]{
		{name: "the others kept", want: "pass"},
		{name: "the next taken with it", want: "others-kept", change: showing(1200*ms, 2, 5)},
		{name: "the next missing, not waited for", want: "pass", change: showing(200*ms, 2, 5)},
		{name: "one that was not replayed before either", want: "pass", change: func(o *Removed) {
			showing(1200*ms, 2, 5)(o)
			o.Before = subscriber(o.Emits[0].EventID, 70*ms, 79*ms, atOnce(72*ms, o.Emits[1], o.Emits[2], o.Emits[3], o.Emits[5])...)
		}},
	})
}

func TestWorkspaceCursors(t *testing.T) {
	right := func() Isolation {
		own, theirs := durableAt(10*ms, "A1", "A2"), durableAt(12*ms, "B1", "B2", "B3")
		own[1].Attempts[0].SentAt = 60 * ms
		within := subscriber(theirs[0].EventID, 80*ms, 120*ms, atOnce(82*ms, theirs[1:]...)...)
		unknown, invisible := turnedAway("unknown", unknownCursor, 409, refusalBody), turnedAway("invisible", theirs[0].EventID, 409, refusalBody)
		return Isolation{
			Reading: tapeReading, Observer: subscriber("", 0, 200*ms, shortly(own...)...), Theirs: theirs,
			Other: subscriber("", 0, 200*ms, shortly(theirs...)...), Own: own, Cursor: "A1",
			Resumed: subscriber(own[0].EventID, 50*ms, 200*ms, shortly(own[1])...),
			Within:  &within, Unknown: &unknown, Invisible: &invisible,
		}
	}
	withinShows := func(until observe.Micros, at ...int) func(o *Isolation) {
		return func(o *Isolation) {
			var emits []observe.Emit
			for _, i := range at {
				emits = append(emits, o.Theirs[i])
			}
			s := subscriber(o.Theirs[0].EventID, 80*ms, until, atOnce(82*ms, emits...)...)
			o.Within = &s
		}
	}
	judgeAll(t, right, JudgeWorkspaceBacklog, []judged[Isolation]{
		{name: "replayed within, refused outside", want: "pass"},
		{name: "observed before these were asked for", want: "pass", change: func(o *Isolation) { o.Within, o.Unknown, o.Invisible = nil, nil, nil }},
		{name: "nothing replayed within", want: "replayed-within", change: withinShows(1200 * ms)},
		{name: "nothing replayed within, not waited for", want: "undecided", change: withinShows(120 * ms)},
		{name: "one of two replayed, which other legs ask about", want: "pass", change: withinShows(1200*ms, 2)},
		{name: "its own cursor refused", want: "cursor-resumed", change: func(o *Isolation) { s := refusedSubscriber(409, refusalBody); o.Within = &s }},
		{name: "the cursor outside refused otherwise", want: "invisible-like-unknown", change: func(o *Isolation) {
			s := turnedAway("invisible", o.Theirs[0].EventID, 403, errorAnswer("forbidden"))
			o.Invisible = &s
		}},
		{name: "lawful: the cursor outside resumed", want: "pass", note: "resumed-at-invisible", change: func(o *Isolation) {
			s := stream(observe.CredentialA, o.Theirs[0].EventID, 90*ms, 120*ms)
			o.Invisible = &s
		}},
	})
}

func TestEncodedCursorsAreSeen(t *testing.T) {
	const cursor = "01JABCDEFGHJKMNPQRSTVWXYZ0"
	for name, c := range map[string]struct {
		text string
		want bool
	}{
		"base64":      {"ref MDFKQUJDREVGR0hKS01OUFFSU1RWV1hZWjA=", true},
		"hexadecimal": {"30314a41424344454647484a4b4d4e505152535456575859" + "5a30", true},
		"another":     {"01JABCDEFGHJKMNPQRSTVWXYZ1", false},
	} {
		if got := holdsCursor(c.text, cursor); got != c.want {
			t.Errorf("%s: %v, want %v", name, got, c.want)
		}
	}
}
