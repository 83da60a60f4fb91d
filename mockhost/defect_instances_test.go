package mockhost_test

import (
	"slices"
	"testing"

	"github.com/wopwitness/wopwitness/mockhost"
	"github.com/wopwitness/wopwitness/mockhost/store/postgres/pgtest"
)

// shown is what a stream of one instance showed of what was sent to another, and how that one's key was answered there.
type shown struct {
	durable  []string // small events sent one after another, a large one the third of them
	fleeting bool     // the ephemeral event came
	replayed bool     // the other instance gave the first answer to a key
}

// TestInstanceDefectsShowOnTheOtherInstance sends everything to one instance and looks at another.
func TestInstanceDefectsShowOnTheOtherInstance(t *testing.T) {
	right := shown{durable: []string{"1", "2", "large", "4"}, fleeting: true, replayed: true}
	stores := map[string]func(*testing.T) string{
		"SQLite":     func(*testing.T) string { return "memory" },
		"PostgreSQL": pgtest.Schema,
	}
	for defect, want := range map[string]shown{
		"":                             right,
		"notification-carries-event":   {durable: []string{"1", "2", "4"}, fleeting: true, replayed: true},
		"listener-without-catching-up": {durable: []string{"1", "large"}, fleeting: true, replayed: true},
		"ephemerals-of-one-instance":   {durable: right.durable, replayed: true},
		"idempotency-of-one-instance":  {durable: right.durable, fleeting: true},
	} {
		for name, store := range stores {
			t.Run(defect+" on "+name, func(t *testing.T) {
				t.Parallel()
				if got := lookElsewhere(t, mockhost.Config{Store: store(t), Seams: true, Defect: defect}); !slices.Equal(got.durable, want.durable) ||
					got.fleeting != want.fleeting || got.replayed != want.replayed {
					t.Errorf("the other instance shows %+v, want %+v", got, want)
				}
			})
		}
	}
}

func lookElsewhere(t *testing.T, c mockhost.Config) shown {
	h := start(t, c)
	second, err := h.host.Peer(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	there := serve(t, second)
	s := there.open(h.KeyA, "", "")
	names := map[string]string{}
	emit := func(name, payload string) {
		a := h.do("POST", "/conformance/seams/sample/host-events/emit", h.KeyA, `{"type":"inventory.item-changed","payloadBytes":`+payload+`}`)
		names[h.eventID(a)] = name
	}
	fleeting := h.trigger(h.KeyA, "ephemeral")
	emit("1", "10")
	emit("2", "10")
	emit("large", "20000")
	emit("4", "10")
	const key = "Idempotency-Key: k-1"
	first := h.do("POST", "/host/events/test", h.KeyA, `{"delivery":"ephemeral"}`, key)
	again := there.do("POST", "/host/events/test", h.KeyA, `{"delivery":"ephemeral"}`, key)
	if first.status != 202 || again.status != 202 {
		t.Fatalf("the trigger answered %d and %d", first.status, again.status)
	}
	out := shown{replayed: first.body == again.body && again.header.Get("OpenWOP-Idempotent-Replay") == "true"}
	// An instance hears of its own events whatever the defect, and after what another committed before.
	for _, id := range s.until(there.trigger(h.KeyA, "durable")) {
		if name, ours := names[id]; ours {
			out.durable = append(out.durable, name)
		}
		out.fleeting = out.fleeting || id == fleeting
	}
	return out
}
