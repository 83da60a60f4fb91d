package hostevents

import (
	"strings"
	"testing"

	"github.com/wopwitness/wopwitness/scenarios/registry"
	"github.com/wopwitness/wopwitness/witness/observe"
)

// resumeAt is the leg's ordinary course: D1, D2, E and D3 before, a connection at 80 ms, D4, E2 and S after it. The
// resumed stream shows the labelled events, in that order, those from after the connection as soon as they were sent.
func resumeAt(labels ...string) Resume {
	o := Resume{Reading: reads(), Cursor: "D1", Sentinel: "S", EphemeralWindow: 20 * ms}
	all := map[string]observe.Emit{}
	var home []observe.Chunk
	for i, e := range []struct{ label, delivery string }{
		{"D1", "durable"}, {"D2", "durable"}, {"E", "ephemeral"}, {"D3", "durable"},
		{"D4", "durable"}, {"E2", "ephemeral"}, {"S", "durable"},
	} {
		at := observe.Micros(10+10*i) * ms
		if i > 3 {
			at += 50 * ms
		}
		emit := triggered(e.label, observe.CredentialA, e.delivery, at)
		home = append(home, shows(at+2*ms, emit))
		all[e.label] = emit
		if i > 3 {
			o.Live = append(o.Live, emit)
		} else {
			o.Backlog = append(o.Backlog, emit)
		}
	}
	o.Observer = over(stream(observe.CredentialA, "", 1*ms, 200*ms, home...))
	at := 82 * ms
	var chunks []observe.Chunk
	for _, label := range labels {
		e := all[label]
		at = max(at, e.SentAt()+2*ms)
		chunks = append(chunks, shows(at, e))
	}
	o.Resumed = over(stream(observe.CredentialA, idOf("D1"), 80*ms, 200*ms, chunks...))
	return o
}

var rightOrder = []string{"D2", "D3", "D4", "E2", "S"}

// lastChunk is when the last bytes came.
func lastChunk(s observe.Subscription) observe.Micros {
	chunks := s.Segments[len(s.Segments)-1].Chunks
	return chunks[len(chunks)-1].At
}

