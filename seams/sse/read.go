package sse

import (
	"context"
	"errors"
	"io"

	"github.com/wopwitness/wopwitness/seams/client"
	"github.com/wopwitness/wopwitness/witness/observe"
	"github.com/wopwitness/wopwitness/witness/observe/eventstream"
)

const readBuffer = 32 << 10

// reader is the goroutine's own state: what turns bytes into a redacted record.
type reader struct {
	stream   *Stream
	redactor *client.Redactor
	parser   *eventstream.Parser
	last     observe.Micros // arrival of the bytes read last
}

// read runs until the stream is over. Nothing is held back of a complete line, so a redactor delays no frame.
func (s *Stream) read(ctx context.Context, body io.ReadCloser) {
	defer close(s.done)
	defer s.cancel()
	defer func() { _ = body.Close() }()
	// A body that a decoder reads is not always woken by the request's context alone.
	stop := context.AfterFunc(ctx, func() { _ = body.Close() })
	defer stop()

	r := &reader{stream: s, redactor: s.session.Client().Redactor(), parser: eventstream.New(eventstream.Limits{})}
	buffer := make([]byte, readBuffer)
	for {
		n, err := body.Read(buffer)
		if n > 0 {
			if failure := r.take(buffer[:n]); failure != nil {
				r.end(observe.EndFailed, failure)
				return
			}
		}
		if err != nil {
			r.finish(ctx, err)
			return
		}
	}
}

// take records one read. The failure says that a limit was passed.
func (r *reader) take(b []byte) *observe.Failure {
	s := r.stream
	r.last = s.session.Now()
	s.mu.Lock()
	defer s.mu.Unlock()
	var failure *observe.Failure
	if room := s.limit - s.bytes; int64(len(b)) > room {
		b, failure = b[:room], tooMuch(s.limit)
	}
	if granted := s.session.Grant(len(b)); granted < len(b) {
		b, failure = b[:granted], tooMuch(s.bytes+int64(granted))
	}
	s.bytes += int64(len(b))
	if parsed := r.append(r.redactor.Feed(b)); failure == nil {
		failure = parsed
	}
	s.changed.announce()
	return failure
}

// append adds redacted bytes to the record and the blocks they complete. The stream's lock is held.
func (r *reader) append(redacted []byte) *observe.Failure {
	if len(redacted) == 0 {
		return nil
	}
	s := r.stream
	s.record.Chunks = append(s.record.Chunks, observe.Chunk{At: r.last, Bytes: redacted})
	frames, err := r.parser.Feed(r.last, redacted)
	s.frames = append(s.frames, frames...)
	if err != nil {
		return &observe.Failure{Kind: observe.FailTooLarge, Text: err.Error()}
	}
	return nil
}

// finish says how a read that gave an error ended the stream.
func (r *reader) finish(ctx context.Context, err error) {
	s := r.stream
	s.mu.Lock()
	closed := s.closed
	s.mu.Unlock()
	switch {
	case closed:
		r.end(observe.EndSuite, nil)
	case errors.Is(err, io.EOF):
		r.end(observe.EndHost, nil)
	default:
		r.end(observe.EndFailed, s.session.Classify(ctx, err, 0))
	}
}

func (r *reader) end(how observe.StreamEnd, failure *observe.Failure) {
	s := r.stream
	s.mu.Lock()
	r.append(r.redactor.Flush())
	s.over = true
	s.record.End, s.record.EndedAt = how, s.session.Now()
	if failure != nil {
		s.record.Failure = failure
	}
	s.mu.Unlock()
	s.changed.announce()
}
