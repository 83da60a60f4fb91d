package agentdlq

import (
	"fmt"
	"strings"
	"time"

	"github.com/wopwitness/wopwitness/scenarios/registry"
	"github.com/wopwitness/wopwitness/witness"
)

const queues = "Queues"

func storeJudges() map[registry.LegID]witness.Judge {
	return map[registry.LegID]witness.Judge{
		"agentdlq.store.context":       witness.Of(JudgeContext),
		"agentdlq.store.by-trace":      witness.Of(JudgeByTrace),
		"agentdlq.store.by-tool":       witness.Of(JudgeByTool),
		"agentdlq.store.by-resolution": witness.Of(JudgeByResolution),
		"agentdlq.store.audit-trail":   witness.Of(JudgeAuditTrail),
		"agentdlq.store.time-to-live":  witness.Of(JudgeTimeToLive),
		"agentdlq.store.scoped":        witness.Of(JudgeScoped),
	}
}

// JudgeContext judges agentdlq.store.context: an entry has the payload, the trace, the reason, each attempt and its tags.
func JudgeContext(s Scene) witness.Verdict {
	return judge(s, queues, "nobody can tell from the queue what was tried, with what, and why it failed", func(b *bench) {
		if _, is := b.fell("message"); !is {
			return
		}
		e := b.detail("message")
		sent := b.args("message", 0).canonical()
		b.hold("payload", e.json.get("toolArgs").canonical() == sent, "the entry's arguments are not those of the call", sent, e.json.get("toolArgs").raw())
		trace := traceIn(decode(b.Last(DidSend, "message").Request.Body).get("traceparent").text())
		b.hold("trace", e.TraceID == trace, "the entry has another trace than its message came with", trace, e.TraceID)
		failed := e.json.get("lastError")
		b.hold("reason", e.Kind == "server_error" && failed.get("status").count() == 500 && failed.get("message").text() != "",
			"the entry doesn't say why the call failed", "server_error, 500, and the tool's words", failed.raw())
		b.hold("history", e.tries() == "1 server_error, 2 server_error", "the entry doesn't tell each attempt", "1 server_error, 2 server_error", e.tries())
		b.hold("tags", e.json.get("tags").isList(), "the entry has no tags", "a list of texts", e.json.get("tags").raw())
	})
}

// traceIn is the trace id in a traceparent.
func traceIn(traceparent string) string {
	parts := strings.Split(traceparent, "-")
	if len(parts) != 4 {
		return ""
	}
	return parts[1]
}

// JudgeByTrace judges agentdlq.store.by-trace: the entries of one trace, and no others.
func JudgeByTrace(s Scene) witness.Verdict {
	return judge(s, queues, "how far a failure reaches can't be seen", func(b *bench) {
		b.listed("shared trace", "first", "second")
		b.listed("other trace", "other")
		b.deep("shared trace", 2)
	})
}

// JudgeByTool judges agentdlq.store.by-tool: the entries of one tool, and no others.
func JudgeByTool(s Scene) witness.Verdict {
	return judge(s, queues, "nobody can tell a tool that fails for everyone from one failure", func(b *bench) {
		b.listed("failing tool", "first", "second")
		b.listed("other tool", "other")
		b.deep("failing tool", 2)
	})
}

// JudgeByResolution judges agentdlq.store.by-resolution: the entries of each resolution, and only the unresolved are
// counted.
func JudgeByResolution(s Scene) witness.Verdict {
	return judge(s, queues, "what is still to be done can't be told from what is done", func(b *bench) {
		for _, resolution := range []string{"unresolved", "resolved", "replayed", "discarded"} {
			b.listed(resolution, resolution)
		}
		b.listed("all", "unresolved", "resolved", "replayed", "discarded")
		b.deep("all", 1)
	})
}

