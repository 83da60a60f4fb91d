package mockhost_test

import (
	"context"
	"fmt"
	"net"
	"net/http"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/wopwitness/wopwitness/mockhost"
)

const strict = "?replay=required"

// refusal is the whole body of RFC 0250 §C's answer on this host.
const refusal = `{"error":"host_event_resync_required","message":"the stream cannot resume from this position; read the current state again and open a new stream"}`

func TestEveryRefusalIsTheSameBytes(t *testing.T) {
	h := start(t, mockhost.Config{Seams: true, Clock: "manual", MinRetention: 60 * time.Second})
	seam := func(path, body string) answer { return h.do("POST", "/conformance/seams/sample"+path, h.KeyA, body) }
	expired := h.trigger(h.KeyA, "durable")
	if a := seam("/clock/advance", `{"seconds":62}`); a.status != 200 {
		t.Fatal(a)
	}
	removed := h.trigger(h.KeyA, "durable")
	if a := seam("/host-events/remove", `{"eventId":"`+removed+`"}`); a.status != 204 || a.body != "" {
		t.Fatal(a)
	}
	workspace := h.eventID(h.do("POST", "/host/events/test", h.KeyA, `{"delivery":"durable","workspaceId":"`+h.Workspace+`"}`))
	good := h.trigger(h.KeyA, "durable")
	want := http.Header(nil)
	for name, cursor := range map[string]string{
		"unknown": "no-such-event-0000", "ephemeral": h.trigger(h.KeyA, "ephemeral"), "foreign": h.trigger(h.KeyB, "durable"),
		"expired": expired, "removed": removed, "another workspace's": workspace,
		"quoted": `"` + good + `"`, "percent-encoded": "%" + fmt.Sprintf("%X", good[0]) + good[1:], "in lower case": strings.ToLower(good),
		"with a byte more": good + "0", "not ASCII": "\xe9v\xe9nement", "long": strings.Repeat("x", 8000), "two lines": good + ", " + good,
	} {
		s, a := h.tryOpen(h.KeyA, strict, cursor)
		if s != nil {
			t.Errorf("%s: opened", name)
			continue
		}
		if a.status != 409 || a.body != refusal {
			t.Errorf("%s: got %d %s", name, a.status, a.body)
		}
		a.header.Del("Date")
		if want == nil {
			want = a.header
		}
		if fmt.Sprint(a.header) != fmt.Sprint(want) {
			t.Errorf("%s: headers %v differ from %v", name, a.header, want)
		}
	}
	h.open(h.KeyA, strict, good)
	h.open(h.KeyWS, strict, workspace)
}

func TestAuthenticationComesBeforeTheCursor(t *testing.T) {
	h := start(t, mockhost.Config{})
	good, foreign := h.trigger(h.KeyA, "durable"), h.trigger(h.KeyB, "durable")
	for _, cursor := range []string{good, foreign, "no-such-event-0000"} {
		if _, a := h.tryOpen("wrong", strict, cursor); a.status != 401 || a.code() != "unauthenticated" {
			t.Errorf("a wrong key at %s: got %d %s", cursor, a.status, a.body)
		}
		if _, a := h.tryOpen(h.KeyLow, strict, cursor); a.status != 403 || a.code() != "forbidden" {
			t.Errorf("a key without runs:read at %s: got %d %s", cursor, a.status, a.body)
		}
	}
}

func TestQueryValues(t *testing.T) {
	h := start(t, mockhost.Config{})
	for query, status := range map[string]int{
		"": 200, strict: 200, strict + "&resumable=true": 200, "?resumable=false": 200, "?other=1": 200,
		"?replay=sometimes": 400, "?replay=": 400, "?replay=Required": 400, strict + "&replay=required": 400,
		"?resumable=yes": 400,
	} {
		for _, cursor := range []string{"", "no-such-event-0000"} {
			s, a := h.tryOpen(h.KeyA, query, cursor)
			got := a.status
			if s != nil {
				got = 200
			}
			want := status
			if want == 200 && cursor != "" && strings.Contains(query, "replay=required") {
				want = 409
			}
			if got != want || want == 400 && a.code() != "validation_error" {
				t.Errorf("%q at %q: got %d %s, want %d", query, cursor, got, a.body, want)
			}
		}
	}
}

