package cause

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/jonboulle/clockwork"

	"github.com/wopwitness/wopwitness/seams/client"
	"github.com/wopwitness/wopwitness/witness/observe"
)

// got is one request as the host took it.
type got struct {
	Method, Path, Version, Auth, Key string
	Body                             map[string]any
}

// reply is one answer of the host.
type reply struct {
	status     int
	body       string
	retryAfter string
}

// host answers each request with the next reply, and the last one from then on.
type host struct {
	mu      sync.Mutex
	got     []got
	replies []reply
}

func (h *host) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	h.mu.Lock()
	defer h.mu.Unlock()
	one := got{r.Method, r.URL.RequestURI(), r.Header.Get("OpenWOP-Version"), r.Header.Get("Authorization"), r.Header.Get("Idempotency-Key"), nil}
	if raw, _ := io.ReadAll(r.Body); len(raw) > 0 {
		if err := json.Unmarshal(raw, &one.Body); err != nil {
			one.Body = map[string]any{"unreadable": string(raw)}
		}
	}
	h.got = append(h.got, one)
	answer := h.replies[min(len(h.got), len(h.replies))-1]
	if answer.retryAfter != "" {
		w.Header().Set("Retry-After", answer.retryAfter)
	}
	w.WriteHeader(answer.status)
	_, _ = io.WriteString(w, answer.body)
}

func serve(t *testing.T, clock clockwork.Clock, replies ...reply) (*host, *client.Session) {
	t.Helper()
	h := &host{replies: replies}
	server := httptest.NewServer(h)
	t.Cleanup(server.Close)
	c, err := client.New(client.Config{BaseURL: server.URL, Clock: clock, Keys: map[string]string{"a": "key-of-a", "b": "key-of-b"}})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(c.Close)
	return h, c.Begin()
}

const accept = `{"eventId":"e-0123456789abcdef","type":"host-test.durable-triggered"}`

func TestTrigger(t *testing.T) {
	for _, c := range []struct {
		name string
		call TriggerCall
		want got
	}{
		{"durable", TriggerCall{Label: "D1", Credential: "a", Delivery: "durable", Major: 2, IdempotencyKey: "k"},
			got{"POST", "/host/events/test", "2.0", "Bearer key-of-a", "k", map[string]any{"delivery": "durable"}}},
		{"ephemeral in a workspace, the other tenant", TriggerCall{Credential: "b", Delivery: "ephemeral", Workspace: "w", Major: 2, IdempotencyKey: "k"},
			got{"POST", "/host/events/test", "2.0", "Bearer key-of-b", "k", map[string]any{"delivery": "ephemeral", "workspaceId": "w"}}},
		{"a body with more in it, and another delivery", TriggerCall{Delivery: "durable", ExtraBody: map[string]any{"x": true, "delivery": 1}, Major: 1, IdempotencyKey: "k"},
			got{"POST", "/v1/host/events/test", "", "", "k", map[string]any{"delivery": 1.0, "x": true}}},
	} {
		t.Run(c.name, func(t *testing.T) {
			h, s := serve(t, nil, reply{202, accept, ""})
			emit := Trigger(context.Background(), s, c.call)
			if diff := cmp.Diff([]got{c.want}, h.got); diff != "" {
				t.Error(diff)
			}
			if emit.EventID != "e-0123456789abcdef" || emit.Type != "host-test.durable-triggered" || len(emit.Attempts) != 1 {
				t.Errorf("got %+v", emit)
			}
			if emit.Label != c.call.Label || emit.Credential != c.call.Credential || emit.Delivery != c.call.Delivery || emit.Workspace != c.call.Workspace {
				t.Errorf("recorded %+v", emit)
			}
		})
	}
}

func TestEachTriggerHasAFreshIdempotencyKey(t *testing.T) {
	h, s := serve(t, nil, reply{202, accept, ""})
	for range 3 {
		Trigger(context.Background(), s, TriggerCall{Delivery: "durable", Major: 2})
	}
	keys := map[string]bool{}
	for _, one := range h.got {
		keys[one.Key] = true
	}
	if len(keys) != 3 || keys[""] {
		t.Errorf("keys %v", keys)
	}
}

