package scenarios

import (
	"context"

	"github.com/wopwitness/wopwitness/scenarios/registry"
	"github.com/wopwitness/wopwitness/seams/cause"
	"github.com/wopwitness/wopwitness/seams/sse"
	"github.com/wopwitness/wopwitness/witness/hostevents"
	"github.com/wopwitness/wopwitness/witness/observe"
)

// tenantBacklog drives 0250.tenant-backlog: the second tenant's events between the first one's, before and after the
// first one resumes; and then the second one resumes at its own.
func tenantBacklog(ctx context.Context, d *Drive) (any, error) {
	if err := d.TwoTenants(ctx); err != nil {
		return nil, err
	}
	o, err := d.isolation(ctx, observe.CredentialB, func(observer *sse.Subscription, label string) (observe.Emit, error) {
		return d.Emit(ctx, observer, label, observe.CredentialB, durable)
	}, cause.TriggerCall{Credential: observe.CredentialB})
	if err != nil {
		return nil, err
	}
	d.resumeWithin(ctx, &o, observe.CredentialB, observe.CredentialB)
	return o, nil
}

// resumeWithin resumes at the first of their events by a key that they are for. Fillers, where some are needed, are of
// the other key's tenant.
func (d *Drive) resumeWithin(ctx context.Context, o *hostevents.Isolation, credential, fillers string) {
	s := d.Resume(ctx, "resumed within", credential, o.Theirs[0].EventID)
	if s.Opened() {
		d.readOut(ctx, s, fillers, o.Theirs[1:])
	}
	s.Close()
	within := s.Record()
	o.Within = &within
}

// workspaceBacklog drives 0250.workspace-backlog: events of the operator's workspace between others of the same tenant,
// read with a key that is bound to no workspace.
func workspaceBacklog(ctx context.Context, d *Drive) (any, error) {
	c := d.Config()
	if c.KeyA == c.KeyWS {
		return nil, inapplicable(registry.NoCause, "--key and --key-ws are the same key; --key must not be bound to the workspace")
	}
	if bound, err := d.boundTo(ctx, c.Workspace); err != nil || bound {
		if err == nil {
			err = inapplicable(registry.NoCause, "--key is bound to workspace %s itself, so its events are for that key", c.Workspace)
		}
		return nil, err
	}
	o, err := d.isolation(ctx, observe.CredentialWorkspace, func(observer *sse.Subscription, label string) (observe.Emit, error) {
		return d.emitWithin(ctx, observer, label)
	}, cause.TriggerCall{Credential: observe.CredentialWorkspace, Workspace: c.Workspace})
	if err != nil {
		return nil, err
	}
	d.workspaceCursors(ctx, &o)
	return o, nil
}

// workspaceCursors resumes at the workspace's first event, by the key that is bound to it, and then by the one that isn't.
func (d *Drive) workspaceCursors(ctx context.Context, o *hostevents.Isolation) {
	first := o.Theirs[0].EventID
	d.resumeWithin(ctx, o, observe.CredentialWorkspace, observe.CredentialA)
	unknown := d.Refusal(ctx, "unknown", observe.CredentialA, UnknownCursor(first))
	invisible := d.Refusal(ctx, "invisible", observe.CredentialA, first)
	o.Unknown, o.Invisible = &unknown, &invisible
}

// boundTo says whether what the first key emits without naming a workspace belongs to that workspace all the same.
func (d *Drive) boundTo(ctx context.Context, workspace string) (bool, error) {
	observer, emits, err := d.backlog(ctx, "whose workspace")
	if err != nil {
		return false, err
	}
	defer observer.Close()
	for _, f := range observer.Frames() {
		if e, ok := hostevents.ParseEnvelope(f.Data); ok && e.EventID == emits[0].EventID {
			return e.WorkspaceID != nil && *e.WorkspaceID == workspace, nil
		}
	}
	return false, nil
}

// emitWithin emits one event of the operator's workspace with the key bound to it. That key may lack the trigger's scope:
// then the tenant's other key names the workspace.
func (d *Drive) emitWithin(ctx context.Context, observer *sse.Subscription, label string) (observe.Emit, error) {
	call := cause.TriggerCall{Label: label, Credential: observe.CredentialWorkspace, Delivery: durable, Workspace: d.Config().Workspace}
	e := d.Trigger(ctx, call)
	if e.EventID == "" {
		call.Credential = observe.CredentialA
		e = d.Trigger(ctx, call)
	}
	switch st := e.Answer().Status(); {
	case st == 403 || st == 404:
		return e, inapplicable(registry.NoCause, "neither --key-ws nor --key may emit into --workspace %s (the trigger answered %d)", call.Workspace, st)
	case e.EventID == "":
		return e, blocked(registry.UnexpectedAnswer, "the trigger answered %d for --workspace %s", st, call.Workspace)
	case !d.Await(ctx, observer, observe.CredentialA, Shows(e.EventID)):
		return e, blocked(registry.Timeout, "the trigger accepted %s in workspace %s, and the stream of --key-ws did not show it within %s; %s",
			label, call.Workspace, d.run.config.eventTimeout(), arrived(observer))
	}
	return e, nil
}

// isolation emits own and other events in turn, resumes at the first own one in the middle, and ends with an own one.
// passing is the call for an ephemeral event of theirs, without a class.
func (d *Drive) isolation(ctx context.Context, theirKey string, theirs func(observer *sse.Subscription, label string) (observe.Emit, error), passing cause.TriggerCall) (o hostevents.Isolation, err error) {
	other, err := d.Live(ctx, theirKey)
	if err != nil {
		return o, err
	}
	observer, own, err := d.backlog(ctx, "A1")
	if err != nil {
		return o, err
	}
	o = hostevents.Isolation{Reading: d.reading(), Own: own, Cursor: "A1"}
	both := func(their, mine string) error {
		e, err := theirs(other, their)
		if err != nil {
			return err
		}
		o.Theirs = append(o.Theirs, e)
		more, err := d.emitEach(ctx, observer, observe.CredentialA, mine)
		o.Own = append(o.Own, more...)
		return err
	}
	if err := both("B1", "A2"); err != nil {
		return o, err
	}
	resumed := d.Resume(ctx, "resumed at A1", observe.CredentialA, own[0].EventID)
	if d.lists(typeEphemeral) {
		passing.Label, passing.Delivery = "BE", ephemeral
		if e := d.Trigger(ctx, passing); e.EventID != "" {
			o.Passing = []observe.Emit{e}
			other.Wait(ctx, d.EphemeralWindow(), Shows(e.EventID)) // it may lawfully be lost, and is then no evidence
		}
	}
	for _, pair := range [][2]string{{"B2", "A3"}, {"B3", "A4"}} {
		if err := both(pair[0], pair[1]); err != nil {
			return o, err
		}
	}
	if resumed.Opened() {
		d.Await(ctx, resumed, observe.CredentialA, Shows(last(o.Own).EventID))
	}
	d.Await(ctx, observer, observe.CredentialA, Shows(last(o.Own).EventID))
	o.Window = d.lingerAll(ctx, observer) // in its window all three are read on
	for _, s := range []*sse.Subscription{resumed, observer, other} {
		s.Close()
	}
	o.Resumed, o.Observer, o.Other = resumed.Record(), observer.Record(), other.Record()
	return o, nil
}
