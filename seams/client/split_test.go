package client

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"testing"
)

// A host that sends several answers to one stream request doesn't get to answer the next request with them.
func TestAnswersBehindARefusedStreamAreNobodys(t *testing.T) {
	base := rawHost(t, func(conn net.Conn, r *bufio.Reader) {
		for {
			req, err := http.ReadRequest(r)
			if err != nil {
				return
			}
			_, _ = io.Copy(io.Discard, req.Body)
			if strings.Contains(req.Header.Get("Accept"), "event-stream") {
				_, _ = fmt.Fprint(conn, "HTTP/1.1 409 Conflict\r\nContent-Type: application/json\r\nContent-Length: 2\r\n\r\n{}"+
					strings.Repeat("HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n", 3))
				continue
			}
			_, _ = fmt.Fprint(conn, "HTTP/1.1 204 No Content\r\n\r\n")
		}
	})
	s := newClient(t, Config{BaseURL: base}).Begin()
	for range 2000 {
		if opened := s.Open(context.Background(), Call{Path: "/"}); opened.Exchange.Status() != 409 {
			t.Fatalf("the stream was answered %d, %+v", opened.Exchange.Status(), opened.Exchange.Failure)
		}
		if ex := s.Do(context.Background(), Call{Path: "/"}); ex.Status() != 204 {
			t.Fatalf("the next request was answered %d, %+v", ex.Status(), ex.Failure)
		}
	}
}
