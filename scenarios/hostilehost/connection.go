package hostilehost

import (
	"fmt"
	"net"
	"net/http"
	"strings"
	"time"
)

const drip = 20 * time.Millisecond

// connectionAttacks are those below HTTP, or at its first line.
func connectionAttacks() []Attack {
	return []Attack{
		{Name: "dead-port", Says: "nothing listens"},
		{Name: "silent", Says: "accepts and never answers", Conn: func(s *Server, _ net.Conn) { <-s.closing.Done() }},
		{Name: "cuts-at-once", Says: "resets every connection as it is made", Conn: func(_ *Server, c net.Conn) { reset(c) }},
		{Name: "cuts-after-request", Says: "reads the request and resets the connection", Conn: func(_ *Server, c net.Conn) {
			if readRequest(c) {
				reset(c)
			}
		}},
		{Name: "headers-byte-by-byte", Says: "headers that come a byte at a time and never end", Conn: func(s *Server, c net.Conn) {
			if readRequest(c) {
				dripFor(s, c, "HTTP/1.1 200 OK\r\nContent-Type: application/json\r\n", "X-Wait: more\r\n", drip)
			}
		}},
		{Name: "header-bomb", Says: "headers without end, as fast as they can be read", Conn: func(_ *Server, c net.Conn) {
			if readRequest(c) {
				flood(c, "HTTP/1.1 200 OK\r\nContent-Type: application/json\r\n", "X-Filling: "+strings.Repeat("a", 8000)+"\r\n")
			}
		}},
		{Name: "header-line-bomb", Says: "one header without end", Conn: func(_ *Server, c net.Conn) {
			if readRequest(c) {
				flood(c, "HTTP/1.1 200 OK\r\nX-Filling: ", strings.Repeat("a", 8000))
			}
		}},
		{Name: "hints-for-ever", Says: "informational answers without end and never a final one", Conn: func(_ *Server, c net.Conn) {
			if readRequest(c) {
				flood(c, "", "HTTP/1.1 103 Early Hints\r\nLink: </a>\r\n\r\n")
			}
		}},
		{Name: "status-garbage", Says: "a status line of control characters and markup", Conn: says("\x1b[2J\x1b[31m<script>alert(1)</script>\x00 2xx\r\n\r\nno")},
		{Name: "status-not-a-number", Says: "a status that is no number", Conn: says("HTTP/1.1 ABC Fine\r\nContent-Length: 2\r\n\r\n{}")},
		{Name: "http-0.9", Says: "a page with no status line and no headers", Conn: says("<html><body>hello</body></html>\n")},
		{Name: "ssh", Says: "speaks another protocol", Conn: func(s *Server, c net.Conn) {
			_, _ = fmt.Fprint(c, "SSH-2.0-OpenSSH_9.9\r\n")
			<-s.closing.Done()
		}},
		{Name: "cut-in-body", Says: "closes the connection in the middle of the body", Conn: says("HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: 4000\r\n\r\n{\"protocolVersions\":[\"2.0\"")},
		{Name: "bad-chunks", Says: "a chunk of an impossible size", Conn: says("HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nTransfer-Encoding: chunked\r\n\r\nFFFFFFFFFFFFFFFFF\r\n{}\r\n")},
		{Name: "two-lengths", Says: "two lengths that disagree", Conn: says("HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: 2\r\nContent-Length: 3\r\n\r\n{}}")},
		{Name: "huge-length", Says: "promises a body of an exabyte and sends nothing of it", Conn: func(s *Server, c net.Conn) {
			if readRequest(c) {
				_, _ = fmt.Fprint(c, "HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: 1152921504606846976\r\n\r\n{")
				<-s.closing.Done()
			}
		}},
	}
}

// says answers every request with the same bytes and closes.
func says(text string) func(*Server, net.Conn) {
	return func(_ *Server, c net.Conn) {
		if readRequest(c) {
			_, _ = c.Write([]byte(text))
		}
	}
}

func dripFor(s *Server, c net.Conn, first, then string, pace time.Duration) {
	text := first
	tick := time.NewTicker(pace)
	defer tick.Stop()
	for n := 0; ; n++ {
		if n == len(text) {
			text, n = then, 0
		}
		if _, err := c.Write([]byte{text[n]}); err != nil {
			return
		}
		select {
		case <-tick.C:
		case <-s.closing.Done():
			return
		}
	}
}

func flood(c net.Conn, first, then string) {
	_, err := c.Write([]byte(first))
	for err == nil {
		_, err = c.Write([]byte(then))
	}
}

// reset closes so that the other side gets a reset and not an orderly end.
func reset(c net.Conn) {
	if tcp, ok := c.(*net.TCPConn); ok {
		_ = tcp.SetLinger(0)
	}
	_ = c.Close()
}

// abort cuts the connection of a request from inside its handler.
func abort() { panic(http.ErrAbortHandler) }
