package lawfulhost

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"slices"
	"sync"
	"time"
)

// trigger serves the test trigger (RFC 0241).
func (h *Host) trigger(w http.ResponseWriter, r *http.Request, p principal) {
	if h.options.Rate > 0 && !h.rate.allow(h.options.Rate, time.Now()) {
		w.Header().Set("Retry-After", "1")
		h.fail(w, http.StatusTooManyRequests, "rate_limited", "too many triggers")
		return
	}
	members, raw, ok := h.closedBody(w, r, "delivery", "workspaceId")
	if !ok {
		return
	}
	at := slices.IndexFunc(h.types, func(t listedType) bool { return t.Type == reservedType(members["delivery"]) })
	if at < 0 {
		h.fail(w, http.StatusBadRequest, "validation_error", "delivery must be a class that is listed")
		return
	}
	if !h.mayName(w, p, members["workspaceId"]) {
		return
	}
	h.once(w, r, p, raw, func() (int, any) {
		e := h.mint(h.types[at], members["workspaceId"], json.RawMessage(`{}`))
		h.commitLater(p.tenant, e)
		wait(r, h, h.options.Answer)
		return http.StatusAccepted, map[string]any{"eventId": e.ID, "type": e.Type}
	})
}

// commitLater commits now, or after the answer where the options say so.
func (h *Host) commitLater(tenant string, e hostEvent) {
	if h.options.Commit <= 0 {
		h.tenants[tenant].commit(e)
		return
	}
	h.work.Go(func() {
		timer := time.NewTimer(h.options.Commit)
		defer timer.Stop()
		select {
		case <-timer.C:
			h.tenants[tenant].commit(e)
		case <-h.closing.Done():
		}
	})
}

// closedBody reads an object whose members are strings with the given names and nothing else.
func (h *Host) closedBody(w http.ResponseWriter, r *http.Request, names ...string) (map[string]string, []byte, bool) {
	raw, err := io.ReadAll(http.MaxBytesReader(w, r.Body, 1<<16))
	var members map[string]string
	if err == nil {
		err = json.Unmarshal(raw, &members)
	}
	if err == nil && members == nil {
		err = fmt.Errorf("null")
	}
	for name, value := range members {
		if !slices.Contains(names, name) || value == "" {
			err = fmt.Errorf("a member that is unknown or empty")
		}
	}
	// Unmarshal reads null as an empty string.
	if err == nil && bytes.Contains(raw, []byte("null")) {
		err = fmt.Errorf("null member")
	}
	if err != nil {
		h.fail(w, http.StatusBadRequest, "validation_error", "the body is not what this operation takes")
		return nil, nil, false
	}
	return members, raw, true
}

// mayName answers for a workspace that the caller's tenant doesn't have.
func (h *Host) mayName(w http.ResponseWriter, p principal, workspace string) bool {
	owner, known := workspaces()[workspace]
	switch {
	case workspace == "", owner == p.tenant:
		return true
	case known && !h.options.HidesWorkspaces:
		h.fail(w, http.StatusForbidden, "id_tenant_mismatch", "that workspace is not yours")
	default:
		h.fail(w, http.StatusNotFound, "not_found", "no such workspace")
	}
	return false
}

// answerBook remembers first answers under their idempotency keys.
type answerBook struct {
	mu    sync.Mutex
	pages map[string]page
}

type page struct {
	request []byte
	status  int
	answer  []byte
}

// once gives the effect once a key and body. The lock is held meanwhile, so a second request with the key waits and is
// answered as a repetition.
func (h *Host) once(w http.ResponseWriter, r *http.Request, p principal, body []byte, effect func() (int, any)) {
	key := r.Header.Get("Idempotency-Key")
	if key == "" {
		status, answer := effect()
		h.answer(w, status, answer)
		return
	}
	key = p.tenant + "\x00" + r.URL.Path + "\x00" + key
	h.answers.mu.Lock()
	defer h.answers.mu.Unlock()
	if first, seen := h.answers.pages[key]; seen {
		if !bytes.Equal(first.request, body) {
			h.fail(w, http.StatusConflict, "idempotency_key_mismatch", "that key was used with another body")
			return
		}
		w.Header().Set("OpenWOP-Idempotent-Replay", "true")
		h.send(w, first.status, first.answer)
		return
	}
	status, answer := effect()
	encoded := h.encode(answer)
	if h.answers.pages == nil {
		h.answers.pages = map[string]page{}
	}
	h.answers.pages[key] = page{request: body, status: status, answer: encoded}
	h.send(w, status, encoded)
}

// rateWindow counts the triggers of the current second.
type rateWindow struct {
	mu    sync.Mutex
	began time.Time
	used  int
}

func (r *rateWindow) allow(most int, now time.Time) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	if now.Sub(r.began) >= time.Second {
		r.began, r.used = now, 0
	}
	r.used++
	return r.used <= most
}
