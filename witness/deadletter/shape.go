package deadletter

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/wopwitness/wopwitness/fixtures/schema"
	"github.com/wopwitness/wopwitness/scenarios/registry"
	"github.com/wopwitness/wopwitness/witness"
	"github.com/wopwitness/wopwitness/witness/observe"
)

// Vectors are documents whose validity the text settles without a host.
type Vectors struct {
	Major   int      `json:"major"`
	Vectors []Vector `json:"vectors"`
}

// Vector is one of them. Kind is "capability" or "payload".
type Vector struct {
	Name     string          `json:"name"`
	Kind     string          `json:"kind"`
	Document json.RawMessage `json:"document"`
	Valid    bool            `json:"valid"`
}

// JudgeVectors judges 0053.shape.vectors (RFC 0053 §A, §B): the forms that every other judge measures by accept what the
// text allows and refuse what it forbids.
func JudgeVectors(o Vectors) witness.Verdict {
	var v witness.Verdict
	for _, x := range o.Vectors {
		violations := formOf(x.Kind, o.Major, x.Document)
		section := "RFC 0053 §A"
		if x.Kind == "payload" {
			section = "RFC 0053 §B"
		}
		check := "capability-vectors"
		if x.Kind == "payload" {
			check = "payload-vectors"
		}
		v.Check(check, (len(violations) == 0) == x.Valid, func() witness.Finding {
			return witness.Finding{
				Says:     fmt.Sprintf("the vector %q is measured wrongly", x.Name),
				Expected: fmt.Sprintf("valid: %v", x.Valid), Got: listed(violations), Section: section,
				Why: "a form that is too wide or too narrow acquits or convicts hosts for nothing",
			}
		})
	}
	if len(v.Checks) == 0 {
		v.Undecide(registry.Unreadable, "the observation holds no vector")
	}
	return v
}

func formOf(kind string, major int, document []byte) []schema.Violation {
	switch {
	case kind == "payload":
		return schema.Validate(schema.DeadLetterPayload, document)
	case major == 1:
		return schema.Validate(schema.DeadLetterCapability, document)
	}
	return append(schema.Validate(schema.FamilyRecord, document), schema.Validate(schema.DeadLetterRecord, document)...)
}

func listed(violations []schema.Violation) string {
	if len(violations) == 0 {
		return "valid"
	}
	var lines []string
	for _, x := range violations {
		lines = append(lines, x.String())
	}
	slices.Sort(lines)
	return strings.Join(slices.Compact(lines), "; ")
}

// Advertisement is a host's discovery document as one major's representation.
type Advertisement struct {
	Major     int              `json:"major"`
	Discovery observe.Exchange `json:"discovery"`
}

// seat is one place of the document at which the family stands.
type seat struct {
	where string
	value json.RawMessage
}

// seats finds the family where major 1's hosts have put it: under capabilities, at the root, under host, in the order in
// which a reader prefers them. Major 2 has the root alone.
func (o Advertisement) seats() []seat {
	const family = "deadLetter"
	document := members(o.Discovery.Response.Body)
	var found []seat
	look := func(where string, in map[string]json.RawMessage) {
		if value, has := in[family]; has {
			found = append(found, seat{where + family, value})
		}
	}
	if o.Major == 1 {
		look("capabilities.", members(document["capabilities"]))
	}
	look("", document)
	if o.Major == 1 {
		look("host.", members(document["host"]))
	}
	return found
}

func (o Advertisement) readable(v *witness.Verdict) bool {
	x := o.Discovery
	switch {
	case x.Response == nil:
		v.Undecide(unreachable(x), "the discovery document: %s", brief(x))
	case x.Status() != 200 || x.Response.Truncated || !json.Valid(x.Response.Body) || members(x.Response.Body) == nil:
		v.Undecide(registry.Unreadable, "the discovery document cannot be read: %s", brief(x))
	default:
		return true
	}
	return false
}

// JudgeAdvertisement judges 0053.shape.advertisement (RFC 0053 §A): wherever the family stands, it has its form, and the
// places agree.
func JudgeAdvertisement(o Advertisement) witness.Verdict {
	var v witness.Verdict
	if !o.readable(&v) {
		return v
	}
	seats := o.seats()
	v.Check("advertisement-form", true, nil)
	for _, s := range seats {
		violations := formOf("capability", o.Major, s.value)
		v.Check("advertisement-form", len(violations) == 0, func() witness.Finding {
			return witness.Finding{
				Says: s.where + " is malformed", Expected: "the form of RFC 0053 §A", Got: short(s.value) + ": " + listed(violations),
				Why: "a client reads from it whether and for how long a dead run can be looked at", Section: "RFC 0053 §A",
			}
		})
	}
	v.Check("seats-agree", true, nil)
	for _, s := range seats {
		v.Check("seats-agree", same(seats[0].value, s.value), func() witness.Finding {
			return witness.Finding{
				Says: fmt.Sprintf("%s and %s disagree", seats[0].where, s.where), Section: "RFC 0053 §A",
				Shown: []witness.Shown{{Label: seats[0].where, Text: short(seats[0].value)}, {Label: s.where, Text: short(s.value)}},
				Why:   "two clients that read different places promise their users different things",
			}
		})
	}
	o.tell(&v, seats)
	return v
}

// tell notes what is lawful and worth knowing of an advertisement.
func (o Advertisement) tell(v *witness.Verdict, seats []seat) {
	if len(seats) == 0 {
		v.Note("not-advertised", "the host does not advertise a dead-letter sink for runs")
		return
	}
	if len(seats) > 1 {
		v.Note("several-seats", "the family stands in %d places", len(seats))
	}
	if o.Major == 1 {
		return
	}
	known := []string{"status", "since", "witness", "until", "retentionDays", "supported"}
	for _, name := range slices.Sorted(maps.Keys(members(seats[0].value))) {
		if !slices.Contains(known, name) {
			v.Note("own-facet", "the record has a facet that RFC 0053 does not know")
			return
		}
	}
}

// JudgeRetentionDays judges 0053.shape.retention-days (RFC 0053 §A): where the host names a number of days, it is an
// integer of at least one.
func JudgeRetentionDays(o Advertisement) witness.Verdict {
	var v witness.Verdict
	if !o.readable(&v) {
		return v
	}
	seats := o.seats()
	if len(seats) == 0 || members(seats[0].value) == nil {
		v.Undecide(registry.NotAdvertised, "discovery has no deadLetter family to read a number of days from")
		return v
	}
	days, named := members(seats[0].value)["retentionDays"]
	n, whole := integer(days)
	v.Check("retention-days", !named || whole && n >= 1, func() witness.Finding {
		return witness.Finding{
			Says:     "retentionDays is not a number of days",
			Expected: "an integer of at least 1, or no such member", Got: short(days), Section: "RFC 0053 §A",
			Why: "nobody can plan when to look at a dead run",
		}
	})
	if !named {
		v.Note("no-retention-days", "the host names no number of days, so it promises none")
	}
	return v
}

func short(raw []byte) string {
	if len(raw) > 300 {
		return strings.ToValidUTF8(string(raw[:300]), "") + "…"
	}
	return string(raw)
}
