package defects

import (
	"context"
	"time"

	"github.com/wopwitness/wopwitness/mockhost/parts"
	"github.com/wopwitness/wopwitness/mockhost/store"
)

// The types here wrap one port of the agent worker each; a function that is nil leaves that method as it is.

type classifier func(ctx context.Context, e parts.Entry, gone bool) (string, error)

func (f classifier) Classify(ctx context.Context, e parts.Entry, gone bool) (string, error) {
	return f(ctx, e, gone)
}

// classifies changes the category that the right classifier gives.
func classifies(a *parts.Agent, f func(e parts.Entry, right string) string) {
	right := a.Classifier
	a.Classifier = classifier(func(ctx context.Context, e parts.Entry, gone bool) (string, error) {
		category, err := right.Classify(ctx, e, gone)
		return f(e, category), err
	})
}

type backOff func(attempts int) time.Duration

func (f backOff) Delay(attempts int) time.Duration { return f(attempts) }

type triage struct {
	parts.Triage
	way    func(e parts.Entry, right string) string
	sure   func(p parts.Proposal) bool
	drains func(e parts.Entry) bool
}

func (t triage) Way(e parts.Entry) string {
	right := t.Triage.Way(e)
	if t.way == nil {
		return right
	}
	return t.way(e, right)
}

func (t triage) Sure(p parts.Proposal) bool {
	if t.sure == nil {
		return t.Triage.Sure(p)
	}
	return t.sure(p)
}

func (t triage) Drains(e parts.Entry) bool {
	if t.drains == nil {
		return t.Triage.Drains(e)
	}
	return t.drains(e)
}

// goesElsewhere changes the way of a classified entry.
func goesElsewhere(a *parts.Agent, f func(e parts.Entry, right string) string) {
	a.Triage = triage{Triage: a.Triage, way: f}
}

type recoverer struct {
	parts.Recovery
	due  func(tx store.Tx, e parts.Entry) error
	tick func(ctx context.Context, key string, now time.Time) error
}

func (r recoverer) Due(tx store.Tx, e parts.Entry) error {
	if r.due == nil {
		return r.Recovery.Due(tx, e)
	}
	return r.due(tx, e)
}

func (r recoverer) Tick(ctx context.Context, key string, now time.Time) error {
	if r.tick == nil {
		return r.Recovery.Tick(ctx, key, now)
	}
	return r.tick(ctx, key, now)
}

type replayer func(ctx context.Context, tenant string, r parts.ReplayRequest) (parts.Entry, string, error)

func (f replayer) Replay(ctx context.Context, tenant string, r parts.ReplayRequest) (parts.Entry, string, error) {
	return f(ctx, tenant, r)
}

type queues struct {
	parts.Queues
	appends func(tx store.Tx, e *parts.Entry, now time.Time) error
	save    func(tx store.Tx, before, after parts.Entry) error
	list    func(ctx context.Context, p parts.Principal, q parts.EntryQuery) ([]parts.Entry, parts.QueueDepth, error)
	find    func(ctx context.Context, p parts.Principal, queue, id string) (parts.Entry, bool, error)
}

func (q queues) Append(tx store.Tx, e *parts.Entry, now time.Time) error {
	if q.appends == nil {
		return q.Queues.Append(tx, e, now)
	}
	return q.appends(tx, e, now)
}

func (q queues) Save(tx store.Tx, before, after parts.Entry) error {
	if q.save == nil {
		return q.Queues.Save(tx, before, after)
	}
	return q.save(tx, before, after)
}

func (q queues) List(ctx context.Context, p parts.Principal, ask parts.EntryQuery) ([]parts.Entry, parts.QueueDepth, error) {
	if q.list == nil {
		return q.Queues.List(ctx, p, ask)
	}
	return q.list(ctx, p, ask)
}

func (q queues) Find(ctx context.Context, p parts.Principal, queue, id string) (parts.Entry, bool, error) {
	if q.find == nil {
		return q.Queues.Find(ctx, p, queue, id)
	}
	return q.find(ctx, p, queue, id)
}

// asks changes what a list of a queue is narrowed by.
func asks(a *parts.Agent, f func(q *parts.EntryQuery)) {
	right := a.Queues
	a.Queues = queues{Queues: right, list: func(ctx context.Context, p parts.Principal, q parts.EntryQuery) ([]parts.Entry, parts.QueueDepth, error) {
		f(&q)
		return right.List(ctx, p, q)
	}}
}

type reviews func(ctx context.Context, p parts.Principal, review string, after int64, limit int) ([]parts.Entry, error)