func TestLegacyResumesWhatItKnowsAndGoesLiveOtherwise(t *testing.T) {
	h := start(t, mockhost.Config{})
	d1, e1, d2 := h.trigger(h.KeyA, "durable"), h.trigger(h.KeyA, "ephemeral"), h.trigger(h.KeyA, "durable")
	known, unknown, ephemeral := h.open(h.KeyA, "", d1), h.open(h.KeyA, "", "no-such-event-0000"), h.open(h.KeyA, "", e1)
	absent, empty := h.open(h.KeyA, strict, ""), h.open(h.KeyA, "", "")
	d3 := h.trigger(h.KeyA, "durable")
	for name, c := range map[string]struct {
		s    *stream
		want []string
	}{
		"known": {known, []string{d2, d3}}, "unknown": {unknown, []string{d3}}, "ephemeral": {ephemeral, []string{d3}},
		"none, strict": {absent, []string{d3}}, "none": {empty, []string{d3}},
	} {
		if got := c.s.until(d3); !slices.Equal(got, c.want) {
			t.Errorf("%s: got %v, want %v", name, got, c.want)
		}
	}
}

func TestResumingTwiceGivesTheSameSuffixAndTheLastAnEmptyOne(t *testing.T) {
	h := start(t, mockhost.Config{})
	ids := []string{h.trigger(h.KeyA, "durable"), h.trigger(h.KeyA, "durable"), h.trigger(h.KeyA, "durable")}
	first, second, last := h.open(h.KeyA, strict, ids[0]), h.open(h.KeyA, strict, ids[0]), h.open(h.KeyA, strict, ids[2])
	sentinel := h.trigger(h.KeyA, "durable")
	a, b, c := first.until(sentinel), second.until(sentinel), last.until(sentinel)
	if want := []string{ids[1], ids[2], sentinel}; !slices.Equal(a, want) || !slices.Equal(b, want) {
		t.Errorf("got %v and %v, want %v", a, b, want)
	}
	if !slices.Equal(c, []string{sentinel}) {
		t.Errorf("from the last: got %v", c)
	}
}

func TestTenantsAndWorkspacesAreKeptApart(t *testing.T) {
	h := start(t, mockhost.Config{})
	at := func(key, workspace string) string {
		return h.eventID(h.do("POST", "/host/events/test", key, `{"delivery":"durable","workspaceId":"`+workspace+`"}`))
	}
	startA, startB := h.trigger(h.KeyA, "durable"), h.trigger(h.KeyB, "durable")
	liveA, liveWS, liveB := h.open(h.KeyA, "", ""), h.open(h.KeyWS, "", ""), h.open(h.KeyB, "", "")
	own, other, foreign := at(h.KeyA, h.Workspace), at(h.KeyA, h.OtherWorkspace), at(h.KeyB, h.ForeignWorkspace)
	_, _ = other, foreign
	endA, endB := h.trigger(h.KeyA, "durable"), h.trigger(h.KeyB, "durable")
	for name, c := range map[string]struct {
		s    *stream
		end  string
		want []string
	}{
		"A live": {liveA, endA, []string{endA}}, "bound live": {liveWS, endA, []string{own, endA}}, "B live": {liveB, endB, []string{endB}},
		"A resumed":     {h.open(h.KeyA, strict, startA), endA, []string{endA}},
		"bound resumed": {h.open(h.KeyWS, strict, startA), endA, []string{own, endA}},
		"B resumed":     {h.open(h.KeyB, strict, startB), endB, []string{endB}},
	} {
		if got := c.s.until(c.end); !slices.Equal(got, c.want) {
			t.Errorf("%s: got %v, want %v", name, got, c.want)
		}
	}
}

func TestBoundedStreamEndsAndItsLastIDResumesWhole(t *testing.T) {
	h := start(t, mockhost.Config{StreamLife: 150 * time.Millisecond})
	cursor := h.trigger(h.KeyA, "durable")
	var sent, got []string
	query := strict + "&resumable=true"
	for range 3 {
		s := h.open(h.KeyA, query, cursor)
		sent = append(sent, h.trigger(h.KeyA, "durable"))
		for b, ok := s.next(); ok; b, ok = s.next() {
			got = append(got, b.eventID())
			cursor = b.id
		}
		sent = append(sent, h.trigger(h.KeyA, "durable"))
	}
	end := h.trigger(h.KeyA, "durable")
	got = append(got, h.open(h.KeyA, query, cursor).until(end)...)
	if !slices.Equal(got, append(sent, end)) {
		t.Errorf("got %v, want %v", got, append(sent, end))
	}
}

