package verify

import (
	"crypto/sha256"
	"encoding/hex"
	"slices"
	"strings"

	"github.com/wopwitness/wopwitness/reports/bundle"
	"github.com/wopwitness/wopwitness/reports/ledger"
	"github.com/wopwitness/wopwitness/scenarios/registry"
)

// rows checks each row for itself, and what is counted over them.
func (c *check) rows(b bundle.Bundle) {
	var (
		totals     ledger.Totals
		assertions int
		seen       = map[string]bool{}
		unknown    []string
	)
	for i, r := range b.Results.Requirements {
		path := element("/results/requirements", i)
		switch {
		case seen[r.ID]:
			c.refuse(DuplicateRow, path, "%q has a row already", r.ID)
		case r.Result != registry.Pass && r.Detail == "":
			c.refuse(NoReason, path, "%q is %s and says no reason", r.ID, r.Result)
		case r.Result == registry.Pass && r.Detail != "":
			c.refuse(PassWithReason, path, "%q passed and gives a reason for not passing", r.ID)
		case r.Result != registry.Pass && !fits(r.Result, r.Detail):
			c.refuse(ReasonMismatch, pointer(path, "detail"), "%q is %s for %q, which is no reason for that", r.ID, r.Result, r.Detail)
		}
		if r.Result == registry.Pass && r.Assertions < 1 {
			c.refuse(NoAssertion, path, "%q passed and nothing was checked", r.ID)
		}
		seen[r.ID] = true
		totals.Add(r.Result)
		assertions += r.Assertions
		leg, known := c.legs[r.ID]
		switch {
		case !known:
			unknown = append(unknown, r.ID)
			continue
		case !c.foreign && !slices.Contains(leg.Majors, b.Suite.TargetMajor):
			c.refuse(OtherMajorRow, path, "%q is no requirement of major %d, of which the bundle says it speaks", r.ID, b.Suite.TargetMajor)
		}
		if r.Result == registry.Pass && r.Observation == "" {
			c.refuse(NoObservation, path, "%q passed and names no observation, so nobody can judge it again", r.ID)
		}
	}
	if len(b.Results.Requirements) == 0 {
		c.refuse(NoRows, "/results/requirements", "it has no row, so it says nothing of any requirement")
	}
	if totals != b.Results.Totals {
		c.refuse(TotalsMismatch, "/results/totals", "the rows come to %s, and it says %s", totals, b.Results.Totals)
	}
	if assertions != b.AssertionCount {
		c.refuse(AssertionMismatch, "/assertionCount", "the rows come to %d, and it says %d", assertions, b.AssertionCount)
	}
	if len(unknown) > 0 {
		c.note(NoteUnknownRequirement, "%d requirement ids are not of this registry: %s", len(unknown), strings.Join(unknown[:min(len(unknown), 10)], ", "))
	}
	c.detail(b)
}

// fits says whether a row of that result may have ended for that reason (evidence contract, dispositions). Of a reason
// that this build doesn't know it can't be said, and it passes.
func fits(result registry.Result, detail string) bool {
	code, _, _ := strings.Cut(detail, ":") // "convicted:" and the checks that did not hold
	reason := registry.Reason(code)
	switch {
	case !reason.Known():
		return true
	case reason.HostFact():
		return result == registry.Inapplicable || // and in strict mode a failure, of what the host leaves out
			result == registry.Fail && (reason == registry.NotAdvertised || reason == registry.ClassNotListed)
	case reason == registry.OptedOut:
		return result == registry.Skipped
	case reason == registry.Convicted:
		return result == registry.Fail
	}
	return result == registry.Blocked
}

// registered gives the leg of each requirement id that this build knows.
func registered() map[string]registry.Leg {
	known := map[string]registry.Leg{}
	for _, leg := range registry.Legs() {
		known[leg.ID.RequirementID()] = leg
	}
	return known
}

// detail holds the list of rows that aren't a pass against the rows.
func (c *check) detail(b bundle.Bundle) {
	var expected []bundle.NonPass
	for _, r := range b.Results.Requirements {
		if r.Result != registry.Pass {
			expected = append(expected, bundle.NonPass{ID: r.ID, Result: r.Result, Reason: r.Detail})
		}
	}
	switch {
	case b.Detail == nil && len(expected) > 0:
		c.refuse(DetailMissing, "/detail", "%d rows are not a pass, and nothing says why", len(expected))
	case b.Detail == nil:
	case !slices.Equal(sorted(b.Detail.NonPass), sorted(expected)):
		c.refuse(DetailMismatch, "/detail/nonPass", "it is not the rows that aren't a pass")
	}
}

func sorted(list []bundle.NonPass) []bundle.NonPass {
	list = slices.Clone(list)
	slices.SortFunc(list, func(a, b bundle.NonPass) int { return strings.Compare(a.ID, b.ID) })
	return list
}

// digests computes the witness digest from the bytes that were read, not from what the decoder made of them.
func (c *check) digests(tree map[string]any, b bundle.Bundle) {
	results, _ := tree["results"].(map[string]any)
	rows, _ := results["requirements"].([]any)
	rows = slices.Clone(rows)
	slices.SortStableFunc(rows, func(x, y any) int { return strings.Compare(rowID(x), rowID(y)) })
	var witness any = rows
	if len(b.Host.Relaxations) > 0 {
		witness = map[string]any{"rows": rows, "relaxations": b.Host.Relaxations}
	}
	if sum := c.sum(witness); sum != b.WitnessSha256 {
		c.refuse(WitnessMismatch, "/witnessSha256", "the rows come to %s", sum)
	}
}

func rowID(row any) string {
	members, _ := row.(map[string]any)
	id, _ := members["id"].(string)
	return id
}

// sum is the SHA-256 of the canonical JSON of a value, in lower-case hex.
func (c *check) sum(v any) string {
	raw, err := canonical(v)
	if err != nil {
		c.refuse(NotJSON, "", "%v", err)
		return ""
	}
	digest := sha256.Sum256(raw)
	return hex.EncodeToString(digest[:])
}

// discovery holds the embedded document against its digest, and what the bundle quotes of it against the document.
func (c *check) discovery(tree map[string]any, b bundle.Bundle) {
	if b.Discovery == nil {
		c.note(NoteNoDiscovery, "the run read no discovery document")
		return
	}
	embedded, _ := tree["discovery"].(map[string]any)
	document, _ := embedded["document"].(map[string]any)
	if sum := c.sum(document); sum != b.Discovery.Sha256 {
		c.refuse(DiscoveryMismatch, "/discovery/sha256", "the document comes to %s", sum)
	}
	// A host that gives a member another type than the protocol says is quoted as having none.
	versions, quotable := stringsOf(document["protocolVersions"])
	preferred, preferable := document["preferredVersion"].(string)
	if document["preferredVersion"] != nil && !preferable || document["protocolVersions"] != nil && !quotable {
		return
	}
	if !slices.Equal(versions, b.Discovery.ProtocolVersions) {
		c.refuse(DiscoveryMisquoted, "/discovery/protocolVersions", "the document has %q", versions)
	}
	if preferred != b.Discovery.PreferredVersion {
		c.refuse(DiscoveryMisquoted, "/discovery/preferredVersion", "the document has %q", preferred)
	}
}

func stringsOf(v any) ([]string, bool) {
	items, ok := v.([]any)
	list := []string{}
	for _, item := range items {
		s, isText := item.(string)
		if !isText {
			return []string{}, false
		}
		list = append(list, s)
	}
	return list, ok
}
