package hostevents

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/wopwitness/wopwitness/witness/observe"
)

// rightSuffix resumes at D1 behind D2 and D3, and is shown D4 live.
func rightSuffix() Suffix {
	emits := durableAt(10*ms, "D1", "D2", "D3", "D4")
	emits[3].Attempts[0].SentAt = 60 * ms
	return Suffix{
		Reading: tapeReading, Observer: subscriber("", 0, 200*ms, shortly(emits...)...), Emits: emits, Cursor: "D1",
		Resumed: subscriber(emits[0].EventID, 45*ms, 200*ms, append(atOnce(50*ms, emits[1:3]...), shows(63*ms, emits[3]))...),
	}
}

// resumedWith replaces what the resumed stream of a right suffix showed.
func resumedWith(until observe.Micros, labels ...string) func(o *Suffix) {
	return func(o *Suffix) {
		var pieces []observe.Chunk
		for i, l := range labels {
			pieces = append(pieces, shows(63*ms+observe.Micros(i)*ms, find(o.Emits, l)))
		}
		o.Resumed = subscriber(o.Emits[0].EventID, 45*ms, until, pieces...)
	}
}

// suffixRows are the ways of a resumed stream, for every leg that asks for the whole suffix.
func suffixRows() []judged[Suffix] {
	return []judged[Suffix]{
		{name: "whole", want: "pass"},
		{name: "a backlog event lost", change: resumedWith(200*ms, "D3", "D4"), want: "nothing-missing"},
		{name: "a live event lost, the whole patience given", change: resumedWith(1100*ms, "D2", "D3"), want: "nothing-missing"},
		{name: "a live event missing, not waited for", change: resumedWith(200*ms, "D2", "D3"), want: "undecided"},
		{name: "the cursor's event again", change: resumedWith(200*ms, "D1", "D2", "D3", "D4"), want: "nothing-before"},
		{name: "nothing at all", change: resumedWith(1100 * ms), want: "nothing-missing"},
		{name: "an event twice", change: resumedWith(200*ms, "D2", "D3", "D3", "D4"), want: "nothing-twice"},
		{name: "out of order", change: resumedWith(200*ms, "D3", "D2", "D4"), want: "in-commit-order"},
		{name: "lost, twice and out of order", change: resumedWith(200*ms, "D4", "D4", "D2"), want: "in-commit-order nothing-missing nothing-twice"},
		{name: "order unknown where the observer was behind", want: "pass", change: func(o *Suffix) {
			o.Observer = subscriber("", 0, 200*ms, atOnce(90*ms, o.Emits...)...)
			resumedWith(200*ms, "D3", "D2", "D4")(o)
		}},
		{name: "an event that only the resumed stream showed", want: "pass", change: func(o *Suffix) {
			o.Observer = subscriber("", 0, 200*ms, shortly(o.Emits[0], o.Emits[2], o.Emits[3])...)
		}},
		{name: "an event that no stream showed", want: "undecided", change: func(o *Suffix) {
			o.Observer = subscriber("", 0, 1100*ms, shortly(o.Emits[0], o.Emits[2], o.Emits[3])...)
			resumedWith(1100*ms, "D3", "D4")(o)
		}},
		{name: "a busy tenant", want: "pass", change: func(o *Suffix) {
			foreign := triggered("someone's", observe.CredentialA, "durable", 0)
			segment := &o.Resumed.Segments[0]
			segment.Chunks = append([]observe.Chunk{{At: 48 * ms, Bytes: observe.Text(frameText(foreign) + frameText(foreign))}}, segment.Chunks...)
		}},
		{name: "heartbeats, comments, CRLF, retry and several data lines", want: "pass", change: func(o *Suffix) {
			var text strings.Builder
			text.WriteString("\ufeff: hello\r\nretry: 50\r\n\r\nevent: heartbeat\r\nid: beat-1\r\ndata: {}\r\n\r\n")
			for _, e := range o.Emits[1:] {
				data := strings.Replace(envelopeOf(e), ",", ",\r\ndata: ", 1)
				fmt.Fprintf(&text, "data: %s\r\nid:%s\r\nevent: %s\r\n\r\n", data, e.EventID, e.Type)
			}
			o.Resumed = subscriber(o.Emits[0].EventID, 45*ms, 200*ms, chunk(70*ms, text.String()))
		}},
		{name: "refused inside the bound", want: "cursor-resumed", change: func(o *Suffix) { o.Resumed = refusedSubscriber(409, refusalBody) }},
		{name: "refused, and the cursor had outgrown a short bound", want: "undecided", change: func(o *Suffix) {
			o.Retention = 30 * ms
			s := turnedAway("", o.Emits[0].EventID, 409, refusalBody)
			s.SentAt, s.AnsweredAt = 45*ms, 46*ms
			o.Resumed = over(s)
		}},
		{name: "asked to come back later", want: "undecided", change: func(o *Suffix) { o.Resumed = refusedSubscriber(429, "") }},
		{name: "no answer", want: "undecided", change: func(o *Suffix) {
			o.Resumed = over(lostConnection(observe.FailTimeout))
		}},
		{name: "no cursor", want: "undecided", change: func(o *Suffix) { o.Cursor = "D9" }},
		{name: "nothing behind the cursor", want: "undecided", change: func(o *Suffix) { o.Cursor = "D4" }},
	}
}

