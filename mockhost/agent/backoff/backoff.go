// Package backoff says how long an entry that recovers by itself waits for its next replay.
//
// It never reads a clock. Start at BackOff.Delay.
package backoff

import (
	"math/rand/v2"
	"time"

	"github.com/wopwitness/wopwitness/mockhost/parts"
)

// The agent dead-letter page's own numbers.
const (
	Base = 30 * time.Second
	Cap  = time.Hour
	// jitterPart is the part of the wait, at most, that is added to it at random: a fifth.
	jitterPart = 5
)

// BackOff draws waits. It implements parts.BackOff; the zero value draws from the runtime's random source.
type BackOff struct {
	// Draw gives a number in [0, 1); nil for a random one. It must be safe for use by many goroutines.
	Draw func() float64
}

var _ parts.BackOff = BackOff{}

// Delay is the wait after so many attempts: min(30 s · 2^attempts, 3600 s), and on top of that a random part of at most a
// fifth of it, drawn anew at each call. It is in whole milliseconds, as instants on the wire are.
func (b BackOff) Delay(attempts int) time.Duration {
	draw := b.Draw
	if draw == nil {
		draw = rand.Float64
	}
	wait := Exponential(attempts)
	return wait + time.Duration(draw()*float64(wait/jitterPart)).Truncate(time.Millisecond)
}

// Exponential is the part of the wait that isn't random. Fewer attempts than none count as none.
func Exponential(attempts int) time.Duration {
	wait := Base
	for range max(attempts, 0) {
		if wait *= 2; wait >= Cap {
			return Cap
		}
	}
	return wait
}
