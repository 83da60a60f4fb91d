// Package boot starts and stops the mock host on listeners of this process: for certify, that tests it at once, and for
// serve, that leaves it to others.
//
// It changes nothing about the host. Start with Start.
package boot

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"strings"
	"syscall"
	"time"

	"github.com/wopwitness/wopwitness/mockhost"
)

// shutdownLimit is how long open answers may take when the host stops.
const shutdownLimit = 5 * time.Second

// Host is a mock host that serves, and where it does.
type Host struct {
	URL         string
	PeerURL     string // a second instance over the same store, "" where none was asked for
	Credentials mockhost.Credentials

	hosts  []*mockhost.Host
	served chan error // one value a host that stopped serving
}

// Start serves a mock host at addr, and with peer a second instance at a free port beside it.
func Start(ctx context.Context, config mockhost.Config, addr string, peer bool) (*Host, error) {
	main, err := mockhost.New(ctx, config)
	if err != nil {
		return nil, fmt.Errorf("start the mock host: %w", err)
	}
	h := &Host{Credentials: main.Credentials(), served: make(chan error, 2)}
	if h.URL, err = h.serve(ctx, main, addr); err != nil {
		return nil, errors.Join(err, main.Shutdown(ctx))
	}
	if !peer {
		return h, nil
	}
	second, err := main.Peer(ctx)
	if err != nil {
		return nil, errors.Join(fmt.Errorf("start the second instance: %w", err), h.Stop())
	}
	if h.PeerURL, err = h.serve(ctx, second, "127.0.0.1:0"); err != nil {
		return nil, errors.Join(err, second.Shutdown(ctx), h.Stop())
	}
	return h, nil
}

// On serves a mock host on a listener that is open already, and closes it when the host stops.
func On(ctx context.Context, config mockhost.Config, listener net.Listener) (*Host, error) {
	main, err := mockhost.New(ctx, config)
	if err != nil {
		return nil, errors.Join(fmt.Errorf("start the mock host: %w", err), listener.Close())
	}
	h := &Host{Credentials: main.Credentials(), served: make(chan error, 2)}
	h.URL = h.serveOn(main, listener)
	return h, nil
}

func (h *Host) serve(ctx context.Context, host *mockhost.Host, addr string) (string, error) {
	listener, err := Listen(ctx, addr)
	if err != nil {
		return "", err
	}
	return h.serveOn(host, listener), nil
}

func (h *Host) serveOn(host *mockhost.Host, listener net.Listener) (url string) {
	h.hosts = append(h.hosts, host)
	go func() { h.served <- host.Serve(listener) }()
	return "http://" + reachable(listener.Addr())
}

// Listen takes an address; port 0 takes a free one.
func Listen(ctx context.Context, addr string) (net.Listener, error) {
	var config net.ListenConfig
	listener, err := config.Listen(ctx, "tcp", addr)
	if errors.Is(err, syscall.EADDRINUSE) {
		return nil, fmt.Errorf("listen on %s: another program does already; end it, or give another --addr (port 0 takes a free one): %w", addr, err)
	}
	if err != nil {
		return nil, fmt.Errorf("listen on %s: %w", addr, err)
	}
	return listener, nil
}

// reachable is an address that a client on this machine can use: a listener on every interface is named by loopback.
func reachable(addr net.Addr) string {
	tcp, ok := addr.(*net.TCPAddr)
	if !ok || !tcp.IP.IsUnspecified() {
		return addr.String()
	}
	return net.JoinHostPort("127.0.0.1", fmt.Sprint(tcp.Port))
}

// Wait returns when the context ends, or when the host stops serving by itself, with why.
func (h *Host) Wait(ctx context.Context) error {
	select {
	case <-ctx.Done():
		return nil
	case err := <-h.served:
		h.served <- err
		return fmt.Errorf("the mock host stopped: %w", err)
	}
}

// Restart replaces the host and its second instance by fresh ones over the same store, at the same addresses, as the
// restart of a service does. Nothing of the old ones' memory goes on.
func (h *Host) Restart(ctx context.Context) error {
	limited, cancel := context.WithTimeout(ctx, shutdownLimit)
	defer cancel()
	old := h.hosts
	for i := len(old) - 1; i > 0; i-- {
		if err := old[i].Shutdown(limited); err != nil {
			return err
		}
	}
	main, err := old[0].Replace(limited)
	if err != nil {
		return err
	}
	h.hosts = nil
	for range old {
		if err := <-h.served; err != nil {
			return errors.Join(err, main.Shutdown(limited))
		}
	}
	next := []*mockhost.Host{main}
	urls := []string{h.URL}
	if h.PeerURL != "" {
		second, err := main.Peer(limited)
		if err != nil {
			return errors.Join(err, main.Shutdown(limited))
		}
		next, urls = append(next, second), append(urls, h.PeerURL)
	}
	for i, host := range next {
		if _, err := h.serve(ctx, host, strings.TrimPrefix(urls[i], "http://")); err != nil {
			return errors.Join(err, main.Shutdown(limited))
		}
	}
	return nil
}

// Stop ends the streams, closes the store and waits for what serves. The second instance stops first.
func (h *Host) Stop() error {
	ctx, cancel := context.WithTimeout(context.Background(), shutdownLimit)
	defer cancel()
	var failures []error
	for i := len(h.hosts) - 1; i >= 0; i-- {
		failures = append(failures, h.hosts[i].Shutdown(ctx))
	}
	for range h.hosts {
		if err := <-h.served; err != nil && !errors.Is(err, http.ErrServerClosed) {
			failures = append(failures, err)
		}
	}
	h.hosts = nil
	return errors.Join(failures...)
}
