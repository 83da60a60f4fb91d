package scenarios

import (
	"context"
	"encoding/json"
	"slices"
	"strings"

	"github.com/wopwitness/wopwitness/scenarios/registry"
	"github.com/wopwitness/wopwitness/seams/cause"
	"github.com/wopwitness/wopwitness/seams/client"
	"github.com/wopwitness/wopwitness/seams/sse"
	"github.com/wopwitness/wopwitness/witness/observe"
)

// tenancy is what is known of the two keys' tenants. It is found out once a run, before anything is said of tenants.
type tenancy struct {
	err     error    // why nothing can be said
	tenants []string // the tenants' ids, where the host shows them
}

// TwoTenants makes sure that the two keys belong to two tenants. A host that leaks between tenants must not look like
// one tenant, nor one tenant with two keys like a leak: so the host is asked in ways that do not depend on delivery
// first. An error ends the leg as blocked.
func (d *Drive) TwoTenants(ctx context.Context) error {
	d.run.tenants.Do(func() { d.run.tenancy = d.findTenancy(ctx) })
	return d.run.tenancy.err
}

// TenantIDs are the tenants' ids, where the host showed them; TwoTenants comes first.
func (d *Drive) TenantIDs() []string { return d.run.tenancy.tenants }

func (d *Drive) findTenancy(ctx context.Context) tenancy {
	same := func(says string) tenancy { return tenancy{err: blocked(registry.SameTenant, "%s", says)} }
	if a, b := d.runOwner(ctx, observe.CredentialA), d.runOwner(ctx, observe.CredentialB); a != "" && b != "" {
		if a == b {
			return same("runs created with --key and with --key-b belong to the same tenant, " + a)
		}
		return tenancy{tenants: []string{a, b}}
	}
	if w := d.run.config.Workspace; w != "" && d.run.listsDurable(d.Major) {
		e := d.Trigger(ctx, cause.TriggerCall{Label: "a foreign workspace", Credential: observe.CredentialB, Delivery: durable, Workspace: w})
		switch e.Answer().Status() {
		case 403, 404:
			return tenancy{}
		}
	}
	if d.behavesAsOne(ctx) {
		return same("each key sees the other's events and resumes at the other's cursors: both belong to one tenant (or the host keeps no tenants apart)")
	}
	return tenancy{}
}

// runOwner is the tenant of a fresh run of the no-op fixture, "" where the host has none or doesn't say.
func (d *Drive) runOwner(ctx context.Context, credential string) string {
	const noop = "conformance-noop"
	// Ids are bound to a tenant from major 2 on; before that a slash in one means nothing.
	if d.Major < 2 || !slices.Contains(d.run.host.Discovery[d.Major].Fixtures(), noop) {
		return ""
	}
	body, err := json.Marshal(map[string]any{"workflowId": noop})
	if err != nil {
		return ""
	}
	x := d.Do(ctx, client.Call{Label: "whose run", Credential: credential, Method: "POST", Path: client.RunsPath(d.Major), Body: body, Major: d.Major,
		Header: []observe.Header{{Name: "Idempotency-Key", Value: UnknownCursor("")}}, Patience: triggerPatience})
	var created struct{ RunID string }
	if x.Response == nil || json.Unmarshal(x.Response.Body, &created) != nil {
		return ""
	}
	tenant, _, bound := strings.Cut(created.RunID, "/")
	if !bound {
		return ""
	}
	return tenant
}

// behavesAsOne says whether the two keys are one tenant by all that they can do: each sees the other's event live, and
// each resumes at the other's cursor.
func (d *Drive) behavesAsOne(ctx context.Context) bool {
	if !d.run.listsDurable(d.Major) {
		return false
	}
	for _, pair := range [][2]string{{observe.CredentialA, observe.CredentialB}, {observe.CredentialB, observe.CredentialA}} {
		if !d.sees(ctx, pair[0], pair[1]) {
			return false
		}
	}
	return true
}

// sees says whether an event of one key reaches the other's live stream and serves there as a cursor.
func (d *Drive) sees(ctx context.Context, from, at string) bool {
	watcher, err := d.Live(ctx, at)
	if err != nil {
		return false
	}
	own, err := d.Live(ctx, from)
	if err != nil {
		return false
	}
	e, err := d.Emit(ctx, own, "whose event", from, durable)
	if err != nil || !watcher.Wait(ctx, d.EphemeralWindow(), Shows(e.EventID)) {
		return false
	}
	if !d.run.strictReplay(d.Major) {
		return true
	}
	return d.opensAt(ctx, at, e.EventID)
}

func (d *Drive) opensAt(ctx context.Context, credential, cursor string) bool {
	var s *sse.Subscription = d.Resume(ctx, "the other's cursor", credential, cursor)
	return s.Opened()
}
