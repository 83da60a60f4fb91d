package registry

// agentDrainLegs say how a queue is emptied, and how it is watched.
func agentDrainLegs() []Leg {
	drains := func(l Leg) Leg { l.Section = "Drains"; return l }
	queues := func(l Leg) Leg { l.Section = "Queues"; return l }
	return []Leg{
		nudgingLeg(drains(Leg{ID: "agentdlq.drain.resumes",
			Title:  "a drained entry goes on at the step that failed: nothing before it is done or paid for again",
			Source: "a replay resumes the run at the failed step, with its conversation; no step before it is called again and no model call made for one"})),
		agentLeg(queues(Leg{ID: "agentdlq.drain.replay-idempotent",
			Title:  "an entry that is replayed twice, or twice at once, has its side effect once",
			Source: "a step that succeeded under replay, by whatever means it was begun, has its side effect once"})),
		nudgingLeg(drains(Leg{ID: "agentdlq.drain.expired-goes-on",
			Title:  "an entry whose conversation is gone fails by a status of its own, and the drain goes on",
			Source: "an entry whose conversation is expired can't be replayed; it fails alone, and the drain goes on"})),
		agentLeg(queues(Leg{ID: "agentdlq.drain.depth-moves",
			Title:  "the depth of the queue rises with an entry and falls with its resolution",
			Source: "depth counts the unresolved entries, in the list that is asked for and in the metric"})),
		clockLeg(queues(Leg{ID: "agentdlq.drain.age-observed",
			Title:  "the age of the oldest unresolved entry can be watched",
			Source: "oldestAgeSeconds is the age of the oldest unresolved entry that fits, null when there is none"})),
		nudgingLeg(drains(Leg{ID: "agentdlq.drain.oldest-first",
			Title:  "a drain replays the oldest entry first",
			Source: "a drain replays the unresolved entries that fit, oldest first"})),
	}
}
