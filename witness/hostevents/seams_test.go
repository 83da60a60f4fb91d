package hostevents

import (
	"fmt"
	"strings"
	"testing"

	"github.com/wopwitness/wopwitness/witness/observe"
)

func TestJudgeRemoved(t *testing.T) {
	right := func() Removed {
		emits := durableAt(10*ms, "D1", "R", "D2")
		return Removed{
			Reading: tapeReading, Emits: emits, Cursor: "D1", Gone: "R",
			Removal:  exchange("POST", "/conformance/seams/sample/host-events/remove", observe.CredentialA, 40*ms, 204, "", ""),
			Observer: subscriber("", 0, 200*ms, shortly(emits...)...),
			Resumed:  subscriber(emits[0].EventID, 50*ms, 200*ms, atOnce(52*ms, emits[2])...),
			Unknown:  turnedAway("unknown", unknownCursor, 409, refusalBody),
			AtGone:   turnedAway("removed", emits[1].EventID, 409, refusalBody),
		}
	}
	// newestRemoved removes D2 at 200 ms, and has D3 and D4 follow.
	newestRemoved := func(change func(o *Removed)) func(o *Removed) {
		return func(o *Removed) {
			o.Newest, o.After = o.Removal, durableAt(210*ms, "D3", "D4")
			o.Newest.SentAt, o.Newest.AnsweredAt = 200*ms, 201*ms
			response := *o.Newest.Response
			o.Newest.Response = &response
			o.Observer = subscriber("", 0, 300*ms, shortly(append(o.Emits, o.After...)...)...)
			o.Later = subscriber(o.Emits[0].EventID, 240*ms, 300*ms, atOnce(242*ms, o.After...)...)
			if change != nil {
				change(o)
			}
		}
	}
	judgeAll(t, right, JudgeRemoved, []judged[Removed]{
		{name: "left out and refused", want: "pass"},
		{name: "still replayed", want: "left-out", change: func(o *Removed) {
			o.Resumed = subscriber(o.Emits[0].EventID, 50*ms, 200*ms, atOnce(52*ms, o.Emits[1:]...)...)
		}},
		{name: "its cursor refused as gone", want: "removed-like-unknown", change: func(o *Removed) {
			o.AtGone = turnedAway("removed", o.Emits[1].EventID, 410, errorAnswer("gone"))
		}},
		{name: "its cursor refused in other words", want: "removed-like-unknown", change: func(o *Removed) {
			o.AtGone = turnedAway("removed", o.Emits[1].EventID, 409, refusalBody+" ")
		}},
		{name: "its cursor resumed", want: "removed-like-unknown", change: func(o *Removed) {
			o.AtGone = stream(observe.CredentialA, o.Emits[1].EventID, 60*ms, 80*ms)
		}},
		{name: "the sentinel did not come", want: "undecided", change: func(o *Removed) { o.Resumed = subscriber(o.Emits[0].EventID, 50*ms, 200*ms) }},
		{name: "the cursor before it not resumed", want: "undecided", change: func(o *Removed) { o.Resumed = refusedSubscriber(409, refusalBody) }},
		{name: "it was never shown to exist", want: "undecided", change: func(o *Removed) { o.Observer = subscriber("", 0, 200*ms, shortly(o.Emits[0], o.Emits[2])...) }},
		{name: "not removed", want: "undecided", change: func(o *Removed) { o.Removal.Response.Status = 500 }},
		{name: "the newest removed, and the stream goes on", want: "pass", change: newestRemoved(nil)},
		{name: "the newest removed, and what follows lost to the open stream", want: "goes-on-after-the-newest", change: newestRemoved(func(o *Removed) {
			o.Observer = subscriber("", 0, 1300*ms, shortly(append(o.Emits, o.After[1])...)...)
		})},
		{name: "the newest removed, and what follows not waited for", want: "undecided", change: newestRemoved(func(o *Removed) {
			o.Observer = subscriber("", 0, 300*ms, shortly(append(o.Emits, o.After[1])...)...)
		})},
		{name: "the newest removed, and what follows kept nowhere", want: "undecided", change: newestRemoved(func(o *Removed) {
			o.Observer = subscriber("", 0, 1300*ms, shortly(append(o.Emits, o.After[1])...)...)
			o.Later = subscriber(o.Emits[0].EventID, 240*ms, 300*ms, atOnce(242*ms, o.After[1])...)
		})},
		{name: "the newest removed while the host ended the stream", want: "pass", note: "stream-ended", change: newestRemoved(func(o *Removed) {
			before, behind := subscriber("", 0, 205*ms, shortly(o.Emits...)...), subscriber(o.Emits[2].EventID, 208*ms, 1200*ms)
			o.Observer = over(before.Segments[0], behind.Segments[0])
		})},
		{name: "the newest not removed", want: "pass", note: "newest-not-removed", change: newestRemoved(func(o *Removed) { o.Newest.Response.Status = 404 })},
		{name: "refusing its cursor went unanswered", want: "undecided", change: func(o *Removed) { o.AtGone = lostConnection(observe.FailTimeout) }},
	})
}

