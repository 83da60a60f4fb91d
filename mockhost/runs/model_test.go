package runs_test

import (
	"slices"

	"github.com/wopwitness/wopwitness/fixtures/workflows"
	"github.com/wopwitness/wopwitness/mockhost/parts"
)

// line is what the model knows of an event.
type line struct{ kind, node string }

// played is the whole log that a run of the workflow comes to from a prefix, by counting what is in it.
func played(w workflows.Workflow, fixed bool, prefix []line) []line {
	log := slices.Clone(prefix)
	for {
		if len(log) == 0 {
			log = append(log, line{parts.RunStarted, ""})
			continue
		}
		if over(log) {
			return log
		}
		current := -1
		for i, n := range w.Nodes {
			if count(log, parts.NodeStarted, n.ID) > 0 && count(log, parts.NodeCompleted, n.ID) == 0 {
				current = i
			}
		}
		if current < 0 {
			log = append(log, nextNode(w, log))
			continue
		}
		log = append(log, nextOf(w, w.Nodes[current], fixed, log)...)
	}
}

func nextNode(w workflows.Workflow, log []line) line {
	for _, n := range w.Nodes {
		ready := count(log, parts.NodeCompleted, n.ID) == 0
		for _, e := range w.Edges {
			ready = ready && (e.TargetNodeID != n.ID || count(log, parts.NodeCompleted, e.SourceNodeID) > 0)
		}
		if ready {
			return line{parts.NodeStarted, n.ID}
		}
	}
	return line{parts.RunCompleted, ""}
}

func nextOf(w workflows.Workflow, n workflows.Node, fixed bool, log []line) []line {
	started, failed, retried := count(log, parts.NodeStarted, n.ID), count(log, parts.NodeFailed, n.ID), count(log, parts.NodeRetried, n.ID)
	switch {
	case started > failed:
		well := n.TypeID == workflows.TypeSucceed || n.Config.SucceedOnAttempt > 0 && started >= n.Config.SucceedOnAttempt ||
			n.Config.SucceedWhenConfigurable != "" && fixed
		if well {
			return []line{{parts.NodeCompleted, n.ID}}
		}
		return []line{{parts.NodeFailed, n.ID}}
	case failed <= w.Settings.MaxRetries && retried < failed:
		return []line{{parts.NodeRetried, n.ID}}
	case failed <= w.Settings.MaxRetries:
		return []line{{parts.NodeStarted, n.ID}}
	case count(log, parts.RunDeadLettered, n.ID) == 0:
		return []line{{parts.RunDeadLettered, n.ID}}
	}
	return []line{{parts.RunFailed, ""}}
}

func count(log []line, kind, node string) int {
	n := 0
	for _, l := range log {
		if l == (line{kind, node}) {
			n++
		}
	}
	return n
}

func over(log []line) bool {
	last := log[len(log)-1].kind
	return last == parts.RunCompleted || last == parts.RunFailed || last == parts.RunCancelled
}