func TestAnEventIsReadFromA202Only(t *testing.T) {
	for _, c := range []struct {
		name      string
		answer    reply
		id, event string
	}{
		{"with more members", reply{202, `{"eventId":"e","type":"t","more":[]}`, ""}, "e", "t"},
		{"without a type", reply{202, `{"eventId":"e"}`, ""}, "e", ""},
		{"with an id that is no text", reply{202, `{"eventId":1,"type":"t"}`, ""}, "", "t"},
		{"200", reply{200, accept, ""}, "", ""},
		{"400", reply{400, accept, ""}, "", ""},
		{"no JSON", reply{202, "accepted", ""}, "", ""},
		{"no object", reply{202, "[]", ""}, "", ""},
		{"nothing", reply{202, "", ""}, "", ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			_, s := serve(t, nil, c.answer)
			emit := Trigger(context.Background(), s, TriggerCall{Delivery: "durable", Major: 2})
			if emit.EventID != c.id || emit.Type != c.event || emit.Answer().Status() != c.answer.status {
				t.Errorf("got %q, %q, %d", emit.EventID, emit.Type, emit.Answer().Status())
			}
		})
	}
}

func TestARateLimitIsWaitedForWithinItsBound(t *testing.T) {
	busy := func(after string) reply { return reply{429, `{"error":"rate_limited","message":"m"}`, after} }
	ok := reply{202, accept, ""}
	for _, c := range []struct {
		name     string
		replies  []reply
		maxWait  time.Duration
		waits    []time.Duration // each is slept through
		status   int
		attempts int
	}{
		{"twice, then accepted", []reply{busy("2"), busy("3"), ok}, 5 * time.Second, []time.Duration{2 * time.Second, 3 * time.Second}, 202, 3},
		{"longer than the bound", []reply{busy("6"), ok}, 5 * time.Second, nil, 429, 1},
		{"longer than what is left", []reply{busy("3"), busy("3"), ok}, 5 * time.Second, []time.Duration{3 * time.Second}, 429, 2},
		{"without saying how long", []reply{busy(""), ok}, 5 * time.Second, []time.Duration{unsaidWait}, 202, 2},
		{"not at all", []reply{busy("0"), ok}, 5 * time.Second, []time.Duration{leastWait}, 202, 2},
		{"the default bound", []reply{busy("30"), ok}, 0, []time.Duration{30 * time.Second}, 202, 2},
		{"a 503 is an answer", []reply{{503, "", "1"}, ok}, 5 * time.Second, nil, 503, 1},
	} {
		t.Run(c.name, func(t *testing.T) {
			clock := clockwork.NewFakeClock()
			h, s := serve(t, clock, c.replies...)
			done := make(chan observe.Emit)
			go func() {
				done <- Trigger(context.Background(), s, TriggerCall{Delivery: "durable", Major: 2, MaxWait: c.maxWait})
			}()
			var waited time.Duration
			for _, wait := range c.waits {
				if err := clock.BlockUntilContext(t.Context(), 1); err != nil {
					t.Fatal(err)
				}
				clock.Advance(wait)
				waited += wait
			}
			emit := <-done
			if emit.Answer().Status() != c.status || len(emit.Attempts) != c.attempts || emit.Waited() != waited {
				t.Errorf("status %d after %d attempts and %v", emit.Answer().Status(), len(emit.Attempts), emit.Waited())
			}
			for _, one := range h.got[1:] {
				if diff := cmp.Diff(h.got[0], one); diff != "" {
					t.Errorf("the request was not sent again as it was:\n%s", diff)
				}
			}
		})
	}
}

func TestAnInterruptedRunDoesNotWaitForARateLimit(t *testing.T) {
	clock := clockwork.NewFakeClock()
	_, s := serve(t, clock, reply{429, "", "5"})
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan observe.Emit)
	go func() { done <- Trigger(ctx, s, TriggerCall{Delivery: "durable", Major: 2}) }()
	if err := clock.BlockUntilContext(t.Context(), 1); err != nil {
		t.Fatal(err)
	}
	cancel()
	if emit := <-done; len(emit.Attempts) != 1 || emit.Answer().Status() != 429 {
		t.Errorf("got %+v", emit)
	}
}

