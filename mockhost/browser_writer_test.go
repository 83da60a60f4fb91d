package mockhost_test

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"
)

// writer emits on a goroutine of its own, in the order in which it is told to.
type writer struct {
	t       *testing.T
	host    *host
	ctx     context.Context
	orders  chan order
	removed chan struct{} // closed once a cursor was removed

	mu      sync.Mutex
	durable []string
}

// order is the classes to emit one after another; done is closed after the last.
type order struct {
	deliveries []string
	done       chan struct{}
}

func newWriter(t *testing.T, h *host) *writer {
	ctx, cancel := context.WithCancel(t.Context())
	w := &writer{t: t, host: h, ctx: ctx, orders: make(chan order, 256), removed: make(chan struct{})}
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		w.run()
	}()
	t.Cleanup(func() {
		cancel()
		<-ended
	})
	return w
}

func (w *writer) run() {
	for {
		select {
		case o := <-w.orders:
			for _, delivery := range o.deliveries {
				w.trigger(delivery)
			}
			close(o.done)
		case <-w.ctx.Done():
			return
		}
	}
}

func (w *writer) trigger(delivery string) {
	body, err := w.post("/host/events/test", `{"delivery":"`+delivery+`"}`, http.StatusAccepted)
	var e struct{ EventID string }
	if err == nil {
		err = json.Unmarshal(body, &e)
	}
	switch {
	case w.ctx.Err() != nil:
	case err != nil:
		w.t.Errorf("emit a %s event: %v", delivery, err)
	case delivery == "durable":
		w.mu.Lock()
		defer w.mu.Unlock()
		w.durable = append(w.durable, e.EventID)
	}
}

// post is host.do for goroutines that may not end the test.
func (w *writer) post(path, body string, status int) ([]byte, error) {
	req, err := http.NewRequestWithContext(w.ctx, http.MethodPost, w.host.url+path, strings.NewReader(body))
	if err != nil {
		return nil, err
	}
	req.Header.Set("Authorization", "Bearer "+w.host.KeyA)
	req.Header.Set("Content-Type", "application/json")
	res, err := http.DefaultClient.Do(req)
	if err != nil {
		return nil, err
	}
	defer func() { _ = res.Body.Close() }()
	b, err := io.ReadAll(res.Body)
	if err == nil && res.StatusCode != status {
		err = fmt.Errorf("got %d %s", res.StatusCode, b)
	}
	return b, err
}

// emit tells the writer what to emit and doesn't wait for it; wait does.
func (w *writer) emit(deliveries ...string) <-chan struct{} {
	o := order{deliveries, make(chan struct{})}
	select {
	case w.orders <- o:
	case <-w.ctx.Done():
	}
	return o.done
}

func (w *writer) wait(done <-chan struct{}) {
	select {
	case <-done:
	case <-w.ctx.Done():
	}
}

// sent is the ids of the durable events emitted so far.
func (w *writer) sent() []string {
	w.mu.Lock()
	defer w.mu.Unlock()
	return slices.Clone(w.durable)
}

// removeOnce removes the first cursor that a browser comes back with, and emits an event that it misses by it.
func (w *writer) removeOnce() func(string) {
	var once sync.Once
	return func(cursor string) {
		if cursor == "" {
			return
		}
		once.Do(func() {
			_, err := w.post("/conformance/seams/sample/host-events/remove", `{"eventId":"`+cursor+`"}`, http.StatusNoContent)
			if err != nil {
				w.t.Errorf("remove the cursor: %v", err)
			}
			w.wait(w.emit("durable"))
			close(w.removed)
		})
	}
}

// whileWithout emits an event into each stream that was opened without a cursor.
func (w *writer) whileWithout() func(string) {
	return func(cursor string) {
		if cursor == "" {
			w.emit("durable")
		}
	}
}

func receive(t *testing.T, from <-chan struct{}, otherwise string) {
	t.Helper()
	select {
	case <-from:
	case <-time.After(browserDeadline):
		t.Fatalf("%s within %s", otherwise, browserDeadline)
	}
}
