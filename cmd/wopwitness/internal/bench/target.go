package bench

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"sync"
	"sync/atomic"
	"time"

	"github.com/wopwitness/wopwitness/cmd/wopwitness/internal/bench/limits"
)

// emitBody makes a durable event with a payload of 200 bytes.
const emitBody = `{"type":"inventory.item-changed","payloadBytes":200}`

// requestTime bounds one emit; a healthy one takes milliseconds.
const requestTime = 30 * time.Second

// target is where events are emitted and read: the mock host, or a limit that serves the same paths.
type target struct {
	url    string
	client *http.Client
}

func newTarget(url string) target {
	return target{url: url, client: &http.Client{
		Timeout:   requestTime,
		Transport: &http.Transport{MaxIdleConnsPerHost: 128, DisableCompression: true},
	}}
}

func (t target) release() {
	if t.client != nil {
		t.client.CloseIdleConnections()
	}
}

// emit makes one event and returns after its answer.
func (t target) emit(ctx context.Context) error {
	r, err := http.NewRequestWithContext(ctx, http.MethodPost, t.url+limits.EmitPath, bytes.NewReader([]byte(emitBody)))
	if err != nil {
		return err
	}
	r.Header = http.Header{"Content-Type": {"application/json"}, "Authorization": {"Bearer " + hostKey}}
	answer, err := t.client.Do(r)
	if err != nil {
		return fmt.Errorf("emit: %w", err)
	}
	defer func() { _ = answer.Body.Close() }()
	body, err := io.ReadAll(answer.Body)
	if err != nil {
		return fmt.Errorf("emit: %w", err)
	}
	if answer.StatusCode != http.StatusAccepted {
		return fmt.Errorf("emit: expected 202, got %d: %s", answer.StatusCode, body)
	}
	return nil
}

// emitAll makes n events by several writers at once, each of which sends the next when it has its answer.
func (t target) emitAll(ctx context.Context, writers, n int) error {
	var left atomic.Int64
	left.Store(int64(n))
	return together(writers, func() error {
		for left.Add(-1) >= 0 {
			if err := t.emit(ctx); err != nil {
				return err
			}
		}
		return nil
	})
}

// rate emits as fast as the writers can for that long, and gives events per second.
func (t target) rate(ctx context.Context, writers int, length time.Duration) (float64, error) {
	var made atomic.Int64
	start := time.Now()
	err := together(writers, func() error {
		for time.Since(start) < length {
			if err := t.emit(ctx); err != nil {
				return err
			}
			made.Add(1)
		}
		return nil
	})
	return float64(made.Load()) / time.Since(start).Seconds(), err
}

// together runs f n times at once, waits for all, and gives every error.
func together(n int, f func() error) error {
	var all sync.WaitGroup
	errs := make([]error, n)
	for i := range errs {
		all.Go(func() { errs[i] = f() })
	}
	all.Wait()
	return errors.Join(errs...)
}
