package hosthttp

import (
	"context"
	"net/http"
	"slices"
	"time"

	"github.com/go-chi/chi/v5"

	"github.com/wopwitness/wopwitness/mockhost/closedjson"
	"github.com/wopwitness/wopwitness/mockhost/conforming"
	"github.com/wopwitness/wopwitness/mockhost/parts"
)

// maxAdvance bounds one move of the clock: a hundred years, in seconds.
const maxAdvance = 100 * 365 * 24 * 3600

// mountSeams serves the seams of each major under its own prefix. A seam only causes: the ports don't know of it.
func (s *server) mountSeams(r chi.Router) {
	mount := func(major int, prefix string, wrap func(http.HandlerFunc) http.HandlerFunc) {
		r.Post(prefix+"/deadletter/exhaust", wrap(s.exhaustSeam(major)))
		r.Get(prefix+"/deadletter/entries", wrap(s.entriesSeam(major)))
		r.Get(prefix+"/clock", wrap(s.readClock))
		r.Post(prefix+"/clock/advance", wrap(s.advanceClock))
		r.Post(prefix+"/host-events/emit", wrap(s.emitSeam))
		r.Post(prefix+"/host-events/remove", wrap(s.removeSeam))
		s.mountAgent(r, prefix, wrap)
		if s.Kill != nil {
			r.Post(prefix+"/process/kill", wrap(s.killSeam))
		}
	}
	if slices.Contains(s.Majors, 1) {
		mount(1, "/v1/host/sample", func(h http.HandlerFunc) http.HandlerFunc { return h })
	}
	if slices.Contains(s.Majors, 2) {
		mount(2, "/conformance/seams/sample", s.version2)
	}
}

func (s *server) readClock(w http.ResponseWriter, r *http.Request) {
	if _, err := s.parts.Gate.Admit(r); err != nil {
		s.fail(w, r, err)
		return
	}
	writeJSON(w, http.StatusOK, map[string]any{
		"now": s.parts.Clock.Now().UTC().Format(conforming.TimeLayout), "mode": s.parts.Clock.Mode(),
	})
}

// seamBody admits the caller and reads the seam's closed body.
func (s *server) seamBody(w http.ResponseWriter, r *http.Request, members map[string]any, required ...string) (parts.Principal, error) {
	p, err := s.parts.Gate.Admit(r)
	if err != nil {
		return p, err
	}
	b, err := readBody(w, r)
	if err != nil {
		return p, err
	}
	if err := closedjson.Object(b, members, required...); err != nil {
		return p, parts.Invalid("%s", err)
	}
	return p, nil
}

func (s *server) advanceClock(w http.ResponseWriter, r *http.Request) {
	var seconds int
	_, err := s.seamBody(w, r, map[string]any{"seconds": &seconds}, "seconds")
	if err == nil && (seconds < 1 || seconds > maxAdvance) {
		err = parts.Invalid("seconds must be from 1 to %d", maxAdvance)
	}
	if err != nil {
		s.fail(w, r, err)
		return
	}
	now, err := s.parts.Clock.Advance(r.Context(), time.Duration(seconds)*time.Second)
	if err != nil {
		s.fail(w, r, err)
		return
	}
	writeJSON(w, http.StatusOK, map[string]any{"now": now.UTC().Format(conforming.TimeLayout)})
}

func (s *server) emitSeam(w http.ResponseWriter, r *http.Request) {
	var body struct {
		Type         string
		Workspace    *string
		PayloadBytes int
	}
	p, err := s.seamBody(w, r, map[string]any{
		"type": &body.Type, "workspaceId": &body.Workspace, "payloadBytes": &body.PayloadBytes,
	}, "type")
	workspace := ""
	if err == nil && body.Workspace != nil {
		if workspace = *body.Workspace; workspace == "" {
			err = parts.Invalid("workspaceId may not be empty")
		}
	}
	if err != nil {
		s.fail(w, r, err)
		return
	}
	s.once(w, r, p, "seam.emit", body, func(ctx context.Context, keep parts.Keep) (parts.Answer, error) {
		draft, err := s.parts.Emitter.Draft(p, body.Type, workspace, body.PayloadBytes)
		if err != nil {
			return parts.Answer{}, err
		}
		return s.emit(ctx, p, draft, false, keep)
	})
}

func (s *server) removeSeam(w http.ResponseWriter, r *http.Request) {
	var id string
	p, err := s.seamBody(w, r, map[string]any{"eventId": &id}, "eventId")
	if err != nil {
		s.fail(w, r, err)
		return
	}
	removed, err := s.parts.Log.Remove(r.Context(), p, id)
	switch {
	case err != nil:
		s.fail(w, r, err)
	case !removed:
		s.problem(w, parts.NotFound("event"))
	default:
		writeBody(w, http.StatusNoContent, nil)
	}
}

// killSeam answers, and lets the process die before anything else is tidied up. Its body is empty, or an empty object.
func (s *server) killSeam(w http.ResponseWriter, r *http.Request) {
	_, err := s.parts.Gate.Admit(r)
	if err == nil && r.ContentLength != 0 {
		_, err = s.seamBody(w, r, map[string]any{})
	}
	if err != nil {
		s.fail(w, r, err)
		return
	}
	w.Header().Set("Content-Length", "0") // so that the answer is whole when the process dies
	writeBody(w, http.StatusAccepted, nil)
	_ = http.NewResponseController(w).Flush() // a connection that breaks says the same
	s.Kill()
}
