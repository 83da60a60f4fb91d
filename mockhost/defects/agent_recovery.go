package defects

import (
	"context"
	"sync"
	"time"

	"github.com/wopwitness/wopwitness/mockhost/parts"
	"github.com/wopwitness/wopwitness/mockhost/store"
)

// agentClassifies take one sort of failure for another.
func agentClassifies() []Defect {
	// takes takes the failures of a kind for those of another category.
	takes := func(category string, kinds ...string) func(a *parts.Agent) {
		return func(a *parts.Agent) {
			classifies(a, func(e parts.Entry, right string) string {
				for _, kind := range kinds {
					if e.LastError.Kind == kind && right != parts.ContextEviction {
						return category
					}
				}
				return right
			})
		}
	}
	return []Defect{
		agentDefect("lock-is-schema", "takes a locked record for arguments of the wrong form",
			takes(parts.SchemaFailure, parts.Locked), "classify.transient"),
		agentDefect("bad-request-transient", "takes arguments of the wrong form for a passing failure, and replays them",
			takes(parts.Transient, parts.BadRequest), "classify.schema", "recover.schema-reviewed", "observe.enqueue-rate",
			"operate.grouped"),
		agentDefect("semantic-is-schema", "takes arguments without sense for arguments of the wrong form",
			takes(parts.SchemaFailure, parts.SemanticError), "classify.semantic", "repair.at-threshold", "repair.below-threshold", "repair.rule-first",
			"observe.repair-confidence").silent(),
		agentDefect("gone-transient", "takes a tool that is gone for a passing failure",
			takes(parts.Transient, parts.Gone, parts.Unreachable), "classify.unavailable", "recover.unavailable-reviewed"),
		agentDefect("unauthorized-unavailable", "takes a refused credential for a tool that is gone",
			takes(parts.ToolUnavailable, parts.Unauthorized), "classify.authorization", "recover.authorization-never-replayed"),
		agentDefect("guesses-unknown", "takes what it can't tell for a passing failure",
			takes(parts.Transient, parts.MalformedAnswer, parts.OutcomeUnknown), "classify.unknown-reviewed",
			"intercept.in-flight-reviewed"),
		agentDefect("eviction-unseen", "never looks whether an entry's conversation is still there, and lets replays of it fail in silence", func(a *parts.Agent) {
			a.Conversations = immortal{a.Conversations}
		}, "classify.context-eviction", "recover.context-gone", "drain.expired-goes-on",
			"store.time-to-live").silent(),
	}
}

// immortal says that it expires conversations.
type immortal struct{ parts.Conversations }

func (immortal) Expire(context.Context, parts.Principal, string) (bool, error) { return true, nil }

// agentRecovers are wrong about when an entry is replayed by itself, and which.
func agentRecovers() []Defect {
	const half = 2
	return []Defect{
		agentDefect("wait-linear", "waits half a minute for each attempt, rather than twice as long after each", func(a *parts.Agent) {
			right := a.BackOff
			a.BackOff = backOff(func(attempts int) time.Duration {
				jitter := right.Delay(0) - 30*time.Second
				return 30*time.Second*time.Duration(attempts) + jitter
			})
		}, "recover.back-off", "recover.cap", "recover.jitter"),
		agentDefect("no-jitter", "replays together what failed together", func(a *parts.Agent) {
			a.BackOff = backOff(func(attempts int) time.Duration {
				return min(30*time.Second<<min(attempts, 10), time.Hour)
			})
		}, "recover.jitter"),
		agentDefect("jitter-drawn-once", "draws one random part for every entry", func(a *parts.Agent) {
			right := a.BackOff
			once := sync.OnceValue(func() float64 { return float64(right.Delay(0)) / float64(30*time.Second) })
			a.BackOff = backOff(func(attempts int) time.Duration {
				return time.Duration(once() * float64(min(30*time.Second<<min(attempts, 10), time.Hour)))
			})
		}, "recover.jitter"),
		agentDefect("cap-ignored", "lets the wait double without end", func(a *parts.Agent) {
			right := a.BackOff
			a.BackOff = backOff(func(attempts int) time.Duration {
				return right.Delay(0) << min(attempts, 20)
			})
		}, "recover.cap"),
		agentDefect("recovery-asleep", "gives an entry the time of its next replay, and never replays it", func(a *parts.Agent) {
			a.Recovery = recoverer{Recovery: a.Recovery, due: func(store.Tx, parts.Entry) error { return nil }}
		}, "recover.replays-transient", "recover.limit", "operate.pause-tool", "operate.resume").silent(),
		agentDefectWith("recovery-early", "replays an entry after half of its wait", func() func(*parts.Parts) {
			return func(p *parts.Parts) {
				right := p.Agent.Recovery
				p.Agent.Recovery = recoverer{Recovery: right, due: func(tx store.Tx, e parts.Entry) error {
					e.NextReplay = e.LastAttempt.Add(e.NextReplay.Sub(e.LastAttempt) / half)
					return right.Due(tx, e)
				}, tick: func(ctx context.Context, key string, now time.Time) error {
					return right.Tick(ctx, key, now.Add(time.Hour))
				}}
			}
		}, "recover.replays-transient"),
		agentDefect("recovery-endless", "goes on replaying what never succeeds", func(a *parts.Agent) {
			goesElsewhere(a, func(e parts.Entry, right string) string {
				if e.Category == parts.Transient {
					return parts.WayReplay
				}
				return right
			})
		}, "recover.limit").silent(),
		agentDefect("authorization-replayed", "replays a refused credential by itself", func(a *parts.Agent) {
			goesElsewhere(a, func(e parts.Entry, right string) string {
				if right == parts.WaySecurity {
					return parts.WayReplay
				}
				return right
			})
		}, "recover.authorization-never-replayed"),
		agentDefect("security-is-human", "sends a refused credential to the review of everything else", func(a *parts.Agent) {
			goesElsewhere(a, func(e parts.Entry, right string) string {
				if right == parts.WaySecurity {
					return parts.WayHuman
				}
				return right
			})
		}, "recover.authorization-never-replayed"),
		agentDefect("schema-replayed", "replays arguments of the wrong form by itself, as they were", func(a *parts.Agent) {
			goesElsewhere(a, func(e parts.Entry, right string) string {
				if e.Category == parts.SchemaFailure {
					return parts.WayReplay
				}
				return right
			})
		}, "recover.schema-reviewed"),
		agentDefect("unavailable-unreviewed", "asks nobody about a tool that is gone", func(a *parts.Agent) {
			right := a.Reviews
			a.Reviews = reviews(func(ctx context.Context, p parts.Principal, review string, after int64, limit int) ([]parts.Entry, error) {
				all, err := right.List(ctx, p, review, after, limit)
				var out []parts.Entry
				for _, e := range all {
					if e.Category != parts.ToolUnavailable {
						out = append(out, e)
					}
				}
				return out, err
			})
		}, "recover.unavailable-reviewed"),
	}
}
