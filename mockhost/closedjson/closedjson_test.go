package closedjson_test

import (
	"strings"
	"testing"

	"github.com/wopwitness/wopwitness/mockhost/closedjson"
)

func TestObjectSaysWhatIsWrong(t *testing.T) {
	for _, c := range []struct{ name, body, says string }{
		{"all members", `{"name":"x","note":"y","count":3}`, ""},
		{"required only", `{"name":""}`, ""},
		{"in another order", "\n{ \"count\" : -1 , \"name\" : \"x\" }\t", ""},
		{"missing", `{"note":"y"}`, `member "name" is missing`},
		{"unknown", `{"name":"x","more":1}`, `unknown member "more"; known are count, name, note`},
		{"another case", `{"Name":"x"}`, `unknown member "Name"; known are count, name, note`},
		{"unknown and long", `{"` + strings.Repeat("ü", 33) + `":1}`, `unknown member "` + strings.Repeat("ü", 32) + `"…; known are count, name, note`},
		{"unknown and cut within a character", `{"a` + strings.Repeat("ü", 32) + `":1}`, `unknown member "a` + strings.Repeat("ü", 31) + `"…; known are count, name, note`},
		{"twice", `{"name":"x","name":"x"}`, `member "name" appears twice`},
		{"null", `{"name":null}`, `member "name" must be a string`},
		{"number for text", `{"name":1}`, `member "name" must be a string`},
		{"text for number", `{"name":"x","count":"3"}`, `member "count" must be an integer`},
		{"fraction", `{"name":"x","count":1.5}`, `member "count" must be an integer`},
		{"too large", `{"name":"x","count":99999999999999999999}`, `member "count" must be an integer`},
		{"array for text", `{"name":["x"]}`, `member "name" must be a string`},
		{"trailing value", `{"name":"x"} 1`, "something follows the JSON object"},
		{"not an object", `["name"]`, "the body must be a JSON object"},
		{"empty", ``, "the body must be a JSON object"},
		{"no end", `{"name":"x"`, "the JSON object doesn't end"},
		{"not UTF-8", "{\"name\":\"\xff\"}", "the body is not UTF-8"},
	} {
		t.Run(c.name, func(t *testing.T) {
			var name string
			var note *string
			var count int
			err := closedjson.Object([]byte(c.body), map[string]any{"name": &name, "note": &note, "count": &count}, "name")
			got := ""
			if err != nil {
				got = err.Error()
			}
			if got != c.says {
				t.Errorf("got %q, want %q", got, c.says)
			}
		})
	}
}

func TestObjectOfNoMembersSaysThatItHasNone(t *testing.T) {
	const want = `unknown member "name"; none is known`
	if err := closedjson.Object([]byte(`{"name":"x"}`), map[string]any{}); err == nil || err.Error() != want {
		t.Errorf("got %v, want %s", err, want)
	}
}

func FuzzObject(f *testing.F) {
	for _, s := range []string{`{"name":"x","count":3}`, `{"name":`, `{"name":{"name":"x"}}`, "{}{}", "\x00"} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, body []byte) {
		var name string
		var count int
		members := map[string]any{"name": &name, "count": &count}
		first := closedjson.Object(body, members, "name")
		if second := closedjson.Object(body, members, "name"); (first == nil) != (second == nil) {
			t.Errorf("two readings differ: %v and %v", first, second)
		}
	})
}
