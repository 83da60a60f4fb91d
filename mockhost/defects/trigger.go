package defects

import (
	"bytes"
	"context"
	"encoding/json"

	"github.com/wopwitness/wopwitness/mockhost/parts"
)

// triggerDefects are wrong about the test trigger (RFC 0241).
func triggerDefects() []Defect {
	d := func(name, says string, convicts []string, apply func(*parts.Parts)) Defect {
		return Defect{Info{Name: name, Says: says, RFC: "0241", Convicts: convicts}, wraps(apply)}
	}
	return []Defect{
		d("trigger-body-open", "passes over members of the trigger's body that it doesn't know",
			[]string{"0241.trigger.body-closed"}, bodyOpen),
		d("trigger-wrong-type-taken", "takes anything that isn't ephemeral for durable",
			[]string{"0241.trigger.body-closed"}, wrongTypeTaken),
		d("trigger-unlisted-served", "serves the ephemeral class without listing its type",
			[]string{"0241.trigger.bound-by-listing", "0236.host-event.listed-types"}, unlistedServed),
		d("trigger-listed-missing", "lists both reserved types and has no trigger",
			[]string{"0241.trigger.bound-by-listing"}, listedMissing),
		d("trigger-foreign-workspace", "emits into another tenant's workspace when asked to",
			[]string{"0241.trigger.workspace-scope"}, foreignWorkspace),
		d("trigger-unknown-workspace", "emits into a workspace that doesn't exist",
			[]string{"0241.trigger.workspace-scope"}, unknownWorkspace),
		d("idempotency-ignored", "passes over the Idempotency-Key, and emits again",
			[]string{"0241.trigger.idempotent"}, idempotencyIgnored),
		{Info{
			Name: "idempotency-second-effect", Says: "gives the first answer again, and sends the event again all the same", RFC: "0241",
			Convicts: []string{"0241.trigger.idempotent", legTriggerElsewhere},
		}, idempotencySecondEffect},
		d("idempotency-unmarked", "gives the first answer again without saying that it is a replay",
			[]string{"0241.trigger.idempotent"}, idempotencyUnmarked),
		d("idempotency-body-ignored", "gives the first answer again also to another body",
			[]string{"0241.trigger.idempotent"}, idempotencyBodyIgnored),
	}
}

// open reads a trigger's body as a careless host does.
func open(body []byte) (parts.TriggerRequest, error) {
	var r parts.TriggerRequest
	if err := json.Unmarshal(body, &r); err != nil {
		return r, parts.Invalid("the body is not a trigger request")
	}
	return r, nil
}

func bodyOpen(p *parts.Parts) {
	right := p.Trigger
	p.Trigger = trigger{Trigger: right, decode: func(body []byte) (parts.TriggerRequest, error) {
		r, err := open(body)
		if err != nil {
			return r, err
		}
		closed, err := json.Marshal(r)
		if err != nil {
			return r, err
		}
		return right.Decode(closed)
	}}
}

func wrongTypeTaken(p *parts.Parts) {
	right := p.Trigger
	p.Trigger = trigger{Trigger: right, decode: func(body []byte) (parts.TriggerRequest, error) {
		r, err := right.Decode(body)
		if err == nil {
			return r, nil
		}
		var members map[string]any
		if json.Unmarshal(body, &members) != nil {
			return r, err
		}
		for name := range members {
			if name != "delivery" && name != "workspaceId" {
				return r, err
			}
		}
		if _, isText := members["delivery"].(string); isText {
			return r, err
		}
		return parts.TriggerRequest{Delivery: parts.Durable}, nil
	}}
}

// discovery wraps the host's discovery.
type discovery struct {
	parts.Discovery
	change func(major int, doc map[string]any)
}

func (d discovery) Document(major int) map[string]any {
	doc := d.Discovery.Document(major)
	d.change(major, doc)
	return doc
}

// advertises changes the hostEvents record of the major-2 document.
func advertises(p *parts.Parts, change func(record map[string]any)) {
	p.Discovery = discovery{p.Discovery, func(_ int, doc map[string]any) {
		if record, ok := doc["hostEvents"].(map[string]any); ok {
			change(record)
		}
	}}
}

