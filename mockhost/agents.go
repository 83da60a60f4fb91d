package mockhost

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"time"

	"github.com/wopwitness/wopwitness/mockhost/agent"
	"github.com/wopwitness/wopwitness/mockhost/agent/backoff"
	"github.com/wopwitness/wopwitness/mockhost/agent/classify"
	"github.com/wopwitness/wopwitness/mockhost/agent/impact"
	"github.com/wopwitness/wopwitness/mockhost/agent/metrics"
	"github.com/wopwitness/wopwitness/mockhost/agent/model"
	"github.com/wopwitness/wopwitness/mockhost/agent/modelserver"
	"github.com/wopwitness/wopwitness/mockhost/agent/recovery"
	"github.com/wopwitness/wopwitness/mockhost/agent/repair"
	"github.com/wopwitness/wopwitness/mockhost/agent/telemetry"
	"github.com/wopwitness/wopwitness/mockhost/agent/toolserver"
	"github.com/wopwitness/wopwitness/mockhost/clock"
	"github.com/wopwitness/wopwitness/mockhost/parts"
	"github.com/wopwitness/wopwitness/mockhost/store"
)

// AgentNumbers are the agent worker's own numbers; a member that is zero has its default.
type AgentNumbers = parts.AgentNumbers

// ModelServers are the URLs to which the agent worker posts its questions; "" for none, and then it does without: a script
// follows the workflow, what the rules can't tell is left to people, and repairs are those of the rules and the script. Key
// is sent to each as a bearer token. docs/agent-dlq-seams.md says what is asked and what may be answered.
type ModelServers struct {
	Model, Classifier, Repairer string
	Key                         string
}

// repairersAtOnce bounds how many repairs are asked for at a time.
const repairersAtOnce = 2

func (m ModelServers) at(url string) modelserver.Server {
	return modelserver.Server{URL: url, Key: m.Key}
}

// model decides what a run does next.
func (m ModelServers) model() parts.Model {
	if m.Model == "" {
		return model.Scripted{}
	}
	return model.Server{Server: m.at(m.Model)}
}

// classifier knows the rules, and asks the second one about the rest.
func (m ModelServers) classifier() recovery.Classifier {
	var c recovery.Classifier
	if m.Classifier != "" {
		c.Second = classify.Server{Server: m.at(m.Classifier)}
	}
	return c
}

// repairers are the tiers behind the rules and the script.
func (m ModelServers) repairers() []repair.Tier {
	if m.Repairer == "" {
		return nil
	}
	return []repair.Tier{repair.Server{Server: m.at(m.Repairer), Slots: make(chan struct{}, repairersAtOnce)}}
}

// settleAgent fills in what was left out of the agent worker's numbers.
func settleAgent(n AgentNumbers) AgentNumbers {
	orElse(&n.Lease, 30*time.Second)
	orElse(&n.Breaker, time.Minute)
	orElse(&n.RedeliveryLimit, 4)
	orElse(&n.IntakeCapacity, 64)
	orElse(&n.QueueCapacity, 64)
	orElse(&n.RecoveryInterval, 15*time.Second)
	orElse(&n.AutomaticReplays, 6)
	n.AutomaticReplays = max(n.AutomaticReplays, 0)
	orElse(&n.RepairThreshold, 0.85)
	orElse(&n.EntryTTL, 14*24*time.Hour)
	orElse(&n.DepthAlert, 100)
	orElse(&n.ToolTimeout, 5*time.Second) // longer than a scripted tool may take
	return n
}

func orElse[T comparable](v *T, usual T) {
	var zero T
	if *v == zero {
		*v = usual
	}
}

// agents is what the agent workers of the instances over one store have in common: who works, and the tools.
type agents struct {
	crew   *agent.Crew
	tools  *toolserver.Server
	caller *toolserver.Caller
	// told is what the outside is told by.
	told *telemetry.Telemetry
}

// newAgents starts the tools.
func newAgents(ctx context.Context, c Config, st store.Store, clock *hostclock.Clock) (*agents, error) {
	tools, err := toolserver.Listen(agent.Bench{Store: st, Now: clock.Now})
	if err != nil {
		return nil, err
	}
	told, err := telemetry.New(ctx, telemetry.Options{
		OTLP: c.OTLP, Version: c.Version, Logger: c.Logger,
		Gauges: metrics.Standing{Store: st, Now: clock.Now, Tenants: c.directory().Tenants, Threshold: c.Agent.DepthAlert}.Gauges,
	})
	if err != nil {
		return nil, errors.Join(err, tools.Close())
	}
	return &agents{
		crew: agent.NewCrew(ctx), tools: tools, caller: toolserver.NewCaller(tools.URL(), c.Agent.ToolTimeout), told: told,
	}, nil
}

