package defects

import (
	"context"
	"errors"
	"net/http"

	"github.com/wopwitness/wopwitness/mockhost/parts"
	"github.com/wopwitness/wopwitness/mockhost/store"
)

// deadLetterForks are wrong about forking a dead run (RFC 0053 §C.2).
func deadLetterForks() []Defect {
	refused := &parts.Problem{Status: http.StatusConflict, Code: "run_terminal", Message: "a run that has ended doesn't fork"}
	return []Defect{
		deadLetter("fork-refused", "doesn't fork a dead run", forking(func(parts.Runs, context.Context, store.Run, parts.ForkRequest, parts.Made) (store.Run, error) {
			return store.Run{}, refused
		}), legForkReplay, legForkBranch),
		deadLetter("fork-replay-refused", "lists the mode replay, and doesn't fork a dead run by it", forkingMode(parts.Replay, func(parts.Runs, context.Context, store.Run, parts.ForkRequest, parts.Made) (store.Run, error) {
			return store.Run{}, refused
		}), legForkReplay),
		deadLetter("fork-branch-refused", "lists the mode branch, and doesn't fork a dead run by it", forkingMode(parts.Branch, func(parts.Runs, context.Context, store.Run, parts.ForkRequest, parts.Made) (store.Run, error) {
			return store.Run{}, refused
		}), legForkBranch),
		deadLetter("fork-same-id", "forks a run into the run itself", forking(func(_ parts.Runs, _ context.Context, source store.Run, _ parts.ForkRequest, _ parts.Made) (store.Run, error) {
			source.Source = source.ID
			return source, nil
		}), legForkReplay, legForkBranch),
		deadLetter("fork-other-source", "names the child as its own source", forkAnswer(func(child store.Run) store.Run {
			child.Source = child.ID
			return child
		}), legForkReplay, legForkBranch),
		deadLetter("fork-lost", "answers a fork as made, and makes nothing", forkAnswer(func(child store.Run) store.Run {
			child.ID = child.ID[:len(child.ID)-6] + "000000"
			return child
		}), legForkReplay, legForkBranch).silent(),
		deadLetter("fork-copies", "copies the dead run's events for a fork, and runs nothing again", forking(func(right parts.Runs, ctx context.Context, source store.Run, f parts.ForkRequest, made parts.Made) (store.Run, error) {
			s, err := right.State(ctx, source)
			if err != nil {
				return store.Run{}, err
			}
			f.FromSeq = &s.Last
			return right.Fork(ctx, source, f, made)
		}), legForkBranch),
		deadLetter("fork-overlay-forgotten", "branches a run without its overlay", forking(func(right parts.Runs, ctx context.Context, source store.Run, f parts.ForkRequest, made parts.Made) (store.Run, error) {
			f.Overlay = nil
			return right.Fork(ctx, source, f, made)
		}), legForkBranch),
		deadLetter("fork-point-ignored", "branches a run from its end, wherever it was asked to", forkingMode(parts.Branch, func(right parts.Runs, ctx context.Context, source store.Run, f parts.ForkRequest, made parts.Made) (store.Run, error) {
			s, err := right.State(ctx, source)
			if err != nil {
				return store.Run{}, err
			}
			before := s.Last - 1
			f.FromSeq = &before
			return right.Fork(ctx, source, f, made)
		}), legForkBranch),
		deadLetterWith("fork-writes-source", "writes into the dead run's log that it was forked", forkMemory(func(p *parts.Parts, forked *ledger) {
			shownLog(p, func(r store.Run, log []store.RunEvent) []store.RunEvent {
				if n := len(log); n > 0 && forked.has(r.ID) {
					last := log[n-1]
					log = append(log, store.RunEvent{Seq: last.Seq + 1, ID: last.ID[:20] + "FORKED", Type: "run.forked", At: last.At, Payload: []byte(`{}`)})
				}
				return log
			})
		}), legForkSource),
		deadLetterWith("fork-reopens-source", "shows a dead run as running once it was forked", forkMemory(func(p *parts.Parts, forked *ledger) {
			showsSnapshots(p, func(_ int, r store.Run, _ parts.RunState, m members) {
				if forked.has(r.ID) {
					m["status"] = parts.Running
				}
			})
		}), legForkSource, legFloor),
		deadLetterWith("fork-clears-error", "forgets why a dead run died once it was forked", forkMemory(func(p *parts.Parts, forked *ledger) {
			showsSnapshots(p, func(_ int, r store.Run, _ parts.RunState, m members) {
				if forked.has(r.ID) {
					delete(m, "error")
				}
			})
		}), legForkSource),
		deadLetterWith("fork-foreign", "forks a dead run for every tenant", foreignFork(func(_ *parts.Parts, _ context.Context, r store.Run, _ error) (store.Run, error) {
			return r, nil
		}), legForkTenant),
		deadLetterWith("fork-foreign-made", "refuses another tenant's fork, and makes the run all the same", foreignFork(func(p *parts.Parts, ctx context.Context, r store.Run, refusal error) (store.Run, error) {
			_, err := p.Runs.Fork(ctx, r, parts.ForkRequest{Mode: parts.Replay}, nil)
			return store.Run{}, errors.Join(refusal, err)
		}), legForkTenant),
		deadLetterWith("fork-foreign-conflict", "tells another tenant that the run has ended", foreignFork(func(*parts.Parts, context.Context, store.Run, error) (store.Run, error) {
			return store.Run{}, refused
		}), legForkTenant),
	}
}

