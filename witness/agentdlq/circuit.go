package agentdlq

import (
	"fmt"
	"time"

	"github.com/wopwitness/wopwitness/witness"
)

// RetryAfter is how long, in seconds of domain time, a tool asks to be left alone.
const RetryAfter int64 = 20

const whyCircuit = "a tool that is down for everybody floods the queue, one entry a run"

// toldOpen is where a run comes to that finds a circuit open. How it ends beyond that is the model's: one that cannot do
// without the step may say that it failed.
func toldOpen() end { return end{states: []string{Completed, ToolFailed}} }

// passes holds that a run met an open circuit: it ended with an entry nowhere, and did not call the tool.
func (b *bench) passes(role, tool string) {
	b.ends(role, toldOpen())
	b.calledBy(role, tool, 0)
	if b.message(role).Status == ToolFailed {
		b.v.Note("gave-up", "the run that was told circuit_open ended tool_failed")
	}
}

// calledBy holds how often one message's run called a tool.
func (b *bench) calledBy(role, tool string, want int) {
	m := b.message(role)
	calls := b.tool(tool).of(m.RunID)
	b.hold("run-named", m.RunID != "", fmt.Sprintf("the message %q names no run, though it is valid", role), "a runId", "none")
	b.hold("calls-of-the-run", len(calls) == want, fmt.Sprintf("the run of the message %q called the tool %q %d times", role, tool, len(calls)),
		fmt.Sprintf("%d calls", want), calling(calls))
}

// JudgeCircuitOpen judges agentdlq.route.circuit-open: with the circuit open a run makes no call, no entry and no alert.
func JudgeCircuitOpen(s Scene) witness.Verdict {
	return judge(s, routing, whyCircuit, func(b *bench) {
		b.ends("opener", toolFailed())
		b.open("gone")
		b.passes("later", "gone")
		b.called("gone", 1)
		b.alerts("gone", 1)
		b.calledBy("later", "dependent", 0)
		if b.message("later").Status == Completed {
			b.calledBy("later", "independent", 1)
		}
		b.ends("last", completed())
	})
}

// JudgeCircuitShared judges agentdlq.route.circuit-shared: the circuit is the tenant's and the tool's.
func JudgeCircuitShared(s Scene) witness.Verdict {
	return judge(s, routing, "each run finds out for itself that a tool is down, or one customer's broken tool takes away another's", func(b *bench) {
		b.ends("opener", toolFailed())
		for _, role := range []string{"later one", "later two"} {
			b.passes(role, "gone")
		}
		b.called("gone", 1)
		b.alerts("gone", 1)
		b.ends("of another tool", completed())
		b.calledBy("of another tool", "another", 1)
		b.ends("of another tenant", completed())
		b.calledBy("of another tenant", "their gone", 1)
		theirs := b.tool("their gone")
		b.hold("other-tenant-closed", theirs.Circuit == "closed", "the circuit of another tenant's tool of the same name is not closed", "closed", theirs.Circuit)
	})
}

// JudgeHalfOpens judges agentdlq.route.circuit-half-opens: one call is let through after the time, and decides.
func JudgeHalfOpens(s Scene) witness.Verdict {
	return judge(s, routing, "a tool that is right again stays shut off, or one that is not gets every run at once", func(b *bench) {
		b.ends("opener", toolFailed())
		if _, tried := b.Names["too early"]; tried {
			b.passes("too early", "gone")
		}
		b.ends("probe", toldOpen())
		b.calledBy("probe", "gone", 1)
		b.during(Reopened, func(part *bench) { part.open("gone") })
		b.passes("behind the probe", "gone")
		b.ends("second probe", completed())
		b.calledBy("second probe", "gone", 1)
		b.ends("behind the second", completed())
		b.calledBy("behind the second", "gone", 1)
		t := b.tool("gone")
		b.hold("closed-by-success", t.Circuit == "closed", "a call that succeeded did not close the circuit", "closed", t.Circuit)
		b.alerts("gone", 1)
	})
}

// JudgeRedelivered judges agentdlq.route.crash-redelivered: a worker that dies leaves a message that is delivered again.
func JudgeRedelivered(s Scene) witness.Verdict {
	return judge(s, routing, "work is lost with a process, or a person mends by hand what needs nothing but another worker", func(b *bench) {
		b.ends("dies after the claim", completed())
		b.called("claimed", 1)
		b.ends("dies before the claim", completed())
		b.called("unclaimed", 1)
		after := b.message("dies after the claim")
		b.hold("delivered-again", after.Deliveries >= 2, "the message whose worker died after its claim is not counted as delivered again", "2 deliveries", after.Deliveries.String())
		b.ends("does not suffer", completed())
		bystander := b.message("does not suffer")
		b.hold("others-once", bystander.Deliveries == 1, "another message was delivered again", "1 delivery", bystander.Deliveries.String())
	})
}

// JudgeResumes judges agentdlq.route.crash-resumes: the next delivery goes on where the run was.
func JudgeResumes(s Scene) witness.Verdict {
	return judge(s, routing, "what a run had done and paid for is done and paid for again", func(b *bench) {
		b.ends("dies", completed())
		for _, tool := range []string{"first", "second", "last"} {
			b.called(tool, 1)
			b.calledBy("dies", tool, 1)
		}
		b.ends("does not suffer", completed())
	})
}

// JudgeFallback judges agentdlq.route.fallback: where there is a fallback, and it is right, no queue hears of the failure.
func JudgeFallback(s Scene) witness.Verdict {
	return judge(s, routing, "a failure that was planned for becomes somebody's work", func(b *bench) {
		b.ends("spent", completed())
		b.called("failing", 3)
		b.calledBy("spent", "spare", 1)
		b.ends("opener", toolFailed())
		b.ends("open circuit", completed())
		b.calledBy("open circuit", "gone", 0)
		b.calledBy("open circuit", "other spare", 1)
	})
}

// coarse is how far two instants of a host may be off for how it keeps them.
const coarse = 50 * time.Millisecond

// JudgeRetryAfter judges agentdlq.route.retry-after: a tool that said when to come back is left alone until then.
func JudgeRetryAfter(s Scene) witness.Verdict {
	return judge(s, routing, "a tool that asked for rest is hammered, and shuts the caller out for longer", func(b *bench) {
		b.during(Before, func(part *bench) {
			calls := part.tool("limited").Calls
			part.hold("not-early", len(calls) <= 1, "the tool was called again before it said that it could be", "1 call", calling(calls))
		})
		b.ends("put off", completed())
		b.called("limited", 2)
		b.ends("later", completed())
		calls := b.tool("limited").Calls
		if len(calls) == 2 && !calls[0].At.IsZero() && !calls[1].At.IsZero() {
			apart := calls[1].At.Sub(calls[0].At)
			b.hold("apart", apart >= time.Duration(RetryAfter)*time.Second-coarse, "the two calls are closer together than the tool asked for",
				fmt.Sprintf("%d seconds", RetryAfter), apart.String())
		}
	})
}
