package agent_test

import (
	"strings"
	"testing"
	"time"

	"github.com/wopwitness/wopwitness/mockhost/agent"
	"github.com/wopwitness/wopwitness/mockhost/parts"
)

func TestAFailureStaysWithTheRunAsLongAsTheRunCanHelp(t *testing.T) {
	for _, c := range []struct {
		name          string
		kind          string
		attempts, max int
		fallback      string
		want          string
	}{
		{"budget left", parts.ServerError, 1, 3, "", parts.RouteRetry},
		{"budget left, with a fallback", parts.Locked, 2, 3, "other", parts.RouteRetry},
		{"budget spent", parts.ServerError, 3, 3, "", parts.RouteDeadLetter},
		{"no budget at all", parts.ToolTimeout, 1, 1, "", parts.RouteDeadLetter},
		{"budget spent, with a fallback", parts.ServerError, 3, 3, "other", parts.RouteFallback},
		{"more attempts than the budget, after a call in flight", parts.ServerError, 4, 3, "", parts.RouteDeadLetter},
		{"the form of the arguments", parts.BadRequest, 1, 3, "", parts.RouteRetry},
		{"a refused credential", parts.Unauthorized, 1, 3, "", parts.RouteDeadLetter},
		{"a tool that is gone", parts.Gone, 1, 3, "", parts.RouteDeadLetter},
		{"a tool that is gone, with a fallback", parts.Gone, 1, 3, "other", parts.RouteFallback},
		{"an open circuit", parts.CircuitOpen, 0, 3, "", parts.RouteInBand},
		{"an open circuit, budget spent", parts.CircuitOpen, 3, 3, "", parts.RouteInBand},
		{"an open circuit, with a fallback", parts.CircuitOpen, 0, 3, "other", parts.RouteFallback},
	} {
		got := agent.Router{}.Route(parts.FailedAttempt{
			Invocation: parts.Invocation{Attempts: c.attempts, MaxAttempts: c.max}, Error: parts.ToolError{Kind: c.kind}, Fallback: c.fallback,
		})
		if got != c.want {
			t.Errorf("%s: got %s, want %s", c.name, got, c.want)
		}
	}
}

func TestABodyIsAnObjectWithATask(t *testing.T) {
	for _, c := range []struct {
		body  string
		buggy bool
		says  string
	}{
		{`{"task":""}`, false, ""},
		{` {"more":[1],"task":"x"} `, false, ""},
		{`{"task":"x","poison":true}`, true, ""},
		{`{"task":"x","poison":"true"}`, false, ""},
		{`{"task":"x","poison":false}`, false, ""},
		{``, false, "isn't a JSON object"},
		{`{not json`, false, "isn't a JSON object"},
		{`["task"]`, false, "isn't a JSON object"},
		{`"task"`, false, "isn't a JSON object"},
		{`null`, false, "no text member task"},
		{`{}`, false, "no text member task"},
		{`{"task":1}`, false, "no text member task"},
		{`{"task":null}`, false, "no text member task"},
		{`{"task":"x"} {}`, false, "isn't a JSON object"},
	} {
		buggy, err := agent.Bodies{}.Read(c.body)
		says := ""
		if err != nil {
			says = err.Error()
		}
		if buggy != c.buggy || (c.says == "") != (err == nil) || !strings.Contains(says, c.says) {
			t.Errorf("%s: got %v, %q; want %v, %q", c.body, buggy, says, c.buggy, c.says)
		}
	}
}

func TestAWorkerDiesWhereItsMessageSaysAndOnlyOnce(t *testing.T) {
	for _, c := range []struct {
		asks, point string
		deliveries  int
		fresh, last bool
		want        bool
	}{
		{"", parts.CrashAfterClaim, 1, true, true, false},
		{parts.CrashBeforeClaim, parts.CrashBeforeClaim, 0, true, false, true},
		{parts.CrashBeforeClaim, parts.CrashBeforeClaim, 0, false, false, false},
		{parts.CrashAfterClaim, parts.CrashAfterClaim, 1, true, false, true},
		{parts.CrashAfterClaim, parts.CrashAfterClaim, 2, false, false, false},
		{parts.CrashAfterClaim, parts.CrashAfterWrite, 1, true, true, false},
		{parts.CrashAfterDispatch, parts.CrashAfterDispatch, 1, true, true, true},
		{parts.CrashAfterDispatch, parts.CrashAfterDispatch, 1, true, false, false},
		{parts.CrashAfterResult, parts.CrashAfterResult, 2, false, true, false},
	} {
		m := parts.Message{CrashAt: c.asks, Deliveries: c.deliveries}
		if got := (agent.Mortal{}).Dies(m, c.point, c.fresh, c.last); got != c.want {
			t.Errorf("asked for %q, at %s of delivery %d (fresh %v, last step %v): got %v", c.asks, c.point, c.deliveries, c.fresh, c.last, got)
		}
	}
}

func numbers() *parts.Parts {
	return &parts.Parts{Agent: parts.Agent{Numbers: parts.AgentNumbers{Lease: 30 * time.Second, Breaker: time.Minute, RedeliveryLimit: 4}}}
}

func TestABuggyMessageComesAgainUpToTheLimit(t *testing.T) {
	l, now := agent.Leases{Parts: numbers()}, time.Now()
	for failures, want := range map[int]time.Duration{1: 20 * time.Millisecond, 2: 40 * time.Millisecond, 3: 80 * time.Millisecond} {
		if at, again := l.Again(parts.Message{Failures: failures}, now); !again || at.Sub(now) != want {
			t.Errorf("after %d failures: %v after %s, want after %s", failures, again, at.Sub(now), want)
		}
	}
	if _, again := l.Again(parts.Message{Failures: 4}, now); again {
		t.Error("a message comes again after its limit")
	}
}

func TestACircuitIsOpenForItsTime(t *testing.T) {
	b, opened := agent.Breaker{Parts: numbers()}, time.Now()
	for after, want := range map[time.Duration]string{
		0: parts.CircuitIsOpen, time.Minute - 1: parts.CircuitIsOpen, time.Minute: parts.CircuitHalfOpen, time.Hour: parts.CircuitHalfOpen,
	} {
		if got := b.State(parts.Circuit{OpenedAt: opened}, opened.Add(after)); got != want {
			t.Errorf("%s after it opened: got %s, want %s", after, got, want)
		}
	}
	if got := b.State(parts.Circuit{}, opened); got != parts.CircuitClosed {
		t.Errorf("one that never opened is %s", got)
	}
}
