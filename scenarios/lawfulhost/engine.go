package lawfulhost

import (
	"fmt"
	"time"
)

// step is one event of a run as the engine made it; at is when it happens by the host's clock. Events that lie ahead are
// not shown yet: a run of this host is worked out when it is made, since nothing outside can change its course.
type step struct {
	id      string
	at      time.Time
	node    string
	kind    string // the type; the dead letter's is letterKind, whatever the major calls it
	payload map[string]any
}

const letterKind = "dead letter"

// course is a run in the making.
type course struct {
	o            Options
	at           time.Time
	steps        []step
	configurable map[string]any
}

func (c *course) add(node, kind string, payload map[string]any) {
	if payload == nil {
		payload = map[string]any{}
	}
	if c.o.MoreMembers {
		payload["x-trace"] = "t-" + randomHex(4)
	}
	c.steps = append(c.steps, step{id: "re." + randomHex(10), at: c.at, node: node, kind: kind, payload: payload})
}

// run works a workflow out from a node on. What came before it, the fork's prefix, is in steps already.
func (c *course) run(w workflow, done map[string]bool) {
	if len(c.steps) == 0 {
		c.add("", "run.started", nil)
	}
	for i, n := range w.nodes {
		if done[n.id] {
			continue
		}
		if !c.node(w, n, w.nodes[i+1:]) {
			return
		}
	}
	c.more("run.cost-settled")
	c.add("", "run.completed", nil)
}

// node tries one node until it completes, or its tries are over and the run with it. Behind are the nodes after it.
func (c *course) node(w workflow, n node, behind []node) bool {
	tries := w.maxRetries + 1
	if c.o.Attempts > 0 && n.kind == typeFail {
		tries = c.o.Attempts
	}
	named := func(attempt int) map[string]any {
		if c.o.NamesAttempt {
			return map[string]any{"attempt": attempt}
		}
		return map[string]any{}
	}
	failure := c.failure(n)
	for attempt := 1; attempt <= tries; attempt++ {
		if attempt > 1 {
			c.at = c.at.Add(c.o.Backoff)
			if c.o.Retried {
				c.add(n.id, "node.retried", named(attempt-1))
			}
		}
		if attempt == 1 || !c.o.StartedOnce {
			c.add(n.id, "node.started", named(attempt))
		}
		c.more("node.progress-reported")
		if n.completes(attempt, c.configurable) {
			c.add(n.id, "node.completed", map[string]any{"output": map[string]any{}})
			return true
		}
		if attempt == tries || !c.o.FailedOnce {
			payload := named(attempt)
			payload["error"] = failure
			c.add(n.id, "node.failed", payload)
		}
	}
	if c.o.GoesOn {
		for _, later := range behind {
			c.add(later.id, "node.started", nil)
		}
	}
	c.die(n, tries, failure)
	return false
}

// die ends the run of its node's failure, with the dead letter before or after the end.
func (c *course) die(n node, tries int, failure map[string]any) {
	letters := func() {
		reason := fmt.Sprint("gave up: ", failure["code"])
		if c.o.NamesSecret && n.secret != "" {
			reason += " (needs " + n.secret + ")"
		}
		if !c.o.OnlyRunLetter {
			c.add(n.id, letterKind, map[string]any{"nodeId": n.id, "reason": reason, "attempts": tries})
		}
		if c.o.RunLetter || c.o.OnlyRunLetter {
			c.add("", letterKind, map[string]any{"reason": "a step of it is dead", "attempts": tries})
		}
	}
	if !c.o.LetterAfter {
		letters()
	}
	c.more("log.appended")
	c.add("", "run.failed", map[string]any{"error": failure})
	if c.o.LetterAfter {
		c.at = c.at.Add(c.o.LetterLate)
		letters()
	}
	c.more("audit.record-sealed")
}

func (c *course) more(kind string) {
	if c.o.MoreEvents {
		c.add("", kind, map[string]any{"level": 3, "lines": []any{"a", nil}})
	}
}

func (c *course) failure(node) map[string]any {
	if c.o.OwnErrors {
		return map[string]any{"code": "E-4711/überlast", "message": "Der Knoten wollte nicht.\n\tzweite Zeile \u2028 \"zitiert\""}
	}
	return map[string]any{"code": "node_failed", "message": "the node failed as it was told to"}
}

// ends are the events that end a run.
func (s step) ends() (status string, ends bool) {
	switch s.kind {
	case "run.completed":
		return "completed", true
	case "run.failed":
		return "failed", true
	}
	return "", false
}
