package agentdlq

import (
	"fmt"
	"slices"
	"strings"

	"github.com/wopwitness/wopwitness/fixtures/schema"
	"github.com/wopwitness/wopwitness/scenarios/registry"
	"github.com/wopwitness/wopwitness/witness"
)

const intercepting = "Invocations"

// RecordedRuns are the messages whose records the leg of ids reads.
func RecordedRuns() []string { return []string{"two steps", "retries", "falls back", "fails"} }

func interceptJudges() map[registry.LegID]witness.Judge {
	return map[registry.LegID]witness.Judge{
		"agentdlq.intercept.written-first":               witness.Of(JudgeWrittenFirst),
		"agentdlq.intercept.pending-dispatched":          witness.Of(JudgePendingDispatched),
		"agentdlq.intercept.in-flight-redispatched":      witness.Of(JudgeRedispatched),
		"agentdlq.intercept.in-flight-reviewed":          witness.Of(JudgeInFlightReviewed),
		"agentdlq.intercept.failed-raised":               witness.Of(JudgeFailedRaised),
		"agentdlq.intercept.rate-limited-never-complete": witness.Of(JudgeRateLimited),
		"agentdlq.intercept.hand-off-down":               witness.Of(JudgeHandOffDown),
		"agentdlq.intercept.ids-unique":                  witness.Of(JudgeIDsUnique),
		"agentdlq.intercept.result-kept":                 witness.Of(JudgeResultKept),
	}
}

// record gives the one record of a message's call to a tool, and holds that it is one.
func (b *bench) record(role, tool string) (Invocation, bool) {
	var own []Invocation
	for _, r := range b.invocations(role) {
		if r.Tool == b.Names[tool] || b.Names[tool] == "" {
			own = append(own, r)
		}
	}
	b.hold("one-record", len(own) == 1, fmt.Sprintf("the call of the tool %q for the message %q is not one record", tool, role), "1 record", recorded(own))
	if len(own) == 0 {
		return Invocation{}, false
	}
	return own[0], true
}

func recorded(records []Invocation) string {
	var each []string
	for _, r := range records {
		each = append(each, r.Raw)
	}
	return fmt.Sprintf("%d: %s", len(records), strings.Join(each, " "))
}

// went holds the statuses that a record went through.
func (b *bench) went(r Invocation, want ...string) {
	got := strings.Join(r.History, ", ")
	b.hold("history", got == strings.Join(want, ", "), "the record of a call went through other statuses", strings.Join(want, ", "), got)
	b.hold("record-status", r.Status == want[len(want)-1], "the record's status is not the last of its history", want[len(want)-1], r.Status)
}

// JudgeWrittenFirst judges agentdlq.intercept.written-first: a worker that dies between writing and sending leaves a
// record and no call.
func JudgeWrittenFirst(s Scene) witness.Verdict {
	return judge(s, intercepting, "a call goes out of which nobody knows: it is lost, or made twice", func(b *bench) {
		b.ends("later", completed())
		r, ok := b.record("dies", "last")
		if !ok {
			b.called("last", 1)
			return
		}
		m := b.message("dies")
		if m.Final() && m.Deliveries > 1 {
			// The lease may be given back as soon as the worker is known to be dead: what was written before still shows.
			b.v.Note("redelivered-at-once", "the message was delivered again before its lease was over")
			b.hold("pending-first", len(r.History) > 0 && r.History[0] == "pending", "the record begins with something else than pending", "pending", strings.Join(r.History, ", "))
			return
		}
		b.went(r, "pending")
		b.hold("not-ended", !m.Final(), "a message whose worker died before its last call has ended", "queued or running", m.Status)
		b.called("last", 1)
		b.queued("message-queue", "message queue", "dies", b.messageEntries("dies"), 0)
		b.queued("tool-queue", "tool queue", "dies", b.toolEntries("dies"), 0)
	})
}

// JudgePendingDispatched judges agentdlq.intercept.pending-dispatched.
func JudgePendingDispatched(s Scene) witness.Verdict {
	return judge(s, intercepting, "a call that somebody decided on is never made", func(b *bench) {
		b.ends("dies", completed())
		b.called("first", 1)
		b.called("last", 1)
		if r, ok := b.record("dies", "last"); ok {
			b.hold("pending-first", len(r.History) > 1 && r.History[0] == "pending", "the record begins with something else than pending", "pending", strings.Join(r.History, ", "))
			b.hold("record-status", r.Status == "success", "the record does not say that the call succeeded", "success", r.Status)
			b.hold("in-flight-once", times(r.History, "in_flight") == 1, "the record does not say that the call was made once", "in_flight once", strings.Join(r.History, ", "))
		}
	})
}

