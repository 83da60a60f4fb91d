package client

import (
	"encoding/json"
	"math"
)

// Seat is one place of the document at which a capability family was found.
type Seat struct {
	Where string // "capabilities.hostEvents", "hostEvents", "host.hostEvents"
	Value any
}

// Family finds a capability family. Major 1 hosts seat one in up to three places, and the first of capabilities, the root
// and host rules; major 2 has the root alone. The map is nil where the first seat is no object; seats are all that were
// found, in that order, so that two that disagree can be told.
func (d Discovery) Family(name string) (map[string]any, []Seat) {
	var seats []Seat
	look := func(where string, in any) {
		if object, isObject := in.(map[string]any); isObject {
			if v, has := object[name]; has {
				seats = append(seats, Seat{Where: where + name, Value: v})
			}
		}
	}
	if d.Major == 1 {
		look("capabilities.", d.Document["capabilities"])
	}
	look("", d.Document)
	if d.Major == 1 {
		look("host.", d.Document["host"])
	}
	if len(seats) == 0 {
		return nil, nil
	}
	record, _ := seats[0].Value.(map[string]any)
	return record, seats
}

// ListedType is one entry of hostEvents.types. A member that is missing or no string is "".
type ListedType struct {
	Type     string
	Delivery string
}

// HostEvents is what the document says of host events (RFC 0236) and of their replay (RFC 0250).
type HostEvents struct {
	Record        map[string]any // the family as it stands
	Types         []ListedType
	ReplayPresent bool // the facet is there, in whatever form: presence is the claim
	Replay        any
}

// The reserved types of the trigger (RFC 0241).
const (
	DurableTriggered   = "host-test.durable-triggered"
	EphemeralTriggered = "host-test.ephemeral-triggered"
)

// HostEvents reads the family. It says false where the document does not advertise it as an object.
func (d Discovery) HostEvents() (HostEvents, bool) {
	record, _ := d.Family("hostEvents")
	if record == nil {
		return HostEvents{}, false
	}
	h := HostEvents{Record: record}
	h.Replay, h.ReplayPresent = record["replay"]
	list, _ := record["types"].([]any)
	for _, entry := range list {
		object, isObject := entry.(map[string]any)
		if !isObject {
			continue
		}
		h.Types = append(h.Types, ListedType{Type: text(object["type"]), Delivery: text(object["delivery"])})
	}
	return h, true
}

// Lists says whether the family lists the type, in whatever class.
func (h HostEvents) Lists(eventType string) bool {
	for _, t := range h.Types {
		if t.Type == eventType {
			return true
		}
	}
	return false
}

// MinRetention is the facet's bound in seconds, and false where it is missing or not an integer of one or more.
func (h HostEvents) MinRetention() (int64, bool) {
	facet, _ := h.Replay.(map[string]any)
	return positive(facet["minRetentionSeconds"])
}

// DeadLetter is what the document says of dead-lettering (RFC 0053).
type DeadLetter struct {
	Record        map[string]any
	Supported     bool  // major 1: supported is true; major 2: the record is there
	RetentionDays int64 // 0 where it isn't an integer of one or more
}

// DeadLetter reads the family. It says false where the document does not advertise it as an object.
func (d Discovery) DeadLetter() (DeadLetter, bool) {
	record, _ := d.Family("deadLetter")
	if record == nil {
		return DeadLetter{}, false
	}
	supported := d.Major != 1 || record["supported"] == true
	days, _ := positive(record["retentionDays"])
	return DeadLetter{Record: record, Supported: supported, RetentionDays: days}, true
}

// Fixtures are the ids of the workflows that the host says it has seeded.
func (d Discovery) Fixtures() []string {
	list, _ := d.Document["fixtures"].([]any)
	var ids []string
	for _, v := range list {
		if id := text(v); id != "" {
			ids = append(ids, id)
		}
	}
	return ids
}

// Implementation is how the host names itself; what it does not say is "".
func (d Discovery) Implementation() (name, version, vendor string) {
	object, _ := d.Document["implementation"].(map[string]any)
	return text(object["name"]), text(object["version"]), text(object["vendor"])
}

// SeamsProfile is what the host says of mounted seams, "" where it says nothing.
func (d Discovery) SeamsProfile() string {
	object, _ := d.Document["conformance"].(map[string]any)
	return text(object["seamsProfile"])
}

func text(v any) string {
	s, _ := v.(string)
	return s
}

func positive(v any) (int64, bool) {
	n, isNumber := v.(json.Number)
	if !isNumber {
		return 0, false
	}
	// JSON knows no integers: 3600, 3600.0 and 3.6e3 are one number.
	f, err := n.Float64()
	if err != nil || f < 1 || f > 1<<53 || f != math.Trunc(f) {
		return 0, false
	}
	return int64(f), true
}
