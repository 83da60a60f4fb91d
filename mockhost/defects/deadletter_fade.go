package defects

import (
	"context"
	"encoding/base64"
	"slices"
	"strings"
	"time"

	"github.com/wopwitness/wopwitness/fixtures/workflows"
	"github.com/wopwitness/wopwitness/mockhost/parts"
	"github.com/wopwitness/wopwitness/mockhost/store"
)

// deadLetterFades keep the name of a dead run and not what is known of it, or the other way round (RFC 0053 §C).
func deadLetterFades() []Defect {
	return []Defect{
		deadLetter("status-fades", "shows a dead-lettered run as completed an hour later", func(p *parts.Parts) {
			showsSnapshots(p, func(_ int, _ store.Run, s parts.RunState, m members) {
				if s.Status == parts.Failed && p.Clock.Now().After(s.Ended.Add(time.Hour)) {
					m["status"] = parts.Completed
				}
			})
		}, legFloor),
		deadLetter("log-gone-early", "keeps a dead run's log for a day, and the run itself for its time", func(p *parts.Parts) {
			finds(p, func(right parts.RunFinder) finder {
				return func(ctx context.Context, pr parts.Principal, major int, door, segment string) (store.Run, error) {
					r, err := right.Named(ctx, pr, major, door, segment)
					if err == nil && (door == parts.DoorPoll || door == parts.DoorStream) && dayOver(ctx, p, p.Runs, r) {
						return store.Run{}, parts.NoRun()
					}
					return r, err
				}
			})
		}, legFloor, legNeighbour),
		deadLetter("log-empty-early", "empties a dead run's log after a day", func(p *parts.Parts) {
			right := p.Runs
			p.Runs = engine{Runs: right, events: func(ctx context.Context, r store.Run, after int64) ([]store.RunEvent, error) {
				if dayOver(ctx, p, right, r) {
					return nil, nil
				}
				return right.Events(ctx, r, after)
			}}
		}, legFloor, legNeighbour),
		deadLetterWith("purge-keeps-listed", "goes on listing a purged run among the others", func() func(*parts.Parts) {
			gone := newLedger()
			return func(p *parts.Parts) {
				purgeMemory(p, gone)
				p.Runs = listing{p.Runs, gone}
			}
		}, legPurged),
		deadLetter("sink-holds-recovered", "puts a run into its sink at its first failure, and leaves it there when it recovers", func(p *parts.Parts) {
			right := p.Sink
			p.Sink = sink{right, nil, func(ctx context.Context, pr parts.Principal, after string, limit int) ([]store.DeadLetter, error) {
				found, err := right.List(ctx, pr, after, limit)
				if err != nil || after != "" {
					return found, err
				}
				runs, err := p.Runs.List(ctx, pr, "", limit)
				for _, r := range runs {
					if r.Workflow == workflows.Recovers && len(found) < limit {
						found = append(found, store.DeadLetter{Tenant: r.Tenant, Run: r.ID, Reason: "the node failed", Attempts: 1, At: r.At, Expires: r.At.Add(day)})
					}
				}
				return found, err
			}}
		}, legNotEarly),
		deadLetter("leak-encoded", "puts the failing request's header into the reason, its credential in base64", func(p *parts.Parts) {
			secrets := p.Secrets
			changesLetters(p, func(e parts.NodeEnd, l *parts.Letter) {
				if s := heldSecret(secrets, e.Run); s != "" {
					l.Reason += ": GET /orders with Basic " + base64.StdEncoding.EncodeToString([]byte("orders:"+s)) + " was refused"
				}
			})
		}, legRedacted),
	}
}

// dayOver reports whether the run ended more than a day ago.
func dayOver(ctx context.Context, p *parts.Parts, runs parts.Runs, r store.Run) bool {
	s, err := runs.State(ctx, r)
	return err == nil && s.Over() && p.Clock.Now().After(s.Ended.Add(day))
}

// listing is an engine that lists what is gone before what is there.
type listing struct {
	parts.Runs
	gone *ledger
}

func (l listing) List(ctx context.Context, p parts.Principal, after string, limit int) ([]store.Run, error) {
	found, err := l.Runs.List(ctx, p, after, limit)
	if err != nil || after != "" {
		return found, err
	}
	l.gone.mu.Lock()
	defer l.gone.mu.Unlock()
	for _, r := range l.gone.runs {
		if r.run.Tenant == p.Tenant {
			found = append(found, r.run)
		}
	}
	slices.SortFunc(found, func(a, b store.Run) int { return strings.Compare(b.ID, a.ID) }) // the newest first, as in the right list
	return found[:min(len(found), limit)], nil
}

func (l listing) State(ctx context.Context, r store.Run) (parts.RunState, error) {
	if kept, ok := l.gone.get(r.ID); ok {
		return kept.state, nil
	}
	return l.Runs.State(ctx, r)
}
