package coverage

import (
	"cmp"
	"slices"
	"strings"

	"github.com/wopwitness/wopwitness/scenarios/registry"
)

// Defect is a host that is wrong in one way, and the legs that convict it.
type Defect struct {
	Name     string
	Convicts []string
}

// Status is a closed set of what became of a requirement.
type Status string

// The statuses.
const (
	Witnessed     Status = "witnessed"
	Unwitnessable Status = "unwitnessable" // the text itself says so
	Uncovered     Status = "uncovered"     // nobody witnesses it
)

// Witness is one leg that a requirement rests on.
type Witness struct {
	Leg    registry.LegID `json:"leg"`
	Judged bool           `json:"judged"` // this build has its judge
	Kills  []string       `json:"kills"`  // the defects that it convicts; never null
}

// Covered is a row of the falsifiability table beside its witnesses.
type Covered struct {
	Row
	Status    Status    `json:"status"`
	Why       string    `json:"why,omitempty"` // why it is unwitnessable, in the text's own words
	Witnesses []Witness `json:"witnesses"`     // never null
}

// Promised is a conformance case beside its witnesses.
type Promised struct {
	Case
	Status    Status    `json:"status"`
	Witnesses []Witness `json:"witnesses"`
}

// Obliging is a sentence beside its witnesses. A sentence may oblige somebody who isn't the host, so that nobody
// witnesses it is told and isn't held against anyone.
type Obliging struct {
	Sentence
	Witnesses []Witness `json:"witnesses"`
}

// Stray is a leg that cites a section which the text doesn't have.
type Stray struct {
	Leg     registry.LegID `json:"leg"`
	Section string         `json:"section"`
}

// Report is the whole comparison. Lists are never null.
type Report struct {
	RFC       string     `json:"rfc"`
	Title     string     `json:"title"`
	Rows      []Covered  `json:"rows"`
	Cases     []Promised `json:"cases"`
	Sentences []Obliging `json:"sentences"`
	Strays    []Stray    `json:"strays"`
	Beyond    []Witness  `json:"beyond"` // legs that no row or case leads to
	Tables    []Table    `json:"tables"` // every table of the text, and whether it was read
	Legs      int        `json:"legs"`   // how many legs this build has for the RFC
}

// Whole says whether every row and case is witnessed or said to be unwitnessable, and every leg cites what is there.
func (r Report) Whole() bool {
	return len(r.Strays) == 0 &&
		!slices.ContainsFunc(r.Rows, func(c Covered) bool { return c.Status == Uncovered }) &&
		!slices.ContainsFunc(r.Cases, func(c Promised) bool { return c.Status == Uncovered })
}

// Empty says whether the text has nothing that could be compared.
func (r Report) Empty() bool { return len(r.Rows)+len(r.Cases)+len(r.Sentences) == 0 }

// Compare holds a document against the legs of its RFC. judged says of which legs there is a judge.
func Compare(d Document, legs []registry.Leg, defects []Defect, judged func(registry.LegID) bool) Report {
	c := &comparison{defects: defects, judged: judged, led: map[registry.LegID]bool{}, spread: map[string]int{}, said: map[registry.LegID]map[string]bool{}}
	for _, l := range legs {
		if l.RFC == d.RFC {
			c.legs = append(c.legs, l)
			c.said[l.ID] = words(l)
			for word := range c.said[l.ID] {
				c.spread[word]++
			}
		}
	}
	r := Report{
		RFC: d.RFC, Title: d.Title,
		Rows: []Covered{}, Cases: []Promised{}, Sentences: []Obliging{}, Strays: []Stray{}, Beyond: []Witness{},
		Tables: append([]Table{}, d.Tables...), Legs: len(c.legs),
	}
	for _, row := range d.Rows {
		covered := Covered{Row: row, Status: Uncovered, Witnesses: c.matching(row.Section, row.Requirement)}
		if len(covered.Witnesses) == 0 { // its own words are too few; what is seen has more
			covered.Witnesses = c.matching(row.Section, row.Requirement+" "+row.Observable)
		}
		switch why, no := unwitnessable(row.Verdict); {
		case no:
			covered.Status, covered.Why = Unwitnessable, why
		case len(covered.Witnesses) > 0:
			covered.Status = Witnessed
		}
		r.Rows = append(r.Rows, covered)
	}
	for _, promised := range d.Cases {
		p := Promised{Case: promised, Status: Uncovered, Witnesses: c.cases(promised)}
		if len(p.Witnesses) > 0 {
			p.Status = Witnessed
		}
		r.Cases = append(r.Cases, p)
	}
	for _, s := range d.Sentences {
		r.Sentences = append(r.Sentences, Obliging{Sentence: s, Witnesses: c.matching(s.Section, s.Text)})
	}
	for _, l := range c.legs {
		if !slices.Contains(d.Sections, section(l)) {
			r.Strays = append(r.Strays, Stray{Leg: l.ID, Section: l.Section})
		}
		if !c.led[l.ID] {
			r.Beyond = append(r.Beyond, c.witness(l))
		}
	}
	return r
}

