package scenarios

import (
	"context"

	"github.com/wopwitness/wopwitness/witness/observe"
)

// unwatched drives 0250.unwatched: an event while a subscriber is connected, two while none is, and a sentinel once it has
// come back. Hubs are known that keep what they hand out, and hand out to whoever is there.
func unwatched(ctx context.Context, d *Drive) (any, error) {
	observer, emits, err := d.backlog(ctx, "D1")
	if err != nil {
		return nil, err
	}
	observer.Close()
	d.Sleep(ctx, d.Quiet()) // the host is told of the end by the network
	for _, label := range []string{"D2", "D3"} {
		e, err := d.triggerOne(ctx, label)
		if err != nil {
			return nil, err
		}
		emits = append(emits, e)
	}
	resumed := d.Resume(ctx, "resumed at D1", observe.CredentialA, emits[0].EventID)
	if resumed.Opened() {
		d.Await(ctx, resumed, observe.CredentialA, Shows(idsAfter(emits, 0)...))
		s, err := d.Emit(ctx, resumed, "S", observe.CredentialA, durable)
		if err != nil {
			return nil, err
		}
		emits = append(emits, s)
	}
	return d.recordSuffix(ctx, observer, resumed, emits), nil
}
