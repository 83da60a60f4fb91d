package toolserver_test

import (
	"context"
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/wopwitness/wopwitness/mockhost/agent/toolserver"
	"github.com/wopwitness/wopwitness/mockhost/parts"
)

// book answers every call of a tool it knows alike, and notes it.
type book struct {
	says map[string]parts.ToolOutcome
	mu   sync.Mutex
	got  []parts.ToolCall
}

func (b *book) Take(_ context.Context, c parts.ToolCall) (parts.ToolOutcome, bool, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if c.Tool == "broken-book" {
		return parts.ToolOutcome{}, false, errors.New("the book is gone")
	}
	out, known := b.says[c.Tool]
	if known {
		b.got = append(b.got, c)
	}
	return out, known, nil
}

func (b *book) calls() []parts.ToolCall {
	b.mu.Lock()
	defer b.mu.Unlock()
	return append([]parts.ToolCall(nil), b.got...)
}

func listen(t *testing.T, b *book) *toolserver.Server {
	t.Helper()
	s, err := toolserver.Listen(b)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = s.Close() })
	return s
}

func caller(t *testing.T, url string, timeout time.Duration) *toolserver.Caller {
	c := toolserver.NewCaller(url, timeout)
	t.Cleanup(c.Close)
	return c
}

const args = `{"to":"ana@example.com","n":1}`

func TestEachOutcomeIsToldAsThePageSays(t *testing.T) {
	quoted := `{"to":"ana@example.com","n":1}`
	cases := map[string]struct {
		status int // 0 for none
		says   string
	}{
		"server_error": {500, quoted}, "rate_limited": {429, quoted}, "malformed": {200, `ana@example.com`}, "locked": {423, quoted},
		"bad_request": {400, quoted}, "semantic": {422, quoted}, "unauthorized": {401, quoted}, "gone": {410, quoted},
		"timeout": {0, "in time"}, "unreachable": {0, "can't be reached"},
	}
	b := &book{says: map[string]parts.ToolOutcome{}}
	for kind := range cases {
		if kind != "unreachable" {
			b.says[kind] = parts.ToolOutcome{Outcome: kind}
		}
	}
	c := caller(t, listen(t, b).URL(), time.Minute)
	for kind, want := range cases {
		t.Run(kind, func(t *testing.T) {
			e, err := c.Call(t.Context(), parts.ToolCall{Tenant: "acme", Tool: kind, Run: "r", Args: []byte(args)})
			if err != nil || e == nil {
				t.Fatalf("got %v, %v", e, err)
			}
			status := 0
			if e.Status != nil {
				status = *e.Status
			}
			if e.Kind != kind || status != want.status || !strings.Contains(e.Message, want.says) && !strings.Contains(e.Message, strings.ReplaceAll(want.says, `"`, `\"`)) {
				t.Errorf("got %s, status %d, %q; want status %d and %q", e.Kind, status, e.Message, want.status, want.says)
			}
		})
	}
}

func TestASuccessIsNoError(t *testing.T) {
	b := &book{says: map[string]parts.ToolOutcome{"look.up_1": {Outcome: "ok", DelayMs: 5}}}
	c := caller(t, listen(t, b).URL(), 10*time.Second)
	call := parts.ToolCall{
		Tenant: "acme/west", Tool: "look.up_1", Run: "run/1", Step: 2, Attempt: 3, Args: []byte(args),
		Trace: "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01",
	}
	if e, err := c.Call(t.Context(), call); e != nil || err != nil {
		t.Fatalf("got %v, %v", e, err)
	}
	got := b.calls()
	if len(got) != 1 || got[0].Tenant != call.Tenant || got[0].Run != call.Run || got[0].Step != 2 || got[0].Attempt != 3 ||
		string(got[0].Args) != args || got[0].Trace != call.Trace || got[0].IdempotencyKey() != "run/1/2" {
		t.Errorf("the tool got %+v", got)
	}
}

