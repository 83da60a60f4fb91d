package defects

import (
	"context"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/wopwitness/wopwitness/mockhost/parts"
)

// agentPauses hold back too little, too much, or for too long.
func agentPauses() []Defect {
	return []Defect{
		agentDefect("pause-deaf", "lists what is paused, and replays it", func(a *parts.Agent) {
			a.Pauses = pauses{Pauses: a.Pauses, paused: func(context.Context, string, string) (bool, error) { return false, nil }}
		}, "operate.pause-tool", "operate.pause-all", "operate.resume"),
		agentDefect("pause-all-deaf", "holds back no tool that wasn't paused by its name", func(a *parts.Agent) {
			right := a.Pauses
			a.Pauses = pauses{Pauses: right, paused: func(ctx context.Context, tenant, tool string) (bool, error) {
				names, err := right.List(ctx, parts.Principal{Tenant: tenant})
				return slices.Contains(names, tool), err
			}}
		}, "operate.pause-all"),
		agentDefect("pause-holds-everyone", "holds up a person's replay of a paused tool's entry", func(a *parts.Agent) {
			right, held, find := a.Replayer, a.Pauses, a.Queues
			a.Replayer = replayer(func(ctx context.Context, tenant string, r parts.ReplayRequest) (parts.Entry, string, error) {
				e, ok, err := find.Find(ctx, parts.Principal{Tenant: tenant}, r.Queue, r.ID)
				if err == nil && ok {
					if paused, err := held.Paused(ctx, tenant, e.Tool); err != nil || paused {
						return e, parts.ReplayNot, err
					}
				}
				return right.Replay(ctx, tenant, r)
			})
		}, "operate.pause-tool"),
		agentDefect("resumed-in-words", "says that a tool is resumed, and goes on holding it back", func(a *parts.Agent) {
			right := a.Pauses
			a.Pauses = pauses{Pauses: right, resume: func(ctx context.Context, p parts.Principal, tool string) ([]string, error) {
				names, err := right.List(ctx, p)
				return slices.DeleteFunc(names, func(n string) bool { return n == tool || tool == "" }), err
			}}
		}, "operate.resume", "operate.batch-rate"),
	}
}

