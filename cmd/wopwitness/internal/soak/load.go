// Package soak works a host hard while things go wrong around it, and then counts: what was acknowledged must be there,
// once, and nothing else.
//
// It measures no speed and judges no requirement. Start at Run for the whole soak; load.go is the clients that write and
// never give up, audit.go the count, subscriber.go those that read, come and go, instance.go the processes that are killed.
package soak

import (
	"context"
	"crypto/rand"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"strings"
	"sync"
	"sync/atomic"
	"time"
)

// again is the pause, in real time, before what was not acknowledged is sent again.
const again = 5 * time.Millisecond

// requestTime bounds one request: a host that is killed or cut off may leave one without an end.
const requestTime = 20 * time.Second

// Load is clients of one host. Each of their requests carries an idempotency key and is repeated, at one instance or
// another, until it is acknowledged: so exactly what is acknowledged may exist. All methods may be called at once.
type Load struct {
	urls   []string
	client *http.Client
	turn   atomic.Int64
	away   atomic.Int64
	done   atomic.Int64

	mu     sync.Mutex
	events map[string][]string // ids, by key of the tenant
	runs   map[string][]string
}

// New makes a load on the instances at these URLs.
func New(urls ...string) *Load {
	return &Load{
		urls:   urls,
		client: &http.Client{Timeout: requestTime, Transport: &http.Transport{MaxIdleConnsPerHost: 64, DisableCompression: true}},
		events: map[string][]string{}, runs: map[string][]string{},
	}
}

// Close lets go of idle connections.
func (l *Load) Close() { l.client.CloseIdleConnections() }

// Away is how many requests were told to come again, 503 with Retry-After.
func (l *Load) Away() int { return int(l.away.Load()) }

// Acknowledged is how many events and runs were acknowledged to a tenant.
func (l *Load) Acknowledged(key string) (events, runs int) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return len(l.events[key]), len(l.runs[key])
}

// acknowledged is how much was acknowledged in all.
func (l *Load) acknowledged() int64 { return l.done.Load() }

// Event makes a durable event and returns its id once it is acknowledged.
func (l *Load) Event(ctx context.Context, key string) (id string, err error) {
	return l.make(ctx, key, l.events, "/host/events/test", `{"delivery":"durable"}`, http.StatusAccepted)
}

// LargeEvent is Event with a payload of that many bytes, of a host with seams.
func (l *Load) LargeEvent(ctx context.Context, key string, bytes int) (id string, err error) {
	body := fmt.Sprintf(`{"type":"inventory.item-changed","payloadBytes":%d}`, bytes)
	return l.make(ctx, key, l.events, seams+"/host-events/emit", body, http.StatusAccepted)
}

// Run makes a run that dies after three attempts, and returns its id once it is acknowledged.
func (l *Load) Run(ctx context.Context, key string) (id string, err error) {
	return l.make(ctx, key, l.runs, "/runs", `{"workflowId":"conformance-deadletter-exhaust"}`, http.StatusCreated)
}

// seams is where major 2 has them.
const seams = "/conformance/seams/sample"

func (l *Load) make(ctx context.Context, key string, of map[string][]string, path, body string, want int) (id string, err error) {
	answer, err := l.insist(ctx, key, path, body, want)
	if err != nil {
		return "", err
	}
	var made struct{ EventID, RunID string }
	if err := json.Unmarshal(answer, &made); err != nil || made.EventID+made.RunID == "" {
		return "", fmt.Errorf("POST %s: an answer without an id: %s", path, answer)
	}
	id = made.EventID + made.RunID
	l.mu.Lock()
	defer l.mu.Unlock()
	of[key] = append(of[key], id)
	l.done.Add(1)
	return id, nil
}

// insist repeats one request until it is acknowledged. Nothing but a broken connection, 503 with Retry-After or the answer
// that the first is under way still may come before.
func (l *Load) insist(ctx context.Context, key, path, body string, want int) ([]byte, error) {
	once := rand.Text()
	for {
		status, header, answer, err := l.send(ctx, http.MethodPost, l.URL()+path, key, once, body)
		switch {
		case ctx.Err() != nil:
			return nil, fmt.Errorf("POST %s was never acknowledged: %w", path, context.Cause(ctx))
		case err != nil:
		case status == want:
			return answer, nil
		case status == http.StatusServiceUnavailable && header.Get("Retry-After") != "":
			l.away.Add(1)
		case status == http.StatusConflict && strings.Contains(string(answer), `"idempotency_in_flight"`):
		default:
			return nil, fmt.Errorf("POST %s: expected %d, or 503 with Retry-After, got %d: %s", path, want, status, answer)
		}
		select {
		case <-ctx.Done():
		case <-time.After(again):
		}
	}
}

// URL is that of each instance in turn.
func (l *Load) URL() string { return l.urls[int(l.turn.Add(1))%len(l.urls)] }

// read gets a page, from whichever instance is there.
func (l *Load) read(ctx context.Context, key, path string, into any) error {
	for {
		status, _, answer, err := l.send(ctx, http.MethodGet, l.URL()+path, key, "", "")
		switch {
		case ctx.Err() != nil:
			return fmt.Errorf("GET %s was never answered: %w", path, context.Cause(ctx))
		case err != nil, status == http.StatusServiceUnavailable:
		case status == http.StatusOK:
			return json.Unmarshal(answer, into)
		default:
			return fmt.Errorf("GET %s: expected 200, got %d: %s", path, status, answer)
		}
		select {
		case <-ctx.Done():
		case <-time.After(again):
		}
	}
}

func (l *Load) send(ctx context.Context, method, url, key, once, body string) (status int, header http.Header, answer []byte, err error) {
	req, err := http.NewRequestWithContext(ctx, method, url, strings.NewReader(body))
	if err != nil {
		return 0, nil, nil, err
	}
	dress(req, key)
	if once != "" {
		req.Header.Set("Content-Type", "application/json")
		req.Header["Idempotency-Key"] = []string{once}
	}
	res, err := l.client.Do(req)
	if err != nil {
		return 0, nil, nil, err
	}
	defer func() { _ = res.Body.Close() }()
	answer, err = io.ReadAll(res.Body)
	return res.StatusCode, res.Header, answer, err
}

func dress(req *http.Request, key string) {
	req.Header.Set("Authorization", "Bearer "+key)
	req.Header.Set("OpenWOP-Version", "2")
}

// Together runs f n times at once, numbered from 0, and returns the first error after all have ended; it is the cause by
// which the others' context ends.
func Together(ctx context.Context, n int, f func(ctx context.Context, i int) error) error {
	ctx, stop := context.WithCancelCause(ctx)
	defer stop(nil)
	var all sync.WaitGroup
	var first error
	var once sync.Once
	for i := range n {
		all.Go(func() {
			if err := f(ctx, i); err != nil {
				once.Do(func() { first = err })
				stop(err)
			}
		})
	}
	all.Wait()
	return first
}
