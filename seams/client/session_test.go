package client

import (
	"context"
	"io"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/wopwitness/wopwitness/witness/observe"
)

func serve(t *testing.T, h http.HandlerFunc) (*httptest.Server, *Session) {
	t.Helper()
	server := httptest.NewServer(h)
	t.Cleanup(server.Close)
	return server, newClient(t, Config{BaseURL: server.URL}).Begin()
}

func TestDoRecordsWhatWasSentAndWhatCameBack(t *testing.T) {
	var seen *http.Request
	var body []byte
	_, s := serve(t, func(w http.ResponseWriter, r *http.Request) {
		seen = r.Clone(context.Background())
		body, _ = io.ReadAll(r.Body)
		w.Header()["Date"] = nil
		w.Header().Add("x-two", "1")
		w.Header().Add("X-Two", "2")
		w.WriteHeader(http.StatusTeapot)
		_, _ = io.WriteString(w, `{"echo":"`+r.Header.Get("Authorization")+`"}`)
	})
	ex := s.Do(context.Background(), Call{
		Label: "unknown", Credential: "a", Method: "POST", Path: "/host/events/a%2Fb", Query: url.Values{"replay": {"required"}},
		Header: []observe.Header{{Name: "last-event-id", Value: "x\xff\""}}, Body: []byte(`{"a":1}`), Major: 2,
	})
	if seen.RequestURI != "/host/events/a%2Fb?replay=required" || string(body) != `{"a":1}` {
		t.Errorf("the host got %s with %q", seen.RequestURI, body)
	}
	for name, want := range map[string]string{
		"Authorization": "Bearer " + keyA, "Openwop-Version": "2.0", "Accept-Encoding": "identity", "Accept": "application/json",
		"Content-Type": "application/json", "Last-Event-Id": "x\xff\"", "User-Agent": "wopwitness",
	} {
		if got := seen.Header.Get(name); got != want {
			t.Errorf("%s is %q, want %q", name, got, want)
		}
	}
	want := observe.Exchange{
		Label: "unknown", Credential: "a",
		Request: observe.Request{
			Method: "POST", Target: "/host/events/a%2Fb?replay=required", Body: observe.Text(`{"a":1}`),
			Headers: []observe.Header{
				{Name: "Accept", Value: "application/json"}, {Name: "Accept-Encoding", Value: "identity"},
				{Name: "Authorization", Value: "Bearer {{credential:a}}"}, {Name: "Content-Type", Value: "application/json"},
				{Name: "Last-Event-Id", Value: "x\xff\""}, {Name: "Openwop-Version", Value: "2.0"}, {Name: "User-Agent", Value: "wopwitness"},
			},
		},
		Response: &observe.Response{
			Proto: "HTTP/1.1", Status: 418, Reason: "I'm a teapot", Body: observe.Text(`{"echo":"Bearer {{credential:a}}"}`),
			Headers: []observe.Header{
				{Name: "Content-Length", Value: "36"}, {Name: "Content-Type", Value: "text/plain; charset=utf-8"},
				{Name: "X-Two", Value: "1"}, {Name: "X-Two", Value: "2"},
			},
		},
	}
	if ex.SentAt > ex.AnsweredAt {
		t.Errorf("sent at %d, answered at %d", ex.SentAt, ex.AnsweredAt)
	}
	ex.SentAt, ex.AnsweredAt = 0, 0
	if diff := cmp.Diff(want, ex); diff != "" {
		t.Error(diff)
	}
}

func TestWhatIsSentDependsOnTheCall(t *testing.T) {
	var seen http.Header
	_, s := serve(t, func(_ http.ResponseWriter, r *http.Request) { seen = r.Header.Clone() })
	for _, c := range []struct {
		name string
		call Call
		want map[string]string
	}{
		{"major 1 names no version", Call{Path: "/", Major: 1}, map[string]string{"Openwop-Version": ""}},
		{"no credential", Call{Path: "/", Credential: observe.CredentialNone}, map[string]string{"Authorization": ""}},
		{"a bad credential", Call{Path: "/", Credential: observe.CredentialBad}, map[string]string{"Authorization": "Bearer " + badKey}},
		{"the call's own version", Call{Path: "/", Major: 2, Header: []observe.Header{{Name: "openwop-version", Value: "9.0"}}}, map[string]string{"Openwop-Version": "9.0"}},
		{"no body, no type", Call{Path: "/", Method: "POST"}, map[string]string{"Content-Type": "", "Transfer-Encoding": ""}},
	} {
		t.Run(c.name, func(t *testing.T) {
			if ex := s.Do(context.Background(), c.call); ex.Status() != 200 {
				t.Fatalf("%+v", ex.Failure)
			}
			for name, want := range c.want {
				if got := seen.Get(name); got != want {
					t.Errorf("%s is %q, want %q", name, got, want)
				}
			}
		})
	}
}

func TestARequestThatCannotBeSentIsRecordedAndNotSent(t *testing.T) {
	_, s := serve(t, func(http.ResponseWriter, *http.Request) { t.Error("it was sent") })
	for _, c := range []struct {
		name string
		call Call
		says string
	}{
		{"a key that was not given", Call{Path: "/", Credential: observe.CredentialLow}, `no key was given for credential "low"`},
		{"a path that is none", Call{Path: "host"}, "is not one"},
		{"a path with a broken escape", Call{Path: "/a%zz"}, "is not one"},
		{"a header with a line end", Call{Path: "/", Header: []observe.Header{{Name: "Last-Event-ID", Value: "a\r\nb"}}}, "invalid header"},
	} {
		t.Run(c.name, func(t *testing.T) {
			ex := s.Do(context.Background(), c.call)
			if ex.Response != nil || ex.Failure == nil || ex.Failure.Kind != observe.FailMalformed || !strings.Contains(ex.Failure.Text, c.says) {
				t.Errorf("got %+v", ex.Failure)
			}
		})
	}
}

