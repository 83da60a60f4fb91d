package lawfulhost

import (
	"encoding/pem"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
)

// Server is a listening host with whatever lies in front of it.
type Server struct {
	URL     string
	PeerURL string // another address of the host: one of several instances that share everything
	CA      []byte // PEM of what to trust, where the host speaks TLS
	host    *Host
	close   []func()
}

// Start listens on a free port of the loopback address. The caller closes the server.
func Start(o Options) (*Server, error) {
	s := &Server{host: New(o)}
	handler := InFront(s.host, o.Transport)
	if o.ClosesAlways {
		handler = inHTTP10(handler)
	}
	if o.Headers != "" {
		handler = inCase(handler, o.Headers)
	}
	inner := httptest.NewUnstartedServer(handler)
	inner.Config.ErrorLog = quiet()
	switch {
	case o.HTTP2:
		inner.EnableHTTP2 = true
		inner.StartTLS()
	case o.TLS:
		inner.StartTLS()
	default:
		inner.Start()
	}
	if c := inner.Certificate(); c != nil {
		s.CA = pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: c.Raw})
	}
	peer := httptest.NewUnstartedServer(handler)
	peer.Config.ErrorLog = quiet()
	peer.Start()
	s.URL, s.PeerURL = inner.URL, peer.URL
	s.close = append(s.close, func() {
		for _, server := range []*httptest.Server{inner, peer} {
			server.CloseClientConnections()
			server.Close()
		}
	})
	if o.Buffers > 0 {
		front := httptest.NewServer(buffering{to: inner.URL, most: o.Buffers, always: o.BuffersOn})
		s.URL = front.URL
		s.close = append(s.close, func() {
			front.CloseClientConnections()
			front.Close()
		})
	}
	if o.Distance > 0 || o.Jitter > 0 {
		far, err := startFar(strings.TrimPrefix(strings.TrimPrefix(s.URL, "http://"), "https://"), o.Distance, o.Jitter)
		if err != nil {
			s.Close()
			return nil, fmt.Errorf("the distant path to %s: %w", s.URL, err)
		}
		scheme, _, _ := strings.Cut(s.URL, "://")
		s.URL = scheme + "://" + far.address
		s.close = append(s.close, far.stop)
	}
	return s, nil
}

// Close ends the host and everything in front of it, and waits for all of it.
func (s *Server) Close() {
	s.host.Close()
	for i := len(s.close) - 1; i >= 0; i-- {
		s.close[i]()
	}
}

// inCase writes header names in one case. The server library writes names as it finds them in the map; its own checks
// look for the canonical ones, so those are left there without values.
func inCase(next http.Handler, which string) http.Handler {
	change := strings.ToLower
	if which == "upper" {
		change = strings.ToUpper
	}
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		next.ServeHTTP(&casing{ResponseWriter: w, change: change}, r)
	})
}

type casing struct {
	http.ResponseWriter
	change func(string) string
	sent   bool
}

func (c *casing) WriteHeader(status int) {
	if !c.sent && status >= 200 {
		c.sent = true
		h := c.Header()
		for name, values := range h.Clone() {
			h[name] = nil
			h[c.change(name)] = values
		}
	}
	c.ResponseWriter.WriteHeader(status)
}

func (c *casing) Unwrap() http.ResponseWriter { return c.ResponseWriter }

// inHTTP10 answers as the simplest servers do: HTTP/1.0, and the end of the connection is the end of the body.
func inHTTP10(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, err := io.ReadAll(r.Body)
		if err != nil {
			return
		}
		r.Body = io.NopCloser(strings.NewReader(string(body)))
		rec := httptest.NewRecorder()
		next.ServeHTTP(rec, r)
		conn, buffered, err := http.NewResponseController(w).Hijack()
		if err != nil {
			return
		}
		defer func() { _ = conn.Close() }()
		_, _ = fmt.Fprintf(buffered, "HTTP/1.0 %d %s\r\nServer: plain/0.1\r\n", rec.Code, http.StatusText(rec.Code))
		_ = rec.Header().Write(buffered)
		_, _ = buffered.WriteString("\r\n")
		_, _ = buffered.Write(rec.Body.Bytes())
		_ = buffered.Flush()
		if tcp, ok := conn.(*net.TCPConn); ok {
			_ = tcp.CloseWrite()
		}
	})
}
