// Package pgtest gives tests a schema of their own in the database that the environment names, and a link to it that can
// be cut and slowed down, or a server of their own.
//
// It is for tests only, and leaves nothing behind. Start at Schema.
package pgtest

import (
	"context"
	"crypto/rand"
	"net"
	"net/url"
	"os"
	"strings"
	"sync"
	"testing"

	"github.com/jackc/pgx/v5"
)

// Variable names the database to test on, by a URL.
const Variable = "WOPWITNESS_TEST_POSTGRES"

// Schema makes a schema that goes with the test, and gives the URL of it. Without a database the test is skipped.
func Schema(t *testing.T) string {
	t.Helper()
	address := os.Getenv(Variable)
	if address == "" {
		t.Skip("no database to test on: set " + Variable + " to the URL of one")
	}
	u, err := url.Parse(address)
	if err != nil {
		t.Fatalf("%s: %v", Variable, err)
	}
	name := "test_" + strings.ToLower(rand.Text())
	execute(t, "CREATE SCHEMA "+name)
	t.Cleanup(func() { execute(t, "DROP SCHEMA "+name+" CASCADE") })
	q := u.Query()
	q.Set("search_path", name)
	u.RawQuery = q.Encode()
	return u.String()
}

// execute runs statements on a connection of their own.
func execute(t *testing.T, statements string) {
	t.Helper()
	ctx := context.WithoutCancel(t.Context())
	conn, err := pgx.Connect(ctx, os.Getenv(Variable))
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = conn.Close(ctx) }()
	if _, err := conn.Exec(ctx, statements); err != nil {
		t.Fatalf("%s: %v", statements, err)
	}
}

// Link is a way to the database that can be cut and mended. While it is cut, connections through it break and no new one
// is taken.
type Link struct {
	t        *testing.T
	upstream string
	addr     string
	url      string

	pace     pace
	mu       sync.Mutex
	listener net.Listener // nil while it is cut
	open     map[net.Conn]bool
	copying  sync.WaitGroup
}

// NewLink makes a link to the database of the URL, which ends with the test.
func NewLink(t *testing.T, address string) *Link {
	t.Helper()
	u, err := url.Parse(address)
	if err != nil {
		t.Fatal(err)
	}
	l := &Link{t: t, upstream: u.Host, addr: "127.0.0.1:0", open: map[net.Conn]bool{}}
	l.Mend()
	u.Host = l.addr
	l.url = u.String()
	t.Cleanup(l.Cut)
	return l
}

// URL is the database's, through the link.
func (l *Link) URL() string { return l.url }

// Mend takes connections again, at the same address.
func (l *Link) Mend() {
	l.t.Helper()
	var config net.ListenConfig
	listener, err := config.Listen(context.WithoutCancel(l.t.Context()), "tcp", l.addr)
	if err != nil {
		l.t.Fatal(err)
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	l.addr, l.listener = listener.Addr().String(), listener
	l.copying.Go(func() {
		for {
			c, err := listener.Accept()
			if err != nil {
				return
			}
			l.copying.Go(func() { l.carry(c) })
		}
	})
}

// Cut breaks every connection, and returns once nothing moves any more.
func (l *Link) Cut() {
	l.mu.Lock()
	if l.listener != nil {
		_ = l.listener.Close()
		l.listener = nil
	}
	for c := range l.open {
		_ = c.Close()
	}
	l.mu.Unlock()
	l.copying.Wait()
}

func (l *Link) carry(c net.Conn) {
	var dialer net.Dialer
	up, err := dialer.DialContext(context.WithoutCancel(l.t.Context()), "tcp", l.upstream)
	if err != nil || !l.keep(c, up) {
		_ = c.Close()
		if up != nil {
			_ = up.Close()
		}
		return
	}
	var both sync.WaitGroup
	both.Go(func() { l.copy(up, c); _ = up.Close() })
	both.Go(func() { l.copy(c, up); _ = c.Close() })
	both.Wait()
	l.mu.Lock()
	defer l.mu.Unlock()
	delete(l.open, c)
	delete(l.open, up)
}

// keep notes connections to be broken by Cut; false where the link is cut already.
func (l *Link) keep(conns ...net.Conn) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.listener == nil {
		return false
	}
	for _, c := range conns {
		l.open[c] = true
	}
	return true
}