func TestJudgeResumeBacklog(t *testing.T) {
	const leg = "0250.resume-backlog"
	right := resumeAt(rightOrder...)
	edit := func(change func(*Resume)) Resume {
		o := resumeAt(rightOrder...)
		change(&o)
		return o
	}
	resumedText := func(change func(string) string) Resume {
		return edit(func(o *Resume) {
			for i, c := range o.Resumed.Segments[0].Chunks {
				o.Resumed.Segments[0].Chunks[i].Bytes = observe.Text(change(c.Bytes.String()))
			}
		})
	}
	waited := func(o Resume) Resume {
		o.Resumed.Segments[0].EndedAt = 1500 * ms
		return o
	}
	for _, c := range []struct {
		name string
		o    any
		want outcome
	}{
		{"conforming", right, pass()},

		{"lawful: CRLF line ends", resumedText(func(s string) string { return strings.ReplaceAll(s, "\n", "\r\n") }), pass()},
		{"lawful: CR line ends", resumedText(func(s string) string { return strings.ReplaceAll(s, "\n", "\r") }), pass()},
		{"lawful: comments and retry lines", resumedText(func(s string) string { return ": here\nretry: 50\n\n" + s }), pass()},
		{"lawful: data over several lines", resumedText(func(s string) string { return strings.ReplaceAll(s, `,"payload"`, ",\ndata: \"payload\"") }), pass()},
		{"lawful: a heartbeat that repeats the last id", resumedText(func(s string) string {
			return s + "event: heartbeat\nid: " + idOf("D1") + "\ndata: {\"type\":\"heartbeat\"}\n\n"
		}), pass()},
		{"lawful: a busy tenant", resumedText(func(s string) string {
			return frameText(triggered("stranger", observe.CredentialA, "durable", 5*ms)) + s
		}), pass()},
		{"lawful: the host ends the stream right behind the sentinel", edit(func(o *Resume) {
			o.Resumed.Until = o.Resumed.Segments[0].EndedAt
			o.Resumed.Segments[0].End, o.Resumed.Segments[0].EndedAt = observe.EndHost, lastChunk(o.Resumed)+1
		}), pass()},
		{"the suite stopped listening right behind the sentinel", edit(func(o *Resume) {
			o.Resumed.Segments[0].EndedAt = lastChunk(o.Resumed) + 1
		}), undecided(registry.Timeout)},
		{"lawful: keys in another order", resumedText(func(s string) string {
			return strings.ReplaceAll(s, `"delivery":"durable","payload":{}`, `"payload":{},"delivery":"durable"`)
		}), pass()},
		{"lawful: content type in capitals with parameters", edit(func(o *Resume) {
			o.Resumed.Segments[0].Response.Headers = []observe.Header{{Name: "content-type", Value: "Text/Event-Stream; Charset=UTF-8"}}
		}), pass()},
		{"lawful: the host ends the stream and resumes it", edit(func(o *Resume) {
			first := o.Resumed.Segments[0]
			second := stream(observe.CredentialA, idOf("D3"), 85*ms, 200*ms, first.Chunks[2:]...)
			first.Chunks, first.End, first.EndedAt = first.Chunks[:2], observe.EndHost, 84*ms
			o.Resumed = over(first, second)
		}), pass()},
		{"lawful: one ephemeral of two is lost", edit(func(o *Resume) {
			o.Live = append(o.Live, triggered("E3", observe.CredentialA, "ephemeral", 125*ms))
		}), pass()},
		{"lawful: an older host's cursor aged before it was used", edit(func(o *Resume) {
			o.Retention = 60 * ms
			o.Resumed = over(resync())
			o.Resumed.Segments[0].Request.Headers = []observe.Header{{Name: "Last-Event-Id", Value: idOf("D1")}}
			o.Resumed.Segments[0].AnsweredAt = 80 * ms
		}), undecided(registry.Timeout)},

		{"loses the first of the backlog", resumeAt("D3", "D4", "E2", "S"), convicts("nothing-missing")},
		{"loses the last of the backlog", resumeAt("D2", "D4", "E2", "S"), convicts("nothing-missing")},
		{"loses the whole backlog", resumeAt("D4", "E2", "S"), convicts("nothing-missing")},
		{"loses what comes at the handoff", resumeAt("D2", "D3", "E2", "S"), convicts("nothing-missing")},
		{"is live no more", waited(resumeAt("D2", "D3")), convicts("nothing-missing", "live-after-backlog")},
		{"stops after the first live event", waited(resumeAt("D2", "D3", "D4")), convicts("nothing-missing", "live-after-backlog")},
		{"repeats at the handoff", resumeAt("D2", "D3", "D3", "D4", "E2", "S"), convicts("nothing-twice")},
		{"delivers a live event twice", resumeAt("D2", "D3", "D4", "D4", "E2", "S"), convicts("nothing-twice")},
		{"replays backwards", resumeAt("D3", "D2", "D4", "E2", "S"), convicts("in-commit-order")},
		{"puts the live event before the backlog", resumeAt("D4", "D2", "D3", "E2", "S"), convicts("in-commit-order")},
		{"sends the cursor's event again", resumeAt("D1", "D2", "D3", "D4", "E2", "S"), convicts("cursor-not-repeated")},
		{"replays the ephemeral event", resumeAt("D2", "E", "D3", "D4", "E2", "S"), convicts("no-old-ephemeral")},
		{"lets no ephemeral event through", resumeAt("D2", "D3", "D4", "S"), convicts("live-after-backlog")},
		{"refuses a good cursor", edit(func(o *Resume) { o.Resumed, o.Live = over(resync()), nil }), convicts("cursor-resumed")},
		{"answers a good cursor as no stream", edit(func(o *Resume) { o.Resumed, o.Live = over(answer(200, "application/json", "{}")), nil }), convicts("cursor-resumed")},
		{"ends the stream and refuses its last id", edit(func(o *Resume) {
			o.Resumed.Segments[0].End = observe.EndHost
			again := resync()
			again.Request.Headers = []observe.Header{{Name: "Last-Event-Id", Value: idOf("S")}}
			again.EndedAt = 200 * ms
			o.Resumed.Segments = append(o.Resumed.Segments, again)
		}), convicts("cursor-resumed")},

		{"undecided: the last event was not waited for", resumeAt("D2", "D3", "D4", "E2"), undecided(registry.Timeout)},
		{"undecided: the stream broke", edit(func(o *Resume) {
			s := &resumeAt("D2", "D3", "D4", "E2").Resumed.Segments[0]
			s.Failure, s.End, s.EndedAt = &observe.Failure{Kind: observe.FailReset, Text: "reset"}, observe.EndFailed, 1500*ms
			o.Resumed = over(*s)
		}), undecided(registry.Timeout)},
		{"undecided: read for less than the quiet window", edit(func(o *Resume) { o.Resumed.Segments[0].EndedAt = 133 * ms }), undecided(registry.Timeout)},
		{"undecided: the host asked to come back", edit(func(o *Resume) { o.Resumed = over(answer(429, "application/json", errorAnswer("rate_limited"))) }), undecided(registry.UnexpectedAnswer)},
		{"undecided: no answer", edit(func(o *Resume) { o.Resumed = over(observe.Stream{Exchange: failed(observe.FailTimeout)}) }), undecided(registry.Timeout)},
		{"undecided: nothing recorded", Resume{}, undecided(registry.Unreadable)},
		{"undecided: no connection recorded", edit(func(o *Resume) { o.Resumed = over() }), undecided(registry.Unreadable)},
		{"undecided: no sentinel recorded", edit(func(o *Resume) { o.Sentinel = "" }), undecided(registry.Unreadable)},
	} {
		t.Run(c.name, func(t *testing.T) { expect(t, leg, c.o, c.want) })
	}
}

