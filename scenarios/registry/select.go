package registry

import (
	"cmp"
	"fmt"
	"maps"
	"path"
	"slices"
	"strings"
)

// Case is one leg on one major: one row of that major's bundle.
type Case struct {
	Leg   Leg `json:"leg"`
	Major int `json:"major"`
}

// Select gives the cases of the legs that match any of the globs (all where there are none) and are of any of the RFCs
// (all where there are none), on the majors given, legs that run last at the end. A glob or an RFC that names no leg is
// an error that offers the names that are near; so is a selection that is valid and empty for want of a served major — that
// one is returned as no cases and no error, since it is a fact about the host.
func Select(globs, rfcs []string, majors []int) ([]Case, error) {
	legs := Legs()
	for _, g := range globs {
		if _, err := path.Match(g, ""); err != nil {
			return nil, fmt.Errorf("--leg %q is not a valid pattern: %w", g, err)
		}
		if !slices.ContainsFunc(legs, func(l Leg) bool { return MatchLeg(g, l.ID) }) {
			return nil, fmt.Errorf("--leg %q matches no leg%s (wopwitness legs lists them all)", g, Nearest(g, legIDs(legs)))
		}
	}
	for _, r := range rfcs {
		if !slices.ContainsFunc(legs, func(l Leg) bool { return l.RFC == r }) {
			return nil, fmt.Errorf("--rfc %q has no legs%s (wopwitness legs lists them all)", r, Nearest(r, rfcNames(legs)))
		}
	}
	var first, last []Case
	for _, l := range legs {
		if len(rfcs) > 0 && !slices.Contains(rfcs, l.RFC) {
			continue
		}
		if len(globs) > 0 && !slices.ContainsFunc(globs, func(g string) bool { return MatchLeg(g, l.ID) }) {
			continue
		}
		for _, m := range l.on(majors) {
			if l.Last {
				last = append(last, Case{Leg: l, Major: m})
			} else {
				first = append(first, Case{Leg: l, Major: m})
			}
		}
	}
	return append(first, last...), nil
}

// on gives those of the majors chosen on which the leg runs.
func (l Leg) on(majors []int) []int {
	var chosen []int
	for _, m := range l.Majors {
		if slices.Contains(majors, m) {
			chosen = append(chosen, m)
		}
	}
	if l.OneMajor && len(chosen) > 1 {
		chosen = []int{slices.Max(chosen)}
	}
	return chosen
}

// MatchLeg says whether a command-line pattern names the leg. A pattern is a path.Match glob over the short id, in
// which * crosses dots; the full requirement id is accepted too.
func MatchLeg(glob string, id LegID) bool {
	glob = strings.TrimPrefix(glob, "openwop.requirement.")
	ok, err := path.Match(glob, string(id))
	return err == nil && ok
}

// Covers says whether a name that an operator opts out of covers the leg: its profile, the family that the profile
// belongs to, its RFC, or a pattern over its id.
func Covers(name string, leg Leg) bool {
	return name == leg.Profile || name == leg.RFC || strings.HasPrefix(leg.Profile, name+".") || MatchLeg(name, leg.ID)
}

// Find gives the leg of that id.
func Find(id LegID) (Leg, bool) {
	for _, l := range Legs() {
		if l.ID == id {
			return l, true
		}
	}
	return Leg{}, false
}

// Validate checks the table itself: ids unique, every leg complete, majors known, profile named.
func Validate() error {
	seen := map[LegID]bool{}
	for _, l := range Legs() {
		switch {
		case l.ID == "" || seen[l.ID]:
			return fmt.Errorf("registry: leg id %q is empty or stands twice", l.ID)
		case l.RFC == "" || l.Section == "" || l.Title == "" || l.Source == "" || l.Profile == "" || l.Observes == "":
			return fmt.Errorf("registry: leg %s is incomplete", l.ID)
		case len(l.Majors) == 0 || slices.ContainsFunc(l.Majors, func(m int) bool { return m != 1 && m != 2 }):
			return fmt.Errorf("registry: leg %s has majors %v", l.ID, l.Majors)
		}
		seen[l.ID] = true
	}
	return nil
}

// Nearest is the part of an error message that offers up to three of the names for what was typed: "; nearest: " and those,
// or "" where none is near, since a name that has nothing to do with what was typed sends its reader the wrong way. One is near
// that contains the other, or is no more edits away from it than a third of its letters. The dashes of flags and a pattern's
// asterisks are no letters.
func Nearest(typed string, names []string) string {
	letters := func(text string) string { return strings.ToLower(strings.Trim(text, "-*")) }
	word := letters(typed)
	distance := map[string]int{}
	for _, n := range names {
		name := letters(n)
		if name == "" || word == "" {
			continue
		}
		edits := editDistance(word, name)
		switch {
		case strings.Contains(name, word):
			distance[n] = min(edits, 1)
		case strings.Contains(word, name), 3*edits <= len(name):
			distance[n] = edits
		}
	}
	if len(distance) == 0 {
		return ""
	}
	near := slices.SortedFunc(maps.Keys(distance), func(a, b string) int {
		return cmp.Or(cmp.Compare(distance[a], distance[b]), cmp.Compare(a, b))
	})
	return "; nearest: " + strings.Join(near[:min(3, len(near))], ", ")
}

func legIDs(legs []Leg) []string {
	ids := make([]string, 0, len(legs))
	for _, l := range legs {
		ids = append(ids, string(l.ID))
	}
	return ids
}

func rfcNames(legs []Leg) []string {
	var names []string
	for _, l := range legs {
		names = append(names, l.RFC)
	}
	slices.Sort(names)
	return slices.Compact(names)
}

// editDistance is the Damerau-Levenshtein distance of two short names (optimal string alignment): two letters that changed
// places are one edit, since that is the commonest mistake of fingers.
func editDistance(a, b string) int {
	rows := make([][]int, len(a)+1)
	for i := range rows {
		rows[i] = make([]int, len(b)+1)
		rows[i][0] = i
	}
	for j := range rows[0] {
		rows[0][j] = j
	}
	for i := 1; i <= len(a); i++ {
		for j := 1; j <= len(b); j++ {
			changed := rows[i-1][j-1]
			if a[i-1] != b[j-1] {
				changed++
			}
			rows[i][j] = min(rows[i-1][j]+1, rows[i][j-1]+1, changed)
			if i > 1 && j > 1 && a[i-1] == b[j-2] && a[i-2] == b[j-1] {
				rows[i][j] = min(rows[i][j], rows[i-2][j-2]+1)
			}
		}
	}
	return rows[len(a)][len(b)]
}
