package lawfulhost

import (
	"crypto/sha256"
	"fmt"
	"net/http"
)

// The two classes, and the reserved types of the trigger (RFC 0236, RFC 0241).
const (
	classDurable   = "durable"
	classEphemeral = "ephemeral"
)

type listedType struct {
	Type     string `json:"type"`
	Delivery string `json:"delivery"`
}

// types lists the host's own types first: one of each class, in the order that beBusy relies on.
func (l Listing) types() []listedType {
	all := []listedType{{"stock.level-changed", classDurable}, {"desk.person-seen", classEphemeral}}
	if l.MoreTypes {
		for i := range 20 {
			all = append(all, listedType{fmt.Sprintf("area%d.thing-happened", i), []string{classDurable, classEphemeral}[i%2]})
		}
	}
	if l.NoTrigger {
		return all
	}
	for _, class := range []string{classEphemeral, classDurable} {
		if l.Only == "" || l.Only == class {
			all = append(all, listedType{reservedType(class), class})
		}
	}
	return all
}

func reservedType(class string) string { return "host-test." + class + "-triggered" }

// discovery answers with the representation that OpenWOP-Version selects. A host of major 1 alone does as public ones
// were seen to: it knows no such header, no list of versions and no ETag.
func (h *Host) discovery(w http.ResponseWriter, r *http.Request) {
	onlyOne := !h.serves(2)
	switch {
	case onlyOne:
		h.answer(w, http.StatusOK, h.documentOne(false))
	case asksForMajor(r, 2):
		w.Header().Set("OpenWOP-Version", h.options.Version)
		h.tagged(w, r, h.documentTwo())
	case h.serves(1) && asksForMajor(r, 1):
		w.Header().Set("OpenWOP-Version", "1.0")
		h.tagged(w, r, h.documentOne(true))
	default:
		h.fail(w, http.StatusNotAcceptable, "protocol_version_unsupported", "this host does not serve that version")
	}
}

func (h *Host) tagged(w http.ResponseWriter, r *http.Request, document map[string]any) {
	body := h.encode(document)
	tag := fmt.Sprintf(`"%x"`, sha256.Sum256(body))
	w.Header().Set("ETag", tag)
	w.Header().Set("Vary", "OpenWOP-Version")
	if r.Header.Get("If-None-Match") == tag {
		w.WriteHeader(http.StatusNotModified)
		return
	}
	h.send(w, http.StatusOK, body)
}

func (h *Host) versions() []string {
	if h.serves(1) {
		return []string{"1.0", h.options.Version}
	}
	return []string{h.options.Version}
}

func (h *Host) documentOne(overlap bool) map[string]any {
	d := map[string]any{
		"protocolVersion":    "1.0",
		"supportedEnvelopes": []string{"run-event"},
		"schemaVersions":     map[string]any{"run-event": 1},
		"limits":             map[string]any{"maxRunSeconds": 60},
		"fixtures":           []string{},
		"capabilities":       map[string]any{"streaming": map[string]any{"supported": true}},
	}
	if overlap {
		d["protocolVersions"], d["preferredVersion"] = h.versions(), h.options.Version
	}
	h.options.promiseOne(d)
	h.options.promiseAgents(d)
	return d
}

func (h *Host) documentTwo() map[string]any {
	record := func(facets map[string]any) map[string]any {
		facets["status"], facets["since"], facets["witness"] = "stable", "2.0", "witnessable-gated"
		return facets
	}
	d := map[string]any{
		"protocolVersions": h.versions(), "preferredVersion": h.options.Version,
		"implementation": map[string]any{"name": "lawful", "version": "0.0.1", "vendor": "tests"},
		"limits":         record(map[string]any{"maxRunSeconds": 60}),
		"fixtures":       h.options.seeded(),
	}
	h.options.promiseTwo(d, record)
	if h.options.Seams {
		d["conformance"] = map[string]any{"seamsProfile": "openwop-conformance-seams-v2"}
	}
	if h.options.ExtraMetadata {
		d["implementation"] = map[string]any{"name": "lawful", "version": "0.0.1", "vendor": "tests", "commit": "f00", "flags": []any{1, nil}}
		d["extensions"] = map[string]any{"x.example.com/queue": map[string]any{"depth": 3}}
		d["engineVersion"], d["eventLogSchemaVersion"], d["minClientVersion"] = "9.1", 2, "2.0"
		d["quotas"] = record(map[string]any{"tier": "small"})
		d["signingKeys"] = []any{}
	}
	h.options.promiseAgents(d)
	if h.options.NoHostEvents {
		return d
	}
	events := record(map[string]any{"types": h.types})
	if !h.options.NoReplay {
		events["replay"] = map[string]any{"minRetentionSeconds": h.options.Retention}
	}
	d["hostEvents"] = events
	return d
}
