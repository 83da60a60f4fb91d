package observe

import (
	"encoding/json"
	"reflect"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

// decoded is what encoding/json makes of an object.
func decoded(raw []byte) map[string]json.RawMessage {
	var m map[string]json.RawMessage
	if !strings.HasPrefix(strings.TrimLeft(string(raw), space), "{") || json.Unmarshal(raw, &m) != nil {
		return nil
	}
	return m
}

func listed(raw []byte) ([]json.RawMessage, bool) {
	var list []json.RawMessage
	if !strings.HasPrefix(strings.TrimLeft(string(raw), space), "[") || json.Unmarshal(raw, &list) != nil {
		return nil, false
	}
	return list, true
}

func sameAsDecoded(t interface{ Errorf(string, ...any) }, raw []byte) {
	if got, want := Members(raw), decoded(raw); !reflect.DeepEqual(got, want) {
		t.Errorf("%q: members %q, want %q", raw, got, want)
	}
	got, ok := Elements(raw)
	want, is := listed(raw)
	if ok != is || len(got) != len(want) || len(want) > 0 && !reflect.DeepEqual(got, want) {
		t.Errorf("%q: elements %q, %v, want %q, %v", raw, got, ok, want, is)
	}
}

func TestMembersAreThoseOfADecoder(t *testing.T) {
	for _, text := range []string{
		``, ` `, `{}`, `[]`, ` { } `, `{"a":1}`, "\t{ \"a\" :\n1 , \"b\": null }\r\n", `{"a":1,"a":2}`, `{"":{}}`,
		`{"a\u0062":"x","ab":"y"}`, `{"a":"\"","b":"\\","c":"\\\"","d":"\\\\"}`, `{"a":"}{][,:"}`, `{"a":[{"b":["]"]}],"c":-1.5e+3}`,
		`{"a":true,"b":false}`, `{"a":{"b":{"c":[]}}}`, `[1,"a",null,{"b":[]},[]]`, `[ 1 , 2 ]`, `{"é":"ü"}`, "{\"\xff\":1}",
		`{`, `{"a"`, `{"a":}`, `{"a":1,}`, `{a:1}`, `[1,]`, `[1 2]`, `{"a":1}}`, `{"a":1} {}`, `null`, `"a"`, `7`, `{"a" "b"}`, `{"a":"`,
		strings.Repeat("[", 12000), strings.Repeat(`{"a":`, 300) + "1" + strings.Repeat("}", 300),
	} {
		sameAsDecoded(t, []byte(text))
	}
}

func TestMembersOfAnyText(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		sameAsDecoded(t, []byte(strings.Join(rapid.SliceOf(rapid.SampledFrom([]string{
			"{", "}", "[", "]", ",", ":", `"`, `\`, " ", "\n", `"a"`, `"b":`, "1", "null", "true", `\u00e9`, "\xff", "e", "-",
		})).Draw(t, "pieces"), "")))
	})
}

func TestMembersOfAnyDocument(t *testing.T) {
	var value func(depth int) *rapid.Generator[any]
	value = func(depth int) *rapid.Generator[any] {
		leaf := rapid.OneOf(rapid.String().AsAny(), rapid.Float64Range(-1e9, 1e9).AsAny(), rapid.Bool().AsAny(), rapid.Just[any](nil))
		if depth == 0 {
			return leaf
		}
		return rapid.OneOf(leaf, rapid.SliceOfN(value(depth-1), 0, 4).AsAny(), rapid.MapOfN(rapid.String(), value(depth-1), 0, 4).AsAny())
	}
	document := value(3)
	rapid.Check(t, func(t *rapid.T) {
		v := document.Draw(t, "document")
		plain, err := json.Marshal(v)
		if err != nil {
			t.Fatal(err)
		}
		spaced, err := json.MarshalIndent(v, " ", "\t")
		if err != nil {
			t.Fatal(err)
		}
		sameAsDecoded(t, plain)
		sameAsDecoded(t, spaced)
	})
}

// What is not checked again is split all the same, whatever it is.
func TestMembersWithinAnyBytes(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		raw := []byte(rapid.StringOf(rapid.SampledFrom([]rune(`{}[],:"\ a1`))).Draw(t, "text"))
		MembersWithin(raw)
		ElementsWithin(raw)
	})
}
