package scenarios

import (
	"context"
	"time"

	"github.com/wopwitness/wopwitness/scenarios/registry"
	"github.com/wopwitness/wopwitness/witness/observe"
)

// A host that is being replaced comes back; one that does not within this many looks is gone.
const (
	deathLooks = 4
	deathPause = 500 * time.Millisecond
)

// noticeDeath looks, after a leg that could not reach the host, whether anything listens there still. Where nothing does,
// that is the run's one problem: said once, instead of by every leg that is left.
func (r *run) noticeDeath(ctx context.Context, major int) {
	s := r.client.Begin()
	for look := 1; ; look++ {
		found := s.Discover(ctx, major).Exchange
		if found.Response != nil || found.Failure == nil || found.Failure.Kind != observe.FailRefused {
			return
		}
		if look == deathLooks {
			r.problem = &Problem{Reason: registry.Unreachable, Says: "the host was lost during the run: " + found.Failure.Text}
			return
		}
		if !s.Sleep(ctx, deathPause) {
			return
		}
	}
}
