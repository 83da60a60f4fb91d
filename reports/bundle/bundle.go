// Package bundle makes the certification bundle of one protocol major: who was tested by what, the row of each
// requirement, which profiles that certifies, and the digests and signatures that let a stranger check all of it.
//
// It never decides a row and never fetches anything; what it is given about the host is what the run read. Start with
// New, then Sign.
package bundle

import (
	"encoding/json"

	"github.com/wopwitness/wopwitness/reports/ledger"
	"github.com/wopwitness/wopwitness/scenarios/registry"
)

// Version is the bundle's form. It has members of its own, so it is not the published bundle's version.
const Version = "wopwitness-1"

// Bundle is the closed root. Members that are absent are left out, never null.
type Bundle struct {
	BundleVersion     string       `json:"bundleVersion"`
	GeneratedAt       string       `json:"generatedAt"` // RFC 3339, UTC, seconds
	Suite             Suite        `json:"suite"`
	Host              Host         `json:"host"`
	Discovery         *Discovery   `json:"discovery,omitempty"` // absent where no document was read
	ClaimedProfiles   []Claim      `json:"claimedProfiles"`
	Results           Results      `json:"results"`
	WitnessSha256     string       `json:"witnessSha256"`
	AssertionCount    int          `json:"assertionCount"`
	Detail            *Detail      `json:"detail,omitempty"` // present when any row isn't a pass
	Attestation       *Attestation `json:"attestation,omitempty"`
	Signature         *Signature   `json:"signature,omitempty"`
	VerifierSignature *Signature   `json:"verifierSignature,omitempty"`
}

// Suite is what tested.
type Suite struct {
	Name           string `json:"name"`
	Version        string `json:"version"`
	TargetMajor    int    `json:"targetMajor"`
	ContractSha256 string `json:"contractSha256"` // over the canonical registry and schemas
}

// Host is what was tested.
type Host struct {
	Name         string   `json:"name"`
	Version      string   `json:"version"`
	Vendor       string   `json:"vendor,omitempty"`
	Build        *Build   `json:"build,omitempty"`
	SigningKeyID string   `json:"signingKeyId,omitempty"`
	Relaxations  []string `json:"relaxations,omitempty"` // what the operator declared to be relaxed
}

// Discovery is the host's own description of itself as the run read it.
type Discovery struct {
	URL              string          `json:"url"`
	Sha256           string          `json:"sha256"` // over the canonical JSON of Document
	ProtocolVersions []string        `json:"protocolVersions"`
	PreferredVersion string          `json:"preferredVersion"`
	Document         json.RawMessage `json:"document"`
}

// Results are the rows, sorted by id, and how many of each disposition there are.
type Results struct {
	Totals       ledger.Totals  `json:"totals"`
	Requirements []registry.Row `json:"requirements"`
}

// Detail lists the rows that aren't a pass with their reasons.
type Detail struct {
	NonPass []NonPass `json:"nonPass"`
}

// NonPass is one row that isn't a pass.
type NonPass struct {
	ID     string          `json:"id"`
	Result registry.Result `json:"result"`
	Reason string          `json:"reason"`
}

// Attestation signs the four values that the published bundle signs. It leaves much unsigned, so Signature is there too.
type Attestation struct {
	Alg   string   `json:"alg"`
	KeyID string   `json:"keyId"`
	Sig   string   `json:"sig"` // unpadded base64url
	Over  []string `json:"over"`
}

// Signature signs the canonical JSON of the whole bundle without its signature members.
type Signature struct {
	Alg   string `json:"alg"`
	KeyID string `json:"keyId"`
	Sig   string `json:"sig"` // unpadded base64url
}
