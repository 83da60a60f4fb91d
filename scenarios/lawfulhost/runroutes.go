package lawfulhost

import (
	"cmp"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strconv"
	"strings"
)

// runRoute serves what is below the collection of runs; rest is the path behind it as it was sent. It says false where
// the host has no such route.
func (h *Host) runRoute(w http.ResponseWriter, r *http.Request, major int, rest string) bool {
	segment, door, _ := strings.Cut(rest, "/")
	verb := ""
	if at := strings.LastIndexByte(segment, ':'); at >= 0 {
		segment, verb = segment[:at], segment[at+1:]
	}
	forks := verb == "fork" && !h.options.NoFork
	switch {
	case verb != "" && !forks, verb != "" && door != "":
		return false
	case door != "" && door != "events" && door != "events/poll", door == "events/poll" && major == 1 && h.options.NoPoll:
		return false
	}
	method, scope := http.MethodGet, "runs:read"
	if forks {
		method, scope = http.MethodPost, "runs:create"
	}
	h.as(w, r, method, scope, func(w http.ResponseWriter, r *http.Request, p principal) {
		run := h.open(w, p, major, runName(major, segment, p), forks)
		switch {
		case run == nil:
		case forks:
			h.forkRun(w, r, p, major, run)
		case door == "events":
			h.streamRun(w, r, major, run)
		case door == "events/poll":
			h.pollRun(w, r, major, run)
		default:
			h.answer(w, http.StatusOK, h.snapshot(run, major))
		}
	})
	return true
}

// runName reads the segment of a path. Major 2 projects an id, and takes the percent form and the bare opaque one too.
func runName(major int, segment string, p principal) string {
	plain, err := url.PathUnescape(segment)
	if err != nil || major == 1 {
		return plain
	}
	var b strings.Builder
	for i := 0; i < len(plain); i++ {
		if n, err := strconv.ParseUint(plain[min(i+1, len(plain)):min(i+3, len(plain))], 16, 8); plain[i] == '~' && err == nil {
			b.WriteByte(byte(n))
			i += 2
			continue
		}
		b.WriteByte(plain[i])
	}
	if name := b.String(); strings.Contains(name, "/") {
		return name
	}
	return p.tenant + "/" + b.String()
}

// open finds a run that the caller may see, or answers why there is none and gives nil.
func (h *Host) open(w http.ResponseWriter, p principal, major int, name string, forks bool) *run {
	o := h.options
	tenant, _, bound := strings.Cut(name, "/")
	if major >= 2 && bound && tenant != p.tenant && !o.HidesForeign {
		h.fail(w, http.StatusForbidden, "id_tenant_mismatch", "that run is not yours")
		return nil
	}
	found, purged := h.find(major, name)
	if found != nil && found.tenant == p.tenant && !purged {
		return found
	}
	status, code, message := http.StatusNotFound, "not_found", "no such run"
	if major == 1 {
		code = "run_not_found"
	}
	code = cmp.Or(o.NotFoundCode, code)
	if o.OtherMessage {
		message += ": " + name
	}
	switch {
	case found == nil || found.tenant != p.tenant:
	case !forks && o.Purged != 0:
		status, code, message = o.Purged, "run_expired", "the run's days are over"
	case forks && o.PurgedFork != 0 && major >= 2:
		status, code, message = o.PurgedFork, "fork_point_invalid", "that run is over and gone"
	}
	h.fail(w, status, code, message)
	return nil
}

// createRun makes a run of a fixture.
func (h *Host) createRun(major int) func(http.ResponseWriter, *http.Request, principal) {
	return func(w http.ResponseWriter, r *http.Request, p principal) {
		raw, err := io.ReadAll(http.MaxBytesReader(w, r.Body, 1<<16))
		var body struct {
			WorkflowID   string
			Configurable map[string]any
		}
		if err == nil {
			err = json.Unmarshal(raw, &body)
		}
		if err != nil {
			h.fail(w, http.StatusBadRequest, "validation_error", "the body cannot be read")
			return
		}
		if !contains(h.options.seeded(), body.WorkflowID) {
			status, code := http.StatusNotFound, "not_found"
			if major == 1 {
				status, code = http.StatusBadRequest, "workflow_not_found"
			}
			h.fail(w, cmp.Or(h.options.UnknownFlow, status), code, "no such workflow")
			return
		}
		h.once(w, r, p, raw, func() (int, any) {
			status := http.StatusCreated
			if major == 1 && h.options.Created != 0 {
				status = h.options.Created
			}
			return status, h.madeAnswer(h.begin(p, body.WorkflowID, body.Configurable), major)
		})
	}
}

