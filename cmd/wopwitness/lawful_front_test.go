package main

import (
	"context"
	"fmt"
	"maps"
	"net/http/httptest"
	"slices"
	"testing"
	"time"

	"github.com/wopwitness/wopwitness/mockhost"
	"github.com/wopwitness/wopwitness/scenarios/lawfulhost"
	"github.com/wopwitness/wopwitness/scenarios/registry"
)

// mockFront is the mock host with numbers of its own, behind something that writes its answers in another way.
type mockFront struct {
	lawfulhost.Transport
	agent mockhost.AgentNumbers
	legs  string // a pattern; "" for all
}

func mockFronts() map[string]mockFront {
	return map[string]mockFront{
		"mock host": {},
		"mock host, integers with a fraction of nought":          {Transport: lawfulhost.Transport{Floats: true}},
		"mock host, instants in lower case":                      {Transport: lawfulhost.Transport{Instants: lawfulhost.InstantsLower}},
		"mock host, instants elsewhere":                          {Transport: lawfulhost.Transport{Instants: lawfulhost.InstantsEast}},
		"mock host, instants with an offset, closed connections": {Transport: lawfulhost.Transport{Instants: lawfulhost.InstantsOffset, Closes: true, Gzip: true}},
		"mock host, small numbers": {agent: mockhost.AgentNumbers{Lease: 2 * time.Second, Breaker: 3 * time.Second, RedeliveryLimit: 1, IntakeCapacity: 4, QueueCapacity: 30,
			RecoveryInterval: time.Second, AutomaticReplays: 1, RepairThreshold: 0.99, EntryTTL: 48 * time.Hour, DepthAlert: 1}},
		"mock host, large numbers": {agent: mockhost.AgentNumbers{Lease: time.Hour, Breaker: 25 * time.Hour, RedeliveryLimit: 20, IntakeCapacity: 150, QueueCapacity: 170,
			RecoveryInterval: 2 * time.Hour, AutomaticReplays: 12, RepairThreshold: 0.1, EntryTTL: 400 * 24 * time.Hour, DepthAlert: 1 << 40}},
		"mock host, no automatic replay": {agent: mockhost.AgentNumbers{AutomaticReplays: -1}, legs: "agentdlq.*"},
		"mock host puts requests off":    {Transport: lawfulhost.Transport{PutsOff: 20}},
	}
}

// lawfulhost has a part of the agent extension; what else there is, the mock host has. So the mock host stands behind each
// way to write an answer, and every leg acquits it.
func TestTheMockHostIsAcquittedBehindEachFront(t *testing.T) {
	fronts := mockFronts()
	judged(t, 2, slices.Sorted(maps.Keys(fronts)), func(ctx context.Context, dir, name string) (visit, error) {
		return visitMock(ctx, dir, fronts[name])
	}, func(v visit, _ string) []string {
		want := map[string]string{}
		for row, got := range v.rows {
			if want[row] = string(registry.Pass); got == "inapplicable no-cause" {
				want[row] = got
			}
		}
		return unlike(v, want, 0)
	})
}

func visitMock(ctx context.Context, dir string, f mockFront) (v visit, err error) {
	h, err := mockhost.New(ctx, mockhost.Config{Seams: true, Clock: "manual", Agent: f.agent})
	if err != nil {
		return visit{}, err
	}
	server := httptest.NewServer(lawfulhost.InFront(h.Handler(), f.Transport))
	defer func() {
		if down := h.Shutdown(context.Background()); down != nil && err == nil {
			err = fmt.Errorf("stop the host: %w", down)
		}
		server.Close()
	}()
	keys := h.Credentials()
	args := []string{"--key", keys.KeyA, "--key-b", keys.KeyB, "--key-low", keys.KeyLow, "--timeout", "4m", "--volume", "150"}
	if f.legs != "" {
		args = append(args, "--leg", f.legs)
	}
	return visitHost(ctx, dir, server.URL, args...)
}
