// Package render writes a ledger for people and for the tools around them: the terminal, JUnit, a Markdown summary for
// a job page, and one HTML page.
//
// It decides nothing, and it trusts no text that came from a host: whatever is shown passes through the escape of its
// medium. Start with Terminal for the live view, JUnit, Summary and HTML for the files.
package render

import (
	"fmt"
	"strings"
	"unicode"
	"unicode/utf8"
)

// Plain makes text from a host safe to show on a terminal and in any plain file: control characters (line ends and
// escape sequences among them), bidirectional overrides, invisible format characters and broken UTF-8 are shown as
// escapes; everything else stays.
func Plain(text string) string {
	var b strings.Builder
	for i := 0; i < len(text); {
		r, size := utf8.DecodeRuneInString(text[i:])
		switch {
		case r == utf8.RuneError && size == 1:
			fmt.Fprintf(&b, `\x%02x`, text[i])
		case r == '\n':
			b.WriteString(`\n`)
		case r == '\r':
			b.WriteString(`\r`)
		case r == '\t':
			b.WriteString(`\t`)
		case hidden(r) && r < 0x100:
			fmt.Fprintf(&b, `\x%02x`, r)
		case hidden(r):
			fmt.Fprintf(&b, `\u{%x}`, r)
		default:
			b.WriteRune(r)
		}
		i += size
	}
	return b.String()
}

// hidden says whether a rune has no ink of its own: controls, format characters (the bidirectional ones among them),
// line separators, surrogates and private or unassigned ones.
func hidden(r rune) bool {
	if r < utf8.RuneSelf {
		return r < ' ' || r == 0x7f
	}
	return unicode.In(r, unicode.Cc, unicode.Cf, unicode.Zl, unicode.Zp, unicode.Cs, unicode.Co) ||
		!unicode.IsPrint(r) && !unicode.IsSpace(r)
}

// clip shortens text to at most n runes, and says how much is left out.
func clip(text string, n int) string {
	if utf8.RuneCountInString(text) <= n {
		return text
	}
	runes := []rune(text)
	return fmt.Sprintf("%s… (%d more characters)", string(runes[:n]), len(runes)-n)
}

// brief is clip of Plain for text that may be megabytes: only what can be shown is escaped.
func brief(text string, n int) string {
	most := n * utf8.UTFMax
	if len(text) <= most {
		return clip(Plain(text), n)
	}
	shown := []rune(Plain(text[:most]))
	return fmt.Sprintf("%s… (%d bytes in all)", string(shown[:min(n, len(shown))]), len(text))
}