func times(all []string, one string) int {
	n := 0
	for _, s := range all {
		if s == one {
			n++
		}
	}
	return n
}

// inFlight holds what is on record when the tool has got the call: the worker dies behind it.
func (b *bench) inFlight() {
	b.during(Before, func(part *bench) {
		calls := part.tool("last").Calls
		part.hold("calls", len(calls) > 0, "the tool didn't get the call behind which the worker was to die", "a call", calling(calls))
		if r, ok := part.record("dies", "last"); ok {
			want := []string{"pending", "in_flight"}
			part.hold("in-flight-on-record", len(r.History) >= 2 && slices.Equal(r.History[:2], want), "the tool has got the call, and it is not on record as in flight",
				strings.Join(want, ", "), strings.Join(r.History, ", "))
		}
	})
}

// JudgeRedispatched judges agentdlq.intercept.in-flight-redispatched: under the same key nothing is done twice.
func JudgeRedispatched(s Scene) witness.Verdict {
	return judge(s, intercepting, "a call of which nobody knows whether it was done is forgotten, or done twice", func(b *bench) {
		b.inFlight()
		b.ends("dies", completed())
		b.called("first", 1)
		b.called("last", 2)
		t := b.tool("last")
		b.hold("one-effect", t.Effects == 1, "the call that was repeated had its effect again: it went out under another key", "1 effect", t.Effects.String())
		if r, ok := b.record("dies", "last"); ok {
			b.hold("further-attempt", times(r.History, "in_flight") == 2 && r.Attempts == 2, "the repetition is not on record as a further attempt", "in_flight twice, 2 attempts",
				fmt.Sprintf("%s; %s attempts", strings.Join(r.History, ", "), r.Attempts))
			b.hold("record-status", r.Status == "success", "the record does not say that the call succeeded", "success", r.Status)
		}
	})
}

// JudgeInFlightReviewed judges agentdlq.intercept.in-flight-reviewed: without a key nobody but a person may repeat it.
func JudgeInFlightReviewed(s Scene) witness.Verdict {
	return judge(s, intercepting, "a call that may have been done is done again: somebody is charged twice", func(b *bench) {
		b.inFlight()
		b.ends("dies", toolFailed())
		b.called("first", 1)
		b.called("last", 1)
		t := b.tool("last")
		b.hold("one-effect", t.Effects == 1, "the call that must not be repeated had its effect again", "1 effect", t.Effects.String())
		if r, ok := b.record("dies", "last"); ok {
			b.hold("record-status", r.Status == "dead_lettered", "the record of a call of unknown outcome is not given up", "dead_lettered", r.Status)
		}
		for _, e := range b.toolEntries("dies") {
			b.hold("outcome-unknown", e.Kind == "outcome_unknown", "the entry does not say that nobody knows the outcome", "outcome_unknown", e.Kind)
		}
		_, waits := b.inReview("human", "dies")
		b.hold("human-review", waits, "the entry does not wait for a person", "an entry of it in human review", b.shown("human"))
	})
}

// JudgeResultKept judges agentdlq.intercept.result-kept: what is written is done, and isn't done again.
func JudgeResultKept(s Scene) witness.Verdict {
	return judge(s, intercepting, "what was done and written down is done again", func(b *bench) {
		b.inFlight()
		b.ends("dies", completed())
		b.called("first", 1)
		b.called("last", 1)
		t := b.tool("last")
		b.hold("one-effect", t.Effects == 1, "the call whose result was written had its effect again", "1 effect", t.Effects.String())
		if r, ok := b.record("dies", "last"); ok {
			b.went(r, "pending", "in_flight", "success")
		}
	})
}

// JudgeFailedRaised judges agentdlq.intercept.failed-raised: each attempt's outcome is on record, and the model hears of
// it.
func JudgeFailedRaised(s Scene) witness.Verdict {
	return judge(s, intercepting, "a failure is swallowed where it happened: the model goes on as if the call were done", func(b *bench) {
		b.ends("recovers", completed())
		b.called("recovering", 2)
		b.hold("model-told", b.message("recovers").ModelCalls == 3, "the model did not hear of the failure: it has a call for it, for the retry and for the answer",
			"3 model calls", b.message("recovers").ModelCalls.String())
		if r, ok := b.record("recovers", "recovering"); ok {
			b.went(r, "pending", "in_flight", "failed", "in_flight", "success")
			b.attempts(r, 2, 2)
		}
		b.ends("gives up", toolFailed())
		b.called("failing", 2)
		if r, ok := b.record("gives up", "failing"); ok {
			b.went(r, "pending", "in_flight", "failed", "in_flight", "dead_lettered")
			b.attempts(r, 2, 2)
			b.hold("failure-reason", r.Reason != "", "the record doesn't say why the call failed", "a failureReason", r.Raw)
		}
	})
}

