package deadletter

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/wopwitness/wopwitness/witness/observe"
)

func TestJudgeNotEarly(t *testing.T) {
	recovers := []event{{"run.started", "", ""}, {"node.started", "flaky", ""}, {"node.failed", "flaky", ""}, {"node.started", "flaky", ""},
		{"node.failed", "flaky", ""}, {"node.started", "flaky", ""}, {"node.completed", "flaky", ""}, {"run.completed", "", ""}}
	early := event{"run.dead-lettered", "", `{"runId":"` + ownID + `","nodeId":"flaky","reason":"x","attempts":3}`}
	run := func(status string, events ...event) Run {
		r := runOf(ownID, events)
		r.Node, r.Snapshots = "flaky", []observe.Exchange{reply(12*second, 200, `{"status":"`+status+`"}`)}
		return r
	}
	right := func() Recovery {
		return Recovery{Recovering: run("completed", recovers...), Later: runOf(childID, exhausted(childID))}
	}
	with := func(r Run) func(*Recovery) { return func(o *Recovery) { o.Recovering = r } }
	try(t, "exhaustion.not-early", right, []judged[Recovery]{
		{"right", nil, "pass"},
		{"a log of one attempt", with(run("completed", event{"node.started", "flaky", ""}, event{"run.completed", "", ""})), "pass attempts-not-shown"},
		{"dead-lettered and completed", with(run("completed", append(recovers, early)...)), "no-early-dead-letter"},
		{"dead-lettered on the third try", with(run("failed", append(append([]event{}, recovers[:6]...), early, event{"run.failed", "", ""})...)), "no-early-dead-letter"},
		{"a host that gives up after two", with(run("failed", append(append([]event{}, recovers[:5]...), early, event{"run.failed", "", ""})...)), "undecided no-cause"},
		{"a host that fails after two", with(run("failed", append(append([]event{}, recovers[:5]...), event{"run.failed", "", ""})...)), "undecided no-cause"},
		{"not ended", with(run("running", recovers[:4]...)), "undecided timeout"},
		{"the later run shows no dead letter", func(o *Recovery) { o.Later = runOf(childID, rename(exhausted(childID), "")) }, "undecided timeout"},
		{"no log", func(o *Recovery) { o.Recovering.Reads = nil }, "undecided unexpected-answer"},
	})
}

func TestJudgeRedacted(t *testing.T) {
	const name, prefix = "openwop-conformance-canary-secret", "openwop-conformance-canary-"
	right := func() Redacted {
		r := runOf(ownID, repay(exhausted(ownID), "retries exhausted", "could not use "+name))
		return Redacted{Run: r, Name: name, Prefix: prefix, Marker: "marker-123", Surfaces: []observe.Exchange{reply(0, 422, `{"error":"fork_point_invalid"}`)}}
	}
	reason := func(text string) func(*Redacted) {
		return func(o *Redacted) { o.Run = runOf(ownID, repay(exhausted(ownID), "retries exhausted", text)) }
	}
	failed := func(text string) func(*Redacted) {
		return func(o *Redacted) {
			events := exhausted(ownID)
			events[2].payload = `{"error":"` + text + `"}`
			o.Run = runOf(ownID, events)
		}
	}
	fork := func(text string) func(*Redacted) {
		return func(o *Redacted) {
			c := childOf(repay(exhausted(childID), "retries exhausted", text), "failed")
			o.Fork = &c
		}
	}
	given := func(change func(*Redacted)) func(*Redacted) {
		return func(o *Redacted) { o.Canary = "s3cr3t value"; change(o) }
	}
	const inEvents, inLetter = "no-secret-in-events", "no-secret-in-dead-letter no-secret-in-events"
	try(t, "exhaustion.redacted", right, []judged[Redacted]{
		{"the name may be seen", nil, "pass"},
		{"the name within a path", reason("secret:" + name + "/v1"), "pass"},
		{"a value that was given, and the prefix seen", given(reason(prefix + "x")), "pass"},
		{"the value in the dead letter", reason("401 for " + prefix + "4f2a"), inLetter},
		{"a value that begins like the name", reason(name + "-4f2a"), inLetter},
		{"the value behind a JSON escape", reason(`openwop-conf\u006frmance-canary-4f2a`), inLetter},
		{"the value in node.failed", failed(prefix + "4f2a"), inEvents},
		{"the given value", given(failed("s3cr3t value")), inEvents},
		{"the given value as base64", given(failed("czNjcjN0IHZhbHVl")), inEvents},
		{"the given value as hexadecimal", given(failed("7333637233742076616c7565")), inEvents},
		{"the given value as percent text", given(failed("s3cr3t+value")), inEvents},
		{"the value in the snapshot", func(o *Redacted) { o.Run.Snapshots = []observe.Exchange{reply(0, 200, `{"error":"`+prefix+`4f2a"}`)} }, "no-secret-in-snapshot"},
		{"the value in an error", func(o *Redacted) { o.Surfaces = []observe.Exchange{reply(0, 422, `{"message":"`+prefix+`4f2a"}`)} }, "no-secret-elsewhere"},
		{"the value in a header", func(o *Redacted) { o.Surfaces[0].Response.Headers[0].Value = prefix + "4f2a" }, "no-secret-elsewhere"},
		{"the value on the stream", func(o *Redacted) {
			o.Run.Streams = []observe.Stream{{Exchange: reply(0, 200, ``), Chunks: []observe.Chunk{{Bytes: observe.Text(": openwop-conform")}, {Bytes: observe.Text("ance-canary-4f2a\n\n")}}}}
		}, inEvents},
		{"an input in the dead letter", reason("could not handle marker-123"), "no-input-in-dead-letter"},
		{"the value in its fork's dead letter", fork("401 for " + prefix + "4f2a"), inLetter},
		{"an input in its fork's dead letter", fork("could not handle marker-123"), "no-input-in-dead-letter"},
		{"a fork that shows neither", fork("could not use " + name), "pass"},
		{"an input elsewhere", failed("marker-123"), "pass"},
		{"nothing can be read", func(o *Redacted) { o.Run.Reads, o.Run.Snapshots = nil, nil }, "undecided timeout"},
	})
}