func TestJudgeOtherInstance(t *testing.T) {
	judgeAll(t, rightSuffix, JudgeOtherInstance, suffixRows())
}

// rightVolume has so many events, sent by several writers at once: each overlaps its neighbours.
func rightVolume(count int) Volume {
	emits := durableAt(0, "D")
	for i := range count {
		emits = append(emits, triggered(fmt.Sprintf("V%d", i+1), observe.CredentialA, "durable", 10*ms+observe.Micros(i)*80*ms/observe.Micros(count)))
	}
	emits = append(emits, durableAt(100*ms, "R", "S")...)
	late := emits[len(emits)-2]
	return Volume{
		Suffix: Suffix{
			Reading: tapeReading, Observer: subscriber("", 0, 300*ms, shortly(emits...)...), Emits: emits, Cursor: "D",
			Resumed: subscriber(emits[0].EventID, 120*ms, 300*ms, atOnce(130*ms, emits[1:]...)...),
		},
		Open: subscriber(emits[0].EventID, 5*ms, 300*ms, shortly(emits[1:]...)...),
		Late: Subscriber{Cursor: "R", Stream: subscriber(late.EventID, 120*ms, 300*ms, shows(131*ms, emits[len(emits)-1]))},
	}
}

func TestJudgeVolume(t *testing.T) {
	type pick func(emits []observe.Emit) []observe.Emit
	resumed := func(of pick) func(o *Volume) {
		return func(o *Volume) {
			o.Resumed = subscriber(o.Emits[0].EventID, 120*ms, 300*ms, atOnce(130*ms, of(slices.Clone(o.Emits[1:]))...)...)
		}
	}
	open := func(until observe.Micros, of pick) func(o *Volume) {
		return func(o *Volume) {
			o.Open = subscriber(o.Emits[0].EventID, 5*ms, until, shortly(of(slices.Clone(o.Emits[1:]))...)...)
		}
	}
	without := func(i int) pick {
		return func(e []observe.Emit) []observe.Emit { return slices.Delete(e, i, i+1) }
	}
	right := func() Volume { return rightVolume(60) }
	judgeAll(t, right, JudgeVolume, []judged[Volume]{
		{name: "whole, of a small volume by the operator's wish", want: "pass", note: "small-volume"},
		{name: "neighbours swapped, whose order is not known", want: "pass", change: resumed(func(e []observe.Emit) []observe.Emit {
			e[10], e[11] = e[11], e[10]
			return e
		})},
		{name: "the last ones only", want: "nothing-missing", change: resumed(func(e []observe.Emit) []observe.Emit { return e[len(e)-10:] })},
		{name: "the first ones and what follows live", want: "nothing-missing", change: resumed(func(e []observe.Emit) []observe.Emit { return append(e[:50], e[len(e)-1]) })},
		{name: "far apart and reversed", want: "in-commit-order", change: resumed(func(e []observe.Emit) []observe.Emit {
			slices.Reverse(e)
			return e
		})},
		{name: "one of them twice", want: "nothing-twice", change: resumed(func(e []observe.Emit) []observe.Emit { return slices.Insert(e, 30, e[3]) })},
		{name: "one lost on the open stream alone", want: "nothing-missing", change: open(1300*ms, without(7))},
		{name: "one missing on the open stream, not waited for", want: "undecided", change: open(300*ms, without(7))},
		{name: "one twice on the open stream", want: "nothing-twice", change: open(300*ms, func(e []observe.Emit) []observe.Emit { return slices.Insert(e, 9, e[3]) })},
		{name: "one accepted and shown nowhere", want: "accepted-and-kept", change: func(o *Volume) {
			emits := without(8)(slices.Clone(o.Emits))
			o.Observer = subscriber("", 0, 1300*ms, shortly(emits...)...)
			o.Open = subscriber(emits[0].EventID, 5*ms, 1300*ms, shortly(emits[1:]...)...)
			o.Resumed = subscriber(emits[0].EventID, 120*ms, 1300*ms, atOnce(130*ms, emits[1:]...)...)
		}},
		{name: "one shown nowhere, not waited for", want: "undecided", change: func(o *Volume) {
			emits := without(8)(slices.Clone(o.Emits))
			o.Observer = subscriber("", 0, 300*ms, shortly(emits...)...)
			open(300*ms, without(7))(o)
			resumed(without(7))(o)
		}},
		{name: "the cursor's event again", want: "nothing-before", change: func(o *Volume) {
			o.Resumed = subscriber(o.Emits[0].EventID, 120*ms, 300*ms, atOnce(130*ms, o.Emits...)...)
		}},
		{name: "refused", want: "cursor-resumed", change: func(o *Volume) { o.Resumed = refusedSubscriber(409, refusalBody) }},
		{name: "the cursor behind the events refused", want: "cursor-resumed", change: func(o *Volume) { o.Late.Stream = refusedSubscriber(409, refusalBody) }},
		{name: "what follows the cursor behind the events lost", want: "nothing-missing", change: func(o *Volume) {
			o.Late.Stream = subscriber(idOf("R"), 120*ms, 1300*ms)
		}},
		{name: "what follows the cursor behind the events twice", want: "nothing-twice", change: func(o *Volume) {
			s := find(o.Emits, "S")
			o.Late.Stream = subscriber(idOf("R"), 120*ms, 300*ms, shows(131*ms, s), shows(132*ms, s))
		}},
		{name: "a writer's event that was committed behind the later cursor", want: "pass", change: func(o *Volume) {
			o.Late.Stream = subscriber(idOf("R"), 120*ms, 300*ms, shows(131*ms, find(o.Emits, "V60")), shows(131*ms, find(o.Emits, "S")))
		}},
		{name: "no cursor behind the events", want: "undecided", change: func(o *Volume) { o.Late = Subscriber{} }},
		{name: "the open stream refused", want: "cursor-resumed", change: func(o *Volume) { o.Open = refusedSubscriber(409, refusalBody) }},
	})
	v := JudgeVolume(rightVolume(manyEvents + 1))
	if got := inShort(v); got != "pass" || len(v.Notes) > 0 {
		t.Errorf("more than %d events: got %q, notes %+v", manyEvents, got, v.Notes)
	}
}

