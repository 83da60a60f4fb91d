package hostevents

import (
	"encoding/json"
	"fmt"
	"strings"

	"github.com/wopwitness/wopwitness/fixtures/schema"
	"github.com/wopwitness/wopwitness/fixtures/vectors"
	"github.com/wopwitness/wopwitness/scenarios/registry"
	"github.com/wopwitness/wopwitness/witness"
	"github.com/wopwitness/wopwitness/witness/observe"
)

// Advertisement is a host's major-2 discovery document as it was read.
type Advertisement struct {
	Discovery observe.Exchange `json:"discovery"`
}

// JudgeShape judges 0250.shape (RFC 0250 §A): the replay facet is closed and positive, first in vectors that need no
// host, then in the host's own document where it has one. Not to advertise is lawful.
func JudgeShape(o Advertisement) witness.Verdict {
	var v witness.Verdict
	if !facetVectors(&v) || unanswered(&v, "reading discovery", o.Discovery) {
		return v
	}
	document, ok := discovered(o.Discovery)
	if !ok {
		v.Undecide(registry.Unreadable, "discovery is not readable as a JSON object: %s", brief(o.Discovery))
		return v
	}
	record, advertised := document["hostEvents"]
	if !advertised {
		v.Note("not-advertised", "the host does not advertise hostEvents")
		return v
	}
	if violations := schema.Validate(schema.FamilyRecord, record); len(violations) > 0 {
		v.Note("record-head", "the head of the hostEvents record is not as family records are: %s", sayAll(violations))
	}
	listedForm(&v, record)
	facetForm(&v, record)
	return v
}

// facetVectors holds this build's own schema against the vectors. A schema that fails one cannot judge a host.
func facetVectors(v *witness.Verdict) bool {
	for _, vector := range vectors.ReplayFacets() {
		if (len(schema.Validate(schema.ReplayFacet, vector.Facet)) == 0) != vector.Valid {
			v.Undecide(registry.Panicked, "this build's own schema of the facet fails the vector %q", vector.Name)
			return false
		}
	}
	v.Check("facet-vectors", true, nil)
	return true
}

func facetForm(v *witness.Verdict, record json.RawMessage) {
	facet, present := member(record, "replay")
	if !present {
		v.Note("no-facet", "hostEvents has no replay facet, so the host claims no strict replay")
		return
	}
	violations := schema.Validate(schema.ReplayFacet, facet)
	v.Check("facet-form", len(violations) == 0, func() witness.Finding {
		return witness.Finding{
			Says:     "the advertised replay facet is not of the registered form: " + sayAll(violations),
			Expected: "minRetentionSeconds, an integer of at least 1, and no other member", Got: clip(string(facet)),
			Why:     "a consumer cannot tell how long its cursor stays good",
			Section: "RFC 0250 §A",
		}
	})
}

func listedForm(v *witness.Verdict, record json.RawMessage) {
	const why = "a consumer cannot tell which events the host may send, or which of them it can resume"
	violations := schema.Validate(schema.HostEventsRecord, record)
	v.Check("types-form", len(violations) == 0, func() witness.Finding {
		return witness.Finding{
			Says:     "hostEvents.types is not a list of types with their classes: " + sayAll(violations),
			Expected: "at least one {type, delivery}", Got: clip(string(record)), Why: why, Section: "RFC 0236 §Types",
		}
	})
	var twice string
	seen := map[string]bool{}
	for _, t := range listedIn(record) {
		if seen[t.Type] && t.Type != "" {
			twice = t.Type
		}
		seen[t.Type] = true
	}
	v.Check("types-once", twice == "", func() witness.Finding {
		return witness.Finding{
			Says:     fmt.Sprintf("hostEvents.types lists %s more than once", clip(twice)),
			Expected: "each type once", Got: clip(string(record)), Why: why, Section: "RFC 0236 §Types",
		}
	})
}

// ListedType is one entry of hostEvents.types. A member that is missing or no string is "".
type ListedType struct {
	Type     string
	Delivery string
}

// listed gives the types that a recorded discovery document lists, and false where it has no hostEvents record.
func listed(discovery observe.Exchange) ([]ListedType, bool) {
	document, ok := discovered(discovery)
	if !ok || !strings.HasPrefix(strings.TrimSpace(string(document["hostEvents"])), "{") {
		return nil, false
	}
	return listedIn(document["hostEvents"]), true
}

func listedIn(record json.RawMessage) []ListedType {
	list, _ := member(record, "types")
	var entries []map[string]json.RawMessage
	if json.Unmarshal(list, &entries) != nil {
		// One entry of another kind does not hide the others.
		var loose []json.RawMessage
		_ = json.Unmarshal(list, &loose)
		for _, raw := range loose {
			var entry map[string]json.RawMessage
			if json.Unmarshal(raw, &entry) == nil {
				entries = append(entries, entry)
			}
		}
	}
	var types []ListedType
	for _, entry := range entries {
		var t ListedType
		_ = json.Unmarshal(entry["type"], &t.Type)
		_ = json.Unmarshal(entry["delivery"], &t.Delivery)
		types = append(types, t)
	}
	return types
}

func lists(types []ListedType, name string) bool {
	for _, t := range types {
		if t.Type == name {
			return true
		}
	}
	return false
}

// discovered reads a discovery document.
func discovered(x observe.Exchange) (map[string]json.RawMessage, bool) {
	var document map[string]json.RawMessage
	if x.Status() != 200 || json.Unmarshal(x.Response.Body, &document) != nil {
		return nil, false
	}
	return document, document != nil
}

func member(object json.RawMessage, name string) (json.RawMessage, bool) {
	var members map[string]json.RawMessage
	if json.Unmarshal(object, &members) != nil {
		return nil, false
	}
	raw, has := members[name]
	return raw, has
}

func sayAll(violations []schema.Violation) string {
	var all []string
	for _, v := range violations {
		all = append(all, v.String())
	}
	return strings.Join(all, "; ")
}
