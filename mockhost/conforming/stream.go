package conforming

import (
	"context"
	"net/http"
	"strings"
	"time"

	"github.com/wopwitness/wopwitness/mockhost/parts"
	"github.com/wopwitness/wopwitness/mockhost/store"
)

// Asker implements parts.Asker.
type Asker struct{}

// Ask implements parts.Asker. The text gives replay= one value, so every other is refused as a bad request rather than
// served with less than it asked for.
func (Asker) Ask(r *http.Request) (parts.StreamRequest, error) {
	var s parts.StreamRequest
	q := r.URL.Query()
	if given, ok := q["replay"]; ok {
		if len(given) != 1 || given[0] != "required" {
			return s, parts.Invalid("the query parameter replay takes the value required, once")
		}
		s.Strict = true
	}
	if given, ok := q["resumable"]; ok {
		if len(given) != 1 || given[0] != "true" && given[0] != "false" {
			return s, parts.Invalid("the query parameter resumable takes true or false, once")
		}
		s.Resumable = given[0] == "true"
	}
	// Two header lines are one list to HTTP, and no event id has a comma.
	s.Cursor = strings.Join(r.Header.Values("Last-Event-Id"), ", ")
	return s, nil
}

// Resumer implements parts.Resumer over the log.
type Resumer struct{ Parts *parts.Parts }

// Start implements parts.Resumer (RFC 0250 §B and §C). A cursor that isn't a stored event the caller can see is one case
// whatever it is instead, so that nothing about it can show.
func (r Resumer) Start(ctx context.Context, p parts.Principal, s parts.StreamRequest) (parts.Start, error) {
	head, err := r.Parts.Log.Head(ctx, p)
	if err != nil {
		return parts.Start{}, err
	}
	live := parts.Start{After: head, Head: head}
	if s.Cursor == "" {
		return live, nil
	}
	e, ok, err := r.Parts.Log.Find(ctx, p, s.Cursor)
	switch {
	case err != nil:
		return parts.Start{}, err
	case ok:
		return parts.Start{After: e.Seq, Head: max(head, e.Seq), Resumed: true}, nil
	case s.Strict:
		return parts.Start{}, parts.ErrCursorRefused
	}
	return live, nil
}

// Refuser implements parts.Refuser with the one answer of RFC 0250 §C.
type Refuser struct {
	// Write sends a Problem as every other error body is sent.
	Write func(w http.ResponseWriter, p *parts.Problem)
}

// Refuse implements parts.Refuser.
func (f Refuser) Refuse(w http.ResponseWriter, _ *http.Request, _ parts.Principal, _ parts.StreamRequest) {
	f.Write(w, parts.Resync())
}

// Visibility implements parts.Visibility: a key of no workspace sees the events of none, a bound key also those of its
// own.
type Visibility struct{}

// Sees implements parts.Visibility.
func (Visibility) Sees(p parts.Principal, e store.Event) bool {
	return e.Workspace == "" || e.Workspace == p.Workspace
}

// Pulse implements parts.Pulse with SSE comments, which no client takes for an event.
type Pulse struct{ Interval time.Duration }

// Opening implements parts.Pulse.
func (Pulse) Opening() []byte { return []byte(": stream open\n\n") }

// Beat implements parts.Pulse.
func (Pulse) Beat(parts.Principal) []byte { return []byte(": still here\n\n") }

// Every implements parts.Pulse.
func (p Pulse) Every() time.Duration { return p.Interval }

// Lifetime implements parts.Lifetime: a bound for every stream, and another for those of subscribers that said they can
// resume (RFC 0247). 0 is no bound.
type Lifetime struct{ Every, Resumable time.Duration }

// Bound implements parts.Lifetime.
func (l Lifetime) Bound(asked parts.StreamRequest) time.Duration {
	if asked.Resumable && l.Resumable > 0 {
		return l.Resumable
	}
	return l.Every
}

// Front implements parts.Front and adds nothing.
type Front struct{}

// Wrap implements parts.Front.
func (Front) Wrap(next http.Handler) http.Handler { return next }