func TestJudgeOversize(t *testing.T) {
	const size = 64 << 10
	// large is the frame of the large event with so many bytes of payload.
	large := func(e observe.Emit, bytes int) string {
		return strings.Replace(frameText(e), `"payload":{}`, fmt.Sprintf(`"payload":{"fill":%q}`, strings.Repeat("x", bytes)), 1)
	}
	right := func() Oversize {
		emits := durableAt(10*ms, "D1", "small", "large", "S")
		o := Oversize{Reading: tapeReading, Bytes: size, Cursor: emits[0], Small: emits[1], Large: emits[2], Sentinel: emits[3]}
		o.Observer = subscriber("", 0, 200*ms, shortly(emits[0], emits[1], emits[3])...)
		o.Live = subscriber(emits[0].EventID, 15*ms, 200*ms, shows(22*ms, emits[1]), chunk(33*ms, large(emits[2], size)), shows(42*ms, emits[3]))
		o.Replayed = subscriber(emits[0].EventID, 60*ms, 200*ms, shows(62*ms, emits[1]), chunk(63*ms, large(emits[2], size)), shows(64*ms, emits[3]))
		return o
	}
	without := func(s *observe.Subscription, i int) {
		c := s.Segments[0].Chunks
		s.Segments[0].Chunks = append(c[:i:i], c[i+1:]...)
	}
	judgeAll(t, right, JudgeOversize, []judged[Oversize]{
		{name: "delivered and replayed", want: "pass"},
		{name: "dropped live", want: "delivered-live", change: func(o *Oversize) { without(&o.Live, 1) }},
		{name: "dropped in replay", want: "replayed", change: func(o *Oversize) { without(&o.Replayed, 1) }},
		{name: "dropped everywhere", want: "delivered-live replayed", change: func(o *Oversize) { without(&o.Live, 1); without(&o.Replayed, 1) }},
		{name: "after the sentinel, late", want: "pass", change: func(o *Oversize) {
			c := o.Live.Segments[0].Chunks
			c[1], c[2] = c[2], c[1]
		}},
		{name: "nothing of that type arrives at all", want: "undecided", change: func(o *Oversize) { without(&o.Live, 1); without(&o.Live, 0) }},
		{name: "the sentinel missing too", want: "undecided", change: func(o *Oversize) { without(&o.Replayed, 2); without(&o.Replayed, 1) }},
		{name: "not large after all", want: "undecided", change: func(o *Oversize) {
			o.Live.Segments[0].Chunks[1].Bytes = observe.Text(large(o.Large, 100))
			o.Replayed.Segments[0].Chunks[1].Bytes = observe.Text(large(o.Large, 100))
		}},
		{name: "replayed without its payload", want: "same-payload", change: func(o *Oversize) {
			o.Replayed.Segments[0].Chunks[1].Bytes = observe.Text(frameText(o.Large))
		}},
		{name: "replayed with a part of its payload", want: "same-payload", change: func(o *Oversize) {
			o.Replayed.Segments[0].Chunks[1].Bytes = observe.Text(large(o.Large, size-1))
		}},
		{name: "delivered live without its payload", want: "same-payload", change: func(o *Oversize) {
			o.Live.Segments[0].Chunks[1].Bytes = observe.Text(frameText(o.Large))
		}},
		{name: "the payload's members in another order", want: "pass", change: func(o *Oversize) {
			fill := strings.Repeat("x", size)
			with := func(payload string) observe.Text {
				return observe.Text(strings.Replace(frameText(o.Large), `"payload":{}`, payload, 1))
			}
			o.Live.Segments[0].Chunks[1].Bytes = with(`"payload":{"a":1,"fill":"` + fill + `"}`)
			o.Replayed.Segments[0].Chunks[1].Bytes = with(`"payload": {"fill": "` + fill + `", "a": 1.0}`)
		}},
		{name: "not resumed", want: "undecided", change: func(o *Oversize) { o.Replayed = refusedSubscriber(409, refusalBody) }},
		{name: "no large event", want: "undecided", change: func(o *Oversize) { o.Large = observe.Emit{} }},
	})
}

