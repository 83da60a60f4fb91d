package mockhost_test

import (
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/wopwitness/wopwitness/mockhost"
	"github.com/wopwitness/wopwitness/mockhost/store/postgres/pgtest"
)

// instances are two hosts over one database, as two processes of one host are.
func instances(t *testing.T) (a, b *host) {
	c := mockhost.Config{
		Store: pgtest.Schema(t), Seams: true, Clock: "manual", KeyA: "key-a", KeyB: "key-b", KeyLow: "key-low", KeyWS: "key-ws",
	}
	return start(t, c), start(t, c)
}

func TestInstancesAreOneHost(t *testing.T) {
	a, b := instances(t)
	t.Run("what one emits the other replays and delivers", func(t *testing.T) {
		for name, pair := range map[string][2]*host{"the one": {a, b}, "the other": {b, a}} {
			h, emits := pair[0], pair[1]
			first, second := emits.trigger(emits.KeyA, "durable"), h.trigger(h.KeyA, "durable")
			s := h.open(h.KeyA, "?replay=required", first)
			if got := s.until(second); !slices.Equal(got, []string{second}) {
				t.Errorf("%s replayed %v, want %v", name, got, second)
			}
			third := emits.trigger(emits.KeyA, "durable")
			if got := s.until(third); !slices.Equal(got, []string{third}) {
				t.Errorf("%s delivered %v, want %v", name, got, third)
			}
		}
	})
	t.Run("an ephemeral event of any size reaches the other's streams", func(t *testing.T) {
		s := b.open(b.KeyA, "", "")
		for _, size := range []string{"10", "100000"} {
			e := a.eventID(a.do("POST", "/conformance/seams/sample/host-events/emit", a.KeyA, `{"type":"presence.user-seen","payloadBytes":`+size+`}`))
			if got := s.until(e); !slices.Contains(got, e) {
				t.Errorf("%s bytes: got %v", size, got)
			}
		}
	})
	t.Run("a request is answered once", func(t *testing.T) {
		one := a.do("POST", "/host/events/test", a.KeyA, `{"delivery":"durable"}`, "Idempotency-Key: k-1")
		two := b.do("POST", "/host/events/test", b.KeyA, `{"delivery":"durable"}`, "Idempotency-Key: k-1")
		if one.status != 202 || two.status != 202 || one.body != two.body || two.header.Get("OpenWOP-Idempotent-Replay") != "true" {
			t.Errorf("got %d %s and then %d %s", one.status, one.body, two.status, two.body)
		}
	})
	t.Run("a removed event is gone on both", func(t *testing.T) {
		cursor, gone, last := a.trigger(a.KeyB, "durable"), a.trigger(a.KeyB, "durable"), a.trigger(a.KeyB, "durable")
		b.open(b.KeyB, "?replay=required", cursor).until(last) // so that the other's ring has it
		if r := a.do("POST", "/conformance/seams/sample/host-events/remove", a.KeyB, `{"eventId":"`+gone+`"}`); r.status != 204 {
			t.Fatalf("remove: %d %s", r.status, r.body)
		}
		sentinel := a.trigger(a.KeyB, "durable") // signals of one instance arrive in the order of its commits
		b.open(b.KeyB, "?replay=required", last).until(sentinel)
		if got := b.open(b.KeyB, "?replay=required", cursor).until(sentinel); !slices.Equal(got, []string{last, sentinel}) {
			t.Errorf("got %v, want %v", got, []string{last, sentinel})
		}
	})
	t.Run("what one removed the other doesn't replay, however soon it is asked", func(t *testing.T) {
		for range 30 {
			cursor, gone, last := a.trigger(a.KeyB, "durable"), a.trigger(a.KeyB, "durable"), a.trigger(a.KeyB, "durable")
			b.open(b.KeyB, "?replay=required", cursor).until(last) // so that the other's ring has it
			if r := a.do("POST", "/conformance/seams/sample/host-events/remove", a.KeyB, `{"eventId":"`+gone+`"}`); r.status != 204 {
				t.Fatalf("remove: %d %s", r.status, r.body)
			}
			if got := b.open(b.KeyB, "?replay=required", cursor).until(last); !slices.Equal(got, []string{last}) {
				t.Fatalf("got %v, want %v", got, last)
			}
		}
	})
	t.Run("the clock is one, and its work is done once", func(t *testing.T) {
		event := a.trigger(a.KeyA, "durable")
		moved := a.do("POST", "/conformance/seams/sample/clock/advance", a.KeyA, `{"seconds":86400}`)
		read := b.do("GET", "/conformance/seams/sample/clock", b.KeyA, "")
		if moved.status != 200 || read.status != 200 || instantOf(t, read).Before(instantOf(t, moved)) {
			t.Errorf("one moved to %s, the other stands at %s", moved.body, read.body)
		}
		for _, h := range []*host{a, b} {
			if s, r := h.tryOpen(h.KeyA, "?replay=required", event); s != nil || r.status != 409 {
				t.Errorf("an event past its bound is still a cursor: %d", r.status)
			}
		}
		fresh := b.trigger(b.KeyA, "durable")
		if s, r := a.tryOpen(a.KeyA, "?replay=required", fresh); s == nil {
			t.Errorf("an event emitted after the move is no cursor: %d %s", r.status, r.body)
		}
	})
}

