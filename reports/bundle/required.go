package bundle

import (
	"slices"

	"github.com/wopwitness/wopwitness/scenarios/registry"
)

// Required gives the legs without whose pass the profile is never certified; ok is false for a profile that this suite
// does not certify.
func Required(profileID string) (legs []registry.LegID, ok bool) {
	for _, p := range profiles() {
		if p.id == profileID {
			return slices.Clone(p.required), true
		}
	}
	return nil, false
}

// Attested gives the names of the four values that an attestation is over, in their order.
func Attested() []string { return attested() }
