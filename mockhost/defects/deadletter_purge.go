package defects

import (
	"context"
	"net/http"
	"time"

	"github.com/wopwitness/wopwitness/mockhost/parts"
	"github.com/wopwitness/wopwitness/mockhost/store"
)

const day = 24 * time.Hour

// deadLetterPurges are wrong about how long a dead run is there (RFC 0053 §C.1 and §C.3).
func deadLetterPurges() []Defect {
	return []Defect{
		deadLetter("purge-at-once", "doesn't show a run any more once it is dead", purgeAtOnce,
			legRetained, legFloor, legNeighbour, legForkReplay).silent(),
		deadLetter("purge-early", "purges a dead run a day early", dueLater(-day), legRetained, legFloor),
		deadLetter("purge-never", "keeps dead runs for ever", dueLater(50*365*day), legPurged),
		deadLetter("purge-late", "purges a dead run two days late", dueLater(2*day), legPurged),
		deadLetter("purge-neighbours", "purges every ended run of the tenant with the first that falls due", purgesNeighbours,
			legNeighbour, legRetained, legFloor),
		deadLetter("purge-takes-forks", "purges the forks of a run with the run", purgesForks, legNeighbour),
		deadLetterWith("purge-keeps-fork", "forks a run that is purged", afterPurge(parts.DoorFork), legPurged),
		deadLetterWith("purge-keeps-snapshot", "goes on showing the snapshot of a purged run", afterPurge(parts.DoorRead), legPurged),
		deadLetterWith("purge-keeps-poll", "goes on showing the log of a purged run to polls", afterPurge(parts.DoorPoll), legPurged),
		deadLetterWith("purge-keeps-stream", "goes on showing the log of a purged run as a stream", afterPurge(parts.DoorStream), legPurged),
		deadLetterWith("purge-told", "tells who forks a purged run that it was there", purgeAnswer(func(int) *parts.Problem {
			return &parts.Problem{Status: http.StatusNotFound, Code: "run_expired", Message: "the run was purged at the end of its retention"}
		}), legNoOracle),
		deadLetterWith("purge-fork-gone", "answers the fork of a purged run on major 1 with 410", purgeAnswer(func(major int) *parts.Problem {
			if major == 1 {
				return &parts.Problem{Status: http.StatusGone, Code: "run_expired", Message: "the run was purged at the end of its retention"}
			}
			return parts.NoRun()
		}), legPurged),
		deadLetterWith("purge-fork-fails", "fails with 500 when a purged run is forked", purgeAnswer(func(int) *parts.Problem {
			return &parts.Problem{Status: http.StatusInternalServerError, Code: "internal_error", Message: "the run has no log"}
		}), legPurged),
		deadLetter("fork-window-short", "stops forking a dead run a day before it is purged", forkWindowShort, legFloor),
	}
}

// purger wraps the purger; a nil function leaves the right one's answer.
type purger struct {
	parts.Purger
	due   func(r store.Run, ended time.Time) time.Time
	purge func(ctx context.Context, key string, now time.Time) error
}

func (p purger) Due(r store.Run, ended time.Time) time.Time {
	if p.due != nil {
		return p.due(r, ended)
	}
	return p.Purger.Due(r, ended)
}

func (p purger) Purge(ctx context.Context, key string, now time.Time) error {
	if p.purge != nil {
		return p.purge(ctx, key, now)
	}
	return p.Purger.Purge(ctx, key, now)
}

// dueLater purges at another time than was promised.
func dueLater(by time.Duration) func(*parts.Parts) {
	return func(p *parts.Parts) {
		right := p.Purger
		p.Purger = purger{Purger: right, due: func(r store.Run, ended time.Time) time.Time { return right.Due(r, ended).Add(by) }}
	}
}

// purgeAtOnce shows a run no sooner than it has ended, and a dead one is gone by then.
func purgeAtOnce(p *parts.Parts) {
	finds(p, func(right parts.RunFinder) finder {
		return func(ctx context.Context, pr parts.Principal, major int, door, segment string) (store.Run, error) {
			r, err := right.Named(ctx, pr, major, door, segment)
			if err != nil || door != parts.DoorRead {
				return r, err
			}
			s, err := untilOver(ctx, p, r)
			if err == nil && s.Status == parts.Failed {
				err = parts.NoRun()
			}
			return r, err
		}
	})
}

func untilOver(ctx context.Context, p *parts.Parts, r store.Run) (parts.RunState, error) {
	changed, stop := p.Runs.Watch(r)
	defer stop()
	for {
		s, err := p.Runs.State(ctx, r)
		if err != nil || s.Over() {
			return s, err
		}
		select {
		case <-changed:
		case <-ctx.Done():
			return s, ctx.Err()
		}
	}
}

func purgesNeighbours(p *parts.Parts) {
	purgesToo(p, func(string, store.Run) bool { return true })
}