// section is the section of a leg without what stands behind it: "§C" for "§C.2".
func section(l registry.Leg) string { return cited.FindString(l.Section) }

// unwitnessable reads a verdict such as "unwitnessable — only an operator can".
func unwitnessable(verdict string) (why string, no bool) {
	rest, no := strings.CutPrefix(strings.ToLower(verdict), "unwitnessable")
	if !no {
		return "", false
	}
	return strings.Trim(verdict[len(verdict)-len(rest):], " —–-:;,("), true
}

type comparison struct {
	legs    []registry.Leg
	defects []Defect
	judged  func(registry.LegID) bool
	led     map[registry.LegID]bool
	said    map[registry.LegID]map[string]bool // the words of each leg
	spread  map[string]int                     // in how many legs a word is
}

func (c *comparison) witness(l registry.Leg) Witness {
	w := Witness{Leg: l.ID, Judged: c.judged(l.ID), Kills: []string{}}
	for _, d := range c.defects {
		if slices.Contains(d.Convicts, string(l.ID)) {
			w.Kills = append(w.Kills, d.Name)
		}
	}
	return w
}

// cases finds the legs of a conformance case: the one of that id, else those that share words with it.
func (c *comparison) cases(promised Case) []Witness {
	for _, l := range c.legs {
		if string(l.ID) == promised.ID {
			c.led[l.ID] = true
			return []Witness{c.witness(l)}
		}
	}
	if legID(promised.ID) {
		return []Witness{} // it names a leg, and there is none of that name
	}
	return c.matching("", strings.ReplaceAll(promised.ID, "-", " ")+" "+promised.Says)
}

// legID says whether an id has the form of a leg's: "0250.shape".
func legID(id string) bool {
	number, _, dotted := strings.Cut(id, ".")
	return dotted && len(number) == 4 && strings.Trim(number, "0123456789") == ""
}

// mostWitnesses is how many legs one requirement is led to, best first; a text that shares words with more says little.
const mostWitnesses = 6

// matching finds the legs of a section ("" is any) that share words with a text, best first. One word in common is
// chance, so two are asked for; and a word counts for less the more legs have it.
func (c *comparison) matching(of, said string) []Witness {
	words := stems(said)
	score := map[registry.LegID]float64{}
	best := 0.0
	for _, l := range c.legs {
		if of != "" && section(l) != of {
			continue
		}
		common, weight := 0, 0.0
		for word := range c.said[l.ID] {
			if words[word] {
				common++
				weight += 1 / float64(c.spread[word])
			}
		}
		if common >= 2 {
			score[l.ID] = weight
			best = max(best, weight)
		}
	}
	var found []registry.Leg
	for _, l := range c.legs {
		if weight, shares := score[l.ID]; shares && 2*weight >= best {
			found = append(found, l)
		}
	}
	slices.SortStableFunc(found, func(a, b registry.Leg) int { return cmp.Compare(score[b.ID], score[a.ID]) })
	witnesses := []Witness{}
	for _, l := range found[:min(len(found), mostWitnesses)] {
		c.led[l.ID] = true
		witnesses = append(witnesses, c.witness(l))
	}
	return witnesses
}

// words are what a leg says of itself.
func words(l registry.Leg) map[string]bool {
	return stems(strings.NewReplacer("-", " ", ".", " ").Replace(string(l.ID)) + " " + l.Title + " " + l.Source)
}