func TestARateLimitSaysForHowLong(t *testing.T) {
	b := &book{says: map[string]parts.ToolOutcome{"with": {Outcome: "rate_limited", RetryAfterSeconds: 90}, "without": {Outcome: "rate_limited"}}}
	c := caller(t, listen(t, b).URL(), 10*time.Second)
	for tool, want := range map[string]time.Duration{"with": 90 * time.Second, "without": 0} {
		if e, err := c.Call(t.Context(), parts.ToolCall{Tenant: "a", Tool: tool, Run: "r"}); err != nil || e.RetryAfter != want {
			t.Errorf("%s: wait %v, %v, want %s", tool, e, err, want)
		}
	}
}

// TestABrokenConnectionIsOneCall holds that the transport doesn't repeat a call by itself: every call has an idempotency
// key, which invites it to.
func TestABrokenConnectionIsOneCall(t *testing.T) {
	var mu sync.Mutex
	calls := 0
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		_, _ = io.Copy(io.Discard, r.Body)
		mu.Lock()
		defer mu.Unlock()
		if calls++; calls > 1 {
			panic(http.ErrAbortHandler)
		}
		_, _ = io.WriteString(w, "{}")
	}))
	defer srv.Close()
	c := caller(t, srv.URL, 10*time.Second)
	for want := 1; want <= 2; want++ {
		e, err := c.Call(t.Context(), parts.ToolCall{Tenant: "a", Tool: "t", Run: "r", Args: []byte("{}")})
		if err != nil || (e != nil) != (want == 2) {
			t.Fatalf("call %d: %v, %v", want, e, err)
		}
		mu.Lock()
		if calls != want {
			t.Errorf("the tool saw %d calls, want %d", calls, want)
		}
		mu.Unlock()
	}
}

func TestOtherToolsAnswersAreRead(t *testing.T) {
	cases := map[string]struct {
		status int
		body   string
		want   string
	}{
		"forbidden": {403, "", parts.Unauthorized}, "not found": {404, "", parts.Gone}, "conflict": {409, "", parts.Locked},
		"gateway timeout": {504, "", parts.ToolTimeout}, "bad gateway": {502, "", parts.ServerError}, "teapot": {418, "", parts.BadRequest},
		"redirect": {302, "", parts.MalformedAnswer}, "empty": {200, "", parts.MalformedAnswer}, "a page": {200, "<html>", parts.MalformedAnswer},
		"null": {200, "null", parts.MalformedAnswer}, "a list": {200, "[]", parts.MalformedAnswer}, "too long": {200, `{"x":"` + strings.Repeat("x", 1<<20) + `"}`, parts.MalformedAnswer},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
				w.WriteHeader(c.status)
				_, _ = io.WriteString(w, c.body)
			}))
			defer srv.Close()
			e, err := caller(t, srv.URL, 10*time.Second).Call(t.Context(), parts.ToolCall{Tenant: "a", Tool: "t", Run: "r"})
			if err != nil || e == nil || e.Kind != c.want || *e.Status != c.status || len(e.Message) > 3000 {
				t.Errorf("got %+v, %v; want %s", e, err, c.want)
			}
		})
	}
}

func TestAWorkerThatStopsIsNoToolsFault(t *testing.T) {
	b := &book{says: map[string]parts.ToolOutcome{"slow": {Outcome: "timeout"}}}
	c := caller(t, listen(t, b).URL(), time.Hour)
	ctx, cancel := context.WithCancel(t.Context())
	go func() {
		for len(b.calls()) == 0 {
			time.Sleep(time.Millisecond)
		}
		cancel()
	}()
	if e, err := c.Call(ctx, parts.ToolCall{Tenant: "a", Tool: "slow", Run: "r"}); e != nil || !errors.Is(err, context.Canceled) {
		t.Errorf("got %v, %v", e, err)
	}
}

