package registry

import "slices"

// agentDLQLegs are the requirements of the agent dead-letter extension. No RFC stands behind them: docs/agent-dlq-seams.md
// does, and a section is one of its headings.
func agentDLQLegs() []Leg {
	return slices.Concat(agentShapeLegs(), agentRouteLegs(), agentEntryLegs(), agentDrainLegs(), agentInterceptLegs(),
		agentStoreLegs(), agentClassifyLegs(), agentRecoverLegs(), agentRepairLegs(), agentImpactLegs(),
		agentObserveLegs(), agentOperateLegs(), agentBurstLegs())
}

// agentLeg fills in what every leg of the extension has.
func agentLeg(l Leg) Leg {
	l.RFC, l.Profile, l.Majors, l.OneMajor = "agentdlq", ProfileAgentDLQ, []int{1, 2}, true
	if l.Observes == "" {
		l.Observes = Behaviour
		l.Gates = append(l.Gates, GateAgentDLQ)
	}
	return l
}

// clockLeg is one that needs the host's domain time to pass.
func clockLeg(l Leg) Leg {
	l = agentLeg(l)
	l.Needs, l.Last = append(l.Needs, NeedClock), true
	return l
}

// nudgingLeg is one that lets domain time pass where the host's clock can be moved, and does without where it cannot.
func nudgingLeg(l Leg) Leg {
	l = agentLeg(l)
	l.Last, l.MovesClock = true, true
	return l
}
