package eventstream

import (
	"bytes"
	"strings"

	"github.com/wopwitness/wopwitness/witness/observe"
)

// Parser reads a stream that comes in pieces. However the bytes are cut, the frames are the same. It is not safe for
// concurrent use.
type Parser struct {
	limits Limits
	offset int   // bytes of the stream taken so far
	err    error // the limit that was passed; nothing is read after it

	bom     int  // bytes of a leading byte order mark matched so far; -1 once that is decided
	afterCR bool // the last line ended in CR: a LF now belongs to it
	line    []byte
	lastID  string

	open  bool // the block in hand has at least one line
	start int  // where the block in hand, or the line that would begin it, starts
	frame Frame
	data  strings.Builder
}

const byteOrderMark = "\xEF\xBB\xBF"

// New gives a parser at the start of a stream.
func New(limits Limits) *Parser {
	if limits.Line == 0 {
		limits.Line = DefaultLine
	}
	if limits.Frame == 0 {
		limits.Frame = DefaultFrame
	}
	return &Parser{limits: limits}
}

// Feed takes the next bytes, which arrived at the given moment, and gives the blocks they complete. The error is a
// *LimitError; it comes with the blocks completed before it, and again at every later call.
func (p *Parser) Feed(at observe.Micros, b []byte) ([]Frame, error) {
	var frames []Frame
	for p.err == nil && len(b) > 0 {
		if p.bom >= 0 {
			b = p.skipMark(b)
			continue
		}
		if p.afterCR {
			p.afterCR = false
			if b[0] == '\n' {
				p.offset++
				b = b[1:]
				p.restart()
				continue
			}
		}
		end := bytes.IndexAny(b, "\r\n")
		taken := b
		if end >= 0 {
			taken = b[:end]
		}
		if p.grow(taken); p.err != nil {
			break
		}
		if end < 0 {
			break
		}
		p.afterCR = b[end] == '\r'
		p.offset++
		b = b[end+1:]
		if frame, ended := p.endLine(at); ended {
			frames = append(frames, frame)
		}
	}
	return frames, p.err
}

// Tail is the text of the block that has not ended: by rule it is discarded when the stream ends here. Offsets from its
// start to the bytes taken so far.
func (p *Parser) Tail() (start, end int) { return p.start, p.offset }

// Err is the limit that was passed, or nil.
func (p *Parser) Err() error { return p.err }

// skipMark passes over one byte order mark at the very start. Bytes that turn out to be no mark belong to the first line.
func (p *Parser) skipMark(b []byte) []byte {
	if b[0] == byteOrderMark[p.bom] {
		p.bom++
		p.offset++
		if p.bom == len(byteOrderMark) {
			p.bom = -1
			p.restart()
		}
		return b[1:]
	}
	p.line = append(p.line, byteOrderMark[:p.bom]...)
	p.bom = -1
	return b
}

// restart moves the start of the next block to here, unless a block is in hand already.
func (p *Parser) restart() {
	if !p.open && len(p.line) == 0 {
		p.start = p.offset
	}
}

// grow adds to the line in hand, as long as neither limit is passed. The one passed first is told, so that the answer
// doesn't depend on how the bytes were cut.
func (p *Parser) grow(taken []byte) {
	line, frame := p.limits.Line-len(p.line), p.limits.Frame-(p.offset-p.start)
	if room := max(min(line, frame), 0); len(taken) > room {
		p.err = &LimitError{What: "line", Limit: p.limits.Line, At: p.offset + room}
		if frame < line {
			p.err = &LimitError{What: "frame", Limit: p.limits.Frame, At: p.offset + room}
		}
		p.line = nil
		return
	}
	p.line = append(p.line, taken...)
	p.offset += len(taken)
}

// endLine takes the line in hand. A blank one ends the block in hand, where there is one.
func (p *Parser) endLine(at observe.Micros) (Frame, bool) {
	if len(p.line) > 0 {
		p.open = true
		p.field(p.line)
		p.line = p.line[:0]
		return Frame{}, false
	}
	if !p.open {
		p.restart()
		return Frame{}, false
	}
	f := p.frame
	f.At, f.Start, f.End = at, p.start, p.offset
	f.Data = p.data.String()
	if f.HasID {
		p.lastID = f.ID
	}
	f.LastEventID = p.lastID
	p.frame, p.open = Frame{}, false
	p.data = strings.Builder{}
	p.restart()
	return f, true
}

// field reads one line that is not blank.
func (p *Parser) field(line []byte) {
	name, value, _ := bytes.Cut(line, []byte(":"))
	value = bytes.TrimPrefix(value, []byte(" "))
	switch string(name) {
	case "":
		p.frame.Comments = append(p.frame.Comments, string(value))
	case "event":
		p.frame.Event = string(value)
	case "data":
		if p.frame.HasData {
			p.data.WriteByte('\n')
		}
		p.frame.HasData = true
		p.data.Write(value)
	case "id":
		if bytes.IndexByte(value, 0) >= 0 {
			p.frame.IDIgnored = true
			return
		}
		p.frame.ID, p.frame.HasID = string(value), true
	case "retry":
		if digits(value) {
			p.frame.Retry, p.frame.HasRetry = string(value), true
		}
	}
}

func digits(b []byte) bool {
	for _, c := range b {
		if c < '0' || c > '9' {
			return false
		}
	}
	return len(b) > 0
}
