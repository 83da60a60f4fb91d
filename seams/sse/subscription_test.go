package sse

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/wopwitness/wopwitness/witness/observe"
	"github.com/wopwitness/wopwitness/witness/observe/eventstream"
)

// asked is what one connection asked for.
type asked struct{ Cursor, Replay string }

// scripted answers the n-th connection with the n-th step, and the last step from then on.
type scripted struct {
	mu    sync.Mutex
	asked []asked
	steps []func(r *http.Request, s streaming)
}

func (h *scripted) serve(r *http.Request, s streaming) {
	h.mu.Lock()
	h.asked = append(h.asked, asked{r.Header.Get("Last-Event-ID"), r.URL.Query().Get("replay")})
	step := h.steps[min(len(h.asked), len(h.steps))-1]
	h.mu.Unlock()
	step(r, s)
}

func (h *scripted) seen() []asked {
	h.mu.Lock()
	defer h.mu.Unlock()
	return slices.Clone(h.asked)
}

func event(id string) string {
	return fmt.Sprintf("event: a.b\nid: %s\ndata: {\"eventId\":%q}\n\n", id, id)
}

func sends(text string) func(*http.Request, streaming) {
	return func(_ *http.Request, s streaming) { s.send("%s", text) }
}

func sendsAndHolds(text string) func(*http.Request, streaming) {
	return func(_ *http.Request, s streaming) { s.send("%s", text); s.hold() }
}

func TestTheCursorIsTheLastHostEventsID(t *testing.T) {
	for _, c := range []struct {
		name, text, want string
	}{
		{"an event", event("e1") + event("e2"), "e2"},
		{"a heartbeat with an id after it", event("e1") + "event: heartbeat\nid: hb\ndata: {}\n\n", "e1"},
		{"a comment block with an id after it", event("e1") + ": ping\nid: hb\n\n", "e1"},
		{"a block that clears the id after it", event("e1") + "id:\ndata: {}\n\n", "e1"},
		{"an ephemeral event after it", event("e1") + "data: {\"eventId\":\"e2\"}\n\n", "e1"},
		{"a frame whose data names another id", event("e1") + "id: e3\ndata: {\"eventId\":\"e2\"}\n\n", "e1"},
		{"a frame whose data is no object", event("e1") + "id: e2\ndata: \"e2\"\n\n", "e1"},
		{"a frame whose eventId is no text", event("e1") + "id: 2\ndata: {\"eventId\":2}\n\n", "e1"},
		{"a frame whose member is spelled otherwise", event("e1") + "id: e2\ndata: {\"EVENTID\":\"e2\"}\n\n", "e1"},
		{"an event that was cut", event("e1") + "id: e2\ndata: {\"eventId\":\"e2\"}\n", "e1"},
		{"no event leaves the first cursor, and the call as it was", ": hello\n\n", "e0"},
		{"the first cursor's own event leaves it too", event("e0"), "e0"},
	} {
		t.Run(c.name, func(t *testing.T) {
			h := &scripted{steps: []func(*http.Request, streaming){sends(c.text), sendsAndHolds(event("last"))}}
			first := call
			first.Header = []observe.Header{{Name: "last-event-id", Value: "e0"}}
			sub := Subscribe(context.Background(), host(t, h.serve), first, Reconnect{Strict: true})
			defer sub.Close()
			if !sub.Opened() || !sub.Wait(context.Background(), soon, has("last")) {
				t.Fatalf("%+v", sub.Record())
			}
			want := []asked{{"e0", ""}, {c.want, "required"}}
			if c.want == "e0" {
				want[1].Replay = ""
			}
			if diff := cmp.Diff(want, h.seen()); diff != "" {
				t.Error(diff)
			}
		})
	}
}

func has(id string) func([]eventstream.Frame) bool {
	return func(frames []eventstream.Frame) bool {
		return slices.ContainsFunc(frames, func(f eventstream.Frame) bool { return f.ID == id })
	}
}