// forkRun answers a fork, or refuses it.
func (h *Host) forkRun(w http.ResponseWriter, r *http.Request, p principal, major int, source *run) {
	raw, err := io.ReadAll(http.MaxBytesReader(w, r.Body, 1<<16))
	var body struct {
		Mode              string
		FromSeq           *int64
		RunOptionsOverlay struct{ Configurable map[string]any }
	}
	if err == nil {
		err = json.Unmarshal(raw, &body)
	}
	log := source.shown(h.clock.now())
	switch {
	case err != nil:
		h.fail(w, http.StatusBadRequest, "validation_error", "the body cannot be read")
	case body.Mode != "replay" && (body.Mode != "branch" || h.options.ReplayOnly):
		h.fail(w, http.StatusBadRequest, "validation_error", "no such mode")
	case body.Mode == "replay" && len(body.RunOptionsOverlay.Configurable) > 0:
		h.fail(w, http.StatusBadRequest, "validation_error", "a replay takes no overlay")
	case body.Mode == "branch" && body.FromSeq == nil:
		h.fail(w, http.StatusBadRequest, "validation_error", "a branch needs fromSeq")
	case body.FromSeq != nil && !h.holds(log, *body.FromSeq):
		h.fail(w, http.StatusUnprocessableEntity, "fork_point_invalid", "the log has no such sequence")
	default:
		h.once(w, r, p, raw, func() (int, any) {
			child := h.fork(source, body.Mode, body.FromSeq, body.RunOptionsOverlay.Configurable)
			return http.StatusCreated, h.madeAnswer(child, major)
		})
	}
}

func (h *Host) holds(log []step, sequence int64) bool {
	place, exact := h.options.place(int(sequence))
	return exact && place < len(log)
}

// streamRun serves the log as a stream that closes behind the terminal event.
func (h *Host) streamRun(w http.ResponseWriter, r *http.Request, major int, run *run) {
	next := 0
	if last, err := strconv.Atoi(r.Header.Get("Last-Event-ID")); err == nil {
		place, _ := h.options.place(last)
		next = place + 1
	}
	w.Header().Set("Content-Type", "text/event-stream")
	w.WriteHeader(http.StatusOK)
	flush := http.NewResponseController(w)
	for {
		log := run.shown(h.clock.now())
		for ; next < len(log); next++ {
			event := h.shape(run, log[next], next, major)
			_, _ = fmt.Fprintf(w, "id: %d\nevent: %s\ndata: %s\n\n", h.options.sequence(next), event["type"], compact(event))
			if _, ends := log[next].ends(); ends {
				return
			}
		}
		_ = flush.Flush()
		if _, ends := run.ended(log); ends || !wait(r, h, runTick) {
			return
		}
	}
}

// pollRun answers a page of the log: what is after the sequence that was named.
func (h *Host) pollRun(w http.ResponseWriter, r *http.Request, major int, run *run) {
	name := "afterSequence"
	if major == 1 {
		name = cmp.Or(h.options.PollName, "lastSequence")
	}
	after, err := strconv.Atoi(cmp.Or(r.URL.Query().Get(name), "-1"))
	if err != nil {
		h.fail(w, http.StatusBadRequest, "validation_error", name+" is a whole number")
		return
	}
	after, _ = h.options.place(after)
	log := run.shown(h.clock.now())
	if h.options.HoldsPolls {
		seconds, _ := strconv.Atoi(r.URL.Query().Get("timeout"))
		for range seconds * int(secondOfTicks) {
			if _, ends := run.ended(log); ends || len(log) > after+1 || !wait(r, h, runTick) {
				break
			}
			log = run.shown(h.clock.now())
		}
	}
	events := []any{}
	to := len(log)
	if most := h.options.PollPage; most > 0 {
		to = min(to, max(after+1, 0)+most)
	}
	for i := max(after+1, 0); i < to; i++ {
		events = append(events, h.shape(run, log[i], i, major))
	}
	_, ends := run.ended(log)
	status, _ := run.status(h.clock.now())
	switch {
	case major == 1 && h.options.BareList:
		h.answer(w, http.StatusOK, events)
	case major == 1:
		h.answer(w, http.StatusOK, map[string]any{"events": events, "isComplete": ends})
	default:
		h.answer(w, http.StatusOK, map[string]any{"runId": run.id(2), "events": events, "lastSequence": h.options.sequence(to - 1),
			"status": status, "isTerminal": ends})
	}
}
