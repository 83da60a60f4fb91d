package mockhost_test

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/wopwitness/wopwitness/mockhost"
)

// stopped is a subscriber that asks for a stream and then never reads. What it was sent waits in
// the connection's buffers, a few megabytes at most.
func stopped(t *testing.T, h *host, cursor string) net.Conn {
	t.Helper()
	var dialer net.Dialer
	conn, err := dialer.DialContext(t.Context(), "tcp", strings.TrimPrefix(h.url, "http://"))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = conn.Close() })
	_, err = fmt.Fprintf(conn, "GET /host/events%s HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer %s\r\nLast-Event-ID: %s\r\nX-Stopped: yes\r\n\r\n", strict, h.KeyA, cursor)
	if err != nil {
		t.Fatal(err)
	}
	return conn
}

// watched serves a host, and tells when the stream of a subscriber that stopped is over.
func watched(t *testing.T, c mockhost.Config) (h *host, over <-chan struct{}) {
	t.Helper()
	m, err := mockhost.New(t.Context(), c)
	if err != nil {
		t.Fatal(err)
	}
	given := make(chan struct{})
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Header.Get("X-Stopped") != "" {
			defer close(given)
		}
		m.Handler().ServeHTTP(w, r)
	}))
	t.Cleanup(func() {
		if err := m.Shutdown(context.Background()); err != nil {
			t.Errorf("stop the host: %v", err)
		}
		srv.Close()
	})
	return &host{t: t, host: m, url: srv.URL, Credentials: m.Credentials()}, given
}

// heap is what is in use after a collection, in bytes.
func heap() int64 {
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return int64(m.HeapAlloc) //nolint:gosec // far from the bound
}

// A hub that keeps what a subscriber hasn't read grows with it; one that waits for it keeps others waiting.
func TestAStoppedSubscriberCostsNothingAndHoldsNobodyUp(t *testing.T) {
	const (
		events = 256
		size   = 256 << 10
		ring   = 16 << 20 // what a host holds for all
		growth = ring + 24<<20
	)
	h, _ := watched(t, mockhost.Config{Seams: true}.WithWriteTimeout(time.Hour))
	cursor := h.trigger(h.KeyA, "durable")
	live := h.open(h.KeyA, strict, cursor)
	stopped(t, h, cursor)
	before := heap()
	for n := range events {
		id := h.eventID(h.do("POST", "/conformance/seams/sample/host-events/emit", h.KeyA,
			fmt.Sprintf(`{"type":"inventory.item-changed","payloadBytes":%d}`, size)))
		if b, ok := live.next(); !ok || b.eventID() != id {
			t.Fatalf("event %d: a subscriber that reads got %s, want %s", n, b.eventID(), id)
		}
	}
	if grown := heap() - before; grown > growth {
		t.Errorf("the heap grew by %d MiB over %d MiB of events, and may by %d", grown>>20, events*size>>20, growth>>20)
	}
}

func TestAStoppedSubscriberIsGivenUpAndResumesWhereItWas(t *testing.T) {
	h, over := watched(t, mockhost.Config{Seams: true}.WithWriteTimeout(50*time.Millisecond))
	cursor := h.trigger(h.KeyA, "durable")
	conn := stopped(t, h, cursor)
	var want []string
	for done := false; !done; { // until more waits than the buffers on the way take
		want = append(want, h.eventID(h.do("POST", "/conformance/seams/sample/host-events/emit", h.KeyA, `{"type":"inventory.item-changed","payloadBytes":262144}`)))
		select {
		case <-over:
			done = true
		default:
		}
		if len(want) > 400 {
			t.Fatalf("after %d MiB the stream isn't given up", len(want)/4)
		}
	}
	last := h.trigger(h.KeyA, "durable")
	want = append(want, last)
	// What had reached it before is whole events, and perhaps a piece of one that has no end.
	var got []string
	res, err := http.ReadResponse(bufio.NewReader(conn), nil)
	if err != nil {
		t.Fatal(err)
	}
	text, err := io.ReadAll(res.Body)
	if err == nil {
		t.Errorf("the stream ended well after %d bytes", len(text))
	}
	whole := strings.Split(string(text), "\n\n")
	for _, raw := range whole[:len(whole)-1] {
		if b := parse(raw); b.withID {
			got = append(got, b.id)
		}
	}
	if len(got) == 0 || len(got) >= len(want)-1 {
		t.Fatalf("it got %d of %d events, so this shows nothing", len(got), len(want))
	}
	got = append(got, h.open(h.KeyA, strict, got[len(got)-1]).until(last)...)
	if strings.Join(got, " ") != strings.Join(want, " ") {
		t.Errorf("over both streams it got %d events, want %d", len(got), len(want))
	}
}
