package bundle

import (
	"fmt"
	"slices"

	"github.com/wopwitness/wopwitness/reports/ledger"
	"github.com/wopwitness/wopwitness/scenarios/registry"
)

// Lacks says what keeps the rows of one major from certifying the profile, one leg an item, as "0236.ephemeral.no-resume
// failed": what failed first, then what proves nothing and what was never run, and last what was blocked in other
// profiles. It is empty where the rows carry the certificate, and for a profile that this suite does not certify. What
// withholds a certificate whatever the rows say is Facts.Withhold's.
func Lacks(profileID string, rows []ledger.Row) []string {
	if len(rows) == 0 {
		return nil
	}
	for _, p := range profiles() {
		if p.id == profileID {
			return p.lacks(rows, rows[0].Major)
		}
	}
	return nil
}

// Withhold says what keeps anything from being certified whatever the rows say.
func (f Facts) Withhold() []string {
	var reasons []string
	if f.Build == nil {
		reasons = append(reasons, "it is not said which build was tested (--build)")
	}
	if len(f.Relaxations) > 0 {
		reasons = append(reasons, "the operator declared relaxations")
	}
	if f.Incomplete {
		reasons = append(reasons, "the run was interrupted")
	}
	return reasons
}

// Concerned gives the legs on a major whose rows can take the profile's certificate away: its own and those of the
// profile that it leans on. It is empty for a profile that this suite does not certify.
func Concerned(profileID string, major int) []registry.Leg {
	for _, p := range profiles() {
		if p.id == profileID {
			return p.concerned(major)
		}
	}
	return nil
}

func (p profile) concerned(major int) []registry.Leg {
	var legs []registry.Leg
	for _, leg := range registry.Legs() {
		if p.concerns(leg) && slices.Contains(leg.Majors, major) {
			legs = append(legs, leg)
		}
	}
	return legs
}

// lacks holds the rows against what a certificate needs (evidence contract, dispositions).
func (p profile) lacks(rows []ledger.Row, major int) []string {
	var failed, unproven, absent, elsewhere []string
	there := map[registry.LegID]bool{}
	for _, r := range rows {
		there[r.Leg.ID] = true
		required := slices.Contains(p.required, r.Leg.ID)
		switch {
		case !p.concerns(r.Leg):
			if r.Result == registry.Blocked { // with anything blocked nothing certifies
				elsewhere = append(elsewhere, fmt.Sprintf("%s was blocked (%s)", r.Leg.ID, r.Detail))
			}
		case r.Result == registry.Blocked:
			unproven = append(unproven, fmt.Sprintf("%s was blocked (%s)", r.Leg.ID, r.Detail))
		case r.Result == registry.Fail:
			failed = append(failed, fmt.Sprintf("%s failed", r.Leg.ID))
		case r.Result == registry.Skipped:
			unproven = append(unproven, fmt.Sprintf("%s was opted out of", r.Leg.ID))
		case required && r.Result == registry.Inapplicable:
			unproven = append(unproven, fmt.Sprintf("%s did not apply (%s) and must have passed", r.Leg.ID, r.Detail))
		}
	}
	for _, leg := range p.concerned(major) {
		if !there[leg.ID] {
			absent = append(absent, fmt.Sprintf("%s was not run", leg.ID))
		}
	}
	return slices.Concat(failed, unproven, absent, elsewhere)
}
