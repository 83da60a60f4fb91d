package hostevents

import (
	"strings"
	"testing"

	"github.com/wopwitness/wopwitness/witness/observe"
)

func TestJudgeResumeStable(t *testing.T) {
	// replaying replaces a text in what the resumed stream showed of D2.
	replaying := func(was, is string) func(o *Suffix) {
		return func(o *Suffix) {
			c := &o.Resumed.Segments[0].Chunks[0]
			changed := strings.Replace(c.Bytes.String(), was, is, 1)
			if changed == c.Bytes.String() {
				panic("the frame has no " + was)
			}
			c.Bytes = observe.Text(changed)
		}
	}
	const stamp = "2026-11-30T10:00:00.5Z"
	at := func(live, replayed string) func(o *Suffix) {
		return func(o *Suffix) {
			for i := range o.Observer.Segments[0].Chunks {
				c := &o.Observer.Segments[0].Chunks[i]
				c.Bytes = observe.Text(strings.Replace(c.Bytes.String(), stamp, live, 1))
			}
			for i := range o.Resumed.Segments[0].Chunks {
				c := &o.Resumed.Segments[0].Chunks[i]
				c.Bytes = observe.Text(strings.Replace(c.Bytes.String(), stamp, replayed, 1))
			}
		}
	}
	judgeAll(t, rightSuffix, JudgeResumeStable, []judged[Suffix]{
		{name: "the same frame", want: "pass"},
		{name: "keys in another order and spaces", want: "pass", change: func(o *Suffix) {
			e := o.Emits[1]
			replaying(envelopeOf(e), `{ "payload": {}, "delivery": "durable", "timestamp": "`+stamp+`", "type": "`+e.Type+`", "eventId": "`+e.EventID+`" }`)(o)
		}},
		{name: "another id line", want: "same-id", change: replaying("id: ", "id: 7-")},
		{name: "no id line", want: "same-id", change: replaying("id: ", "x: ")},
		{name: "another event name", want: "same-event-name", change: replaying("event: host-test", "event: replayed")},
		{name: "no event name", want: "same-event-name", change: replaying("event: ", "x: ")},
		{name: "a payload that has lost something", want: "same-envelope", change: replaying(`"payload":{}`, `"payload":null`)},
		{name: "a member more", want: "same-envelope", change: replaying(`"payload":{}`, `"payload":{},"replayed":true`)},
		{name: "another type inside", want: "same-envelope", change: replaying(`"type":"`, `"type":"x-`)},
		{name: "a fresh timestamp", want: "same-envelope", change: replaying(stamp, "2026-11-30T10:00:01.5Z")},
		{name: "the timestamp in another zone", want: "pass", change: replaying(stamp, "2026-11-30T12:00:00.500+02:00")},
		{name: "the timestamp cut to milliseconds", want: "pass", note: "timestamp-rounded", change: at("2026-11-30T10:00:00.123999999Z", "2026-11-30T10:00:00.123Z")},
		{name: "the timestamp rounded to microseconds", want: "pass", note: "timestamp-rounded", change: at("2026-11-30T10:00:00.123456789Z", "2026-11-30T10:00:00.123457Z")},
		{name: "the timestamp a millisecond off", want: "same-envelope", change: at("2026-11-30T10:00:00.123Z", "2026-11-30T10:00:00.124Z")},
		{name: "not replayed", want: "undecided", change: resumedWith(200*ms, "D3", "D4")},
		{name: "not resumed", want: "undecided", change: func(o *Suffix) { o.Resumed = refusedSubscriber(409, refusalBody) }},
		{name: "nothing behind the cursor", want: "undecided", change: func(o *Suffix) { o.Cursor = "D4" }},
	})
}

