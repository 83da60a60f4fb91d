package defects

import (
	"context"
	"errors"
	"net/http"
	"strings"
	"sync"
	"time"

	"github.com/wopwitness/wopwitness/mockhost/parts"
	"github.com/wopwitness/wopwitness/mockhost/store"
)

// keptDefects keep less than they promise: of a time, of a workspace, or for as long as somebody is listening (RFC 0250
// §A, §B and §D).
func keptDefects() []Defect {
	d := func(name, says, convicts string, prepare func() func(*parts.Parts)) Defect {
		return Defect{Info{Name: name, Says: says, RFC: "0250", Convicts: strings.Fields(convicts)}, prepare}
	}
	return []Defect{
		d("unwatched-lost", "keeps an event only where a stream of its tenant is open at the time", "0250.unwatched", unwatchedLost).silent(),
		d("retention-short", "keeps events a twentieth shorter than it promises", "0250.expired", wraps(func(p *parts.Parts) {
			p.Retention = early{p.Retention, p.Retention.FirstDue(time.Time{}).Sub(time.Time{}) / 20}
		})),
		d("removed-takes-next", "removes the event behind the one that it was asked to remove as well", "0250.removed 0250.restart", wraps(removedTakesNext)),
		d("workspace-not-replayed", "replays the events that belong to no workspace only", "0250.workspace-backlog", wraps(func(p *parts.Parts) {
			throughStreams(p, func(_ parts.Principal, s parts.Start) passage {
				return onlyBacklog(s, func(f *parts.Frame) []*parts.Frame {
					if f.Event.Workspace != "" {
						return nil
					}
					return []*parts.Frame{f}
				})
			})
		})),
		d("workspace-key-refused", "refuses every cursor of a key that is bound to a workspace", "0250.workspace-backlog", wraps(func(p *parts.Parts) {
			resumes(p, func(right parts.Resumer) resumer {
				return func(ctx context.Context, pr parts.Principal, r parts.StreamRequest) (parts.Start, error) {
					if r.Strict && r.Cursor != "" && pr.Workspace != "" {
						return parts.Start{}, parts.ErrCursorRefused
					}
					return right.Start(ctx, pr, r)
				}
			})
		})),
		d("workspace-cursor-forbidden", "refuses the cursor of a workspace that the caller isn't within with 403", "0250.workspace-backlog",
			remembering(func(p *parts.Parts, j *journal) {
				refusesKnown(p, j, func(pr parts.Principal, e entry) bool {
					return e.event.Durable() && e.event.Tenant == pr.Tenant && e.event.Workspace != "" && e.event.Workspace != pr.Workspace
				}, http.StatusForbidden, "forbidden", "that event is of another workspace")
			})),
	}
}

// early is a retention that is over before its time.
type early struct {
	parts.Retention
	by time.Duration
}

func (r early) FirstDue(emitted time.Time) time.Time { return r.Retention.FirstDue(emitted).Add(-r.by) }

func (r early) Sweep(ctx context.Context, tenant string, now time.Time) error {
	return r.Retention.Sweep(ctx, tenant, now.Add(r.by))
}

func removedTakesNext(p *parts.Parts) {
	removed(p, func(right parts.Log, ctx context.Context, pr parts.Principal, id string) (bool, error) {
		e, found, err := right.Find(ctx, pr, id)
		if err != nil || !found {
			return false, err
		}
		if head, err := right.Head(ctx, pr); err != nil || head == e.Seq {
			ok, removal := right.Remove(ctx, pr, id)
			return ok, errors.Join(err, removal)
		}
		next, err := right.Subscribe(ctx, pr, parts.Start{After: e.Seq, Head: e.Seq + 1, Resumed: true})
		if err != nil {
			return false, err
		}
		defer next.Close()
		frames, err := next.Next(ctx)
		if err != nil {
			return false, err
		}
		if _, err := right.Remove(ctx, pr, frames[0].Event.ID); err != nil {
			return false, err
		}
		return right.Remove(ctx, pr, id)
	})
}

// unwatchedLost drops from every stream what was committed while its tenant had none.
func unwatchedLost() func(*parts.Parts) {
	a := &audience{open: map[string]int{}, lost: map[string]bool{}}
	return func(p *parts.Parts) {
		appended(p, func(pr parts.Principal, e store.Event) { a.hear(pr.Tenant, e) })
		throughStreams(p, func(parts.Principal, parts.Start) passage {
			return func(frames []*parts.Frame) []*parts.Frame {
				return without(frames, func(f *parts.Frame) bool { return a.missed(f.Event.ID) })
			}
		})
		p.Log = &heardLog{p.Log, a}
	}
}

// audience is how many streams each tenant has open, and the events that met none.
type audience struct {
	mu   sync.Mutex
	open map[string]int
	lost map[string]bool
}

func (a *audience) hear(tenant string, e store.Event) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if e.Durable() && a.open[tenant] == 0 {
		a.lost[e.ID] = true
	}
}

func (a *audience) missed(id string) bool {
	a.mu.Lock()
	defer a.mu.Unlock()
	return a.lost[id]
}

func (a *audience) count(tenant string, by int) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.open[tenant] += by
}

type heardLog struct {
	parts.Log
	audience *audience
}

func (l *heardLog) Subscribe(ctx context.Context, pr parts.Principal, s parts.Start) (parts.Subscription, error) {
	sub, err := l.Log.Subscribe(ctx, pr, s)
	if err != nil {
		return nil, err
	}
	l.audience.count(pr.Tenant, 1)
	return &heard{sub, func() { l.audience.count(pr.Tenant, -1) }}, nil
}

type heard struct {
	parts.Subscription
	left func()
}

func (s *heard) Close() {
	s.left()
	s.Subscription.Close()
}
