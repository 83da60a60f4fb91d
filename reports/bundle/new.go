package bundle

import (
	"bytes"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/wopwitness/wopwitness/reports/ledger"
	"github.com/wopwitness/wopwitness/scenarios/registry"
)

// Facts are what a bundle says beside its rows.
type Facts struct {
	Major           int
	GeneratedAt     time.Time
	SuiteVersion    string
	ContractSha256  string
	HostName        string // "" is taken from the discovery document, then "unknown"
	HostVersion     string
	HostVendor      string
	Build           *Build // nil: the bundle certifies nothing
	Relaxations     []string
	DiscoveryURL    string
	DiscoveryBody   []byte // the document as it was read; empty where none was
	Incomplete      bool   // the run was interrupted: nothing is certified
	SigningKeyKnown string // the key id that will sign, "" where the bundle stays unsigned
	EvidenceTier    string // who ran the suite; "" is TierSelf
}

// New makes the unsigned bundle of one major from its rows. A discovery document that has no canonical form is left
// out, as one that was not read.
func New(rows []ledger.Row, facts Facts) (Bundle, error) {
	b := Bundle{
		BundleVersion: Version,
		GeneratedAt:   facts.GeneratedAt.UTC().Format(time.RFC3339),
		Suite:         Suite{Name: "wopwitness", Version: facts.SuiteVersion, TargetMajor: facts.Major, ContractSha256: facts.ContractSha256},
		Discovery:     discovery(facts),
	}
	b.Host = host(b.Discovery, facts)
	b.Results.Requirements = []registry.Row{}
	for _, r := range rows {
		b.Results.Requirements = append(b.Results.Requirements, r.Row)
		b.AssertionCount += r.Assertions
	}
	slices.SortFunc(b.Results.Requirements, func(x, y registry.Row) int { return strings.Compare(x.ID, y.ID) })
	b.Results.Totals = ledger.Count(rows)
	for _, r := range b.Results.Requirements {
		if r.Result == registry.Pass {
			continue
		}
		if b.Detail == nil {
			b.Detail = &Detail{}
		}
		b.Detail.NonPass = append(b.Detail.NonPass, NonPass{ID: r.ID, Result: r.Result, Reason: r.Detail})
	}
	b.ClaimedProfiles = claims(rows, facts)
	var err error
	if b.WitnessSha256, err = WitnessDigest(b.Results.Requirements, facts.Relaxations); err != nil {
		return Bundle{}, fmt.Errorf("witness digest: %w", err)
	}
	return b, nil
}

func discovery(facts Facts) *Discovery {
	var said struct {
		ProtocolVersions []string `json:"protocolVersions"`
		PreferredVersion string   `json:"preferredVersion"`
	}
	if !bytes.HasPrefix(bytes.TrimSpace(facts.DiscoveryBody), []byte("{")) {
		return nil
	}
	canonical, err := Canonical(facts.DiscoveryBody)
	if err != nil {
		return nil
	}
	// A host may give these members another form; then the bundle has them empty and the document shows what was there.
	if err := json.Unmarshal(canonical, &said); err != nil || said.ProtocolVersions == nil {
		said.ProtocolVersions = []string{}
	}
	return &Discovery{
		URL:              facts.DiscoveryURL,
		Sha256:           hexSum(canonical),
		ProtocolVersions: said.ProtocolVersions,
		PreferredVersion: said.PreferredVersion,
		Document:         canonical,
	}
}

func host(d *Discovery, facts Facts) Host {
	var said struct {
		Implementation struct {
			Name    string `json:"name"`
			Version string `json:"version"`
			Vendor  string `json:"vendor"`
		} `json:"implementation"`
	}
	if d != nil {
		// The operator's word and "unknown" are the fallbacks for whatever does not decode.
		_ = json.Unmarshal(d.Document, &said)
	}
	return Host{
		Name:         firstOf(facts.HostName, said.Implementation.Name, "unknown"),
		Version:      firstOf(facts.HostVersion, said.Implementation.Version, "unknown"),
		Vendor:       firstOf(facts.HostVendor, said.Implementation.Vendor),
		Build:        facts.Build,
		SigningKeyID: facts.SigningKeyKnown,
		Relaxations:  facts.Relaxations,
	}
}

func firstOf(candidates ...string) string {
	for _, c := range candidates {
		if c != "" {
			return c
		}
	}
	return ""
}

// JSON is the bundle as a file: indented, one line end at the end. Digest and signatures are over the canonical form,
// so the indentation is free.
func (b Bundle) JSON() ([]byte, error) {
	var out bytes.Buffer
	e := json.NewEncoder(&out)
	e.SetEscapeHTML(false)
	e.SetIndent("", "  ")
	if err := e.Encode(b); err != nil {
		return nil, fmt.Errorf("encode bundle: %w", err)
	}
	return out.Bytes(), nil
}
