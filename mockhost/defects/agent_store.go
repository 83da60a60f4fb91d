package defects

import (
	"context"
	"errors"
	"math"
	"time"

	"github.com/wopwitness/wopwitness/mockhost/parts"
	"github.com/wopwitness/wopwitness/mockhost/store"
)

// agentStores keep entries badly, or show them to the wrong people.
func agentStores() []Defect {
	const years = 10 * 365 * 24 * time.Hour
	return []Defect{
		agentDefect("trace-ignored", "lists the entries of every trace when asked for those of one", func(a *parts.Agent) {
			asks(a, func(q *parts.EntryQuery) { q.TraceID = "" })
		}, "store.by-trace", "store.scoped"),
		agentDefect("tool-ignored", "lists the entries of every tool when asked for those of one", func(a *parts.Agent) {
			asks(a, func(q *parts.EntryQuery) { q.Tool = "" })
		}, "store.by-tool", "store.by-resolution"),
		agentDefect("resolution-ignored", "lists entries of every resolution when asked for one", func(a *parts.Agent) {
			asks(a, func(q *parts.EntryQuery) { q.Resolution = "" })
		}, "store.by-resolution"),
		agentDefectWith("age-stands-still", "sets the age of the oldest entry when it comes, and not again", func() func(*parts.Parts) {
			return func(p *parts.Parts) {
				right := p.Agent.Queues
				p.Agent.Queues = queues{Queues: right, list: func(ctx context.Context, who parts.Principal, q parts.EntryQuery) ([]parts.Entry, parts.QueueDepth, error) {
					all, depth, err := right.List(ctx, who, q)
					if !depth.Oldest.IsZero() {
						depth.Oldest = p.Clock.Now()
					}
					return all, depth, err
				}}
			}
		}, "drain.age-observed"),
		agentDefect("audit-overwritten", "keeps only the last thing that was done to an entry", func(a *parts.Agent) {
			right := a.Queues
			a.Queues = queues{Queues: right, save: func(tx store.Tx, before, after parts.Entry) error {
				if n := len(after.Audit); n > 0 {
					after.Audit = after.Audit[n-1:]
				}
				return right.Save(tx, before, after)
			}}
		}, "store.audit-trail"),
		agentDefect("audit-unsigned", "doesn't note who did what to an entry", func(a *parts.Agent) {
			right := a.Queues
			a.Queues = queues{Queues: right, save: func(tx store.Tx, before, after parts.Entry) error {
				trail := append([]parts.Audit{}, after.Audit...)
				for i := range trail {
					trail[i].By, trail[i].Notes = "system", ""
				}
				after.Audit = trail
				return right.Save(tx, before, after)
			}}
		}, "store.audit-trail", "recover.replays-transient", "repair.at-threshold"),
		agentDefect("entries-for-ever", "names the end of an entry's days, and keeps it", func(a *parts.Agent) {
			right := a.Queues
			shown := func(e parts.Entry) parts.Entry {
				e.Expires = e.Expires.Add(-years)
				return e
			}
			a.Queues = queues{
				Queues: right,
				appends: func(tx store.Tx, e *parts.Entry, now time.Time) error {
					e.Expires = e.Expires.Add(years)
					return right.Append(tx, e, now)
				},
				list: func(ctx context.Context, p parts.Principal, q parts.EntryQuery) ([]parts.Entry, parts.QueueDepth, error) {
					all, depth, err := right.List(ctx, p, q)
					for i := range all {
						all[i] = shown(all[i])
					}
					return all, depth, err
				},
				find: func(ctx context.Context, p parts.Principal, queue, id string) (parts.Entry, bool, error) {
					e, ok, err := right.Find(ctx, p, queue, id)
					return shown(e), ok, err
				},
			}
		}, "store.time-to-live"),
		agentDefectWith("entries-of-all-tenants", "shows an entry to every tenant that has its id", func() func(*parts.Parts) {
			return func(p *parts.Parts) {
				right := p.Agent.Queues
				p.Agent.Queues = queues{Queues: right, find: func(ctx context.Context, who parts.Principal, queue, id string) (parts.Entry, bool, error) {
					e, ok, err := right.Find(ctx, who, queue, id)
					for _, tenant := range p.Directory.Tenants() {
						if ok || err != nil {
							break
						}
						e, ok, err = right.Find(ctx, parts.Principal{Tenant: tenant}, queue, id)
					}
					return e, ok, err
				}}
			}
		}, "store.scoped"),
		agentDefect("history-forgotten", "keeps the last attempt of an entry alone", func(a *parts.Agent) {
			right := a.Entries
			a.Entries = lastAttempt{right}
		}, "store.context", "entry.attempts"),
	}
}

// lastAttempt makes entries that know of one attempt.
type lastAttempt struct{ parts.EntryMaker }

func (l lastAttempt) Tool(m parts.Message, i parts.Invocation, failure parts.ToolError, now time.Time) (parts.Entry, error) {
	e, err := l.EntryMaker.Tool(m, i, failure, now)
	if n := len(e.History); n > 0 {
		e.History = e.History[n-1:]
	}
	return e, err
}

// agentBursts lose or hoard what is more than they can take.
func agentBursts() []Defect {
	// refused changes what becomes of a message that there is no room for.
	refused := func(a *parts.Agent, f func(full *parts.Problem) error) {
		right := a.Intake
		a.Intake = intake{right, func(ctx context.Context, p parts.Principal, m parts.MessageRequest) error {
			err := right.Accept(ctx, p, m)
			if full := (*parts.Problem)(nil); errors.As(err, &full) && full.RetryAfter > 0 {
				return f(full)
			}
			return err
		}}
	}
	return []Defect{
		agentDefect("overflow-dropped", "takes a message that there is no room for, and drops it", func(a *parts.Agent) {
			refused(a, func(*parts.Problem) error { return nil })
		}, "burst.back-pressure", "burst.queue-bounded").silent().mayAgent("burst.accounted"), // a quick host has room for all of that leg's
		agentDefect("refusal-without-pause", "refuses a message for want of room without saying when to come back", func(a *parts.Agent) {
			refused(a, func(full *parts.Problem) error {
				bare := *full
				bare.RetryAfter = 0
				return &bare
			})
		}, "burst.back-pressure", "burst.queue-bounded"),
		agentDefect("queue-unbounded", "takes messages for a tool whose queue is full", func(a *parts.Agent) {
			a.Numbers.QueueCapacity = math.MaxInt32
		}, "burst.queue-bounded"),
		agentDefect("intake-unbounded", "takes any number of messages at once", func(a *parts.Agent) {
			a.Numbers.IntakeCapacity = math.MaxInt32
		}, "burst.back-pressure"),
		agentDefectWith("entry-lost-at-limit", "drops an entry in silence where its queue has many of that tool", func() func(*parts.Parts) {
			const many = 8
			return func(p *parts.Parts) {
				right := p.Agent.Queues
				p.Agent.Queues = queues{Queues: right, appends: func(tx store.Tx, e *parts.Entry, now time.Time) error {
					_, d, err := right.List(context.Background(), parts.Principal{Tenant: e.Tenant}, parts.EntryQuery{Queue: e.Queue, Tool: e.Tool, Limit: 1})
					if err != nil || e.Queue == parts.ToolQueue && d.Depth >= many {
						return err
					}
					return right.Append(tx, e, now)
				}}
			}
		}, "burst.queue-bounded", "burst.accounted").silent(),
	}
}
