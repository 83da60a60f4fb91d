// Package limits is what the mock host's speed is compared with: the least code that could do each job over loopback
// HTTP, with the same driver, pragmas and table.
//
// A limit checks no credential, decides nothing and keeps no promise beyond its one job; it is not an example of a host.
// Start with Serve.
package limits

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"sync/atomic"
	"time"
)

// The limits by name.
const (
	Insert = "insert" // one INSERT a request, each its own transaction
	Group  = "group"  // one INSERT a request, a transaction for all that wait
	Hub    = "hub"    // no store: an event goes from its request to every open stream
	Echo   = "echo"   // an answer and nothing else: the price of a round trip
)

// The paths are those of the mock host, so that one client drives both.
const (
	EmitPath   = "/conformance/seams/sample/host-events/emit"
	StreamPath = "/host/events"
)

// Ready is what Serve prints before its URL.
const Ready = "limit at "

// Serve serves the limit on a free port of loopback until ctx ends. path is the database's file, for those that have one.
func Serve(ctx context.Context, name, path string, out io.Writer) (err error) {
	handler, release, err := open(ctx, name, path)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, release()) }()
	var config net.ListenConfig
	listener, err := config.Listen(ctx, "tcp", "127.0.0.1:0")
	if err != nil {
		return fmt.Errorf("limit %s: %w", name, err)
	}
	server := &http.Server{
		Handler: handler, ReadHeaderTimeout: 10 * time.Second,
		BaseContext: func(net.Listener) context.Context { return ctx },
	}
	stop := context.AfterFunc(ctx, func() { _ = server.Close() })
	defer stop()
	if _, err := fmt.Fprintf(out, "%shttp://%s\n", Ready, listener.Addr()); err != nil {
		return errors.Join(err, listener.Close())
	}
	if err := server.Serve(listener); !errors.Is(err, http.ErrServerClosed) {
		return fmt.Errorf("limit %s: %w", name, err)
	}
	return nil
}

func open(ctx context.Context, name, path string) (http.Handler, func() error, error) {
	nothing := func() error { return nil }
	switch name {
	case Echo:
		return http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { answer(w, "") }), nothing, nil
	case Hub:
		return newHub(), nothing, nil
	case Insert:
		return newInsert(ctx, path)
	case Group:
		return newGroup(ctx, path)
	}
	return nil, nil, fmt.Errorf("there is no limit %q", name)
}

// event is what an emit request becomes: as long as the mock host's own, byte for byte.
type event struct {
	seq          int64
	id, typ      string
	at           time.Time
	envelope     []byte
	payloadBytes int
}

// made numbers the events of one process.
type made struct{ last atomic.Int64 }

// next reads an emit request and makes its event.
func (m *made) next(r *http.Request) (event, error) {
	body, err := io.ReadAll(r.Body)
	if err != nil {
		return event{}, err
	}
	var asked struct {
		Type         string `json:"type"`
		PayloadBytes int    `json:"payloadBytes"`
	}
	if err := json.Unmarshal(body, &asked); err != nil {
		return event{}, err
	}
	e := event{seq: m.last.Add(1), typ: asked.Type, at: time.Now().UTC(), payloadBytes: asked.PayloadBytes}
	e.id = fmt.Sprintf("%026d", e.seq)
	const around = len(`{"note":""}`)
	e.envelope = fmt.Appendf(nil, `{"eventId":"%s","type":"%s","timestamp":"%s","delivery":"durable","payload":{"note":"%s"}}`,
		e.id, e.typ, e.at.Format("2006-01-02T15:04:05.000Z"), strings.Repeat("x", max(0, e.payloadBytes-around)))
	return e, nil
}

func (e event) frame() []byte {
	return fmt.Appendf(nil, "event: %s\nid: %s\ndata: %s\n\n", e.typ, e.id, e.envelope)
}

// answer is the emit seam's: 202 with the event's id.
func answer(w http.ResponseWriter, id string) {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(http.StatusAccepted)
	_, _ = io.WriteString(w, `{"eventId":"`+id+`"}`) // a client that has left can't be told
}

func failed(w http.ResponseWriter, err error) {
	http.Error(w, err.Error(), http.StatusInternalServerError)
}