func TestJudgeSink(t *testing.T) {
	const entry = `{"runId":"` + ownID + `","nodeId":"poison","reason":"no","attempts":3,"deadLetteredAt":"2026-03-01T12:00:00Z","expiresAt":"2026-03-31T12:00:00Z"}`
	shows := func(entries ...string) []observe.Exchange {
		return []observe.Exchange{reply(0, 200, `{"entries":[`+strings.Join(entries, ",")+`]}`)}
	}
	right := func() Sink {
		return Sink{Major: 2, Days: 30, Run: deadRun(), Owner: shows(`{"runId":"acme/r-other"}`, entry), Other: shows()}
	}
	owner := func(entries ...string) func(*Sink) { return func(o *Sink) { o.Owner = shows(entries...) } }
	less := func(from, to string) string { return strings.Replace(entry, from, to, 1) }
	younger := strings.Replace(entry, ownID, childID, 1)
	small := func(entry, cursor string) observe.Exchange {
		if cursor == "" {
			return reply(0, 200, `{"entries":[`+entry+`]}`)
		}
		return reply(0, 200, `{"entries":[`+entry+`],"nextCursor":"`+cursor+`"}`)
	}
	second := runOf(childID, exhausted(childID))
	paged := func(pages ...observe.Exchange) func(*Sink) {
		return func(o *Sink) { o.Younger, o.Paged = &second, pages }
	}
	try(t, "sink.inspectable", right, []judged[Sink]{
		{"right", nil, "pass"},
		{"on the second page", func(o *Sink) {
			o.Owner = append([]observe.Exchange{reply(0, 200, `{"entries":[],"nextCursor":"c"}`)}, o.Owner...)
		}, "pass"},
		{"no end where no days are promised", func(o *Sink) { o.Days = 0; o.Owner = shows(less(`,"expiresAt":"2026-03-31T12:00:00Z"`, ``)) }, "pass"},
		{"other attempts than the event", owner(less(`"attempts":3`, `"attempts":2`)), "pass entry-counts-otherwise"},
		{"not listed", owner(`{"runId":"acme/r-other"}`), "entry-listed"},
		{"no reason", owner(less(`"reason":"no",`, ``)), "entry-form"},
		{"no attempts", owner(less(`"attempts":3,`, ``)), "entry-form"},
		{"no moment", owner(less(`"deadLetteredAt":"2026-03-01T12:00:00Z",`, ``)), "entry-form"},
		{"no end where days are promised", owner(less(`,"expiresAt":"2026-03-31T12:00:00Z"`, ``)), "entry-form"},
		{"not read to its end", func(o *Sink) { o.Owner = []observe.Exchange{reply(0, 200, `{"entries":[],"nextCursor":"c"}`)} }, "undecided timeout"},
		{"both on their pages", paged(small(younger, "a"), small(entry, "")), "pass"},
		{"both, with more behind them", paged(small(younger, "a"), small(entry, "b")), "pass"},
		{"the elder on no page", paged(small(younger, "a"), small(`{"runId":"acme/r-other"}`, "")), "entry-on-its-page"},
		{"the younger on no page", paged(small(entry, "")), "entry-on-its-page"},
		{"not read to the last page", paged(small(`{"runId":"acme/r-1"}`, "a"), small(`{"runId":"acme/r-2"}`, "b")), "pass pages-not-read"},
		{"pages that fail", paged(small(younger, "a"), reply(0, 500, `{}`)), "pass pages-not-read"},
		{"pages that are put off", paged(small(younger, "a"), reply(0, 429, `{}`)), "undecided unexpected-answer"},
		{"the seam fails", func(o *Sink) { o.Owner = []observe.Exchange{reply(0, 500, `{}`)} }, "undecided unexpected-answer"},
	})
	other := func(pages ...observe.Exchange) func(*Sink) { return func(o *Sink) { o.Other = pages } }
	behind := func(page observe.Exchange) func(*Sink) {
		return func(o *Sink) { o.Younger, o.OtherBehind = &second, []observe.Exchange{page} }
	}
	try(t, "sink.scoped", right, []judged[Sink]{
		{"right", behind(shows()[0]), "pass"},
		{"no cursor to try", nil, "pass no-cursor"},
		{"the owner's cursor refused to the other", behind(reply(0, 400, `{}`)), "pass"},
		{"the elder behind the owner's cursor", behind(shows(entry)[0]), "cursor-opens-nothing"},
		{"the younger behind the owner's cursor", behind(shows(younger)[0]), "cursor-opens-nothing"},
		{"the owner's cursor put off", behind(reply(0, 429, `{}`)), "undecided unexpected-answer"},
		{"refused to the other", other(reply(0, 403, `{}`)), "pass no-cursor"},
		{"shown to the other", other(shows(entry)...), "not-shown-to-another-tenant"},
		{"shown to the other on its second page", other(reply(0, 200, `{"entries":[],"nextCursor":"c"}`), shows(entry)[0]), "not-shown-to-another-tenant"},
		{"not shown to the owner", owner(), "undecided unexpected-answer"},
		{"the other's listing fails", other(reply(0, 500, `{}`)), "undecided unexpected-answer"},
		{"the other was not asked", other(), "undecided unexpected-answer"},
	})
}

