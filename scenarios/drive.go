package scenarios

import (
	"context"
	"crypto/rand"
	"encoding/base32"
	"net/url"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/wopwitness/wopwitness/scenarios/registry"
	"github.com/wopwitness/wopwitness/seams/cause"
	"github.com/wopwitness/wopwitness/seams/client"
	"github.com/wopwitness/wopwitness/seams/sse"
	"github.com/wopwitness/wopwitness/witness/observe"
)

// The two classes of a host event (RFC 0236).
const (
	durable   = "durable"
	ephemeral = "ephemeral"
)

// The causes a row can name.
const (
	causeProduction = "production"
	causeSeam       = "seam"
	causeOperator   = "operator"
)

// Drive is one leg's hold on the host. A scenario opens streams, emits and waits through it; everything it opened is
// closed when the leg ends. Its methods return errors that end the leg with the right disposition.
type Drive struct {
	*client.Session
	run   *run
	Major int
	leg   registry.Case
	cause string
	// fillers is how many events were pushed after a silent stream: none is judged, and a judge may ask how many.
	fillers atomic.Int64

	mu    sync.Mutex // of open: a leg may subscribe from several goroutines
	open  []*sse.Subscription
	moves []observe.ClockMove // what the leg moved the host's clock by
	peer  *Drive
}

func (r *run) newDrive(c registry.Case) (*Drive, error) {
	return &Drive{Session: r.client.Begin(), run: r, Major: c.Major, leg: c, cause: causeProduction}, nil
}

// close ends what the leg left open, after the run has learnt from it.
func (d *Drive) close() {
	if d.peer != nil {
		d.peer.close()
	}
	for _, s := range d.open {
		s.Close()
		d.run.sights.add(s.Frames())
	}
}

// By names the path that caused what the leg observes, for the row.
func (d *Drive) By(cause string) { d.cause = cause }

// Config is the operator's configuration.
func (d *Drive) Config() Config { return d.run.config }

// Quiet is how long a stream is read after its sentinel.
func (d *Drive) Quiet() time.Duration { return d.run.config.quiet(d.run.host.Loopback) }

// EphemeralWindow is how long something without a commit order may lawfully be late: three times the slowest delivery
// seen in the run, at least 20 ms on loopback and one second otherwise.
func (d *Drive) EphemeralWindow() time.Duration {
	floor := time.Second
	if d.run.host.Loopback {
		floor = 20 * time.Millisecond
	}
	return max(floor, 3*d.run.pace.slowest())
}

// Live opens a live stream of host events and returns once the host has answered. Anything but an event stream ends the
// leg.
func (d *Drive) Live(ctx context.Context, credential string) (*sse.Subscription, error) {
	s := d.subscribe(ctx, client.Call{Label: "live " + credential, Credential: credential})
	return s, d.mustOpen(s)
}

// Resume connects with a cursor under replay=required. The host may refuse: ask Opened.
func (d *Drive) Resume(ctx context.Context, label, credential, cursor string) *sse.Subscription {
	return d.subscribe(ctx, d.resumeCall(label, credential, cursor))
}

// ResumeLegacy connects with a cursor and without the parameter.
func (d *Drive) ResumeLegacy(ctx context.Context, label, credential, cursor string) *sse.Subscription {
	c := d.resumeCall(label, credential, cursor)
	c.Query = nil
	return d.subscribe(ctx, c)
}

// Subscribe opens a stream of host events by a call whose path, method and major are filled in.
func (d *Drive) Subscribe(ctx context.Context, c client.Call) *sse.Subscription {
	return d.subscribe(ctx, c)
}

func (d *Drive) resumeCall(label, credential, cursor string) client.Call {
	return client.Call{
		Label: label, Credential: credential, Query: url.Values{"replay": {"required"}},
		Header: []observe.Header{{Name: "Last-Event-ID", Value: cursor}},
	}
}

