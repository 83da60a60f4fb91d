package registry

// agentImpactLegs say how far a failure reaches.
func agentImpactLegs() []Leg {
	return []Leg{
		agentLeg(Leg{ID: "agentdlq.impact.steps", Section: "Impact",
			Title:  "every step of a failed execution is told: done, failed, suspect or blocked, and what it rests on",
			Source: "suspect is each step that depends on the failed one, directly or through others; blocked those not run for another reason"}),
		agentLeg(Leg{ID: "agentdlq.impact.suspect-until-resolved", Section: "Impact",
			Title:  "a step is suspect until the entry is resolved",
			Source: "suspect until the entry is resolved"}),
		agentLeg(Leg{ID: "agentdlq.impact.compensation-once", Section: "Impact",
			Title:  "side effects that were done are offered to be undone, and are undone once",
			Source: "each offered compensation is done, once; the tool's effects fall by one for each"}),
		agentLeg(Leg{ID: "agentdlq.impact.active-workflows", Section: "Impact",
			Title:  "the executions that wait for the same tool are counted",
			Source: "activeWorkflows counts the executions that have an unresolved entry for the tool that failed here"}),
	}
}

// agentObserveLegs say what can be measured and traced.
func agentObserveLegs() []Leg {
	const section = "Metrics and traces"
	return []Leg{
		agentLeg(Leg{ID: "agentdlq.observe.enqueue-rate", Section: section,
			Title:  "what is enqueued is counted by tool and category",
			Source: "dlq.enqueue.rate has a count and a rate per minute for each tool and category"}),
		agentLeg(Leg{ID: "agentdlq.observe.depth", Section: section,
			Title:  "the depth is the unresolved entries of both queues, and the alert what it makes of the threshold",
			Source: "depth counts unresolved entries of both queues"}),
		agentLeg(Leg{ID: "agentdlq.observe.replay-success-rate", Section: section,
			Title:  "replays in vain are counted as well as those that succeed",
			Source: "dlq.replay.success.rate has what was replayed, what succeeded, and the rate of the two"}),
		agentLeg(Leg{ID: "agentdlq.observe.time-to-resolution", Section: section,
			Title:  "how long entries wait for their resolution is told by quantiles",
			Source: "dlq.time.to.resolution has a count and p50, p95 and p99 in seconds of domain time"}),
		agentLeg(Leg{ID: "agentdlq.observe.repair-confidence", Section: section,
			Title:  "how sure the repairer was of each proposal is told by buckets",
			Source: "dlq.semantic.repair.confidence has a count, a mean and buckets"}),
		agentLeg(Leg{ID: "agentdlq.observe.enqueue-span", Section: section,
			Title:  "an entry is a span in its message's trace, linked to the call that failed",
			Source: "dlq.enqueue links to the tool.call that failed, with invocation, tool, reason and attempts as attributes"}),
		agentLeg(Leg{ID: "agentdlq.observe.recovery-linked", Section: section,
			Title:  "each replay is a span linked to the entry's, in the same view",
			Source: "dlq.recover is each replay or repair, and links to the dlq.enqueue"}),
	}
}

// agentOperateLegs say what a person can do about many entries at once.
func agentOperateLegs() []Leg {
	const section = "Operating"
	return []Leg{
		agentLeg(Leg{ID: "agentdlq.operate.stops-on-failures", Section: "Drains",
			Title:  "a drain stops after the batch of which too little succeeded",
			Source: "after each batch the drain stops when fewer than minSuccessRate of the batch succeeded"}),
		agentLeg(Leg{ID: "agentdlq.operate.partitions", Section: section,
			Title:  "a flood of calls of one tool holds up no other tool",
			Source: "work is partitioned by tool: a flood of calls of one tool, or of its entries, holds up no other tool"}),
		agentLeg(Leg{ID: "agentdlq.operate.replayed-once", Section: "Queues", Needs: []Need{NeedPeer},
			Title:  "two instances that are told to replay an entry at once replay it once",
			Source: "a step that succeeded under replay, by whatever means, two instances at once among them, has its side effect once"}),
		agentLeg(Leg{ID: "agentdlq.operate.grouped", Section: "Queues",
			Title:  "entries can be told by category, by tool, by both, and by age",
			Source: "the parameters narrow, all together: tool, category, olderThanSeconds"}),
		clockLeg(Leg{ID: "agentdlq.operate.pause-tool", Section: section,
			Title:  "a paused tool's entries are replayed by nobody but a person",
			Source: "a paused tool's entries are replayed neither by recovery nor by a drain, which waits as paused"}),
		clockLeg(Leg{ID: "agentdlq.operate.pause-all", Section: section,
			Title:  "one call holds up every replay, and no new message",
			Source: "\"*\" for all; new messages are not held up"}),
		clockLeg(Leg{ID: "agentdlq.operate.resume", Section: section,
			Title:  "after a resumption replays go on",
			Source: "resume answers what is still paused, and what isn't is replayed again"}),
		clockLeg(Leg{ID: "agentdlq.operate.batch-rate", Section: "Drains",
			Title:  "a drain is no faster than it was told to be",
			Source: "perSecond a second of domain time, in batches of batch"}),
	}
}

// agentBurstLegs say what becomes of more than a host can hold.
func agentBurstLegs() []Leg {
	const section = "Operating"
	return []Leg{
		agentLeg(Leg{ID: "agentdlq.burst.accounted", Section: section,
			Title:  "of a burst, everything accepted ends in exactly one of completed and the two queues",
			Source: "nothing accepted is dropped: it ends in exactly one of completed, the tool queue and the message queue"}),
		agentLeg(Leg{ID: "agentdlq.burst.queue-bounded", Section: section,
			Title:  "a tool's queue takes what it says, and then messages for that tool are pushed back",
			Source: "at most queueCapacity entries a tool are unresolved: a message whose workflow calls a tool that is full is refused"}),
		clockLeg(Leg{ID: "agentdlq.burst.back-pressure", Section: section,
			Title:  "beyond its capacity a host pushes back, and nothing of what it refuses is kept",
			Source: "at most intakeCapacity messages of a tenant wait or run; more are refused alike, and then nothing of it is kept"}),
	}
}
