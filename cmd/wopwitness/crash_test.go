package main

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"math/rand/v2"
	"net"
	"net/http"
	"path/filepath"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/wopwitness/wopwitness/cmd/wopwitness/internal/soak"
	"github.com/wopwitness/wopwitness/mockhost/store/postgres/pgtest"
)

// supervised is a host that is started again whenever it is killed. It ends with the test; gone is called when it does.
func supervised(t *testing.T, store string, gone func()) (url string) {
	t.Helper()
	addr := addressToKeep(t)
	c := command(t, nil, "serve", "--supervise", "--seams", "--addr", addr, "--store", store)
	var said bytes.Buffer
	c.Stdout, c.Stderr = io.Discard, &said
	c.Cancel = func() error { return c.Process.Signal(syscall.SIGTERM) }
	if err := c.Start(); err != nil {
		t.Fatal(err)
	}
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		_ = c.Wait()
		gone()
	}()
	t.Cleanup(func() { // the test's context is over by now, and with it the supervisor was told to stop
		<-ended
		if code := c.ProcessState.ExitCode(); code != 0 || t.Failed() {
			t.Errorf("the supervisor ended with %s and said:\n%s", c.ProcessState, said.String())
		}
	})
	return "http://" + addr
}

// addressToKeep is a free address below the ports that the kernel gives to clients. A client that knocks at a port of
// theirs while nobody listens there may be given that very port, and be connected to itself.
func addressToKeep(t *testing.T) string {
	t.Helper()
	for range 50 {
		addr := fmt.Sprintf("127.0.0.1:%d", 15000+rand.IntN(15000))
		l, err := net.Listen("tcp", addr)
		if err != nil {
			continue
		}
		if err := l.Close(); err != nil {
			t.Fatal(err)
		}
		return addr
	}
	t.Fatal("found no free port")
	return ""
}

// keyA is the key of the first tenant that a served host has unless told otherwise.
const keyA = "local-key-of-tenant-a"

// worked has writers work at a host until stop is called, which returns once what they had begun is acknowledged.
func worked(ctx context.Context, t *testing.T, load *soak.Load, writers int) (stop func()) {
	t.Helper()
	var enough atomic.Bool
	ended := make(chan error, 1)
	go func() {
		ended <- soak.Together(ctx, writers, func(ctx context.Context, i int) error {
			for n := 0; !enough.Load(); n++ {
				var err error
				if (n+i)%8 == 0 {
					_, err = load.Run(ctx, keyA)
				} else {
					_, err = load.Event(ctx, keyA)
				}
				if err != nil {
					return err
				}
			}
			return nil
		})
	}()
	return func() {
		t.Helper()
		enough.Store(true)
		if err := <-ended; err != nil {
			t.Fatal(err)
		}
	}
}

// audited counts what the host has of all that was acknowledged, and wants it there once.
func audited(ctx context.Context, t *testing.T, load *soak.Load, cursor string) soak.Audit {
	t.Helper()
	a, err := load.Audit(ctx, keyA, cursor)
	switch {
	case err != nil:
		t.Fatal(err)
	case a.Wrong() > 0 || a.Events < 2 || a.Runs == 0:
		t.Errorf("%d things are wrong: %s", a.Wrong(), a)
	default:
		t.Log(a)
	}
	return a
}

// begun makes the first event of the tenant, a cursor for everything after it.
func begun(ctx context.Context, t *testing.T, load *soak.Load) (cursor string) {
	t.Helper()
	cursor, err := load.Event(ctx, keyA)
	if err != nil {
		t.Fatal(err)
	}
	return cursor
}

// TestNothingAcknowledgedIsLostByCrashes kills the host again and again, while several writers write. Afterwards every
// acknowledged event is there once, every run has died once, and the sink has an entry of each.
func TestNothingAcknowledgedIsLostByCrashes(t *testing.T) {
	const writers, crashes = 4, 50
	for name, store := range map[string]func(*testing.T) string{
		"SQLite":     func(t *testing.T) string { return "sqlite:" + filepath.Join(t.TempDir(), "host.db") },
		"PostgreSQL": pgtest.Schema,
	} {
		t.Run(name, func(t *testing.T) {
			ctx, cancel := context.WithTimeout(t.Context(), 5*time.Minute)
			defer cancel()
			url := supervised(t, store(t), cancel)
			load := soak.New(url)
			defer load.Close()
			cursor := begun(ctx, t, load)
			stop := worked(ctx, t, load, writers)
			done := func() int {
				events, runs := load.Acknowledged(keyA)
				return events + runs
			}
			for crashed := 0; crashed < crashes && ctx.Err() == nil; {
				// At a moment of the load's own time, in the middle of other requests.
				for until := done() + rand.IntN(40); done() < until && ctx.Err() == nil; {
					time.Sleep(time.Millisecond)
				}
				if slain(ctx, url) {
					crashed++
				}
			}
			stop()
			audited(ctx, t, load, cursor)
		})
	}
}

// slain asks the host to die, and says whether one was there to ask.
func slain(ctx context.Context, url string) bool {
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, url+"/conformance/seams/sample/process/kill", nil)
	if err != nil {
		return false
	}
	req.Header.Set("Authorization", "Bearer "+keyA)
	res, err := http.DefaultClient.Do(req)
	if err != nil {
		return false
	}
	defer func() { _ = res.Body.Close() }()
	return res.StatusCode == http.StatusAccepted
}

func TestSupervisionNeedsAStoreThatLasts(t *testing.T) {
	got := invoke(t, nil, "serve", "--supervise", "--addr", "127.0.0.1:0")
	if got.code != 2 || !strings.Contains(got.stderr, "--supervise needs a --store that outlives the process") {
		t.Errorf("exit %d, %s", got.code, got.stderr)
	}
}
