package hostilehost

import (
	"context"
	"fmt"
	"net/http"
	"strings"
)

// streamAttacks are those of the channel of host events.
func streamAttacks() []Attack {
	stream := func(feed func(ctx context.Context, s *Server, w http.ResponseWriter)) func(*Server, http.Handler) http.Handler {
		return on(streamPath, func(s *Server, w http.ResponseWriter, r *http.Request) {
			w.Header().Set("Content-Type", "text/event-stream")
			w.Header().Set("OpenWOP-Version", "2.0")
			w.WriteHeader(http.StatusOK)
			_ = http.NewResponseController(w).Flush()
			feed(r.Context(), s, w)
		})
	}
	frame := "event: host-test.durable-triggered\nid: %s\ndata: {\"eventId\":\"%s\",\"type\":\"host-test.durable-triggered\",\"timestamp\":\"2026-01-01T00:00:00Z\",\"delivery\":\"durable\",\"payload\":{}}\n\n"
	return []Attack{
		{Name: "endless-line", Says: "a stream that is one line without end", Answer: stream(func(ctx context.Context, s *Server, w http.ResponseWriter) {
			endless(ctx, s, w, "data: ", strings.Repeat("a", 64<<10))
		})},
		{Name: "endless-frame", Says: "a frame of short lines without end", Answer: stream(func(ctx context.Context, s *Server, w http.ResponseWriter) {
			endless(ctx, s, w, "", strings.Repeat("data: "+strings.Repeat("b", 1000)+"\n", 64))
		})},
		{Name: "endless-frames", Says: "frames without end, as fast as they are taken", Answer: stream(func(ctx context.Context, s *Server, w http.ResponseWriter) {
			id := strings.Repeat("e", 24)
			endless(ctx, s, w, "", strings.Repeat(fmt.Sprintf(frame, id, id), 100))
		})},
		{Name: "endless-comments", Says: "comments without end", Answer: stream(func(ctx context.Context, s *Server, w http.ResponseWriter) {
			endless(ctx, s, w, "", strings.Repeat(": hello\n", 1000))
		})},
		{Name: "endless-empty-lines", Says: "empty lines without end", Answer: stream(func(ctx context.Context, s *Server, w http.ResponseWriter) {
			endless(ctx, s, w, "", strings.Repeat("\n", 10000))
		})},
		{Name: "dripping-stream", Says: "a frame that comes a byte at a time and never ends", Answer: stream(func(ctx context.Context, s *Server, w http.ResponseWriter) {
			trickle(ctx, s, w, "event: host-test.durable-triggered\ndata: {", "x")
		})},
		{Name: "mute-stream", Says: "a stream on which nothing ever comes", Answer: stream(func(ctx context.Context, s *Server, _ http.ResponseWriter) { hold(ctx, s) })},
		{Name: "stream-ends-at-once", Says: "streams that end as soon as they are open", Answer: stream(func(context.Context, *Server, http.ResponseWriter) {})},
		{Name: "stream-of-nonsense", Says: "a stream of bytes that are no text, NUL and marks of order among them", Answer: stream(func(ctx context.Context, s *Server, w http.ResponseWriter) {
			_, _ = w.Write([]byte("\ufeff\ufeffid: a\x00b\ndata: \xff\xfe\n\nretry: 99999999999999999999\nevent\x00: x\ndata: {\"eventId\":\n\nid\n\ndata\n\ndata: [[[[\n\ndata: {\"eventId\":7,\"type\":null}\n\n"))
			_ = http.NewResponseController(w).Flush()
			hold(ctx, s)
		})},
		{Name: "retry-for-ever", Says: "asks for a pause of a year before each reconnection, and ends", Answer: stream(func(_ context.Context, _ *Server, w http.ResponseWriter) {
			_, _ = w.Write([]byte("retry: 31536000000\n\n"))
		})},
		{Name: "silent-stream-answer", Says: "never answers a request for a stream", Answer: on(streamPath, func(s *Server, _ http.ResponseWriter, r *http.Request) { hold(r.Context(), s) })},
		{Name: "packed-stream", Says: "a stream in a compression that nobody asked for, a bomb", Answer: on(streamPath, func(_ *Server, w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Type", "text/event-stream")
			w.Header().Set("Content-Encoding", "gzip")
			bombAfter(w, "data: ")
		})},
		{Name: "refusal-as-stream", Says: "the refusal is an event stream that never ends", Answer: refusing(func(s *Server, w http.ResponseWriter, r *http.Request) {
			w.Header().Set("Content-Type", "text/event-stream")
			w.WriteHeader(http.StatusConflict)
			_, _ = w.Write([]byte("data: {\"error\":\"host_event_resync_required\",\"message\":\"no\"}\n\n"))
			_ = http.NewResponseController(w).Flush()
			hold(r.Context(), s)
		})},
		{Name: "endless-refusal", Says: "the refusal's body never ends", Answer: refusing(func(s *Server, w http.ResponseWriter, r *http.Request) {
			w.Header().Set("Content-Type", "application/json")
			w.WriteHeader(http.StatusConflict)
			endless(r.Context(), s, w, `{"error":"host_event_resync_required","message":"`, strings.Repeat("no ", 10000))
		})},
		{Name: "bomb-refusal", Says: "the refusal's body is a bomb", Answer: refusing(func(_ *Server, w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Type", "application/json")
			w.Header().Set("Content-Encoding", "gzip")
			w.WriteHeader(http.StatusConflict)
			bombAfter(w, `{"error":"host_event_resync_required","message":"`)
		})},
		{Name: "refusal-twice-over", Says: "answers one request with two responses", Answer: refusing(func(_ *Server, w http.ResponseWriter, _ *http.Request) {
			c, _, err := http.NewResponseController(w).Hijack()
			if err != nil {
				abort()
			}
			defer func() { _ = c.Close() }()
			one := "HTTP/1.1 409 Conflict\r\nContent-Type: application/json\r\nContent-Length: 2\r\n\r\n{}"
			_, _ = c.Write([]byte(one + strings.Repeat("HTTP/1.1 200 \x1b[31mOK<script>\r\nContent-Length: 0\r\n\r\n", 3)))
		})},
	}
}

// refusing answers requests with a cursor under replay=required, and leaves the rest to the right host.
func refusing(answer func(s *Server, w http.ResponseWriter, r *http.Request)) func(*Server, http.Handler) http.Handler {
	return func(s *Server, right http.Handler) http.Handler {
		return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			if r.URL.Path == streamPath && r.URL.Query().Get("replay") == "required" && r.Header.Get("Last-Event-ID") != "" {
				answer(s, w, r)
				return
			}
			right.ServeHTTP(w, r)
		})
	}
}
