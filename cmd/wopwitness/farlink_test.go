package main

import (
	"context"
	"errors"
	"io"
	"math/rand/v2"
	"net"
	"sync"
	"testing"
	"time"
)

// farLink is a TCP proxy that makes a host far away: whatever passes, in either direction, arrives later by delay and up to
// jitter more, in the order sent. It holds nothing back but time, as a long line does.
type farLink struct {
	listener      net.Listener
	to            string
	delay, jitter time.Duration

	mu    sync.Mutex
	open  map[net.Conn]bool
	going sync.WaitGroup
}

// newFarLink listens where a client does not take the host for one of its own machine, if this machine has such an address.
func newFarLink(t *testing.T, to string, delay, jitter time.Duration) *farLink {
	t.Helper()
	var config net.ListenConfig
	listener, err := config.Listen(t.Context(), "tcp", net.JoinHostPort(outerAddress(), "0"))
	if err != nil {
		t.Fatal(err)
	}
	l := &farLink{listener: listener, to: to, delay: delay, jitter: jitter, open: map[net.Conn]bool{}}
	l.going.Go(l.accept)
	t.Cleanup(l.close)
	return l
}

// outerAddress is an address of this machine that is not loopback, and loopback where there is none.
func outerAddress() string {
	addresses, _ := net.InterfaceAddrs()
	for _, a := range addresses {
		if ip, ok := a.(*net.IPNet); ok && ip.IP.To4() != nil && ip.IP.IsGlobalUnicast() {
			return ip.IP.String()
		}
	}
	return "127.0.0.1"
}

func (l *farLink) url() string { return "http://" + l.listener.Addr().String() }

func (l *farLink) accept() {
	for {
		client, err := l.listener.Accept()
		if err != nil {
			return
		}
		l.going.Go(func() { l.carry(client) })
	}
}

// carry joins a client to the host. A host that isn't there resets the connection, as late as it would over the line.
func (l *farLink) carry(client net.Conn) {
	var dialer net.Dialer
	host, err := dialer.DialContext(context.Background(), "tcp", l.to)
	if err != nil {
		time.Sleep(l.late())
		_ = client.(*net.TCPConn).SetLinger(0)
		_ = client.Close()
		return
	}
	l.track(client, host)
	defer l.drop(client, host)
	var both sync.WaitGroup
	both.Go(func() { l.line(host, client) })
	both.Go(func() { l.line(client, host) })
	both.Wait()
}

func (l *farLink) late() time.Duration {
	if l.jitter == 0 {
		return l.delay
	}
	return l.delay + rand.N(l.jitter)
}

// piece is what was read at once, and when it arrives at the other end.
type piece struct {
	bytes []byte
	due   time.Time
}

// line carries one direction. It reads on while what was read is under way, so that a line is long and not narrow.
func (l *farLink) line(to, from net.Conn) {
	underway := make(chan piece, 1024)
	var writing sync.WaitGroup
	writing.Go(func() {
		for p := range underway {
			time.Sleep(time.Until(p.due))
			if _, err := to.Write(p.bytes); err != nil {
				_ = from.Close() // what reads below ends, and the rest is dropped
				for range underway {
				}
				return
			}
		}
		_ = to.(*net.TCPConn).CloseWrite()
	})
	var due time.Time
	for {
		buffer := make([]byte, 32<<10)
		n, err := from.Read(buffer)
		if at := time.Now().Add(l.late()); at.After(due) {
			due = at // no piece overtakes the one before it
		}
		if n > 0 {
			underway <- piece{buffer[:n], due}
		}
		if err != nil {
			if !errors.Is(err, io.EOF) {
				time.AfterFunc(l.late(), func() { _ = to.Close() })
			}
			break
		}
	}
	close(underway)
	writing.Wait()
}

func (l *farLink) track(conns ...net.Conn) {
	l.mu.Lock()
	defer l.mu.Unlock()
	for _, c := range conns {
		l.open[c] = true
	}
}

func (l *farLink) drop(conns ...net.Conn) {
	l.mu.Lock()
	defer l.mu.Unlock()
	for _, c := range conns {
		delete(l.open, c)
		_ = c.Close()
	}
}

func (l *farLink) close() {
	_ = l.listener.Close()
	l.mu.Lock()
	for c := range l.open {
		_ = c.Close()
	}
	l.mu.Unlock()
	l.going.Wait()
}
