package sse

import (
	"compress/gzip"
	"context"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/wopwitness/wopwitness/seams/client"
	"github.com/wopwitness/wopwitness/witness/observe"
	"github.com/wopwitness/wopwitness/witness/observe/eventstream"
)

const (
	keyA = "key-of-tenant-a"
	// soon bounds a wait for what must come; it passes only where the test fails.
	soon = 20 * time.Second
)

func session(t *testing.T, base string) *client.Session {
	t.Helper()
	c, err := client.New(client.Config{BaseURL: base, Keys: map[string]string{observe.CredentialA: keyA}, RequestTimeout: soon})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(c.Close)
	return c.Begin()
}

// streaming is a handler's side of an open event stream.
type streaming struct {
	http.ResponseWriter
	ctx context.Context
}

func (s streaming) send(format string, args ...any) {
	_, _ = fmt.Fprintf(s.ResponseWriter, format, args...)
	_ = http.NewResponseController(s.ResponseWriter).Flush()
}

// hold keeps the stream open until the client goes.
func (s streaming) hold() { <-s.ctx.Done() }

func host(t *testing.T, serve func(r *http.Request, s streaming)) *client.Session {
	t.Helper()
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "text/event-stream")
		s := streaming{w, r.Context()}
		s.send("")
		serve(r, s)
	}))
	t.Cleanup(server.Close)
	return session(t, server.URL)
}

func count(n int) func([]eventstream.Frame) bool {
	return func(frames []eventstream.Frame) bool { return len(frames) >= n }
}

func never([]eventstream.Frame) bool { return false }

func data(frames []eventstream.Frame) []string {
	var all []string
	for _, f := range frames {
		all = append(all, f.Data)
	}
	return all
}

func recorded(s observe.Stream) string {
	var b strings.Builder
	for _, c := range s.Chunks {
		b.Write(c.Bytes)
	}
	return b.String()
}

var call = client.Call{Path: "/host/events", Credential: observe.CredentialA, Major: 2}

func TestAStreamIsReadUntilTheSuiteClosesIt(t *testing.T) {
	s := host(t, func(_ *http.Request, s streaming) {
		s.send(": hello\n\n")
		s.send("id: 1\ndata: a\n\ndata: cut")
		s.hold()
	})
	stream := Open(context.Background(), s, call)
	defer stream.Close()
	if !stream.Opened() || !stream.Wait(context.Background(), soon, count(2)) {
		t.Fatalf("%+v", stream.Record())
	}
	if _, ended := stream.Ended(); ended {
		t.Error("an open stream has ended")
	}
	if snapshot := stream.Record(); snapshot.End != observe.EndSuite || snapshot.EndedAt < snapshot.AnsweredAt {
		t.Errorf("a snapshot ends with %q at %d", snapshot.End, snapshot.EndedAt)
	}
	stream.Close()
	stream.Close()
	end, ended := stream.Ended()
	record := stream.Record()
	if !ended || end != observe.EndSuite || record.End != observe.EndSuite || record.Failure != nil {
		t.Errorf("got %q, %v, %+v", end, ended, record.Failure)
	}
	if got := recorded(record); !strings.HasPrefix(got, ": hello\n\nid: 1\ndata: a\n\n") || stream.BytesSeen() < 24 {
		t.Errorf("recorded %q", got)
	}
	if diff := cmp.Diff(stream.Frames(), eventstream.Frames(record)); diff != "" {
		t.Errorf("the live frames and the record's differ:\n%s", diff)
	}
	if len(record.Response.Body) != 0 {
		t.Errorf("the stream's bytes are in the body as well: %q", record.Response.Body)
	}
}

func TestHowAStreamEnds(t *testing.T) {
	for _, c := range []struct {
		name  string
		serve func(r *http.Request, s streaming)
		end   observe.StreamEnd
		kind  observe.FailureKind
	}{
		{"the host ends it in order", func(_ *http.Request, s streaming) { s.send("data: a\n\n") }, observe.EndHost, ""},
		{"its connection breaks", func(_ *http.Request, s streaming) {
			s.send("data: a\n\n")
			panic(http.ErrAbortHandler)
		}, observe.EndFailed, observe.FailReset},
		{"a line without end", func(_ *http.Request, s streaming) {
			s.send("data: a\n\n")
			for s.ctx.Err() == nil {
				s.send("%s", strings.Repeat("x", 64<<10))
			}
		}, observe.EndFailed, observe.FailTooLarge},
		{"a block without end", func(_ *http.Request, s streaming) {
			s.send("data: a\n\n")
			for s.ctx.Err() == nil {
				s.send("%s", strings.Repeat("data: xxxxxxxxxxxxx\n", 3200))
			}
		}, observe.EndFailed, observe.FailTooLarge},
	} {
		t.Run(c.name, func(t *testing.T) {
			stream := Open(context.Background(), host(t, c.serve), call)
			defer stream.Close()
			if stream.Wait(context.Background(), soon, never) {
				t.Fatal("what never holds held")
			}
			end, ended := stream.Ended()
			record := stream.Record()
			if !ended || end != c.end || record.End != c.end {
				t.Errorf("it ended %v with %q", ended, end)
			}
			if c.kind == "" && record.Failure != nil || c.kind != "" && (record.Failure == nil || record.Failure.Kind != c.kind) {
				t.Errorf("got %+v", record.Failure)
			}
			if frames := stream.Frames(); len(frames) != 1 || frames[0].Data != "a" {
				t.Errorf("%d frames", len(frames))
			}
		})
	}
}

