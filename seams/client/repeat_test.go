package client

import (
	"bufio"
	"bytes"
	"context"
	"crypto/tls"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/wopwitness/wopwitness/witness/observe"
)

// dyingHost answers the first request and keeps the connection; it takes the second, and ends the connection without an
// answer. That is what makes an HTTP library send a request again.
func dyingHost(t *testing.T) (string, *atomic.Int32) {
	var requests atomic.Int32
	return rawHost(t, func(conn net.Conn, r *bufio.Reader) {
		for {
			req, err := http.ReadRequest(r)
			if err != nil {
				return
			}
			_, _ = io.Copy(io.Discard, req.Body)
			if requests.Add(1) != 1 {
				return
			}
			_, _ = fmt.Fprint(conn, "HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n")
		}
	}), &requests
}

func TestAMutatingRequestIsNeverSentTwice(t *testing.T) {
	key := []observe.Header{{Name: "Idempotency-Key", Value: "k"}, {Name: "X-Idempotency-Key", Value: "k"}}
	for _, c := range []struct {
		name string
		call Call
	}{
		{"with a body and a key", Call{Method: "POST", Path: "/", Header: key, Body: []byte("{}")}},
		{"with a body", Call{Method: "POST", Path: "/", Body: []byte("{}")}},
		{"without a body, with a key", Call{Method: "POST", Path: "/", Header: key}},
		{"with an empty body and a key", Call{Method: "POST", Path: "/", Header: key, Body: []byte{}}},
		{"DELETE with a key", Call{Method: "DELETE", Path: "/", Header: key}},
	} {
		t.Run(c.name, func(t *testing.T) {
			base, requests := dyingHost(t)
			s := newClient(t, Config{BaseURL: base}).Begin()
			if first := s.Do(context.Background(), Call{Path: "/"}); first.Status() != 200 {
				t.Fatalf("%+v", first.Failure)
			}
			ex := s.Do(context.Background(), c.call)
			if ex.Failure == nil || ex.Failure.Kind != observe.FailReset {
				t.Errorf("got %d, %+v", ex.Status(), ex.Failure)
			}
			if n := requests.Load(); n != 2 {
				t.Errorf("the host got %d requests, want 2", n)
			}
		})
	}
}

// The library does repeat when it is let: without this, the test above could not fail.
func TestTheLibraryRepeatsWhenItIsLet(t *testing.T) {
	base, requests := dyingHost(t)
	plain := &http.Client{Transport: &http.Transport{}}
	defer plain.CloseIdleConnections()
	first, err := plain.Get(base)
	if err != nil {
		t.Fatal(err)
	}
	_ = first.Body.Close()
	req, err := http.NewRequest(http.MethodPost, base, strings.NewReader("{}"))
	if err != nil {
		t.Fatal(err)
	}
	req.Header.Set("Idempotency-Key", "k")
	if resp, err := plain.Do(req); err == nil {
		_ = resp.Body.Close()
	}
	if n := requests.Load(); n < 3 {
		t.Errorf("the host got %d requests: the library no longer repeats, and the client may be simpler", n)
	}
}

func TestTheIdempotencyKeyReachesTheHostEitherWay(t *testing.T) {
	got := ""
	_, s := serve(t, func(_ http.ResponseWriter, r *http.Request) { got = r.Header.Get("Idempotency-Key") })
	for _, body := range [][]byte{nil, []byte("{}")} {
		ex := s.Do(context.Background(), Call{Method: "POST", Path: "/", Body: body, Header: []observe.Header{{Name: "Idempotency-Key", Value: "k"}}})
		if recorded := (&observe.Response{Headers: ex.Request.Headers}).Header("Idempotency-Key"); got != "k" || recorded != "k" {
			t.Errorf("with body %q the host got %q, recorded %q", body, got, recorded)
		}
	}
}

// ending is an HTTP/2 connection that is found closing before anything is sent, so often.
type ending struct{ left, asked *atomic.Int32 }

type noConnection struct{}

func (noConnection) Error() string             { return "no connection" }
func (noConnection) IsHTTP2NoCachedConnError() {}

func (c ending) RoundTrip(req *http.Request) (*http.Response, error) {
	c.asked.Add(1)
	if c.left.Add(-1) >= 0 {
		_ = req.Body.Close()
		return nil, noConnection{}
	}
	body, err := io.ReadAll(req.Body)
	if err != nil {
		return nil, err
	}
	return &http.Response{StatusCode: 200, Proto: "HTTP/2.0", ProtoMajor: 2, Header: http.Header{}, Body: io.NopCloser(bytes.NewReader(body)), Request: req}, nil
}

// Two requests at once can take one connection of HTTP/2, and one of them be its last: the other never left.
func TestARequestThatNeverLeftIsSentAnew(t *testing.T) {
	for _, c := range []struct {
		name          string
		closes, tries int32
		status        int
	}{
		{"once", 1, 2, 200}, {"as often as it is tried anew", mostUnsent, mostUnsent + 1, 200}, {"for ever", 1000, mostUnsent + 1, 0},
	} {
		t.Run(c.name, func(t *testing.T) {
			server := httptest.NewUnstartedServer(http.NotFoundHandler())
			server.EnableHTTP2 = true
			server.StartTLS()
			t.Cleanup(server.Close)
			cl := newClient(t, Config{BaseURL: server.URL})
			left, asked := &atomic.Int32{}, &atomic.Int32{}
			left.Store(c.closes)
			transport := server.Client().Transport.(*http.Transport).Clone()
			transport.ForceAttemptHTTP2 = true
			transport.TLSNextProto = map[string]func(string, *tls.Conn) http.RoundTripper{
				"h2": func(string, *tls.Conn) http.RoundTripper { return ending{left, asked} },
			}
			cl.http.Transport = transport
			ex := cl.Begin().Do(context.Background(), Call{Method: "POST", Path: "/", Header: []observe.Header{{Name: "Idempotency-Key", Value: "k"}}, Body: []byte(`{"a":1}`)})
			if ex.Status() != c.status || asked.Load() != c.tries {
				t.Errorf("got %d, %+v after %d tries; want %d after %d", ex.Status(), ex.Failure, asked.Load(), c.status, c.tries)
			}
			if c.status == 200 && ex.Response.Body.String() != `{"a":1}` {
				t.Errorf("it was sent with %q", ex.Response.Body)
			}
		})
	}
}
