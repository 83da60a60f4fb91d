package hostevents

import (
	"slices"
	"testing"

	"github.com/wopwitness/wopwitness/witness/observe"
)

// rightBounded resumes at D1, is shown D2 and D3 before the host ends the stream, and then D4.
func rightBounded() Bounded {
	o := Bounded{Suffix: rightSuffix()}
	first := stream(observe.CredentialA, o.Emits[0].EventID, 45*ms, 55*ms, atOnce(50*ms, o.Emits[1:3]...)...)
	first.End = observe.EndHost
	o.Resumed.Segments = []observe.Stream{first, stream(observe.CredentialA, o.Emits[2].EventID, 58*ms, 200*ms, shows(63*ms, o.Emits[3]))}
	return o
}

func TestJudgeBoundedStream(t *testing.T) {
	judgeAll(t, rightBounded, JudgeBoundedStream, []judged[Bounded]{
		{name: "ended and resumed whole", want: "pass"},
		{name: "the last event again after the end", want: "nothing-twice", change: func(o *Bounded) {
			o.Resumed.Segments[1] = stream(observe.CredentialA, o.Emits[2].EventID, 58*ms, 200*ms, atOnce(63*ms, o.Emits[2:]...)...)
		}},
		{name: "what came between is lost", want: "nothing-missing", change: func(o *Bounded) {
			o.Resumed.Segments[1] = stream(observe.CredentialA, o.Emits[2].EventID, 61*ms, 1200*ms)
		}},
		{name: "ended in the middle of the backlog, the rest lost", want: "nothing-missing", change: func(o *Bounded) {
			o.Resumed.Segments[0].Chunks = o.Resumed.Segments[0].Chunks[:1]
		}},
		{name: "the last id refused", want: "cursor-resumed", change: func(o *Bounded) {
			o.Resumed.Segments[1] = turnedAway("", o.Emits[2].EventID, 409, refusalBody)
		}},
		{name: "the last id, of someone else's event, refused", want: "resumed-after-end", change: func(o *Bounded) {
			o.Resumed.Segments[1] = turnedAway("", idOf("theirs"), 409, refusalBody)
		}},
		{name: "the last id, of someone else's event, refused past a short bound", want: "undecided", change: func(o *Bounded) {
			o.Retention = 40 * ms
			o.Resumed.Segments[1] = turnedAway("", idOf("theirs"), 409, refusalBody)
			o.Resumed.Segments[1].SentAt, o.Resumed.Segments[1].AnsweredAt = 58*ms, 59*ms
		}},
		{name: "the reconnection asked to come later", want: "undecided", change: func(o *Bounded) {
			o.Resumed.Segments[1] = turnedAway("", o.Emits[2].EventID, 503, "")
		}},
		{name: "refused once and then resumed", want: "pass", change: func(o *Bounded) {
			o.Resumed.Segments = slices.Insert(o.Resumed.Segments, 1, turnedAway("", o.Emits[2].EventID, 503, ""))
		}},
		{name: "never ended", want: "undecided", change: func(o *Bounded) { o.Suffix = rightSuffix() }},
		{name: "ended by the suite alone", want: "undecided", change: func(o *Bounded) { o.Resumed.Segments[0].End = observe.EndSuite }},
		{name: "refused at first", want: "cursor-resumed", change: func(o *Bounded) { o.Resumed = refusedSubscriber(409, refusalBody) }},
	})
}

// beatAtEnd is a right subscription whose first stream the host ended with a heartbeat of that id, and a connection at
// it that showed those events; S was emitted while it was open.
func beatAtEnd(id string, until observe.Micros, labels ...string) func(o *Bounded) {
	return func(o *Bounded) {
		s := durableAt(220*ms, "S")[0]
		o.Observer = subscriber("", 0, until, shortly(append(slices.Clone(o.Emits), s)...)...)
		endsWith("event: heartbeat\nid: " + id + "\ndata: {}\n\n")(o)
		var pieces []observe.Chunk
		for i, l := range labels {
			pieces = append(pieces, shows(225*ms+observe.Micros(i)*ms, find(append(slices.Clone(o.Emits), s), l)))
		}
		o.AtLastID = &AtLastID{Stream: subscriber(id, 210*ms, until, pieces...), After: s}
	}
}

