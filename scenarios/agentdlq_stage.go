package scenarios

import (
	"context"
	"maps"
	"slices"
	"time"
)

// playing makes a scenario of a play: the scene is given once everything was read at its end.
func playing(play func(ctx context.Context, a *agent) error) func(context.Context, *Drive) (any, error) {
	return func(ctx context.Context, d *Drive) (any, error) {
		a, err := d.agent()
		if err != nil {
			return nil, err
		}
		defer a.tidy(ctx)
		if err := play(ctx, a); err != nil {
			return nil, err
		}
		a.when = ""
		return a.close(ctx), nil
	}
}

// cast is tools by their roles.
type cast map[string]tool

// stage registers tools, in the order of their roles.
func (a *agent) stage(ctx context.Context, tools cast) error {
	for _, role := range slices.Sorted(maps.Keys(tools)) {
		if err := a.set(ctx, role, tools[role]); err != nil {
			return err
		}
	}
	return nil
}

// mail is messages by their roles.
type mail map[string]message

// post sends messages, in the order of their roles, and waits until all of them have ended.
func (a *agent) post(ctx context.Context, messages mail) error {
	roles := slices.Sorted(maps.Keys(messages))
	for _, role := range roles {
		if err := a.send(ctx, role, messages[role]); err != nil {
			return err
		}
	}
	a.ended(ctx, roles...)
	return nil
}

// redelivered lets leases run out, one after another and at most so many, until the messages have ended.
func (a *agent) redelivered(ctx context.Context, leases int64, roles ...string) error {
	over := a.allEnded(ctx, roles...)
	for range leases {
		if err := a.advance(ctx, a.scene.Numbers.LeaseSeconds+1); err != nil {
			return err
		}
		if a.within(ctx, a.soon(), over) {
			return nil
		}
	}
	a.until(ctx, over)
	return nil
}

// soon is how long, in real time, the host is given for what it has been let to do, before more is tried.
func (a *agent) soon() time.Duration { return min(a.d.run.config.eventTimeout(), 15*a.d.Quiet()) }
