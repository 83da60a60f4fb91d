package main

import (
	"context"
	"fmt"
	"os"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/wopwitness/wopwitness/cmd/wopwitness/internal/boot"
	"github.com/wopwitness/wopwitness/mockhost"
	"github.com/wopwitness/wopwitness/scenarios/registry"
)

// farRuns asks for that many runs over a line of 50 to 80 ms each way: `make far`. Without it one run is made, over a line
// that is long enough to show a wait that counts on a near host.
const farRuns = "WOPWITNESS_TEST_FAR"

// farAtOnce is how many such runs go on together: each waits nearly all the time.
const farAtOnce = 25

// TestFarHostIsAcquitted has the right host behind a long line that is never twice as long: every leg passes, those that
// move its clock and replace its process too, in every run.
func TestFarHostIsAcquitted(t *testing.T) {
	if testing.Short() {
		t.Skip("it takes half a minute of waiting")
	}
	runs, delay, jitter, more := 1, 8*time.Millisecond, 6*time.Millisecond, []string{"--volume", "100", "--quiet", "60ms"}
	if asked := os.Getenv(farRuns); asked != "" {
		n, err := strconv.Atoi(asked)
		if err != nil || n < 1 {
			t.Fatalf("%s=%s: expected a number of runs", farRuns, asked)
		}
		runs, delay, jitter, more = n, 50*time.Millisecond, 30*time.Millisecond, nil
	}
	var names []string
	for i := range runs {
		names = append(names, fmt.Sprintf("run %d of %d", i+1, runs))
	}
	visited := visitingAtOnce(t, farAtOnce, names, func(ctx context.Context, _ string) (visit, error) {
		return visitFar(ctx, t, delay, jitter, more...)
	})
	for _, name := range names {
		t.Run(name, func(t *testing.T) {
			v, err := visited(name)
			if err != nil {
				t.Fatal(err)
			}
			if v.code != 0 {
				t.Errorf("exit %d:\n%s", v.code, v.stderr)
			}
			for row, result := range v.rows {
				if result != string(registry.Pass) {
					t.Errorf("%s: %s", row, result)
				}
			}
			t.Logf("%s in %s", countsOf(v.rows), v.took.Round(time.Second))
		})
	}
}

// visitFar runs every leg against a right host at the far end of a line, and a second instance at the end of another.
func visitFar(ctx context.Context, t *testing.T, delay, jitter time.Duration, more ...string) (visit, error) {
	var host atomic.Pointer[boot.Host]
	restarted := make(chan error, 16)
	started, err := boot.Start(ctx, mockhost.Config{
		Seams: true, Clock: "manual", ResumableLife: 4 * delay,
		Kill: func() {
			go func() { restarted <- host.Load().Restart(context.WithoutCancel(ctx)) }()
		},
	}, "127.0.0.1:0", true)
	if err != nil {
		return visit{}, err
	}
	host.Store(started)
	near := newFarLink(t, strings.TrimPrefix(started.URL, "http://"), delay, jitter)
	peer := newFarLink(t, strings.TrimPrefix(started.PeerURL, "http://"), delay, jitter)
	keys := started.Credentials
	v, err := visitHost(ctx, t.TempDir(), near.url(), append([]string{
		"--key", keys.KeyA, "--key-b", keys.KeyB, "--key-low", keys.KeyLow, "--workspace", keys.Workspace, "--key-ws", keys.KeyWS,
		"--peer-url", peer.url(), "--rfc", "0236,0241,0250,0053",
	}, more...)...)
	near.close()
	peer.close()
	close(restarted)
	for failed := range restarted {
		if failed != nil {
			return v, fmt.Errorf("restart the host: %w", failed)
		}
	}
	if stopped := started.Stop(); stopped != nil && err == nil {
		err = stopped
	}
	return v, err
}
