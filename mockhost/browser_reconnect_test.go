package mockhost_test

import (
	"slices"
	"sync/atomic"
	"testing"
	"time"

	"github.com/wopwitness/wopwitness/mockhost"
)

// streamLife is how soon the host ends each stream, so that the browser has to come back by itself.
const streamLife = 150 * time.Millisecond

// reconnecting has the host end its streams, and another goroutine emit while the browser is away, while its new stream is
// being opened, and when it is open. A browser can't choose its first cursor, so until it has one each stream is given
// an event.
func reconnecting(t *testing.T, b browser, pace string, rounds int) {
	h := start(t, mockhost.Config{StreamLife: streamLife})
	w := newWriter(t, h)
	enough := make(chan struct{})
	var away atomic.Int64
	s := newSite(t, h, siteHooks{
		prefix: pace,
		asked: func(cursor string) {
			if cursor == "" {
				return
			}
			n := int(away.Add(1))
			if n > rounds {
				return
			}
			w.wait(w.emit("durable", "ephemeral", "durable"))
			w.emit("durable")
			if n == rounds {
				close(enough)
			}
		},
		opened: func(string) {
			select {
			case <-enough:
			default:
				w.emit("durable")
			}
		},
	})
	p := b.visit(t, s)
	p.listen("?replay=required")
	receive(t, enough, "the browser didn't reconnect often enough")
	w.wait(w.emit("durable"))
	sent := w.sent()
	p.until(sent[len(sent)-1])
	evaluate[bool](p, `source.close(), true`)

	seen := p.seen()
	// What was emitted before the browser had a cursor may have been missed, and the host can't know.
	want := sent[max(0, slices.Index(sent, seen[0].ID)):]
	if got := idsOf(seen); !slices.Equal(got, want) {
		t.Errorf("the page saw %d events\n%v\nand %d were emitted\n%v", len(got), got, len(want), want)
	}
	for i, e := range seen {
		if want := (sighting{"host-test.durable-triggered", e.ID, e.ID}); e != want {
			t.Errorf("event %d: the page saw %v, want %v", i, e, want)
		}
	}
	errs, answers := p.errors(), s.answers()
	for i, a := range answers {
		if a.status != 200 || a.media != "text/event-stream" {
			t.Errorf("stream %d: got %d %s", i, a.status, a.media)
		}
		if i > 0 && a.cursor != errs[i-1].LastEventID {
			t.Errorf("stream %d: the browser sent the cursor %q, and its page had last seen %q", i, a.cursor, errs[i-1].LastEventID)
		}
	}
	for i, e := range errs {
		if e.ReadyState != connecting {
			t.Errorf("error %d: readyState %d, want %d: it reconnects by itself", i, e.ReadyState, connecting)
		}
	}
}

// removedInABrowser removes the browser's cursor while it is away. To a browser any answer but 200 is the end.
func removedInABrowser(t *testing.T, b browser) {
	h := start(t, mockhost.Config{StreamLife: streamLife, Seams: true})
	w := newWriter(t, h)
	s := newSite(t, h, siteHooks{prefix: hurried, asked: w.removeOnce(), opened: w.whileWithout()})
	p := b.visit(t, s)
	p.listen("?replay=required")
	evaluate[bool](p, `until(() => source.readyState === EventSource.CLOSED)`)

	if got := evaluate[string](p, `document.getElementById('state').textContent`); got != "closed" {
		t.Errorf("the page shows %q", got)
	}
	errs, answers := p.errors(), s.answers()
	if last := errs[len(errs)-1]; last.ReadyState != closed {
		t.Errorf("the last error found readyState %d, want %d", last.ReadyState, closed)
	}
	refused := answers[len(answers)-1]
	if want := (visited{cursor: errs[len(errs)-1].LastEventID, media: "application/json", status: 409}); refused != want || want.cursor == "" {
		t.Errorf("the browser was answered %+v, want %+v", refused, want)
	}

	// A page that wants to go on reads the current state and opens a stream without a cursor.
	p.listen("?replay=required")
	next := s.answers()[len(answers):]
	if want := (visited{media: "text/event-stream", status: 200}); len(next) == 0 || next[0] != want {
		t.Errorf("a new stream: got %+v, want %+v first", next, want)
	}
}

func removedWithoutTheParameter(t *testing.T, b browser) {
	h := start(t, mockhost.Config{StreamLife: streamLife, Seams: true})
	w := newWriter(t, h)
	s := newSite(t, h, siteHooks{prefix: hurried, asked: w.removeOnce(), opened: w.whileWithout()})
	p := b.visit(t, s)
	p.listen("")
	receive(t, w.removed, "the browser didn't reconnect with a cursor")
	// The streams end on, and the cursor stays the removed one until an event comes; re-emitting makes one come.
	sent, had := w.sent(), len(p.seen())
	missed := sent[len(sent)-1]
	for limit := time.Now().Add(browserDeadline); len(p.seen()) == had; w.wait(w.emit("durable")) {
		if time.Now().After(limit) {
			t.Fatalf("no event came to a live stream within %s", browserDeadline)
		}
	}
	seen := p.seen()
	if slices.Contains(idsOf(seen), missed) {
		t.Errorf("the page saw %v, and %s was emitted while it was away with a cursor that isn't there", seen, missed)
	}
	for i, a := range s.answers() {
		if a.status != 200 {
			t.Errorf("stream %d: got %d %s", i, a.status, a.media)
		}
	}
	for i, e := range p.errors() {
		if e.ReadyState != connecting {
			t.Errorf("error %d: readyState %d, want %d", i, e.ReadyState, connecting)
		}
	}
}
