package defects

import "github.com/wopwitness/wopwitness/mockhost/parts"

// deadLetterShapes advertise dead letters in a form that the text refuses (RFC 0053 §A).
func deadLetterShapes() []Defect {
	return []Defect{
		deadLetter("capability-open", "says of its sink, on major 1, what the closed capability has no room for",
			familyOf(1, func(_, family members) { family["mode"] = "sink" }), legAdvertisement),
		deadLetter("record-supported", "says in the record of major 2 that it is supported, which its presence says",
			familyOf(2, func(_, family members) { family["supported"] = true }), legAdvertisement),
		deadLetter("record-without-witness", "has a record of major 2 that doesn't say how it is witnessed",
			familyOf(2, func(_, family members) { delete(family, "witness") }), legAdvertisement),
		deadLetter("seats-disagree", "promises other days at the root of the document than under capabilities",
			familyOf(1, func(doc, _ members) {
				doc["deadLetter"] = members{"supported": true, "retentionDays": 30}
			}), legAdvertisement),
		deadLetter("days-zero", "keeps dead runs for 0 days, it says", days(0), legAdvertisement, legRetentionDays),
		deadLetter("days-fraction", "promises a fraction of a day", days(7.5), legAdvertisement, legRetentionDays),
		deadLetter("days-text", "says the number of days as text", days("7"), legAdvertisement, legRetentionDays),
	}
}

// familyOf changes the deadLetter family of one major's document, or of both for 0.
func familyOf(which int, change func(doc, family members)) func(*parts.Parts) {
	return func(p *parts.Parts) {
		p.Discovery = discovery{p.Discovery, func(major int, doc map[string]any) {
			if which != 0 && which != major {
				return
			}
			seat := doc
			if capabilities, ok := doc["capabilities"].(members); ok {
				seat = capabilities
			}
			if family, ok := seat["deadLetter"].(members); ok {
				change(doc, family)
			}
		}}
	}
}

func days(n any) func(*parts.Parts) {
	return familyOf(0, func(_, family members) { family["retentionDays"] = n })
}
