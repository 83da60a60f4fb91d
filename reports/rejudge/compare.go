package rejudge

import (
	"fmt"
	"maps"
	"slices"

	"github.com/wopwitness/wopwitness/scenarios/registry"
)

// Difference is one member of one row in which two sets of rows part. Where a row is in one set only, Member is "row".
type Difference struct {
	ID     string `json:"id"`
	Member string `json:"member"`
	Was    string `json:"was"`
	Is     string `json:"is"`
}

// String is the difference as a line; was is the side of the bundle.
func (d Difference) String() string {
	switch {
	case d.Member == "row" && d.Is == "":
		return fmt.Sprintf("%s: the bundle has a row (%s), and the observations give none", d.ID, d.Was)
	case d.Member == "row":
		return fmt.Sprintf("%s: the observations give a row (%s), and the bundle has none", d.ID, d.Is)
	}
	return fmt.Sprintf("%s: %s is %s in the bundle and %s by the observations", d.ID, d.Member, named(d.Was), named(d.Is))
}

func named(value string) string {
	if value == "" {
		return "not there"
	}
	return fmt.Sprintf("%q", value)
}

// Compare gives every difference between two sets of rows of one major, by id. was is what a bundle says, is what was
// reached now.
func Compare(was, is []registry.Row) []Difference {
	before, after := byID(was), byID(is)
	ids := slices.Collect(maps.Keys(before))
	for id := range after {
		if _, ok := before[id]; !ok {
			ids = append(ids, id)
		}
	}
	slices.Sort(ids)
	var differences []Difference
	for _, id := range ids {
		a, inA := before[id]
		b, inB := after[id]
		switch {
		case !inB:
			differences = append(differences, Difference{ID: id, Member: "row", Was: string(a.Result)})
		case !inA:
			differences = append(differences, Difference{ID: id, Member: "row", Is: string(b.Result)})
		default:
			differences = append(differences, members(a, b)...)
		}
	}
	return differences
}

func members(a, b registry.Row) []Difference {
	var differences []Difference
	for _, m := range []struct{ name, was, is string }{
		{"scenario", a.Scenario, b.Scenario},
		{"result", string(a.Result), string(b.Result)},
		{"assertions", fmt.Sprint(a.Assertions), fmt.Sprint(b.Assertions)},
		{"detail", a.Detail, b.Detail},
		{"cause", a.Cause, b.Cause},
		{"observationSha256", a.Observation, b.Observation},
	} {
		if m.was != m.is {
			differences = append(differences, Difference{ID: a.ID, Member: m.name, Was: m.was, Is: m.is})
		}
	}
	return differences
}

func byID(rows []registry.Row) map[string]registry.Row {
	m := make(map[string]registry.Row, len(rows))
	for _, r := range rows {
		m[r.ID] = r
	}
	return m
}
