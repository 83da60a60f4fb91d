// Package redact takes out of what is shown what the logs of the host must not hold: e-mail addresses, and tokens and
// secrets.
//
// It looks at what a text says and not only at how it is written: an address whose letters are percent-encoded, escaped
// as JSON or HTML escape them, or both, is one. It never changes anything else of a text. Start at Text and JSON.
package redact

import (
	"encoding/json"
	"regexp"
	"slices"
	"strings"

	"github.com/wopwitness/wopwitness/mockhost/parts"
)

// What stands in the place of what was taken out.
const (
	Address = "[redacted-email]"
	Secret  = "[redacted-secret]"
)

// layers bounds how often a text is unescaped: an escape of an escape of an escape is one layer each.
const layers = 5

// pattern is something to take out: the group of the match that is replaced, and by what.
type pattern struct {
	shape *regexp.Regexp
	group int
	by    string
}

func patterns() []pattern { return compiled }

//nolint:gochecknoglobals // compiled once, and never changed
var compiled = []pattern{
	// A local part, quoted or not (of the letters that people use: / = ? & are what stands before an address more often), and a domain of two labels at least; or one at an address literal or at localhost.
	{regexp.MustCompile(`(?i)(?:"[^"\r\n]{1,64}"|[\p{L}\p{M}\p{N}._%+'~-]{1,128})[@＠](?:(?:[\p{L}\p{M}\p{N}](?:[\p{L}\p{M}\p{N}-]{0,61}[\p{L}\p{M}\p{N}])?[.。])+(?:xn--[a-z0-9-]+|\p{L}[\p{L}\p{M}]+)|localhost\b|\[[0-9a-f.:]+\])`), 0, Address},
	{regexp.MustCompile(`(?i)\b(?:bearer|basic)[ \t]+([a-z0-9._~+/-]{8,}=*)`), 1, Secret},
	{regexp.MustCompile(`\beyJ[A-Za-z0-9_-]{4,}\.[A-Za-z0-9_-]{4,}\.[A-Za-z0-9_-]*`), 0, Secret},
	{regexp.MustCompile(`\b(?:sk|pk|rk|wop|ghp|gho|ghs|github_pat|glpat|xox[abp])[-_][A-Za-z0-9_-]{12,}`), 0, Secret},
	{regexp.MustCompile(`\b(?:AKIA|ASIA)[A-Z0-9]{16}\b`), 0, Secret},
	{regexp.MustCompile(`(?i)\b(?:` + secretNames + `)["']?[ \t]*[=:][ \t]*["']?([^\s"'&,;{}\[\]]+)`), 1, Secret},
}

// secretNames are the names of members and parameters whose value is a secret, whatever it looks like.
const secretNames = `pass_?word|passwd|passphrase|secret|client_?secret|api_?key|access_?token|refresh_?token|id_?token|auth_?token|session_?token|authorization|private_?key|credentials?`

// Redactor implements parts.Redactor.
type Redactor struct{}

var _ parts.Redactor = Redactor{}

// Text implements parts.Redactor.
func (Redactor) Text(s string) string { return Text(s) }

// JSON implements parts.Redactor.
func (Redactor) JSON(raw json.RawMessage) json.RawMessage { return JSON(raw) }

// Text takes the addresses and secrets out of a text.
func Text(s string) string {
	if !strings.ContainsAny(s, "@＠%\\&=:_-. ") {
		return s
	}
	v := plain(s)
	var cuts []cut
	for range layers {
		cuts = append(cuts, v.cuts()...)
		next, changed := v.unescaped()
		if !changed {
			break
		}
		v = next
	}
	return apply(s, cuts)
}

// cut is a span of the source text to be replaced.
type cut struct {
	from, to int
	by       string
}

func apply(s string, cuts []cut) string {
	if len(cuts) == 0 {
		return s
	}
	slices.SortStableFunc(cuts, func(a, b cut) int { return a.from - b.from })
	var b strings.Builder
	at := 0
	for i := 0; i < len(cuts); {
		c := cuts[i]
		// Spans that overlap are one: the layers of a text find the same address more or less completely.
		for i++; i < len(cuts) && cuts[i].from < c.to; i++ {
			c.to = max(c.to, cuts[i].to)
		}
		b.WriteString(s[at:c.from])
		b.WriteString(c.by)
		at = c.to
	}
	b.WriteString(s[at:])
	return b.String()
}

// cuts finds what is to be taken out of the view, as spans of the source.
func (v view) cuts() []cut {
	var out []cut
	for _, p := range patterns() {
		for _, m := range p.shape.FindAllStringSubmatchIndex(v.text, -1) {
			from, to := m[2*p.group], m[2*p.group+1]
			if from >= to || strings.HasPrefix(v.text[from:to], "[redacted") {
				continue
			}
			out = append(out, cut{v.starts[from], v.ends[to-1], p.by})
		}
	}
	return out
}
