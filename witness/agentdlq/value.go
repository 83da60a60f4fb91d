package agentdlq

import (
	"bytes"
	"encoding/json"
	"math"
	"time"

	"github.com/wopwitness/wopwitness/witness/observe"
)

// value is a JSON value that somebody else wrote. Every reader is total: what is not there or of another kind reads as
// nothing.
type value struct {
	v     any
	there bool
}

// decode reads a JSON text; anything that is none reads as nothing.
func decode(text []byte) value {
	d := json.NewDecoder(bytes.NewReader(text))
	d.UseNumber()
	var v any
	if d.Decode(&v) != nil {
		return value{}
	}
	return value{v, true}
}

func (x value) get(name string) value {
	members, _ := x.v.(map[string]any)
	v, there := members[name]
	return value{v, there}
}

func (x value) text() string {
	s, _ := x.v.(string)
	return s
}

func (x value) isList() bool {
	_, is := x.v.([]any)
	return is
}

// isNull says that the member is there and null.
func (x value) isNull() bool { return x.there && x.v == nil }

func (x value) items() []value {
	list, _ := x.v.([]any)
	items := make([]value, 0, len(list))
	for _, v := range list {
		items = append(items, value{v, true})
	}
	return items
}

// number gives a JSON number, and false where it is none or beyond what a float64 holds.
func (x value) number() (float64, bool) {
	n, is := x.v.(json.Number)
	if !is {
		return 0, false
	}
	f, err := n.Float64()
	return f, err == nil
}

// count reads an integer of zero or more: JSON knows no integers, so 3, 3.0 and 3e0 are one. None is unknown.
func (x value) count() Count {
	f, ok := x.number()
	if !ok || f < 0 || f > 1<<53 || f != math.Trunc(f) {
		return unknown
	}
	return Count(f)
}

// instant reads a time in RFC 3339, the zero time where it is none.
func (x value) instant() time.Time {
	t, _ := observe.Instant(x.text())
	return t
}

// raw writes the value as JSON, its members sorted, and "nothing" where there is none.
func (x value) raw() string {
	if !x.there {
		return "nothing"
	}
	b, err := json.Marshal(x.v)
	if err != nil {
		return "nothing"
	}
	return string(b)
}

// canonical writes the value as raw does, with each number in one spelling: 3, 3.0 and 3e0 are one number.
func (x value) canonical() string { return value{oneSpelling(x.v), x.there}.raw() }

func oneSpelling(v any) any {
	switch v := v.(type) {
	case json.Number:
		if f, err := v.Float64(); err == nil && math.Abs(f) < 1<<53 { // beyond that two numbers would become one
			return f
		}
	case []any:
		list := make([]any, 0, len(v))
		for _, item := range v {
			list = append(list, oneSpelling(item))
		}
		return list
	case map[string]any:
		object := make(map[string]any, len(v))
		for name, item := range v {
			object[name] = oneSpelling(item)
		}
		return object
	}
	return v
}

// Count is a number of things as a host tells it; unknown where it tells none.
type Count int64

const unknown Count = -1

// String is the number, for findings.
func (c Count) String() string {
	if c == unknown {
		return "no count"
	}
	b, _ := json.Marshal(int64(c))
	return string(b)
}
