package agent

import (
	"time"

	"github.com/wopwitness/wopwitness/mockhost/agent/keep"
	"github.com/wopwitness/wopwitness/mockhost/parts"
	"github.com/wopwitness/wopwitness/mockhost/store"
)

// Breaker implements parts.Breaker: a circuit a tenant and tool, in the store, so that every run and worker meets the same.
type Breaker struct{ Parts *parts.Parts }

var _ parts.Breaker = Breaker{}

// State implements parts.Breaker.
func (b Breaker) State(c parts.Circuit, now time.Time) string {
	switch {
	case c.OpenedAt.IsZero():
		return parts.CircuitClosed
	case now.Before(c.OpenedAt.Add(b.Parts.Agent.Numbers.Breaker)):
		return parts.CircuitIsOpen
	}
	return parts.CircuitHalfOpen
}

// Allow implements parts.Breaker. The call that a half-open circuit lets through is given up for lost after a lease: its
// worker is dead then.
func (b Breaker) Allow(tx store.Tx, m parts.Message, tool string, now time.Time) (bool, error) {
	c, known, err := keep.Circuits.Get(tx, m.Tenant, tool)
	if err != nil || !known {
		return err == nil, err
	}
	switch b.Parts.Agent.Breaker.State(c, now) {
	case parts.CircuitClosed:
		return true, nil
	case parts.CircuitIsOpen:
		return false, nil
	}
	if c.Probe.After(now) && c.ProbeBy != m.ID {
		return false, nil
	}
	c.Probe, c.ProbeBy = now.Add(b.Parts.Agent.Numbers.Lease), m.ID
	return true, keep.Circuits.Put(tx, c)
}

// Learn implements parts.Breaker. What is wrong for every run opens the circuit, once; any other failure says nothing of it.
func (b Breaker) Learn(tx store.Tx, m parts.Message, tool string, failure *parts.ToolError, now time.Time) (wasHalfOpen bool, err error) {
	misconfigured := failure != nil && (failure.Kind == parts.Unauthorized || failure.Kind == parts.Gone)
	c, known, err := keep.Circuits.Get(tx, m.Tenant, tool)
	if err != nil || !known && !misconfigured {
		return false, err
	}
	c.Tenant, c.Tool = m.Tenant, tool
	state := b.Parts.Agent.Breaker.State(c, now)
	switch {
	case misconfigured && state == parts.CircuitClosed:
		c.OpenedAt, c.Reason = now, failure.Kind
		c.Alerts++
	case misconfigured && state == parts.CircuitHalfOpen:
		c.OpenedAt, c.Reason, wasHalfOpen = now, failure.Kind, true
	case failure == nil && state != parts.CircuitClosed:
		c.OpenedAt, c.Reason = time.Time{}, ""
	case state == parts.CircuitHalfOpen && c.ProbeBy == m.ID:
	default:
		// Calls that were under way when the circuit opened say nothing new.
		return misconfigured && state == parts.CircuitIsOpen, nil
	}
	c.Probe, c.ProbeBy = time.Time{}, ""
	return wasHalfOpen, keep.Circuits.Put(tx, c)
}
