package defects

import (
	"context"
	"encoding/json"
	"net/http"
	"sync"

	"github.com/wopwitness/wopwitness/mockhost/parts"
	"github.com/wopwitness/wopwitness/mockhost/store"
)

// resumer is a parts.Resumer that is a function.
type resumer func(ctx context.Context, p parts.Principal, r parts.StreamRequest) (parts.Start, error)

func (f resumer) Start(ctx context.Context, p parts.Principal, r parts.StreamRequest) (parts.Start, error) {
	return f(ctx, p, r)
}

// resumes wraps the host's resumer.
func resumes(p *parts.Parts, f func(right parts.Resumer) resumer) { p.Resumer = f(p.Resumer) }

// refuser is a parts.Refuser that is a function.
type refuser func(w http.ResponseWriter, r *http.Request, p parts.Principal, s parts.StreamRequest)

func (f refuser) Refuse(w http.ResponseWriter, r *http.Request, p parts.Principal, s parts.StreamRequest) {
	f(w, r, p, s)
}

// refuses wraps the host's refuser.
func refuses(p *parts.Parts, f func(right parts.Refuser) refuser) { p.Refuser = f(p.Refuser) }

// answer sends an error body the way this host sends its own.
func answer(w http.ResponseWriter, status int, code, message string) {
	b, err := json.Marshal(map[string]string{"error": code, "message": message})
	if err != nil {
		panic(err) // strings always encode
	}
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	_, _ = w.Write(b)
}

// passage is what one stream does to the frames that it is about to send.
type passage func([]*parts.Frame) []*parts.Frame

// throughStreams puts a passage into every stream; open may return nil for none.
func throughStreams(p *parts.Parts, open func(pr parts.Principal, s parts.Start) passage) {
	p.Log = &streamLog{Log: p.Log, open: open}
}

type streamLog struct {
	parts.Log
	open func(parts.Principal, parts.Start) passage
}

func (l *streamLog) Subscribe(ctx context.Context, pr parts.Principal, s parts.Start) (parts.Subscription, error) {
	sub, err := l.Log.Subscribe(ctx, pr, s)
	if err != nil {
		return nil, err
	}
	if pass := l.open(pr, s); pass != nil {
		return &passing{Subscription: sub, pass: pass}, nil
	}
	return sub, nil
}

type passing struct {
	parts.Subscription
	pass passage
}

func (s *passing) Next(ctx context.Context) ([]*parts.Frame, error) {
	for {
		frames, err := s.Subscription.Next(ctx)
		if err != nil {
			return nil, err
		}
		if frames = s.pass(frames); len(frames) > 0 {
			return frames, nil
		}
	}
}

// onlyBacklog applies a passage to the durable frames of a resumed stream's backlog, one by one, and leaves the rest.
func onlyBacklog(s parts.Start, each func(*parts.Frame) []*parts.Frame) passage {
	if !s.Resumed {
		return nil
	}
	return func(frames []*parts.Frame) []*parts.Frame {
		var out []*parts.Frame
		for _, f := range frames {
			if f.Event.Durable() && f.Event.Seq <= s.Head {
				out = append(out, each(f)...)
			} else {
				out = append(out, f)
			}
		}
		return out
	}
}

// without drops the frames that match.
func without(frames []*parts.Frame, match func(*parts.Frame) bool) []*parts.Frame {
	out := frames[:0:0]
	for _, f := range frames {
		if !match(f) {
			out = append(out, f)
		}
	}
	return out
}

// appended wraps the log so that done sees every event once it was emitted.
func appended(p *parts.Parts, done func(pr parts.Principal, e store.Event)) {
	p.Log = &appendLog{Log: p.Log, done: done}
}

type appendLog struct {
	parts.Log
	done func(parts.Principal, store.Event)
}

func (l *appendLog) Append(ctx context.Context, pr parts.Principal, d parts.Draft, also func(store.Tx, store.Event) error) (store.Event, error) {
	e, err := l.Log.Append(ctx, pr, d, also)
	if err == nil {
		l.done(pr, e)
	}
	return e, err
}

// removed wraps the log so that remove stands in for the removal of an event.
func removed(p *parts.Parts, remove func(right parts.Log, ctx context.Context, pr parts.Principal, id string) (bool, error)) {
	p.Log = &removeLog{Log: p.Log, remove: remove}
}

type removeLog struct {
	parts.Log
	remove func(parts.Log, context.Context, parts.Principal, string) (bool, error)
}

func (l *removeLog) Remove(ctx context.Context, pr parts.Principal, id string) (bool, error) {
	return l.remove(l.Log, ctx, pr, id)
}

// journal is a defect's own memory of what was emitted, in order, over all tenants; a host that should have forgotten
// something remembers it here.
type journal struct {
	mu      sync.Mutex
	entries []entry
}

// entry is an emitted event and where its tenant's log stood then: an ephemeral one came after that place.
type entry struct {
	event store.Event
	place int64
}

// keep records everything that is emitted through p.
func (j *journal) keep(p *parts.Parts) {
	appended(p, func(pr parts.Principal, e store.Event) {
		place := e.Seq
		if !e.Durable() {
			// An event that can't be placed is kept at the start, where nothing looks for it.
			place, _ = p.Log.Head(context.Background(), pr)
		}
		j.mu.Lock()
		defer j.mu.Unlock()
		j.entries = append(j.entries, entry{e, place})
	})
}

func (j *journal) find(match func(entry) bool) (entry, bool) {
	j.mu.Lock()
	defer j.mu.Unlock()
	for _, e := range j.entries {
		if match(e) {
			return e, true
		}
	}
	return entry{}, false
}

func (j *journal) all(match func(entry) bool) []entry {
	j.mu.Lock()
	defer j.mu.Unlock()
	var out []entry
	for _, e := range j.entries {
		if match(e) {
			out = append(out, e)
		}
	}
	return out
}

// remembering is a defect with a journal.
func remembering(apply func(p *parts.Parts, j *journal)) func() func(*parts.Parts) {
	return func() func(*parts.Parts) {
		j := &journal{}
		return func(p *parts.Parts) {
			j.keep(p)
			apply(p, j)
		}
	}
}
