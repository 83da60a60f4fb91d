package defects

import (
	"context"
	"time"

	"github.com/wopwitness/wopwitness/mockhost/parts"
	"github.com/wopwitness/wopwitness/mockhost/store"
)

// agentRoutes send a message or a failed call where it doesn't belong.
func agentRoutes() []Defect {
	return []Defect{
		agentDefect("one-queue", "has one queue for both: what a tool failed on is among the messages", func(a *parts.Agent) {
			right := a.Queues
			a.Queues = queues{Queues: right, list: func(ctx context.Context, p parts.Principal, q parts.EntryQuery) ([]parts.Entry, parts.QueueDepth, error) {
				found, depth, err := right.List(ctx, p, q)
				if err != nil || q.Queue != parts.MessageQueue {
					return found, depth, err
				}
				q.Queue = parts.ToolQueue
				more, deeper, err := right.List(ctx, p, q)
				for _, e := range more {
					e.Queue, e.Reason, e.Deliveries, e.Body = parts.MessageQueue, parts.ReasonRedelivery, 1, "{}"
					found = append(found, e)
				}
				depth.Depth += deeper.Depth
				return found[:min(len(found), q.Limit)], depth, err
			}}
		}, "burst.accounted", "drain.depth-moves", "drain.expired-goes-on", "drain.oldest-first", "drain.replay-idempotent", "drain.resumes", "entry.attempts", "entry.first-seen", "entry.last-error", "entry.original-message", "entry.step-index", "entry.tokens-spent", "intercept.failed-raised", "intercept.hand-off-down", "intercept.in-flight-reviewed", "intercept.rate-limited-never-complete", "observe.depth", "route.attempts-counted", "route.budget-exhausted", "route.circuit-half-opens", "route.circuit-open", "route.circuit-shared", "route.fallback", "route.misconfigured-once"),
		agentDefect("malformed-run", "starts a run for a message that can't be read", func(a *parts.Agent) {
			reads(a, func(string, bool, error) (bool, error) { return false, nil })
		}, "burst.accounted", "entry.redacted", "entry.shape", "route.invalid-message", "route.malformed-message", "route.poison-limit"),
		agentDefect("malformed-retried", "delivers a message that can't be read again, up to the limit", func(a *parts.Agent) {
			reads(a, func(_ string, buggy bool, err error) (bool, error) { return buggy || err != nil, nil })
		}, "route.invalid-message", "route.malformed-message"),
		agentDefect("task-not-needed", "takes any JSON object for a message", func(a *parts.Agent) {
			reads(a, func(body string, buggy bool, err error) (bool, error) {
				if len(body) > 0 && body[0] == '{' && body[len(body)-1] == '}' {
					return buggy, nil
				}
				return buggy, err
			})
		}, "route.invalid-message"),
		agentDefect("poison-for-ever", "delivers a message that breaks its consumer again and again, without a limit", func(a *parts.Agent) {
			a.Leases = leases{Leases: a.Leases, again: func(_ parts.Message, now time.Time) (time.Time, bool) {
				return now.Add(a.Numbers.Lease), true // as a queue that makes a message visible again
			}}
		}, "route.poison-limit").silent(),
		agentDefect("poison-at-once", "gives a message that breaks its consumer up at the first delivery", func(a *parts.Agent) {
			a.Leases = leases{Leases: a.Leases, again: func(parts.Message, time.Time) (time.Time, bool) { return time.Time{}, false }}
		}, "route.poison-limit"),
		agentDefect("transient-queued", "puts a tool's passing failure into the queue, without another attempt", func(a *parts.Agent) {
			routes(a, func(_ parts.FailedAttempt, right string) string {
				if right == parts.RouteRetry {
					return parts.RouteDeadLetter
				}
				return right
			})
		}, "burst.back-pressure", "entry.attempts", "intercept.failed-raised", "intercept.ids-unique", "intercept.rate-limited-never-complete", "observe.enqueue-span", "recover.back-off", "recover.cap", "route.attempts-counted", "route.budget-exhausted", "route.fallback", "route.retry-after", "route.transient-in-band", "store.context"),
		agentDefect("lock-final", "takes a locked record for a failure that no further attempt can mend", func(a *parts.Agent) {
			routes(a, func(f parts.FailedAttempt, right string) string {
				if f.Error.Kind == parts.Locked && right == parts.RouteRetry {
					return parts.RouteDeadLetter
				}
				return right
			})
		}, "route.transient-in-band"),
		agentDefect("one-attempt-more", "makes one attempt more than a budget allows, where there is one", func(a *parts.Agent) {
			rightOf := a.Router
			a.Router = router(func(f parts.FailedAttempt) string {
				if f.Message.Budget > 0 {
					f.Invocation.MaxAttempts++
				}
				return rightOf.Route(f)
			})
		}, "entry.attempts", "intercept.failed-raised", "intercept.rate-limited-never-complete", "observe.enqueue-span", "recover.back-off", "recover.cap", "route.attempts-counted", "route.budget-exhausted", "route.fallback", "store.context"),
		agentDefect("one-attempt-fewer", "counts the first attempt as a retry", func(a *parts.Agent) {
			rightOf := a.Router
			a.Router = router(func(f parts.FailedAttempt) string {
				f.Invocation.MaxAttempts--
				return rightOf.Route(f)
			})
		}, "entry.attempts", "intercept.failed-raised", "intercept.rate-limited-never-complete", "observe.enqueue-span", "recover.back-off", "recover.cap", "route.attempts-counted", "route.budget-exhausted", "route.fallback", "store.context"),
		agentDefect("misconfigured-retried", "calls a tool that refuses every run again, until the budget is spent", func(a *parts.Agent) {
			routes(a, func(f parts.FailedAttempt, right string) string {
				if right == parts.RouteDeadLetter && f.Invocation.Attempts < f.Invocation.MaxAttempts {
					return parts.RouteRetry
				}
				return right
			})
		}, "route.circuit-half-opens", "route.circuit-open", "route.circuit-shared", "route.fallback", "route.misconfigured-once"),
		agentDefect("open-circuit-queued", "makes an entry for each run that meets an open circuit", func(a *parts.Agent) {
			routes(a, func(_ parts.FailedAttempt, right string) string {
				if right == parts.RouteInBand {
					return parts.RouteDeadLetter
				}
				return right
			})
		}, "route.circuit-half-opens", "route.circuit-open", "route.circuit-shared"),
		agentDefect("fallback-unused", "never calls a tool's fallback", func(a *parts.Agent) {
			rightOf := a.Router
			a.Router = router(func(f parts.FailedAttempt) string {
				f.Fallback = ""
				return rightOf.Route(f)
			})
		}, "intercept.ids-unique", "route.fallback"),
		agentDefect("pause-unheard", "calls a tool again at once that said when to come back", func(a *parts.Agent) {
			answers(a, func(_ parts.ToolCall, e *parts.ToolError) *parts.ToolError {
				if e != nil {
					e.RetryAfter = 0
				}
				return e
			})
		}, "route.retry-after"),
		agentDefect("crash-queued", "puts a message into the queue because its worker died", func(a *parts.Agent) {
			a.Leases = leases{Leases: a.Leases, takeOver: func(_ *parts.Message, _ *parts.Conversation, replay bool) bool { return replay }}
		}, "intercept.in-flight-redispatched", "intercept.in-flight-reviewed", "intercept.pending-dispatched", "intercept.result-kept", "route.crash-redelivered", "route.crash-resumes"),
		agentDefect("crash-restarts", "starts a run from its first step again when its worker died", func(a *parts.Agent) {
			a.Leases = leases{Leases: a.Leases, takeOver: func(m *parts.Message, _ *parts.Conversation, replay bool) bool {
				if !replay {
					m.Run, m.Conversation, m.Current, m.Progress = "", "", "", nil
				}
				return true
			}}
		}, "intercept.in-flight-redispatched", "intercept.in-flight-reviewed", "intercept.pending-dispatched", "intercept.result-kept", "route.crash-resumes"),
		agentDefect("lease-endless", "never takes a message away from a worker that died", func(a *parts.Agent) {
			a.Leases = leases{Leases: a.Leases, until: func(now time.Time) time.Time { return now.AddDate(50, 0, 0) }}
		}, "intercept.in-flight-redispatched", "intercept.in-flight-reviewed", "intercept.pending-dispatched", "intercept.result-kept", "route.crash-redelivered", "route.crash-resumes").silent(),
	}
}

