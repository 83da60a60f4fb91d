package hosthttp

import (
	"context"
	"encoding/json"
	"net/http"

	"github.com/wopwitness/wopwitness/mockhost/parts"
	"github.com/wopwitness/wopwitness/mockhost/store"
)

// emitted is the trigger's answer (RFC 0241).
type emitted struct {
	EventID string `json:"eventId"`
	Type    string `json:"type,omitempty"`
}

// trigger serves POST /host/events/test.
func (s *server) trigger(w http.ResponseWriter, r *http.Request) {
	p, err := s.admit(r, parts.ScopeWebhooksManage)
	if err == nil {
		err = s.parts.Gate.Throttle(p)
	}
	if err != nil {
		s.fail(w, r, err)
		return
	}
	body, err := readBody(w, r)
	if err != nil {
		s.fail(w, r, err)
		return
	}
	req, err := s.parts.Trigger.Decode(body)
	if err != nil {
		s.fail(w, r, err)
		return
	}
	s.once(w, r, p, "trigger", req, func(ctx context.Context, keep parts.Keep) (parts.Answer, error) {
		if err := s.parts.Trigger.Scope(p, req.Workspace); err != nil {
			return parts.Answer{}, err
		}
		draft, err := s.parts.Trigger.Draft(p, req)
		if err != nil {
			return parts.Answer{}, err
		}
		return s.emit(ctx, p, draft, true, keep)
	})
}

// emit appends the draft and makes the answer; where an answer is to be kept, both are one transaction.
func (s *server) emit(ctx context.Context, p parts.Principal, d parts.Draft, withType bool, keep parts.Keep) (parts.Answer, error) {
	answer := func(e store.Event) (parts.Answer, error) {
		a := emitted{EventID: e.ID}
		if withType {
			a.Type = e.Type
		}
		b, err := json.Marshal(a)
		return parts.Answer{Status: http.StatusAccepted, Body: b}, err
	}
	var also func(store.Tx, store.Event) error
	if keep != nil {
		also = func(tx store.Tx, e store.Event) error {
			a, err := answer(e)
			if err != nil {
				return err
			}
			return keep(tx, a)
		}
	}
	e, err := s.parts.Log.Append(ctx, p, d, also)
	if err != nil {
		return parts.Answer{}, err
	}
	return answer(e)
}

// once runs a mutating request under its Idempotency-Key and sends the answer. Bodies are compared as they were read:
// white space and the order of members make no other request.
func (s *server) once(w http.ResponseWriter, r *http.Request, p parts.Principal, operation string, body any,
	effect func(context.Context, parts.Keep) (parts.Answer, error),
) {
	req := parts.Request{Operation: operation}
	if keys := r.Header.Values("Idempotency-Key"); len(keys) > 0 {
		print, err := json.Marshal(body)
		if err != nil {
			s.fail(w, r, err)
			return
		}
		req.Given, req.Fingerprint = true, string(print)
		if len(keys) == 1 {
			req.Key = keys[0]
		}
	}
	a, replayed, err := s.parts.Idempotency.Run(r.Context(), p, req, effect)
	if err != nil {
		s.fail(w, r, err)
		return
	}
	if replayed {
		w.Header().Set("OpenWOP-Idempotent-Replay", "true")
	}
	writeBody(w, a.Status, a.Body)
}