func (f reviews) List(ctx context.Context, p parts.Principal, review string, after int64, limit int) ([]parts.Entry, error) {
	return f(ctx, p, review, after, limit)
}

type numbers struct {
	parts.AgentMetrics
	changed  func(tx store.Tx, before, after parts.Entry) error
	replayed func(tx store.Tx, e parts.Entry, succeeded bool, now time.Time) error
	proposed func(tx store.Tx, e parts.Entry, p parts.Proposal) error
	read     func(ctx context.Context, p parts.Principal, all members) error
}

func (n numbers) Changed(tx store.Tx, before, after parts.Entry) error {
	if n.changed == nil {
		return n.AgentMetrics.Changed(tx, before, after)
	}
	return n.changed(tx, before, after)
}

func (n numbers) Replayed(tx store.Tx, e parts.Entry, succeeded bool, now time.Time) error {
	if n.replayed == nil {
		return n.AgentMetrics.Replayed(tx, e, succeeded, now)
	}
	return n.replayed(tx, e, succeeded, now)
}

func (n numbers) Proposed(tx store.Tx, e parts.Entry, p parts.Proposal) error {
	if n.proposed == nil {
		return n.AgentMetrics.Proposed(tx, e, p)
	}
	return n.proposed(tx, e, p)
}

func (n numbers) Read(ctx context.Context, p parts.Principal) (map[string]any, error) {
	all, err := n.AgentMetrics.Read(ctx, p)
	if err == nil && n.read != nil {
		err = n.read(ctx, p, all)
	}
	return all, err
}

// showsNumbers changes what the metrics say.
func showsNumbers(a *parts.Agent, f func(ctx context.Context, p parts.Principal, all members) error) {
	a.Metrics = numbers{AgentMetrics: a.Metrics, read: f}
}

type tracer struct {
	parts.Tracer
	record func(s *parts.Span)
}

func (t tracer) Record(tx store.Tx, s parts.Span) error {
	t.record(&s)
	return t.Tracer.Record(tx, s)
}

// records changes the spans before they are kept.
func records(a *parts.Agent, f func(s *parts.Span)) { a.Tracer = tracer{a.Tracer, f} }

type pauses struct {
	parts.Pauses
	resume func(ctx context.Context, p parts.Principal, tool string) ([]string, error)
	paused func(ctx context.Context, tenant, tool string) (bool, error)
}

func (p pauses) Resume(ctx context.Context, who parts.Principal, tool string) ([]string, error) {
	if p.resume == nil {
		return p.Pauses.Resume(ctx, who, tool)
	}
	return p.resume(ctx, who, tool)
}

func (p pauses) Paused(ctx context.Context, tenant, tool string) (bool, error) {
	if p.paused == nil {
		return p.Pauses.Paused(ctx, tenant, tool)
	}
	return p.paused(ctx, tenant, tool)
}

type drainer struct {
	parts.Drainer
	start func(d *parts.DrainRequest)
}

func (d drainer) Start(ctx context.Context, p parts.Principal, ask parts.DrainRequest) (string, error) {
	d.start(&ask)
	return d.Drainer.Start(ctx, p, ask)
}

type impacts struct {
	parts.Impact
	of         func(trace string, steps []parts.ImpactStep, active int) ([]parts.ImpactStep, int)
	compensate func(ctx context.Context, p parts.Principal, trace string) (bool, error)
}

func (i impacts) Of(ctx context.Context, p parts.Principal, trace string) ([]parts.ImpactStep, int, bool, error) {
	steps, active, known, err := i.Impact.Of(ctx, p, trace)
	if known && i.of != nil {
		steps, active = i.of(trace, steps, active)
	}
	return steps, active, known, err
}

func (i impacts) Compensate(ctx context.Context, p parts.Principal, trace string) (bool, error) {
	if i.compensate == nil {
		return i.Impact.Compensate(ctx, p, trace)
	}
	return i.compensate(ctx, p, trace)
}

type intake struct {
	parts.AgentIntake
	accept func(ctx context.Context, p parts.Principal, m parts.MessageRequest) error
}

func (i intake) Accept(ctx context.Context, p parts.Principal, m parts.MessageRequest) error {
	return i.accept(ctx, p, m)
}

type callsTools func(ctx context.Context, c parts.ToolCall) (*parts.ToolError, error)

func (f callsTools) Call(ctx context.Context, c parts.ToolCall) (*parts.ToolError, error) {
	return f(ctx, c)
}
