package runner

import (
	"encoding/json"
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/wopwitness/wopwitness/reports/bundle"
	"github.com/wopwitness/wopwitness/reports/ledger"
)

// bundles makes one bundle a major, signed where there is a key.
func (r *live) bundles(l ledger.Ledger, now time.Time) ([]bundle.Bundle, error) {
	o := r.options
	contract := "" // of bundles that nobody keeps
	if !o.Bare {
		var err error
		if contract, err = Contract(); err != nil {
			return nil, err
		}
	}
	bundles := []bundle.Bundle{}
	for _, major := range l.Majors() {
		facts := bundle.Facts{
			Major: major, GeneratedAt: now, SuiteVersion: o.SuiteVersion, ContractSha256: contract,
			HostName: o.HostName, HostVersion: o.HostVersion, HostVendor: o.HostVendor,
			Build: o.Build, Relaxations: o.Relaxations, Incomplete: l.Interrupted, EvidenceTier: o.EvidenceTier,
		}
		if d, ok := r.facts.Discovery[major]; ok && d.Exchange.Response != nil && d.Document != nil {
			facts.DiscoveryURL = strings.TrimSuffix(o.Host.BaseURL, "/") + d.Exchange.Request.Target
			facts.DiscoveryBody = d.Exchange.Response.Body
		}
		b, err := bundle.New(l.Major(major), facts)
		if err != nil {
			return nil, fmt.Errorf("bundle of major %d: %w", major, err)
		}
		if o.Key != nil {
			if err := b.Sign(*o.Key); err != nil {
				return nil, fmt.Errorf("bundle of major %d: %w", major, err)
			}
		}
		bundles = append(bundles, b)
	}
	return bundles, nil
}

func certified(bundles []bundle.Bundle) []string {
	var names []string
	for _, b := range bundles {
		for _, c := range b.ClaimedProfiles {
			if c.Certified {
				names = append(names, fmt.Sprintf("%s (major %d)", c.ID, b.Suite.TargetMajor))
			}
		}
	}
	return names
}

// lacking says why profiles that the host shows are not certified: what a certificate lacks in the rows, a line a profile,
// and where the rows would do that nobody said what was tested. An end before its time says so by itself.
func (r *live) lacking(l ledger.Ledger, bundles []bundle.Bundle, exit int) []string {
	var lines []string
	claimed := false
	for _, b := range bundles {
		for _, c := range b.ClaimedProfiles {
			claimed = true
			lacks := bundle.Lacks(c.ID, l.Major(b.Suite.TargetMajor))
			if len(lacks) > 0 {
				lines = append(lines, "not certified: "+bundle.Shortfall{Profile: c.ID, Major: b.Suite.TargetMajor, Reasons: lacks}.String())
			}
		}
	}
	o := r.options
	switch {
	case !claimed, l.Interrupted, r.problem != nil:
		return nil
	case o.Build == nil && len(o.Legs)+len(o.RFCs) > 0:
		lines = []string{"nothing is certified: that takes --build, and a run that --leg and --rfc don't narrow"}
	case o.Build == nil && exit == ledger.ExitOK:
		lines = append(lines, "nothing is certified: give --build commit:SHA (or image-digest:sha256:…, artifact-sha256:…)")
	}
	if len(o.Relaxations) > 0 {
		lines = append(lines, fmt.Sprintf("nothing is certified: OPENWOP_HOST_RELAXATIONS says that the host was relaxed (%s): run it unrelaxed, without the variable", strings.Join(o.Relaxations, ", ")))
	}
	return lines
}

func printBundles(out io.Writer, bundles []bundle.Bundle) error {
	e := json.NewEncoder(out)
	e.SetEscapeHTML(false)
	e.SetIndent("", "  ")
	if err := e.Encode(map[string][]bundle.Bundle{"bundles": bundles}); err != nil {
		return fmt.Errorf("print bundles: %w", err)
	}
	return nil
}
