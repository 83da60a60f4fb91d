package agentdlq

import (
	"fmt"
	"maps"
	"slices"

	"github.com/wopwitness/wopwitness/scenarios/registry"
	"github.com/wopwitness/wopwitness/witness"
)

const routing = "Routing"

// Parts of a leg that reads something before its end.
const (
	Before   = "before"
	Reopened = "opened again"
)

// InvalidBodies are bodies that parse as JSON and are no message, by the role of the message that has one.
func InvalidBodies() map[string]string {
	return map[string]string{
		"without a task":    `{"note":"sum up the day"}`,
		"task of a number":  `{"task":7}`,
		"task of an object": `{"task":{"text":"sum up the day"}}`,
		"in a list":         `[{"task":"sum up the day"}]`,
		"of text alone":     `"sum up the day"`,
		"of null":           `null`,
	}
}

// TransientOutcomes are the ways in which a tool fails for a moment.
func TransientOutcomes() []string {
	return []string{"server_error", "timeout", "rate_limited", "locked", "malformed"}
}

// Misconfigured are the ways in which a tool fails for every run alike.
func Misconfigured() []string { return []string{"unauthorized", "gone"} }

// Budgets are the retry budgets that are counted.
func Budgets() []int { return []int{0, 1, 4} }

// JudgeMalformed judges agentdlq.route.malformed-message: what can't be parsed goes to the message queue at the first
// delivery, and nothing is started for it.
func JudgeMalformed(s Scene) witness.Verdict {
	return judge(s, routing, "money is spent on a message that can never succeed, or the people of the wrong queue get it", func(b *bench) {
		b.refused("malformed", "malformed")
		b.called("tool", 0)
	})
}

// JudgeInvalid judges agentdlq.route.invalid-message: JSON that is no task is malformed too, and a task with more than it
// needs is not.
func JudgeInvalid(s Scene) witness.Verdict {
	return judge(s, routing, "money is spent on a message that can never succeed, or one that is right is thrown out", func(b *bench) {
		for _, role := range slices.Sorted(maps.Keys(InvalidBodies())) {
			b.refused(role, "malformed")
		}
		b.called("tool", 0)
		b.ends("valid", completed())
		b.called("other tool", 1)
	})
}

// refused holds that a message was given up at its first delivery, without a run.
func (b *bench) refused(role, reason string) {
	b.ends(role, deadLettered())
	m := b.message(role)
	b.hold("one-delivery", m.Deliveries == 1, fmt.Sprintf("the message %q was not given up at its first delivery", role), "1 delivery", m.Deliveries.String())
	b.hold("no-model-call", m.ModelCalls == 0, fmt.Sprintf("the model was called for the message %q", role), "0 calls", m.ModelCalls.String())
	b.hold("no-run", m.RunID == "", fmt.Sprintf("a run was started for the message %q", role), "no runId", m.RunID)
	for _, e := range b.messageEntries(role) {
		b.hold("reason", e.Reason == reason, "the entry names another reason", reason, e.Reason)
	}
}

// JudgePoison judges agentdlq.route.poison-limit: a bug of the consumer is tried as often as the host says, and then is the
// message queue's.
func JudgePoison(s Scene) witness.Verdict {
	return judge(s, routing, "a message that kills each worker that takes it goes round for ever, or is given up on the first bad luck", func(b *bench) {
		limit := Count(b.Numbers.RedeliveryLimit)
		m := b.message("poison")
		if passed := b.passed(); !m.Final() && passed < b.Numbers.RedeliveryLimit*b.Numbers.LeaseSeconds && m.Deliveries <= limit {
			b.v.Undecide(registry.Timeout, "the message is %s after %s deliveries, and %d seconds of domain time are too few for %s", m.Status, m.Deliveries, passed, limit)
			return
		}
		b.ends("poison", deadLettered())
		b.hold("deliveries", m.Deliveries == limit, "the message was not delivered as often as the host says", limit.String(), m.Deliveries.String())
		b.hold("no-model-call", m.ModelCalls == 0, "the model was called on a delivery that fails before it", "0 calls", m.ModelCalls.String())
		for _, e := range b.messageEntries("poison") {
			b.hold("reason", e.Reason == "redelivery_limit", "the entry names another reason", "redelivery_limit", e.Reason)
			b.hold("entry-deliveries", e.Deliveries == limit, "the entry counts otherwise", limit.String(), e.Deliveries.String())
		}
		b.called("tool", 0)
	})
}

