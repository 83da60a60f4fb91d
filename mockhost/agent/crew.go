package agent

import (
	"context"
	"crypto/rand"
	"sync"
	"time"
)

// laneWidth is how many calls of one tool of a tenant are under way at once. Each tool has its own lane, so that a flood of
// one, however slow, holds up no other.
const laneWidth = 4

// Crew is the goroutines that work on messages in this process: one a message, at most.
type Crew struct {
	// Name tells this process's leases from those of others.
	Name string

	ctx    context.Context
	cancel context.CancelFunc

	mu      sync.Mutex
	busy    map[string]chan struct{} // by message; closed at its end
	lanes   map[string]chan struct{} // by tool
	stopped bool
	wg      sync.WaitGroup
}

// NewCrew makes a crew that works until Stop.
func NewCrew(ctx context.Context) *Crew {
	c := &Crew{Name: rand.Text(), busy: map[string]chan struct{}{}, lanes: map[string]chan struct{}{}}
	c.ctx, c.cancel = context.WithCancel(context.WithoutCancel(ctx))
	return c
}

// Go works on the message in the background. It gives a channel that is closed at the end of that, or of the work on the same
// message that is under way already; begun says which.
func (c *Crew) Go(key string, work func(ctx context.Context)) (end <-chan struct{}, begun bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if end, ok := c.busy[key]; ok {
		return end, false
	}
	done := make(chan struct{})
	if c.stopped {
		close(done)
		return done, false
	}
	c.busy[key] = done
	c.wg.Go(func() {
		defer func() {
			c.mu.Lock()
			defer c.mu.Unlock()
			delete(c.busy, key)
			close(done)
		}()
		work(c.ctx)
	})
	return done, true
}

// Stopping reports whether the crew takes nothing further up.
func (c *Crew) Stopping() bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.stopped
}

// Quiet waits until nobody works on anything, as long as ctx and the bound allow.
func (c *Crew) Quiet(ctx context.Context, bound time.Duration) {
	ctx, cancel := context.WithTimeout(ctx, bound)
	defer cancel()
	for {
		end, ok := c.any()
		if !ok {
			return
		}
		select {
		case <-end:
		case <-ctx.Done():
			return
		}
	}
}

func (c *Crew) any() (end chan struct{}, ok bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, end := range c.busy {
		return end, true
	}
	return nil, false
}

// lane waits for a place among the calls of a tool. leave gives it back.
func (c *Crew) lane(ctx context.Context, tenant, tool string) (leave func(), err error) {
	c.mu.Lock()
	key := tenant + "/" + tool
	l, ok := c.lanes[key]
	if !ok {
		l = make(chan struct{}, laneWidth)
		c.lanes[key] = l
	}
	c.mu.Unlock()
	select {
	case l <- struct{}{}:
		return func() { <-l }, nil
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}

// Stop lets everybody come to the next point at which work can be handed over, and waits for that; where ctx ends first,
// they are cut off.
func (c *Crew) Stop(ctx context.Context) {
	c.mu.Lock()
	c.stopped = true
	c.mu.Unlock()
	done := make(chan struct{})
	go func() {
		defer close(done)
		c.wg.Wait()
	}()
	select {
	case <-done:
	case <-ctx.Done():
	}
	c.cancel()
	<-done
}
