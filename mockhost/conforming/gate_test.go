package conforming_test

import (
	"errors"
	"net/http"
	"testing"
	"time"

	"github.com/jonboulle/clockwork"

	"github.com/wopwitness/wopwitness/mockhost/conforming"
	"github.com/wopwitness/wopwitness/mockhost/parts"
)

func TestGateAdmitsByExactKeyOnly(t *testing.T) {
	g := conforming.NewGate(map[string]parts.Principal{"key": {Tenant: "a", Scopes: []string{parts.ScopeRunsRead}}}, 0, clockwork.NewFakeClock())
	for name, c := range map[string]struct {
		headers []string
		in      bool
	}{
		"the key":           {[]string{"Bearer key"}, true},
		"scheme's case":     {[]string{"bearer key"}, true},
		"no header":         {nil, false},
		"another key":       {[]string{"Bearer Key"}, false},
		"a part of the key": {[]string{"Bearer ke"}, false},
		"no scheme":         {[]string{"key"}, false},
		"another scheme":    {[]string{"Basic key"}, false},
		"empty":             {[]string{"Bearer "}, false},
		"two headers":       {[]string{"Bearer key", "Bearer key"}, false},
	} {
		p, err := g.Admit(&http.Request{Header: http.Header{"Authorization": c.headers}})
		var problem *parts.Problem
		if (err == nil) != c.in || c.in && p.Tenant != "a" || !c.in && (!errors.As(err, &problem) || problem.Status != 401) {
			t.Errorf("%s: got %+v, %v", name, p, err)
		}
	}
}

func TestThrottleHoldsEachTenantToItsRate(t *testing.T) {
	clock := clockwork.NewFakeClock()
	g := conforming.NewGate(nil, 2, clock)
	ask := func(tenant string) time.Duration {
		err := g.Throttle(parts.Principal{Tenant: tenant})
		var p *parts.Problem
		if errors.As(err, &p) && p.Status == 429 {
			return p.RetryAfter
		}
		return 0
	}
	steps := []struct {
		pass   time.Duration
		tenant string
		wait   time.Duration
	}{
		{0, "a", 0}, {0, "a", 0}, {0, "a", 500 * time.Millisecond}, {0, "b", 0},
		{250 * time.Millisecond, "a", 250 * time.Millisecond}, {250 * time.Millisecond, "a", 0},
		{time.Hour, "a", 0}, {0, "a", 0}, {0, "a", 500 * time.Millisecond},
	}
	for i, s := range steps {
		clock.Advance(s.pass)
		if wait := ask(s.tenant); wait != s.wait {
			t.Errorf("step %d: to wait %s, want %s", i+1, wait, s.wait)
		}
	}
}
