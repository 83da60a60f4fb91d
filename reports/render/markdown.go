package render

import (
	"fmt"
	"strings"
	"unicode"
)

// markdown makes text safe inside a Markdown line or table cell, and leaves it as it can be read without a renderer: text
// that no renderer acts on stays as it is, and any other goes into a code span, in which nothing is a link, a mention, a
// reference, HTML or markup.
func markdown(text string) string {
	text = Plain(text)
	if inert(text) {
		return text
	}
	return code(text)
}

// inert says whether a renderer leaves the text alone: letters, digits and the punctuation of sentences, with no address
// in it that would become a link.
func inert(text string) bool {
	for _, address := range []string{"://", "www.", "mailto:", "xmpp:"} {
		if strings.Contains(strings.ToLower(text), address) {
			return false
		}
	}
	runes := []rune(text)
	word := func(i int) bool {
		return i >= 0 && i < len(runes) && (unicode.IsLetter(runes[i]) || unicode.IsDigit(runes[i]))
	}
	for i, r := range runes {
		switch {
		case unicode.IsLetter(r), unicode.IsDigit(r), strings.ContainsRune(" .,;:'\"’()/-=?%+{}…–—§→", r):
		case r == '_' && word(i-1) && word(i+1): // inside a word it emphasizes nothing
		default:
			return false
		}
	}
	return true
}

// code is text as a code span. A vertical line would end a table's cell even there, so it is shown as an escape.
func code(text string) string {
	text = strings.ReplaceAll(Plain(text), "|", `\x7c`)
	fence := strings.Repeat("`", longestRun(text, '`')+1)
	pad := ""
	if strings.HasPrefix(text, "`") || strings.HasSuffix(text, "`") || strings.TrimSpace(text) == "" {
		pad = " "
	}
	return fence + pad + text + pad + fence
}

// block is text of several lines as a fenced block that none of its lines can end.
func block(text string) string {
	fence := strings.Repeat("`", max(3, longestRun(text, '`')+1))
	return fmt.Sprintf("%stext\n%s\n%s\n", fence, strings.TrimRight(text, "\n"), fence)
}

// longestRun is the length of the longest run of a rune.
func longestRun(text string, of rune) int {
	longest, run := 0, 0
	for _, r := range text {
		if r != of {
			run = 0
			continue
		}
		run++
		longest = max(longest, run)
	}
	return longest
}
