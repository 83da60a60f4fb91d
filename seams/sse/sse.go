// Package sse reads event streams as the suite needs them read: raw chunks with their arrival, the blocks in them, and
// how the stream ended. A Stream is one connection; a Subscription is one subscriber, which reconnects where the host
// ends its stream in the ordinary way.
//
// It judges nothing and delivers blocks that a browser would not. What it gives out is redacted: recorded bytes and
// frames agree. Start with Open and Subscribe.
package sse

import (
	"context"
	"fmt"
	"slices"
	"sync"
	"time"

	"github.com/wopwitness/wopwitness/seams/client"
	"github.com/wopwitness/wopwitness/witness/observe"
	"github.com/wopwitness/wopwitness/witness/observe/eventstream"
)

// MaxStream bounds the bytes of one connection, and of one subscription, against a host that sends for ever.
const MaxStream = 64 << 20

// changes tells waiters that something was added. A channel is closed at each change and replaced, so that a waiter with
// a deadline can select on it.
type changes struct {
	mu   sync.Mutex
	next chan struct{}
}

func newChanges() *changes { return &changes{next: make(chan struct{})} }

func (c *changes) announce() {
	c.mu.Lock()
	defer c.mu.Unlock()
	close(c.next)
	c.next = make(chan struct{})
}

func (c *changes) after() <-chan struct{} {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.next
}

// Stream is one connection to an event stream. It is safe for concurrent use. Its owner calls Close.
type Stream struct {
	session *client.Session
	changed *changes
	limit   int64
	cancel  context.CancelFunc
	done    chan struct{} // closed when the reading goroutine is over

	mu     sync.Mutex
	record observe.Stream
	frames []eventstream.Frame
	bytes  int64
	closed bool // Close was called: what the reader meets now is the suite's doing
	over   bool
}

// Open makes the request and returns once its headers, or a failure, are there. Where the stream opened, a goroutine
// reads on until the host ends it, Close is called or the context is done; Close waits for it.
func Open(ctx context.Context, s *client.Session, call client.Call) *Stream {
	return open(ctx, s, call, newChanges(), MaxStream)
}

func open(ctx context.Context, s *client.Session, call client.Call, changed *changes, limit int64) *Stream {
	reading, cancel := context.WithCancel(ctx)
	stream := &Stream{session: s, changed: changed, limit: limit, cancel: cancel, done: make(chan struct{})}
	opened := s.Open(reading, call)
	stream.record.Exchange = opened.Exchange
	if opened.Body == nil {
		stream.over = true
		stream.record.EndedAt = s.Now()
		if stream.record.Opened() {
			stream.record.End = observe.EndFailed
		}
		cancel()
		close(stream.done)
		return stream
	}
	go stream.read(reading, opened.Body)
	return stream
}

// Opened says whether the host answered 200 with an event stream.
func (s *Stream) Opened() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.record.Opened()
}

// Frames are the blocks read so far. The slice is the caller's to read, not to change.
func (s *Stream) Frames() []eventstream.Frame {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Clip(s.frames)
}

// BytesSeen is how many bytes came, decoded, on this connection.
func (s *Stream) BytesSeen() int64 {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.bytes
}

// Ended says how the stream ended, and false while it goes on. For an answer that was no event stream the end is "".
func (s *Stream) Ended() (observe.StreamEnd, bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.record.End, s.over
}

// Record is what was seen, redacted. While the stream goes on it is a snapshot that ends now, by the suite.
func (s *Stream) Record() observe.Stream {
	s.mu.Lock()
	defer s.mu.Unlock()
	record := s.record
	record.Chunks = slices.Clip(record.Chunks)
	if !s.over {
		record.End, record.EndedAt = observe.EndSuite, s.session.Now()
	}
	return record
}

// Wait returns true as soon as until holds for the blocks read so far; it is asked again at each change. It returns
// false where it does not hold when the stream has ended, the time is over or the context is done.
func (s *Stream) Wait(ctx context.Context, within time.Duration, until func(frames []eventstream.Frame) bool) bool {
	return wait(ctx, within, s.changed, s.Frames, func() bool { _, over := s.Ended(); return over }, until)
}

func wait(ctx context.Context, within time.Duration, changed *changes, frames func() []eventstream.Frame, over func() bool, until func([]eventstream.Frame) bool) bool {
	deadline := time.NewTimer(within)
	defer deadline.Stop()
	for {
		// What is asked first happened before what is asked next: an end that is seen now leaves no frame unseen.
		next, ended := changed.after(), over()
		if until(frames()) {
			return true
		}
		if ended {
			return false
		}
		select {
		case <-next:
		case <-deadline.C:
			return until(frames())
		case <-ctx.Done():
			return false
		}
	}
}

// Close ends the reading, where it goes on, and waits for it. It may be called more than once.
func (s *Stream) Close() {
	s.markClosed()
	s.cancel()
	<-s.done
}

// markClosed says that an end from here on is the suite's.
func (s *Stream) markClosed() {
	s.mu.Lock()
	s.closed = true
	s.mu.Unlock()
}

// Done is closed when the stream is over.
func (s *Stream) Done() <-chan struct{} { return s.done }

// tooMuch is the failure of a stream that went beyond its bound.
func tooMuch(limit int64) *observe.Failure {
	return &observe.Failure{Kind: observe.FailTooLarge, Text: fmt.Sprintf("the host sent more than %d bytes on an event stream; it is not read on", limit)}
}
