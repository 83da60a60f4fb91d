package scenarios

import (
	"slices"

	"github.com/wopwitness/wopwitness/scenarios/registry"
	"github.com/wopwitness/wopwitness/seams/client"
)

// gate tests what must be true of the host, then what the operator must have supplied. Facts about the host come first,
// so that a row describes the host as long as it truthfully can.
func (r *run) gate(c registry.Case) error {
	if !slices.Contains(r.host.Majors, c.Major) {
		return r.notOffered(registry.NotAdvertised, "the host does not serve major %d", c.Major)
	}
	for _, g := range c.Leg.Gates {
		if err := r.opens(g, c.Major); err != nil {
			return err
		}
	}
	for _, n := range c.Leg.Needs {
		if err := r.supplied(n); err != nil {
			return err
		}
	}
	return nil
}

func (r *run) opens(g registry.Gate, major int) error {
	d := r.host.Discovery[major]
	events, advertised := d.HostEvents()
	switch g {
	case registry.GateHostEvents:
		if !advertised {
			return r.notOffered(registry.NotAdvertised, "discovery has no hostEvents record")
		}
	case registry.GateReplay:
		if !events.ReplayPresent {
			return r.notOffered(registry.NotAdvertised, "hostEvents has no replay facet")
		}
	case registry.GateTriggerDurable:
		if !events.Lists(typeDurable) {
			return r.notOffered(registry.ClassNotListed, "hostEvents.types does not list %s", typeDurable)
		}
	case registry.GateTriggerEphemeral:
		if !events.Lists(typeEphemeral) {
			return r.notOffered(registry.ClassNotListed, "hostEvents.types does not list %s", typeEphemeral)
		}
	case registry.GateTrigger:
		if !events.Lists(typeDurable) && !events.Lists(typeEphemeral) {
			return r.notOffered(registry.ClassNotListed, "hostEvents.types lists neither %s nor %s", typeDurable, typeEphemeral)
		}
	case registry.GateDeadLetter:
		family, listed := d.DeadLetter()
		switch {
		case !listed:
			return r.notOffered(registry.NotAdvertised, "discovery has no deadLetter family")
		case !family.Supported:
			return r.notOffered(registry.NotAdvertised, "discovery says that dead-lettering is not supported")
		}
	case registry.GateAgentDLQ:
		// An extension is nobody's duty, so a host without it isn't convicted in strict mode either.
		if _, named := d.AgentDLQ(); !named {
			return inapplicable(registry.NotAdvertised, "discovery has no extension %q", client.AgentDLQExtension)
		}
	default:
		return blocked(registry.Unreadable, "the registry names a gate that the suite does not know: %s", g)
	}
	return nil
}

// The reserved types of the trigger (RFC 0241).
const (
	typeDurable   = "host-test.durable-triggered"
	typeEphemeral = "host-test.ephemeral-triggered"
)

// notOffered is inapplicable, and in strict mode a failure: a host that wants the certificate has to offer it.
func (r *run) notOffered(reason registry.Reason, format string, args ...any) error {
	err := inapplicable(reason, format, args...)
	if s, ok := err.(*stop); ok && r.config.Strict { //nolint:errorlint // made on the line above
		s.Result = registry.Fail
	}
	return err
}

func (r *run) supplied(n registry.Need) error {
	c := r.config
	switch n {
	case registry.NeedSecondTenant:
		switch {
		case r.host.KeyB != nil:
			return blocked(r.host.KeyB.Reason, "%s", r.host.KeyB.Says)
		case c.KeyB == "":
			return inapplicable(registry.NoCause, "no key of a second tenant was given (--key-b or OPENWOP_TEST_TENANT_B_API_KEY)")
		case c.KeyB == c.KeyA:
			return blocked(registry.SameTenant, "--key and --key-b are the same key; the second must belong to another tenant")
		}
	case registry.NeedLowScope:
		if c.KeyLow == "" {
			return inapplicable(registry.NoCause, "no key without runs:read was given (--key-low or OPENWOP_TEST_LOW_SCOPE_KEY)")
		}
	case registry.NeedWorkspace:
		if c.Workspace == "" || c.KeyWS == "" {
			return inapplicable(registry.NoCause, "no workspace with a key bound to it was given (--workspace and --key-ws)")
		}
	case registry.NeedPeer:
		if c.PeerURL == "" {
			return inapplicable(registry.NoCause, "no second instance was given (--peer-url)")
		}
	case registry.NeedClock:
		if c.NoClock {
			return inapplicable(registry.NoCause, "the operator forbade moving the clock (--no-clock)")
		}
	case registry.NeedEmitSeam, registry.NeedRemoveSeam, registry.NeedEntriesSeam, registry.NeedRestart:
		// Whether a seam is mounted shows when it is called.
	default:
		return blocked(registry.Unreadable, "the registry names a need that the suite does not know: %s", n)
	}
	return nil
}

func (r *run) optedOut(l registry.Leg) bool {
	return slices.ContainsFunc(r.config.OptedOut, func(name string) bool {
		return registry.Covers(name, l)
	})
}

func (r *run) strictReplay(major int) bool {
	events, ok := r.host.Discovery[major].HostEvents()
	return ok && events.ReplayPresent
}

func (r *run) listsDurable(major int) bool {
	events, ok := r.host.Discovery[major].HostEvents()
	return ok && events.Lists(typeDurable)
}
