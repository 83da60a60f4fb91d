package scenarios

import (
	"context"
	"strings"

	"github.com/wopwitness/wopwitness/fixtures/workflows"
	"github.com/wopwitness/wopwitness/scenarios/registry"
	"github.com/wopwitness/wopwitness/seams/cause"
	"github.com/wopwitness/wopwitness/witness/deadletter"
	"github.com/wopwitness/wopwitness/witness/observe"
)

// twoOwners makes sure that a run of the first key is not one of the second key's tenant too. Where ids don't tell, as on
// major 1, it asks in a way that does not depend on what the leg is about: two keys that read each other's runs are
// one tenant's, or belong to a host that keeps no tenants apart, and nothing can be said of either.
func (d *Drive) twoOwners(ctx context.Context, own deadletter.Run) error {
	if err := d.TwoTenants(ctx); err != nil || len(d.TenantIDs()) == 2 {
		return err
	}
	other := d.otherRun(ctx, own)
	if d.Major >= 2 && other != "" {
		a, _, boundA := strings.Cut(own.RunID, "/")
		b, _, boundB := strings.Cut(other, "/")
		if boundA && boundB && a == b {
			return blocked(registry.SameTenant, "runs created with --key and with --key-b belong to the same tenant, %s", a)
		}
		if boundA && boundB {
			return nil
		}
	}
	if cause.ReadRun(ctx, d.Session, observe.CredentialB, own.RunID, d.Major).Status() != 200 {
		return nil
	}
	if other != "" && cause.ReadRun(ctx, d.Session, observe.CredentialA, other, d.Major).Status() != 200 {
		return nil
	}
	return blocked(registry.SameTenant, "each key reads the other's runs: both belong to one tenant (or the host keeps no tenants apart)")
}

// otherRun makes a run of the second key, "" where the host lists no fixture to make one of.
func (d *Drive) otherRun(ctx context.Context, own deadletter.Run) string {
	for _, fixture := range []string{workflows.Noop, own.Workflow} {
		if fixture == "" || !d.seeded(fixture) {
			continue
		}
		made := cause.CreateRun(ctx, d.Session, cause.RunCall{
			Label: "the other tenant's own run", Credential: observe.CredentialB, Workflow: fixture, Major: d.Major, MaxWait: triggerPatience,
		})
		return runIDOf(made[len(made)-1])
	}
	return ""
}
