package mockhost_test

import (
	"context"
	"errors"
	"net/http"
	"sync/atomic"
	"testing"

	"github.com/wopwitness/wopwitness/mockhost"
	"github.com/wopwitness/wopwitness/mockhost/parts"
	"github.com/wopwitness/wopwitness/mockhost/store"
)

// severed is a store that a worker is cut off from once: what it is about to write then isn't, as if its process had died.
type severed struct {
	store.Store
	cut *atomic.Bool
}

func (s severed) Write(ctx context.Context, f func(store.Tx) error) error {
	if s.cut.CompareAndSwap(true, false) {
		return errors.New("the process is dead")
	}
	return s.Store.Write(ctx, f)
}

// deaths plays a host whose worker dies once its model has answered, so many times.
func deaths(t *testing.T, times int64) agents {
	t.Helper()
	return deathsOf(t, times, 0)
}

// deathsOf is deaths on a host with its own limit of redeliveries, 0 for the usual one.
func deathsOf(t *testing.T, times int64, limit int) agents {
	t.Helper()
	var cut atomic.Bool
	var asked atomic.Int64
	s := serveModels(t, map[string]func(jsonObject) any{"/model": func(q jsonObject) any {
		cut.Store(asked.Add(1) <= times)
		usage := jsonObject{"input": 1, "output": 1}
		if len(q["turns"].([]any)) > 0 {
			return jsonObject{"final": "done", "usage": usage}
		}
		return jsonObject{"call": jsonObject{"step": 0}, "usage": usage}
	}})
	c := mockhost.Config{
		Seams: true, Agent: mockhost.AgentNumbers{Lease: shortLease, RedeliveryLimit: limit}, Models: mockhost.ModelServers{Model: s.URL + "/model"},
	}
	a := agents{start(t, c.WithStore(func(s store.Store) store.Store { return severed{s, &cut} }))}
	a.tool("pay", "", "ok")
	return a
}

func TestAMessageThatKillsEachWorkerComesNotForEver(t *testing.T) {
	a := deaths(t, 1000)
	if got := a.ended("m", call("pay", `{}`)); got != "message_dead_lettered" {
		t.Fatalf("it ended %s", got)
	}
	if m := a.ask("GET", "/messages/m", "", http.StatusOK); m["deliveries"] != 5.0 {
		t.Errorf("after 4 deaths the message is %v", m)
	}
	if e := a.ask("GET", "/queues/message", "", http.StatusOK)["entries"].([]any)[0].(jsonObject); e["reason"] != "redelivery_limit" {
		t.Errorf("its entry is %v", e)
	}
}

func TestAMessageThatKilledFewerWorkersEnds(t *testing.T) {
	a := deaths(t, 3)
	if got := a.ended("m", call("pay", `{}`)); got != "completed" {
		t.Fatalf("it ended %s", got)
	}
	if m := a.ask("GET", "/messages/m", "", http.StatusOK); m["deliveries"] != 4.0 {
		t.Errorf("after 3 deaths the message is %v", m)
	}
}

func TestOneDeathIsNoBugHoweverLowTheLimit(t *testing.T) {
	if got := deathsOf(t, 1, 1).ended("m", call("pay", `{}`)); got != "completed" {
		t.Errorf("after one death under a limit of 1 the message ended %s", got)
	}
	if got := deathsOf(t, 2, 1).ended("m", call("pay", `{}`)); got != "message_dead_lettered" {
		t.Errorf("after two deaths under a limit of 1 the message ended %s", got)
	}
}

func TestADeathThatTheRunWentOnAfterIsForgotten(t *testing.T) {
	var m parts.Message
	for range 3 {
		m.Died()
	}
	if m.Deaths != 3 {
		t.Errorf("%d deaths one after the other, want 3", m.Deaths)
	}
	m.ModelCalls++
	if m.Died(); m.Deaths != 1 {
		t.Errorf("%d deaths since the run went on, want 1", m.Deaths)
	}
}
