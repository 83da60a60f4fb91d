package scenarios

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/wopwitness/wopwitness/fixtures/workflows"
	"github.com/wopwitness/wopwitness/scenarios/registry"
)

// driveDeadLetters runs every leg of RFC 0053 against a host, on the majors given, and says of each how it ended: "pass",
// or the checks that convicted, or result and reason; and after a slash what caused it.
func driveDeadLetters(t *testing.T, url string, change func(*Config), majors ...int) map[string]string {
	t.Helper()
	config := Config{BaseURL: url, KeyA: "ka", KeyB: "kb", EventTimeout: 150 * time.Millisecond, Quiet: 2 * time.Millisecond,
		Restart: func(context.Context) error { return nil }} // as of a service whose processes take turns
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
	cases, err := registry.Select(nil, []string{"0053"}, majors)
	if err != nil {
		t.Fatal(err)
	}
	ended := map[string]string{}
	for _, c := range cases {
		if config.PeerURL == "" && slices.Contains(c.Leg.Needs, registry.NeedPeer) {
			continue // of two instances, which have a test of their own
		}
		e := r.outcomeOf(context.Background(), c)
		ended[fmt.Sprintf("%s %d", strings.TrimPrefix(string(c.Leg.ID), "0053."), c.Major)] = outcome(e) + "/" + e.Record.Cause
		if testing.Verbose() && outcome(e) != "pass" {
			t.Log(c.Leg.ID, c.Major, outcome(e), says(e))
		}
	}
	return ended
}

func outcome(e Entry) string {
	switch s := e.Record.Stop; {
	case s != nil:
		return string(s.Result) + " " + string(s.Reason)
	case len(e.Verdict.Findings) > 0:
		var checks []string
		for _, f := range e.Verdict.Findings {
			checks = append(checks, f.Check)
		}
		return strings.Join(slices.Compact(checks), "+")
	case e.Verdict.Undecided != nil:
		return "undecided " + string(e.Verdict.Undecided.Reason)
	case len(e.Verdict.Checks) == 0:
		return "vacuous"
	}
	return "pass"
}

func says(e Entry) string {
	switch {
	case e.Record.Stop != nil:
		return e.Record.Stop.Says
	case len(e.Verdict.Findings) > 0:
		return e.Verdict.Findings[0].Says + ": " + e.Verdict.Findings[0].Got
	case e.Verdict.Undecided != nil:
		return e.Verdict.Undecided.Says
	}
	return ""
}

// unlike gives the legs that ended otherwise than by a pass, without what caused them.
func unlike(ended map[string]string) map[string]string {
	some := map[string]string{}
	for leg, how := range ended {
		if end, _, _ := strings.Cut(how, "/"); end != "pass" {
			some[leg] = end
		}
	}
	return some
}

func expect(t *testing.T, got, want map[string]string) {
	t.Helper()
	for leg, how := range got {
		if want[leg] != how {
			t.Errorf("%s ended with %q, want %q", leg, how, want[leg])
		}
	}
	for leg, how := range want {
		if got[leg] == "" {
			t.Errorf("%s passed, want %q", leg, how)
		}
	}
}

func TestDeadLetterLegsAcquitARightHost(t *testing.T) {
	_, url := newDeadHost(t)
	ended := driveDeadLetters(t, url, nil, 1, 2)
	expect(t, unlike(ended), map[string]string{})
	for leg, cause := range map[string]string{"exhaustion.event 1": "production", "fork.branch 2": "production",
		"retention.floor 1": "seam", "retention.purged 2": "seam", "exhaustion.retained 2": "seam"} {
		if want := "pass/" + cause; ended[leg] != want {
			t.Errorf("%s ended with %q, want %q", leg, ended[leg], want)
		}
	}
}