func TestEmitSeam(t *testing.T) {
	for _, c := range []struct {
		name string
		call EmitCall
		path string
		body map[string]any
	}{
		{"plain", EmitCall{Label: "big", Credential: "a", Type: "a.b", Delivery: "durable", Major: 2}, "/conformance/seams/sample/host-events/emit", map[string]any{"type": "a.b"}},
		{"with all", EmitCall{Credential: "a", Type: "a.b", Workspace: "w", PayloadBytes: 65536, Major: 1}, "/v1/host/sample/host-events/emit", map[string]any{"type": "a.b", "workspaceId": "w", "payloadBytes": 65536.0}},
	} {
		t.Run(c.name, func(t *testing.T) {
			h, s := serve(t, nil, reply{202, `{"eventId":"e"}`, ""})
			emit := EmitSeam(context.Background(), s, c.call)
			if h.got[0].Path != c.path || !cmp.Equal(h.got[0].Body, c.body) || h.got[0].Key == "" {
				t.Errorf("the host got %+v", h.got[0])
			}
			if emit.EventID != "e" || emit.Type != c.call.Type || emit.Delivery != c.call.Delivery || emit.Label != c.call.Label {
				t.Errorf("recorded %+v", emit)
			}
		})
	}
}

func TestRemoveAndAdvance(t *testing.T) {
	h, s := serve(t, nil, reply{204, "", ""}, reply{200, `{"now":"2030-01-01T00:00:00Z"}`, ""})
	if ex := Remove(context.Background(), s, "e", 2); ex.Status() != 204 {
		t.Errorf("got %+v", ex)
	}
	if move := Advance(context.Background(), s, 60, 1); move.Seconds != 60 || move.Exchange.Status() != 200 {
		t.Errorf("got %+v", move)
	}
	for i, want := range []got{
		{"POST", "/conformance/seams/sample/host-events/remove", "2.0", "Bearer key-of-a", h.got[0].Key, map[string]any{"eventId": "e"}},
		{"POST", "/v1/host/sample/clock/advance", "", "Bearer key-of-a", h.got[1].Key, map[string]any{"seconds": 60.0}},
	} {
		if diff := cmp.Diff(want, h.got[i]); diff != "" {
			t.Error(diff)
		}
	}
}

func TestClockNow(t *testing.T) {
	at := time.Date(2030, 1, 2, 3, 4, 5, 600_000_000, time.UTC)
	for _, c := range []struct {
		name   string
		answer reply
		now    time.Time
		mode   string
	}{
		{"manual", reply{200, `{"now":"2030-01-02T03:04:05.6Z","mode":"manual"}`, ""}, at, "manual"},
		{"an offset", reply{200, `{"now":"2030-01-02T05:04:05.6+02:00","mode":"real"}`, ""}, at, "real"},
		{"a time that is none", reply{200, `{"now":"yesterday","mode":"real"}`, ""}, time.Time{}, "real"},
		{"a time that is no text", reply{200, `{"now":1,"mode":2}`, ""}, time.Time{}, ""},
		{"no JSON", reply{200, `now`, ""}, time.Time{}, ""},
		{"not mounted", reply{404, `{"now":"2030-01-02T03:04:05.6Z","mode":"manual"}`, ""}, time.Time{}, ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			_, s := serve(t, nil, c.answer)
			now, mode, ex := ClockNow(context.Background(), s, 2)
			if !now.Equal(c.now) || mode != c.mode || ex.Status() != c.answer.status {
				t.Errorf("got %v, %q, %d", now, mode, ex.Status())
			}
		})
	}
}

func TestSeamMounted(t *testing.T) {
	for status, want := range map[int]bool{0: false, 200: true, 202: true, 204: true, 400: true, 401: true, 403: false, 404: false, 405: false, 409: true, 500: true, 501: false} {
		t.Run(fmt.Sprint(status), func(t *testing.T) {
			ex := observe.Exchange{}
			if status != 0 {
				ex.Response = &observe.Response{Status: status}
			}
			if got := SeamMounted(ex); got != want {
				t.Errorf("got %v", got)
			}
		})
	}
}
