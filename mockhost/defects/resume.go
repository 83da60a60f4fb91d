package defects

import (
	"bytes"
	"context"
	"slices"
	"sync"

	"github.com/wopwitness/wopwitness/mockhost/parts"
)

// wholeSuffix is the legs that hold a resumed stream against its whole suffix, in order. Others look at a suffix for
// something else, and leave what is missing or doubled in it to these.
func wholeSuffix() []string {
	return []string{
		"0250.resume-backlog", "0250.handoff", "0250.volume", "0250.bounded-stream", "0250.other-instance", "0250.expired", "0250.restart",
	}
}

// resumeDefects are wrong about which events a resumed stream replays (RFC 0250 §B).
func resumeDefects() []Defect {
	d := func(name, says string, convicts []string, apply func(*parts.Parts)) Defect {
		return Defect{Info{Name: name, Says: says, RFC: "0250", Convicts: convicts}, wraps(apply)}
	}
	return []Defect{
		d("cursor-event-repeated", "replays the cursor's own event before the ones after it",
			[]string{"0250.resume-backlog", "0250.resume-twice", "0250.handoff", "0250.volume", "0250.bounded-stream", "0250.other-instance", "0250.restart", "0250.unwatched"}, cursorRepeated),
		d("backlog-first-dropped", "starts the backlog one event too late", append(wholeSuffix(), "0250.unwatched"), firstDropped).silent(),
		d("backlog-last-dropped", "ends the backlog one event before live begins",
			append(wholeSuffix(), "0250.resume-twice", "0250.unwatched"), lastDropped).silent(),
		d("backlog-newest-first", "replays the backlog from the newest event to the oldest", wholeSuffix(), newestFirst),
		d("backlog-last-twice", "sends the last event of the backlog again as the first live one", append(wholeSuffix(), "0250.unwatched"), lastTwice),
		d("silent-after-backlog", "replays the backlog and never goes live",
			[]string{"0250.resume-backlog", "0250.handoff", "0250.volume", "0250.other-instance", "0250.restart"}, silentAfterBacklog).silent(),
		d("resumed-without-ephemerals", "sends resumed streams the durable events only",
			[]string{"0250.resume-backlog"}, resumedWithoutEphemerals),
		d("last-cursor-refused", "refuses the newest event as a cursor, since nothing follows it",
			[]string{"0250.resume-twice", "0250.volume"}, lastCursorRefused),
		d("replayed-timestamp-new", "dates a replayed event by the replay", []string{"0250.resume-stable"}, replayedTimestamp),
		d("replayed-id-line-differs", "gives a replayed event the log's position as id line, in place of its id",
			[]string{"0250.resume-stable"}, replayedIDLine).may("0250.bounded-stream"),
		d("replayed-event-name-lost", "replays events without an event line", []string{"0250.resume-stable"}, replayedName),
		d("live-start-replays", "replays the last ten events to a stream that names no position",
			[]string{"0250.live-start"}, liveStartReplays),
		{Info{
			Name: "backlog-consumed", Says: "delivers a cursor's backlog once; the next resume from it begins live", RFC: "0250",
			Convicts: []string{"0250.resume-twice", "0250.volume"},
		}, backlogConsumed},
	}
}

func cursorRepeated(p *parts.Parts) {
	resumes(p, func(right parts.Resumer) resumer {
		return func(ctx context.Context, pr parts.Principal, r parts.StreamRequest) (parts.Start, error) {
			s, err := right.Start(ctx, pr, r)
			if err == nil && s.Resumed {
				s.After--
			}
			return s, err
		}
	})
}

func firstDropped(p *parts.Parts) {
	throughStreams(p, func(_ parts.Principal, s parts.Start) passage {
		first := true
		return onlyBacklog(s, func(f *parts.Frame) []*parts.Frame {
			if first {
				first = false
				return nil
			}
			return []*parts.Frame{f}
		})
	})
}

func lastDropped(p *parts.Parts) {
	throughStreams(p, func(_ parts.Principal, s parts.Start) passage {
		return onlyBacklog(s, func(f *parts.Frame) []*parts.Frame {
			if f.Event.Seq == s.Head {
				return nil
			}
			return []*parts.Frame{f}
		})
	})
}