func TestDeadLetterLegsConvictEachLie(t *testing.T) {
	both := func(leg, how string) map[string]string { return map[string]string{leg + " 1": how, leg + " 2": how} }
	gone := func(legs ...string) map[string]string {
		m := map[string]string{}
		for _, leg := range legs {
			maps.Copy(m, both(leg, "undecided timeout"))
		}
		return m
	}
	for _, c := range []struct {
		lie  string
		want []map[string]string
	}{
		{"seats", []map[string]string{{"shape.advertisement 1": "seats-agree"}}},
		{"no-event", []map[string]string{both("exhaustion.event", "dead-letter-event"), both("exhaustion.attempts", "undecided unexpected-answer"),
			both("exhaustion.not-early", "undecided timeout")}},
		{"name", []map[string]string{both("exhaustion.event", "name-for-major")}},
		{"attempts", []map[string]string{both("exhaustion.attempts", "attempts-match-log")}},
		{"other-run", []map[string]string{both("exhaustion.event", "own-run")}},
		{"other-node", []map[string]string{both("exhaustion.event", "failing-node")}},
		{"completed", []map[string]string{both("exhaustion.status", "status-failed")}},
		{"early", []map[string]string{both("exhaustion.not-early", "no-early-dead-letter")}},
		{"leaks", []map[string]string{both("exhaustion.redacted", "no-secret-in-dead-letter+no-secret-in-events")}},
		{"purges-at-once", []map[string]string{both("exhaustion.retained", "readable-after-death+readable-until-the-end"), // and nothing else has anything to read
			both("exhaustion.event", "undecided unexpected-answer"), gone("exhaustion.attempts", "exhaustion.status", "exhaustion.not-early", "exhaustion.redacted", "exhaustion.durable", "fork.replay",
				"fork.branch", "fork.source-unchanged", "fork.tenant", "retention.floor", "retention.purged", "retention.no-oracle", "retention.neighbour",
				"sink.inspectable", "sink.scoped")}},
		{"purges-early", []map[string]string{both("exhaustion.retained", "readable-until-the-end"), both("retention.floor", "readable-before-the-end+log-kept-to-the-end+forkable-before-the-end"),
			both("retention.neighbour", "neighbour-kept")}},
		{"never-purges", []map[string]string{{
			"retention.purged 1": "snapshot-gone+poll-gone+stream-gone+fork-not-found",
			"retention.purged 2": "snapshot-gone+poll-gone+stream-gone+list-gone+fork-not-found"},
			both("retention.no-oracle", "undecided unexpected-answer"), both("retention.neighbour", "undecided unexpected-answer")}},
		{"purges-neighbour", []map[string]string{both("retention.neighbour", "neighbour-kept+fork-kept")}},
		{"oracle", []map[string]string{both("retention.no-oracle", "like-never-existed")}},
		{"not-forkable", []map[string]string{both("fork.replay", "forked"), both("fork.branch", "forked"),
			both("fork.source-unchanged", "undecided unexpected-answer"), both("fork.tenant", "undecided unexpected-answer")}},
		{"same-id", []map[string]string{both("fork.replay", "own-id"), both("fork.branch", "own-id")}},
		{"lost-child", []map[string]string{both("fork.replay", "child-readable+child-ends"), both("fork.branch", "mended-child-completes")}},
		{"forgets-overlay", []map[string]string{both("fork.branch", "mended-child-completes")}},
		{"mutates", []map[string]string{both("fork.source-unchanged", "events-unchanged")}},
		{"foreign-fork", []map[string]string{{"fork.tenant 1": "refused-to-another-tenant", "fork.tenant 2": "refused-to-another-tenant+no-run-made"}}},
		{"sink-forgets", []map[string]string{both("sink.inspectable", "entry-listed"), both("sink.scoped", "undecided unexpected-answer")}},
		{"sink-open", []map[string]string{both("sink.scoped", "not-shown-to-another-tenant")}},
	} {
		t.Run(c.lie, func(t *testing.T) {
			t.Parallel()
			h, url := newDeadHost(t)
			h.lie = c.lie
			want := map[string]string{}
			for _, m := range c.want {
				maps.Copy(want, m)
			}
			got := unlike(driveDeadLetters(t, url, nil, 1, 2))
			if c.lie == "purges-neighbour" { // what dies with a neighbour is whatever earlier legs left behind
				maps.DeleteFunc(got, func(leg, _ string) bool { return !strings.HasPrefix(leg, "retention.neighbour") })
			}
			expect(t, got, want)
		})
	}
}