// Ask makes one connection that the text says is refused, and gives what came. Where the host opens a stream all the
// same, it is read for the quiet window and closed, so that the record shows what was sent.
func (d *Drive) Ask(ctx context.Context, c client.Call) observe.Stream {
	c = d.streamCall(c)
	s := d.askPatiently(ctx, c)
	defer s.Close()
	if s.Opened() {
		s.Wait(ctx, d.Quiet(), func([]frame) bool { return false })
	}
	s.Close()
	d.run.sights.add(s.Frames())
	return s.Record()
}

// askPatiently opens the stream, and again where the host puts it off by a rate.
func (d *Drive) askPatiently(ctx context.Context, c client.Call) *sse.Stream {
	return taken(ctx, d, func() *sse.Stream {
		return opening(ctx, d, c.Credential, func() *sse.Stream { return sse.Open(ctx, d.Session, c) })
	}, func(s *sse.Stream) observe.Exchange { return s.Record().Exchange })
}

// taken opens a stream, and again where the host puts it off by a rate. It waits outside of opening, so that nobody takes
// the wait for an answer that is held back and pushes.
func taken[T interface{ Close() }](ctx context.Context, d *Drive, open func() T, answer func(T) observe.Exchange) T {
	for left := triggerPatience; ; {
		s := open()
		wait, is := client.PutOff(answer(s))
		if !is || wait > left || !d.Sleep(ctx, wait) {
			return s
		}
		s.Close()
		left -= wait
	}
}

// Refusal asks with a cursor under replay=required.
func (d *Drive) Refusal(ctx context.Context, label, credential, cursor string) observe.Stream {
	return d.Ask(ctx, d.resumeCall(label, credential, cursor))
}

func (d *Drive) streamCall(c client.Call) client.Call {
	c.Method, c.Path, c.Major = "GET", client.HostEventsPath(d.Major), d.Major
	return c
}

// subscribe opens a stream that is reconnected where the host ends it.
func (d *Drive) subscribe(ctx context.Context, c client.Call) *sse.Subscription {
	c = d.streamCall(c)
	s := taken(ctx, d, func() *sse.Subscription {
		return opening(ctx, d, c.Credential, func() *sse.Subscription {
			return sse.Subscribe(ctx, d.Session, c, sse.Reconnect{Strict: d.run.strictReplay(d.Major), Patience: triggerPatience})
		})
	}, func(s *sse.Subscription) observe.Exchange { return s.Record().Segments[0].Exchange })
	d.mu.Lock()
	d.open = append(d.open, s)
	d.mu.Unlock()
	return s
}

func (d *Drive) mustOpen(s *sse.Subscription) error {
	if s.Opened() {
		return nil
	}
	first := s.Record().Segments[0]
	if f := first.Failure; f != nil {
		return blocked(failureReason(f.Kind), "opening the stream of host events: %s", f.Text)
	}
	if st := first.Status(); st == 401 || st == 403 {
		return blocked(registry.Unauthorized, "%s", keyRefused(first.Exchange, "runs:read"))
	}
	return blocked(registry.UnexpectedAnswer, "GET %s answered %d %s instead of an event stream",
		first.Request.Target, first.Status(), first.Response.Header("Content-Type"))
}

// Emit causes one event through the trigger and waits until the observer has shown it: only then is it known to be
// committed, and ordered before whatever is emitted next.
func (d *Drive) Emit(ctx context.Context, observer *sse.Subscription, label, credential, delivery string) (observe.Emit, error) {
	return d.EmitCall(ctx, observer, cause.TriggerCall{Label: label, Credential: credential, Delivery: delivery})
}

