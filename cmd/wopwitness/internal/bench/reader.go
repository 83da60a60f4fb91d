package bench

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"hash/crc32"
	"io"
	"net"
	"net/http"
	"strings"
	"time"

	"github.com/wopwitness/wopwitness/cmd/wopwitness/internal/bench/limits"
)

// The buffers of a reader, in bytes; a line of the bench's events is a few hundred.
const (
	wireBuffer = 8 << 10
	lineBuffer = 8 << 10
)

// reader is one subscriber on a connection of its own. It counts frames and does no more with them than tell whether two
// readers saw the same ones in the same order. It belongs to one goroutine.
type reader struct {
	conn    net.Conn
	answer  *http.Response
	lines   *bufio.Reader
	release func() bool

	frames int
	bytes  int64
	order  uint32 // over the ids in the order they came
	id     bool   // the block that is being read has an id line
}

// subscribe opens a stream and returns when the answer's head and first block are there. With a cursor it resumes strictly.
func (t target) subscribe(ctx context.Context, cursor string) (_ *reader, err error) {
	address := strings.TrimPrefix(t.url, "http://")
	var dialer net.Dialer
	conn, err := dialer.DialContext(ctx, "tcp", address)
	if err != nil {
		return nil, fmt.Errorf("subscribe: %w", err)
	}
	r := &reader{conn: conn}
	r.release = context.AfterFunc(ctx, func() { _ = conn.Close() })
	defer func() {
		if err != nil {
			err = errors.Join(err, r.close())
		}
	}()
	path, resume := limits.StreamPath, ""
	if cursor != "" {
		path, resume = path+"?replay=required", "Last-Event-ID: "+cursor+"\r\n"
	}
	_, err = fmt.Fprintf(conn, "GET %s HTTP/1.1\r\nHost: %s\r\nAuthorization: Bearer %s\r\nAccept: text/event-stream\r\n%s\r\n", path, address, hostKey, resume)
	if err != nil {
		return nil, fmt.Errorf("subscribe: %w", err)
	}
	r.answer, err = http.ReadResponse(bufio.NewReaderSize(conn, wireBuffer), nil) //nolint:bodyclose // close does, behind the connection
	if err != nil {
		return nil, fmt.Errorf("subscribe: %w", err)
	}
	if r.answer.StatusCode != http.StatusOK {
		body, _ := io.ReadAll(io.LimitReader(r.answer.Body, 512))
		return nil, fmt.Errorf("subscribe: expected 200, got %d: %s", r.answer.StatusCode, body)
	}
	r.lines = bufio.NewReaderSize(r.answer.Body, lineBuffer)
	if err := r.block(); err != nil {
		return nil, fmt.Errorf("subscribe: the stream did not open: %w", err)
	}
	return r, nil
}

func (r *reader) close() error {
	r.release()
	err := r.conn.Close()
	if r.answer != nil {
		_ = r.answer.Body.Close() // reads what is left, so only now that nothing is
	}
	if errors.Is(err, net.ErrClosed) {
		return nil // the context has closed it
	}
	return err
}

// block reads up to the next blank line and counts the frame, if it was one: a block with an id.
func (r *reader) block() error {
	for {
		line, err := r.lines.ReadSlice('\n')
		r.bytes += int64(len(line))
		switch {
		case err != nil:
			return err
		case len(line) == 1:
			if r.id {
				r.frames++
			}
			r.id = false
			return nil
		case bytes.HasPrefix(line, []byte("id: ")):
			r.id = true
			r.order = crc32.Update(r.order, crc32.IEEETable, line)
		}
	}
}

// until reads until that many frames were counted in all.
func (r *reader) until(frames int, deadline time.Time) error {
	if err := r.conn.SetReadDeadline(deadline); err != nil {
		return err
	}
	for r.frames < frames {
		if err := r.block(); err != nil {
			return err
		}
	}
	return nil
}