func TestDeadLetterLegsAcquitLawfulHosts(t *testing.T) {
	both := func(how string, legs ...string) map[string]string {
		m := map[string]string{}
		for _, leg := range legs {
			m[leg+" 1"], m[leg+" 2"] = how, how
		}
		return m
	}
	join := func(ms ...map[string]string) map[string]string {
		all := map[string]string{}
		for _, m := range ms {
			maps.Copy(all, m)
		}
		return all
	}
	const none = "inapplicable no-cause"
	clock := []string{"retention.floor", "retention.purged", "retention.no-oracle", "retention.neighbour"}
	for _, c := range []struct {
		name   string
		host   func(*deadHost)
		config func(*Config)
		want   map[string]string // what does not pass
	}{
		{name: "the dead letter after the end", host: func(h *deadHost) { h.odd = "letter-last" }},
		{name: "a run that ends between a poll and its snapshot", host: func(h *deadHost) { h.odd = "ends-behind-a-poll" }},
		{name: "data beside a null payload", host: func(h *deadHost) { h.odd = "data" }},
		{name: "no polls", host: func(h *deadHost) { h.odd = "no-poll" }},
		{name: "no clock", host: func(h *deadHost) { h.seams["clock"] = false }, want: both(none, clock...)},
		{name: "a clock that the operator keeps", config: func(c *Config) { c.NoClock = true }, want: both(none, clock...)},
		{name: "no number of days", host: func(h *deadHost) { h.days = 0 }, want: both(none, clock...)},
		{name: "one day", host: func(h *deadHost) { h.days = 1 }},
		{name: "ninety days", host: func(h *deadHost) { h.days = 90 }},
		{name: "fixtures and no seams", host: func(h *deadHost) { h.seams = nil },
			want: both(none, append(clock, "sink.inspectable", "sink.scoped")...)},
		{name: "the exhaust seam alone", host: func(h *deadHost) { h.fixtures, h.seams = nil, map[string]bool{"exhaust": true} },
			want: both(none, append(clock, "exhaustion.not-early", "exhaustion.redacted", "fork.branch", "sink.inspectable", "sink.scoped")...)},
		{name: "nothing to cause with", host: func(h *deadHost) { h.fixtures, h.seams = nil, nil },
			want: both(none, append(clock, "exhaustion.event", "exhaustion.attempts", "exhaustion.status", "exhaustion.retained", "exhaustion.not-early",
				"exhaustion.durable", "exhaustion.redacted", "fork.replay", "fork.branch", "fork.source-unchanged", "fork.tenant", "sink.inspectable", "sink.scoped")...)},
		{name: "replay alone on major 2", host: func(h *deadHost) { h.modes = []string{"replay"} }, want: map[string]string{"fork.branch 2": "inapplicable not-advertised"}},
		{name: "no fork on major 2", host: func(h *deadHost) { h.modes = nil }, want: map[string]string{
			"fork.branch 2": "inapplicable not-advertised", "fork.replay 2": "inapplicable not-advertised", "fork.tenant 2": "inapplicable not-advertised",
			"fork.source-unchanged 2": "inapplicable not-advertised", "retention.no-oracle 2": "inapplicable not-advertised"}},
		{name: "no second key", config: func(c *Config) { c.KeyB = "" }, want: both(none, "fork.tenant", "sink.scoped")},
		{name: "the same key twice", config: func(c *Config) { c.KeyB = "ka" }, want: both("blocked same-tenant", "fork.tenant", "sink.scoped")},
		{name: "two keys of one tenant", config: func(c *Config) { c.KeyB = "kc" }, want: both("blocked same-tenant", "fork.tenant", "sink.scoped")},
		{name: "two keys of one tenant, and no no-op", config: func(c *Config) { c.KeyB = "kc" },
			host: func(h *deadHost) {
				h.fixtures = slices.DeleteFunc(h.fixtures, func(f string) bool { return f == workflows.Noop })
			},
			want: both("blocked same-tenant", "fork.tenant", "sink.scoped")},
		{name: "two keys of one tenant, and the exhaust seam alone", config: func(c *Config) { c.KeyB = "kc" },
			host: func(h *deadHost) { h.fixtures, h.seams = nil, map[string]bool{"exhaust": true} },
			want: join(both(none, append(clock, "exhaustion.not-early", "exhaustion.redacted", "fork.branch", "sink.inspectable", "sink.scoped")...),
				both("blocked same-tenant", "fork.tenant"))},
		{name: "another canary", config: func(c *Config) { c.CanaryValue = "a value of another kind" }},
		{name: "an id that the operator knows to be purged", host: func(h *deadHost) { h.seams["clock"] = false },
			config: func(c *Config) { c.ExpiredRunID = "acme/r-gone-0123456789abcdef" }, want: both(none, "retention.floor", "retention.neighbour")},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			h, url := newDeadHost(t)
			if c.host != nil {
				c.host(h)
			}
			expect(t, unlike(driveDeadLetters(t, url, c.config, 1, 2)), join(c.want))
		})
	}
}

func TestAHostWithoutAForkRouteOnMajor1(t *testing.T) {
	h, url := newDeadHost(t)
	h.odd = "no-fork-route"
	ended := driveDeadLetters(t, url, nil, 1)
	for leg, want := range map[string]string{
		"fork.replay 1": "undecided not-advertised", "fork.branch 1": "undecided not-advertised", "fork.tenant 1": "undecided not-advertised",
		"fork.source-unchanged 1": "undecided not-advertised", "exhaustion.event 1": "pass", "retention.floor 1": "pass", "retention.purged 1": "pass",
	} {
		if got, _, _ := strings.Cut(ended[leg], "/"); got != want {
			t.Errorf("%s ended with %q, want %q", leg, got, want)
		}
	}
}
