package client

import (
	"context"
	"io"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/jonboulle/clockwork"

	"github.com/wopwitness/wopwitness/witness/observe"
)

// page is one representation of a discovery document.
type page struct {
	status  int
	version string // the OpenWOP-Version of the answer
	body    string
	header  map[string]string
}

// discoveryHost answers with the page of the version asked for.
func discoveryHost(t *testing.T, pages map[string]page) *Session {
	t.Helper()
	_, s := serve(t, func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path != "/.well-known/openwop" || r.Header.Get("Authorization") != "" {
			t.Errorf("asked for %s with Authorization %q", r.URL.Path, r.Header.Get("Authorization"))
		}
		p := pages[r.Header.Get("OpenWOP-Version")]
		for name, value := range p.header {
			w.Header().Set(name, value)
		}
		if p.version != "" {
			w.Header().Set("OpenWOP-Version", p.version)
		}
		w.WriteHeader(max(p.status, 200))
		_, _ = io.WriteString(w, p.body)
	})
	return s
}

func same(p page) map[string]page { return map[string]page{"1.0": p, "2.0": p} }

func TestMajorsThatAHostServes(t *testing.T) {
	const (
		v1 = `{"protocolVersion":"1.0","protocolVersions":["1.0","2.0"],"preferredVersion":"2.0"}`
		v2 = `{"protocolVersions":["1.0","2.1"],"preferredVersion":"2.1"}`
	)
	unsupported := page{status: 406, body: `{"error":"protocol_version_unsupported","message":"no"}`}
	for _, c := range []struct {
		name  string
		pages map[string]page
		want  []int
	}{
		{"both", map[string]page{"1.0": {body: v1}, "2.0": {body: v2, version: "2.1"}}, []int{1, 2}},
		{"a major-1 host that ignores the header", same(page{body: `{"protocolVersion":"1.0"}`}), []int{1}},
		{"a major-1 host with a list", map[string]page{"1.0": {body: `{"protocolVersion":"1.2","protocolVersions":["1.2"]}`}, "2.0": unsupported}, []int{1}},
		{"a major-1 host with a list that ignores the header", same(page{body: `{"protocolVersion":"1.0","protocolVersions":["1.0"]}`}), []int{1}},
		{"a major-2 host", map[string]page{"1.0": unsupported, "2.0": {body: `{"protocolVersions":["2.0"]}`, version: "2.0"}}, []int{2}},
		{"a major-2 host that ignores the header", same(page{body: `{"protocolVersions":["2.0"],"preferredVersion":"2.0"}`, version: "2.0"}), []int{2}},
		{"a major-2 document that forgot its list", map[string]page{"1.0": unsupported, "2.0": {body: `{}`, version: "2.0"}}, []int{2}},
		{"versions as numbers", map[string]page{"1.0": unsupported, "2.0": {body: `{"protocolVersions":[2]}`}}, []int{2}},
		{"a list beside a major-1 document only for one", map[string]page{"1.0": {body: v1}, "2.0": unsupported}, []int{1}},
	} {
		t.Run(c.name, func(t *testing.T) {
			majors, d2, d1, problem := discoveryHost(t, c.pages).Majors(context.Background())
			if problem != nil || !slices.Equal(majors, c.want) {
				t.Errorf("got %v, %v", majors, problem)
			}
			if d2.Major != 2 || d1.Major != 1 {
				t.Errorf("the documents are of %d and %d", d2.Major, d1.Major)
			}
		})
	}
}

func TestAHostThatServesNoMajorIsOneProblem(t *testing.T) {
	for _, c := range []struct {
		name  string
		pages map[string]page
		kind  ProblemKind
		says  string
	}{
		{"an HTML page", same(page{body: "<!doctype html><p>hi", header: map[string]string{"Content-Type": "text/html"}}), ProblemUnreadable, "an HTML page"},
		{"not found", same(page{status: 404}), ProblemUnreadable, "answered 404"},
		{"a redirect", same(page{status: 301, header: map[string]string{"Location": "https://other.example/"}}), ProblemUnreadable, `a redirect to "https://other.example/"`},
		{"no object", same(page{body: `[]`}), ProblemUnreadable, "not a JSON object"},
		{"a duplicate member", same(page{body: `{"protocolVersion":"1.0","protocolVersion":"1.0"}`}), ProblemUnreadable, "stands twice"},
		{"too deep", same(page{body: strings.Repeat(`{"a":`, 70) + "1" + strings.Repeat("}", 70)}), ProblemUnreadable, "nested deeper"},
		{"another major", same(page{body: `{"protocolVersions":["3.0"]}`}), ProblemNoMajor, "[3.0]"},
		{"some JSON", same(page{body: `{"hello":"world"}`}), ProblemNoMajor, "no major that is known"},
		{"both refused", same(page{status: 406}), ProblemUnreadable, "answered 406"},
	} {
		t.Run(c.name, func(t *testing.T) {
			majors, _, _, problem := discoveryHost(t, c.pages).Majors(context.Background())
			if len(majors) != 0 || problem == nil || problem.Kind != c.kind || !strings.Contains(problem.Error(), c.says) {
				t.Errorf("got %v, %+v", majors, problem)
			}
		})
	}
}

