package verify_test

import (
	"crypto/sha256"
	"encoding/hex"

	"github.com/wopwitness/wopwitness/reports/bundle"
)

// sha is the digest of the canonical form of JSON, as the evidence contract has it for rows and documents.
func sha(raw []byte) string {
	canonical, err := bundle.Canonical(raw)
	if err != nil {
		return err.Error()
	}
	sum := sha256.Sum256(canonical)
	return hex.EncodeToString(sum[:])
}