// longestWork bounds how long a move of the clock waits for those who work, in real time.
const longestWork = 20 * time.Second

// quiet waits until nobody in this process works on a message.
func (a *agents) quiet(ctx context.Context) { a.crew.Quiet(ctx, longestWork) }

// scrape answers Prometheus with a tenant's metrics.
func (a *agents) scrape() func(http.ResponseWriter, *http.Request, string) error {
	if a == nil {
		return nil
	}
	return a.told.Scrape
}

// agentShown is what discovery says of the agent worker: nothing where nobody can reach it.
func (c Config) agentShown() *AgentNumbers {
	if !c.Seams {
		return nil
	}
	return &c.Agent
}

// stop lets whoever works hand over, and ends the tools.
func (a *agents) stop(ctx context.Context) error {
	if a == nil {
		return nil
	}
	a.crew.Stop(ctx)
	a.caller.Close()
	var errs []error
	if err := a.tools.Close(); err != nil {
		errs = append(errs, fmt.Errorf("stop the tools: %w", err))
	}
	if err := a.told.Close(ctx); err != nil {
		errs = append(errs, fmt.Errorf("tell the collector the last of it: %w", err))
	}
	return errors.Join(errs...)
}

// composeAgent puts the agent worker of one instance together.
func composeAgent(c Config, s *shared, p *parts.Parts, log *slog.Logger) *agent.Worker {
	w := agent.New(s.store, p, s.agents.crew, log, s.runner.Wake)
	p.Agent = parts.Agent{
		Numbers:     c.Agent,
		Intake:      w,
		Replayer:    w,
		Bodies:      agent.Bodies{},
		Leases:      agent.Leases{Parts: p},
		Crasher:     agent.Mortal{},
		Model:       c.Models.model(),
		Tools:       s.agents.caller,
		Bench:       agent.Bench{Store: s.store, Now: s.clock.Now, Parts: p},
		Breaker:     agent.Breaker{Parts: p},
		Router:      agent.Router{},
		Interceptor: agent.Interceptor{Store: s.store},
		Watchdog:    agent.Watchdog{},
		Redactor:    agent.Redactor{},
		Entries:     agent.Entries{Parts: p},
		Queues:      agent.Queues{Store: s.store, Parts: p, Wake: s.runner.Wake},
		Metrics:     metrics.Metrics{Store: s.store, Parts: p, Telemetry: s.agents.told},
		Tracer:      telemetry.Tracer{Tracer: agent.Tracer{Store: s.store}, To: s.agents.told, Parts: p},
	}
	composeRecovery(c, s, p, log)
	return w
}

// composeRecovery puts together what becomes of the entries.
func composeRecovery(c Config, s *shared, p *parts.Parts, log *slog.Logger) {
	r := recovery.Recovery{Store: s.store, Parts: p, Crew: s.agents.crew, Log: log, Wake: s.runner.Wake}
	p.Agent.Enricher, p.Agent.Recovery, p.Agent.Pauses = r, r, r
	p.Agent.Drainer = recovery.Drains{Recovery: r}
	p.Agent.Reviews = recovery.Reviews{Recovery: r}
	p.Agent.Conversations = recovery.Conversations{Recovery: r}
	p.Agent.Classifier = c.Models.classifier()
	p.Agent.Triage = recovery.Triage{Parts: p}
	p.Agent.BackOff = backoff.BackOff{}
	p.Agent.Repairer = recovery.NewRepairer(s.store, c.Agent.RepairThreshold, c.Models.repairers()...)
	p.Agent.Impact = impact.Traced{Store: s.store, Parts: p}
}

// agentWork is the agent worker's part of the due work.
func agentWork(p *parts.Parts, worker func() *agent.Worker) map[string]hostclock.Handler {
	type handler = func(ctx context.Context, key string, now time.Time) error
	there := func(does func(a parts.Agent) handler) hostclock.Handler {
		return func(ctx context.Context, key string, now time.Time) error {
			if worker() == nil {
				return errors.New("this host has no agent worker, though its store has work for one: start it with its seams")
			}
			return does(p.Agent)(ctx, key, now)
		}
	}
	return map[string]hostclock.Handler{
		agent.DeliverWork:   there(func(parts.Agent) handler { return worker().Deliver }),
		agent.EnrichWork:    there(func(a parts.Agent) handler { return a.Enricher.Enrich }),
		agent.ExpireWork:    there(func(a parts.Agent) handler { return a.Recovery.Expire }),
		recovery.ReplayWork: there(func(a parts.Agent) handler { return a.Recovery.Tick }),
		recovery.DrainWork:  there(func(a parts.Agent) handler { return a.Drainer.Tick }),
	}
}
