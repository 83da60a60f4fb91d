package defects

import (
	"context"
	"sync"
	"time"

	"github.com/wopwitness/wopwitness/mockhost/parts"
	"github.com/wopwitness/wopwitness/mockhost/store"
)

// The types here wrap one port of the worker itself each; a function that is nil leaves that method as it is.

type router func(f parts.FailedAttempt) string

func (r router) Route(f parts.FailedAttempt) string { return r(f) }

// routes changes the route that the right router takes.
func routes(a *parts.Agent, f func(of parts.FailedAttempt, right string) string) {
	right := a.Router
	a.Router = router(func(of parts.FailedAttempt) string { return f(of, right.Route(of)) })
}

type bodies func(body string) (bool, error)

func (b bodies) Read(body string) (bool, error) { return b(body) }

// reads changes what the right reader says of a body.
func reads(a *parts.Agent, f func(body string, buggy bool, err error) (bool, error)) {
	right := a.Bodies
	a.Bodies = bodies(func(body string) (bool, error) {
		buggy, err := right.Read(body)
		return f(body, buggy, err)
	})
}

type leases struct {
	parts.Leases
	until    func(now time.Time) time.Time
	again    func(m parts.Message, now time.Time) (time.Time, bool)
	takeOver func(m *parts.Message, c *parts.Conversation, replay bool) bool
}

func (l leases) Until(now time.Time) time.Time {
	if l.until == nil {
		return l.Leases.Until(now)
	}
	return l.until(now)
}

func (l leases) Again(m parts.Message, now time.Time) (time.Time, bool) {
	if l.again == nil {
		return l.Leases.Again(m, now)
	}
	return l.again(m, now)
}

func (l leases) TakeOver(m *parts.Message, c *parts.Conversation, replay bool) bool {
	if l.takeOver == nil {
		return l.Leases.TakeOver(m, c, replay)
	}
	return l.takeOver(m, c, replay)
}

type breaker struct {
	parts.Breaker
	allow func(tx store.Tx, m parts.Message, tool string, now time.Time) (bool, error)
	learn func(tx store.Tx, m parts.Message, tool string, e *parts.ToolError, now time.Time) (bool, error)
	state func(c parts.Circuit, now time.Time) string
}

func (b breaker) Allow(tx store.Tx, m parts.Message, tool string, now time.Time) (bool, error) {
	if b.allow == nil {
		return b.Breaker.Allow(tx, m, tool, now)
	}
	return b.allow(tx, m, tool, now)
}

func (b breaker) Learn(tx store.Tx, m parts.Message, tool string, e *parts.ToolError, now time.Time) (bool, error) {
	if b.learn == nil {
		return b.Breaker.Learn(tx, m, tool, e, now)
	}
	return b.learn(tx, m, tool, e, now)
}

func (b breaker) State(c parts.Circuit, now time.Time) string {
	if b.state == nil {
		return b.Breaker.State(c, now)
	}
	return b.state(c, now)
}

type watchdog func(i parts.Invocation, idempotent bool) bool

func (w watchdog) Again(i parts.Invocation, idempotent bool) bool { return w(i, idempotent) }

// answers changes what comes back from tools.
func answers(a *parts.Agent, f func(c parts.ToolCall, e *parts.ToolError) *parts.ToolError) {
	right := a.Tools
	a.Tools = callsTools(func(ctx context.Context, c parts.ToolCall) (*parts.ToolError, error) {
		e, err := right.Call(ctx, c)
		return f(c, e), err
	})
}

type interceptor struct {
	parts.Interceptor
	list func(found []parts.Invocation) []parts.Invocation
}

func (i interceptor) List(ctx context.Context, p parts.Principal, q parts.InvocationQuery) ([]parts.Invocation, error) {
	found, err := i.Interceptor.List(ctx, p, q)
	return i.list(found), err
}

// tells changes what is shown of the records of calls.
func tells(a *parts.Agent, f func(found []parts.Invocation) []parts.Invocation) {
	a.Interceptor = interceptor{a.Interceptor, f}
}

// shows changes what is shown of entries, by their queue and by themselves.
func shows(a *parts.Agent, f func(e *parts.Entry)) {
	right := a.Queues
	a.Queues = queues{
		Queues: right,
		list: func(ctx context.Context, p parts.Principal, q parts.EntryQuery) ([]parts.Entry, parts.QueueDepth, error) {
			found, depth, err := right.List(ctx, p, q)
			for n := range found {
				f(&found[n])
			}
			return found, depth, err
		},
		find: func(ctx context.Context, p parts.Principal, queue, id string) (parts.Entry, bool, error) {
			e, ok, err := right.Find(ctx, p, queue, id)
			f(&e)
			return e, ok, err
		},
	}
}

// counts counts by name.
type counts struct {
	mu sync.Mutex
	of map[string]int
}

func (c *counts) add(name string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.of[name]++
}

func (c *counts) get(name string) int {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.of[name]
}

// seenTools changes what is shown of tools.
type seenTools struct {
	parts.ToolBench
	show func(p parts.Principal, v *parts.ToolView)
}

func (s seenTools) Find(ctx context.Context, p parts.Principal, name string) (parts.ToolView, bool, error) {
	v, known, err := s.ToolBench.Find(ctx, p, name)
	if known {
		s.show(p, &v)
	}
	return v, known, err
}
