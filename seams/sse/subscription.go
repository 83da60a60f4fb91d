package sse

import (
	"context"
	"encoding/json"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/wopwitness/wopwitness/seams/client"
	"github.com/wopwitness/wopwitness/witness/observe"
	"github.com/wopwitness/wopwitness/witness/observe/eventstream"
)

// Reconnect says how a subscription goes on where the host ends a stream.
type Reconnect struct {
	Strict   bool          // ask for replay=required (RFC 0250 §B); only to a host that advertises the facet
	Patience time.Duration // how long, in all, 429 answers may put one reconnection off
}

const (
	maxReconnects = 100
	// A host that ends its stream is asked again soon, or after its own retry, within bounds. One that can't be reached
	// may be in the middle of its replacement, and is asked again at longer intervals.
	firstDelay   = 10 * time.Millisecond
	longestDelay = time.Second
)

// Subscription is one subscriber: a stream, and its reconnections. It is safe for concurrent use. Its owner calls Close.
type Subscription struct {
	session   *client.Session
	call      client.Call
	reconnect Reconnect
	changed   *changes
	cancel    context.CancelFunc
	done      chan struct{}

	mu       sync.Mutex
	segments []*Stream
	over     bool
	until    observe.Micros // when its owner closed it, or it failed to open; 0 where the host's answer ended it
}

// Subscribe opens the stream and returns once the first answer's headers, or its failure, are there. A goroutine then
// reconnects where the host ends a stream that had opened, or its connection breaks: with the id of the last host event
// as the cursor, never a heartbeat's. It stops at an answer that is no event stream, and after 100 reconnections.
func Subscribe(ctx context.Context, s *client.Session, call client.Call, reconnect Reconnect) *Subscription {
	running, cancel := context.WithCancel(ctx)
	sub := &Subscription{session: s, call: call, reconnect: reconnect, changed: newChanges(), cancel: cancel, done: make(chan struct{})}
	first := open(running, s, call, sub.changed, MaxStream)
	sub.segments = []*Stream{first}
	if !first.Opened() {
		sub.over = true
		cancel()
		close(sub.done)
		return sub
	}
	go sub.follow(running, first)
	return sub
}

// follow owns the streams after the first answer, one after another.
func (sub *Subscription) follow(ctx context.Context, current *Stream) {
	defer close(sub.done)
	defer sub.cancel()
	defer sub.finish()
	cursor := headerValue(sub.call.Header, "Last-Event-ID")
	budget := int64(MaxStream)
	unreached := 0
	for range maxReconnects {
		<-current.Done()
		budget -= current.BytesSeen()
		if id, found := lastHostEvent(current.Frames()); found {
			cursor = id
		}
		if !goesOn(current.Record()) || ctx.Err() != nil || budget <= 0 {
			return
		}
		if current.Opened() {
			unreached = 0
		} else {
			unreached++
		}
		if !sub.session.Sleep(ctx, delay(current.Frames(), unreached)) {
			return
		}
		next := open(ctx, sub.session, sub.again(cursor), sub.changed, budget)
		sub.mu.Lock()
		sub.segments = append(sub.segments, next)
		sub.mu.Unlock()
		sub.changed.announce()
		current = next
	}
	<-current.Done()
}

func (sub *Subscription) finish() {
	sub.mu.Lock()
	sub.over = true
	sub.mu.Unlock()
	sub.changed.announce()
}

// goesOn says whether an application would connect again: the host ended the stream, or the connection to it broke or
// could not be made. An answer that is no event stream is an answer.
func goesOn(s observe.Stream) bool {
	if s.End == observe.EndHost {
		return true
	}
	if s.Failure == nil || s.Response != nil && !s.Opened() {
		return false
	}
	return s.Failure.Kind == observe.FailReset || s.Failure.Kind == observe.FailRefused
}

// delay is the host's own retry within bounds, or a short one; it doubles while the host can't be reached.
func delay(frames []eventstream.Frame, unreached int) time.Duration {
	wait := firstDelay
	for _, f := range slices.Backward(frames) {
		if f.HasRetry {
			ms, err := strconv.ParseInt(f.Retry, 10, 64)
			if err != nil || ms > longestDelay.Milliseconds() {
				return longestDelay
			}
			wait = max(time.Duration(ms)*time.Millisecond, firstDelay)
			break
		}
	}
	for range min(unreached, 7) {
		wait *= 2
	}
	return min(wait, longestDelay)
}