func TestASubscriptionGoesOnWhereTheHostEndsIt(t *testing.T) {
	h := &scripted{steps: []func(*http.Request, streaming){
		sends("retry: 1\n\n" + event("e1")),
		func(_ *http.Request, s streaming) { s.send("%s", event("e2")); panic(http.ErrAbortHandler) },
		sendsAndHolds(event("e3")),
	}}
	sub := Subscribe(context.Background(), host(t, h.serve), call, Reconnect{})
	defer sub.Close()
	if !sub.Wait(context.Background(), soon, has("e3")) {
		t.Fatalf("%+v", sub.Record())
	}
	if _, ended := sub.Ended(); ended {
		t.Error("it has ended")
	}
	sub.Close()
	sub.Close()
	record := sub.Record()
	var ends []observe.StreamEnd
	for _, segment := range record.Segments {
		ends = append(ends, segment.End)
	}
	if want := []observe.StreamEnd{observe.EndHost, observe.EndFailed, observe.EndSuite}; !slices.Equal(ends, want) {
		t.Errorf("the connections ended with %v", ends)
	}
	if want := []asked{{"", ""}, {"e1", ""}, {"e2", ""}}; !cmp.Equal(h.seen(), want) {
		t.Errorf("the host was asked %v", h.seen())
	}
	if end, ended := sub.Ended(); !ended || end != observe.EndSuite {
		t.Errorf("after Close: %q, %v", end, ended)
	}
	ids := func(frames []eventstream.Frame) (all []string) {
		for _, f := range frames {
			if f.ID != "" {
				all = append(all, f.ID)
			}
		}
		return all
	}
	if want := []string{"e1", "e2", "e3"}; !slices.Equal(ids(sub.Frames()), want) || !slices.Equal(ids(eventstream.All(record)), want) {
		t.Errorf("frames %v, recorded %v", ids(sub.Frames()), ids(eventstream.All(record)))
	}
	if sub.BytesSeen() != int64(len("retry: 1\n\n"+event("e1")+event("e2")+event("e3"))) {
		t.Errorf("%d bytes", sub.BytesSeen())
	}
}

func TestARefusalEndsASubscription(t *testing.T) {
	var mu sync.Mutex
	requests := 0
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		mu.Lock()
		defer mu.Unlock()
		if requests++; requests == 1 {
			w.Header().Set("Content-Type", "text/event-stream")
			_, _ = fmt.Fprint(w, event("e1"))
			return
		}
		w.Header().Set("Content-Type", "application/json")
		w.WriteHeader(http.StatusConflict)
	}))
	defer server.Close()
	sub := Subscribe(context.Background(), session(t, server.URL), call, Reconnect{Strict: true})
	defer sub.Close()
	if sub.Wait(context.Background(), soon, never) {
		t.Fatal("what never holds held")
	}
	record := sub.Record()
	if _, ended := sub.Ended(); !ended || len(record.Segments) != 2 || record.Segments[1].Status() != 409 {
		t.Errorf("ended %v, %+v", ended, record)
	}
	mu.Lock()
	defer mu.Unlock()
	if requests != 2 {
		t.Errorf("%d requests", requests)
	}
}

func TestASubscriptionThatDoesNotOpenIsOver(t *testing.T) {
	server := httptest.NewServer(http.NotFoundHandler())
	defer server.Close()
	sub := Subscribe(context.Background(), session(t, server.URL), call, Reconnect{})
	defer sub.Close()
	if _, ended := sub.Ended(); sub.Opened() || !ended || sub.Wait(context.Background(), soon, never) || len(sub.Record().Segments) != 1 {
		t.Errorf("%+v", sub.Record())
	}
}

func TestAHostThatEndsEveryStreamIsLeftAfterABoundedNumber(t *testing.T) {
	h := &scripted{steps: []func(*http.Request, streaming){sends("")}}
	sub := Subscribe(context.Background(), host(t, h.serve), call, Reconnect{})
	defer sub.Close()
	if sub.Wait(context.Background(), soon, never) {
		t.Fatal("what never holds held")
	}
	if got := len(h.seen()); got != maxReconnects+1 {
		t.Errorf("%d connections", got)
	}
}

