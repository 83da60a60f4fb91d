package mockhost_test

import (
	"bytes"
	"io"
	"log"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"strings"
	"sync"
	"testing"
	"time"
)

// sitePage shows the state of its EventSource and keeps what its script was given.
const sitePage = `<!doctype html>
<meta charset="utf-8">
<title>Host events</title>
<p id="state">not connected</p>
<script>
'use strict'
const types = ['host-test.durable-triggered', 'host-test.ephemeral-triggered', 'inventory.item-changed', 'message']
const seen = [], errors = []
let source, opens = 0, lastEventId = '', waiting = []

// until gives a promise that holds once the condition does; changed looks at the conditions again.
const until = condition => new Promise(done => { waiting.push({condition, done}); changed() })
const changed = () => { waiting = waiting.filter(w => !w.condition() || w.done(true)) }

function listen(url) {
  source = new EventSource(url)
  const show = () => {
    document.getElementById('state').textContent = ['connecting', 'open', 'closed'][source.readyState]
    changed()
  }
  source.onopen = () => { opens++; show() }
  source.onerror = () => { errors.push({ReadyState: source.readyState, LastEventID: lastEventId}); show() }
  for (const type of types) {
    source.addEventListener(type, e => {
      lastEventId = e.lastEventId
      seen.push({Event: e.type, ID: JSON.parse(e.data).eventId, LastEventID: e.lastEventId})
      changed()
    })
  }
  const before = opens
  return until(() => opens > before)
}
</script>
`

// hurried is what a site may put before a stream so that its readers reconnect sooner than after a browser's seconds.
const hurried = "retry: 20\n\n"

// siteHooks are what a test does at the requests for the stream. They are called on the server's goroutines.
type siteHooks struct {
	prefix  string              // put before each stream
	asked   func(cursor string) // before the request goes to the host
	opened  func(cursor string) // when the host has answered with a stream
	relayed func(b []byte)      // for the host's bytes, before the browser has them
}

// visited is one request for the stream, and the host's answer.
type visited struct {
	cursor, media string
	status        int
}

// site serves a page, and from the same origin the host's stream: an EventSource can send no Authorization, so the
// site's server adds the key and the version.
type site struct {
	url string

	mu     sync.Mutex
	visits []visited
}

func newSite(t *testing.T, h *host, hooks siteHooks) *site {
	t.Helper()
	target, err := url.Parse(h.url)
	if err != nil {
		t.Fatal(err)
	}
	s := &site{}
	proxy := &httputil.ReverseProxy{
		Rewrite: func(r *httputil.ProxyRequest) {
			r.SetURL(target)
			r.Out.Header.Set("Authorization", "Bearer "+h.KeyA)
			r.Out.Header.Set("OpenWOP-Version", "2")
		},
		FlushInterval:  -1, // each event at once
		ModifyResponse: func(res *http.Response) error { s.answered(res, hooks); return nil },
		ErrorLog:       log.New(io.Discard, "", 0), // a browser that leaves is no error
	}
	mux := http.NewServeMux()
	mux.HandleFunc("GET /{$}", func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "text/html; charset=utf-8")
		_, _ = io.WriteString(w, sitePage)
	})
	mux.HandleFunc("GET /host/events", func(w http.ResponseWriter, r *http.Request) {
		if hooks.asked != nil {
			hooks.asked(r.Header.Get("Last-Event-ID"))
		}
		proxy.ServeHTTP(w, r)
	})
	srv := httptest.NewServer(mux)
	t.Cleanup(func() {
		srv.CloseClientConnections()
		srv.Close()
	})
	s.url = srv.URL
	return s
}

func (s *site) answered(res *http.Response, hooks siteHooks) {
	cursor := res.Request.Header.Get("Last-Event-ID")
	s.mu.Lock()
	s.visits = append(s.visits, visited{cursor, res.Header.Get("Content-Type"), res.StatusCode})
	s.mu.Unlock()
	if res.StatusCode != http.StatusOK {
		return
	}
	if hooks.opened != nil {
		hooks.opened(cursor)
	}
	body := struct {
		io.Reader
		io.Closer
	}{res.Body, res.Body}
	if hooks.relayed != nil {
		body.Reader = io.TeeReader(body.Reader, writeFunc(hooks.relayed))
	}
	if hooks.prefix != "" {
		body.Reader = io.MultiReader(strings.NewReader(hooks.prefix), body.Reader)
	}
	res.Body = body
}

func (s *site) answers() []visited {
	s.mu.Lock()
	defer s.mu.Unlock()
	return append([]visited(nil), s.visits...)
}

type writeFunc func([]byte)

func (f writeFunc) Write(b []byte) (int, error) {
	f(b)
	return len(b), nil
}

// commentCounter counts the keep-alive comments that have passed.
type commentCounter struct {
	t      *testing.T
	passed chan struct{}
}

func newCommentCounter(t *testing.T) *commentCounter {
	return &commentCounter{t, make(chan struct{}, 1)}
}

// count tells of a batch with a comment; one that nobody waits for is forgotten.
func (c *commentCounter) count(b []byte) {
	if !bytes.HasPrefix(b, []byte(":")) {
		return
	}
	select {
	case c.passed <- struct{}{}:
	default:
	}
}

// waitFor returns when at least n more have passed.
func (c *commentCounter) waitFor(n int) {
	c.t.Helper()
	timeout := time.After(browserDeadline)
	for range n {
		select {
		case <-c.passed:
		case <-timeout:
			c.t.Fatalf("%d comments didn't pass within %s", n, browserDeadline)
		}
	}
}
