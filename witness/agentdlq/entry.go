package agentdlq

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/wopwitness/wopwitness/fixtures/schema"
	"github.com/wopwitness/wopwitness/scenarios/registry"
	"github.com/wopwitness/wopwitness/witness"
)

const entryPage = "Queues"

// The roles of what a leg hides in what it sends.
const (
	AddressRole = "the customer's address"
	SaidRole    = "what was said"
)

// Address is an e-mail address that is the leg's own.
func Address(suffix string) string { return "ada." + suffix + "@customer.example" }

// Said is a text that only the conversation of a run can hold.
func Said(suffix string) string { return "tell me about the teapot " + suffix }

// FailingInTurn are the outcomes of three attempts that fail in three ways.
func FailingInTurn() []string { return []string{"server_error", "rate_limited", "locked"} }

// Kinds are the kinds of error with the status that each has, "null" where none was answered.
func Kinds() map[string]string {
	return map[string]string{
		"server_error": "500", "timeout": "null", "rate_limited": "429", "malformed": "200", "locked": "423", "bad_request": "400",
		"semantic": "422", "unauthorized": "401", "gone": "410", "unreachable": "null",
	}
}

func entryJudges() map[registry.LegID]witness.Judge {
	return map[registry.LegID]witness.Judge{
		"agentdlq.entry.shape":                witness.Of(JudgeEntryShape),
		"agentdlq.entry.step-index":           witness.Of(JudgeStepIndex),
		"agentdlq.entry.attempts":             witness.Of(JudgeEntryAttempts),
		"agentdlq.entry.last-error":           witness.Of(JudgeLastError),
		"agentdlq.entry.redacted":             witness.Of(JudgeRedacted),
		"agentdlq.entry.conversation-pointer": witness.Of(JudgeConversation),
		"agentdlq.entry.tokens-spent":         witness.Of(JudgeTokens),
		"agentdlq.entry.first-seen":           witness.Of(JudgeFirstSeen),
		"agentdlq.entry.original-message":     witness.Of(JudgeOriginal),
	}
}

// formed holds an entry or a record to its schema. Members that the page doesn't name are the host's own business.
func (b *bench) formed(check string, name schema.Name, document string) {
	violations := schema.Validate(name, []byte(document))
	var lines []string
	for _, x := range violations {
		lines = append(lines, x.String())
	}
	b.hold(check, len(violations) == 0, "what is shown has not the form that the page gives it", "the schema "+string(name),
		strings.Join(lines, "; ")+" in "+document)
}

// JudgeEntryShape judges agentdlq.entry.shape: both kinds of entry have their members, in a list and by their ids.
func JudgeEntryShape(s Scene) witness.Verdict {
	return judge(s, entryPage, "whoever reads the queue can't tell what failed, why, or how to resume it", func(b *bench) {
		if e, ok := b.entry("exhausted"); ok {
			b.formed("tool-entry", schema.AgentToolEntry, e.Raw)
			b.formed("tool-entry-by-id", schema.AgentToolEntryDetail, b.detail("exhausted").Raw)
			b.same("exhausted", e)
		}
		entries := b.messageEntries("malformed")
		b.hold("one-message-entry", len(entries) == 1, "the malformed message is not in the message queue once", "one entry", told(entries))
		if len(entries) > 0 {
			b.formed("message-entry", schema.AgentMessageEntry, entries[0].Raw)
			b.formed("message-entry-by-id", schema.AgentMessageEntryDetail, b.detail("malformed").Raw)
			b.same("malformed", entries[0])
		}
		b.called("right", 1)
	})
}

// same holds that an entry is the same one in the list and by its id.
func (b *bench) same(role string, listed Entry) {
	detail := b.detail(role)
	b.hold("same-by-id", detail.ID == listed.ID && detail.MessageID == listed.MessageID, "an entry that is read by its id is another one", listed.Raw, detail.Raw)
}

