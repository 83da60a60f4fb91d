package redact

import (
	"strconv"
	"strings"
	"unicode/utf16"
	"unicode/utf8"
)

// view is a text as it reads after some unescaping. Byte i of it comes from the source's bytes starts[i] to ends[i].
type view struct {
	text         string
	starts, ends []int
}

func plain(s string) view {
	v := view{text: s, starts: make([]int, len(s)), ends: make([]int, len(s))}
	for i := range len(s) {
		v.starts[i], v.ends[i] = i, i+1
	}
	return v
}

// unescaped takes one layer of escapes off, and says whether there was any.
func (v view) unescaped() (view, bool) {
	if !strings.ContainsAny(v.text, `%\&`) {
		return v, false
	}
	out := view{starts: make([]int, 0, len(v.text)), ends: make([]int, 0, len(v.text))}
	var b strings.Builder
	changed := false
	for i := 0; i < len(v.text); {
		says, n := escape(v.text[i:])
		if n == 0 {
			says, n = v.text[i:i+1], 1
		} else {
			changed = true
		}
		b.WriteString(says)
		for range len(says) {
			out.starts, out.ends = append(out.starts, v.starts[i]), append(out.ends, v.ends[i+n-1])
		}
		i += n
	}
	out.text = b.String()
	return out, changed
}

// escape reads the escape that a text begins with: what it says, and its length, 0 when there is none.
func escape(s string) (says string, length int) {
	switch s[0] {
	case '%':
		if b, ok := hex(s, 1, 2); ok {
			return string([]byte{byte(b)}), 3
		}
	case '\\':
		return backslash(s)
	case '&':
		return entity(s)
	}
	return "", 0
}

func backslash(s string) (string, int) {
	if len(s) < 2 {
		return "", 0
	}
	switch s[1] {
	case '"', '\\', '/', '\'':
		return s[1:2], 2
	case 'n', 'r', 't', 'b', 'f':
		return " ", 2
	case 'x':
		if b, ok := hex(s, 2, 2); ok {
			return string(rune(b)), 4
		}
	case 'u':
		unit, ok := hex(s, 2, 4)
		if !ok {
			return "", 0
		}
		if r := rune(unit); !utf16.IsSurrogate(r) {
			return string(r), 6
		}
		if len(s) >= 12 && s[6:8] == `\u` {
			if low, ok := hex(s, 8, 4); ok {
				return string(utf16.DecodeRune(rune(unit), rune(low))), 12
			}
		}
		return string(utf8.RuneError), 6
	}
	return "", 0
}

func entity(s string) (string, int) {
	end := strings.IndexByte(s[:min(len(s), 12)], ';')
	if end < 0 {
		return "", 0
	}
	switch name := s[1:end]; {
	case name == "amp":
		return "&", end + 1
	case name == "quot":
		return `"`, end + 1
	case name == "commat":
		return "@", end + 1
	case name == "period":
		return ".", end + 1
	case strings.HasPrefix(name, "#x") || strings.HasPrefix(name, "#X"):
		return numbered(name[2:], 16, end)
	case strings.HasPrefix(name, "#"):
		return numbered(name[1:], 10, end)
	}
	return "", 0
}

func numbered(digits string, base, end int) (string, int) {
	n, err := strconv.ParseUint(digits, base, 21)
	if err != nil {
		return "", 0
	}
	return string(rune(n)), end + 1
}

func hex(s string, from, digits int) (uint64, bool) {
	if len(s) < from+digits {
		return 0, false
	}
	n, err := strconv.ParseUint(s[from:from+digits], 16, 32)
	return n, err == nil
}
