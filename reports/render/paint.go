package render

import "github.com/wopwitness/wopwitness/scenarios/registry"

// Paint colours words on a terminal. The zero value leaves them plain.
type Paint struct{ on bool }

// Painting gives the paint for a destination: colour only on a terminal, and none where NO_COLOR has any value.
func Painting(terminal bool, noColor string) Paint { return Paint{on: terminal && noColor == ""} }

// Result is the padded word of a disposition, coloured.
func (p Paint) Result(r registry.Result) string {
	code := map[registry.Result]string{
		registry.Pass: "32", registry.Fail: "1;31", registry.Skipped: "2", registry.Inapplicable: "2", registry.Blocked: "1;33",
	}[r]
	return p.code(code, word(r))
}

// Bold is text in bold.
func (p Paint) Bold(text string) string { return p.code("1", text) }

// Dim is text that steps back.
func (p Paint) Dim(text string) string { return p.code("2", text) }

func (p Paint) code(code, text string) string {
	if !p.on || code == "" {
		return text
	}
	return "\x1b[" + code + "m" + text + "\x1b[0m"
}