// fork is what such a host does in place of a fork.
type fork func(right parts.Runs, ctx context.Context, source store.Run, f parts.ForkRequest, made parts.Made) (store.Run, error)

func forking(instead fork) func(*parts.Parts) { return forkingMode("", instead) }

// forkingMode replaces the forks of one mode, or all for "".
func forkingMode(mode string, instead fork) func(*parts.Parts) {
	return func(p *parts.Parts) {
		right := p.Runs
		p.Runs = engine{Runs: right, fork: func(ctx context.Context, source store.Run, f parts.ForkRequest, made parts.Made) (store.Run, error) {
			if mode != "" && f.Mode != mode {
				return right.Fork(ctx, source, f, made)
			}
			return instead(right, ctx, source, f, made)
		}}
	}
}

// forkAnswer lies about the child in the answer to the fork.
func forkAnswer(lie func(child store.Run) store.Run) func(*parts.Parts) {
	return forking(func(right parts.Runs, ctx context.Context, source store.Run, f parts.ForkRequest, made parts.Made) (store.Run, error) {
		child, err := right.Fork(ctx, source, f, func(tx store.Tx, r store.Run) error {
			if made == nil {
				return nil
			}
			return made(tx, lie(r))
		})
		if err != nil {
			return child, err
		}
		return lie(child), nil
	})
}

// forkMemory is a defect that remembers which runs were forked.
func forkMemory(apply func(p *parts.Parts, forked *ledger)) func() func(*parts.Parts) {
	return func() func(*parts.Parts) {
		forked := newLedger()
		return func(p *parts.Parts) {
			forking(func(right parts.Runs, ctx context.Context, source store.Run, f parts.ForkRequest, made parts.Made) (store.Run, error) {
				child, err := right.Fork(ctx, source, f, made)
				if err == nil {
					forked.put(remembered{run: source})
				}
				return child, err
			})(p)
			apply(p, forked)
		}
	}
}

// foreignFork lets instead answer where the right host refuses another tenant's fork.
func foreignFork(instead func(p *parts.Parts, ctx context.Context, r store.Run, refusal error) (store.Run, error)) func() func(*parts.Parts) {
	return func() func(*parts.Parts) {
		all := newLedger()
		return func(p *parts.Parts) {
			right := p.Runs
			p.Runs = engine{Runs: right, create: func(ctx context.Context, pr parts.Principal, workflow string, o parts.RunOptions, made parts.Made) (store.Run, error) {
				r, err := right.Create(ctx, pr, workflow, o, made)
				if err == nil {
					all.put(remembered{run: r})
				}
				return r, err
			}}
			finds(p, func(right parts.RunFinder) finder {
				return func(ctx context.Context, pr parts.Principal, major int, door, segment string) (store.Run, error) {
					found, err := right.Named(ctx, pr, major, door, segment)
					known, ok := all.named(segment)
					if err == nil || door != parts.DoorFork || !ok || known.run.Tenant == pr.Tenant {
						return found, err
					}
					return instead(p, ctx, known.run, err)
				}
			})
		}
	}
}