func TestIdleStreamIsKeptOpenByComments(t *testing.T) {
	h := start(t, mockhost.Config{KeepAlive: 10 * time.Millisecond})
	s := h.open(h.KeyA, "", "")
	if ct := s.res.Header.Get("Content-Type"); ct != "text/event-stream" {
		t.Errorf("content type %q", ct)
	}
	for range 3 {
		if b := <-s.blocks; !b.comment || !strings.HasPrefix(b.raw, ":") {
			t.Errorf("got %q, want a comment", b.raw)
		}
	}
	if got := s.until(h.trigger(h.KeyA, "durable")); len(got) != 1 {
		t.Errorf("after the comments: %v", got)
	}
}

func TestRestartLosesNothing(t *testing.T) {
	c := mockhost.Config{
		Store: "sqlite:" + filepath.Join(t.TempDir(), "host.db"), Seams: true, Clock: "manual",
		KeyA: "a", KeyB: "b", KeyLow: "low", KeyWS: "ws",
	}
	before := start(t, c)
	d1 := before.trigger("a", "durable")
	first := before.do("POST", "/host/events/test", "a", `{"delivery":"durable"}`, "Idempotency-Key: once")
	if a := before.do("POST", "/conformance/seams/sample/clock/advance", "a", `{"seconds":1000}`); a.status != 200 {
		t.Fatal(a)
	}
	if err := before.host.Shutdown(context.Background()); err != nil {
		t.Fatal(err)
	}
	after := start(t, c)
	s := after.open("a", strict, d1)
	again := after.do("POST", "/host/events/test", "a", `{"delivery":"durable"}`, "Idempotency-Key: once")
	if again.body != first.body || again.header.Get("OpenWOP-Idempotent-Replay") != "true" {
		t.Errorf("the kept answer: got %s, want %s", again.body, first.body)
	}
	d3 := after.trigger("a", "durable")
	if got, want := s.until(d3), []string{after.eventID(first), d3}; !slices.Equal(got, want) {
		t.Errorf("got %v, want %v", got, want)
	}
	now, err := time.Parse(time.RFC3339, between(after.do("GET", "/v1/host/sample/clock", "a", "").body, `"now":"`, `"`))
	if ahead := time.Until(now); err != nil || ahead < 900*time.Second {
		t.Errorf("the clock is %s ahead after the restart, %v", ahead, err)
	}
}

// between is the text between two marks.
func between(s, from, to string) string {
	_, s, _ = strings.Cut(s, from)
	s, _, _ = strings.Cut(s, to)
	return s
}

func TestPeerResumesAndFollowsWhatTheOtherEmits(t *testing.T) {
	h := start(t, mockhost.Config{})
	second, err := h.host.Peer(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	peer := serve(t, second)
	d1 := h.trigger(h.KeyA, "durable")
	d2 := peer.trigger(h.KeyA, "durable")
	onPeer, onFirst := peer.open(h.KeyA, strict, d1), h.open(h.KeyA, strict, d1)
	d3, d4 := h.trigger(h.KeyA, "durable"), peer.trigger(h.KeyA, "durable")
	want := []string{d2, d3, d4}
	if got := onPeer.until(d4); !slices.Equal(got, want) {
		t.Errorf("on the peer: got %v, want %v", got, want)
	}
	if got := onFirst.until(d4); !slices.Equal(got, want) {
		t.Errorf("on the first: got %v, want %v", got, want)
	}
	e := h.trigger(h.KeyA, "ephemeral")
	if got := onPeer.until(e); !slices.Equal(got, []string{e}) {
		t.Errorf("ephemeral on the peer: got %v", got)
	}
}

func TestShutdownEndsStreamsAndServing(t *testing.T) {
	h, err := mockhost.New(t.Context(), mockhost.Config{})
	if err != nil {
		t.Fatal(err)
	}
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	served := make(chan error, 1)
	go func() { served <- h.Serve(ln) }()
	c := &host{t: t, host: h, url: "http://" + ln.Addr().String(), Credentials: h.Credentials()}
	s := c.open(c.KeyA, "", "")
	for range 2 {
		if err := h.Shutdown(context.Background()); err != nil {
			t.Fatal(err)
		}
	}
	if err := <-served; err != nil {
		t.Errorf("Serve: %v", err)
	}
	if b, ok := s.next(); ok {
		t.Errorf("the stream went on with %q", b.raw)
	}
}
