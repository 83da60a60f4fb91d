// Package mockhost is the reference host: it serves what the suite judges, rightly, and with a defect switched on it is
// wrong in exactly one way.
//
// It shares no code with the suite, so that a misreading in one isn't repeated in the other. Start at New; compose.go
// puts the ports together, and the folders are: parts (the ports), conforming (their right behaviour), defects (the
// wrong ones), eventlog, runs, sink, http, clock, store.
package mockhost

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"sync"
	"time"

	"github.com/wopwitness/wopwitness/mockhost/agent"
	"github.com/wopwitness/wopwitness/mockhost/clock"
	"github.com/wopwitness/wopwitness/mockhost/conforming"
	"github.com/wopwitness/wopwitness/mockhost/console"
	"github.com/wopwitness/wopwitness/mockhost/defects"
	"github.com/wopwitness/wopwitness/mockhost/eventlog"
	"github.com/wopwitness/wopwitness/mockhost/runs"
	"github.com/wopwitness/wopwitness/mockhost/store"
)

// Host is one running instance: a hub and its handler over a store.
type Host struct {
	config  Config
	shared  *shared
	owner   bool // of what is shared
	hub     *eventlog.Hub
	engine  *runs.Engine
	worker  *agent.Worker // nil without seams
	handler http.Handler
	server  *http.Server
	stop    sync.Once
	stopErr error
}

// shared is what the instances over one store have in common.
type shared struct {
	store  store.Store
	clock  *hostclock.Clock
	agents *agents // nil without seams
	runner *hostclock.Runner
	gate   *conforming.Gate
	defect defects.Instance
	// workflows are what a run can be made of.
	workflows conforming.Workflows
	// alone tells that no other process can have the store open.
	alone bool
	deaf  func() // ends the listening to moves of the clock
	// handedOn tells that the store goes on to the host that replaces this one.
	handedOn bool

	mu    sync.Mutex
	peers []*Host
}

// New opens the store and starts a host; it serves nothing before Serve or Handler. ctx bounds the start only.
func New(ctx context.Context, c Config) (_ *Host, err error) {
	c, err = c.settle()
	if err != nil {
		return nil, fmt.Errorf("mock host: %w", err)
	}
	st, alone, err := openStore(ctx, c.Store)
	if err != nil {
		return nil, fmt.Errorf("mock host: %w", err)
	}
	if c.wrap != nil {
		st = c.wrap(st)
	}
	h, err := start(ctx, c, st, alone)
	if err != nil {
		return nil, errors.Join(fmt.Errorf("mock host: %w", err), st.Close())
	}
	return h, nil
}

// start puts a host together over an open store, as a fresh process does: all it knows is in the store and the
// configuration.
func start(ctx context.Context, c Config, st store.Store, alone bool) (*Host, error) {
	defect, err := defects.Find(c.Defect)
	if err != nil {
		return nil, err
	}
	seeded, err := conforming.NewWorkflows()
	if err != nil {
		return nil, err
	}
	offset, err := st.ClockOffset(ctx)
	if err != nil {
		return nil, err
	}
	s := &shared{
		store: st, clock: hostclock.New(c.base, offset),
		gate:   conforming.NewGate(c.principals(), c.RateLimit, c.base),
		defect: defect.New(), workflows: seeded, alone: alone,
	}
	if c.Seams {
		if s.agents, err = newAgents(ctx, c, st, s.clock); err != nil {
			return nil, err
		}
	}
	h := compose(c, s, true)
	if alone && h.worker != nil {
		if err := h.worker.Recover(ctx); err != nil {
			return nil, errors.Join(err, s.agents.stop(ctx))
		}
	}
	s.deaf = st.Listen(s.hearClock)
	s.runner.Start(ctx)
	return h, nil
}

// ConsolePath is where the console is, on a host whose configuration asks for one.
const ConsolePath = console.Path

// Handler is the host over HTTP.
func (h *Host) Handler() http.Handler { return h.handler }

// Credentials are the keys in force.
func (h *Host) Credentials() Credentials { return h.config.credentials() }

// Serve serves on the listener until Shutdown, and then returns nil.
func (h *Host) Serve(ln net.Listener) error {
	if err := h.server.Serve(ln); !errors.Is(err, http.ErrServerClosed) {
		return fmt.Errorf("serve on %s: %w", ln.Addr(), err)
	}
	return nil
}

// Shutdown ends the streams, waits for requests under way (as long as ctx allows), commits what was accepted, and
// closes the store. Later calls return the first one's outcome.
func (h *Host) Shutdown(ctx context.Context) error {
	h.stop.Do(func() {
		var errs []error
		if h.owner {
			h.shared.mu.Lock()
			peers := h.shared.peers
			h.shared.peers = nil
			h.shared.mu.Unlock()
			for _, p := range peers {
				errs = append(errs, p.Shutdown(ctx))
			}
		}
		h.hub.Close()
		h.engine.Close()
		if err := h.server.Shutdown(ctx); err != nil {
			errs = append(errs, fmt.Errorf("requests were cut off: %w", err), h.server.Close())
		}
		if h.owner {
			h.shared.deaf()
			errs = append(errs, h.shared.agents.stop(ctx))
			h.shared.runner.Stop()
			if !h.shared.handedOn {
				errs = append(errs, h.shared.store.Close())
			}
		}
		if err := errors.Join(errs...); err != nil {
			h.stopErr = fmt.Errorf("stop the mock host: %w", err)
		}
	})
	return h.stopErr
}

func newServer(handler http.Handler) *http.Server {
	return &http.Server{
		Handler:           handler,
		ReadHeaderTimeout: 10 * time.Second,
		IdleTimeout:       2 * time.Minute,
		MaxHeaderBytes:    64 << 10,
	}
}
