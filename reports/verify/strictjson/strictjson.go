// Package strictjson reads JSON that a stranger wrote and signed, in the one way that leaves no room for two readers to
// see two documents: no member twice, no number that changes when it is written canonically, no half of a surrogate
// pair, no bytes that are not UTF-8, and nothing after the end.
//
// It knows nothing of bundles, and it is total: whatever bytes it is given, it answers with a value or a Problem. Start
// with Read.
package strictjson

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/gowebpki/jcs"
)

// Limits bound what is read. A zero member takes no limit of its own but the type's.
type Limits struct {
	Bytes  int
	Depth  int // of arrays and objects in each other
	Values int // of every kind, an object's or array's own included
}

// Kind is a closed set of ways in which bytes fail to be one unambiguous document.
type Kind string

// The kinds of problem.
const (
	TooLarge      Kind = "too-large"
	TooDeep       Kind = "too-deep"
	NotUTF8       Kind = "not-utf-8"
	NotJSON       Kind = "not-json"
	Twice         Kind = "duplicate-member"
	NumberForm    Kind = "number-form"
	LoneSurrogate Kind = "lone-surrogate"
)

// Problem says why the bytes were refused. Path is a JSON pointer to where it was noticed, "" for the whole.
type Problem struct {
	Kind Kind
	Path string
	Says string
}

// Error implements error.
func (p *Problem) Error() string {
	if p.Path == "" {
		return p.Says
	}
	return p.Path + ": " + p.Says
}

// Read gives the value of the document: map[string]any, []any, string, json.Number, bool or nil. Every number's text is
// its canonical form (RFC 8785 §3.2.2.3), so writing the value again loses nothing. The error is a *Problem.
func Read(raw []byte, limits Limits) (any, error) {
	switch {
	case limits.Bytes > 0 && len(raw) > limits.Bytes:
		return nil, &Problem{Kind: TooLarge, Says: fmt.Sprintf("it has more than %d bytes", limits.Bytes)}
	case !utf8.Valid(raw):
		return nil, &Problem{Kind: NotUTF8, Says: "it is not UTF-8"}
	case bytes.HasPrefix(raw, []byte("\xEF\xBB\xBF")):
		return nil, &Problem{Kind: NotJSON, Says: "it begins with a byte order mark"}
	}
	if at := loneSurrogate(raw); at >= 0 {
		return nil, &Problem{Kind: LoneSurrogate, Says: fmt.Sprintf("byte %d escapes half of a surrogate pair", at)}
	}
	r := &reader{decoder: json.NewDecoder(bytes.NewReader(raw)), limits: limits}
	r.decoder.UseNumber()
	v, err := r.value()
	if err != nil {
		return nil, err
	}
	if _, err := r.decoder.Token(); !errors.Is(err, io.EOF) {
		return nil, &Problem{Kind: NotJSON, Says: "there is more after the end of the document"}
	}
	return v, nil
}

// reader keeps the way to where it is as names and indices. It is written out only for a problem: names are a stranger's,
// and a long one written again for each value below it would take for ever.
type reader struct {
	decoder *json.Decoder
	limits  Limits
	values  int
	way     []any // string for a member, int for an element
}

// path is the way as a JSON pointer.
func (r *reader) path() string {
	var b strings.Builder
	for _, step := range r.way {
		b.WriteByte('/')
		switch step := step.(type) {
		case string:
			b.WriteString(Escape(step))
		case int:
			b.WriteString(strconv.Itoa(step))
		}
	}
	return b.String()
}

func (r *reader) problem(kind Kind, format string, args ...any) error {
	return &Problem{Kind: kind, Path: r.path(), Says: fmt.Sprintf(format, args...)}
}

func (r *reader) token() (json.Token, error) {
	t, err := r.decoder.Token()
	if errors.Is(err, io.EOF) {
		err = io.ErrUnexpectedEOF
	}
	if err != nil {
		return nil, r.problem(NotJSON, "it is not JSON: %v", err)
	}
	return t, nil
}

