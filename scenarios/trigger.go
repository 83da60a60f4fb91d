package scenarios

import (
	"context"
	"slices"
	"strings"

	"github.com/wopwitness/wopwitness/seams/cause"
	"github.com/wopwitness/wopwitness/witness/hostevents"
	"github.com/wopwitness/wopwitness/witness/observe"
)

// shape drives 0250.shape: the vectors need no host, and its own document is read once more.
func shape(ctx context.Context, d *Drive) (any, error) {
	return hostevents.Advertisement{Discovery: d.Discover(ctx, d.Major).Exchange}, nil
}

// boundByListing drives 0241.trigger.bound-by-listing: both classes, whatever is listed.
func boundByListing(ctx context.Context, d *Drive) (any, error) {
	return hostevents.Listing{
		Discovery: d.Discover(ctx, d.Major).Exchange,
		Durable:   d.Trigger(ctx, cause.TriggerCall{Label: "durable", Credential: observe.CredentialA, Delivery: durable}),
		Ephemeral: d.Trigger(ctx, cause.TriggerCall{Label: "ephemeral", Credential: observe.CredentialA, Delivery: ephemeral}),
	}, nil
}

// bodyClosed drives 0241.trigger.body-closed.
func bodyClosed(ctx context.Context, d *Drive) (any, error) {
	delivery := d.classes()[0]
	o := hostevents.ClosedBody{Control: d.Trigger(ctx, cause.TriggerCall{Label: "control", Credential: observe.CredentialA, Delivery: delivery})}
	for _, b := range hostevents.RefusedBodies(delivery) {
		o.Refused = append(o.Refused, d.Trigger(ctx, cause.TriggerCall{
			Label: b.Name, Credential: observe.CredentialA, Delivery: delivery, Body: []byte(b.Body),
		}))
	}
	return o, nil
}

// workspaceScope drives 0241.trigger.workspace-scope: a workspace that does not exist, and where the operator named one,
// that one for the second tenant and for its own.
func workspaceScope(ctx context.Context, d *Drive) (any, error) {
	delivery := d.classes()[0]
	call := func(label, credential, workspace string) observe.Emit {
		return d.Trigger(ctx, cause.TriggerCall{Label: label, Credential: credential, Delivery: delivery, Workspace: workspace})
	}
	o := hostevents.WorkspaceScope{
		Reading: d.reading(),
		Control: call("control", observe.CredentialA, ""),
		Unknown: call("unknown workspace", observe.CredentialA, "wopwitness-"+strings.ToLower(UnknownCursor(""))),
	}
	c := d.Config()
	if c.Workspace == "" {
		return o, nil
	}
	if c.KeyB != "" && c.KeyB != c.KeyA && d.TwoTenants(ctx) == nil {
		control, foreign := call("foreign control", observe.CredentialB, ""), call("foreign workspace", observe.CredentialB, c.Workspace)
		o.ForeignControl, o.Foreign = &control, &foreign
	}
	if c.KeyWS != "" {
		d.ownWorkspace(ctx, &o, call)
	}
	return o, nil
}

// ownWorkspace emits in the operator's workspace, with the key bound to it or, where that may not trigger, the tenant's.
func (d *Drive) ownWorkspace(ctx context.Context, o *hostevents.WorkspaceScope, call func(label, credential, workspace string) observe.Emit) {
	bound, err := d.Live(ctx, observe.CredentialWorkspace)
	if err != nil {
		return
	}
	own := call("own workspace", observe.CredentialWorkspace, d.Config().Workspace)
	if own.EventID == "" {
		own = call("own workspace", observe.CredentialA, d.Config().Workspace)
	}
	if own.EventID != "" {
		d.Await(ctx, bound, observe.CredentialWorkspace, Shows(own.EventID))
	}
	bound.Close()
	record := bound.Record()
	o.Own, o.OwnStream = &own, &record
}

// repetitions is how often the request is sent again: enough that events nobody named tell their cause.
const repetitions = 3

// idempotent drives 0241.trigger.idempotent: one request, again once its event was seen; then another body under its key,
// the second tenant's own request under it, one for an ephemeral event twice, and a sentinel.
func idempotent(ctx context.Context, d *Drive) (any, error) {
	observer, err := d.Live(ctx, observe.CredentialA)
	if err != nil {
		return nil, err
	}
	key := UnknownCursor("")
	call := cause.TriggerCall{Label: "first", Credential: observe.CredentialA, Delivery: durable, IdempotencyKey: key}
	o := hostevents.Once{Reading: d.reading()}
	if o.First, err = d.EmitCall(ctx, observer, call); err != nil {
		return nil, err
	}
	for range repetitions {
		call.Label = "again"
		o.Again = append(o.Again, d.Trigger(ctx, call))
	}
	if slices.Contains(d.classes(), ephemeral) {
		call.Label, call.Delivery = "other body", ephemeral
		other := d.Trigger(ctx, call)
		o.Other = &other
		call.Label, call.IdempotencyKey = "ephemeral", UnknownCursor("")
		first := d.Trigger(ctx, call)
		call.Label = "ephemeral, again"
		again := d.Trigger(ctx, call)
		o.Ephemeral = []observe.Emit{first, again}
	}
	if d.Config().KeyB != "" && d.TwoTenants(ctx) == nil {
		foreign := d.Trigger(ctx, cause.TriggerCall{Label: "the other tenant's, under the same key", Credential: observe.CredentialB,
			Delivery: durable, IdempotencyKey: key})
		o.Foreign = &foreign
	}
	if o.Sentinel, err = d.Emit(ctx, observer, "S", observe.CredentialA, durable); err != nil {
		return nil, err
	}
	o.Window = d.lingerAll(ctx, observer)
	observer.Close()
	o.Observer, o.Pushed = observer.Record(), int(d.fillers.Load())
	return o, nil
}

// classes are those whose reserved type the host lists, durable first.
func (d *Drive) classes() []string {
	events, _ := d.run.host.Discovery[d.Major].HostEvents()
	var classes []string
	if events.Lists(typeDurable) {
		classes = append(classes, durable)
	}
	if events.Lists(typeEphemeral) {
		classes = append(classes, ephemeral)
	}
	return classes
}
