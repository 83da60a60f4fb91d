package defects

import (
	"context"
	"net/http"
	"sync"

	"github.com/wopwitness/wopwitness/mockhost/parts"
	"github.com/wopwitness/wopwitness/mockhost/store"
)

// deadLetterAgains are right about a dead run and its first fork, and wrong about what comes after: the death of the
// fork, a fork of the fork, the other mode, the next process (RFC 0053 §C).
func deadLetterAgains() []Defect {
	return []Defect{
		deadLetter("fork-dies-untold", "dead-letters runs that a client made, and not the forks of a dead run when they die as well", func(p *parts.Parts) {
			right := p.DeadLetters
			p.DeadLetters = letters(func(e parts.NodeEnd) (parts.Letter, bool) {
				if e.Run.Source != "" {
					return parts.Letter{}, false
				}
				return right.Letter(e)
			})
		}, legEvent).silent(),
		deadLetter("fork-attempts-added", "counts in a fork's dead letter the attempts of its source as well", func(p *parts.Parts) {
			changesLetters(p, func(e parts.NodeEnd, l *parts.Letter) {
				if e.Run.Source != "" {
					l.Attempts *= 2
				}
			})
		}, legAttempts),
		deadLetter("fork-of-fork-refused", "forks a run that a client made, and not a fork that died in its turn",
			forking(func(right parts.Runs, ctx context.Context, source store.Run, f parts.ForkRequest, made parts.Made) (store.Run, error) {
				if source.Source != "" {
					return store.Run{}, &parts.Problem{Status: http.StatusConflict, Code: "run_terminal", Message: "a fork doesn't fork"}
				}
				return right.Fork(ctx, source, f, made)
			}), legForkReplay),
		deadLetterWith("fork-state-in-memory", "forks from what its process remembers of a run, and says after a restart that there is nothing to fork", func() func(*parts.Parts) {
			made := newNoted()
			return func(p *parts.Parts) { p.Runs = ownForks{memoryRuns{p.Runs, made, nil}} }
		}, legDurable).apart(legDeadLetterElsewhere),
		deadLetterWith("purge-takes-fork-logs", "purges the logs of a run's forks with the run, and leaves the forks", func() func(*parts.Parts) {
			gone := newLedger()
			return func(p *parts.Parts) {
				purgeMemory(p, gone)
				shownLog(p, func(r store.Run, log []store.RunEvent) []store.RunEvent {
					if r.Source != "" && gone.has(r.Source) {
						return log[len(log):]
					}
					return log
				})
			}
		}, legNeighbour),
		deadLetterWith("branch-foreign", "looks at the owner before it replays a dead run, and not before it branches one", branchForeign, legForkTenant),
		deadLetterWith("branch-of-purged", "branches a purged run from what it had kept for that", branchOfPurged, legPurged),
		deadLetter("branch-window-short", "keeps for a day what a branch needs, and for its time what a replay needs", branchWindowShort, legFloor),
	}
}

// branchForeign finds another tenant's run for a fork, and refuses it once it sees that it isn't to branch.
func branchForeign() func(*parts.Parts) {
	var mu sync.Mutex
	refusals := map[string]error{} // by the run
	apply := foreignFork(func(_ *parts.Parts, _ context.Context, r store.Run, refusal error) (store.Run, error) {
		mu.Lock()
		defer mu.Unlock()
		refusals[r.ID] = refusal
		r.Subject = unowned
		return r, nil
	})()
	return func(p *parts.Parts) {
		apply(p)
		forking(func(right parts.Runs, ctx context.Context, source store.Run, f parts.ForkRequest, made parts.Made) (store.Run, error) {
			if source.Subject == unowned && f.Mode != parts.Branch {
				mu.Lock()
				defer mu.Unlock()
				return store.Run{}, refusals[source.ID]
			}
			return right.Fork(ctx, source, f, made)
		})(p)
	}
}

// unowned marks a run whose owner wasn't looked at.
const unowned = "(not looked at)"

// branchOfPurged keeps the way to a purged run open for branches, which begin at its start.
func branchOfPurged() func(*parts.Parts) {
	gone := newLedger()
	return func(p *parts.Parts) {
		purgeMemory(p, gone)
		findsPurged(p, gone, func(pr parts.Principal, _ int, door string, kept remembered, err error) (store.Run, error) {
			if door == parts.DoorFork && kept.run.Tenant == pr.Tenant {
				return kept.run, nil
			}
			return store.Run{}, err
		})
		forking(func(right parts.Runs, ctx context.Context, source store.Run, f parts.ForkRequest, made parts.Made) (store.Run, error) {
			if gone.has(source.ID) {
				if f.Mode != parts.Branch {
					return store.Run{}, parts.NoRun()
				}
				f.FromSeq = nil
			}
			return right.Fork(ctx, source, f, made)
		})(p)
	}
}

func branchWindowShort(p *parts.Parts) {
	forkingMode(parts.Branch, func(right parts.Runs, ctx context.Context, source store.Run, f parts.ForkRequest, made parts.Made) (store.Run, error) {
		if dayOver(ctx, p, right, source) {
			return store.Run{}, &parts.Problem{Status: http.StatusConflict, Code: "run_terminal", Message: "the run is too old to be branched"}
		}
		return right.Fork(ctx, source, f, made)
	})(p)
}