// rightExpired is a host that keeps an hour: old and older, a quarter of an hour and more, within, three quarters, fresh.
func rightExpired() Expired {
	const second = 1000 * ms
	move := func(seconds int64, at observe.Micros) observe.ClockMove {
		return observe.ClockMove{Seconds: seconds, Exchange: exchange("POST", "/conformance/seams/sample/clock/advance", observe.CredentialA, at, 200, "application/json", `{}`)}
	}
	emits := append(durableAt(10*ms, "old", "older"), append(durableAt(110*ms, "within"), durableAt(210*ms, "fresh", "freshest")...)...)
	o := Expired{
		Reading: Reading{Patience: second, Quiet: 20 * ms, Retention: 3600 * second}, Emits: emits, Old: "old", Young: "within",
		Moves:    []observe.ClockMove{move(905, 100*ms), move(2700, 200*ms)},
		Observer: subscriber("", 0, 500*ms, shortly(emits...)...),
		Unknown:  turnedAway("unknown", unknownCursor, 409, refusalBody),
		AtOld:    refusedSubscriber(409, refusalBody),
		AtYoung:  subscriber(emits[2].EventID, 310*ms, 500*ms, atOnce(312*ms, emits[3:]...)...),
	}
	o.AtOld.Segments[0].SentAt, o.AtOld.Segments[0].AnsweredAt = 300*ms, 301*ms
	return o
}

func TestJudgeExpired(t *testing.T) {
	resumedAtOld := func(labels ...string) func(o *Expired) {
		return func(o *Expired) {
			var emits []observe.Emit
			for _, l := range labels {
				emits = append(emits, find(o.Emits, l))
			}
			o.AtOld = subscriber(o.Emits[0].EventID, 300*ms, 500*ms, atOnce(302*ms, emits...)...)
		}
	}
	atYoung := func(labels ...string) func(o *Expired) {
		return func(o *Expired) {
			var emits []observe.Emit
			for _, l := range labels {
				emits = append(emits, find(o.Emits, l))
			}
			o.AtYoung = subscriber(o.Emits[2].EventID, 310*ms, 500*ms, atOnce(312*ms, emits...)...)
		}
	}
	judgeAll(t, rightExpired, JudgeExpired, []judged[Expired]{
		{name: "refused past the bound", want: "pass", note: "refused-past-bound"},
		{name: "resumed past the bound, whole", want: "pass", note: "resumed-past-bound", change: resumedAtOld("older", "within", "fresh", "freshest")},
		{name: "resumed past the bound, the expired ones left out", want: "pass", note: "older-left-out", change: resumedAtOld("within", "fresh", "freshest")},
		{name: "resumed past the bound, a younger one lost", want: "nothing-missing", change: resumedAtOld("older", "fresh", "freshest")},
		{name: "resumed past the bound, one twice", want: "nothing-twice", change: resumedAtOld("older", "within", "within", "fresh", "freshest")},
		{name: "refused in other words", want: "expired-like-unknown", change: func(o *Expired) {
			o.AtOld.Segments[0].Response.Body = observe.Text(errorAnswer("host_event_resync_required"))
		}},
		{name: "refused as gone", want: "expired-like-unknown", change: func(o *Expired) { o.AtOld.Segments[0].Response.Status = 410 }},
		{name: "a cursor within the bound refused", want: "cursor-resumed", change: func(o *Expired) { o.AtYoung = refusedSubscriber(409, refusalBody) }},
		{name: "an event behind the younger cursor lost", want: "nothing-missing", change: atYoung("freshest")},
		{name: "the clock was not moved far enough", want: "undecided", change: func(o *Expired) { o.Moves = o.Moves[:1] }},
		{name: "an advance that was refused", want: "undecided", change: func(o *Expired) { o.Moves[1].Exchange.Response.Status = 409 }},
		{name: "the younger cursor passed the bound as well", want: "undecided", change: func(o *Expired) { o.Moves[1].Seconds = 3600 }},
		{name: "an error in a stream instead of the refusal, time and again", want: "resumed-or-refused", change: func(o *Expired) {
			o.AtOld = observe.Subscription{}
			for i := range observe.Micros(10) {
				s := stream(observe.CredentialA, o.Emits[0].EventID, (300+10*i)*ms, (305+10*i)*ms, chunk((304+10*i)*ms, "event: error\ndata: {\"error\":\"gone\"}\n\n"))
				s.End = observe.EndHost
				o.AtOld.Segments = append(o.AtOld.Segments, s)
			}
		}},
		{name: "a bound of a second", want: "pass", note: "short-bound", change: func(o *Expired) { o.Retention = 1000 * ms }},
		{name: "a bound of a second, resumed past it", want: "pass", note: "short-bound", change: func(o *Expired) {
			o.Retention = 1000 * ms
			resumedAtOld("fresh", "freshest")(o)
		}},
		{name: "a bound of a second, refused as gone", want: "expired-like-unknown", change: func(o *Expired) {
			o.Retention = 1000 * ms
			o.AtOld.Segments[0].Response.Status = 410
		}},
		{name: "no bound", want: "undecided", change: func(o *Expired) { o.Retention = 0 }},
		{name: "no connection past the bound", want: "undecided", change: func(o *Expired) { o.AtOld = observe.Subscription{} }},
		{name: "no connection within the bound", want: "undecided", change: func(o *Expired) { o.AtYoung = observe.Subscription{} }},
		{name: "asked to come later", want: "undecided", change: func(o *Expired) { o.AtOld.Segments[0].Response.Status = 503 }},
	})
}
