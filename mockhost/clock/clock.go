// Package hostclock is the mock host's domain time: real time plus an offset that the store keeps, and the work that
// falls due on it.
//
// It never rules transport: keep-alives, deadlines and stream lives run on real time whatever the offset. Start at
// Clock; Runner does the due work and moves the clock through it.
package hostclock

import (
	"sync/atomic"
	"time"

	"github.com/jonboulle/clockwork"
)

// The clock's modes, as the clock seam names them.
const (
	Real   = "real"
	Manual = "manual"
)

// Clock is a clockwork.Clock whose Now is the base clock's plus an offset. It asks the base clock for the date once, and
// from then on only for the time that has passed: a wall clock that is set back or forth while the host runs must not make
// events old before their time, or due work late. Its timers and tickers are the base clock's and don't follow the offset:
// what must happen at an instant of domain time is due work.
type Clock struct {
	clockwork.Clock
	began  time.Time
	offset atomic.Int64
}

// New makes a clock over base, offset ahead of it.
func New(base clockwork.Clock, offset time.Duration) *Clock {
	c := &Clock{Clock: base, began: base.Now()}
	c.offset.Store(int64(offset))
	return c
}

// Now is the domain's time, in UTC.
func (c *Clock) Now() time.Time { return c.began.Add(c.running() + c.Offset()).UTC() }

// running is how long the clock has run, in real time.
func (c *Clock) running() time.Duration { return c.Clock.Since(c.began) }

// Since is the domain time passed since t.
func (c *Clock) Since(t time.Time) time.Duration { return c.Now().Sub(t) }

// Until is the domain time left until t.
func (c *Clock) Until(t time.Time) time.Duration { return t.Sub(c.Now()) }

// Offset is how far the domain is ahead of the base clock.
func (c *Clock) Offset() time.Duration { return time.Duration(c.offset.Load()) }

// raise moves the clock on to an offset; one that it has passed changes nothing, since domain time never falls.
func (c *Clock) raise(offset time.Duration) {
	for {
		now := c.offset.Load()
		if int64(offset) <= now || c.offset.CompareAndSwap(now, int64(offset)) {
			return
		}
	}
}
