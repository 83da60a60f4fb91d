package scenarios

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/wopwitness/wopwitness/fixtures/workflows"
)

// deadHost is a host of a few lines that dead-letters runs, to drive the legs of RFC 0053 against. A run's whole log is
// made when the run is. Each member of lie, each of odd and each missing part is one thing that a real host does.
type deadHost struct {
	mu       sync.Mutex
	runs     map[string]*deadRun
	order    []string
	offset   time.Duration
	fixtures []string
	seams    map[string]bool // "exhaust", "entries", "clock"
	days     int
	modes    []string
	lie      string                   // what it does wrong
	odd      string                   // what it does lawfully otherwise
	admin    func(*http.Request) bool // the operator's own doors
}

type deadRun struct {
	id, tenant, workflow, status, source string
	events                               []map[string]any
	died                                 time.Time
	end                                  int // the place of its terminal event
	polls                                int
	told                                 bool // a snapshot showed its end
}

func newDeadHost(t *testing.T) (*deadHost, string) {
	t.Helper()
	all := []string{workflows.Noop, workflows.Exhaust, workflows.Recovers, workflows.Downstream, workflows.Secret, workflows.Fixable}
	h := &deadHost{runs: map[string]*deadRun{}, fixtures: all, days: 2, modes: []string{"replay", "branch"},
		seams: map[string]bool{"exhaust": true, "entries": true, "clock": true}}
	server := httptest.NewServer(h)
	t.Cleanup(server.Close)
	return h, server.URL
}

func (h *deadHost) now() time.Time { return time.Now().Add(h.offset) }

func (h *deadHost) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	h.mu.Lock()
	defer h.mu.Unlock()
	major, path := 2, r.URL.EscapedPath()
	if rest, ok := strings.CutPrefix(path, "/v1"); ok {
		major, path = 1, rest
	}
	if path == "/.well-known/openwop" {
		h.discovery(w, r)
		return
	}
	if h.admin != nil && h.admin(r) {
		return
	}
	tenant := map[string]string{"Bearer ka": "acme", "Bearer kb": "bolt", "Bearer kc": "acme"}[r.Header.Get("Authorization")]
	if tenant == "" {
		refuse(w, 401, "unauthenticated")
		return
	}
	for _, prefix := range []string{"/host/sample/", "/conformance/seams/sample/"} {
		if name, ok := strings.CutPrefix(path, prefix); ok {
			h.seam(w, r, name, tenant, major)
			return
		}
	}
	switch rest, ok := strings.CutPrefix(path, "/runs"); {
	case !ok:
		refuse(w, 404, "no_such_route")
	case rest == "" && r.Method == http.MethodPost:
		h.create(w, r, tenant, major)
	case rest == "":
		h.list(w, tenant)
	default:
		h.run(w, r, strings.TrimPrefix(rest, "/"), tenant, major)
	}
}

func (h *deadHost) discovery(w http.ResponseWriter, r *http.Request) {
	if strings.HasPrefix(r.Header.Get("Openwop-Version"), "2") {
		w.Header().Set("OpenWOP-Version", "2.0")
		head := func(more map[string]any) map[string]any {
			more["status"], more["since"], more["witness"] = "stable", "2.0", "witnessable-gated"
			return more
		}
		dead := head(map[string]any{})
		if h.days > 0 {
			dead["retentionDays"] = h.days
		}
		answer(w, 200, map[string]any{"protocolVersions": []string{"1.0", "2.0"}, "preferredVersion": "2.0", "fixtures": h.fixtures,
			"deadLetter": dead, "replay": head(map[string]any{"modes": h.modes}), "runList": head(map[string]any{})})
		return
	}
	dead := map[string]any{"supported": true}
	if h.days > 0 {
		dead["retentionDays"] = h.days
	}
	document := map[string]any{"protocolVersion": "1.0", "protocolVersions": []string{"1.0", "2.0"}, "fixtures": h.fixtures,
		"capabilities": map[string]any{"deadLetter": dead}}
	if h.lie == "seats" {
		document["host"] = map[string]any{"deadLetter": map[string]any{"supported": false}}
	}
	answer(w, 200, document)
}

func (h *deadHost) seam(w http.ResponseWriter, r *http.Request, name, tenant string, major int) {
	switch {
	case name == "deadletter/exhaust" && h.seams["exhaust"]:
		run := h.make(workflows.Exhaust, tenant, major, false)
		for _, e := range run.events {
			if strings.Contains(e["type"].(string), "dead") {
				answer(w, 200, map[string]any{"event": e, "forkEligible": h.lie != "seam-not-forkable"})
				return
			}
		}
		answer(w, 200, map[string]any{"forkEligible": true})
	case name == "deadletter/entries" && h.seams["entries"]:
		entries := []any{}
		for _, id := range h.order {
			if run := h.runs[id]; run != nil && !run.died.IsZero() && (run.tenant == tenant || h.lie == "sink-open") && h.lie != "sink-forgets" {
				entries = append(entries, map[string]any{"runId": id, "reason": "retries exhausted", "attempts": 3,
					"deadLetteredAt": stamp(run.died), "expiresAt": stamp(run.died.AddDate(0, 0, h.days))})
			}
		}
		answer(w, 200, map[string]any{"entries": entries})
	case name == "clock" && h.seams["clock"]:
		answer(w, 200, map[string]any{"now": stamp(h.now()), "mode": "manual"})
	case name == "clock/advance" && h.seams["clock"]:
		var body struct{ Seconds int64 }
		_ = json.NewDecoder(r.Body).Decode(&body)
		h.offset += time.Duration(body.Seconds) * time.Second
		h.purge()
		answer(w, 200, map[string]any{"now": stamp(h.now())})
	default:
		refuse(w, 404, "no_such_route")
	}
}