func TestAnEndlessStreamIsBounded(t *testing.T) {
	s := host(t, func(_ *http.Request, s streaming) {
		for s.ctx.Err() == nil {
			s.send("data: %s\n\n", strings.Repeat("x", 1000))
		}
	})
	const limit = 100_000
	stream := open(context.Background(), s, call, newChanges(), limit)
	defer stream.Close()
	stream.Wait(context.Background(), soon, never)
	record := stream.Record()
	if record.End != observe.EndFailed || record.Failure == nil || record.Failure.Kind != observe.FailTooLarge || len(recorded(record)) != limit {
		t.Errorf("%q, %+v, %d bytes", record.End, record.Failure, len(recorded(record)))
	}
}

func TestAnInterruptedRunEndsAStreamAsFailed(t *testing.T) {
	s := host(t, func(_ *http.Request, s streaming) { s.hold() })
	ctx, cancel := context.WithCancel(context.Background())
	stream := Open(ctx, s, call)
	defer stream.Close()
	cancel()
	<-stream.Done()
	if record := stream.Record(); record.End != observe.EndFailed || record.Failure == nil || record.Failure.Kind != observe.FailCancelled {
		t.Errorf("%q, %+v", record.End, record.Failure)
	}
}

func TestAnAnswerThatIsNoStreamIsABody(t *testing.T) {
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		w.WriteHeader(http.StatusConflict)
		_, _ = io.WriteString(w, `{"error":"host_event_resync_required"}`)
	}))
	defer server.Close()
	stream := Open(context.Background(), session(t, server.URL), call)
	defer stream.Close()
	end, ended := stream.Ended()
	record := stream.Record()
	if stream.Opened() || !ended || end != "" || record.Status() != 409 || record.Response.Body.String() != `{"error":"host_event_resync_required"}` {
		t.Errorf("%v %q %+v", ended, end, record)
	}
	if stream.Wait(context.Background(), soon, never) || len(stream.Frames()) != 0 {
		t.Error("a body has frames")
	}
}

func TestADeadPortIsAFailureOfTheExchange(t *testing.T) {
	stream := Open(context.Background(), session(t, "http://127.0.0.1:1"), call)
	defer stream.Close()
	record := stream.Record()
	if record.Failure == nil || record.Failure.Kind != observe.FailRefused || record.End != "" {
		t.Errorf("%+v", record)
	}
}

func TestWaitEndsWithItsTimeAndItsContext(t *testing.T) {
	s := host(t, func(_ *http.Request, s streaming) { s.send("data: a\n\n"); s.hold() })
	stream := Open(context.Background(), s, call)
	defer stream.Close()
	if !stream.Wait(context.Background(), soon, count(1)) {
		t.Fatal("the block did not come")
	}
	if stream.Wait(context.Background(), time.Millisecond, count(2)) {
		t.Error("a block that was not sent came")
	}
	cancelled, cancel := context.WithCancel(context.Background())
	cancel()
	if stream.Wait(cancelled, soon, count(2)) {
		t.Error("a block that was not sent came")
	}
	if !stream.Wait(cancelled, 0, count(1)) {
		t.Error("what holds already does not need time")
	}
}

func TestAKeyIsReplacedAlsoAcrossChunks(t *testing.T) {
	next := make(chan struct{})
	s := host(t, func(_ *http.Request, s streaming) {
		s.send("data: x%s", keyA[:6])
		<-next
		s.send("%sy\n\n", keyA[6:])
		s.send("data: %s", keyA[:12])
	})
	stream := Open(context.Background(), s, call)
	defer stream.Close()
	begun := func([]eventstream.Frame) bool { return stream.BytesSeen() > 0 }
	if !stream.Wait(context.Background(), soon, begun) {
		t.Fatal("nothing came")
	}
	close(next)
	stream.Wait(context.Background(), soon, never)
	if got := recorded(stream.Record()); got != "data: x{{credential:a}}y\n\ndata: {{cut}}" {
		t.Errorf("recorded %q", got)
	}
	if got := data(stream.Frames()); !cmp.Equal(got, []string{"x{{credential:a}}y"}) {
		t.Errorf("frames %q", got)
	}
	if got := stream.BytesSeen(); got != int64(len("data: xy\n\ndata: ")+len(keyA)+12) {
		t.Errorf("%d bytes seen", got)
	}
}

func TestAnEncodedStreamIsDecodedAsItComes(t *testing.T) {
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "text/event-stream")
		w.Header().Set("Content-Encoding", "gzip")
		z := gzip.NewWriter(w)
		_, _ = io.WriteString(z, "data: a\n\n")
		_ = z.Flush()
		_ = http.NewResponseController(w).Flush()
		<-r.Context().Done()
	}))
	defer server.Close()
	stream := Open(context.Background(), session(t, server.URL), call)
	if !stream.Wait(context.Background(), soon, count(1)) {
		t.Errorf("%+v", stream.Record())
	}
	stream.Close()
	if end, _ := stream.Ended(); end != observe.EndSuite {
		t.Errorf("ended with %q", end)
	}
}
