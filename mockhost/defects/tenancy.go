package defects

import (
	"context"

	"github.com/wopwitness/wopwitness/mockhost/parts"
	"github.com/wopwitness/wopwitness/mockhost/store"
)

// tenancyDefects show events to those whom they aren't for (RFC 0236 and RFC 0250 §D).
func tenancyDefects() []Defect {
	return []Defect{
		{Info{
			Name: "tenant-leak-live", Says: "sends every tenant's durable events to every open stream", RFC: "0236",
			Convicts: []string{"0236.host-event.tenant-isolation", "0250.tenant-backlog"},
		}, tenantLeakLive},
		{Info{
			Name: "tenant-leak-backlog", Says: "replays the events of all tenants that were committed after the cursor", RFC: "0250",
			Convicts: []string{"0250.tenant-backlog"},
		}, remembering(tenantLeakBacklog)},
		{Info{
			Name: "workspace-leak", Says: "shows every workspace's events to the whole tenant", RFC: "0250",
			Convicts: []string{"0250.workspace-backlog"},
		}, wraps(func(p *parts.Parts) { p.Visibility = everyWorkspace{} })},
		{Info{
			Name: "workspace-leak-backlog", Says: "filters workspaces on open streams only, and replays them all", RFC: "0250",
			Convicts: []string{"0250.workspace-backlog"},
		}, wraps(workspaceLeakBacklog)},
		{Info{
			Name: "workspace-ignored", Says: "forgets the workspace of a triggered event, which then belongs to the whole tenant", RFC: "0241",
			Convicts: []string{"0241.trigger.workspace-scope", "0250.workspace-backlog"},
		}, wraps(workspaceIgnored)},
	}
}

type everyWorkspace struct{}

func (everyWorkspace) Sees(parts.Principal, store.Event) bool { return true }

// unfiltered lets a stream see every workspace in its backlog: the hub asks the visibility, which is told apart by the
// principal's workspace "*".
type unfiltered struct{ parts.Visibility }

func (u unfiltered) Sees(p parts.Principal, e store.Event) bool {
	return p.Workspace == "*" || u.Visibility.Sees(p, e)
}

func workspaceLeakBacklog(p *parts.Parts) {
	right := p.Visibility
	p.Visibility = unfiltered{right}
	p.Log = &backlogOfAll{p.Log, right}
}

type backlogOfAll struct {
	parts.Log
	right parts.Visibility
}

func (l *backlogOfAll) Subscribe(ctx context.Context, pr parts.Principal, s parts.Start) (parts.Subscription, error) {
	if !s.Resumed {
		return l.Log.Subscribe(ctx, pr, s)
	}
	all := pr
	all.Workspace = "*"
	sub, err := l.Log.Subscribe(ctx, all, s)
	if err != nil {
		return nil, err
	}
	return &passing{Subscription: sub, pass: func(frames []*parts.Frame) []*parts.Frame {
		return without(frames, func(f *parts.Frame) bool {
			backlog := f.Event.Durable() && f.Event.Seq <= s.Head
			return !backlog && !l.right.Sees(pr, f.Event)
		})
	}}, nil
}

// trigger wraps the host's trigger.
type trigger struct {
	parts.Trigger
	served func() bool
	decode func(body []byte) (parts.TriggerRequest, error)
	scope  func(p parts.Principal, workspace string) error
	draft  func(p parts.Principal, r parts.TriggerRequest) (parts.Draft, error)
}

func (t trigger) Served() bool {
	if t.served != nil {
		return t.served()
	}
	return t.Trigger.Served()
}

func (t trigger) Decode(body []byte) (parts.TriggerRequest, error) {
	if t.decode != nil {
		return t.decode(body)
	}
	return t.Trigger.Decode(body)
}

func (t trigger) Scope(p parts.Principal, workspace string) error {
	if t.scope != nil {
		return t.scope(p, workspace)
	}
	return t.Trigger.Scope(p, workspace)
}

func (t trigger) Draft(p parts.Principal, r parts.TriggerRequest) (parts.Draft, error) {
	if t.draft != nil {
		return t.draft(p, r)
	}
	return t.Trigger.Draft(p, r)
}

func workspaceIgnored(p *parts.Parts) {
	right := p.Trigger
	p.Trigger = trigger{Trigger: right, draft: func(pr parts.Principal, r parts.TriggerRequest) (parts.Draft, error) {
		r.Workspace = ""
		return right.Draft(pr, r)
	}}
}

// tenantLeakLive copies each tenant's durable events to the streams that other tenants have open.
func tenantLeakLive() func(*parts.Parts) {
	w := newWire()
	return func(p *parts.Parts) {
		p.Log = &wiredLog{p.Log, w}
		appended(p, func(_ parts.Principal, e store.Event) {
			if e.Durable() {
				w.send(&parts.Frame{Event: e, Bytes: p.Framer.Frame(e)}, func(tenant string) bool { return tenant != e.Tenant })
			}
		})
	}
}

// tenantLeakBacklog puts others' events into the backlog where they were committed.
func tenantLeakBacklog(p *parts.Parts, j *journal) {
	throughStreams(p, func(pr parts.Principal, s parts.Start) passage {
		log := j.all(func(e entry) bool { return e.event.Durable() })
		begun := false
		return onlyBacklog(s, func(f *parts.Frame) []*parts.Frame {
			var out []*parts.Frame
			for len(log) > 0 {
				e := log[0].event
				own := e.Tenant == pr.Tenant
				if own && e.Seq > f.Event.Seq {
					break
				}
				log = log[1:]
				if begun && !own {
					out = append(out, &parts.Frame{Event: e, Bytes: p.Framer.Frame(e)})
				}
				begun = begun || own && e.Seq >= s.After
				if own && e.Seq == f.Event.Seq {
					break
				}
			}
			return append(out, f)
		})
	})
}
