package lawfulhost

import (
	"net/http"
	"time"
)

// stream serves the channel of host events (RFC 0236), and strict replay on it (RFC 0250).
func (h *Host) stream(w http.ResponseWriter, r *http.Request, p principal) {
	mode, cursor := r.URL.Query().Get("replay"), r.Header.Get("Last-Event-ID")
	if mode != "" && mode != "required" && h.options.ReplayValue {
		h.fail(w, http.StatusBadRequest, "validation_error", "replay takes the value required")
		return
	}
	if !wait(r, h, h.options.LiveFirst) {
		return
	}
	log, rd := h.tenants[p.tenant], newReader(p.workspace)
	switch {
	case log.join(rd, cursor, h.usable):
	case mode == "required" && !h.options.NoReplay:
		h.refuse(w)
		return
	case h.options.LegacyReplays:
		log.joinFromStart(rd)
	default:
		log.join(rd, "", nil)
	}
	defer log.leave(rd)

	media := "text/event-stream"
	if h.options.MediaParameter {
		media = "Text/Event-Stream;charset=UTF-8"
	}
	w.Header().Set("Content-Type", media)
	w.Header().Set("Cache-Control", "no-store")
	w.WriteHeader(http.StatusOK)
	h.follow(r, rd, newFramer(h.options.Framing, w))
}

// usable says whether an event that is still kept may serve as a cursor (RFC 0250 §C: the bound is a floor).
func (h *Host) usable(e hostEvent) bool { return h.options.ResumesExpired || !h.expired(e) }

func (h *Host) expired(e hostEvent) bool {
	return h.clock.now().Sub(e.At) >= time.Duration(h.options.Retention)*time.Second
}

// refuse is the one refusal, the same bytes whatever the cursor was.
func (h *Host) refuse(w http.ResponseWriter) {
	body := problem{Error: "host_event_resync_required", Message: "this position cannot be resumed; take a new baseline"}
	if h.options.Details {
		body.Details = map[string]any{"advice": "resync"}
	}
	h.answer(w, http.StatusConflict, body)
}

// follow writes what the reader gets until somebody ends the stream.
func (h *Host) follow(r *http.Request, rd *reader, f *framer) {
	var life <-chan time.Time
	if h.options.Life > 0 {
		timer := time.NewTimer(h.options.Life)
		defer timer.Stop()
		life = timer.C
	}
	var beat <-chan time.Time
	if h.options.Heartbeat > 0 {
		ticker := time.NewTicker(h.options.Heartbeat)
		defer ticker.Stop()
		beat = ticker.C
	}
	f.open()
	for {
		for _, a := range rd.take() {
			takes := h.options.Delivery
			if a.event.Delivery == classEphemeral {
				takes += h.options.Ephemeral
			}
			if !a.committed.IsZero() && !wait(r, h, takes-time.Since(a.committed)) {
				return
			}
			f.event(a)
		}
		select {
		case <-rd.wake:
		case <-beat:
			f.heartbeat()
		case <-life:
			if h.options.End == EndReset {
				panic(http.ErrAbortHandler)
			}
			return
		case <-r.Context().Done():
			return
		case <-h.closing.Done():
			return
		}
	}
}

// wait says false where the request or the host ended first.
func wait(r *http.Request, h *Host, d time.Duration) bool {
	if d <= 0 {
		return true
	}
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
		return true
	case <-r.Context().Done():
	case <-h.closing.Done():
	}
	return false
}