func TestWhatMakesASubscriberConnectAgain(t *testing.T) {
	open := &observe.Response{Status: 200, Headers: []observe.Header{{Name: "Content-Type", Value: "text/event-stream"}}}
	refused := &observe.Response{Status: 409}
	stream := func(r *observe.Response, end observe.StreamEnd, kind observe.FailureKind) observe.Stream {
		s := observe.Stream{Exchange: observe.Exchange{Response: r}, End: end}
		if kind != "" {
			s.Failure = &observe.Failure{Kind: kind}
		}
		return s
	}
	for _, c := range []struct {
		name string
		in   observe.Stream
		want bool
	}{
		{"the host ended it", stream(open, observe.EndHost, ""), true},
		{"the connection broke", stream(open, observe.EndFailed, observe.FailReset), true},
		{"nothing listens, as during a replacement", stream(nil, "", observe.FailRefused), true},
		{"the suite ended it", stream(open, observe.EndSuite, ""), false},
		{"a refusal", stream(refused, "", ""), false},
		{"a refusal cut short", stream(refused, "", observe.FailReset), false},
		{"too much", stream(open, observe.EndFailed, observe.FailTooLarge), false},
		{"no answer in time", stream(nil, "", observe.FailTimeout), false},
		{"an interrupted run", stream(open, observe.EndFailed, observe.FailCancelled), false},
	} {
		if got := goesOn(c.in); got != c.want {
			t.Errorf("%s: got %v", c.name, got)
		}
	}
}

func TestTheDelayBeforeConnectingAgain(t *testing.T) {
	retry := func(ms string) []eventstream.Frame {
		return []eventstream.Frame{{Retry: "1", HasRetry: true}, {Retry: ms, HasRetry: true}, {}}
	}
	for _, c := range []struct {
		name      string
		frames    []eventstream.Frame
		unreached int
		want      time.Duration
	}{
		{"the host says nothing", nil, 0, firstDelay},
		{"the host's last retry", retry("300"), 0, 300 * time.Millisecond},
		{"none at all", retry("0"), 0, firstDelay},
		{"longer than is waited", retry("5000"), 0, longestDelay},
		{"longer than a number", retry("99999999999999999999"), 0, longestDelay},
		{"not reached twice", nil, 2, 4 * firstDelay},
		{"not reached for long", nil, 50, longestDelay},
	} {
		if got := delay(c.frames, c.unreached); got != c.want {
			t.Errorf("%s: got %v, want %v", c.name, got, c.want)
		}
	}
}

func TestCloseDuringAReconnectionIsTheSuitesEnd(t *testing.T) {
	waiting := make(chan struct{})
	var once sync.Once
	h := &scripted{steps: []func(*http.Request, streaming){
		sends(event("e1")), func(_ *http.Request, s streaming) { once.Do(func() { close(waiting) }); s.hold() },
	}}
	sub := Subscribe(context.Background(), host(t, h.serve), call, Reconnect{})
	<-waiting
	sub.Close()
	if _, err := json.Marshal(sub.Record()); err != nil {
		t.Error(err)
	}
	if _, ended := sub.Ended(); !ended {
		t.Error("it goes on after Close")
	}
}

// Where the host bounds its streams, the suite's end can fall between two of them: the last connection's end is the host's,
// and the suite listened on.
func TestCloseBetweenTwoConnectionsIsWhenTheListeningEnded(t *testing.T) {
	h := &scripted{steps: []func(*http.Request, streaming){sends("retry: 60000\n" + event("e1"))}}
	sub := Subscribe(context.Background(), host(t, h.serve), call, Reconnect{})
	<-sub.segments[0].Done()
	closing := sub.session.Now()
	sub.Close()
	record := sub.Record()
	if last := record.Segments[len(record.Segments)-1]; len(record.Segments) != 1 || last.End != observe.EndHost {
		t.Fatalf("%d connections, the last ended by %q: not closed between two", len(record.Segments), last.End)
	}
	if record.Until < closing {
		t.Errorf("listened until %d, closed at %d", record.Until, closing)
	}
	if again := sub.Record(); again.Until != record.Until {
		t.Errorf("the record moved from %d to %d after Close", record.Until, again.Until)
	}
}
