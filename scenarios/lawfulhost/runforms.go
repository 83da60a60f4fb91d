package lawfulhost

import (
	"encoding/json"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"
)

// How often a waiting answer looks for news.
const (
	runTick       = 2 * time.Millisecond
	secondOfTicks = time.Second / runTick
)

func contains(names []string, name string) bool { return slices.Contains(names, name) }

func compact(v any) []byte {
	b, err := json.Marshal(v)
	if err != nil {
		panic("lawfulhost: " + err.Error()) // events are made of plain values
	}
	return b
}

// ended says whether the events hold the end of the run.
func (r *run) ended(log []step) (string, bool) {
	for _, s := range log {
		if status, ends := s.ends(); ends {
			return status, true
		}
	}
	return "", false
}

// eventsURL is where a run's stream is on a major.
func eventsURL(major int, id string) string {
	if major == 1 {
		return "/v1/runs/" + strings.ReplaceAll(url.PathEscape(id), ":", "%3A") + "/events"
	}
	return "/runs/" + strings.ReplaceAll(id, "/", "~2F") + "/events"
}

// madeAnswer is the answer to a creation or a fork.
func (h *Host) madeAnswer(r *run, major int) map[string]any {
	o := h.options
	status, _ := r.status(h.clock.now())
	if o.SaysStatus != "" {
		status = o.SaysStatus
	}
	a := map[string]any{"runId": r.id(major), "status": status}
	if major >= 2 || !o.NoEventsURL {
		a["eventsUrl"] = eventsURL(major, r.id(major))
	}
	if r.source != nil {
		a["mode"] = r.mode
		if major >= 2 || !o.NoSourceID {
			a["sourceRunId"] = r.source.id(major)
		}
		if r.fromSeq != nil {
			a["fromSeq"] = *r.fromSeq
		}
	}
	if o.MoreMembers && major == 1 { // the answer is closed on major 2
		a["queue"], a["workflow"] = "default", map[string]any{"id": r.workflow}
	}
	return a
}

// snapshot is a run as it is read.
func (h *Host) snapshot(r *run, major int) map[string]any {
	o := h.options
	status, failure := r.status(h.clock.now().Add(-o.SnapshotLag))
	s := map[string]any{"runId": r.id(major), "workflowId": r.workflow, "status": status}
	if major >= 2 {
		s["owner"] = map[string]any{"tenant": r.tenant, "subject": r.subject}
	}
	if failure != nil && !o.NoError {
		s["error"] = failure
	}
	if o.MoreMembers {
		s["readAt"] = h.clock.now().UTC().Format(time.RFC3339Nano) // another one each time
		s["labels"] = []any{"x", nil, 1}
	}
	return s
}

// listRuns is the caller's runs, where the host lists them.
func (h *Host) listRuns(w http.ResponseWriter, _ *http.Request, p principal) {
	runs := []any{}
	for _, r := range h.listed(p.tenant) {
		s := h.snapshot(r, 2)
		if r.source != nil {
			s["sourceRunId"] = r.source.id(2)
		}
		runs = append(runs, s)
	}
	h.answer(w, http.StatusOK, map[string]any{"runs": runs})
}

// exhaust is the seam that makes a run die. It only causes: the run goes the way of every other, but for its pace.
func (h *Host) exhaust(major int) func(http.ResponseWriter, *http.Request, principal) {
	return func(w http.ResponseWriter, r *http.Request, p principal) {
		members, _, ok := h.closedBody(w, r, "scenario")
		if !ok {
			return
		}
		if s := members["scenario"]; s != "exhaust-retries" && s != "fork-after-dead-letter" {
			h.fail(w, http.StatusBadRequest, "validation_error", "no such scenario")
			return
		}
		if h.options.ExhaustUnread {
			kind := map[int]string{1: "run.dead_lettered", 2: "run.dead-lettered"}[major]
			payload := map[string]any{"runId": "sample-run", "nodeId": "sample-node", "reason": "retries exhausted", "attempts": 3}
			h.answer(w, http.StatusOK, map[string]any{"event": map[string]any{"type": kind, "payload": payload}, "forkEligible": true})
			return
		}
		dead := h.begin(p, "conformance-deadletter-exhaust", nil)
		for i, s := range dead.steps {
			if s.kind == letterKind {
				h.answer(w, http.StatusOK, map[string]any{"event": h.shape(dead, s, i, major), "forkEligible": true})
				return
			}
		}
	}
}

// entries is the seam that shows the sink, a page at a time.
func (h *Host) entries(major int) func(http.ResponseWriter, *http.Request, principal) {
	return func(w http.ResponseWriter, r *http.Request, p principal) {
		now := h.clock.now()
		var all []any
		for _, run := range h.listed(p.tenant) {
			s, dead := run.letter(now)
			if !dead {
				continue
			}
			e := map[string]any{"runId": run.id(major), "reason": s.payload["reason"], "attempts": s.payload["attempts"],
				"deadLetteredAt": s.at.UTC().Format(time.RFC3339Nano)}
			if s.node != "" {
				e["nodeId"] = s.node
			}
			if at, ever := run.expires(h.options, now); ever {
				e["expiresAt"] = at.UTC().Format(time.RFC3339Nano)
			}
			if h.options.MoreMembers {
				e["workflowId"], e["looked"] = run.workflow, 0
			}
			all = append(all, e)
		}
		from, _ := strconv.Atoi(r.URL.Query().Get("cursor"))
		most, _ := strconv.Atoi(r.URL.Query().Get("limit"))
		if page := h.options.EntriesPage; page > 0 {
			most = page
		}
		from = min(max(from, 0), len(all))
		to := min(from+max(most, 1), len(all))
		answer := map[string]any{"entries": append([]any{}, all[from:to]...)}
		if to < len(all) {
			answer["nextCursor"] = strconv.Itoa(to)
		}
		h.answer(w, http.StatusOK, answer)
	}
}
