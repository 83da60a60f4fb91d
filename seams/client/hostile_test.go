package client

import (
	"bufio"
	"bytes"
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"encoding/pem"
	"errors"
	"io"
	"log"
	"math/big"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/wopwitness/wopwitness/witness/observe"
)

// rawHost is a host below HTTP: each connection is handed to the function, and closed after it.
func rawHost(t *testing.T, serve func(conn net.Conn, r *bufio.Reader)) string {
	t.Helper()
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = ln.Close() })
	go func() {
		for {
			conn, err := ln.Accept()
			if err != nil {
				return
			}
			go func() {
				defer func() { _ = conn.Close() }()
				serve(conn, bufio.NewReader(conn))
			}()
		}
	}()
	return "http://" + ln.Addr().String()
}

// answer reads one request's headers and writes the text.
func answer(text string) func(net.Conn, *bufio.Reader) {
	return func(conn net.Conn, r *bufio.Reader) {
		if req, err := http.ReadRequest(r); err == nil {
			_, _ = io.Copy(io.Discard, req.Body)
			_, _ = io.WriteString(conn, text)
		}
	}
}

func certificateFile(t *testing.T, server *httptest.Server) string {
	t.Helper()
	file := filepath.Join(t.TempDir(), "ca.pem")
	block := pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: server.Certificate().Raw})
	if err := os.WriteFile(file, block, 0o600); err != nil {
		t.Fatal(err)
	}
	return file
}

func expiredCertificate(t *testing.T) tls.Certificate {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	template := &x509.Certificate{
		SerialNumber: big.NewInt(1), NotBefore: time.Unix(0, 0), NotAfter: time.Unix(1000, 0), IPAddresses: []net.IP{net.IPv4(127, 0, 0, 1)},
		IsCA: true, BasicConstraintsValid: true,
	}
	der, err := x509.CreateCertificate(rand.Reader, template, template, &key.PublicKey, key)
	if err != nil {
		t.Fatal(err)
	}
	return tls.Certificate{Certificate: [][]byte{der}, PrivateKey: key}
}

// quiet keeps the handshakes that must fail out of the test's output.
func quiet(server *httptest.Server) *httptest.Server {
	server.Config.ErrorLog = log.New(io.Discard, "", 0)
	return server
}

func TestEachFailureHasItsKindAndOneLine(t *testing.T) {
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	closed := "http://" + ln.Addr().String()
	_ = ln.Close()

	plainServer := httptest.NewServer(http.NotFoundHandler())
	defer plainServer.Close()
	unknownCA := quiet(httptest.NewTLSServer(http.NotFoundHandler()))
	defer unknownCA.Close()
	expired := quiet(httptest.NewUnstartedServer(http.NotFoundHandler()))
	expired.TLS = &tls.Config{Certificates: []tls.Certificate{expiredCertificate(t)}, MinVersion: tls.VersionTLS12}
	expired.StartTLS()
	defer expired.Close()
	release := make(chan struct{})
	defer close(release)
	const short = 100 * time.Millisecond

	for _, c := range []struct {
		name     string
		base     string
		ca       string
		timeout  time.Duration
		kind     observe.FailureKind
		says     string
		answered bool // a response is recorded beside the failure
	}{
		{name: "a dead port", base: closed, kind: observe.FailRefused, says: "nothing listens at"},
		{name: "an authority that is not known", base: unknownCA.URL, kind: observe.FailTLS, says: "--ca"},
		{name: "an expired certificate", base: expired.URL, ca: certificateFile(t, expired), kind: observe.FailTLS, says: "has expired"},
		{name: "plain HTTP on an https URL", base: strings.Replace(plainServer.URL, "http:", "https:", 1), kind: observe.FailTLS, says: "does not speak TLS"},
		{name: "a host that never answers", base: rawHost(t, func(net.Conn, *bufio.Reader) { <-release }), timeout: short, kind: observe.FailTimeout, says: "did not answer within 100ms"},
		{name: "a body that never ends", timeout: short, kind: observe.FailTimeout, answered: true, says: "within 100ms", base: rawHost(t, func(conn net.Conn, r *bufio.Reader) {
			answer("HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\nabc")(conn, r)
			<-release
		})},
		{name: "a connection that ends before the answer", base: rawHost(t, answer("")), kind: observe.FailReset, says: "ended the connection"},
		{name: "a body cut short", base: rawHost(t, answer("HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\nabc")), kind: observe.FailReset, answered: true, says: "ended the connection"},
		{name: "a chunked body cut short", base: rawHost(t, answer("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n")), kind: observe.FailReset, answered: true, says: "ended the connection"},
		{name: "chunks that are none", base: rawHost(t, answer("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\nabc\r\n")), kind: observe.FailMalformed, answered: true, says: "in HTTP as it should"},
		{name: "something that is not HTTP", base: rawHost(t, answer("SSH-2.0-OpenSSH_9\r\n")), kind: observe.FailMalformed, says: "in HTTP as it should"},
		{name: "a status that is none", base: rawHost(t, answer("HTTP/1.1 OK\r\n\r\n")), kind: observe.FailMalformed, says: "in HTTP as it should"},
		{name: "headers without end", base: rawHost(t, func(conn net.Conn, r *bufio.Reader) {
			answer("HTTP/1.1 200 OK\r\nX: ")(conn, r)
			for {
				if _, err := conn.Write(bytes.Repeat([]byte("x"), 4096)); err != nil {
					return
				}
			}
		}), kind: observe.FailTooLarge, says: "headers of more than 262144 bytes"},
	} {
		t.Run(c.name, func(t *testing.T) {
			s := newClient(t, Config{BaseURL: c.base, CAFile: c.ca, RequestTimeout: c.timeout}).Begin()
			ex := s.Do(context.Background(), Call{Path: "/", Credential: "a"})
			if ex.Failure == nil || ex.Failure.Kind != c.kind || !strings.Contains(ex.Failure.Text, c.says) || strings.Contains(ex.Failure.Text, "\n") {
				t.Fatalf("got %+v", ex.Failure)
			}
			if (ex.Response != nil) != c.answered {
				t.Errorf("a response is recorded: %v", ex.Response != nil)
			}
		})
	}
}