func TestOrderConvictsOnlyWhereItIsKnown(t *testing.T) {
	o := resumeAt("D3", "D2", "D4", "E2", "S")
	// The observer shows D2 only after D3 was sent: the host may have committed them in either order.
	home := o.Observer.Segments[0].Chunks
	home[1].At, home[2].At, home[3].At = 45*ms, 46*ms, 47*ms
	expect(t, "0250.resume-backlog", o, pass())
}

func TestJudgeEphemeralNotReplayed(t *testing.T) {
	const leg = "0250.ephemeral-not-replayed"
	edit := func(change func(*Resume)) Resume {
		o := resumeAt(rightOrder...)
		change(&o)
		return o
	}
	for _, c := range []struct {
		name string
		o    any
		want outcome
	}{
		{"conforming", resumeAt(rightOrder...), pass()},
		{"lawful: something else is wrong with the stream", resumeAt("D1", "S"), pass()},
		{"replays it in its place", resumeAt("D2", "E", "D3", "S"), convicts("no-old-ephemeral")},
		{"replays it first", resumeAt("E", "D2", "D3", "S"), convicts("no-old-ephemeral")},
		{"replays it after the sentinel", resumeAt("D2", "D3", "S", "E"), convicts("no-old-ephemeral")},
		{"undecided: the observer never showed it", edit(func(o *Resume) {
			o.Observer.Segments[0].Chunks = append(o.Observer.Segments[0].Chunks[:2:2], o.Observer.Segments[0].Chunks[3:]...)
		}), undecided(registry.Timeout)},
		{"undecided: the cursor was refused", edit(func(o *Resume) { o.Resumed, o.Live = over(resync()), nil }), undecided(registry.UnexpectedAnswer)},
		{"undecided: the sentinel never came", resumeAt("D2", "D3"), undecided(registry.Timeout)},
		{"undecided: read for less than the window", edit(func(o *Resume) { o.EphemeralWindow = 500 * ms }), undecided(registry.Timeout)},
		{"undecided: nothing recorded", Resume{}, undecided(registry.Unreadable)},
	} {
		t.Run(c.name, func(t *testing.T) { expect(t, leg, c.o, c.want) })
	}
}
