// Package hosthttp is the mock host on the wire: routes, versions, bodies, error answers and event streams.
//
// It decides nothing that a port of package parts decides; it reads a request, asks the ports in order, and writes what
// they say. Start at Handler; stream.go is GET /host/events, trigger.go the test trigger, seams.go the seams.
package hosthttp

import (
	"context"
	"errors"
	"log/slog"
	"net/http"
	"slices"
	"sync"
	"time"

	"github.com/go-chi/chi/v5"

	"github.com/wopwitness/wopwitness/mockhost/parts"
	"github.com/wopwitness/wopwitness/mockhost/store"
)

// Options is what the transport needs beside the ports.
type Options struct {
	Majors []int
	Seams  bool
	// CORSOrigin allows one origin ("*" for all) to call from a browser; "" allows none.
	CORSOrigin string
	Logger     *slog.Logger
	// Closing ends streams when it is closed.
	Closing <-chan struct{}
	// Kill ends the process at once, for the seam that asks for it; nil leaves that seam unmounted.
	Kill func()
	// Scrape answers Prometheus with a tenant's metrics; nil leaves /metrics unmounted.
	Scrape func(w http.ResponseWriter, r *http.Request, tenant string) error
	// WriteTimeout bounds one write to a stream whose reader has stopped, in real time.
	WriteTimeout time.Duration
}

type server struct {
	Options
	parts   *parts.Parts
	batches sync.Pool // of *[]byte; a stream holds one only while it writes
}

// Handler serves the host. The ports may not change once it was made.
func Handler(p *parts.Parts, o Options) http.Handler {
	s := &server{Options: o, parts: p}
	r := chi.NewRouter()
	r.NotFound(func(w http.ResponseWriter, _ *http.Request) { s.problem(w, parts.NotFound("path")) })
	r.MethodNotAllowed(func(w http.ResponseWriter, _ *http.Request) {
		s.problem(w, &parts.Problem{
			Status: http.StatusMethodNotAllowed, Code: "method_not_allowed", Message: "this path doesn't take that method",
		})
	})
	d := newDiscovery(s)
	r.Get(discoveryPath, d.serve)
	r.Head(discoveryPath, d.serve)
	if slices.Contains(o.Majors, 2) {
		r.Get("/host/events", s.version2(s.stream))
		if p.Trigger.Served() {
			r.Post("/host/events/test", s.version2(s.trigger))
		}
	}
	for _, m := range o.Majors {
		r.Get(workflowsPath(m)+"{workflowId}", s.version(m, func(w http.ResponseWriter, r *http.Request) {
			s.readWorkflow(w, r, chi.URLParam(r, "workflowId"))
		}))
	}
	if o.Seams {
		s.mountSeams(r)
	}
	if o.Scrape != nil {
		r.Get("/metrics", s.scrape)
	}
	h := s.runs(r)
	if o.CORSOrigin != "" {
		h = s.cors(h)
	}
	return s.recovered(p.Front.Wrap(h))
}

// recovered answers a panic with the host's own 500, where nothing was sent yet.
func (s *server) recovered(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		defer func() {
			if v := recover(); v != nil {
				if err, ok := v.(error); ok && errors.Is(err, http.ErrAbortHandler) {
					panic(v)
				}
				s.Logger.Error("a request made the host panic", "method", r.Method, "path", r.URL.Path, "panic", v)
				s.problem(w, internal())
			}
		}()
		next.ServeHTTP(w, r)
	})
}

func internal() *parts.Problem {
	return &parts.Problem{
		Status: http.StatusInternalServerError, Code: "internal_error", Message: "the host failed to answer this request",
	}
}

// Away is the answer while the store can't be reached: come back in a moment.
func Away() *parts.Problem {
	return &parts.Problem{
		Status: http.StatusServiceUnavailable, Code: "service_unavailable", Message: "the host can't reach its data for now",
		RetryAfter: time.Second,
	}
}

// fail answers an error: a Problem as it says, a store that is closing or away with 503, anything else with 500 and a log line.
func (s *server) fail(w http.ResponseWriter, r *http.Request, err error) {
	var p *parts.Problem
	switch {
	case errors.As(err, &p):
	case errors.Is(err, store.ErrClosed), errors.Is(err, parts.ErrStreamOver):
		p = &parts.Problem{
			Status: http.StatusServiceUnavailable, Code: "service_unavailable", Message: "the host is stopping",
			RetryAfter: time.Second,
		}
	case errors.Is(err, store.ErrUnavailable) && r.Context().Err() == nil:
		s.Logger.Warn("the store is away", "method", r.Method, "path", r.URL.Path, "error", err)
		p = Away()
	case errors.Is(err, context.Canceled) && r.Context().Err() != nil:
		return // the client has left
	default:
		s.Logger.Error("a request failed", "method", r.Method, "path", r.URL.Path, "error", err)
		p = internal()
	}
	s.problem(w, p)
}

func (s *server) cors(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		h := w.Header()
		h.Add("Vary", "Origin")
		origin := r.Header.Get("Origin")
		if origin == "" || s.CORSOrigin != "*" && origin != s.CORSOrigin {
			next.ServeHTTP(w, r)
			return
		}
		h.Set("Access-Control-Allow-Origin", s.CORSOrigin)
		h.Set("Access-Control-Expose-Headers", "ETag, OpenWOP-Version, OpenWOP-Idempotent-Replay, Retry-After")
		if r.Method == http.MethodOptions && r.Header.Get("Access-Control-Request-Method") != "" {
			h.Set("Access-Control-Allow-Methods", "GET, HEAD, POST, OPTIONS")
			h.Set("Access-Control-Allow-Headers",
				"Authorization, Content-Type, Idempotency-Key, If-None-Match, Last-Event-ID, OpenWOP-Version")
			h.Set("Access-Control-Max-Age", "600")
			w.WriteHeader(http.StatusNoContent)
			return
		}
		next.ServeHTTP(w, r)
	})
}
