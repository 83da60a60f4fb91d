package hostilehost

import (
	"bytes"
	"context"
	"crypto/tls"
	"fmt"
	"io"
	"log"
	"net"
	"net/http"
	"sync"
	"time"
)

// Server is one attack, listening on a free port of the loopback address.
type Server struct {
	URL string
	CA  []byte // PEM to trust, where the attack is one of a trusted certificate

	closing context.Context
	close   context.CancelFunc
	work    sync.WaitGroup
	mu      sync.Mutex
	ln      net.Listener
	http    *http.Server
	conns   map[net.Conn]bool
	other   *Server
	taken   []string
}

// Start puts the attack on the wire. Close it.
func Start(a Attack, right http.Handler) (*Server, error) {
	s := &Server{conns: map[net.Conn]bool{}}
	s.closing, s.close = context.WithCancel(context.Background())
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return nil, fmt.Errorf("listen for the attack %s: %w", a.Name, err)
	}
	s.ln, s.URL = ln, "http://"+ln.Addr().String()
	if a.Certificate != nil {
		cert, ca, err := a.Certificate()
		if err != nil {
			_ = ln.Close()
			return nil, fmt.Errorf("certificate of the attack %s: %w", a.Name, err)
		}
		s.URL, s.CA = "https://"+ln.Addr().String(), ca
		ln = tls.NewListener(ln, &tls.Config{Certificates: []tls.Certificate{cert}, MinVersion: tls.VersionTLS12})
	}
	switch {
	case a.Conn != nil:
		s.work.Go(func() { s.accept(ln, a.Conn) })
	case a.Answer != nil:
		s.http = &http.Server{
			Handler:           a.Answer(s, right),
			ReadHeaderTimeout: time.Minute,
			ErrorLog:          log.New(io.Discard, "", 0),
			BaseContext:       func(net.Listener) context.Context { return s.closing },
		}
		s.work.Go(func() { _ = s.http.Serve(ln) })
	default:
		_ = ln.Close()
	}
	return s, nil
}

func (s *Server) accept(ln net.Listener, speak func(*Server, net.Conn)) {
	for {
		c, err := ln.Accept()
		if err != nil {
			return
		}
		s.mu.Lock()
		s.conns[c] = true
		s.mu.Unlock()
		s.work.Go(func() {
			defer func() { _ = c.Close() }()
			speak(s, c)
		})
	}
}

// Die ends the host as a killed process would: nothing listens, and every connection is cut.
func (s *Server) Die() {
	s.close()
	_ = s.ln.Close()
	if s.http != nil {
		_ = s.http.Close()
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	for c := range s.conns {
		_ = c.Close()
	}
}

// Close ends the attack and waits for all of it.
func (s *Server) Close() {
	s.Die()
	if s.other != nil {
		s.other.Close()
	}
	s.work.Wait()
}

// Stolen is every credential that arrived at the other origin.
func (s *Server) Stolen() []string {
	if s.other == nil {
		return nil
	}
	s.other.mu.Lock()
	defer s.other.mu.Unlock()
	return append([]string(nil), s.other.taken...)
}

// elsewhere is another origin, which writes down what credentials it is sent. It is part of the attack from its start.
func (s *Server) elsewhere() (string, error) {
	catcher := Attack{Name: "the other origin", Answer: func(o *Server, _ http.Handler) http.Handler {
		return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			o.mu.Lock()
			defer o.mu.Unlock()
			for name, values := range r.Header {
				if name == "Authorization" || name == "Cookie" || name == "Proxy-Authorization" {
					o.taken = append(o.taken, values...)
				}
			}
			reply(w, http.StatusOK, "application/json", `{"protocolVersions":["2.0"],"preferredVersion":"2.0"}`)
		})
	}}
	o, err := Start(catcher, nil)
	if err != nil {
		return "", err
	}
	s.other = o
	return o.URL, nil
}

// readRequest reads until the end of the request's headers, so that what follows is an answer.
func readRequest(c net.Conn) bool {
	var seen []byte
	piece := make([]byte, 4096)
	for !bytes.Contains(seen, []byte("\r\n\r\n")) {
		n, err := c.Read(piece)
		seen = append(seen, piece[:n]...)
		if err != nil || len(seen) > 1<<20 {
			return false
		}
	}
	return true
}

// every calls do at the pace given until it says false or somebody ends it.
func every(ctx context.Context, s *Server, pace time.Duration, do func(n int) bool) {
	tick := time.NewTicker(pace)
	defer tick.Stop()
	for n := 0; do(n); n++ {
		select {
		case <-tick.C:
		case <-ctx.Done():
			return
		case <-s.closing.Done():
			return
		}
	}
}

// hold does nothing until somebody ends it.
func hold(ctx context.Context, s *Server) {
	select {
	case <-ctx.Done():
	case <-s.closing.Done():
	}
}
