package verify

import (
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/wopwitness/wopwitness/reports/verify/strictjson"
	"github.com/wopwitness/wopwitness/scenarios/registry"
)

// shape says what the value at a path may be, and adds a refusal for each way in which it isn't.
type shape func(c *check, path string, v any)

// field is one member of an object.
type field struct {
	shape    shape
	optional bool
	absent   Code // what its absence is called, where it has a name of its own
}

func need(s shape) field                { return field{shape: s} }
func may(s shape) field                 { return field{shape: s, optional: true} }
func needAs(absent Code, s shape) field { return field{shape: s, absent: absent} }
func pointer(path, name string) string  { return path + "/" + strictjson.Escape(name) }
func element(path string, i int) string { return path + "/" + strconv.Itoa(i) }

// of gives a test for texts of least to most bytes that are all of the alphabet.
func of(least, most int, alphabet string) func(string) bool {
	return func(s string) bool {
		return len(s) >= least && len(s) <= most && !strings.ContainsFunc(s, func(r rune) bool {
			return !strings.ContainsRune(alphabet, r)
		})
	}
}

// closed is an object with these members and no others. Members are compared as bytes: another case or a letter that
// looks alike is another member.
func closed(fields map[string]field) shape {
	return func(c *check, path string, v any) {
		object, ok := v.(map[string]any)
		if !ok {
			c.refuse(WrongType, path, "expected an object, not %s", typeOf(v))
			return
		}
		for _, name := range sortedNames(object) {
			if f, known := fields[name]; known {
				f.shape(c, pointer(path, name), object[name])
			} else {
				c.refuse(UnknownMember, pointer(path, name), "there is no such member in a bundle of this version")
				for other := range fields {
					c.confusable = c.confusable || strings.EqualFold(name, other)
				}
			}
		}
		for _, name := range sortedNames(fields) {
			f := fields[name]
			if _, has := object[name]; has || f.optional {
				continue
			}
			code := f.absent
			if code == "" {
				code = MissingMember
			}
			c.refuse(code, pointer(path, name), "the member is not there")
		}
	}
}

// list is an array of at most that many elements.
func list(most int, each shape) shape {
	return func(c *check, path string, v any) {
		items, ok := v.([]any)
		switch {
		case !ok:
			c.refuse(WrongType, path, "expected an array, not %s", typeOf(v))
		case len(items) > most:
			c.refuse(WrongForm, path, "it has %d elements, more than %d", len(items), most)
		default:
			for i, item := range items {
				each(c, element(path, i), item)
			}
		}
	}
}

// text is a string of the form, refused under the code otherwise.
func text(code Code, form func(string) bool, expected string) shape {
	return func(c *check, path string, v any) {
		s, ok := v.(string)
		switch {
		case !ok:
			c.refuse(WrongType, path, "expected a string, not %s", typeOf(v))
		case !form(s):
			c.refuse(code, path, "expected %s", expected)
		}
	}
}

// free is a string for people, of 1 to most characters.
func free(most int) shape {
	return func(c *check, path string, v any) {
		s, ok := v.(string)
		switch {
		case !ok:
			c.refuse(WrongType, path, "expected a string, not %s", typeOf(v))
		case s == "" || utf8.RuneCountInString(s) > most:
			c.refuse(WrongForm, path, "expected 1 to %d characters", most)
		}
	}
}

// oneOf is one of these strings.
func oneOf(allowed ...string) shape {
	return func(c *check, path string, v any) {
		s, ok := v.(string)
		switch {
		case !ok:
			c.refuse(WrongType, path, "expected a string, not %s", typeOf(v))
		case !slices.Contains(allowed, s):
			c.refuse(WrongForm, path, "expected one of %q", allowed)
		}
	}
}

// whole is an integer from least to most, written in digits.
func whole(least, most int) shape {
	return func(c *check, path string, v any) {
		n, ok := v.(json.Number)
		if !ok {
			c.refuse(WrongType, path, "expected a number, not %s", typeOf(v))
			return
		}
		if i, err := strconv.Atoi(string(n)); err != nil || i < least || i > most {
			c.refuse(WrongForm, path, "expected an integer from %d to %d", least, most)
		}
	}
}

func truth(c *check, path string, v any) {
	if _, ok := v.(bool); !ok {
		c.refuse(WrongType, path, "expected true or false, not %s", typeOf(v))
	}
}

// anyObject is an object whose members are a host's own.
func anyObject(c *check, path string, v any) {
	if _, ok := v.(map[string]any); !ok {
		c.refuse(WrongType, path, "expected an object, not %s", typeOf(v))
	}
}

func typeOf(v any) string {
	switch v.(type) {
	case nil:
		return "null"
	case bool:
		return "a boolean"
	case json.Number:
		return "a number"
	case string:
		return "a string"
	case []any:
		return "an array"
	}
	return "an object"
}

func sortedNames[T any](m map[string]T) []string {
	names := make([]string, 0, len(m))
	for name := range m {
		names = append(names, name)
	}
	slices.Sort(names)
	return names
}

// check collects what is wrong with one bundle.
type check struct {
	report     Report
	legs       map[string]registry.Leg // by requirement id
	now        time.Time               // zero leaves the comparison out
	own        bool                    // the bundle rests on this build's registry
	foreign    bool                    // it rests on another one, whose ids may mean other things
	confusable bool                    // some unknown member is a known one but for its case, and a lenient decoder would take it for that
}

// mostRefusals keeps the report of a hostile bundle short; a person needs no more to see what it is.
const mostRefusals = 200

func (c *check) refuse(code Code, path, format string, args ...any) {
	if len(c.report.Refusals) < mostRefusals {
		c.report.Refusals = append(c.report.Refusals, Refusal{Code: code, Path: path, Says: fmt.Sprintf(format, args...)})
	}
}

func (c *check) note(code, format string, args ...any) {
	c.report.Notes = append(c.report.Notes, Note{Code: code, Says: fmt.Sprintf(format, args...)})
}
