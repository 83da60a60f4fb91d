package hostevents

import (
	"github.com/wopwitness/wopwitness/scenarios/registry"
	"github.com/wopwitness/wopwitness/witness"
	"github.com/wopwitness/wopwitness/witness/observe"
)

// Tenants is a live stream of each of two tenants while each emits. A tenant's sentinel was sent after the other's events
// had been seen at home.
type Tenants struct {
	Reading
	Window observe.Micros `json:"window"` // how long each stream was read after its sentinel
	A      Side           `json:"a"`
	B      Side           `json:"b"`
}

// Side is one tenant's stream and what that tenant emitted.
type Side struct {
	Stream   observe.Subscription `json:"stream"`
	Emits    []observe.Emit       `json:"emits"`
	Sentinel observe.Emit         `json:"sentinel"`
}

// JudgeTenantIsolation judges 0236.host-event.tenant-isolation (RFC 0236): an event reaches its own tenant's live
// subscribers and nobody else's.
func JudgeTenantIsolation(o Tenants) witness.Verdict {
	var v witness.Verdict
	o.kept(&v, "a-kept-from-b", "tenant B's stream", o.A, o.B)
	o.kept(&v, "b-kept-from-a", "tenant A's stream", o.B, o.A)
	return v
}

func (o Tenants) kept(v *witness.Verdict, check, name string, home, away Side) {
	at := accountOf(o.Reading, "the stream at home", home.Stream, home.Stream, home.Emits)
	var shown []observe.Emit
	for _, e := range home.Emits {
		if at.count(e) > 0 {
			shown = append(shown, e)
		}
	}
	if len(shown) == 0 || away.Sentinel.EventID == "" {
		v.Undecide(registry.Timeout, "no event was seen at home, so its absence on %s says nothing", name)
		return
	}
	there := accountOf(o.Reading, name, away.Stream, away.Stream, home.Emits, []observe.Emit{away.Sentinel})
	there.never(v, check, "RFC 0236 §Tenancy", "what happens at one customer is shown to another", home.Emits, away.Sentinel, max(o.Quiet, o.Window))
}