// passed is how much domain time the leg let pass, in seconds.
func (b *bench) passed() int64 {
	var sum int64
	for _, step := range b.Steps {
		sum += step.Moved
	}
	return sum
}

// JudgeTransient judges agentdlq.route.transient-in-band: a tool that fails once is called again within the run.
func JudgeTransient(s Scene) witness.Verdict {
	return judge(s, routing, "a hiccup of a tool becomes somebody's work, and the queue is too full to show what matters", func(b *bench) {
		for _, o := range TransientOutcomes() {
			role := "after " + o
			b.ends(role, completed())
			b.called(o, 2)
			m := b.message(role)
			b.hold("model-told", m.ModelCalls == 3, fmt.Sprintf("the model was not told of %s: it has a call for the failure, for the retry and for the answer", o),
				"3 model calls", m.ModelCalls.String())
		}
	})
}

// JudgeExhausted judges agentdlq.route.budget-exhausted: a tool that goes on failing is the tool queue's, once.
func JudgeExhausted(s Scene) witness.Verdict {
	return judge(s, routing, "whoever restarts messages gets a run that should be resumed, or nobody gets it", func(b *bench) {
		b.ends("exhausted", toolFailed())
		b.called("right", 1)
		b.called("failing", 3)
		b.called("behind", 0)
		for _, e := range b.toolEntries("exhausted") {
			b.hold("entry-of-the-step", e.Tool == b.Names["failing"] && e.Step == 1, "the entry is about another step",
				fmt.Sprintf("step 1, %s", b.Names["failing"]), fmt.Sprintf("step %s, %s", e.Step, e.Tool))
			b.hold("unresolved", e.Resolution == "unresolved", "nobody did anything about the entry yet", "unresolved", e.Resolution)
		}
	})
}

// JudgeAttempts judges agentdlq.route.attempts-counted: b retries are b + 1 attempts.
func JudgeAttempts(s Scene) witness.Verdict {
	return judge(s, routing, "a tool is called more often than somebody allowed, or given up while there was hope", func(b *bench) {
		b.spends("default budget", "failing by default", 3)
		for _, budget := range Budgets() {
			b.spends(fmt.Sprintf("budget %d", budget), fmt.Sprintf("failing %d", budget), budget+1)
			b.ends(fmt.Sprintf("just enough %d", budget), completed())
			b.called(fmt.Sprintf("recovering %d", budget), budget+1)
		}
	})
}

// spends holds that a message gave up its tool after so many attempts, and that all who count say so.
func (b *bench) spends(role, tool string, attempts int) {
	b.ends(role, toolFailed())
	b.called(tool, attempts)
	for i, c := range b.tool(tool).Calls {
		b.hold("numbered", c.Attempt == Count(i+1), "the attempts of an invocation count from 1", fmt.Sprintf("attempt %d", i+1), "attempt "+c.Attempt.String())
	}
	for _, e := range b.toolEntries(role) {
		b.hold("entry-attempts", e.Attempts == Count(attempts), fmt.Sprintf("the entry of the message %q counts otherwise", role), fmt.Sprint(attempts), e.Attempts.String())
	}
}

// JudgeMisconfigured judges agentdlq.route.misconfigured-once: what fails for every run fails once.
func JudgeMisconfigured(s Scene) witness.Verdict {
	return judge(s, routing, "each of the next thousand runs finds out for itself that a tool is down", func(b *bench) {
		for _, o := range Misconfigured() {
			role := "meets " + o
			b.ends(role, toolFailed())
			b.called(o, 1)
			for _, e := range b.toolEntries(role) {
				b.hold("entry-attempts", e.Attempts == 1, "a tool that refuses every run was tried again", "1", e.Attempts.String())
			}
			b.open(o)
			b.alerts(o, 1)
		}
	})
}

// open holds that a tool's circuit is open.
func (b *bench) open(tool string) {
	t := b.tool(tool)
	b.hold("circuit-open", t.Circuit == "open", fmt.Sprintf("the circuit of the tool %q is not open", tool), "open", t.Circuit)
}

// alerts holds how many alerts were raised about a tool since the beginning.
func (b *bench) alerts(tool string, want Count) {
	before := unknown
	b.during(Before, func(part *bench) { before = part.tool(tool).Alerts })
	now := b.tool(tool).Alerts
	got := fmt.Sprintf("%s, and %s before", now, before)
	b.hold("alerts", before != unknown && now-before == want, fmt.Sprintf("the alerts about the tool %q are not those that its circuit makes", tool), fmt.Sprintf("%s more than before", want), got)
}
