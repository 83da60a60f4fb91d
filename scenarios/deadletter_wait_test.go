package scenarios

import (
	"context"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/wopwitness/wopwitness/scenarios/registry"
)

// driveOne drives one leg against a host on major 2.
func driveOne(t *testing.T, url string, leg registry.LegID, change func(*Config)) Entry {
	t.Helper()
	config := Config{BaseURL: url, KeyA: "ka", KeyB: "kb", EventTimeout: 120 * time.Millisecond, Quiet: 2 * time.Millisecond}
	if change != nil {
		change(&config)
	}
	host, problem, err := Probe(context.Background(), config)
	if err != nil || problem != nil {
		t.Fatal(err, problem)
	}
	r, err := newRun(context.Background(), config, host)
	if err != nil {
		t.Fatal(err)
	}
	l, ok := registry.Find(leg)
	if !ok {
		t.Fatalf("no leg %s", leg)
	}
	return r.outcomeOf(context.Background(), registry.Case{Leg: l, Major: 2})
}

func TestARunThatNeverEndsIsWaitedForAndTold(t *testing.T) {
	h, url := newDeadHost(t)
	h.odd = "never-ends"
	var told []string
	e := driveOne(t, url, "0053.exhaustion.event", func(c *Config) {
		c.Progress = func(e Event) {
			if e.Says != "" {
				told = append(told, e.Says)
			}
		}
	})
	if got := outcome(e); got != "undecided timeout" {
		t.Errorf("the leg ended with %q, want undecided timeout", got)
	}
	if !strings.Contains(says(e), "did not end within 1.2s") || !strings.Contains(says(e), "node.failed") {
		t.Errorf("it says %q, want the bound and what the log showed", says(e))
	}
	if !slices.ContainsFunc(told, func(s string) bool {
		return strings.HasPrefix(s, "waiting for a run of conformance-deadletter-exhaust to end")
	}) {
		t.Errorf("it told %q", told)
	}
	if !slices.ContainsFunc(told, func(s string) bool { return strings.HasPrefix(s, "moving the host's clock by 1s") }) || h.offset != time.Second {
		t.Errorf("the clock that stands in the suite's hands moved by %s; told %q", h.offset, told)
	}
}

func TestADeadLetterIsWaitedForByItsOwnBound(t *testing.T) {
	h, url := newDeadHost(t)
	h.lie = "no-event"
	var first, further []string
	driveOne(t, url, "0053.exhaustion.event", func(c *Config) {
		c.EventTimeout = 2500 * time.Millisecond
		c.Progress = func(e Event) {
			if e.Again {
				further = append(further, e.Says)
			} else if e.Says != "" {
				first = append(first, e.Says)
			}
		}
	})
	if len(first) != 1 || !strings.HasPrefix(first[0], "waiting for a run of conformance-deadletter-exhaust to show a dead letter: ") ||
		!strings.Contains(first[0], " of at most 2.5s, ") {
		t.Errorf("it told %q, want one wait by the time that one event may take", first)
	}
	for _, s := range further {
		if !strings.Contains(s, "to show a dead letter: ") {
			t.Errorf("it told again of another wait: %q", s)
		}
	}
}

func TestTheOperatorsForcedExpiry(t *testing.T) {
	for _, c := range []struct {
		name, target, want string
		elsewhere          bool
	}{
		{name: "at the host itself, with the key", target: "/admin/expire/{runId}?token=t", want: "pass"},
		{name: "elsewhere, without the key", target: "/expire/{runId}", elsewhere: true, want: "pass"},
		{name: "that does not work", target: "/no/such/{runId}", want: "undecided unexpected-answer"},
	} {
		t.Run(c.name, func(t *testing.T) {
			h, url := newDeadHost(t)
			h.seams = nil
			var credential string
			expire := func(r *http.Request) {
				credential = r.Header.Get("Authorization")
				for id := range h.runs {
					delete(h.runs, id)
				}
			}
			h.admin = func(r *http.Request) bool {
				if strings.HasPrefix(r.URL.Path, "/admin/expire/") && r.Method == http.MethodDelete {
					expire(r)
					return true
				}
				return false
			}
			target := url + c.target
			if c.elsewhere {
				other := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
					h.mu.Lock()
					defer h.mu.Unlock()
					expire(r)
				}))
				t.Cleanup(other.Close)
				target = other.URL + c.target
			}
			e := driveOne(t, url, "0053.retention.purged", func(cfg *Config) { cfg.ForceExpireURL, cfg.ForceExpireMethod = target, http.MethodDelete })
			if got := outcome(e); got != c.want || e.Record.Cause != causeOperator {
				t.Errorf("ended with %q by %q, want %q by operator: %s", got, e.Record.Cause, c.want, says(e))
			}
			if c.elsewhere && credential != "" {
				t.Errorf("the key went to another origin: %q", credential)
			}
			if !c.elsewhere && c.want == "pass" && credential != "Bearer ka" {
				t.Errorf("the host's own URL got the credential %q", credential)
			}
			if strings.Contains(string(e.Record.Observation), "token=t") {
				t.Error("the record holds the query of the operator's URL")
			}
		})
	}
}

func TestNeverRunLooksLikeARun(t *testing.T) {
	for _, c := range []struct {
		name  string
		major int
		like  string
	}{
		{"tenant-bound", 2, "acme/r-9f3c5b7a1d2e4f60"},
		{"opaque", 1, "run_9f3c5b7a1d2e4f60"},
		{"nothing to go by", 1, ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			never := neverRun(c.major, c.like)
			if never == c.like || never == "" {
				t.Errorf("%q is the run itself, or none", never)
			}
			if c.like != "" && len(never) != len(c.like) {
				t.Errorf("%q does not look like %q", never, c.like)
			}
			if c.major == 2 && !strings.HasPrefix(never, "acme/") {
				t.Errorf("%q left its tenant", never)
			}
		})
	}
}

func TestExhaustionBound(t *testing.T) {
	for _, c := range []struct {
		name     string
		loopback bool
		timeout  time.Duration
		want     time.Duration
	}{
		{"far away", false, 10 * time.Second, 100 * time.Second},
		{"far away, short time-out", false, time.Second, 30 * time.Second},
		{"near, short time-out", true, time.Second, 10 * time.Second},
	} {
		t.Run(c.name, func(t *testing.T) {
			d := &Drive{run: &run{config: Config{EventTimeout: c.timeout}, host: HostFacts{Loopback: c.loopback}}}
			if got := d.exhaustionBound(); got != c.want {
				t.Errorf("bound is %s, want %s", got, c.want)
			}
		})
	}
}
