package verify

import (
	"encoding/json"
	"fmt"

	"github.com/wopwitness/wopwitness/reports/bundle"
)

// Countersign adds the verifier's signature to a bundle that was verified, and gives the new file. It refuses a bundle
// that is wrong in any way but the lack of that signature, one whose own key did not come from outside the bundle, and
// the host's own key: a second signature says that somebody else looked.
func Countersign(raw []byte, key bundle.Key, o Options) ([]byte, Report, error) {
	report := Bundle(raw, o)
	for _, r := range report.Refusals {
		if r.Code != IndependentUnsigned {
			return nil, report, fmt.Errorf("not countersigned: the bundle is refused (%s at %s: %s)", r.Code, r.Path, r.Says)
		}
	}
	if report.Key.Outcome != KeyVerified {
		return nil, report, fmt.Errorf("not countersigned: %s; give the host's key or its discovery document", report.Key.Says)
	}
	var b bundle.Bundle
	if err := json.Unmarshal(raw, &b); err != nil {
		return nil, report, fmt.Errorf("countersign: %w", err)
	}
	if b.VerifierSignature != nil {
		return nil, report, fmt.Errorf("not countersigned: the bundle has a verifier's signature already, under %q", b.VerifierSignature.KeyID)
	}
	if b.CheckSignature(key.Public()) == nil || key.ID == b.Signature.KeyID {
		return nil, report, fmt.Errorf("not countersigned: %q is the host's own key", key.ID)
	}
	if err := b.Countersign(key); err != nil {
		return nil, report, err
	}
	signed, err := b.JSON()
	if err != nil {
		return nil, report, err
	}
	o.VerifierKey = key.Public()
	if report = Bundle(signed, o); len(report.Refusals) > 0 {
		return nil, report, fmt.Errorf("countersign: the result does not verify: %s", report.Refusals[0].Says)
	}
	return signed, report, nil
}