func TestJudgeShape(t *testing.T) {
	document := func(major int, body string) func(*Advertisement) {
		return func(o *Advertisement) { o.Major, o.Discovery = major, reply(0, 200, body) }
	}
	right := func() Advertisement {
		return Advertisement{Major: 1, Discovery: reply(0, 200, `{"protocolVersion":"1.0","capabilities":{"deadLetter":{"supported":true,"retentionDays":30}}}`)}
	}
	const record = `{"deadLetter":{"status":"stable","since":"2.0","witness":"seam-gated","retentionDays":30}}`
	try(t, "shape.advertisement", right, []judged[Advertisement]{
		{"right", nil, "pass"},
		{"right on major 2", document(2, record), "pass"},
		{"seated at the root", document(1, `{"deadLetter":{"supported":false}}`), "pass"},
		{"three seats that agree", document(1, `{"capabilities":{"deadLetter":{"supported":true,"retentionDays":3}},"deadLetter":{"retentionDays":3,"supported":true},"host":{"deadLetter":{"supported":true,"retentionDays":3}}}`), "pass several-seats"},
		{"none", document(1, `{"capabilities":{"queueBus":{"deadLetterSupported":true}}}`), "pass not-advertised"},
		{"a facet of the host's own", document(2, strings.Replace(record, `"retentionDays"`, `"sink":"s3","retentionDays"`, 1)), "pass own-facet"},
		{"two seats that disagree", document(1, `{"capabilities":{"deadLetter":{"supported":true}},"host":{"deadLetter":{"supported":false}}}`), "seats-agree"},
		{"a member too many on major 1", document(1, `{"deadLetter":{"supported":true,"sink":"s3"}}`), "advertisement-form"},
		{"the second seat is malformed", document(1, `{"capabilities":{"deadLetter":{"supported":true}},"deadLetter":true}`), "advertisement-form seats-agree"},
		{"no days", document(1, `{"deadLetter":{"supported":true,"retentionDays":0}}`), "advertisement-form"},
		{"major 1's family on major 2", document(2, `{"deadLetter":{"supported":true}}`), "advertisement-form"},
		{"an unknown witness class", document(2, strings.Replace(record, "seam-gated", "trust-me", 1)), "advertisement-form"},
		{"no document", document(1, `<html>`), "undecided unreadable"},
		{"no answer", func(o *Advertisement) { o.Discovery = silent(observe.FailRefused) }, "undecided unreachable"},
	})
	try(t, "shape.retention-days", right, []judged[Advertisement]{
		{"right", nil, "pass"},
		{"three and no fraction", document(1, `{"deadLetter":{"supported":true,"retentionDays":3.0}}`), "pass"},
		{"not named", document(1, `{"deadLetter":{"supported":true}}`), "pass no-retention-days"},
		{"zero", document(1, `{"deadLetter":{"supported":true,"retentionDays":0}}`), "retention-days"},
		{"half", document(2, `{"deadLetter":{"retentionDays":0.5}}`), "retention-days"},
		{"a string", document(2, `{"deadLetter":{"retentionDays":"30"}}`), "retention-days"},
		{"null", document(1, `{"deadLetter":{"supported":true,"retentionDays":null}}`), "retention-days"},
		{"not advertised", document(1, `{}`), "undecided not-advertised"},
	})
	vector := Vector{Name: "v", Kind: "payload", Document: json.RawMessage(`{"runId":"r","reason":"x","attempts":1}`), Valid: true}
	try(t, "shape.vectors", func() Vectors { return Vectors{Major: 1, Vectors: []Vector{vector}} }, []judged[Vectors]{
		{"right", nil, "pass"},
		{"said to be invalid", func(o *Vectors) { o.Vectors[0].Valid = false }, "payload-vectors"},
		{"a capability said to be valid", func(o *Vectors) {
			o.Vectors = []Vector{{Name: "v", Kind: "capability", Document: json.RawMessage(`{}`), Valid: true}}
		}, "capability-vectors"},
	})
}
