package coverage

import (
	"strings"
	"unicode"
)

// stemLength is how much of a word counts, so that "resumes" and "resumed" are one.
const stemLength = 5

// stems gives the words of a text that say something, cut short, each once.
func stems(said string) map[string]bool {
	found := map[string]bool{}
	for word := range strings.FieldsFuncSeq(strings.ToLower(said), func(r rune) bool { return !unicode.IsLetter(r) && !unicode.IsDigit(r) }) {
		if len(word) < 3 || common(word) {
			continue
		}
		runes := []rune(word)
		found[string(runes[:min(len(runes), stemLength)])] = true
	}
	return found
}

// common says whether a word is in any text of this kind and tells two apart never.
func common(word string) bool {
	switch word {
	case "the", "and", "for", "that", "this", "with", "from", "its", "not", "are", "was", "has", "have", "had", "which", "when", "than",
		"then", "per", "such", "under", "any", "all", "each", "one", "two", "only", "also", "other", "another", "into", "onto", "after",
		"before", "they", "their", "there", "these", "those", "must", "should", "shall", "may", "can", "cannot", "will", "does", "never",
		"host", "hosts", "test", "tests", "rfc", "case", "requirement", "openwop", "suite", "legs", "scenario", "reference", "new", "same",
		"being", "been", "but", "who", "what", "where", "whose", "while", "against", "without", "within", "between", "whatever", "gated":
		return true
	}
	return false
}
