package client

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
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
