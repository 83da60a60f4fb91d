package defects

import (
	"context"
	"slices"
	"strings"

	"github.com/wopwitness/wopwitness/mockhost/parts"
	"github.com/wopwitness/wopwitness/mockhost/store"
)

// deadLetterSinks are wrong about the sink (RFC 0053 §C.1, and its owner).
func deadLetterSinks() []Defect {
	entry := func(name, says string, change func(m members)) Defect {
		return deadLetter(name, says, func(p *parts.Parts) {
			showsEntries(p, func(_ int, _ store.DeadLetter, m members) { change(m) })
		}, legInspectable)
	}
	return []Defect{
		deadLetter("sink-page-skips", "begins a page of the sink one entry behind the one that the page before ended with", func(p *parts.Parts) {
			right := p.Sink
			p.Sink = sink{right, nil, func(ctx context.Context, pr parts.Principal, after string, limit int) ([]store.DeadLetter, error) {
				found, err := right.List(ctx, pr, after, limit)
				if after != "" && len(found) > 0 {
					found = found[1:]
				}
				return found, err
			}}
		}, legInspectable),
		deadLetter("sink-cursor-foreign", "takes from a cursor of the sink whose entries they are", func(p *parts.Parts) {
			right := p.Sink
			p.Sink = sink{right, nil, func(ctx context.Context, pr parts.Principal, after string, limit int) ([]store.DeadLetter, error) {
				for _, tenant := range p.Directory.Tenants() {
					if _, found, err := p.Runs.Find(ctx, parts.Principal{Tenant: tenant}, after); err != nil {
						return nil, err
					} else if found {
						pr.Tenant = tenant
					}
				}
				return right.List(ctx, pr, after, limit)
			}}
		}, legScoped),
		deadLetter("sink-forgets", "tells of a dead run, and puts nothing into the sink", func(p *parts.Parts) {
			p.Sink = sink{p.Sink, func(store.Tx, store.DeadLetter) error { return nil }, nil}
		}, legInspectable).silent(),
		deadLetter("sink-late", "shows an entry of the sink once the next one has come", func(p *parts.Parts) {
			right := p.Sink
			p.Sink = sink{right, nil, func(ctx context.Context, pr parts.Principal, after string, limit int) ([]store.DeadLetter, error) {
				found, err := right.List(ctx, pr, after, limit)
				if len(found) > 0 {
					found = found[1:] // the newest is written when the next one comes
				}
				return found, err
			}}
		}, legInspectable).silent(),
		entry("sink-no-attempts", "doesn't say in the sink how often it tried", func(m members) { delete(m, "attempts") }),
		entry("sink-no-reason", "doesn't say in the sink why the run died", func(m members) { delete(m, "reason") }),
		entry("sink-no-expiry", "doesn't say in the sink until when the run is there", func(m members) { delete(m, "expiresAt") }),
		entry("sink-when-as-number", "says in the sink when the run died as a number", func(m members) { m["deadLetteredAt"] = 1893553445 }),
		deadLetter("sink-shows-everyone", "shows every tenant's entries to every tenant", func(p *parts.Parts) {
			right := p.Sink
			p.Sink = sink{right, nil, func(ctx context.Context, pr parts.Principal, after string, limit int) ([]store.DeadLetter, error) {
				var all []store.DeadLetter
				for _, tenant := range p.Directory.Tenants() {
					found, err := right.List(ctx, parts.Principal{Tenant: tenant, Workspace: pr.Workspace}, after, limit)
					if err != nil {
						return nil, err
					}
					all = append(all, found...)
				}
				slices.SortFunc(all, func(a, b store.DeadLetter) int { return strings.Compare(b.Run, a.Run) })
				return all[:min(len(all), limit)], nil
			}}
		}, legScoped),
	}
}

// sink wraps the sink; a nil function leaves the right one's answer.
type sink struct {
	parts.Sink
	put  func(tx store.Tx, d store.DeadLetter) error
	list func(ctx context.Context, p parts.Principal, after string, limit int) ([]store.DeadLetter, error)
}

func (s sink) Put(tx store.Tx, d store.DeadLetter) error {
	if s.put != nil {
		return s.put(tx, d)
	}
	return s.Sink.Put(tx, d)
}

func (s sink) List(ctx context.Context, p parts.Principal, after string, limit int) ([]store.DeadLetter, error) {
	if s.list != nil {
		return s.list(ctx, p, after, limit)
	}
	return s.Sink.List(ctx, p, after, limit)
}