// endsWith lets the host send some more text before it ends the first stream.
func endsWith(text string) func(o *Bounded) {
	return func(o *Bounded) {
		first := &o.Resumed.Segments[0]
		first.Chunks = append(first.Chunks, chunk(54*ms, text))
	}
}

// beatAnswered is beatAtEnd where the connection at the id was not taken as a stream.
func beatAnswered(s observe.Stream) func(o *Bounded) {
	return func(o *Bounded) {
		beatAtEnd("beat-7", 300*ms)(o)
		s.Request.Headers = []observe.Header{{Name: "Last-Event-ID", Value: "beat-7"}}
		o.AtLastID.Stream = over(s)
	}
}

func TestJudgeBoundedStreamForAStandardReader(t *testing.T) {
	const convicted = "last-id-resumes"
	d2 := idOf("D2")
	judgeAll(t, rightBounded, JudgeBoundedStream, []judged[Bounded]{
		{name: "lawful: heartbeats without an id", want: "pass", change: endsWith("event: heartbeat\ndata: {}\n\n: beat\n\n")},
		{name: "lawful: a heartbeat that repeats the last event's id", want: "pass", change: endsWith("event: heartbeat\nid: " + idOf("D3") + "\ndata: {}\n\n")},
		{name: "lawful: a heartbeat's id that holds a NUL, which no reader takes", want: "pass", change: endsWith("event: heartbeat\nid: b\x00\ndata: {}\n\n")},
		{name: "lawful: an event that the end of the stream cut off", want: "pass", change: endsWith("event: host-test.durable-triggered\nid: " + idOf("D4") + "\ndata: {\"eve")},
		{name: "lawful: an id of its own that resumes whole", want: "pass", note: "control-frame-id", change: beatAtEnd("beat-7", 300*ms, "D4", "S")},
		{name: "lawful: an older event's id, so one comes again", want: "pass", note: "control-frame-id-behind", change: beatAtEnd(d2, 300*ms, "D3", "D4", "S")},
		{name: "an id of its own, refused", want: convicted, change: beatAnswered(turnedAway("", "beat-7", 409, refusalBody))},
		{name: "an id of its own, failed on", want: convicted, change: beatAnswered(turnedAway("", "beat-7", 500, ""))},
		{name: "an id of its own, refused later than a short bound", want: "undecided", change: func(o *Bounded) {
			o.Retention = 150 * ms
			s := turnedAway("", "beat-7", 409, refusalBody)
			s.SentAt, s.AnsweredAt = 210*ms, 211*ms
			beatAnswered(s)(o)
		}},
		{name: "an id of its own, asked to come later", want: "undecided", change: beatAnswered(turnedAway("", "beat-7", 429, ""))},
		{name: "an id of its own, no answer", want: "undecided", change: beatAnswered(lostConnection(observe.FailTimeout))},
		{name: "an id of its own that opens a live stream", want: convicted, change: beatAtEnd("beat-7", 300*ms, "S")},
		{name: "the id of an event that the stream had not shown", want: convicted, change: beatAtEnd(idOf("D4"), 300*ms, "S")},
		{name: "an empty id, which opens a live stream", want: convicted, change: beatAtEnd("", 300*ms, "S")},
		{name: "nothing comes, and it was waited for", want: convicted, change: beatAtEnd("beat-7", 1400*ms)},
		{name: "nothing comes, and it was not waited for", want: "undecided", change: beatAtEnd("beat-7", 300*ms)},
		{name: "it resumes with an event twice", want: convicted, change: beatAtEnd("beat-7", 300*ms, "D4", "D4", "S")},
		{name: "an event cut in half and given as a whole block, whose id skips it", want: convicted + " nothing-twice", change: func(o *Bounded) {
			beatAtEnd(idOf("D4"), 300*ms, "S")(o)
			first := &o.Resumed.Segments[0]
			first.Chunks[len(first.Chunks)-1] = chunk(54*ms, "event: host-test.durable-triggered\nid: "+idOf("D4")+"\ndata: {\"eve\n\n")
		}},
		{name: "no connection was made at the id", want: "undecided", change: func(o *Bounded) {
			beatAtEnd("beat-7", 300*ms, "D4", "S")(o)
			o.AtLastID = nil
		}},
		{name: "the connection was made at another id", want: "undecided", change: func(o *Bounded) {
			beatAtEnd("beat-7", 300*ms, "D4", "S")(o)
			o.AtLastID.Stream = subscriber(d2, 210*ms, 300*ms)
		}},
	})
}
