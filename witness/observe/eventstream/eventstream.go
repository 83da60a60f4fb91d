// Package eventstream reads the text of an event stream (WHATWG HTML, "Server-sent events") block by block and keeps
// what a convenience reader hides: comments, whether an id line was there at all, blocks without data, and where each
// block began and ended. The same parser runs live under the stream reader and later over recorded chunks.
//
// It does no I/O and holds no opinion: a block that no browser would dispatch is still a Frame. Start with Frames for a
// recorded stream and Parser for a live one.
package eventstream

import (
	"fmt"

	"github.com/wopwitness/wopwitness/witness/observe"
)

// Frame is one block that a blank line ended. Text is kept as the bytes that came: invalid UTF-8 is not replaced.
type Frame struct {
	At    observe.Micros // arrival of the chunk that completed the block
	Event string         // the last event field's value, "" where there was none (type "message")

	Data    string // the data lines, joined by LF
	HasData bool   // at least one data line; without one the block is not dispatched

	ID        string // the last accepted id line of this block
	HasID     bool   // this block had an id line: absent and empty differ
	IDIgnored bool   // an id line held a NUL and was passed over

	LastEventID string // the reader's last event id after this block

	Retry    string // the last retry line of digits only, in milliseconds
	HasRetry bool

	Comments []string // without the colon, and without one space after it

	Start, End int // byte offsets of the block in the stream; a LF after an ending CR is beyond End
}

// Limits bound what one line and one block may hold, in bytes. A zero member takes the default.
type Limits struct {
	Line  int // 1 MiB
	Frame int // 4 MiB
}

// The default limits.
const (
	DefaultLine  = 1 << 20
	DefaultFrame = 4 << 20
)

// LimitError says that a line or a block grew beyond its limit. Nothing after it is read.
type LimitError struct {
	What  string // "line" or "frame"
	Limit int    // bytes
	At    int    // offset at which the limit was passed
}

// Error implements error.
func (e *LimitError) Error() string {
	return fmt.Sprintf("event stream: a %s is longer than %d bytes (at byte %d of the stream)", e.What, e.Limit, e.At)
}

// Frames gives the blocks of a recorded stream, in order. A block beyond the default limits ends the reading: the blocks
// before it are given. A stream that did not open has none.
func Frames(s observe.Stream) []Frame {
	p := New(Limits{})
	return p.chunks(s.Chunks)
}

// All gives the blocks of a subscription over its connections. The last event id is carried from one connection to the
// next, as a reader that reconnects carries it; offsets count from the start of each connection.
func All(sub observe.Subscription) []Frame {
	var all []Frame
	last := ""
	for _, segment := range sub.Segments {
		p := New(Limits{})
		p.lastID = last
		all = append(all, p.chunks(segment.Chunks)...)
		if len(all) > 0 {
			last = all[len(all)-1].LastEventID
		}
	}
	return all
}

func (p *Parser) chunks(chunks []observe.Chunk) []Frame {
	var all []Frame
	for _, c := range chunks {
		frames, err := p.Feed(c.At, c.Bytes)
		all = append(all, frames...)
		if err != nil {
			break
		}
	}
	return all
}
