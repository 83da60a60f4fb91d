package scenarios

import (
	"context"
	"slices"
	"time"

	"github.com/wopwitness/wopwitness/seams/cause"
	"github.com/wopwitness/wopwitness/seams/sse"
	"github.com/wopwitness/wopwitness/witness/hostevents"
	"github.com/wopwitness/wopwitness/witness/observe"
)

const (
	// A proxy that buffers shows nothing until some kilobytes are there, or goes on in blocks of them. Fillers are durable
	// events that nobody judges, sent only where a stream keeps the suite waiting, and at most this many for one wait:
	// about 16 KiB.
	maxFillers  = 64
	fillerPause = 20 * time.Millisecond
)

// push sends fillers until the condition holds, and says so. It stops at the first filler that the stream shows: what
// was sent before that one is not being held back.
func (d *Drive) push(ctx context.Context, s *sse.Subscription, credential string, deadline time.Time, until func([]frame) bool) bool {
	sent, read := map[string]bool{}, 0
	for range maxFillers {
		if ctx.Err() != nil || time.Now().After(deadline) {
			return false
		}
		id := d.fill(ctx, credential)
		if id == "" {
			return false
		}
		sent[id] = true
		if s.Wait(ctx, min(fillerPause, time.Until(deadline)), until) {
			return true
		}
		frames := s.Frames()
		if slices.ContainsFunc(frames[min(read, len(frames)):], func(f frame) bool { return sent[hostevents.EventOf(f)] }) {
			return false
		}
		read = len(frames)
	}
	return false
}

// opening calls a function that returns once the host has answered a request for a stream. A proxy may hold the answer
// itself back, headers too, so one that is slow to come is helped along by fillers.
func opening[T any](ctx context.Context, d *Drive, credential string, open func() T) T {
	opened := make(chan T, 1)
	go func() { opened <- open() }()
	patience := time.NewTimer(d.patience())
	defer patience.Stop()
	select {
	case s := <-opened:
		return s
	case <-patience.C:
	}
	filler := time.NewTicker(fillerPause)
	defer filler.Stop()
	for sent := 0; ; {
		select {
		case s := <-opened:
			return s
		case <-filler.C:
			if sent < maxFillers {
				d.fill(ctx, credential)
				sent++
			}
		}
	}
}

// fill sends one durable event that no judge looks at, and gives its id; "" where the host takes none.
func (d *Drive) fill(ctx context.Context, credential string) string {
	if !d.run.listsDurable(d.Major) || credential == observe.CredentialNone || credential == observe.CredentialBad {
		return ""
	}
	e := cause.Trigger(ctx, d.Session, cause.TriggerCall{Label: "filler", Credential: credential, Delivery: durable, Major: d.Major, MaxWait: time.Second})
	if e.EventID != "" {
		d.fillers.Add(1)
	}
	return e.EventID
}