// agentDrains drain too fast, too long, or what they should leave alone.
func agentDrains() []Defect {
	drains := func(a *parts.Agent, f func(d *parts.DrainRequest)) { a.Drainer = drainer{a.Drainer, f} }
	return []Defect{
		agentDefect("drain-at-once", "drains as fast as it can, whatever the rate", func(a *parts.Agent) {
			drains(a, func(d *parts.DrainRequest) { d.PerSecond = 10000 })
		}, "operate.batch-rate"),
		agentDefect("drain-never-stops", "goes on draining however few replays succeed", func(a *parts.Agent) {
			drains(a, func(d *parts.DrainRequest) { d.MinSuccessRate = 0 })
		}, "operate.stops-on-failures"),
		agentDefect("drain-takes-security", "drains entries that are in security review", func(a *parts.Agent) {
			a.Triage = triage{Triage: a.Triage, drains: func(parts.Entry) bool { return true }}
		}, "recover.authorization-never-replayed"),
		agentDefect("drain-newest-first", "drains the newest entry first", func(a *parts.Agent) {
			right, find := a.Replayer, a.Queues
			a.Replayer = replayer(func(ctx context.Context, tenant string, r parts.ReplayRequest) (parts.Entry, string, error) {
				if drained(r) {
					p := parts.Principal{Tenant: tenant}
					e, ok, err := find.Find(ctx, p, r.Queue, r.ID)
					if err == nil && ok {
						all, _, err := find.List(ctx, p, parts.EntryQuery{Queue: r.Queue, Tool: e.Tool, Resolution: parts.Unresolved, Limit: 1000})
						if err == nil && len(all) > 0 {
							r.ID = all[len(all)-1].ID
						}
					}
				}
				return right.Replay(ctx, tenant, r)
			})
		}, "drain.oldest-first"),
		agentDefect("drain-sticks", "waits at the first entry that can't be replayed", func(a *parts.Agent) {
			right := a.Replayer
			a.Replayer = replayer(func(ctx context.Context, tenant string, r parts.ReplayRequest) (parts.Entry, string, error) {
				e, end, err := right.Replay(ctx, tenant, r)
				if drained(r) && end == parts.ReplayExpired {
					err = context.Canceled
				}
				return e, end, err
			})
		}, "drain.expired-goes-on").silent(),
		agentDefectWith("one-worker", "calls one tool at a time, so that a slow one holds up all", func() func(*parts.Parts) {
			lane := &oneLane{under: map[string]int{}}
			return func(p *parts.Parts) {
				right := p.Agent.Tools
				p.Agent.Tools = callsTools(func(ctx context.Context, c parts.ToolCall) (*parts.ToolError, error) {
					if err := lane.enter(ctx, c.Tool); err != nil {
						return nil, err
					}
					defer lane.leave(c.Tool)
					return right.Call(ctx, c)
				})
			}
		}, "operate.partitions").silent(),
		agentDefectWith("replayed-by-both", "lets each instance replay an entry that the other is replaying", func() func(*parts.Parts) {
			both := &meeting{at: map[string]chan struct{}{}}
			return func(p *parts.Parts) {
				right, find, tools := p.Agent.Replayer, p.Agent.Queues, p.Agent.Tools
				p.Agent.Replayer = replayer(func(ctx context.Context, tenant string, r parts.ReplayRequest) (parts.Entry, string, error) {
					if second := both.meet(tenant + "/" + r.ID); second && r.Queue == parts.ToolQueue {
						if e, ok, err := find.Find(ctx, parts.Principal{Tenant: tenant}, r.Queue, r.ID); err == nil && ok {
							// Without a lock it would have begun from the same state: the same call under the same key.
							_, _ = tools.Call(ctx, parts.ToolCall{Tenant: tenant, Tool: e.Tool, Run: e.Run, Step: e.Step, Attempt: e.Attempts + 1, Args: e.Args})
						}
					}
					return right.Replay(ctx, tenant, r)
				})
			}
		}, "operate.replayed-once", "drain.replay-idempotent"),
		agentDefect("category-ignored", "narrows a list by category in the query alone", func(a *parts.Agent) {
			asks(a, func(q *parts.EntryQuery) { q.Category = "" })
		}, "operate.grouped"),
		agentDefect("age-ignored", "lists entries of any age", func(a *parts.Agent) {
			asks(a, func(q *parts.EntryQuery) { q.OlderThan = 0 })
		}, "operate.grouped"),
	}
}

// drained says whether a replay is a drain's.
func drained(r parts.ReplayRequest) bool { return strings.HasPrefix(r.Notes, "by drain-") }

// idleBefore is how long no call of another tool may be under way before one is made.
const idleBefore = 60 * time.Millisecond

// oneLane lets calls of one tool through at a time.
type oneLane struct {
	mu    sync.Mutex
	under map[string]int // calls under way, by tool
	busy  time.Time      // the end of the latest call
	tool  string         // whose that was
	waits []string       // tools whose calls wait for their turn, in the order in which they came
}

func (l *oneLane) enter(ctx context.Context, tool string) error {
	for {
		l.mu.Lock()
		if !slices.Contains(l.waits, tool) {
			l.waits = append(l.waits, tool)
		}
		others := 0
		for name, n := range l.under {
			if name != tool {
				others += n
			}
		}
		if others == 0 && (l.tool == tool || l.waits[0] == tool && wall().Since(l.busy) >= idleBefore) {
			l.under[tool]++
			l.tool = tool
			l.waits = slices.DeleteFunc(l.waits, func(w string) bool { return w == tool })
			l.mu.Unlock()
			return nil
		}
		l.mu.Unlock()
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-wall().After(idleBefore / 10):
		}
	}
}

func (l *oneLane) leave(tool string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.under[tool]--
	l.busy, l.tool = wall().Now(), tool
}

// meeting lets two replays of one entry come together.
type meeting struct {
	mu sync.Mutex
	at map[string]chan struct{}
}

// longestMeeting bounds how long the first of two waits for the second, in real time.
const longestMeeting = 100 * time.Millisecond

// meet waits a moment for another; second tells that this one came to one who waited.
func (m *meeting) meet(key string) (second bool) {
	m.mu.Lock()
	if waits, ok := m.at[key]; ok {
		delete(m.at, key)
		close(waits)
		m.mu.Unlock()
		return true
	}
	waits := make(chan struct{})
	m.at[key] = waits
	m.mu.Unlock()
	select {
	case <-waits:
		return false
	case <-wall().After(longestMeeting):
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.at[key] == waits {
		delete(m.at, key)
	}
	return false
}
