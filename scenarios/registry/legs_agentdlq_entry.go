package registry

// agentEntryLegs say what an entry of a queue carries, and what it must not.
func agentEntryLegs() []Leg {
	queues := func(l Leg) Leg { l.Section = "Queues"; return agentLeg(l) }
	return []Leg{
		queues(Leg{ID: "agentdlq.entry.shape",
			Title:  "an entry of either queue has the members that the page names, in a list and by its id",
			Source: "the members of an entry, and for one that is read by its id its history and audit trail"}),
		queues(Leg{ID: "agentdlq.entry.step-index",
			Title:  "an entry names the step that failed",
			Source: "stepIndex is the step of the workflow, counted from 0"}),
		queues(Leg{ID: "agentdlq.entry.attempts",
			Title:  "an entry counts the attempts that its step was given, and its history has one item for each",
			Source: "attempts are those of the invocation; history is one item for each, with the kind of its error"}),
		queues(Leg{ID: "agentdlq.entry.last-error",
			Title:  "an entry says how its tool failed last: kind, status and message",
			Source: "the kinds of error and their statuses; null where there was no answer to have one"}),
		queues(Leg{ID: "agentdlq.entry.redacted",
			Title:  "no queue, record or span shows a customer's e-mail address",
			Source: "everything that a list, an entry, a record or a span shows is redacted: an e-mail address appears nowhere in it"}),
		queues(Leg{ID: "agentdlq.entry.conversation-pointer",
			Title:  "an entry points to its conversation and does not hold it",
			Source: "conversationRef begins with conv_ and is a pointer, never the messages"}),
		queues(Leg{ID: "agentdlq.entry.tokens-spent",
			Title:  "an entry says how many tokens its run had cost when it failed",
			Source: "tokensSpent has the tokens of the run, more than none of input"}),
		queues(Leg{ID: "agentdlq.entry.first-seen",
			Title:  "an entry keeps the time at which it first failed, whatever is tried with it later",
			Source: "firstSeenAt is when the failure was first seen; a failed replay leaves the entry and counts an attempt"}),
		queues(Leg{ID: "agentdlq.entry.original-message",
			Title:  "an entry names the message and the run that it comes of",
			Source: "originalMessageId and runId are those of the message that was sent"}),
	}
}
