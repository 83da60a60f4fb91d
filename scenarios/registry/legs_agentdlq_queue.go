package registry

// agentShapeLegs speak of the forms alone, without a host.
func agentShapeLegs() []Leg {
	return []Leg{
		agentLeg(Leg{ID: "agentdlq.shape.vectors", Section: "Ground rules", Observes: Vectors,
			Title:  "what the page allows of the seams' bodies and answers is allowed, and what it forbids refused",
			Source: "bodies are closed JSON objects; an unknown member, a missing one or a wrong type is a validation error"}),
	}
}

// agentStoreLegs say what the queue keeps, and how it is looked into.
func agentStoreLegs() []Leg {
	return []Leg{
		agentLeg(Leg{ID: "agentdlq.store.context", Section: "Queues",
			Title:  "an entry has the call's arguments, its trace, its reason, each of its attempts and its tags",
			Source: "an entry of the tool queue has its arguments, trace, last error, tags, and a history of one item for each attempt"}),
		agentLeg(Leg{ID: "agentdlq.store.by-trace", Section: "Queues",
			Title:  "the queue can be narrowed to one trace",
			Source: "the parameters narrow, all together: traceId"}),
		agentLeg(Leg{ID: "agentdlq.store.by-tool", Section: "Queues",
			Title:  "the queue can be narrowed to one tool",
			Source: "the parameters narrow, all together: tool"}),
		agentLeg(Leg{ID: "agentdlq.store.by-resolution", Section: "Queues",
			Title:  "the queue can be narrowed to one resolution, and counts what is unresolved",
			Source: "the parameters narrow, all together: resolution; depth counts the unresolved entries that fit them"}),
		agentLeg(Leg{ID: "agentdlq.store.audit-trail", Section: "Queues",
			Title:  "who did what to an entry, when and with what notes, is on record and never changes",
			Source: "audit is one item for everything that was done to the entry, never changed afterwards"}),
		agentLeg(Leg{ID: "agentdlq.store.scoped", Section: "Ground rules", Needs: []Need{NeedSecondTenant},
			Title:  "another tenant finds nothing of a tenant's tools, messages, entries and traces, and changes none",
			Source: "everything belongs to the caller's tenant; what another tenant has is not there, and is in no list"}),
		clockLeg(Leg{ID: "agentdlq.store.time-to-live", Section: "Queues",
			Title:  "an entry and its conversation are there for their time, and then gone",
			Source: "after entryTtlSeconds an entry is gone, and so is its conversation"}),
	}
}

// agentClassifyLegs say of what sort a failure is.
func agentClassifyLegs() []Leg {
	const section = "Classifier, recovery, repair, review"
	return []Leg{
		agentLeg(Leg{ID: "agentdlq.classify.transient", Section: section,
			Title:  "errors of the server, timeouts, rate limits and locks are transient",
			Source: "server_error, timeout, rate_limited and locked are TRANSIENT_INFRASTRUCTURE"}),
		agentLeg(Leg{ID: "agentdlq.classify.schema", Section: section,
			Title:  "arguments that are refused by their form are a failure of the schema",
			Source: "bad_request is SCHEMA_VALIDATION_FAILURE"}),
		agentLeg(Leg{ID: "agentdlq.classify.semantic", Section: section,
			Title:  "arguments that are refused by their sense are a semantic failure",
			Source: "semantic is SEMANTIC_FAILURE"}),
		agentLeg(Leg{ID: "agentdlq.classify.unavailable", Section: section,
			Title:  "a tool that is gone, or an agent that can't be reached, is unavailable",
			Source: "gone and unreachable are TOOL_UNAVAILABLE"}),
		agentLeg(Leg{ID: "agentdlq.classify.context-eviction", Section: section,
			Title:  "an entry whose conversation is gone is found to be one of an evicted context",
			Source: "an entry whose conversation is expired can't be replayed; its category becomes CONTEXT_EVICTION"}),
		agentLeg(Leg{ID: "agentdlq.classify.authorization", Section: section,
			Title:  "a refused credential is a failure of authorization",
			Source: "unauthorized is AUTHORIZATION_FAILURE"}),
		agentLeg(Leg{ID: "agentdlq.classify.unknown-reviewed", Section: section,
			Title:  "what the rules can't tell is unclassified and goes to a person",
			Source: "malformed is unclassified, unless a second classifier is configured and knows: human review"}),
	}
}