// agentBreakers are wrong about the circuits of the tools.
func agentBreakers() []Defect {
	return []Defect{
		agentDefect("breaker-never-opens", "has no breaker: each run finds out for itself that a tool refuses all", func(a *parts.Agent) {
			a.Breaker = breaker{Breaker: a.Breaker, learn: func(store.Tx, parts.Message, string, *parts.ToolError, time.Time) (bool, error) {
				return false, nil
			}}
		}, "route.circuit-half-opens", "route.circuit-open", "route.circuit-shared", "route.fallback", "route.misconfigured-once"),
		agentDefect("breaker-of-one-run", "opens a circuit for the run alone that found the tool refusing", func(a *parts.Agent) {
			a.Breaker = breaker{Breaker: a.Breaker, allow: func(store.Tx, parts.Message, string, time.Time) (bool, error) { return true, nil }}
		}, "route.circuit-half-opens", "route.circuit-open", "route.circuit-shared", "route.fallback"),
		agentDefect("breaker-never-half-opens", "never tries a tool again whose circuit is open", func(a *parts.Agent) {
			right := a.Breaker
			a.Breaker = breaker{Breaker: right, state: func(c parts.Circuit, now time.Time) string {
				if state := right.State(c, now); state != parts.CircuitHalfOpen {
					return state
				}
				return parts.CircuitIsOpen
			}}
		}, "recover.authorization-never-replayed", "route.circuit-half-opens"),
		agentDefect("breaker-forgives", "closes a circuit by itself once its time is over, and takes the next refusal for news", func(a *parts.Agent) {
			right := a.Breaker
			a.Breaker = breaker{Breaker: right, state: func(c parts.Circuit, now time.Time) string {
				if state := right.State(c, now); state != parts.CircuitHalfOpen {
					return state
				}
				return parts.CircuitClosed
			}}
		}, "route.circuit-half-opens"),
		agentDefect("alert-every-time", "raises an alert for each call that an open circuit holds back", func(a *parts.Agent) {
			a.Bench = seenTools{a.Bench, alarmed(a)}
		}, "route.circuit-half-opens", "route.circuit-open", "route.circuit-shared"),
	}
}

// alarmed shows a tool with as many alerts as runs were told that its circuit is open.
func alarmed(a *parts.Agent) func(p parts.Principal, v *parts.ToolView) {
	held := &counts{of: map[string]int{}}
	right := a.Breaker
	a.Breaker = breaker{Breaker: right, allow: func(tx store.Tx, m parts.Message, tool string, now time.Time) (bool, error) {
		allowed, err := right.Allow(tx, m, tool, now)
		if err == nil && !allowed {
			held.add(m.Tenant + "/" + tool)
		}
		return allowed, err
	}}
	return func(p parts.Principal, v *parts.ToolView) {
		v.Circuit.Alerts += held.get(p.Tenant + "/" + v.Tool.Name)
	}
}
