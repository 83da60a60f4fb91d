package main

import (
	"bytes"
	"context"
	"errors"
	"net"
	"net/http"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"
)

// TestTheAddressIsNeverFree knocks while the host's process is dead: the connection is taken, and answered by the next
// process. Somebody else who wants the address doesn't get it at any moment.
func TestTheAddressIsNeverFree(t *testing.T) {
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	url := supervised(t, "sqlite:"+filepath.Join(t.TempDir(), "host.db"), cancel)
	addr := strings.TrimPrefix(url, "http://")
	if err := untilUp(ctx, url); err != nil {
		t.Fatal(err)
	}
	stop := make(chan struct{})
	taken := make(chan bool)
	go func() {
		for {
			select {
			case <-stop:
				taken <- false
				return
			default:
			}
			if l, err := net.Listen("tcp", addr); err == nil {
				_ = l.Close()
				taken <- true
				return
			}
		}
	}()
	const crashes = 10
	for range crashes {
		if status, _, err := request(ctx, "POST", url+"/conformance/seams/sample/process/kill", ""); status != http.StatusAccepted {
			t.Errorf("the kill was answered %d, %v", status, err)
		}
		// What meets the dying process may be reset. Nobody is refused, as at an address that nobody listens on.
		for status := 0; status != http.StatusOK; {
			var err error
			status, _, err = request(ctx, "GET", url+"/.well-known/openwop", "")
			if err != nil && (ctx.Err() != nil || errors.Is(err, syscall.ECONNREFUSED)) {
				t.Fatalf("while the host was away: %v", err)
			}
		}
	}
	close(stop)
	if <-taken {
		t.Errorf("another process could take %s in between", addr)
	}
}

func TestServeSaysThatItsAddressIsTaken(t *testing.T) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = l.Close() }()
	for name, more := range map[string][]string{
		"alone":      nil,
		"supervised": {"--supervise", "--store", "sqlite:" + filepath.Join(t.TempDir(), "host.db")},
	} {
		got := invoke(t, nil, append([]string{"serve", "--addr", l.Addr().String()}, more...)...)
		if got.code != 2 || !strings.Contains(got.stderr, "listen on "+l.Addr().String()) || strings.Count(got.stderr, "\n") != 1 {
			t.Errorf("%s: exit %d, %s", name, got.code, got.stderr)
		}
	}
}

func TestASupervisedProcessNeedsItsSupervisor(t *testing.T) {
	c := command(t, nil, "serve", "--supervised=first")
	var said bytes.Buffer
	c.Stderr = &said
	if err := c.Run(); err == nil || c.ProcessState.ExitCode() != 2 || !strings.Contains(said.String(), "--supervised is set by --supervise alone") {
		t.Errorf("%v, %s", err, said.String())
	}
}
