package agent

import (
	"context"
	"errors"
	"time"

	"github.com/wopwitness/wopwitness/mockhost/parts"
	"github.com/wopwitness/wopwitness/mockhost/store"
)

// oftenest bounds how often a lease is renewed, in real time.
const oftenest = 100 * time.Millisecond

// holding does what may take long, and renews the lease meanwhile, in real time: whoever waits for a slow model, a slow tool or
// its place among the calls isn't dead, and nobody else shall think so. Where the message is another's all the same, do is
// told to end, and the error says so. A panic of do is one of the caller's.
func (d *delivery) holding(ctx context.Context, do func(ctx context.Context)) error {
	within, end := context.WithCancel(ctx)
	defer end()
	var broke any
	done := make(chan struct{})
	go func() {
		defer close(done)
		defer func() { broke = recover() }()
		do(within)
	}()
	every := time.NewTicker(max(d.worker.parts.Agent.Numbers.Lease/3, oftenest))
	defer every.Stop()
	var lost error
	for {
		select {
		case <-every.C:
			// A store that is away takes nothing from anybody: what is done goes on.
			if err := d.renew(ctx); errors.Is(err, errLost) {
				lost = err
				end()
			}
		case <-done:
			if broke != nil {
				panic(broke)
			}
			return lost
		}
	}
}

// renew makes the lease last from now.
func (d *delivery) renew(ctx context.Context) error {
	return d.write(ctx, "renew the lease", func(store.Tx, *parts.Message, time.Time) (hold, error) { return hold{}, nil })
}
