package verify

import (
	"slices"
	"strings"

	"github.com/wopwitness/wopwitness/reports/bundle"
	"github.com/wopwitness/wopwitness/scenarios/registry"
)

// standing is what the claims are held against, counted once over the rows: a hostile bundle has very many of both.
type standing struct {
	ended   map[string]registry.Result // by requirement id
	passed  map[string]int             // by profile
	strange int                        // passes of legs that this build doesn't know, whatever profile they are of
	blocked bool
}

func (c *check) standing(b bundle.Bundle) standing {
	s := standing{ended: map[string]registry.Result{}, passed: map[string]int{}, blocked: b.Results.Totals.Blocked > 0}
	for _, r := range b.Results.Requirements {
		s.ended[r.ID] = r.Result
		s.blocked = s.blocked || r.Result == registry.Blocked // the rows themselves count, whatever the totals say
		leg, known := c.legs[r.ID]
		switch {
		case r.Result != registry.Pass:
		case known:
			s.passed[leg.Profile]++
		default:
			s.strange++
		}
	}
	return s
}

// profiles holds each claim against the rows of its legs. A row of a leg that this build doesn't know may be of any profile,
// so such rows widen what may be counted, each by one.
func (c *check) profiles(b bundle.Bundle) {
	seen := map[string]bool{}
	var unknown []string
	s := c.standing(b)
	for i, claim := range b.ClaimedProfiles {
		path := element("/claimedProfiles", i)
		if seen[claim.ID] {
			c.refuse(DuplicateProfile, path, "%q is claimed already", claim.ID)
			continue
		}
		seen[claim.ID] = true
		required, known := bundle.Required(claim.ID)
		if !known {
			unknown = append(unknown, claim.ID)
		}
		if passed := s.passed[claim.ID]; known && (claim.WitnessCount < passed || claim.WitnessCount > passed+s.strange) {
			c.refuse(WitnessCountMismatch, pointer(path, "witnessCount"), "%d of its rows passed", passed)
		}
		if claim.Certified {
			c.certified(b, path, claim, required, s)
			if known && claim.EvidenceTier == bundle.TierSteward {
				c.note(NoteSteward, "that a steward ran the suite for %q is the bundle's own word: only independent evidence needs a second signature", claim.ID)
			}
		}
	}
	if len(unknown) > 0 {
		c.note(NoteUnknownProfile, "%d of its profiles are none that this build knows, so what it says of them was not checked: %q", len(unknown),
			unknown[:min(len(unknown), 10)])
	}
}

// certified refuses a certificate that the rows don't carry (evidence contract, dispositions and verification). The rows
// of the profile that this one leans on count like its own.
func (c *check) certified(b bundle.Bundle, path string, claim bundle.Claim, required []registry.LegID, s standing) {
	at := pointer(path, "certified")
	if s.blocked {
		c.refuse(BlockedCertified, at, "%q is certified although something was blocked", claim.ID)
	}
	if len(b.Host.Relaxations) > 0 {
		c.refuse(RelaxedCertified, at, "%q is certified although the operator declared relaxations", claim.ID)
	}
	var failed, skipped, absent []string
	for _, leg := range bundle.Concerned(claim.ID, b.Suite.TargetMajor) {
		switch s.ended[leg.ID.RequirementID()] {
		case registry.Fail:
			failed = append(failed, string(leg.ID))
		case registry.Skipped:
			skipped = append(skipped, string(leg.ID))
		case "":
			absent = append(absent, string(leg.ID))
		}
	}
	if len(skipped) > 0 {
		c.refuse(OptedOutCertified, at, "%q is certified although the operator opted out of %s", claim.ID, strings.Join(skipped, ", "))
	}
	if len(failed) > 0 {
		c.refuse(FailedCertified, at, "%q is certified although these failed: %s", claim.ID, strings.Join(failed, ", "))
	}
	switch {
	case len(absent) > 0 && c.own: // by its own registry, a profile is certified where all of its legs were run
		c.refuse(UnprovenCertified, at, "%q is certified although these legs of its registry were not run: %s", claim.ID, strings.Join(absent, ", "))
	case len(absent) > 0:
		c.note(NoteNotRun, "%q is certified, and these legs that this build knows for it were not run: %s", claim.ID, strings.Join(absent, ", "))
	}
	for _, id := range required {
		leg := c.legs[id.RequirementID()]
		switch {
		case !slices.Contains(leg.Majors, b.Suite.TargetMajor):
			c.refuse(UnprovenCertified, at, "%q is certified for major %d, on which %s is no requirement", claim.ID, b.Suite.TargetMajor, id)
		case s.ended[id.RequirementID()] != registry.Pass:
			c.refuse(UnprovenCertified, at, "%q is certified without a pass of %s", claim.ID, id)
		}
	}
}