func (b *bench) attempts(r Invocation, made, most Count) {
	b.hold("attempt-count", r.Attempts == made, "the record counts the attempts otherwise", made.String(), r.Attempts.String())
	b.hold("max-attempts", r.MaxAttempts == most, "the record allows another number of attempts than the budget and one", most.String(), r.MaxAttempts.String())
}

// JudgeRateLimited judges agentdlq.intercept.rate-limited-never-complete.
func JudgeRateLimited(s Scene) witness.Verdict {
	return judge(s, intercepting, "a call that was put off is taken for done, and never made", func(b *bench) {
		b.ends("waits", completed())
		b.called("limited once", 2)
		if r, ok := b.record("waits", "limited once"); ok {
			b.went(r, "pending", "in_flight", "failed", "in_flight", "success")
		}
		b.ends("gives up", toolFailed())
		b.called("limited", 2)
		if r, ok := b.record("gives up", "limited"); ok {
			b.hold("never-success", times(r.History, "success") == 0 && r.Status != "success", "a call that was rate limited each time is on record as done", "no success", strings.Join(r.History, ", "))
			b.went(r, "pending", "in_flight", "failed", "in_flight", "dead_lettered")
		}
		for _, e := range b.toolEntries("gives up") {
			b.hold("kind", e.Kind == "rate_limited", "the entry names another kind of error", "rate_limited", e.Kind)
		}
	})
}

// JudgeHandOffDown judges agentdlq.intercept.hand-off-down: an agent that isn't there is a failed call.
func JudgeHandOffDown(s Scene) witness.Verdict {
	return judge(s, intercepting, "work that was handed over is gone, and nobody hears of it", func(b *bench) {
		b.ends("hands over", toolFailed())
		b.called("first", 1)
		if r, ok := b.record("hands over", "nobody"); ok {
			b.went(r, "pending", "in_flight", "dead_lettered")
			b.hold("failure-reason", r.Reason != "", "the record doesn't say why the hand-off failed", "a failureReason", r.Raw)
		}
		for _, e := range b.toolEntries("hands over") {
			b.hold("kind", e.Kind == "unreachable", "the entry names another kind of error", "unreachable", e.Kind)
			status := e.json.get("lastError").get("status")
			b.hold("no-status", status.isNull(), "nobody answered, and the entry names a status", "null", status.raw())
			b.hold("entry-of-the-step", e.Tool == b.Names["nobody"] && e.Step == 1, "the entry is about another step", "step 1, "+b.Names["nobody"], fmt.Sprintf("step %s, %s", e.Step, e.Tool))
		}
		b.denied("tool-not-there", "a tool that nobody registered is shown", b.one(DidAsk, "nobody"))
	})
}

// JudgeIDsUnique judges agentdlq.intercept.ids-unique.
func JudgeIDsUnique(s Scene) witness.Verdict {
	return judge(s, intercepting, "two calls can't be told apart, so that what is known of one is believed of the other", func(b *bench) {
		owner := map[string]string{}
		for _, role := range RecordedRuns() {
			records := b.invocations(role)
			b.hold("a-record-a-step", len(records) == 2, fmt.Sprintf("the message %q has not one record for each step and fallback", role), "2 records", recorded(records))
			for _, r := range records {
				b.hold("has-an-id", r.ID != "", "a record has no id", "an invocationId", r.Raw)
				b.hold("own-id", owner[r.ID] == "", fmt.Sprintf("a record of the message %q has the id of another", role), "an id of its own", r.Raw)
				owner[r.ID] = role
				b.formed("record-form", schema.AgentInvocation, r.Raw)
			}
		}
		if e, ok := b.entry("fails"); ok {
			b.hold("entry-names-its-record", owner[e.InvocationID] == "fails" && e.InvocationID != "", "the entry names an invocation that its run has no record of", "one of its records", e.InvocationID)
		}
		b.ends("falls back", completed())
		b.ends("retries", completed())
	})
}