// JudgeAuditTrail judges agentdlq.store.audit-trail: what was done to an entry, by whom, when and with what notes, and
// nothing of it ever changes.
func JudgeAuditTrail(s Scene) witness.Verdict {
	return judge(s, queues, "nobody can be held to what was done to a customer's failed work", func(b *bench) {
		b.kept()
		e := b.detail("message")
		trail := e.Audit()
		first := Audit{Raw: "nothing"}
		if len(trail) > 0 {
			first = trail[0]
		}
		b.hold("begins-with-the-enqueuing", first.Action == "enqueued" && first.By == "worker", "the trail doesn't begin with the enqueuing", "enqueued by worker", first.Raw)
		b.hold("replay-told", e.audited("replay", "kim"), "the failed replay is not in the trail", "replay by kim", trailOf(e))
		resolved := false
		for _, a := range trail {
			resolved = resolved || a.Action == "resolve" && a.By == "lee" && a.Notes == "done by hand" && a.Resolution == "resolved"
		}
		b.hold("resolution-told", resolved, "the trail doesn't say who resolved the entry, and with what notes", "resolve by lee: done by hand", trailOf(e))
		ordered := len(trail) > 0
		for i, a := range trail {
			ordered = ordered && !a.At.IsZero() && (i == 0 || !a.At.Before(trail[i-1].At))
		}
		b.hold("in-order", ordered, "the trail is not in the order of its instants", "instants that don't fall", trailOf(e))
		late := b.one(DidDiscard, "message")
		b.hold("final", late.Status() == 409 && ErrorCode(late) == "run_state_conflict" && e.Resolution == "resolved",
			"a resolved entry could be discarded", "409 run_state_conflict, and the entry resolved", brief(late)+"; "+e.Resolution)
	})
}

// kept holds that each reading of the trail begins with all of the one before.
func (b *bench) kept() {
	readings := b.all(DidEntry, "message")
	for i := 1; i < len(readings); i++ {
		before, after := EntryOf(readings[i-1]).Audit(), EntryOf(readings[i]).Audit()
		same := len(after) >= len(before)
		for j := range before {
			same = same && after[j].Raw == before[j].Raw
		}
		b.hold("never-changed", same, "the trail of an entry changed", trailOf(EntryOf(readings[i-1]))+" …", trailOf(EntryOf(readings[i])))
	}
	if len(readings) < 2 {
		b.lacks = append(b.lacks, "two readings of the entry")
	}
}

func trailOf(e Entry) string {
	var lines []string
	for _, a := range e.Audit() {
		lines = append(lines, a.Raw)
	}
	return strings.Join(lines, " ")
}

// JudgeTimeToLive judges agentdlq.store.time-to-live: an entry is there for its time, and then it and its conversation
// are gone.
func JudgeTimeToLive(s Scene) witness.Verdict {
	return judge(s, queues, "what a customer's data may be kept for is broken, or failed work is lost before anyone sees it", func(b *bench) {
		e := b.detail("message")
		lives, want := e.Expires().Sub(e.FirstSeen), time.Duration(b.Numbers.EntryTTLSeconds)*time.Second
		b.hold("said", !e.Expires().IsZero() && (lives-want).Abs() <= time.Second, "the entry doesn't say when it expires", want.String()+" after firstSeenAt", e.Raw)
		b.during("just before", func(b *bench) {
			x := b.one(DidAsk, "entry")
			b.hold("not-early", x.Status() == 200, "the entry was gone before its time was over", "200", brief(x))
		})
		b.during("just after", func(b *bench) {
			b.denied("gone", "the entry is there after its time", b.one(DidAsk, "entry"))
			shown, is := entryFor(b.read(DidQuery, "tool"), b.Names["message"])
			b.hold("not-listed", !is, "the entry is listed after its time", "no entry of it", shown.Raw)
			b.denied("conversation-gone", "the conversation is there after the entry's time", b.one(DidAsk, "conversation"))
		})
	})
}

// JudgeScoped judges agentdlq.store.scoped: what one tenant has is not there for another.
func JudgeScoped(s Scene) witness.Verdict {
	return judge(s, "Ground rules", "one customer sees, or changes, the failed work of another", func(b *bench) {
		b.during("as another tenant", func(b *bench) {
			for _, what := range []string{"entry", "tool", "message", "trace", "impact", "replay"} {
				b.denied("not-there", fmt.Sprintf("another tenant's request for the %s is not answered like one for what isn't there", what), b.one(DidAsk, what))
			}
			for _, list := range []string{"entries", "invocations"} {
				pages := b.read(DidQuery, list)
				var shown []string
				for _, x := range pages {
					for _, item := range bodyOf(x, 200).get("entries").items() {
						shown = append(shown, item.raw())
					}
				}
				b.hold("not-listed", len(shown) == 0, fmt.Sprintf("another tenant is shown %s", list), "an empty list", strings.Join(shown, " "))
			}
		})
		b.during("as the owner", func(b *bench) {
			e := b.detail("message")
			b.hold("untouched", e.Resolution == "unresolved" && !e.audited("replay", "stranger"), "another tenant's request changed the entry", "unresolved, as before", e.Raw)
			b.hold("not-replayed", len(b.tool("tool").Calls) == 1, "another tenant's request had the tool called", "1 call", calling(b.tool("tool").Calls))
		})
	})
}
