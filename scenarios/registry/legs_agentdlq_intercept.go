package registry

// agentInterceptLegs say what is on record of a call before it goes out, and what becomes of it when its worker dies.
func agentInterceptLegs() []Leg {
	invocations := func(l Leg) Leg { l.Section = "Invocations"; return l }
	return []Leg{
		agentLeg(invocations(Leg{ID: "agentdlq.intercept.written-first",
			Title:  "a call is on record before it goes out",
			Source: "a record is durable before its call goes out: a worker that dies between the two leaves a pending record and no call"})),
		clockLeg(invocations(Leg{ID: "agentdlq.intercept.pending-dispatched",
			Title:  "a call that was written and never sent is sent by the next delivery, once",
			Source: "a pending record is dispatched when the message is delivered again"})),
		clockLeg(invocations(Leg{ID: "agentdlq.intercept.in-flight-redispatched",
			Title:  "a call of unknown outcome is repeated where the tool takes a key, and has one effect",
			Source: "where the tool is idempotent it is dispatched again under the same key, as a further attempt"})),
		clockLeg(invocations(Leg{ID: "agentdlq.intercept.in-flight-reviewed",
			Title:  "a call of unknown outcome is not repeated where the tool takes no key: a person is asked",
			Source: "else it becomes dead_lettered, with an entry whose lastError.kind is outcome_unknown, in human review"})),
		agentLeg(invocations(Leg{ID: "agentdlq.intercept.failed-raised",
			Title:  "an attempt that failed is told to its caller, and on record as failed",
			Source: "history has in_flight and its outcome for each attempt: failed where the caller may try again, dead_lettered for the last"})),
		agentLeg(invocations(Leg{ID: "agentdlq.intercept.rate-limited-never-complete",
			Title:  "a call that was rate limited is never on record as done",
			Source: "a rate_limited answer is a failure, and a record says success of none"})),
		agentLeg(invocations(Leg{ID: "agentdlq.intercept.hand-off-down",
			Title:  "a hand-off to an agent that is down fails like any call, and is not passed over",
			Source: "the call of a tool that nobody registered fails with kind unreachable, status null"})),
		agentLeg(invocations(Leg{ID: "agentdlq.intercept.ids-unique",
			Title:  "each step is one record with an id of its own, and so is each fallback",
			Source: "each step is one invocation of a tool: one record however often it is attempted; a fallback is one of its own"})),
		clockLeg(invocations(Leg{ID: "agentdlq.intercept.result-kept",
			Title:  "a call whose result was written is not made again when its worker died after it",
			Source: "a worker that dies once the result is written leaves a success record, and the run goes on behind it"})),
	}
}