func TestJudgeHandoff(t *testing.T) {
	right := func() Handoff {
		o := rightSuffix()
		second := subscriber(o.Emits[1].EventID, 46*ms, 200*ms, append(atOnce(50*ms, o.Emits[2]), shows(63*ms, o.Emits[3]))...)
		return Handoff{Reading: o.Reading, Observer: o.Observer, Emits: o.Emits,
			Subscribers: []Subscriber{{Cursor: "D1", Stream: o.Resumed}, {Cursor: "D2", Stream: second}}}
	}
	second := func(labels ...string) func(o *Handoff) {
		return func(o *Handoff) {
			var emits []observe.Emit
			for _, l := range labels {
				emits = append(emits, find(o.Emits, l))
			}
			o.Subscribers[1].Stream = subscriber(o.Emits[1].EventID, 46*ms, 200*ms, atOnce(63*ms, emits...)...)
		}
	}
	judgeAll(t, right, JudgeHandoff, []judged[Handoff]{
		{name: "each its exact suffix", want: "pass"},
		{name: "the cursor's event again for one of them", want: "nothing-before", change: second("D2", "D3", "D4")},
		{name: "an older event again for one of them", want: "nothing-before", change: second("D1", "D3", "D4")},
		{name: "a gap for one of them", want: "nothing-missing", change: second("D4")},
		{name: "a duplicate for one of them", want: "nothing-twice", change: second("D3", "D3", "D4")},
		{name: "live before backlog for one of them", want: "in-commit-order", change: second("D4", "D3")},
		{name: "one of them refused", want: "cursor-resumed", change: func(o *Handoff) { o.Subscribers[1].Stream = refusedSubscriber(404, "") }},
		{name: "one of them unanswered", want: "undecided", change: func(o *Handoff) {
			o.Subscribers[1].Stream = over(lostConnection(observe.FailReset))
		}},
		{name: "nobody connected while the writer wrote", want: "undecided", change: func(o *Handoff) {
			for i := range o.Subscribers {
				o.Subscribers[i].Stream.Segments[0].SentAt = 62 * ms
			}
		}},
		{name: "no subscriber", want: "undecided", change: func(o *Handoff) { o.Subscribers = nil }},
	})
	o := right()
	for i := range o.Subscribers {
		o.Subscribers[i].Stream = refusedSubscriber(404, "")
	}
	v := JudgeHandoff(o)
	if len(v.Findings) != 1 || !strings.HasSuffix(v.Findings[0].Says, "(and 1 subscriber alike)") {
		t.Errorf("two subscribers refused make %+v", v.Findings)
	}
}
