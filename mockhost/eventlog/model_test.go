package eventlog_test

import (
	"context"
	"encoding/json"
	"fmt"
	"log/slog"
	"testing"
	"time"

	"github.com/jonboulle/clockwork"
	"pgregory.net/rapid"

	"github.com/wopwitness/wopwitness/mockhost/conforming"
	"github.com/wopwitness/wopwitness/mockhost/eventlog"
	"github.com/wopwitness/wopwitness/mockhost/parts"
	"github.com/wopwitness/wopwitness/mockhost/store"
	"github.com/wopwitness/wopwitness/mockhost/store/sqlite"
)

// retention is the promise of the hosts under test.
const retention = time.Minute

// fakeClock is a domain clock that a test moves.
type fakeClock struct{ *clockwork.FakeClock }

func (fakeClock) Mode() string { return "manual" }

func (c fakeClock) Advance(_ context.Context, d time.Duration) (time.Time, error) {
	c.FakeClock.Advance(d)
	return c.Now(), nil
}

// instance is one hub with its ports.
type instance struct {
	hub   *eventlog.Hub
	parts *parts.Parts
}

func newInstance(s store.Store, clock fakeClock) instance {
	p := &parts.Parts{
		Clock: clock, Encoder: conforming.Encoder{}, Framer: conforming.Framer{}, Visibility: conforming.Visibility{},
		Retention: conforming.Retention{Store: s, Min: retention},
	}
	hub := eventlog.New(s, p, slog.New(slog.DiscardHandler), false)
	p.Log, p.Ephemerals = hub, hub
	p.Resumer = conforming.Resumer{Parts: p}
	return instance{hub, p}
}

// machine runs two instances over one store beside a model: for each tenant the events in commit order, for each stream
// what it is still owed.
type machine struct {
	ctx       context.Context
	store     store.Store
	clock     fakeClock
	instances []instance
	tenants   []string
	logs      map[string][]store.Event // what the model holds of each tenant
	streams   []*stream
}

type stream struct {
	sub        parts.Subscription
	principal  parts.Principal
	durable    []store.Event
	ephemerals []string
}

var workspaces = []string{"", "w1", "w2"}

// newMachine makes two instances, and tenants that no other round has.
func newMachine(st store.Store, round int) *machine {
	clock := fakeClock{clockwork.NewFakeClockAt(time.Date(2030, 1, 1, 0, 0, 0, 0, time.UTC))}
	return &machine{
		ctx: context.Background(), store: st, clock: clock,
		instances: []instance{newInstance(st, clock), newInstance(st, clock)},
		tenants:   []string{fmt.Sprintf("a%d", round), fmt.Sprintf("b%d", round)},
		logs:      map[string][]store.Event{},
	}
}

func (m *machine) close() {
	for _, in := range m.instances {
		in.hub.Close()
	}
}

func (m *machine) principal(t *rapid.T) parts.Principal {
	return parts.Principal{
		Tenant:    rapid.SampledFrom(m.tenants).Draw(t, "tenant"),
		Workspace: rapid.SampledFrom(workspaces).Draw(t, "bound to"),
	}
}

func (m *machine) instance(t *rapid.T) instance {
	return m.instances[rapid.IntRange(0, len(m.instances)-1).Draw(t, "instance")]
}

func sees(p parts.Principal, e store.Event) bool {
	return p.Tenant == e.Tenant && (e.Workspace == "" || e.Workspace == p.Workspace)
}

func draft(t *rapid.T, delivery string) parts.Draft {
	return parts.Draft{
		Type: "a.b", Delivery: delivery, Workspace: rapid.SampledFrom(workspaces).Draw(t, "workspace"), Payload: json.RawMessage(`{}`),
	}
}

// settle reads every stream to the end of what it is owed.
func (m *machine) settle(t *rapid.T) {
	for _, s := range m.streams {
		for len(s.durable) > 0 || len(s.ephemerals) > 0 {
			s.read(t, m.ctx)
		}
	}
}

func TestLogAgreesWithItsModel(t *testing.T) {
	st, err := sqlite.OpenTemporary(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = st.Close() })
	round := 0
	rapid.Check(t, func(t *rapid.T) {
		// One store for all rounds, with tenants of its own for each: opening one costs more than a round.
		round++
		m := newMachine(st, round)
		defer m.close()
		t.Repeat(map[string]func(*rapid.T){
			"append": m.Append, "append again": m.Append, "append failing": m.AppendFailing, "ephemeral": m.Ephemeral,
			"open": m.Open, "read": m.Read, "read again": m.Read, "stop": m.Stop, "remove": m.Remove, "pass": m.Pass,
			"restart": m.Restart,
		})
		m.settle(t)
	})
}
