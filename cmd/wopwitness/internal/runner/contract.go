package runner

import (
	"fmt"

	"github.com/wopwitness/wopwitness/fixtures/schema"
	"github.com/wopwitness/wopwitness/reports/bundle"
	"github.com/wopwitness/wopwitness/scenarios/registry"
)

// Contract is the digest of this build's registry and schemas, by which a bundle says what its rows mean.
func Contract() (string, error) {
	schemas, err := schema.Texts()
	if err != nil {
		return "", fmt.Errorf("digest of the contract: %w", err)
	}
	digest, err := bundle.ContractDigest(registry.Legs(), schemas)
	if err != nil {
		return "", fmt.Errorf("digest of the contract: %w", err)
	}
	return digest, nil
}
