package lawfulhost

import (
	"encoding/json"
	"io"
	"net/http"
	"slices"
	"strings"
	"time"
)

// seam serves the seams. They cause and do nothing else. It says false where the seam is not mounted.
func (h *Host) seam(w http.ResponseWriter, r *http.Request, major int, name string) bool {
	o := h.options
	events := o.Seams && major >= 2 && !o.NoHostEvents
	switch {
	case name == "clock" && o.Seams:
		h.as(w, r, http.MethodGet, "", h.readClock)
	case name == "clock/advance" && o.Seams:
		h.as(w, r, http.MethodPost, "", h.advance)
	case name == "host-events/emit" && events:
		h.as(w, r, http.MethodPost, "", h.emit)
	case name == "host-events/remove" && events:
		h.as(w, r, http.MethodPost, "", h.remove)
	case name == "deadletter/exhaust" && o.Exhaust:
		h.as(w, r, http.MethodPost, "", h.exhaust(major))
	case name == "deadletter/entries" && o.Entries:
		h.as(w, r, http.MethodGet, "", h.entries(major))
	case o.Agent && o.Seams && strings.HasPrefix(name, "agent-dlq/"):
		h.as(w, r, r.Method, "", h.agents(agentPath(r)))
	default:
		return false
	}
	return true
}

func (h *Host) readClock(w http.ResponseWriter, _ *http.Request, _ principal) {
	mode := "manual"
	if h.options.RealClock {
		mode = "real"
	}
	h.answer(w, http.StatusOK, map[string]any{"now": h.clock.now().UTC().Format(time.RFC3339Nano), "mode": mode})
}

func (h *Host) advance(w http.ResponseWriter, r *http.Request, _ principal) {
	var body struct{ Seconds int64 }
	if err := json.NewDecoder(r.Body).Decode(&body); err != nil || body.Seconds < 1 {
		h.fail(w, http.StatusBadRequest, "validation_error", "seconds must be a whole number from 1")
		return
	}
	if h.options.RealClock {
		h.fail(w, http.StatusConflict, "run_state_conflict", "the clock is the real one")
		return
	}
	h.clock.advance(time.Duration(body.Seconds) * time.Second)
	if !h.options.ResumesExpired {
		for _, log := range h.tenants {
			log.remove(h.expired)
		}
	}
	h.answer(w, http.StatusOK, map[string]any{"now": h.clock.now().UTC().Format(time.RFC3339Nano)})
}

// emit takes the host's own types only: the reserved ones come of the trigger and of nothing else (RFC 0241).
func (h *Host) emit(w http.ResponseWriter, r *http.Request, p principal) {
	var body struct {
		Type         string
		WorkspaceID  string
		PayloadBytes int
	}
	raw, err := io.ReadAll(http.MaxBytesReader(w, r.Body, 1<<16))
	if err == nil {
		err = json.Unmarshal(raw, &body)
	}
	at := slices.IndexFunc(h.types, func(t listedType) bool { return t.Type == body.Type })
	if err != nil || at < 0 || strings.HasPrefix(body.Type, "host-test.") || body.PayloadBytes < 0 || body.PayloadBytes > 1<<20 {
		h.fail(w, http.StatusBadRequest, "validation_error", "the seam emits a type of the host's own that is listed")
		return
	}
	if !h.mayName(w, p, body.WorkspaceID) {
		return
	}
	h.once(w, r, p, raw, func() (int, any) {
		payload := json.RawMessage(`{"filling":"` + strings.Repeat("x", body.PayloadBytes) + `"}`)
		e := h.mint(h.types[at], body.WorkspaceID, payload)
		h.commitLater(p.tenant, e)
		return http.StatusAccepted, map[string]any{"eventId": e.ID}
	})
}

func (h *Host) remove(w http.ResponseWriter, r *http.Request, p principal) {
	members, _, ok := h.closedBody(w, r, "eventId")
	if !ok {
		return
	}
	if h.tenants[p.tenant].remove(func(e hostEvent) bool { return e.ID == members["eventId"] }) == 0 {
		h.fail(w, http.StatusNotFound, "not_found", "no such event")
		return
	}
	w.WriteHeader(http.StatusNoContent)
}