func TestARedirectIsTheAnswerAndNoKeyLeavesTheOrigin(t *testing.T) {
	elsewhere := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		t.Errorf("another origin was asked, with Authorization %q", r.Header.Get("Authorization"))
	}))
	defer elsewhere.Close()
	_, s := serve(t, func(w http.ResponseWriter, r *http.Request) {
		http.Redirect(w, r, elsewhere.URL+"/x", http.StatusTemporaryRedirect)
	})
	for _, method := range []string{"GET", "POST"} {
		ex := s.Do(context.Background(), Call{Method: method, Path: "/", Credential: "a"})
		if ex.Status() != 307 || ex.Response.Header("location") != elsewhere.URL+"/x" {
			t.Errorf("%s: got %d %+v", method, ex.Status(), ex.Failure)
		}
	}
}

func TestAPathThatLooksLikeAnotherOriginStaysWithTheHost(t *testing.T) {
	asked := ""
	_, s := serve(t, func(_ http.ResponseWriter, r *http.Request) { asked = r.RequestURI })
	s.Do(context.Background(), Call{Path: "//evil.example/x", Credential: "a"})
	if asked != "//evil.example/x" {
		t.Errorf("the host was asked for %q", asked)
	}
}

func TestTheBaseURLsPathComesFirst(t *testing.T) {
	asked := ""
	server, _ := serve(t, func(_ http.ResponseWriter, r *http.Request) { asked = r.RequestURI })
	s := newClient(t, Config{BaseURL: server.URL + "/under%2Fthis/"}).Begin()
	ex := s.Do(context.Background(), Call{Path: "/runs/a~2Fb"})
	if asked != "/under%2Fthis/runs/a~2Fb" || ex.Request.Target != asked {
		t.Errorf("the host was asked for %q, recorded %q", asked, ex.Request.Target)
	}
}

func TestOperatorHeadersAreSentAndNotShown(t *testing.T) {
	got := ""
	server, _ := serve(t, func(w http.ResponseWriter, r *http.Request) {
		got = r.Header.Get("X-Gateway-Token")
		w.Header().Set("X-Echo", got)
	})
	s := newClient(t, Config{BaseURL: server.URL, Headers: []observe.Header{{Name: "x-gateway-token", Value: "gateway-secret"}}}).Begin()
	ex := s.Do(context.Background(), Call{Path: "/"})
	if got != "gateway-secret" {
		t.Errorf("the host got %q", got)
	}
	const marker = "{{header:X-Gateway-Token}}"
	sent := (&observe.Response{Headers: ex.Request.Headers}).Header("X-Gateway-Token")
	if sent != marker || ex.Response.Header("X-Echo") != marker {
		t.Errorf("recorded %q and %q", sent, ex.Response.Header("X-Echo"))
	}
}

func TestOneHostOverHTTP2(t *testing.T) {
	server := httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		_, _ = io.Copy(w, r.Body)
	}))
	server.EnableHTTP2 = true
	server.StartTLS()
	defer server.Close()
	s := newClient(t, Config{BaseURL: server.URL, CAFile: certificateFile(t, server)}).Begin()
	ex := s.Do(context.Background(), Call{Method: "POST", Path: "/", Credential: "a", Body: []byte(`"x"`)})
	if ex.Response == nil || ex.Response.Proto != "HTTP/2.0" || ex.Response.Body.String() != `"x"` || ex.Response.Reason != "OK" && ex.Response.Reason != "" {
		t.Errorf("got %+v, %+v", ex.Response, ex.Failure)
	}
}

func TestOpenLeavesAnEventStreamToItsReader(t *testing.T) {
	_, s := serve(t, func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "Text/Event-Stream; charset=utf-8")
		_, _ = io.WriteString(w, "data: a\n\n")
	})
	opened := s.Open(context.Background(), Call{Path: "/"})
	if opened.Body == nil {
		t.Fatalf("%+v", opened.Exchange)
	}
	got, err := io.ReadAll(opened.Body)
	if err != nil || string(got) != "data: a\n\n" || len(opened.Exchange.Response.Body) != 0 {
		t.Errorf("read %q, %v; recorded %q", got, err, opened.Exchange.Response.Body)
	}
	if err := opened.Body.Close(); err != nil {
		t.Error(err)
	}
}

func TestOpenReadsAnyOtherAnswerAsABody(t *testing.T) {
	for _, c := range []struct {
		name, contentType string
		status            int
	}{
		{"a refusal", "application/json", 409}, {"a refusal that calls itself a stream", "text/event-stream", 409},
		{"200 with JSON", "application/json", 200}, {"a type that only begins like it", "text/event-streams", 200},
	} {
		t.Run(c.name, func(t *testing.T) {
			_, s := serve(t, func(w http.ResponseWriter, _ *http.Request) {
				w.Header().Set("Content-Type", c.contentType)
				w.WriteHeader(c.status)
				_, _ = io.WriteString(w, "the body")
			})
			opened := s.Open(context.Background(), Call{Path: "/"})
			if opened.Body != nil || opened.Exchange.Failure != nil || opened.Exchange.Response.Body.String() != "the body" {
				t.Errorf("got %+v", opened)
			}
		})
	}
}
