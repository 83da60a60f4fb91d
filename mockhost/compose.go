package mockhost

import (
	"context"
	"log/slog"
	"maps"
	"time"

	"github.com/wopwitness/wopwitness/fixtures/workflows"
	"github.com/wopwitness/wopwitness/mockhost/agent"
	"github.com/wopwitness/wopwitness/mockhost/clock"
	"github.com/wopwitness/wopwitness/mockhost/conforming"
	"github.com/wopwitness/wopwitness/mockhost/console"
	"github.com/wopwitness/wopwitness/mockhost/defects"
	"github.com/wopwitness/wopwitness/mockhost/eventlog"
	"github.com/wopwitness/wopwitness/mockhost/http"
	"github.com/wopwitness/wopwitness/mockhost/parts"
	"github.com/wopwitness/wopwitness/mockhost/runs"
	"github.com/wopwitness/wopwitness/mockhost/sink"
)

// compose puts one instance together from the right ports, and then lets the defect replace some. This is the only place
// that knows of defects.
func compose(c Config, s *shared, owner bool) *Host {
	p := &parts.Parts{
		Directory: c.directory(),
		Gate:      s.gate,
		Discovery: conforming.Discovery{
			Version: c.Version, Majors: c.Majors, Listed: c.types(),
			MinRetention: c.MinRetention, Seams: c.Seams, Keys: c.SigningKeys,
			Fixtures: s.workflows.List(), RetentionDays: c.RetentionDays, Agent: c.agentShown(),
		},
		Asker:      conforming.Asker{},
		Refuser:    conforming.Refuser{Write: hosthttp.WriteProblem},
		Encoder:    conforming.Encoder{},
		Framer:     conforming.Framer{},
		Visibility: conforming.Visibility{},
		Pulse:      conforming.Pulse{Interval: c.KeepAlive},
		Lifetime:   conforming.Lifetime{Every: c.StreamLife, Resumable: c.ResumableLife},
		Front:      conforming.Front{},
		Retention:  conforming.Retention{Store: s.store, Min: c.MinRetention},
	}
	p.Workflows, p.Retrier, p.DeadLetters, p.RunWire = s.workflows, conforming.Retrier{}, conforming.DeadLetters{}, conforming.RunWire{}
	p.Secrets = conforming.Secrets{workflows.CanarySecret: c.CanarySecret}
	p.RunFinder = conforming.RunFinder{Parts: p}
	p.Nodes = runs.Nodes{Parts: p}
	p.Sink = sink.Sink{Store: s.store}
	p.Purger = runs.Purger{Store: s.store, Days: c.RetentionDays}
	p.Trigger = conforming.Trigger{Parts: p}
	p.Emitter = conforming.Emitter{Parts: p}
	p.Resumer = conforming.Resumer{Parts: p}
	answers := conforming.NewIdempotency(s.store, p)
	p.Idempotency = answers
	var worker *agent.Worker
	if owner {
		s.runner = newRunner(c.Logger, c.Clock, s, p, answers, func() *agent.Worker { return worker })
	}
	p.Clock = s.runner
	if s.agents != nil {
		worker = composeAgent(c, s, p, c.Logger)
	}
	engine := runs.New(s.store, p, s.runner.Wake)
	p.Runs = engine
	hub := eventlog.New(s.store, p, c.Logger, !s.alone)
	p.Log, p.Ephemerals = hub, hub

	s.defect.Apply(p)

	h := &Host{config: c, shared: s, owner: owner, hub: hub, engine: engine, worker: worker}
	h.handler = hosthttp.Handler(p, hosthttp.Options{
		Majors: c.Majors, Seams: c.Seams, CORSOrigin: c.CORSOrigin, Logger: c.Logger,
		Closing: hub.Closing(), Kill: c.Kill, WriteTimeout: c.writeTimeout, Scrape: s.agents.scrape(),
	})
	h.handler = s.inStep(c.Clock, h.handler)
	if c.Console {
		h.handler = console.Front(h.handler)
	}
	h.server = newServer(h.handler)
	return h
}

// newRunner makes the runner of the due work. It sweeps through the parts, where a defect may have its own retention.
func newRunner(log *slog.Logger, mode string, s *shared, p *parts.Parts, answers *conforming.Idempotency, worker func() *agent.Worker) *hostclock.Runner {
	work := map[string]hostclock.Handler{
		eventlog.SweepWork: func(ctx context.Context, tenant string, now time.Time) error {
			return p.Retention.Sweep(ctx, tenant, now)
		},
		conforming.ForgetAnswersWork: answers.Forget,
		runs.StepWork: func(ctx context.Context, key string, now time.Time) error {
			return p.Runs.Step(ctx, key, now)
		},
		runs.PurgeWork: func(ctx context.Context, key string, now time.Time) error {
			return p.Purger.Purge(ctx, key, now)
		},
	}
	maps.Copy(work, agentWork(p, worker))
	r := hostclock.NewRunner(s.clock, s.store, mode, log, work)
	if s.agents != nil {
		r.Waits(s.agents.quiet)
	}
	return r
}

// DefectInfo describes a defect without its means.
type DefectInfo = defects.Info

// Defects lists every defect, sorted by name.
func Defects() []DefectInfo { return defects.List() }
