package client

import (
	"encoding/json"
	"errors"
	"reflect"
	"strings"
	"testing"
)

func TestStrict(t *testing.T) {
	for _, c := range []struct {
		name string
		in   string
		want any
		err  error
	}{
		{"an object", `{"a":[1,2.5,"x",true,null,{}]}`, map[string]any{"a": []any{json.Number("1"), json.Number("2.5"), "x", true, nil, map[string]any{}}}, nil},
		{"a scalar", ` "x" `, "x", nil},
		{"a byte order mark", "\xEF\xBB\xBF{}", map[string]any{}, nil},
		{"a number beyond a float", `1e999999`, json.Number("1e999999"), nil},
		{"one name in two objects", `{"a":{"x":1},"b":{"x":1}}`, map[string]any{"a": map[string]any{"x": json.Number("1")}, "b": map[string]any{"x": json.Number("1")}}, nil},
		{"a member twice", `{"a":1,"a":1}`, nil, ErrDuplicateMember},
		{"a member twice, once escaped", `{"a":1,"\u0061":1}`, nil, ErrDuplicateMember},
		{"a member twice below", `{"b":[{"a":1,"a":2}]}`, nil, ErrDuplicateMember},
		{"as deep as is read", strings.Repeat("[", MaxDepth) + strings.Repeat("]", MaxDepth), nest(MaxDepth), nil},
		{"deeper", strings.Repeat("[", MaxDepth+1) + strings.Repeat("]", MaxDepth+1), nil, ErrTooDeep},
		{"very deep", strings.Repeat(`{"a":`, 1_000_000), nil, ErrTooDeep},
		{"many values under a long name, twice", `{"` + strings.Repeat("n", 1<<20) + `":[` + strings.Repeat("1,", 1<<18) + `1],"a":1,"a":1}`, nil, ErrDuplicateMember},
		{"nothing", "", nil, ErrNotJSON},
		{"cut", `{"a":1`, nil, ErrNotJSON},
		{"cut after a name", `{"a"`, nil, ErrNotJSON},
		{"two documents", `{} {}`, nil, ErrNotJSON},
		{"a page", `<html>`, nil, ErrNotJSON},
		{"a stray bracket", `]`, nil, ErrNotJSON},
		{"mismatched brackets", `[}`, nil, ErrNotJSON},
		{"invalid UTF-8", "{\"a\":\"\xFF\"}", nil, ErrNotJSON},
	} {
		t.Run(c.name, func(t *testing.T) {
			got, err := Strict([]byte(c.in))
			if !errors.Is(err, c.err) || c.err != nil && err == nil {
				t.Fatalf("got error %v, want %v", err, c.err)
			}
			if !reflect.DeepEqual(got, c.want) {
				t.Errorf("got %v, want %v", got, c.want)
			}
		})
	}
}

func nest(n int) any {
	if n == 0 {
		return nil
	}
	if n == 1 {
		return []any{}
	}
	return []any{nest(n - 1)}
}

func FuzzStrict(f *testing.F) {
	f.Add([]byte(`{"a":[1,{"b":null}]}`))
	f.Add([]byte(`{"a":1,"a":2}`))
	f.Add([]byte("\xEF\xBB\xBF[]"))
	f.Fuzz(func(t *testing.T, b []byte) {
		value, err := Strict(b)
		if err != nil {
			if value != nil {
				t.Fatalf("a value with an error: %v", value)
			}
			return
		}
		again, err := json.Marshal(value)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := Strict(again); err != nil {
			t.Fatalf("what was read and written is not read: %v\n%s", err, again)
		}
	})
}