// agentRecoverLegs say what becomes of an entry by itself.
func agentRecoverLegs() []Leg {
	const section = "Classifier, recovery, repair, review"
	return []Leg{
		agentLeg(Leg{ID: "agentdlq.recover.back-off", Section: section,
			Title:  "the wait before a replay doubles with each attempt, from a minute",
			Source: "nextReplayAt is lastAttemptedAt and min(30 s · 2^attempts, 3600 s), and at most a fifth of it on top"}),
		agentLeg(Leg{ID: "agentdlq.recover.jitter", Section: section,
			Title:  "what failed together is not replayed together",
			Source: "on top of the back-off is a random part, drawn for each entry anew"}),
		agentLeg(Leg{ID: "agentdlq.recover.cap", Section: section,
			Title:  "the wait grows to an hour and no further",
			Source: "the back-off is at most 3600 s, and at most a fifth of it on top"}),
		agentLeg(Leg{ID: "agentdlq.recover.schema-reviewed", Section: section,
			Title:  "a failure of the schema goes to a person",
			Source: "bad_request goes to human review"}),
		agentLeg(Leg{ID: "agentdlq.recover.unavailable-reviewed", Section: section,
			Title:  "an unavailable tool goes to a person",
			Source: "gone and unreachable go to human review"}),
		agentLeg(Leg{ID: "agentdlq.recover.context-gone", Section: section,
			Title:  "what can't be replayed for want of its conversation says so, and goes to a person",
			Source: "an entry whose conversation is expired can't be replayed: 409 conversation_expired; human review"}),
		clockLeg(Leg{ID: "agentdlq.recover.replays-transient", Section: section,
			Title:  "a transient failure is replayed by itself once it is due, and no sooner",
			Source: "recovery looks for due entries every recoveryIntervalSeconds; the category TRANSIENT_INFRASTRUCTURE is replayed by itself"}),
		clockLeg(Leg{ID: "agentdlq.recover.limit", Section: section,
			Title:  "what goes on failing is replayed so many times, and then goes to a person",
			Source: "after automaticReplays of them it goes to human review and has no next instant"}),
		clockLeg(Leg{ID: "agentdlq.recover.authorization-never-replayed", Section: section,
			Title:  "a refused credential goes to security review, and is replayed by a person alone",
			Source: "unauthorized goes to security review and is never replayed but by a person, entry by entry"}),
	}
}

// agentRepairLegs say when a wrong call is mended.
func agentRepairLegs() []Leg {
	const section = "Classifier, recovery, repair, review"
	return []Leg{
		agentLeg(Leg{ID: "agentdlq.repair.at-threshold", Section: section,
			Title:  "a proposal of just the threshold is replayed at once, with the proposed arguments",
			Source: "a proposal with repairThreshold or more is replayed at once with the proposed payload as arguments"}),
		agentLeg(Leg{ID: "agentdlq.repair.below-threshold", Section: section,
			Title:  "a proposal below the threshold goes to a person, with the entry",
			Source: "below it the entry goes to human review with the proposal"}),
		agentLeg(Leg{ID: "agentdlq.repair.semantic-only", Section: section,
			Title:  "nothing but a semantic failure is repaired",
			Source: "repair is what follows on SEMANTIC_FAILURE, and on no other category"}),
		agentLeg(Leg{ID: "agentdlq.repair.rule-first", Section: section,
			Title:  "where a rule knows the repair, its proposal is taken",
			Source: "a rule-based repairer is asked first; the scripted one is asked when its confidence isn't enough"}),
	}
}
