package hosthttp

import (
	"encoding/json"
	"errors"
	"io"
	"mime"
	"net/http"
	"strconv"
	"time"

	"github.com/wopwitness/wopwitness/mockhost/parts"
)

// maxBody bounds a request's body, in bytes; the largest that means anything is a few hundred.
const maxBody = 64 << 10

// errorBody is the closed error of both majors.
type errorBody struct {
	Error   string         `json:"error"`
	Message string         `json:"message"`
	Details map[string]any `json:"details,omitempty"`
}

func (s *server) problem(w http.ResponseWriter, p *parts.Problem) { WriteProblem(w, p) }

// WriteProblem sends a Problem as this host sends every error.
func WriteProblem(w http.ResponseWriter, p *parts.Problem) {
	if p.RetryAfter > 0 {
		seconds := int64((p.RetryAfter + time.Second - 1) / time.Second)
		w.Header().Set("Retry-After", strconv.FormatInt(seconds, 10))
	}
	if p.Status == http.StatusUnauthorized {
		w.Header().Set("WWW-Authenticate", "Bearer")
	}
	writeJSON(w, p.Status, errorBody{Error: p.Code, Message: p.Message, Details: p.Details})
}

func writeJSON(w http.ResponseWriter, status int, v any) {
	b, err := json.Marshal(v)
	if err != nil {
		// Only a details member that JSON can't hold leads here, and details are the host's own.
		status, b = http.StatusInternalServerError, []byte(`{"error":"internal_error","message":"the answer could not be encoded"}`)
	}
	writeBody(w, status, b)
}

func writeBody(w http.ResponseWriter, status int, b []byte) {
	h := w.Header()
	if len(b) > 0 {
		h.Set("Content-Type", "application/json")
		h.Set("Content-Length", strconv.Itoa(len(b)))
	}
	h.Set("Cache-Control", "no-store")
	w.WriteHeader(status)
	_, _ = w.Write(b) // a client that has left can't be told
}

// readBody reads a JSON request body within its bound, or returns a Problem.
func readBody(w http.ResponseWriter, r *http.Request) ([]byte, error) {
	media, params, err := mime.ParseMediaType(r.Header.Get("Content-Type"))
	charset, given := params["charset"]
	if err != nil || media != "application/json" || given && charset != "utf-8" && charset != "UTF-8" {
		return nil, &parts.Problem{
			Status: http.StatusUnsupportedMediaType, Code: "unsupported_media_type", Message: "the body must be application/json",
		}
	}
	b, err := io.ReadAll(http.MaxBytesReader(w, r.Body, maxBody))
	var tooLarge *http.MaxBytesError
	switch {
	case errors.As(err, &tooLarge):
		return nil, &parts.Problem{
			Status: http.StatusRequestEntityTooLarge, Code: "payload_too_large",
			Message: "the body is larger than " + strconv.Itoa(maxBody) + " bytes",
		}
	case err != nil:
		return nil, parts.Invalid("the body could not be read")
	}
	return b, nil
}