// JudgeStepIndex judges agentdlq.entry.step-index.
func JudgeStepIndex(s Scene) witness.Verdict {
	return judge(s, entryPage, "the run is resumed at the wrong step: something is done twice, or never", func(b *bench) {
		for step := range 3 {
			role := fmt.Sprintf("fails at %d", step)
			b.ends(role, toolFailed())
			for _, e := range b.toolEntries(role) {
				b.hold("step-index", e.Step == Count(step), fmt.Sprintf("the entry of the message %q names another step", role), fmt.Sprint(step), e.Step.String())
				b.hold("tool-name", e.Tool == b.Names["failing"], fmt.Sprintf("the entry of the message %q names another tool", role), b.Names["failing"], e.Tool)
			}
			b.calledBy(role, "right", step)
		}
	})
}

// JudgeEntryAttempts judges agentdlq.entry.attempts: the number, and one item of history for each.
func JudgeEntryAttempts(s Scene) witness.Verdict {
	return judge(s, entryPage, "nobody can tell a tool that failed once from one that was given every chance", func(b *bench) {
		for _, c := range []struct {
			role, tool string
			outcomes   []string
		}{{"three", "fails in turn", FailingInTurn()}, {"one", "fails", []string{"locked"}}} {
			role, outcomes := c.role, c.outcomes
			b.ends(role, toolFailed())
			b.called(c.tool, len(outcomes))
			for _, e := range b.toolEntries(role) {
				b.hold("attempts", e.Attempts == Count(len(outcomes)), fmt.Sprintf("the entry of the message %q counts otherwise", role), fmt.Sprint(len(outcomes)), e.Attempts.String())
			}
			var want []string
			for i, o := range outcomes {
				want = append(want, fmt.Sprintf("%d %s", i+1, o))
			}
			got := b.detail(role).tries()
			b.hold("history", got == strings.Join(want, ", "), fmt.Sprintf("the history of the entry of %q is not that of its attempts", role), strings.Join(want, ", "), got)
		}
	})
}

// JudgeLastError judges agentdlq.entry.last-error: the kind and the status of the page's table, and a text.
func JudgeLastError(s Scene) witness.Verdict {
	return judge(s, entryPage, "a failure can't be told from another that is mended in another way", func(b *bench) {
		kinds := Kinds()
		for _, kind := range slices.Sorted(maps.Keys(kinds)) {
			role := "of " + kind
			b.ends(role, toolFailed())
			for _, e := range b.toolEntries(role) {
				last := e.json.get("lastError")
				b.hold("kind", e.Kind == kind, fmt.Sprintf("the entry of a tool that failed by %s names another kind", kind), kind, e.Kind)
				status := last.get("status")
				b.hold("status-of-the-error", status.raw() == kinds[kind] || status.count().String() == kinds[kind],
					fmt.Sprintf("the entry of a tool that failed by %s names another status", kind), kinds[kind], status.raw())
				b.hold("error-message", last.get("message").text() != "", fmt.Sprintf("the entry of a tool that failed by %s has no text", kind), "a text", last.get("message").raw())
			}
		}
	})
}

// JudgeConversation judges agentdlq.entry.conversation-pointer: the entry points, to a conversation of its own, and doesn't
// hold what was said.
func JudgeConversation(s Scene) witness.Verdict {
	return judge(s, entryPage, "a queue with looser access than the conversations holds them, for weeks", func(b *bench) {
		said := b.Names[SaidRole]
		if said == "" {
			b.lacks = append(b.lacks, SaidRole)
			return
		}
		refs := map[string]string{}
		for _, role := range []string{"one", "another"} {
			e, ok := b.entry(role)
			if !ok {
				continue
			}
			b.hold("is-a-pointer", strings.HasPrefix(e.Conversation, "conv_") && len(e.Conversation) > len("conv_"), "conversationRef is no pointer", "conv_ and something", e.Conversation)
			b.hold("own-conversation", refs[e.Conversation] == "", "two runs point to one conversation", "a conversation of its own", e.Conversation)
			refs[e.Conversation] = role
			b.hold("not-the-messages", !strings.Contains(e.Raw, said), "the entry in the list holds what was said", "a pointer alone", e.Raw)
			if e.Conversation == "" {
				continue
			}
			detail := b.detail(role)
			b.hold("not-the-messages", !strings.Contains(detail.Raw, said), "the entry by its id holds what was said", "a pointer alone", detail.Raw)
			x := b.one(DidExpire, role)
			b.hold("points-to-something", x.Status() == 204, "there is no conversation where the entry points to", "204 to its expiry", brief(x))
		}
	})
}