func (h *deadHost) purge() {
	due := false
	for _, run := range h.runs {
		due = due || h.over(run)
	}
	for id, run := range h.runs {
		if h.lie != "never-purges" && (h.over(run) || due && h.lie == "purges-neighbour") {
			delete(h.runs, id)
		}
	}
}

func (h *deadHost) over(run *deadRun) bool {
	kept := time.Duration(h.days) * 24 * time.Hour
	if h.lie == "purges-early" {
		kept -= 24 * time.Hour
	}
	return h.days > 0 && !run.died.IsZero() && h.now().After(run.died.Add(kept))
}

func (h *deadHost) list(w http.ResponseWriter, tenant string) {
	runs := []any{}
	for _, id := range h.order {
		if run := h.runs[id]; run != nil && run.tenant == tenant {
			runs = append(runs, map[string]any{"runId": id, "workflowId": run.workflow, "sourceRunId": run.source})
		}
	}
	answer(w, 200, map[string]any{"runs": runs})
}

func (h *deadHost) run(w http.ResponseWriter, r *http.Request, rest, tenant string, major int) {
	segment, verb, _ := strings.Cut(rest, ":")
	segment, tail, _ := strings.Cut(segment, "/")
	id := strings.NewReplacer("~2F", "/", "%2F", "/", "%3A", ":").Replace(segment)
	run := h.runs[id]
	if verb != "" && verb != "fork" || h.odd == "no-fork-route" && verb == "fork" {
		refuse(w, 404, "no_such_route")
		return
	}
	if run == nil && h.lie == "oracle" && slices.Contains(h.order, id) {
		refuse(w, 404, "run_purged")
		return
	}
	if run == nil || run.tenant != tenant && (h.lie != "foreign-fork" || verb != "fork") {
		refuse(w, 404, "not_found")
		return
	}
	switch {
	case verb == "fork":
		h.fork(w, r, run, major)
	case tail == "events/poll" && h.odd != "no-poll":
		events := h.polled(run)
		answer(w, 200, map[string]any{"runId": id, "events": events[min(h.after(r), len(events)):], "isTerminal": true})
	case tail == "events":
		w.Header().Set("Content-Type", "text/event-stream")
		for i, e := range run.events {
			raw, _ := json.Marshal(e)
			fmt.Fprintf(w, "id: %d\nevent: %s\ndata: %s\n\n", i, e["type"], raw)
			if h.odd == "ends-behind-a-poll" && i == run.end {
				return
			}
		}
	case tail == "":
		status := run.status
		if h.odd == "ends-behind-a-poll" && run.polls < 2 {
			status = "running"
		} else {
			run.told = true
		}
		answer(w, 200, map[string]any{"runId": id, "workflowId": run.workflow, "status": status, "error": map[string]any{"code": "x", "message": "y"}})
	default:
		refuse(w, 404, "no_such_route")
	}
}

// polled is what a poll can show: where the run ends behind a poll, its end is not there until the run itself has told it.
func (h *deadHost) polled(run *deadRun) []map[string]any {
	run.polls++
	if h.odd == "ends-behind-a-poll" && !run.told {
		return run.events[:run.end]
	}
	return run.events
}

func (h *deadHost) after(r *http.Request) int {
	n := -1
	_, _ = fmt.Sscan(r.URL.Query().Get("afterSequence"), &n)
	return n + 1
}

func (h *deadHost) fork(w http.ResponseWriter, r *http.Request, source *deadRun, major int) {
	var body struct {
		Mode              string
		RunOptionsOverlay map[string]any
	}
	_ = json.NewDecoder(r.Body).Decode(&body)
	if body.Mode != "replay" && body.Mode != "branch" {
		refuse(w, 400, "validation_error")
		return
	}
	if h.lie == "not-forkable" {
		refuse(w, 409, "run_terminal")
		return
	}
	overlay, _ := json.Marshal(body.RunOptionsOverlay)
	child := h.make(source.workflow, source.tenant, major, strings.Contains(string(overlay), `"conformanceFixed":true`) && h.lie != "forgets-overlay")
	child.source = source.id
	id := child.id
	switch h.lie {
	case "same-id":
		id = source.id
	case "mutates":
		source.events = append(source.events, map[string]any{"type": "run.forked", "sequence": len(source.events), "payload": map[string]any{}})
	case "lost-child":
		delete(h.runs, child.id)
	}
	answer(w, 201, map[string]any{"runId": id, "sourceRunId": source.id, "mode": body.Mode, "status": "pending", "eventsUrl": "/x"})
}

func answer(w http.ResponseWriter, status int, body any) {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	_ = json.NewEncoder(w).Encode(body)
}

func refuse(w http.ResponseWriter, status int, code string) {
	answer(w, status, map[string]any{"error": code, "message": "refused"})
}

func stamp(t time.Time) string { return t.UTC().Format(time.RFC3339Nano) }