func newestFirst(p *parts.Parts) {
	throughStreams(p, func(_ parts.Principal, s parts.Start) passage {
		var held []*parts.Frame
		return onlyBacklog(s, func(f *parts.Frame) []*parts.Frame {
			held = append(held, f)
			if f.Event.Seq < s.Head {
				return nil
			}
			slices.Reverse(held)
			return held
		})
	})
}

func lastTwice(p *parts.Parts) {
	throughStreams(p, func(_ parts.Principal, s parts.Start) passage {
		return onlyBacklog(s, func(f *parts.Frame) []*parts.Frame {
			if f.Event.Seq == s.Head {
				return []*parts.Frame{f, f}
			}
			return []*parts.Frame{f}
		})
	})
}

func silentAfterBacklog(p *parts.Parts) {
	throughStreams(p, func(_ parts.Principal, s parts.Start) passage {
		if !s.Resumed {
			return nil
		}
		return func(frames []*parts.Frame) []*parts.Frame {
			return without(frames, func(f *parts.Frame) bool { return !f.Event.Durable() || f.Event.Seq > s.Head })
		}
	})
}

func resumedWithoutEphemerals(p *parts.Parts) {
	throughStreams(p, func(_ parts.Principal, s parts.Start) passage {
		if !s.Resumed {
			return nil
		}
		return func(frames []*parts.Frame) []*parts.Frame {
			return without(frames, func(f *parts.Frame) bool { return !f.Event.Durable() })
		}
	})
}

func lastCursorRefused(p *parts.Parts) {
	resumes(p, func(right parts.Resumer) resumer {
		return func(ctx context.Context, pr parts.Principal, r parts.StreamRequest) (parts.Start, error) {
			s, err := right.Start(ctx, pr, r)
			if err == nil && r.Strict && s.Resumed && s.After == s.Head {
				return parts.Start{}, parts.ErrCursorRefused
			}
			return s, err
		}
	})
}

// replayed sends each backlog frame as change makes it.
func replayed(p *parts.Parts, change func(f *parts.Frame) []byte) {
	throughStreams(p, func(_ parts.Principal, s parts.Start) passage {
		return onlyBacklog(s, func(f *parts.Frame) []*parts.Frame {
			return []*parts.Frame{{Event: f.Event, Bytes: change(f)}}
		})
	})
}

func replayedTimestamp(p *parts.Parts) {
	replayed(p, func(f *parts.Frame) []byte {
		old := f.Event.At.UTC().Format(envelopeTime)
		// A second on, so that the difference isn't one of precision.
		now := p.Clock.Now().UTC().Add(1000 * 1e6).Format(envelopeTime)
		return bytes.Replace(f.Bytes, []byte(`"timestamp":"`+old), []byte(`"timestamp":"`+now), 1)
	})
}

func replayedIDLine(p *parts.Parts) {
	replayed(p, func(f *parts.Frame) []byte {
		place := append([]byte("id: log-position-"), bytes.Repeat([]byte("0"), 8)...)
		return bytes.Replace(f.Bytes, []byte("id: "+f.Event.ID), append(place, digits(f.Event.Seq)...), 1)
	})
}

func replayedName(p *parts.Parts) {
	replayed(p, func(f *parts.Frame) []byte {
		return bytes.TrimPrefix(f.Bytes, []byte("event: "+f.Event.Type+"\n"))
	})
}

func liveStartReplays(p *parts.Parts) {
	resumes(p, func(right parts.Resumer) resumer {
		return func(ctx context.Context, pr parts.Principal, r parts.StreamRequest) (parts.Start, error) {
			s, err := right.Start(ctx, pr, r)
			if err == nil && r.Strict && r.Cursor == "" {
				s.After = max(0, s.Head-10)
			}
			return s, err
		}
	})
}

func backlogConsumed() func(*parts.Parts) {
	var mu sync.Mutex
	used := map[string]bool{}
	return func(p *parts.Parts) {
		resumes(p, func(right parts.Resumer) resumer {
			return func(ctx context.Context, pr parts.Principal, r parts.StreamRequest) (parts.Start, error) {
				s, err := right.Start(ctx, pr, r)
				if err != nil || !s.Resumed {
					return s, err
				}
				mu.Lock()
				defer mu.Unlock()
				key := pr.Subject + " " + r.Cursor
				if used[key] {
					s.After = s.Head
				}
				used[key] = true
				return s, nil
			}
		})
	}
}
