package defects

import (
	"slices"
	"strings"

	"github.com/wopwitness/wopwitness/mockhost/parts"
)

// agentDefects are wrong about the agent worker and what becomes of its dead letters (docs/agent-dlq-seams.md).
func agentDefects() []Defect {
	all := slices.Concat(agentClassifies(), agentRecovers(), agentRepairs(), agentImpacts(), agentMetrics(), agentTraces(),
		agentPauses(), agentDrains(), agentStores(), agentBursts(),
		agentRoutes(), agentBreakers(), agentEntries(), agentIntercepts(), agentReplays())
	for i, d := range all {
		if slices.Contains(amongWorkers(), strings.TrimPrefix(d.Name, "agent-")) {
			all[i] = d.apart()
		}
	}
	return all
}

// amongWorkers is the defects that are about what one worker leaves to another, or what two of them do at once.
func amongWorkers() []string {
	return []string{
		"breaker-of-one-run", "crash-queued", "crash-restarts", "fresh-key", "lease-endless", "record-after-call", "redispatch-blind",
		"redispatch-never", "result-forgotten",
	}
}

// agentRFC is what stands for an RFC in the legs of the extension.
const agentRFC = "agentdlq"

// agentDefect is a defect of the agent worker without shared state. Legs are named without the extension's name.
func agentDefect(name, says string, apply func(*parts.Agent), convicts ...string) Defect {
	return agentDefectWith(name, says, func() func(*parts.Parts) { return func(p *parts.Parts) { apply(&p.Agent) } }, convicts...)
}

// agentDefectWith is one whose instances share what prepare makes.
func agentDefectWith(name, says string, prepare func() func(*parts.Parts), convicts ...string) Defect {
	return Defect{Info{Name: "agent-" + name, Says: says, RFC: agentRFC, Convicts: agentLegs(convicts)}, prepare}
}

func agentLegs(short []string) []string {
	out := make([]string, len(short))
	for i, s := range short {
		out[i] = agentRFC + "." + s
	}
	return out
}

// mayAgent is may for legs that are named without the extension's name.
func (d Defect) mayAgent(legs ...string) Defect { return d.may(agentLegs(legs)...) }
