package defects

import (
	"bytes"
	"context"
	"strings"

	"github.com/wopwitness/wopwitness/mockhost/parts"
	"github.com/wopwitness/wopwitness/mockhost/store"
)

// otherDefects are right about what is mostly looked at, and wrong about the other one: the other tenant, the other class
// of events, the payload (RFC 0241 and RFC 0250 §B, §D).
func otherDefects() []Defect {
	d := func(rfc, name, says string, prepare func() func(*parts.Parts), convicts ...string) Defect {
		return Defect{Info{Name: name, Says: says, RFC: rfc, Convicts: convicts}, prepare}
	}
	return []Defect{
		d("0250", "first-tenant-only", "replays the backlog to its first tenant, and begins live for every other", wraps(firstTenantOnly), "0250.tenant-backlog"),
		d("0250", "tenant-leak-ephemeral", "sends every tenant's ephemeral events to the streams that were resumed", tenantLeakEphemeral, "0250.tenant-backlog"),
		d("0250", "workspace-leak-ephemeral", "shows a workspace's ephemeral events, which it never stores, to the whole tenant", wraps(func(p *parts.Parts) {
			p.Visibility = everyEphemeral{p.Visibility}
		}), "0250.workspace-backlog"),
		d("0250", "oversize-cut", "keeps of a large event the envelope without its payload, and replays that", wraps(func(p *parts.Parts) {
			replayed(p, func(f *parts.Frame) []byte {
				if len(f.Event.Envelope) <= notification {
					return f.Bytes
				}
				short, err := recode(f.Event.Envelope, func(m map[string]any) { m["payload"] = map[string]any{} })
				if err != nil {
					return f.Bytes
				}
				return bytes.Replace(f.Bytes, f.Event.Envelope, short, 1)
			})
		}), "0250.oversize"),
		d("0250", "first-tenant-public", "looks a cursor up among the caller's events and those of its first tenant", remembering(func(p *parts.Parts, j *journal) {
			resumesKnown(p, j, func(pr parts.Principal, e entry) bool { return foreign(pr, e) && e.event.Tenant == firstTenant(p) }, atHead)
		}), "0250.refusal-uniform"),
		d("0250", "removed-until-restart", "notes in the memory of its process what was removed, and shows it again after a restart", wraps(removedUntilRestart), "0250.restart"),
		d("0250", "removed-place-reused", "gives the next event the place of the newest, where that was removed, and tells an open stream nothing", removedPlaceReused, "0250.removed"),
		d("0241", "idempotency-over-tenants", "keeps answers by their key alone, and gives one tenant's to another", wraps(idempotencyOverTenants), "0241.trigger.idempotent"),
		d("0241", "idempotency-durable-only", "looks for the event of a key that it has seen, and sends an ephemeral one again since it finds none", wraps(idempotencyDurableOnly), "0241.trigger.idempotent"),
	}
}

// firstTenant is the one that such a host's directory names first.
func firstTenant(p *parts.Parts) string { return p.Directory.Tenants()[0] }

func firstTenantOnly(p *parts.Parts) {
	throughStreams(p, func(pr parts.Principal, s parts.Start) passage {
		if pr.Tenant == firstTenant(p) {
			return nil
		}
		return onlyBacklog(s, func(*parts.Frame) []*parts.Frame { return nil })
	})
}

func tenantLeakEphemeral() func(*parts.Parts) {
	w := newWire()
	return func(p *parts.Parts) {
		p.Log = &resumedWire{wiredLog{p.Log, w}}
		appended(p, func(_ parts.Principal, e store.Event) {
			if !e.Durable() {
				w.send(&parts.Frame{Event: e, Bytes: p.Framer.Frame(e)}, func(tenant string) bool { return tenant != e.Tenant })
			}
		})
	}
}

// resumedWire reaches the resumed streams.
type resumedWire struct{ wiredLog }

func (l *resumedWire) Subscribe(ctx context.Context, pr parts.Principal, s parts.Start) (parts.Subscription, error) {
	if !s.Resumed {
		return l.Log.Subscribe(ctx, pr, s)
	}
	return l.wiredLog.Subscribe(ctx, pr, s)
}

type everyEphemeral struct{ parts.Visibility }

func (v everyEphemeral) Sees(p parts.Principal, e store.Event) bool {
	return !e.Durable() || v.Visibility.Sees(p, e)
}

func removedUntilRestart(p *parts.Parts) {
	log := &hidingLog{Log: p.Log, hidden: map[string]bool{}}
	p.Log = log
	throughStreams(p, func(parts.Principal, parts.Start) passage {
		return func(frames []*parts.Frame) []*parts.Frame {
			return without(frames, func(f *parts.Frame) bool {
				log.mu.Lock()
				defer log.mu.Unlock()
				return log.hidden[f.Event.ID]
			})
		}
	})
}

// removedPlaceReused keeps from the streams that are open the event after a removal of the newest one: their place is
// its place.
func removedPlaceReused() func(*parts.Parts) {
	reused := newNoted() // ids
	return func(p *parts.Parts) {
		newestGone := newNoted() // tenants
		removed(p, func(right parts.Log, ctx context.Context, pr parts.Principal, id string) (bool, error) {
			e, found, err := right.Find(ctx, pr, id)
			if err != nil || !found {
				return false, err
			}
			head, err := right.Head(ctx, pr)
			if err == nil && head == e.Seq {
				newestGone.add(pr.Tenant)
			}
			if err != nil {
				return false, err
			}
			return right.Remove(ctx, pr, id)
		})
		p.Log = &reusingLog{p.Log, newestGone, reused}
		throughStreams(p, func(_ parts.Principal, s parts.Start) passage {
			return func(frames []*parts.Frame) []*parts.Frame {
				return without(frames, func(f *parts.Frame) bool { return f.Event.Seq > s.Head && reused.has(f.Event.ID) })
			}
		})
	}
}

type reusingLog struct {
	parts.Log
	newestGone, reused *noted
}

func (l *reusingLog) Append(ctx context.Context, pr parts.Principal, d parts.Draft, also func(store.Tx, store.Event) error) (store.Event, error) {
	if d.Delivery != parts.Durable || !l.newestGone.take(pr.Tenant) {
		return l.Log.Append(ctx, pr, d, also)
	}
	return l.Log.Append(ctx, pr, d, func(tx store.Tx, e store.Event) error {
		l.reused.add(e.ID)
		if also != nil {
			return also(tx, e)
		}
		return nil
	})
}

// idempotencyOverTenants keeps every answer under the first tenant.
func idempotencyOverTenants(p *parts.Parts) {
	right := p.Idempotency
	p.Idempotency = idempotency(func(ctx context.Context, pr parts.Principal, r parts.Request, effect func(context.Context, parts.Keep) (parts.Answer, error)) (parts.Answer, bool, error) {
		pr.Tenant = firstTenant(p)
		return right.Run(ctx, pr, r, effect)
	})
}

func idempotencyDurableOnly(p *parts.Parts) {
	right := p.Idempotency
	p.Idempotency = idempotency(func(ctx context.Context, pr parts.Principal, r parts.Request, effect func(context.Context, parts.Keep) (parts.Answer, error)) (parts.Answer, bool, error) {
		a, replayed, err := right.Run(ctx, pr, r, effect)
		if err == nil && replayed && strings.Contains(r.Fingerprint, parts.Ephemeral) {
			a, err = effect(ctx, nil)
			return a, false, err
		}
		return a, replayed, err
	})
}
