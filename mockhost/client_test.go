package mockhost_test

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/wopwitness/wopwitness/mockhost"
)

// deadline bounds every wait of these tests; none is meant to reach it.
const deadline = 20 * time.Second

// host is a running mock host and a plain client for it.
type host struct {
	t    *testing.T
	host *mockhost.Host
	url  string
	mockhost.Credentials
}

func start(t *testing.T, c mockhost.Config) *host {
	t.Helper()
	h, err := mockhost.New(t.Context(), c)
	if err != nil {
		t.Fatalf("start the host: %v", err)
	}
	return serve(t, h)
}

func serve(t *testing.T, h *mockhost.Host) *host {
	t.Helper()
	srv := httptest.NewServer(h.Handler())
	t.Cleanup(func() {
		if err := h.Shutdown(context.Background()); err != nil {
			t.Errorf("stop the host: %v", err)
		}
		srv.Close()
	})
	return &host{t: t, host: h, url: srv.URL, Credentials: h.Credentials()}
}

type answer struct {
	status int
	header http.Header
	body   string
}

// code is the error code of an error body.
func (a answer) code() string {
	var e struct {
		Error string `json:"error"`
	}
	if json.Unmarshal([]byte(a.body), &e) != nil {
		return ""
	}
	return e.Error
}

// do sends a request; headers are "Name: value" lines, and key goes as the bearer key unless it is empty.
func (h *host) do(method, path, key, body string, headers ...string) answer {
	h.t.Helper()
	ctx, cancel := context.WithTimeout(h.t.Context(), deadline)
	defer cancel()
	res := h.send(ctx, method, path, key, body, headers...)
	defer func() { _ = res.Body.Close() }()
	b, err := io.ReadAll(res.Body)
	if err != nil {
		h.t.Fatalf("%s %s: read the answer: %v", method, path, err)
	}
	return answer{res.StatusCode, res.Header, string(b)}
}

func (h *host) send(ctx context.Context, method, path, key, body string, headers ...string) *http.Response {
	h.t.Helper()
	req, err := http.NewRequestWithContext(ctx, method, h.url+path, strings.NewReader(body))
	if err != nil {
		h.t.Fatal(err)
	}
	if key != "" {
		req.Header.Set("Authorization", "Bearer "+key)
	}
	if method == http.MethodPost {
		req.Header.Set("Content-Type", "application/json")
	}
	for _, line := range headers {
		name, value, _ := strings.Cut(line, ": ")
		if value == "" {
			req.Header.Del(name)
			continue
		}
		req.Header.Add(name, value)
	}
	res, err := http.DefaultClient.Do(req)
	if err != nil {
		h.t.Fatalf("%s %s: %v", method, path, err)
	}
	return res
}

// trigger emits a test event and returns its id.
func (h *host) trigger(key, delivery string) string {
	h.t.Helper()
	return h.eventID(h.do("POST", "/host/events/test", key, `{"delivery":"`+delivery+`"}`))
}

func (h *host) eventID(a answer) string {
	h.t.Helper()
	var e struct {
		EventID string `json:"eventId"`
	}
	if a.status != http.StatusAccepted || json.Unmarshal([]byte(a.body), &e) != nil || e.EventID == "" {
		h.t.Fatalf("emit: got %d %s", a.status, a.body)
	}
	return e.EventID
}

// block is one SSE block as it came.
type block struct {
	raw              string
	event, id, data  string
	comment, withID  bool
	envelope         map[string]any
	deliveryOfObject string
}

type stream struct {
	t      *testing.T
	res    *http.Response
	blocks chan block
	stop   context.CancelFunc
}

// open opens an event stream that must answer 200.
func (h *host) open(key, query, cursor string) *stream {
	h.t.Helper()
	s, a := h.tryOpen(key, query, cursor)
	if s == nil {
		h.t.Fatalf("open a stream: got %d %s", a.status, a.body)
	}
	return s
}

// tryOpen opens a stream, or returns the answer that refused it.
func (h *host) tryOpen(key, query, cursor string) (*stream, answer) {
	h.t.Helper()
	ctx, cancel := context.WithTimeout(h.t.Context(), deadline)
	var headers []string
	if cursor != "" {
		headers = append(headers, "Last-Event-ID: "+cursor)
	}
	res := h.send(ctx, "GET", "/host/events"+query, key, "", headers...)
	if res.StatusCode != http.StatusOK {
		defer cancel()
		defer func() { _ = res.Body.Close() }()
		b, err := io.ReadAll(res.Body)
		if err != nil {
			h.t.Fatal(err)
		}
		return nil, answer{res.StatusCode, res.Header, string(b)}
	}
	s := &stream{t: h.t, res: res, blocks: make(chan block), stop: cancel}
	done := make(chan struct{})
	go func() {
		defer close(done)
		s.read(ctx)
	}()
	h.t.Cleanup(func() {
		cancel()
		_ = res.Body.Close()
		<-done
	})
	return s, answer{}
}

func (s *stream) read(ctx context.Context) {
	defer close(s.blocks)
	sc := bufio.NewScanner(s.res.Body)
	sc.Buffer(nil, 4<<20)
	sc.Split(func(data []byte, atEOF bool) (int, []byte, error) {
		if i := bytes.Index(data, []byte("\n\n")); i >= 0 {
			return i + 2, data[:i], nil
		}
		return 0, nil, nil
	})
	for sc.Scan() {
		select {
		case s.blocks <- parse(sc.Text()):
		case <-ctx.Done():
			return
		}
	}
}

func parse(raw string) block {
	b := block{raw: raw, comment: true}
	for line := range strings.SplitSeq(raw, "\n") {
		name, value, _ := strings.Cut(line, ": ")
		switch name {
		case "event":
			b.event = value
		case "id":
			b.id, b.withID = value, true
		case "data":
			b.data = value
		default:
			continue
		}
		b.comment = false
	}
	if json.Unmarshal([]byte(b.data), &b.envelope) == nil {
		b.deliveryOfObject, _ = b.envelope["delivery"].(string)
	}
	return b
}

func (b block) eventID() string {
	id, _ := b.envelope["eventId"].(string)
	return id
}

// next is the next block that isn't a comment; false when the stream has ended.
func (s *stream) next() (block, bool) {
	s.t.Helper()
	timeout := time.After(deadline)
	for {
		select {
		case b, ok := <-s.blocks:
			if !ok || !b.comment {
				return b, ok
			}
		case <-timeout:
			s.t.Fatalf("no event arrived within %s", deadline)
		}
	}
}

// until reads events up to the one with that id and returns their ids, that one included.
func (s *stream) until(id string) []string {
	s.t.Helper()
	var out []string
	for {
		b, ok := s.next()
		if !ok {
			s.t.Fatalf("the stream ended before %s; it had %v", id, out)
		}
		out = append(out, b.eventID())
		if b.eventID() == id {
			return out
		}
	}
}