// purgesForks takes the purged run's log for the fork's as well, as a host does that shares it between them.
func purgesForks(p *parts.Parts) {
	purgesToo(p, func(purged string, r store.Run) bool { return r.Source == purged })
}

// purgesToo purges ended runs of the tenant with the one whose time is over.
func purgesToo(p *parts.Parts, too func(purged string, r store.Run) bool) {
	right := p.Purger
	p.Purger = purger{Purger: right, purge: func(ctx context.Context, key string, now time.Time) error {
		tenant, purged := cutKey(key)
		others, err := p.Runs.List(ctx, parts.Principal{Tenant: tenant}, "", 1<<20)
		if err != nil {
			return err
		}
		for _, r := range others {
			s, err := p.Runs.State(ctx, r)
			if err != nil {
				return err
			}
			if !s.Over() || !too(purged, r) {
				continue
			}
			if err := right.Purge(ctx, tenant+"/"+r.ID, now); err != nil {
				return err
			}
		}
		return right.Purge(ctx, key, now)
	}}
}

// cutKey reads the key of a run's due work.
func cutKey(key string) (tenant, id string) {
	for i := range len(key) {
		if key[i] == '/' {
			return key[:i], key[i+1:]
		}
	}
	return key, ""
}

// purgeMemory puts down every run, its log and its state just before it is purged.
func purgeMemory(p *parts.Parts, gone *ledger) {
	right := p.Purger
	p.Purger = purger{Purger: right, purge: func(ctx context.Context, key string, now time.Time) error {
		tenant, id := cutKey(key)
		r, ok, err := p.Runs.Find(ctx, parts.Principal{Tenant: tenant}, id)
		if err == nil && ok {
			kept := remembered{run: r}
			if kept.log, err = p.Runs.Events(ctx, r, -1); err == nil {
				kept.state, err = p.Runs.State(ctx, r)
			}
			gone.put(kept)
		}
		if err != nil {
			return err
		}
		return right.Purge(ctx, key, now)
	}}
}

// afterPurge keeps one door to a purged run open, with what is behind it.
func afterPurge(open string) func() func(*parts.Parts) {
	return func() func(*parts.Parts) {
		gone := newLedger()
		return func(p *parts.Parts) {
			purgeMemory(p, gone)
			right := p.Runs
			p.Runs = engine{
				Runs: right,
				state: func(ctx context.Context, r store.Run) (parts.RunState, error) {
					if kept, ok := gone.get(r.ID); ok {
						return kept.state, nil
					}
					return right.State(ctx, r)
				},
				events: func(ctx context.Context, r store.Run, after int64) ([]store.RunEvent, error) {
					kept, ok := gone.get(r.ID)
					if !ok {
						return right.Events(ctx, r, after)
					}
					var later []store.RunEvent
					for _, e := range kept.log {
						if e.Seq > after {
							later = append(later, e)
						}
					}
					return later, nil
				},
			}
			findsPurged(p, gone, func(pr parts.Principal, _ int, door string, kept remembered, err error) (store.Run, error) {
				if door == open && kept.run.Tenant == pr.Tenant {
					return kept.run, nil
				}
				return store.Run{}, err
			})
		}
	}
}

// findsPurged lets instead answer for a run that is purged.
func findsPurged(p *parts.Parts, gone *ledger, instead func(pr parts.Principal, major int, door string, kept remembered, err error) (store.Run, error)) {
	finds(p, func(right parts.RunFinder) finder {
		return func(ctx context.Context, pr parts.Principal, major int, door, segment string) (store.Run, error) {
			r, err := right.Named(ctx, pr, major, door, segment)
			if kept, ok := gone.named(segment); ok && err != nil {
				return instead(pr, major, door, kept, err)
			}
			return r, err
		}
	})
}

// purgeAnswer gives another answer to the fork of a purged run.
func purgeAnswer(answer func(major int) *parts.Problem) func() func(*parts.Parts) {
	return func() func(*parts.Parts) {
		gone := newLedger()
		return func(p *parts.Parts) {
			purgeMemory(p, gone)
			findsPurged(p, gone, func(_ parts.Principal, major int, door string, _ remembered, err error) (store.Run, error) {
				if door == parts.DoorFork {
					return store.Run{}, answer(major)
				}
				return store.Run{}, err
			})
		}
	}
}

func forkWindowShort(p *parts.Parts) {
	forking(func(right parts.Runs, ctx context.Context, source store.Run, f parts.ForkRequest, made parts.Made) (store.Run, error) {
		s, err := right.State(ctx, source)
		if err != nil {
			return store.Run{}, err
		}
		if s.Over() && p.Clock.Now().After(p.Purger.Due(source, s.Ended).Add(-day)) {
			return store.Run{}, &parts.Problem{Status: http.StatusConflict, Code: "run_terminal", Message: "the run is too old to be forked"}
		}
		return right.Fork(ctx, source, f, made)
	})(p)
}