// again is the call of a reconnection. As long as the position is the one that the call began at, the call is repeated as it
// was: one without replay=required may begin where nothing can be resumed, and a strict one would be refused there.
func (sub *Subscription) again(cursor string) client.Call {
	call := sub.call
	own := headerValue(call.Header, "Last-Event-ID")
	call.Patience = sub.reconnect.Patience
	call.Header = slices.DeleteFunc(slices.Clone(call.Header), func(h observe.Header) bool {
		return strings.EqualFold(h.Name, "Last-Event-ID")
	})
	if cursor != "" {
		call.Header = append(call.Header, observe.Header{Name: "Last-Event-ID", Value: cursor})
	}
	if sub.reconnect.Strict && (own == "" || cursor != own) {
		query := url.Values{}
		for name, values := range call.Query {
			query[name] = values
		}
		query["replay"] = []string{"required"}
		call.Query = query
	}
	return call
}

// lastHostEvent is the id of the last block that was a resumable host event. Control frames may carry an id as well, and
// one taken for the cursor would skip events that were never seen.
func lastHostEvent(frames []eventstream.Frame) (string, bool) {
	for _, f := range slices.Backward(frames) {
		if IsHostEvent(f) {
			return f.ID, true
		}
	}
	return "", false
}

// IsHostEvent says whether a block is a durable host event: it has data and an id that isn't empty, and its data is a
// JSON object whose eventId is that id.
func IsHostEvent(f eventstream.Frame) bool {
	if !f.HasData || !f.HasID || f.ID == "" {
		return false
	}
	var envelope map[string]json.RawMessage
	if json.Unmarshal([]byte(f.Data), &envelope) != nil {
		return false
	}
	var id string
	return json.Unmarshal(envelope["eventId"], &id) == nil && id == f.ID
}

func headerValue(headers []observe.Header, name string) string {
	for _, h := range headers {
		if http.CanonicalHeaderKey(h.Name) == http.CanonicalHeaderKey(name) {
			return h.Value
		}
	}
	return ""
}

func (sub *Subscription) streams() ([]*Stream, bool) {
	sub.mu.Lock()
	defer sub.mu.Unlock()
	return slices.Clip(sub.segments), sub.over
}

// Opened says whether the first answer was an event stream.
func (sub *Subscription) Opened() bool {
	segments, _ := sub.streams()
	return segments[0].Opened()
}

// Frames are the blocks of all connections so far, in order.
func (sub *Subscription) Frames() []eventstream.Frame {
	segments, _ := sub.streams()
	if len(segments) == 1 {
		return segments[0].Frames()
	}
	var all []eventstream.Frame
	for _, s := range segments {
		all = append(all, s.Frames()...)
	}
	return all
}

// BytesSeen is how many bytes came on all connections.
func (sub *Subscription) BytesSeen() int64 {
	segments, _ := sub.streams()
	var sum int64
	for _, s := range segments {
		sum += s.BytesSeen()
	}
	return sum
}

// Ended says how the last connection ended, and false while the subscription goes on or may connect again.
func (sub *Subscription) Ended() (observe.StreamEnd, bool) {
	segments, over := sub.streams()
	end, _ := segments[len(segments)-1].Ended()
	return end, over
}

// Connections is how many connections have been made, and whether the last of them is an open stream.
func (sub *Subscription) Connections() (made int, open bool) {
	segments, _ := sub.streams()
	last := segments[len(segments)-1]
	_, over := last.Ended()
	return len(segments), last.Opened() && !over
}

// Record is what was seen on all connections; a snapshot while it goes on, final after Close.
func (sub *Subscription) Record() observe.Subscription {
	segments, _ := sub.streams()
	record := observe.Subscription{Segments: make([]observe.Stream, 0, len(segments)), Until: sub.ended()}
	for _, s := range segments {
		record.Segments = append(record.Segments, s.Record())
	}
	return record
}

// ended is when the subscription was over, or now.
func (sub *Subscription) ended() observe.Micros {
	sub.mu.Lock()
	defer sub.mu.Unlock()
	if sub.over {
		return sub.until
	}
	return sub.session.Now()
}

// Wait is Stream.Wait over all connections. A host's end of one of them is not the end of the wait.
func (sub *Subscription) Wait(ctx context.Context, within time.Duration, until func(frames []eventstream.Frame) bool) bool {
	return wait(ctx, within, sub.changed, sub.Frames, func() bool { _, over := sub.Ended(); return over }, until)
}

// Close ends the reading and the reconnecting, and waits for both. It may be called more than once.
func (sub *Subscription) Close() {
	segments, over := sub.streams()
	if !over {
		sub.mu.Lock()
		sub.until = sub.session.Now() // it was listened until now, though this may fall between two connections
		sub.mu.Unlock()
	}
	for _, s := range segments {
		s.markClosed()
	}
	sub.cancel()
	<-sub.done
	segments, _ = sub.streams()
	for _, s := range segments {
		s.Close()
	}
}