func TestAHostThatDoesNotAnswerIsOneProblem(t *testing.T) {
	s := newClient(t, Config{BaseURL: "http://127.0.0.1:1"}).Begin()
	majors, _, _, problem := s.Majors(context.Background())
	if len(majors) != 0 || problem == nil || problem.Kind != ProblemUnreachable || !strings.Contains(problem.Text, "nothing listens") {
		t.Errorf("got %v, %+v", majors, problem)
	}
}

func TestABusyHostIsAskedAgain(t *testing.T) {
	asked := 0
	clock := clockwork.NewFakeClock()
	server, _ := serve(t, func(w http.ResponseWriter, _ *http.Request) {
		if asked++; asked == 1 {
			w.Header().Set("Retry-After", "3")
			w.WriteHeader(http.StatusTooManyRequests)
			return
		}
		_, _ = io.WriteString(w, `{"protocolVersion":"1.0"}`)
	})
	s := newClient(t, Config{BaseURL: server.URL, Clock: clock}).Begin()
	read := make(chan Discovery)
	go func() { read <- s.Discover(context.Background(), 1) }()
	if err := clock.BlockUntilContext(t.Context(), 1); err != nil {
		t.Fatal(err)
	}
	clock.Advance(3 * time.Second)
	if d := <-read; !d.Serves(1) || asked != 2 {
		t.Errorf("asked %d times, got %+v", asked, d)
	}
}

func TestRetryAfter(t *testing.T) {
	for _, c := range []struct {
		name, value, date string
		want              time.Duration
		said              bool
	}{
		{"seconds", "3", "", 3 * time.Second, true},
		{"none", "0", "", 0, true},
		{"a date", "Tue, 01 Jan 2030 00:00:05 GMT", "Tue, 01 Jan 2030 00:00:00 GMT", 5 * time.Second, true},
		{"a date that is past", "Tue, 01 Jan 2030 00:00:00 GMT", "Tue, 01 Jan 2030 00:00:05 GMT", 0, true},
		{"a date and no Date", "Tue, 01 Jan 2030 00:00:00 GMT", "", 0, false},
		{"very long", "99999999999999", "", 24 * time.Hour, true},
		{"negative", "-1", "", 0, false},
		{"absent", "", "", 0, false},
		{"a fraction", "1.5", "", 0, false},
		{"nonsense", "soon", "", 0, false},
	} {
		t.Run(c.name, func(t *testing.T) {
			ex := observe.Exchange{Response: &observe.Response{Headers: []observe.Header{{Name: "Retry-After", Value: c.value}, {Name: "Date", Value: c.date}}}}
			if got, said := RetryAfter(ex); got != c.want || said != c.said {
				t.Errorf("got %v, %v", got, said)
			}
		})
	}
	if _, said := RetryAfter(observe.Exchange{}); said {
		t.Error("an exchange without an answer asks to wait")
	}
}

// Whatever a host serves, the readers end and the record holds no key.
func FuzzDiscovery(f *testing.F) {
	f.Add([]byte(`{"protocolVersions":["2.0"],"hostEvents":{"types":[{"type":"a.b","delivery":"durable"}],"replay":{"minRetentionSeconds":1}}}`), "2.0")
	f.Add([]byte(`{"protocolVersion":"1.0","capabilities":{"deadLetter":{"supported":true}},"host":{"deadLetter":null}}`), "")
	f.Add([]byte(`<html>`), "x")
	f.Fuzz(func(t *testing.T, body []byte, version string) {
		for major := range 4 {
			d := Discovery{Major: major, Exchange: observe.Exchange{Response: &observe.Response{
				Status: 200, Body: body, Headers: []observe.Header{{Name: "OpenWOP-Version", Value: version}},
			}}}
			d.Document, d.Unread = document(d.Exchange)
			if (d.Document == nil) != (d.Unread != "") {
				t.Fatalf("document %v, and %q", d.Document, d.Unread)
			}
			served := d.Serves(major)
			h, advertised := d.HostEvents()
			bound, bounded := h.MinRetention()
			letter, _ := d.DeadLetter()
			if d.Document == nil && (served || advertised) || bounded && bound < 1 || letter.RetentionDays < 0 {
				t.Fatalf("served %v, advertised %v, bound %d, days %d", served, advertised, bound, letter.RetentionDays)
			}
			d.Fixtures()
			d.Implementation()
			d.SeamsProfile()
			d.PreferredVersion()
		}
	})
}