func TestSameEnvelope(t *testing.T) {
	for _, c := range []struct {
		name, live, replayed string
		same                 bool
		where                string
	}{
		{"equal numbers", `{"payload":{"n":100}}`, `{"payload":{"n":1e2}}`, true, ""},
		{"unequal numbers", `{"payload":{"n":100}}`, `{"payload":{"n":101}}`, false, "member /payload/n"},
		{"a number turned text", `{"payload":{"n":1}}`, `{"payload":{"n":"1"}}`, false, "member /payload/n"},
		{"text turned a list", `{"payload":{"n":"1"}}`, `{"payload":{"n":["1"]}}`, false, "member /payload/n"},
		{"a shorter list", `{"payload":[1,2]}`, `{"payload":[1]}`, false, "member /payload"},
		{"a list's member", `{"payload":[1,{"a":true}]}`, `{"payload":[1,{"a":false}]}`, false, "member /payload/1/a"},
		{"a member lost", `{"payload":{"a":1}}`, `{"payload":{}}`, false, "member /payload/a"},
		{"null and absent", `{"payload":{"a":null}}`, `{"payload":{}}`, false, "member /payload/a"},
		{"an object turned text", `{"payload":{}}`, `{"payload":"{}"}`, false, "member /payload"},
		{"not JSON, equal", `hello`, `hello`, true, "the data as a whole"},
		{"not JSON, unequal", `hello`, `hallo`, false, "the data as a whole"},
		{"timestamps that are none", `{"timestamp":"soon"}`, `{"timestamp":"later"}`, false, "member /timestamp"},
	} {
		t.Run(c.name, func(t *testing.T) {
			same, where, _ := sameEnvelope(c.live, c.replayed)
			if same != c.same || where != c.where {
				t.Errorf("got %v at %q, want %v at %q", same, where, c.same, c.where)
			}
		})
	}
}

// rightTwice resumes twice at D1 and once at D3; S follows.
func rightTwice() Twice {
	emits := durableAt(10*ms, "D1", "D2", "D3")
	s := durableAt(150*ms, "S")[0]
	return Twice{
		Reading: tapeReading, Emits: emits, After: s,
		Observer: subscriber("", 0, 300*ms, append(shortly(emits...), shows(152*ms, s))...),
		First:    subscriber(emits[0].EventID, 50*ms, 90*ms, atOnce(52*ms, emits[1:]...)...),
		Second:   subscriber(emits[0].EventID, 95*ms, 140*ms, atOnce(97*ms, emits[1:]...)...),
		AtEnd:    subscriber(emits[2].EventID, 145*ms, 300*ms, shows(153*ms, s)),
	}
}

func TestJudgeResumeTwice(t *testing.T) {
	second := func(until observe.Micros, labels ...string) func(o *Twice) {
		return func(o *Twice) {
			var emits []observe.Emit
			for _, l := range labels {
				emits = append(emits, find(o.Emits, l))
			}
			o.Second = subscriber(o.Emits[0].EventID, 95*ms, until, atOnce(97*ms, emits...)...)
		}
	}
	atEnd := func(until observe.Micros, labels ...string) func(o *Twice) {
		return func(o *Twice) {
			var chunks []observe.Chunk
			for _, l := range labels {
				chunks = append(chunks, shows(153*ms, find(append(o.Emits[:3:3], o.After), l)))
			}
			o.AtEnd = subscriber(o.Emits[2].EventID, 145*ms, until, chunks...)
		}
	}
	judgeAll(t, rightTwice, JudgeResumeTwice, []judged[Twice]{
		{name: "the same twice, then nothing", want: "pass"},
		{name: "the second time nothing", want: "same-suffix-again", change: second(1200 * ms)},
		{name: "the second time nothing, not waited for", want: "undecided", change: second(140 * ms)},
		{name: "the second time half, the last event there", want: "same-suffix-again", change: second(140*ms, "D3")},
		{name: "the second time one more", want: "same-suffix-again", change: second(140*ms, "D1", "D2", "D3")},
		{name: "the second time in another order", want: "same-suffix-again", change: second(140*ms, "D3", "D2")},
		{name: "the second time refused", want: "cursor-resumed", change: func(o *Twice) { o.Second = refusedSubscriber(409, refusalBody) }},
		{name: "the last event's cursor refused", want: "cursor-resumed", change: func(o *Twice) { o.AtEnd = refusedSubscriber(409, refusalBody) }},
		{name: "the last event again at its own cursor", want: "empty-at-the-end", change: atEnd(300*ms, "D3", "S")},
		{name: "everything again at the last event's cursor", want: "empty-at-the-end", change: atEnd(300*ms, "D1", "D2", "D3", "S")},
		{name: "no sentinel at the last event's cursor", want: "undecided", change: atEnd(300 * ms)},
		{name: "the first time nothing", want: "undecided", change: func(o *Twice) { o.First = subscriber(o.Emits[0].EventID, 50*ms, 90*ms) }},
		{name: "the first time refused", want: "undecided", change: func(o *Twice) { o.First = refusedSubscriber(409, refusalBody) }},
		{name: "no sentinel at all", want: "undecided", change: func(o *Twice) { o.After = observe.Emit{} }},
	})
}