func TestClosingEndsTheCallsUnderWay(t *testing.T) {
	b := &book{says: map[string]parts.ToolOutcome{"slow": {Outcome: "timeout"}}}
	s := listen(t, b)
	done := make(chan *parts.ToolError, 1)
	go func() {
		e, _ := caller(t, s.URL(), time.Hour).Call(context.Background(), parts.ToolCall{Tenant: "a", Tool: "slow", Run: "r"})
		done <- e
	}()
	for len(b.calls()) == 0 {
		time.Sleep(time.Millisecond)
	}
	if err := s.Close(); err != nil {
		t.Error(err)
	}
	if e := <-done; e == nil || e.Kind != parts.Unreachable {
		t.Errorf("the call ended with %+v", e)
	}
	if err := s.Close(); err != nil {
		t.Errorf("closed again: %v", err)
	}
}

func TestABookOutOfReachIsAToolOutOfReach(t *testing.T) {
	c := caller(t, listen(t, &book{}).URL(), 10*time.Second)
	if e, err := c.Call(t.Context(), parts.ToolCall{Tenant: "a", Tool: "broken-book", Run: "r"}); err != nil || e == nil || e.Kind != parts.Unreachable {
		t.Errorf("got %+v, %v", e, err)
	}
}

func TestWhatIsNoCallIsRefused(t *testing.T) {
	s := listen(t, &book{says: map[string]parts.ToolOutcome{"t": {Outcome: "ok"}}})
	for name, c := range map[string]struct{ method, path, key, attempt string }{
		"method": {"PUT", "/a/t", "r/0", "1"}, "path": {"POST", "/t", "r/0", "1"}, "no key": {"POST", "/a/t", "", "1"},
		"key without a step": {"POST", "/a/t", "r/", "1"}, "no attempt": {"POST", "/a/t", "r/0", ""},
	} {
		t.Run(name, func(t *testing.T) {
			req, _ := http.NewRequestWithContext(t.Context(), c.method, s.URL()+c.path, strings.NewReader("{}"))
			req.Header.Set(toolserver.KeyHeader, c.key)
			req.Header.Set("Agent-Attempt", c.attempt)
			resp, err := http.DefaultClient.Do(req)
			if err != nil {
				t.Fatal(err)
			}
			defer resp.Body.Close()
			if resp.StatusCode != http.StatusBadRequest {
				t.Errorf("answered %d", resp.StatusCode)
			}
		})
	}
}

func TestALongTextIsCutBetweenWords(t *testing.T) {
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.WriteHeader(http.StatusInternalServerError)
		_, _ = io.WriteString(w, strings.Repeat("x", 1990)+` "ana@example.com"`)
	}))
	defer srv.Close()
	e, err := caller(t, srv.URL, 10*time.Second).Call(t.Context(), parts.ToolCall{Tenant: "a", Tool: "t", Run: "r"})
	if err != nil || e.Message != strings.Repeat("x", 1990)+` "` {
		t.Errorf("got %v, %v", e, err)
	}
}

// A tool that says nothing of its time, or that it takes longer, is waited for as long as the caller's own patience.
func TestACallerHasAPatienceOfItsOwn(t *testing.T) {
	for name, says := range map[string]string{"says nothing": "", "says more": "1h", "says what isn't a time": "soon", "says nought": "0s"} {
		t.Run(name, func(t *testing.T) {
			srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				if says != "" {
					w.Header().Set(toolserver.AnswersHeader, says)
					w.WriteHeader(http.StatusEarlyHints)
				}
				_, _ = io.Copy(io.Discard, r.Body)
				<-r.Context().Done()
			}))
			defer srv.Close()
			e, err := caller(t, srv.URL, 30*time.Millisecond).Call(t.Context(), parts.ToolCall{Tenant: "a", Tool: "t", Run: "r", Args: []byte("{}")})
			if err != nil || e == nil || e.Kind != parts.ToolTimeout || e.Status != nil {
				t.Errorf("got %+v, %v, want a timeout without a status", e, err)
			}
		})
	}
}