// instantOf reads the time that the clock seam answered.
func instantOf(t *testing.T, a answer) time.Time {
	t.Helper()
	_, text, _ := strings.Cut(a.body, `"now":"`)
	text, _, _ = strings.Cut(text, `"`)
	at, err := time.Parse(time.RFC3339, text)
	if err != nil {
		t.Fatalf("%s: %v", a.body, err)
	}
	return at
}

// TestALostDatabaseIsTold cuts the link to the database and mends it: requests are answered 503 with Retry-After, streams
// end, the host recovers by itself, and nothing that was acknowledged is gone.
func TestALostDatabaseIsTold(t *testing.T) {
	address := pgtest.Schema(t)
	link := pgtest.NewLink(t, address)
	h := start(t, mockhost.Config{Store: link.URL(), Seams: true})
	whole := start(t, mockhost.Config{Store: address, KeyA: h.KeyA, Seams: true})

	first := h.trigger(h.KeyA, "durable")
	live := h.open(h.KeyA, "?replay=required", first)
	second := h.trigger(h.KeyA, "durable")
	live.until(second)
	link.Cut()
	if b, ok := live.next(); ok {
		t.Errorf("the stream went on with %q", b.raw)
	}
	for name, a := range map[string]answer{
		"trigger": h.do("POST", "/host/events/test", h.KeyA, `{"delivery":"durable"}`),
		"lookup":  h.do("GET", "/host/events?replay=required", h.KeyA, "", "Last-Event-ID: "+first),
		"live":    h.do("GET", "/host/events", h.KeyA, ""),
		"runs":    h.do("GET", "/v1/runs/r-unknown", h.KeyA, ""),
		"queue":   h.do("GET", "/v1/host/sample/agent-dlq/queues/tool", h.KeyA, ""),
		"scrape":  h.do("GET", "/metrics", h.KeyA, ""),
	} {
		if a.status != http.StatusServiceUnavailable || a.header.Get("Retry-After") != "1" || a.code() != "service_unavailable" {
			t.Errorf("%s while the database is away: %d %q %s", name, a.status, a.header, a.body)
		}
	}
	if a := h.do("GET", "/.well-known/openwop", "", ""); a.status != 200 {
		t.Errorf("discovery needs no database: %d", a.status)
	}
	meanwhile := whole.trigger(whole.KeyA, "durable")
	link.Mend()
	var third string
	for until := time.Now().Add(deadline); third == ""; {
		if a := h.do("POST", "/host/events/test", h.KeyA, `{"delivery":"durable"}`); a.status == http.StatusAccepted {
			third = h.eventID(a)
		} else if a.status != http.StatusServiceUnavailable || time.Now().After(until) {
			t.Fatalf("the host didn't recover: %d %s", a.status, a.body)
		}
	}
	if got, want := h.open(h.KeyA, "?replay=required", first).until(third), []string{second, meanwhile, third}; !slices.Equal(got, want) {
		t.Errorf("after the outage a resume gives %v, want %v", got, want)
	}
	again := h.open(h.KeyA, "?replay=required", third)
	fourth := whole.trigger(whole.KeyA, "durable") // heard of by the connection that listens again, or by its catching up
	again.until(fourth)
}