func (r *reader) value() (any, error) {
	token, err := r.token()
	if err != nil {
		return nil, err
	}
	if r.values++; r.limits.Values > 0 && r.values > r.limits.Values {
		return nil, &Problem{Kind: TooLarge, Says: fmt.Sprintf("it has more than %d values", r.limits.Values)}
	}
	switch t := token.(type) {
	case json.Number:
		if says := notCanonical(string(t)); says != "" {
			return nil, r.problem(NumberForm, "%s", says)
		}
		return t, nil
	case json.Delim:
		if r.limits.Depth > 0 && len(r.way) >= r.limits.Depth {
			return nil, r.problem(TooDeep, "it is nested deeper than %d levels", r.limits.Depth)
		}
		if t == '[' {
			return r.array()
		}
		return r.object()
	}
	return token, nil
}

func (r *reader) array() (any, error) {
	list := []any{}
	for r.decoder.More() {
		v, err := r.under(len(list))
		if err != nil {
			return nil, err
		}
		list = append(list, v)
	}
	_, err := r.token()
	return list, err
}

func (r *reader) object() (any, error) {
	members := map[string]any{}
	for r.decoder.More() {
		token, err := r.token()
		if err != nil {
			return nil, err
		}
		name, _ := token.(string)
		if _, has := members[name]; has {
			r.way = append(r.way, name)
			return nil, r.problem(Twice, "the member stands twice in one object")
		}
		if members[name], err = r.under(name); err != nil {
			return nil, err
		}
	}
	_, err := r.token()
	return members, err
}

// under reads the value one step further on.
func (r *reader) under(step any) (any, error) {
	r.way = append(r.way, step)
	v, err := r.value()
	if err == nil {
		r.way = r.way[:len(r.way)-1]
	}
	return v, err
}

// Escape is a member's name as a JSON pointer has it.
func Escape(name string) string {
	if !strings.ContainsAny(name, "~/") {
		return name
	}
	return strings.NewReplacer("~", "~0", "/", "~1").Replace(name)
}

const longestNumber = 64

// notCanonical says what is wrong with a number whose text is not what RFC 8785 writes for its value: 1e2, 1.0, -0, and
// integers that no double holds, which two readers would round differently. It is "" for any other.
func notCanonical(literal string) string {
	if len(literal) > longestNumber {
		return fmt.Sprintf("a number of %d characters", len(literal))
	}
	value, err := strconv.ParseFloat(literal, 64)
	if err != nil {
		return fmt.Sprintf("the number %s is out of range", literal)
	}
	if text, err := jcs.NumberToJSON(value); err != nil || text != literal {
		return fmt.Sprintf("the number %s is not in canonical form (%s)", literal, text)
	}
	return ""
}

// loneSurrogate gives the offset of an escape that is half of a surrogate pair, -1 where there is none. Outside of
// strings a backslash is no JSON, which the decoder says.
func loneSurrogate(raw []byte) int {
	for i := 0; i < len(raw); i++ {
		if raw[i] != '\\' {
			continue
		}
		unit, ok := escapedUnit(raw[i:])
		switch {
		case !ok:
			i++ // the escaped character, which may be a backslash
		case unit >= 0xDC00 && unit < 0xE000:
			return i
		case unit >= 0xD800 && unit < 0xDC00:
			low, ok := escapedUnit(raw[i+6:])
			if !ok || low < 0xDC00 || low >= 0xE000 {
				return i
			}
			i += 11
		default:
			i += 5
		}
	}
	return -1
}

// escapedUnit reads the escape \u and its four hexadecimal digits at the start of raw.
func escapedUnit(raw []byte) (uint64, bool) {
	if len(raw) < 6 || raw[0] != '\\' || raw[1] != 'u' {
		return 0, false
	}
	unit, err := strconv.ParseUint(string(raw[2:6]), 16, 16)
	return unit, err == nil
}