// EmitCall is Emit by a call of the leg's own making.
func (d *Drive) EmitCall(ctx context.Context, observer *sse.Subscription, t cause.TriggerCall) (observe.Emit, error) {
	for range lostTries {
		made, open := observer.Connections()
		before := d.fillers.Load()
		e, err := d.Send(ctx, t)
		if err != nil {
			return e, err
		}
		deadline, shown := time.Now().Add(d.run.config.eventTimeout()), Shows(e.EventID)
		seen := d.soon(ctx, observer, deadline, shown)
		if now, _ := observer.Connections(); !seen && (!open || now > made) && t.IdempotencyKey == "" {
			continue
		}
		if seen || d.late(ctx, observer, t.Credential, deadline, shown) {
			d.learn(e, before, observer.Frames())
			return e, nil
		}
		return e, blocked(registry.Timeout, "the trigger accepted %s (%s) as %s, and no open stream of its tenant showed it within %s; %s",
			t.Label, t.Delivery, e.EventID, d.run.config.eventTimeout(), arrived(observer))
	}
	return observe.Emit{}, blocked(registry.Timeout, "the host ended the stream %d times in a row while an event for it was under way", lostTries)
}

// lostTries is how many events are sent for one to be seen on a stream whose life the host bounds. One that was sent
// between two connections is lawfully lost where the first had shown no event to resume at, or where it is ephemeral.
const lostTries = 5

// Send causes one event through the trigger without waiting for it to be delivered. Anything but an acceptance ends
// the leg.
func (d *Drive) Send(ctx context.Context, t cause.TriggerCall) (observe.Emit, error) {
	e := d.Trigger(ctx, t)
	answer := e.Answer()
	switch st := answer.Status(); {
	case answer.Failure != nil && st == 0:
		return e, blocked(failureReason(answer.Failure.Kind), "POST %s: %s", answer.Request.Target, answer.Failure.Text)
	case st == 429:
		return e, inapplicable(registry.RateTooLow, "the trigger kept answering 429 for longer than %s", triggerPatience)
	case st == 401 || st == 403:
		return e, blocked(registry.Unauthorized, "%s", keyRefused(answer, "webhooks:manage"))
	case st != 202 || e.EventID == "":
		return e, blocked(registry.UnexpectedAnswer, "POST %s for a %s event answered %d without an accepted event",
			answer.Request.Target, t.Delivery, st)
	}
	return e, nil
}

// Trigger calls the trigger and gives whatever came, for legs that judge the answer itself.
func (d *Drive) Trigger(ctx context.Context, t cause.TriggerCall) observe.Emit {
	t.Major = d.Major
	if t.MaxWait == 0 {
		t.MaxWait = triggerPatience
	}
	return cause.Trigger(ctx, d.Session, t)
}

// triggerPatience bounds how long one event, or one connection, is kept waiting by 429 answers.
const triggerPatience = 30 * time.Second

// UnknownCursor is an event id that no host issued, in the grammar of event ids. Its form is that of an id the host
// issued where one is given, so that a host cannot tell it by its looks.
func UnknownCursor(like string) string {
	var b [32]byte
	_, _ = rand.Read(b[:]) // crypto/rand.Read never fails
	fresh := base32.StdEncoding.WithPadding(base32.NoPadding).EncodeToString(b[:])
	if len(like) < 16 || len(like) > 128 {
		return fresh[:26]
	}
	random := []byte(like)
	for i := range random {
		if c := random[i]; c >= '0' && c <= '9' || c >= 'a' && c <= 'f' || c >= 'A' && c <= 'F' {
			random[i] = hexLike(c, fresh[i%len(fresh)])
		}
	}
	if string(random) == like {
		return fresh[:26]
	}
	return string(random)
}

// hexLike gives a character of c's own kind (digit, lower, upper hexadecimal) chosen by r.
func hexLike(c, r byte) byte {
	const digits, letters = "0123456789", "abcdef"
	switch {
	case c >= '0' && c <= '9':
		return digits[int(r)%len(digits)]
	case c >= 'a' && c <= 'f':
		return letters[int(r)%len(letters)]
	}
	return strings.ToUpper(letters)[int(r)%len(letters)]
}

func failureReason(k observe.FailureKind) registry.Reason {
	switch k {
	case observe.FailTimeout:
		return registry.Timeout
	case observe.FailCancelled:
		return registry.Interrupted
	case observe.FailTooLarge, observe.FailMalformed:
		return registry.Unreadable
	}
	return registry.Unreachable
}
