package registry

import "slices"

// Profiles that a bundle can claim.
const (
	ProfileReplay     = "hostEvents.replay"
	ProfileHostEvents = "hostEvents"
	ProfileDeadLetter = "deadLetter"
	ProfileAgentDLQ   = "example.agent-dlq" // an extension: no RFC's
)

func major2() []int { return []int{2} }

func bothTriggers() []Gate {
	return []Gate{GateHostEvents, GateReplay, GateTriggerDurable, GateTriggerEphemeral}
}

func durableOnly() []Gate { return []Gate{GateHostEvents, GateReplay, GateTriggerDurable} }

// Legs lists every leg that is built, prerequisites first, in the order in which they run. The caller owns the slice.
func Legs() []Leg {
	return slices.Concat(triggerLegs(), hostEventLegs(), replayLegs(), replayBeyondLegs(), deadLetterLegs(), agentDLQLegs(), closingLegs())
}

func triggerLegs() []Leg {
	leg := func(l Leg) Leg {
		l.RFC, l.Profile, l.Majors = "0241", ProfileHostEvents, major2()
		return l
	}
	return []Leg{
		leg(Leg{ID: "0241.trigger.bound-by-listing", Section: "§Trigger", Observes: Behaviour,
			Title:  "the trigger serves exactly the classes that the host lists",
			Gates:  []Gate{GateHostEvents},
			Source: "a host that lists a reserved type serves the trigger for that class; one that lists neither answers 404 or 405"}),
		leg(Leg{ID: "0241.trigger.body-closed", Section: "§Trigger", Observes: Behaviour,
			Title:  "the trigger refuses a body with anything it does not define",
			Gates:  []Gate{GateHostEvents, GateTrigger},
			Source: "the trigger's body is closed: an unknown member or a wrong type is a validation error"}),
		leg(Leg{ID: "0241.trigger.workspace-scope", Section: "§Trigger", Observes: Behaviour,
			Title:  "the trigger does not reach into workspaces that are not the caller's",
			Gates:  []Gate{GateHostEvents, GateTrigger},
			Source: "a workspace of another tenant is refused as such, and one that does not exist is not found"}),
		leg(Leg{ID: "0241.trigger.idempotent", Section: "§Trigger", Observes: Behaviour,
			Title:  "the same key and body twice make one event",
			Gates:  []Gate{GateHostEvents, GateTriggerDurable},
			Source: "the trigger honours Idempotency-Key: the first answer again, marked as a replay, and no second effect"}),
		leg(Leg{ID: "0241.trigger.other-instance", Section: "§Trigger", Observes: Behaviour,
			Title:  "a key that one instance has answered makes no second event on another",
			Gates:  []Gate{GateHostEvents, GateTriggerDurable},
			Needs:  []Need{NeedPeer},
			Source: "the trigger honours Idempotency-Key, whichever process of the host answers"}),
	}
}

func hostEventLegs() []Leg {
	leg := func(l Leg) Leg {
		l.RFC, l.Profile, l.Majors, l.Observes = "0236", ProfileHostEvents, major2(), Behaviour
		return l
	}
	return []Leg{
		leg(Leg{ID: "0236.host-event.envelope", Section: "§Envelope",
			Title:  "a triggered event arrives on a live stream in the closed envelope, framed by its class",
			Gates:  []Gate{GateHostEvents, GateTrigger},
			Source: "the envelope is closed; a durable frame carries its eventId as id, an ephemeral one carries no id line"}),
		leg(Leg{ID: "0236.ephemeral.no-resume", Section: "§Delivery",
			Title:  "an ephemeral event is never redelivered, whatever Last-Event-ID says",
			Gates:  []Gate{GateHostEvents, GateTriggerDurable, GateTriggerEphemeral},
			Source: "an ephemeral event is not stored and not redelivered on reconnect"}),
		leg(Leg{ID: "0236.ephemeral.other-instance", Section: "§Delivery",
			Title:  "an ephemeral event of one instance reaches the subscribers of another",
			Gates:  []Gate{GateHostEvents, GateTriggerDurable, GateTriggerEphemeral},
			Needs:  []Need{NeedPeer},
			Source: "a host event reaches its tenant's subscribers, whichever process they are connected to"}),
		leg(Leg{ID: "0236.host-event.tenant-isolation", Section: "§Tenancy",
			Title:  "an event reaches its own tenant's subscribers and nobody else's",
			Gates:  []Gate{GateHostEvents, GateTriggerDurable},
			Needs:  []Need{NeedSecondTenant},
			Source: "every host event belongs to one tenant and reaches only that tenant's subscribers"}),
	}
}

// closingLegs speak of the whole run, so they come after all that only emit and read.
func closingLegs() []Leg {
	return []Leg{{
		ID: "0236.host-event.listed-types", RFC: "0236", Section: "§Types", Profile: ProfileHostEvents, Majors: major2(), Observes: Behaviour,
		Title:  "every host event seen is of a listed type and of that type's class",
		Gates:  []Gate{GateHostEvents, GateTrigger},
		Source: "a host emits no type that it does not list, and a type keeps its class",
	}}
}

func replayLegs() []Leg {
	leg := func(l Leg) Leg {
		l.RFC, l.Profile, l.Majors = "0250", ProfileReplay, major2()
		if l.Observes == "" {
			l.Observes = Behaviour
		}
		return l
	}
	return []Leg{
		leg(Leg{ID: "0250.shape", Section: "§A", Observes: Shape,
			Title:  "the replay facet is closed and positive, in the vectors and in the host's own advertisement",
			Source: "the facet is a closed member that requires minRetentionSeconds, an integer of at least 1"}),
		leg(Leg{ID: "0250.resume-backlog", Section: "§B", Gates: bothTriggers(),
			Title:  "a retained cursor resumes with every later durable event once, in order, then live",
			Source: "every durable event committed after the cursor, each exactly once, in commit order, then live with no gap"}),
		leg(Leg{ID: "0250.ephemeral-not-replayed", Section: "§B", Gates: bothTriggers(),
			Title:  "an ephemeral event between durable ones is not replayed",
			Source: "a host never replays an ephemeral event"}),
		leg(Leg{ID: "0250.cursor-refused", Section: "§C", Gates: []Gate{GateHostEvents, GateReplay},
			Title:  "an unknown cursor is refused before any event-stream byte",
			Source: "for any cursor it does not resume the host answers 409 host_event_resync_required before any SSE byte"}),
		leg(Leg{ID: "0250.refusal-uniform", Section: "§C", Gates: bothTriggers(), Needs: []Need{NeedSecondTenant},
			Title:  "the refusal is the same bytes for an unknown, an ephemeral and another tenant's cursor",
			Source: "status and body are byte-identical across the cases, so the refusal is no oracle"}),
		leg(Leg{ID: "0250.legacy-unchanged", Section: "§C", Gates: []Gate{GateHostEvents, GateReplay},
			Title:  "without the parameter an unknown cursor does not get the new refusal",
			Source: "requests without the new mode keep their existing semantics"}),
	}
}
