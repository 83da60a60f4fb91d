// Package toolserver is the tools that a scripted incident is played with: a real HTTP server that fails as it was told
// to, and the client by which a worker calls a tool.
//
// The server decides nothing and remembers nothing: what a tool answers next, and what was counted, is its Book's. The
// client knows nothing of scripts: it reads an answer as it would any tool's. Start at Server and Caller.
package toolserver

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/wopwitness/wopwitness/mockhost/parts"
)

// The headers of a call, besides those of HTTP and of W3C Trace Context.
const (
	// KeyHeader is the idempotency key: the run and the step.
	KeyHeader     = "Idempotency-Key"
	attemptHeader = "Agent-Attempt"
	// AnswersHeader is for how long, at most, a tool that has taken a call may be silent, as a Go duration; in an interim
	// answer.
	AnswersHeader = "Agent-Answers-Within"
)

// silentAfter is what a tool says that will not answer.
const silentAfter = 20 * time.Millisecond

// argsLimit bounds the arguments that the server reads, in bytes.
const argsLimit = 1 << 20

// Book is the scripts of the tools and what is counted of them.
type Book interface {
	// Take lets a call arrive at its tool: it takes the next outcome of the script and counts the call, and its side effect
	// where it has one, durably. known is false where the tenant has no such tool.
	Take(ctx context.Context, c parts.ToolCall) (outcome parts.ToolOutcome, known bool, err error)
}

// Server answers calls as the book says.
type Server struct {
	book    Book
	server  *http.Server
	url     string
	served  chan struct{}
	closing chan struct{}
	once    sync.Once
}

// Listen starts the server on a free port of the loopback interface.
func Listen(book Book) (*Server, error) {
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return nil, fmt.Errorf("start the tool server: %w", err)
	}
	s := &Server{book: book, url: "http://" + ln.Addr().String(), served: make(chan struct{}), closing: make(chan struct{})}
	s.server = &http.Server{Handler: s, ReadHeaderTimeout: 10 * time.Second}
	go func() {
		defer close(s.served)
		_ = s.server.Serve(ln) // it ends with Close alone
	}()
	return s, nil
}

// URL is where a Caller finds the tools.
func (s *Server) URL() string { return s.url }

// Close ends the calls under way, and waits for the server's end.
func (s *Server) Close() error {
	var err error
	s.once.Do(func() {
		close(s.closing)
		err = s.server.Close()
		<-s.served
	})
	return err
}

// ServeHTTP takes one call.
func (s *Server) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	call, err := readCall(w, r)
	if err != nil {
		answer(w, http.StatusBadRequest, map[string]any{"error": err.Error()})
		return
	}
	out, known, err := s.book.Take(r.Context(), call)
	if err != nil || !known {
		// Whoever is not there doesn't answer, and neither does a tool whose book is out of reach.
		panic(http.ErrAbortHandler)
	}
	if out.DelayMs > 0 && !s.pause(r, time.Duration(out.DelayMs)*time.Millisecond) {
		panic(http.ErrAbortHandler)
	}
	if out.Outcome == parts.ToolTimeout {
		// A caller that went by its own patience alone would keep everyone waiting for it, and on a busy machine a short
		// patience would take tools for silent that are not.
		w.Header().Set(AnswersHeader, silentAfter.String())
		w.WriteHeader(http.StatusEarlyHints)
		s.pause(r, time.Hour)
		panic(http.ErrAbortHandler)
	}
	reply(w, call, out)
}

// pause waits in real time; false when the caller gave up or the server is closing.
func (s *Server) pause(r *http.Request, d time.Duration) bool {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
		return true
	case <-r.Context().Done():
	case <-s.closing:
	}
	return false
}

func readCall(w http.ResponseWriter, r *http.Request) (parts.ToolCall, error) {
	names := strings.Split(strings.TrimPrefix(r.URL.EscapedPath(), "/"), "/")
	if r.Method != http.MethodPost || len(names) != 2 {
		return parts.ToolCall{}, fmt.Errorf("a call is POST /{tenant}/{tool}, not %s %s", r.Method, r.URL.Path)
	}
	tenant, err := url.PathUnescape(names[0])
	if err != nil {
		return parts.ToolCall{}, fmt.Errorf("the tenant's name: %w", err)
	}
	tool, err := url.PathUnescape(names[1])
	if err != nil {
		return parts.ToolCall{}, fmt.Errorf("the tool's name: %w", err)
	}
	key := r.Header.Get(KeyHeader)
	slash := strings.LastIndexByte(key, '/')
	if slash < 1 {
		return parts.ToolCall{}, fmt.Errorf("%s %q: it is the run and the step, with a slash between", KeyHeader, key)
	}
	step, err := strconv.Atoi(key[slash+1:])
	if err != nil {
		return parts.ToolCall{}, fmt.Errorf("%s %q: the step: %w", KeyHeader, key, err)
	}
	attempt, err := strconv.Atoi(r.Header.Get(attemptHeader))
	if err != nil {
		return parts.ToolCall{}, fmt.Errorf("%s: %w", attemptHeader, err)
	}
	args, err := io.ReadAll(http.MaxBytesReader(w, r.Body, argsLimit))
	if err != nil {
		return parts.ToolCall{}, fmt.Errorf("the arguments: %w", err)
	}
	return parts.ToolCall{
		Tenant: tenant, Tool: tool, Run: key[:slash], Step: step, Attempt: attempt, Args: args, Trace: r.Header.Get("Traceparent"),
	}, nil
}

// failures are the outcomes that are a status and a text. Each text quotes the arguments, as careless tools do.
func failures() map[string]struct {
	status int
	says   string
} {
	return map[string]struct {
		status int
		says   string
	}{
		parts.ServerError:   {http.StatusInternalServerError, "something broke while working on %s"},
		parts.RateLimited:   {http.StatusTooManyRequests, "too many calls; refused this time: %s"},
		parts.Locked:        {http.StatusLocked, "a record is held by another; can't work on %s"},
		parts.BadRequest:    {http.StatusBadRequest, "the arguments have the wrong form: %s"},
		parts.SemanticError: {http.StatusUnprocessableEntity, "the arguments make no sense together: %s"},
		parts.Unauthorized:  {http.StatusUnauthorized, "the credential is refused; asked for %s"},
		parts.Gone:          {http.StatusGone, "this tool was taken away; asked for %s"},
	}
}

func reply(w http.ResponseWriter, c parts.ToolCall, out parts.ToolOutcome) {
	switch f, failed := failures()[out.Outcome]; {
	case failed:
		if out.Outcome == parts.RateLimited && out.RetryAfterSeconds > 0 {
			w.Header().Set("Retry-After", strconv.Itoa(out.RetryAfterSeconds))
		}
		answer(w, f.status, map[string]any{"error": fmt.Sprintf(f.says, c.Args)})
	case out.Outcome == parts.MalformedAnswer:
		w.Header().Set("Content-Type", "application/json")
		fmt.Fprintf(w, `{"result": {"of": %q, "so": [1, 2`, c.Args)
	default:
		answer(w, http.StatusOK, map[string]any{"result": map[string]any{"tool": c.Tool, "step": c.Step}})
	}
}

func answer(w http.ResponseWriter, status int, body map[string]any) {
	text, err := json.Marshal(body)
	if err != nil { // nothing but texts and numbers is in it
		panic(err)
	}
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	_, _ = w.Write(text)
}