func unlistedServed(p *parts.Parts) {
	advertises(p, func(record map[string]any) {
		var listed []any
		for _, t := range p.Discovery.Types() {
			if t.Type != parts.TriggeredEphemeral {
				listed = append(listed, map[string]any{"type": t.Type, "delivery": t.Delivery})
			}
		}
		record["types"] = listed
	})
}

func listedMissing(p *parts.Parts) {
	p.Trigger = trigger{Trigger: p.Trigger, served: func() bool { return false }}
}

func foreignWorkspace(p *parts.Parts) {
	right := p.Trigger
	p.Trigger = trigger{Trigger: right, scope: func(pr parts.Principal, workspace string) error {
		if owner, known := p.Directory.WorkspaceOwner(workspace); known {
			pr.Tenant = owner
		}
		return right.Scope(pr, workspace)
	}}
}

func unknownWorkspace(p *parts.Parts) {
	right := p.Trigger
	p.Trigger = trigger{Trigger: right, scope: func(pr parts.Principal, workspace string) error {
		if _, known := p.Directory.WorkspaceOwner(workspace); !known {
			return nil
		}
		return right.Scope(pr, workspace)
	}}
}

// idempotency is a parts.Idempotency that is a function.
type idempotency func(ctx context.Context, p parts.Principal, r parts.Request, effect func(context.Context, parts.Keep) (parts.Answer, error)) (parts.Answer, bool, error)

func (f idempotency) Run(ctx context.Context, p parts.Principal, r parts.Request, effect func(context.Context, parts.Keep) (parts.Answer, error)) (parts.Answer, bool, error) {
	return f(ctx, p, r, effect)
}

func idempotencyIgnored(p *parts.Parts) {
	p.Idempotency = idempotency(func(ctx context.Context, _ parts.Principal, _ parts.Request, effect func(context.Context, parts.Keep) (parts.Answer, error)) (parts.Answer, bool, error) {
		a, err := effect(ctx, nil)
		return a, false, err
	})
}

// idempotencySecondEffect sends the first event to the open streams a second time.
func idempotencySecondEffect() func(*parts.Parts) {
	j, w := &journal{}, newWire()
	return func(p *parts.Parts) {
		p.Log = &wiredLog{p.Log, w}
		j.keep(p)
		replays(p, func(pr parts.Principal, a parts.Answer) {
			e, ok := j.find(func(e entry) bool { return e.event.Tenant == pr.Tenant && bytes.Contains(a.Body, []byte(e.event.ID)) })
			if ok {
				w.send(&parts.Frame{Event: e.event, Bytes: p.Framer.Frame(e.event)}, func(tenant string) bool { return tenant == pr.Tenant })
			}
		})
	}
}

// replays lets again see each answer that is given again.
func replays(p *parts.Parts, again func(pr parts.Principal, a parts.Answer)) {
	right := p.Idempotency
	p.Idempotency = idempotency(func(ctx context.Context, pr parts.Principal, r parts.Request, effect func(context.Context, parts.Keep) (parts.Answer, error)) (parts.Answer, bool, error) {
		a, replayed, err := right.Run(ctx, pr, r, effect)
		if err == nil && replayed {
			again(pr, a)
		}
		return a, replayed, err
	})
}

func idempotencyUnmarked(p *parts.Parts) {
	right := p.Idempotency
	p.Idempotency = idempotency(func(ctx context.Context, pr parts.Principal, r parts.Request, effect func(context.Context, parts.Keep) (parts.Answer, error)) (parts.Answer, bool, error) {
		a, _, err := right.Run(ctx, pr, r, effect)
		return a, false, err
	})
}

func idempotencyBodyIgnored(p *parts.Parts) {
	right := p.Idempotency
	p.Idempotency = idempotency(func(ctx context.Context, pr parts.Principal, r parts.Request, effect func(context.Context, parts.Keep) (parts.Answer, error)) (parts.Answer, bool, error) {
		r.Fingerprint = ""
		return right.Run(ctx, pr, r, effect)
	})
}
