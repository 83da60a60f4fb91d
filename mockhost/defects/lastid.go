package defects

import (
	"bytes"
	"context"
	"slices"
	"time"

	"github.com/wopwitness/wopwitness/mockhost/parts"
	"github.com/wopwitness/wopwitness/mockhost/store"
)

// lastIDDefects move a standard reader's last event id past events that it was never shown. One that keeps the ids of
// whole host events only doesn't notice (RFC 0250 §B).
func lastIDDefects() []Defect {
	d := func(name, says string, apply func(*parts.Parts)) Defect {
		return Defect{Info{Name: name, Says: says, RFC: "0250", Convicts: []string{"0250.bounded-stream"}}, wraps(apply)}
	}
	return []Defect{
		d("heartbeat-own-id", "follows each durable event by a heartbeat with an id of its own, which it refuses as a cursor", heartbeatOwnID),
		d("heartbeat-id-ahead", "ends a stream with a heartbeat whose id is the newest event's, which the stream hasn't shown", heartbeatAhead),
		d("last-event-cut", "ends a stream in the middle of an event, as if the half were all of it, and with the event's id", lastEventCut),
	}
}

func heartbeat(id string) []byte { return []byte("event: heartbeat\nid: " + id + "\ndata: {}\n\n") }

func heartbeatOwnID(p *parts.Parts) {
	p.Lifetime = lifetime(shortLife)
	right := p.Framer
	p.Framer = framer(func(e store.Event) []byte {
		if !e.Durable() {
			return right.Frame(e)
		}
		return append(right.Frame(e), heartbeat("beat-"+digits(e.Seq))...)
	})
}

func heartbeatAhead(p *parts.Parts) {
	endings(p, func(f *parts.Frame) []byte { return heartbeat(f.Event.ID) })
}

func lastEventCut(p *parts.Parts) {
	endings(p, func(f *parts.Frame) []byte {
		data := bytes.Index(f.Bytes, []byte("data: "))
		return append(slices.Clone(f.Bytes[:(data+len(f.Bytes))/2]), "\n\n"...)
	})
}

// endings ends each bounded stream early, and with what is made of the durable event that was next.
func endings(p *parts.Parts, last func(next *parts.Frame) []byte) {
	p.Lifetime = lifetime(shortLife)
	p.Log = &endingLog{Log: p.Log, pulse: p.Pulse, last: last}
}

type endingLog struct {
	parts.Log
	pulse parts.Pulse
	last  func(*parts.Frame) []byte
}

func (l *endingLog) Subscribe(ctx context.Context, pr parts.Principal, s parts.Start) (parts.Subscription, error) {
	sub, err := l.Log.Subscribe(ctx, pr, s)
	if err != nil {
		return nil, err
	}
	return &ending{Subscription: sub, log: l}, nil
}

type ending struct {
	parts.Subscription
	log   *endingLog
	begun bool
	from  time.Time // when it may end; zero for a stream of no bounded life
	over  bool
}

// begin reads from the first deadline how the stream is bounded: it is the life's where it comes before the next beat.
func (s *ending) begin(ctx context.Context) {
	s.begun = true
	end, bounded := ctx.Deadline()
	if now := wall().Now(); bounded && end.Before(now.Add(min(shortLife, s.log.pulse.Every()-time.Millisecond))) {
		s.from = now.Add(shortLife / 4)
	}
}

func (s *ending) Next(ctx context.Context) ([]*parts.Frame, error) {
	if s.over {
		return nil, parts.ErrStreamOver
	}
	if !s.begun {
		s.begin(ctx)
	}
	frames, err := s.Subscription.Next(ctx)
	if err != nil || s.from.IsZero() || wall().Now().Before(s.from) {
		return frames, err
	}
	for i, f := range frames {
		if f.Event.Durable() {
			s.over = true
			return append(slices.Clone(frames[:i]), &parts.Frame{Event: f.Event, Bytes: s.log.last(f)}), nil
		}
	}
	return frames, nil
}
