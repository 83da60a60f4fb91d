package agentdlq

import (
	"fmt"
	"maps"
	"net/url"
	"slices"
	"strings"

	"github.com/wopwitness/wopwitness/witness"
)

// JudgeRedacted judges agentdlq.entry.redacted: the customer's address is in no list, entry, record or span, in whatever
// form it is written there.
func JudgeRedacted(s Scene) witness.Verdict {
	return judge(s, entryPage, "a queue is kept for weeks and read by many: what it shows of a customer is out", func(b *bench) {
		b.entry("exhausted")
		entries := b.messageEntries("malformed")
		b.hold("one-message-entry", len(entries) == 1, "the malformed message is not in the message queue once", "one entry", told(entries))
		b.read(DidInvocations, "exhausted")
		address := b.Names[AddressRole]
		if address == "" {
			b.lacks = append(b.lacks, AddressRole)
			return
		}
		for _, step := range b.Steps {
			for _, x := range step.Exchanges {
				check, shows := showing(step.Did)
				if !shows || x.Status() != 200 {
					continue
				}
				where := holding(x.Response.Body.String(), address)
				b.hold(check, where == "", fmt.Sprintf("the customer's e-mail address is in what %s shows", step.Did), "no e-mail address", where)
			}
		}
	})
}

// showing gives the check that a step's answer is held to.
func showing(did Did) (check string, shows bool) {
	switch did {
	case DidToolQueue, DidMessageQueue, DidReviews:
		return "not-in-lists", true
	case DidEntry:
		return "not-in-entries", true
	case DidInvocations:
		return "not-in-records", true
	case DidTrace:
		return "not-in-spans", true
	}
	return "", false
}

// holding looks for an address in a JSON text: in its members' names and in its strings, as they are, in any case, and
// written for a URL or as JSON within JSON. It gives the place, "" where it is nowhere.
func holding(text, address string) string {
	var find func(x value) string
	find = func(x value) string {
		switch v := x.v.(type) {
		case string:
			if spells(v, address) {
				return v
			}
		case []any:
			for _, item := range x.items() {
				if where := find(item); where != "" {
					return where
				}
			}
		case map[string]any:
			for _, name := range slices.Sorted(maps.Keys(v)) {
				if spells(name, address) {
					return name
				}
				if where := find(x.get(name)); where != "" {
					return name + ": " + where
				}
			}
		}
		return ""
	}
	return find(decode([]byte(text)))
}

// spells says whether a text has the address in it, plainly or under one or two layers of escapes.
func spells(text, address string) bool {
	text = strings.ToLower(text)
	unescaped := strings.NewReplacer(`\u0040`, "@", `\/`, "/", "&#64;", "@", "&#x40;", "@").Replace(text)
	forms := []string{text, unescaped}
	for _, form := range []string{text, unescaped} {
		for range 2 {
			plain, err := url.PathUnescape(form)
			if err != nil {
				plain = strings.ReplaceAll(form, "%40", "@")
			}
			forms, form = append(forms, plain), plain
		}
	}
	return slices.ContainsFunc(forms, func(form string) bool { return strings.Contains(form, strings.ToLower(address)) })
}
