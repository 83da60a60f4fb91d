package mockhost_test

import (
	"io"
	"net/http"
	"net/http/httptest"
	"slices"
	"testing"

	"github.com/wopwitness/wopwitness/mockhost"
)

// crossPage calls a host of another origin with fetch, which can send headers and read a stream as it comes.
const crossPage = `<!doctype html>
<meta charset="utf-8">
<title>Another origin</title>
<script>
'use strict'
async function ask(url, method, headers, body) {
  try {
    const r = await fetch(url, {method, headers, body: body || undefined})
    return {Status: r.status, ETag: r.headers.get('ETag') || '', Version: r.headers.get('OpenWOP-Version') || '', Body: await r.text()}
  } catch (e) {
    return {Refused: e.name}
  }
}

let reader, text = ''
async function open(url, headers) {
  const r = await fetch(url, {headers})
  reader = r.body.pipeThrough(new TextDecoderStream()).getReader()
  return r.status
}
async function readTo(id) {
  while (!text.includes('"eventId":"' + id + '"')) {
    const {value, done} = await reader.read()
    if (done) break
    text += value
  }
  return [...text.matchAll(/"eventId":"([^"]*)"/g)].map(m => m[1])
}
</script>
`

// asked is what a page gets for a fetch; Refused names the error where the browser kept the answer from it.
type asked struct {
	Status                       int
	ETag, Version, Body, Refused string
}

func newCrossSite(t *testing.T) *site {
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "text/html; charset=utf-8")
		_, _ = io.WriteString(w, crossPage)
	}))
	t.Cleanup(func() {
		srv.CloseClientConnections()
		srv.Close()
	})
	return &site{url: srv.URL}
}

func (p page) fetch(h *host, method, path, body string, headers map[string]string) asked {
	p.t.Helper()
	return evaluate[asked](p, `ask(`+inJSON(h.url+path)+`, `+inJSON(method)+`, `+inJSON(headers)+`, `+inJSON(body)+`)`)
}

// fetchesFromAnotherOrigin does what a page without a proxy would: each request here needs a preflight.
func fetchesFromAnotherOrigin(t *testing.T, b browser) {
	s := newCrossSite(t)
	for _, c := range []struct{ name, origin string }{{"the page's origin", s.url}, {"any origin", "*"}} {
		t.Run(c.name, func(t *testing.T) {
			h := start(t, mockhost.Config{CORSOrigin: c.origin})
			p := b.visit(t, s)
			version := map[string]string{"OpenWOP-Version": "2"}
			got := p.fetch(h, "GET", "/.well-known/openwop", "", version)
			direct := h.do("GET", "/.well-known/openwop", "", "", "OpenWOP-Version: 2")
			if want := (asked{Status: 200, ETag: direct.header.Get("ETag"), Version: "2.0", Body: direct.body}); got != want {
				t.Errorf("discovery: got %+v, want %+v", got, want)
			}
			key := map[string]string{"OpenWOP-Version": "2", "Authorization": "Bearer " + h.KeyA}
			cursor := h.trigger(h.KeyA, "durable")
			post := map[string]string{"Content-Type": "application/json", "Idempotency-Key": "from-a-page"}
			for k, v := range key {
				post[k] = v
			}
			got = p.fetch(h, "POST", "/host/events/test", `{"delivery":"durable"}`, post)
			next := h.eventID(answer{status: got.Status, body: got.Body})

			resume := map[string]string{"Last-Event-ID": cursor}
			unknown := map[string]string{"Last-Event-ID": "no-such-event-0000"}
			for k, v := range key {
				resume[k], unknown[k] = v, v
			}
			if status := evaluate[int](p, `open(`+inJSON(h.url+"/host/events"+strict)+`, `+inJSON(resume)+`)`); status != 200 {
				t.Errorf("resume: got %d", status)
			}
			live := h.trigger(h.KeyA, "durable")
			if ids := evaluate[[]string](p, `readTo(`+inJSON(live)+`)`); !slices.Equal(ids, []string{next, live}) {
				t.Errorf("resume: got %v, want %v", ids, []string{next, live})
			}
			// Unlike an EventSource, fetch shows why the host refuses.
			got = p.fetch(h, "GET", "/host/events"+strict, "", unknown)
			if want := (asked{Status: 409, Version: "2.0", Body: refusal}); got != want {
				t.Errorf("an unknown cursor: got %+v, want %+v", got, want)
			}
			delete(unknown, "Authorization")
			if got = p.fetch(h, "GET", "/host/events"+strict, "", unknown); got.Status != 401 {
				t.Errorf("without a key: got %+v, want status 401", got)
			}
		})
	}
}

func refusedFromAnotherOrigin(t *testing.T, b browser) {
	s := newCrossSite(t)
	for _, c := range []struct{ name, origin string }{{"another page's origin", "https://app.example"}, {"no origin", ""}} {
		t.Run(c.name, func(t *testing.T) {
			h := start(t, mockhost.Config{CORSOrigin: c.origin})
			observer := h.open(h.KeyA, "", "")
			p := b.visit(t, s)
			key := map[string]string{"OpenWOP-Version": "2", "Authorization": "Bearer " + h.KeyA, "Content-Type": "application/json"}
			refused := asked{Refused: "TypeError"}
			for _, r := range []struct {
				name, method, path, body string
				headers                  map[string]string
			}{
				{"a request without a preflight", "GET", "/.well-known/openwop", "", nil},
				{"a request with one", "GET", "/.well-known/openwop", "", map[string]string{"OpenWOP-Version": "2"}},
				{"a stream", "GET", "/host/events" + strict, "", key},
				{"a trigger", "POST", "/host/events/test", `{"delivery":"durable"}`, key},
			} {
				if got := p.fetch(h, r.method, r.path, r.body, r.headers); got != refused {
					t.Errorf("%s: got %+v, want %+v", r.name, got, refused)
				}
			}
			// The refused trigger never left the browser.
			sentinel := h.trigger(h.KeyA, "durable")
			if got := observer.until(sentinel); !slices.Equal(got, []string{sentinel}) {
				t.Errorf("the host emitted %v, want %v", got, []string{sentinel})
			}
		})
	}
}
