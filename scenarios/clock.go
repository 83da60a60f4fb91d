package scenarios

import (
	"context"
	"time"

	"github.com/wopwitness/wopwitness/scenarios/registry"
	"github.com/wopwitness/wopwitness/seams/cause"
	"github.com/wopwitness/wopwitness/witness/observe"
)

// clockSlack is how far a host's clock may be off over one leg without somebody else having moved it.
const clockSlack = 5 * time.Second

// watchingClock drives a leg that moves the host's clock, and makes sure that nobody else moved it meanwhile: what such
// a leg observed would mean something else. A host whose clock cannot be moved gives the leg no cause.
func (d *Drive) watchingClock(ctx context.Context, drive func(context.Context, *Drive) (any, error)) (observation any, _ string, err error) {
	d.By(causeSeam)
	before, mode, x := cause.ClockNow(ctx, d.Session, d.Major)
	switch {
	case x.Response == nil && x.Failure != nil:
		return nil, d.cause, blocked(failureReason(x.Failure.Kind), "reading the host's clock: %s", x.Failure.Text)
	case !cause.SeamMounted(x):
		return nil, d.cause, inapplicable(registry.NoCause, "the host mounts no clock seam (GET %s answered %d)", x.Request.Target, x.Status())
	case mode == "real":
		return nil, d.cause, inapplicable(registry.NoCause, "the host's clock is the real one and cannot be moved")
	case before.IsZero():
		return nil, d.cause, blocked(registry.UnexpectedAnswer, "the clock seam answered %d without a time", x.Status())
	}
	asked := time.Now()
	observation, err = drive(ctx, d)
	if err != nil {
		return nil, d.cause, err
	}
	after, _, x := cause.ClockNow(ctx, d.Session, d.Major)
	if after.IsZero() {
		return nil, d.cause, blocked(registry.UnexpectedAnswer, "the clock seam answered %d without a time once the leg was done", x.Status())
	}
	if moved, took := after.Sub(before), time.Since(asked); !ownMove(moved, d.advanced(), took) {
		return nil, d.cause, blocked(registry.ClockMoved, "the host's clock moved by %s, and this requirement moved it by %s in %s: another run may be moving it",
			moved, d.advanced(), took.Round(time.Millisecond))
	}
	return observation, d.cause, nil
}

// ownMove says whether a clock moved by its advances and at most the time that went by: a manual clock may stand still in
// between.
func ownMove(moved, advances, elapsed time.Duration) bool {
	return moved >= advances-clockSlack && moved <= advances+elapsed+clockSlack
}

func (d *Drive) advanced() time.Duration {
	var sum time.Duration
	for _, m := range d.moves {
		sum += time.Duration(m.Seconds) * time.Second
	}
	return sum
}

// Advance moves the host's clock on. Anything but an advance ends the leg.
func (d *Drive) Advance(ctx context.Context, by time.Duration) (observe.ClockMove, error) {
	move := cause.Advance(ctx, d.Session, int64(by/time.Second), d.Major)
	x := move.Exchange
	switch {
	case x.Response == nil && x.Failure != nil:
		return move, blocked(failureReason(x.Failure.Kind), "moving the host's clock: %s", x.Failure.Text)
	case x.Status() == 409 || !cause.SeamMounted(x):
		return move, inapplicable(registry.NoCause, "the host's clock cannot be moved (POST %s answered %d)", x.Request.Target, x.Status())
	case x.Status() != 200:
		return move, blocked(registry.UnexpectedAnswer, "POST %s answered %d instead of moving the clock", x.Request.Target, x.Status())
	}
	d.moves = append(d.moves, move)
	return move, nil
}

// bound is how long the host says that it keeps an event resumable (RFC 0250 §A), and false where it says nothing that
// can be read.
func (d *Drive) bound() (time.Duration, bool) {
	events, _ := d.run.host.Discovery[d.Major].HostEvents()
	seconds, ok := events.MinRetention()
	const longest = int64(100 * 365 * 24 * time.Hour / time.Second)
	return time.Duration(min(seconds, longest)) * time.Second, ok
}
