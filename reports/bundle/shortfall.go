package bundle

import (
	"fmt"
	"slices"
	"strings"

	"github.com/wopwitness/wopwitness/reports/ledger"
)

// Shortfall is one profile that the host shows and that is not certified, and everything that keeps it from being so.
type Shortfall struct {
	Profile string
	Major   int
	Reasons []string
}

// mostReasons keeps a line short; the rows have all of them.
const mostReasons = 6

// String is the shortfall as a line: the profile, its major and the first reasons.
func (s Shortfall) String() string {
	shown := s.Reasons[:min(len(s.Reasons), mostReasons)]
	text := fmt.Sprintf("%s (major %d): %s", s.Profile, s.Major, strings.Join(shown, "; "))
	if more := len(s.Reasons) - len(shown); more > 0 {
		text += fmt.Sprintf("; and %d more", more)
	}
	return text
}

// Shortfalls says of a bundle's claims which are not certified and why. rows are those that the bundle was made from.
func (b Bundle) Shortfalls(rows []ledger.Row, incomplete bool) []Shortfall {
	var short []Shortfall
	withheld := Facts{Build: b.Host.Build, Relaxations: b.Host.Relaxations, Incomplete: incomplete}.Withhold()
	for _, c := range b.ClaimedProfiles {
		if !c.Certified {
			short = append(short, Shortfall{Profile: c.ID, Major: b.Suite.TargetMajor, Reasons: slices.Concat(withheld, Lacks(c.ID, rows))})
		}
	}
	return short
}
