package deadletter

import (
	"testing"

	"github.com/wopwitness/wopwitness/witness/observe"
)

func TestJudgeDurable(t *testing.T) {
	listing := func(at observe.Micros, runs ...string) observe.Exchange {
		body := ""
		for i, id := range runs {
			if i > 0 {
				body += ","
			}
			body += `{"runId":"` + id + `","reason":"retries exhausted","attempts":3,"deadLetteredAt":"2026-03-01T12:00:00Z"}`
		}
		return reply(at, 200, `{"entries":[`+body+`]}`)
	}
	right := func() Durable {
		r := runOf(ownID, exhausted(ownID))
		r.Snapshots = []observe.Exchange{reply(12*second, 200, `{"status":"failed"}`)}
		return Durable{
			Run: r, Listed: []observe.Exchange{listing(13*second, ownID)},
			Restart:  observe.Restart{Away: true, Back: reply(20*second, 200, `{}`)},
			Snapshot: reply(21*second, 200, `{"status":"failed"}`), Poll: page(21*second, logOf(ownID, exhausted(ownID)...)...),
			Relisted:   []observe.Exchange{listing(22*second, childID, ownID)},
			ForkBefore: reply(14*second, 201, forkAnswer), ForkAfter: reply(23*second, 201, forkAnswer),
		}
	}
	try(t, "exhaustion.durable", right, []judged[Durable]{
		{"right", nil, "pass"},
		{"a host that never went away", func(o *Durable) { o.Restart.Away = false }, "pass never-away"},
		{"a host without a sink to show", func(o *Durable) { o.Listed, o.Relisted = nil, nil }, "pass sink-not-asked"},
		{"a log that cannot be polled", func(o *Durable) {
			frames := ""
			for _, e := range logOf(ownID, exhausted(ownID)...) {
				frames += "data: " + e + "\n\n"
			}
			stream := observe.Stream{Exchange: reply(11*second, 200, ``), Chunks: []observe.Chunk{{Bytes: observe.Text(frames)}}}
			stream.Response.Headers[0].Value = "text/event-stream"
			o.Run.Streams = []observe.Stream{stream}
			o.Run.Reads, o.Poll = nil, reply(21*second, 404, `{}`)
		}, "pass event-not-asked-for"},
		{"the run is gone", func(o *Durable) { o.Snapshot = reply(21*second, 404, `{}`) }, "run-outlives"},
		{"the event is gone", func(o *Durable) { o.Poll = page(21*second, logOf(ownID, event{"run.failed", "", ""})...) }, "event-outlives"},
		{"the log is gone", func(o *Durable) { o.Poll = reply(21*second, 404, `{}`) }, "event-outlives"},
		{"the entry is gone", func(o *Durable) { o.Relisted = []observe.Exchange{listing(22*second, childID)} }, "entry-outlives"},
		{"all is gone", func(o *Durable) {
			o.Snapshot, o.Poll, o.Relisted = reply(21*second, 404, `{}`), reply(21*second, 404, `{}`), []observe.Exchange{listing(22 * second)}
		}, "entry-outlives event-outlives run-outlives"},
		{"a host that does not fork", func(o *Durable) { o.ForkBefore, o.ForkAfter = reply(14*second, 404, `{}`), observe.Exchange{} }, "pass not-forked-before"},
		{"it does not fork any more", func(o *Durable) { o.ForkAfter = reply(23*second, 404, `{}`) }, "fork-outlives"},
		{"its fork fails", func(o *Durable) { o.ForkAfter = reply(23*second, 500, `{}`) }, "fork-outlives"},
		{"its fork is put off", func(o *Durable) { o.ForkAfter = reply(23*second, 503, `{}`) }, "undecided unexpected-answer"},
		{"its fork was not asked for", func(o *Durable) { o.ForkAfter = observe.Exchange{} }, "undecided unexpected-answer"},
		{"a host that is still coming up", func(o *Durable) { o.Snapshot = reply(21*second, 503, `{}`) }, "undecided unexpected-answer"},
		{"a host that did not come back", func(o *Durable) { o.Restart.Back = silent(observe.FailRefused) }, "undecided unreachable"},
		{"asked before the restart", func(o *Durable) { o.Snapshot.SentAt = 15 * second }, "undecided unreadable"},
		{"a run that had not died", func(o *Durable) {
			o.Run = runOf(ownID, exhausted(ownID)[:5])
			o.Run.Snapshots = []observe.Exchange{reply(12*second, 200, `{"status":"running"}`)}
		}, "undecided timeout"},
	})
}
