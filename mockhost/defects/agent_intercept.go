package defects

import (
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/wopwitness/wopwitness/mockhost/parts"
	"github.com/wopwitness/wopwitness/mockhost/store"
)

// agentIntercepts are wrong about the records of calls, and about calls that a dead worker left behind.
func agentIntercepts() []Defect {
	return []Defect{
		agentDefect("record-after-call", "writes the record of a call when it has come back", func(a *parts.Agent) {
			tells(a, func(found []parts.Invocation) []parts.Invocation {
				return slices.DeleteFunc(found, func(i parts.Invocation) bool { return len(i.Outcomes) == 0 })
			})
		}, "intercept.in-flight-redispatched", "intercept.in-flight-reviewed", "intercept.written-first").
			// looks at the record when the tool has the call, and the result may not be back yet
			mayAgent("intercept.result-kept"),
		agentDefect("redispatch-blind", "calls a tool again whose call a dead worker left in flight, whether it knows calls by a key or not", func(a *parts.Agent) {
			a.Watchdog = watchdog(func(parts.Invocation, bool) bool { return true })
		}, "intercept.in-flight-reviewed"),
		agentDefect("redispatch-never", "asks a person about every call that a dead worker left in flight", func(a *parts.Agent) {
			a.Watchdog = watchdog(func(parts.Invocation, bool) bool { return false })
		}, "intercept.in-flight-redispatched"),
		agentDefect("fresh-key", "sends another idempotency key at each attempt", func(a *parts.Agent) {
			right := a.Tools
			a.Tools = callsTools(func(ctx context.Context, c parts.ToolCall) (*parts.ToolError, error) {
				if c.Attempt > 1 {
					c.Run += fmt.Sprintf("-%d", c.Attempt)
				}
				return right.Call(ctx, c)
			})
		}, "drain.resumes", "intercept.in-flight-redispatched"),
		agentDefect("rate-limit-complete", "takes a call that a tool refused for now for a finished one", func(a *parts.Agent) {
			answers(a, func(_ parts.ToolCall, e *parts.ToolError) *parts.ToolError {
				if e != nil && e.Kind == parts.RateLimited {
					return nil
				}
				return e
			})
		}, "burst.back-pressure", "entry.last-error", "intercept.rate-limited-never-complete", "route.retry-after", "route.transient-in-band"),
		agentDefect("hand-off-silent", "takes a hand-off to an agent that is down for done", func(a *parts.Agent) {
			answers(a, func(_ parts.ToolCall, e *parts.ToolError) *parts.ToolError {
				if e != nil && e.Kind == parts.Unreachable {
					return nil
				}
				return e
			})
		}, "entry.last-error", "intercept.hand-off-down"),
		agentDefect("failure-swallowed", "keeps a failed attempt to itself: the record stays in flight until the last one", func(a *parts.Agent) {
			tells(a, func(found []parts.Invocation) []parts.Invocation {
				for n := range found {
					found[n].History = slices.DeleteFunc(slices.Clone(found[n].History), func(c parts.StatusChange) bool {
						return c.Status == parts.InvocationFailed
					})
				}
				return found
			})
		}, "intercept.failed-raised", "intercept.rate-limited-never-complete"),
		agentDefect("record-of-the-run", "gives the records of a run its name, all of them the same", func(a *parts.Agent) {
			tells(a, func(found []parts.Invocation) []parts.Invocation {
				for n := range found {
					found[n].ID = found[n].Run
				}
				return found
			})
		}, "intercept.ids-unique"),
		agentDefect("result-forgotten", "calls a step again whose result a dead worker had written", func(a *parts.Agent) {
			a.Leases = leases{Leases: a.Leases, takeOver: func(m *parts.Message, c *parts.Conversation, replay bool) bool {
				last := len(c.Turns) - 1
				if !replay && m.Current == "" && last >= 0 && c.Turns[last].Role == parts.RoleTool && c.Turns[last].Error == "" {
					m.Progress[c.Turns[last].Step].State = ""
					c.Turns = c.Turns[:last]
				}
				return true
			}}
		}, "intercept.result-kept"),
	}
}

// agentReplays are wrong about how a replay goes on with a run.
func agentReplays() []Defect {
	return []Defect{
		agentDefect("replay-restarts", "replays an entry from the first step of its run", func(a *parts.Agent) {
			a.Leases = leases{Leases: a.Leases, takeOver: func(m *parts.Message, c *parts.Conversation, replay bool) bool {
				if replay {
					m.Current, c.Turns = "", nil
					m.Progress = make([]parts.StepState, len(m.Steps))
				}
				return true
			}}
		}, "drain.resumes"),
		agentDefect("replayed-again", "calls the tool again when a replayed entry is replayed once more", func(a *parts.Agent) {
			right := a.Replayer
			a.Replayer = replayer(func(ctx context.Context, tenant string, r parts.ReplayRequest) (parts.Entry, string, error) {
				e, end, err := right.Replay(ctx, tenant, r)
				if err == nil && end == parts.ReplayNot && e.Resolution == parts.Replayed && e.Queue == parts.ToolQueue {
					_, err = a.Tools.Call(ctx, parts.ToolCall{
						Tenant: tenant, Tool: e.Tool, Run: e.Run + "-again", Step: e.Step, Attempt: 1, Args: e.Args,
					})
				}
				return e, end, err
			})
		}, "drain.replay-idempotent", "operate.replayed-once"),
		agentDefect("replay-unattended", "replays an entry and leaves it unresolved", func(a *parts.Agent) {
			right := a.Queues
			a.Queues = queues{Queues: right, save: func(tx store.Tx, before, after parts.Entry) error {
				if after.Resolution == parts.Replayed && before.Resolution == parts.Unresolved && after.Queue == parts.ToolQueue {
					after.Resolution, after.Ended = parts.Unresolved, time.Time{}
				}
				return right.Save(tx, before, after)
			}}
		}, "drain.depth-moves", "drain.expired-goes-on", "drain.replay-idempotent", "drain.resumes", "impact.suspect-until-resolved", "operate.pause-tool", "operate.replayed-once", "operate.resume", "recover.authorization-never-replayed", "recover.replays-transient", "store.by-resolution").silent(),
	}
}