func TestFailuresThatNeedNoNetworkToBeShown(t *testing.T) {
	background := context.Background()
	cancelled, cancel := context.WithCancel(background)
	cancel()
	late, stop := context.WithCancelCause(background)
	stop(errDeadline)
	for _, c := range []struct {
		name string
		ctx  context.Context
		err  error
		kind observe.FailureKind
		says string
	}{
		{"a name that does not resolve", background, &net.OpError{Op: "dial", Err: &net.DNSError{Name: "host.example", IsNotFound: true}}, observe.FailUnknown, "the name host.example does not resolve"},
		{"a network that says no", background, &net.OpError{Op: "dial", Err: errors.New("network is unreachable")}, observe.FailUnknown, "cannot be reached: network is unreachable"},
		{"a certificate for another name", background, x509.HostnameError{Certificate: &x509.Certificate{DNSNames: []string{"other.example"}}, Host: "h"}, observe.FailTLS, "for another name"},
		{"an interrupted run", cancelled, context.Canceled, observe.FailCancelled, "interrupted"},
		{"the client's own deadline", late, context.Canceled, observe.FailTimeout, "within 5s"},
		{"an HTTP/2 stream that was reset", background, errors.New("stream error: stream ID 1; INTERNAL_ERROR; received from peer"), observe.FailReset, "ended the connection"},
		{"anything else", background, errors.New("strange"), observe.FailMalformed, "strange"},
	} {
		t.Run(c.name, func(t *testing.T) {
			kind, text := classify(c.ctx, c.err, 5*time.Second, "h")
			if kind != c.kind || !strings.Contains(text, c.says) {
				t.Errorf("got %s: %s", kind, text)
			}
		})
	}
}

func TestAnInterruptedRunIsNotAHostsTimeout(t *testing.T) {
	release := make(chan struct{})
	defer close(release)
	asked := make(chan struct{}, 1)
	s := newClient(t, Config{BaseURL: rawHost(t, func(_ net.Conn, r *bufio.Reader) {
		_, _ = http.ReadRequest(r)
		asked <- struct{}{}
		<-release
	})}).Begin()
	ctx, cancel := context.WithCancel(context.Background())
	go func() { <-asked; cancel() }()
	if ex := s.Do(ctx, Call{Path: "/"}); ex.Failure == nil || ex.Failure.Kind != observe.FailCancelled {
		t.Errorf("got %+v", ex.Failure)
	}
}
