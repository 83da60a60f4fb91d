package soak

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"
)

// errRefused says that a host refused a cursor which it must still have.
var errRefused = errors.New("the stream was refused")

// lineBuffer is how much of a line a subscriber takes at once, in bytes; what is longer goes by in pieces.
const lineBuffer = 2 << 10

// Subscriber reads one tenant's events strictly from where it stands, and moves on with each whole one.
type Subscriber struct {
	Key    string
	Cursor string // id of the last whole event; "" to begin with what is new
	// Event takes each event's id and says whether to read on.
	Event func(id string) bool
	// Opened is called once the stream is there, unless it is nil.
	Opened func()
}

// Read opens one stream and reads until Event has enough, the context ends, or the stream breaks, none of which is an
// error, nor is an instance that isn't there. A host that refuses the cursor is one.
func (s *Subscriber) Read(ctx context.Context, by http.RoundTripper, url string) error {
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, url+"/host/events?replay=required", nil)
	if err != nil {
		return err
	}
	dress(req, s.Key)
	if s.Cursor != "" {
		req.Header.Set("Last-Event-ID", s.Cursor)
	}
	res, err := by.RoundTrip(req)
	if err != nil {
		return nil //nolint:nilerr // the instance isn't there, or the time is over
	}
	defer func() { _ = res.Body.Close() }()
	switch res.StatusCode {
	case http.StatusOK:
	case http.StatusServiceUnavailable:
		return nil
	default:
		body, _ := io.ReadAll(io.LimitReader(res.Body, 512))
		return fmt.Errorf("%w: resume at %s: %d: %s", errRefused, s.Cursor, res.StatusCode, body)
	}
	if s.Opened != nil {
		s.Opened()
	}
	lines := bufio.NewReaderSize(res.Body, lineBuffer)
	id, begins := "", true
	for {
		line, more, err := lines.ReadLine()
		if err != nil {
			return nil //nolint:nilerr // broken off; an event that isn't whole is none
		}
		switch {
		case !begins:
		case len(line) == 0 && id != "":
			s.Cursor = id
			if !s.Event(id) {
				return nil
			}
			id = ""
		default:
			if rest, ok := strings.CutPrefix(string(line[:min(len(line), 200)]), "id: "); ok {
				id = rest
			}
		}
		begins = !more
	}
}
