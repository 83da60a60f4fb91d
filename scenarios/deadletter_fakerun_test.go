package scenarios

import (
	"encoding/json"
	"fmt"
	"net/http"
	"slices"

	"github.com/wopwitness/wopwitness/fixtures/workflows"
)

func (h *deadHost) create(w http.ResponseWriter, r *http.Request, tenant string, major int) {
	var body struct {
		WorkflowID   string
		Configurable map[string]any
	}
	_ = json.NewDecoder(r.Body).Decode(&body)
	if !slices.Contains(h.fixtures, body.WorkflowID) {
		refuse(w, 400, "validation_error")
		return
	}
	run := h.make(body.WorkflowID, tenant, major, false)
	if h.lie == "purges-at-once" && !run.died.IsZero() {
		delete(h.runs, run.id)
	}
	answer(w, 201, map[string]any{"runId": run.id, "status": "pending", "eventsUrl": "/runs"})
}

// make runs a workflow to its end.
func (h *deadHost) make(workflow, tenant string, major int, fixed bool) *deadRun {
	id := fmt.Sprintf("%s/r-%016x-end", tenant, len(h.order)+0xabc)
	if major == 1 {
		id = fmt.Sprintf("run:%016x/end", len(h.order)+0xabc) // opaque, with characters that a path must not lose
	}
	run := &deadRun{id: id, tenant: tenant, workflow: workflow, status: "completed"}
	h.runs[run.id], h.order = run, append(h.order, run.id)
	add := func(kind, node string, payload any) {
		e := map[string]any{"eventId": fmt.Sprintf("e-%s-%04d-0123456789", run.id[len(run.id)-6:], len(run.events)), "runId": run.id, "type": kind, "payload": payload, "timestamp": stamp(h.now()), "sequence": len(run.events)}
		if node != "" {
			e["nodeId"] = node
		}
		if h.odd == "data" {
			e["data"], e["payload"] = payload, nil
		}
		run.events = append(run.events, e)
	}
	add("run.started", "", map[string]any{})
	node, fails := "poison", 3
	switch {
	case workflow == workflows.Noop, fixed:
		fails = 0
	case workflow == workflows.Recovers:
		node, fails = "flaky", 2
	}
	for i := range fails {
		add("node.started", node, map[string]any{"attempt": i + 1})
		add("node.failed", node, map[string]any{"error": "always"})
	}
	if fails < 3 {
		add("node.started", node, map[string]any{})
		add("node.completed", node, map[string]any{})
		if fails > 0 && h.lie == "early" {
			h.letter(run, node, major, add)
		}
		run.end = len(run.events)
		add("run.completed", "", map[string]any{})
		return run
	}
	run.status = "failed"
	last := h.odd == "letter-last" || h.odd == "ends-behind-a-poll"
	if !last {
		h.letter(run, node, major, add)
	}
	if run.end = len(run.events); h.odd != "never-ends" {
		add("run.failed", "", map[string]any{})
	} else {
		run.status = "running"
	}
	if last {
		h.letter(run, node, major, add)
	}
	if h.lie == "completed" {
		run.status = "completed"
	}
	return run
}

func (h *deadHost) letter(run *deadRun, node string, major int, add func(string, string, any)) {
	run.died = h.now()
	if h.lie == "no-event" || h.odd == "never-ends" {
		return
	}
	kind := map[int]string{1: "run.dead_lettered", 2: "run.dead-lettered"}[major]
	if h.lie == "name" {
		kind = map[int]string{1: "run.dead-lettered", 2: "run.dead_lettered"}[major]
	}
	payload := map[string]any{"runId": run.id, "nodeId": node, "reason": "retries exhausted", "attempts": 3}
	switch h.lie {
	case "attempts":
		payload["attempts"] = 2
	case "other-run":
		payload["runId"] = run.tenant + "/another-run-0123456789"
	case "other-node":
		payload["nodeId"] = "after"
	case "leaks":
		payload["reason"] = "401 for openwop-conformance-canary-5ecret"
	}
	add(kind, node, payload)
}