// JudgeTokens judges agentdlq.entry.tokens-spent: what the run has cost, which grows with its turns.
func JudgeTokens(s Scene) witness.Verdict {
	return judge(s, entryPage, "nobody can tell whether a run is worth resuming", func(b *bench) {
		spent := map[string]Tokens{}
		for _, role := range []string{"early", "late"} {
			b.ends(role, toolFailed())
			for _, e := range b.toolEntries(role) {
				m := b.message(role)
				spent[role] = e.Tokens
				b.hold("input", e.Tokens.Input > 0, "the entry says that the run has cost nothing", "more than 0 tokens of input", e.Tokens.Input.String())
				b.hold("output", e.Tokens.Output != unknown, "the entry does not say what the model gave", "a number of tokens of output", e.Tokens.Output.String())
				b.hold("no-more-than-the-message", e.Tokens.Input <= m.Tokens.Input && e.Tokens.Output <= m.Tokens.Output, "the entry counts more than its message does",
					fmt.Sprintf("at most %s and %s", m.Tokens.Input, m.Tokens.Output), fmt.Sprintf("%s and %s", e.Tokens.Input, e.Tokens.Output))
			}
		}
		if len(spent) == 2 {
			b.hold("grows", spent["late"].Input > spent["early"].Input, "a run of three turns has cost no more than one of a single turn",
				"more than "+spent["early"].Input.String(), spent["late"].Input.String())
		}
	})
}

// seenWithin bounds how long after the first call an entry may say that it was first seen.
const seenWithin = time.Minute

// JudgeFirstSeen judges agentdlq.entry.first-seen: the time of the failure, which a failed replay doesn't change.
func JudgeFirstSeen(s Scene) witness.Verdict {
	return judge(s, entryPage, "the age of the oldest entry starts anew with each try, and nobody is woken", func(b *bench) {
		var first Entry
		b.during(Before, func(part *bench) { first, _ = part.entry("exhausted") })
		if first.ID == "" {
			return
		}
		calls := b.tool("failing").Calls
		b.hold("is-a-time", !first.FirstSeen.IsZero(), "firstSeenAt is no time", "RFC 3339", first.json.get("firstSeenAt").raw())
		if len(calls) > 0 && !calls[0].At.IsZero() && !first.FirstSeen.IsZero() {
			late := first.FirstSeen.Sub(calls[0].At)
			b.hold("when-it-failed", late > -time.Second && late < seenWithin, "firstSeenAt is not when the step failed", "about "+calls[0].At.String(), first.FirstSeen.String())
		}
		x := b.one(DidReplay, "exhausted")
		if x.Status() != 202 {
			b.v.Undecide(unanswered(x), "the entry could not be replayed: %s", brief(x))
			return
		}
		now, ok := b.entry("exhausted")
		if !ok {
			return
		}
		b.hold("stays-unresolved", now.Resolution == "unresolved", "a replay that failed resolved the entry", "unresolved", now.Resolution)
		b.hold("counts-the-replay", now.Attempts == 2, "a replay that failed is not counted", "2 attempts", now.Attempts.String())
		b.hold("first-seen-kept", now.FirstSeen.Equal(first.FirstSeen), "a replay that failed changed when the entry was first seen", first.FirstSeen.String(), now.FirstSeen.String())
		b.queued("message-queue", "message queue", "exhausted", b.messageEntries("exhausted"), 0)
	})
}

// JudgeOriginal judges agentdlq.entry.original-message.
func JudgeOriginal(s Scene) witness.Verdict {
	return judge(s, entryPage, "nobody can say whose work failed", func(b *bench) {
		for _, role := range []string{"one", "another"} {
			b.ends(role, toolFailed())
			m := b.message(role)
			for _, e := range b.toolEntries(role) {
				b.hold("original-message", e.json.get("originalMessageId").text() == b.Names[role], "the entry names another message", b.Names[role], e.json.get("originalMessageId").raw())
				b.hold("run", e.RunID == m.RunID && e.RunID != "", "the entry names another run than its message", m.RunID, e.RunID)
				b.hold("trace", e.TraceID == m.TraceID && e.TraceID != "", "the entry names another trace than its message", m.TraceID, e.TraceID)
			}
		}
	})
}
