package strictjson_test

import (
	"encoding/json"
	"errors"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/wopwitness/wopwitness/reports/verify/strictjson"
)

func TestReadRefusesWhatTwoReadersCouldReadDifferently(t *testing.T) {
	for _, c := range []struct {
		name, text string
		kind       strictjson.Kind // "" for a document that is read
		path       string
	}{
		{"an object", `{"a":[1,true,null,"x"]}`, "", ""},
		{"space around it", " \n{}\n ", "", ""},
		{"a member twice", `{"a":1,"b":{"c":1,"c":2}}`, strictjson.Twice, "/b/c"},
		{"a member twice under an escape", `{"a":1,"\u0061":2}`, strictjson.Twice, "/a"},
		{"names that look alike are two", `{"a":1,"а":2}`, "", ""},
		{"a name in another case is another", `{"a":1,"A":2}`, "", ""},
		{"a plain integer", `9007199254740991`, "", ""},
		{"a canonical fraction", `0.1`, "", ""},
		{"a canonical exponent", `1e+21`, "", ""},
		{"an exponent", `{"a":1e2}`, strictjson.NumberForm, "/a"},
		{"a fraction of nothing", `[1.0]`, strictjson.NumberForm, "/0"},
		{"minus nothing", `-0`, strictjson.NumberForm, ""},
		{"an integer that no double holds", `9007199254740993`, strictjson.NumberForm, ""},
		{"a number beyond all", `1e999`, strictjson.NumberForm, ""},
		{"a number of many digits", strings.Repeat("1", 100), strictjson.NumberForm, ""},
		{"a leading zero", `01`, strictjson.NotJSON, ""},
		{"a plus", `+1`, strictjson.NotJSON, ""},
		{"not a number", `NaN`, strictjson.NotJSON, ""},
		{"half of a pair", `"\ud83d"`, strictjson.LoneSurrogate, ""},
		{"the other half", `"\ude00"`, strictjson.LoneSurrogate, ""},
		{"a whole pair", `"\ud83d\ude00"`, "", ""},
		{"a backslash before a u", `"\\ud83d"`, "", ""},
		{"no UTF-8", "\"\xFF\"", strictjson.NotUTF8, ""},
		{"a surrogate in UTF-8", "\"\xED\xA0\x80\"", strictjson.NotUTF8, ""},
		{"a byte order mark", "\xEF\xBB\xBF{}", strictjson.NotJSON, ""},
		{"nothing", ``, strictjson.NotJSON, ""},
		{"cut short", `{"a":`, strictjson.NotJSON, "/a"},
		{"two documents", `{}{}`, strictjson.NotJSON, ""},
		{"a comment", `{} // x`, strictjson.NotJSON, ""},
		{"a comma too many", `[1,]`, strictjson.NotJSON, "/1"},
		{"at the depth", strings.Repeat("[", 8) + strings.Repeat("]", 8), "", ""},
		{"beyond the depth", strings.Repeat("[", 9) + strings.Repeat("]", 9), strictjson.TooDeep, strings.Repeat("/0", 8)},
		{"beyond the size", `"` + strings.Repeat("x", 200) + `"`, strictjson.TooLarge, ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			_, err := strictjson.Read([]byte(c.text), strictjson.Limits{Bytes: 150, Depth: 8})
			var p *strictjson.Problem
			switch {
			case c.kind == "" && err != nil:
				t.Fatalf("refused: %v", err)
			case c.kind != "" && (!errors.As(err, &p) || p.Kind != c.kind || p.Path != c.path):
				t.Fatalf("got %#v, want %s at %q", err, c.kind, c.path)
			}
		})
	}
}

func FuzzRead(f *testing.F) {
	for _, seed := range []string{`{"a":[1,"\ud83d\ude00",null]}`, `{"a":1,"a":2}`, `1e2`, "\xFF", `"\ud83d`} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, raw []byte) {
		v, err := strictjson.Read(raw, strictjson.Limits{Bytes: 1 << 16, Depth: 16})
		if err != nil {
			var p *strictjson.Problem
			if !errors.As(err, &p) || p.Kind == "" || p.Says == "" {
				t.Fatalf("an error that says nothing: %#v", err)
			}
			return
		}
		written, err := json.Marshal(v)
		if err != nil {
			t.Fatalf("what was read cannot be written: %v", err)
		}
		again, err := strictjson.Read(written, strictjson.Limits{Depth: 16})
		if err != nil {
			t.Fatalf("what was written cannot be read: %v", err)
		}
		if diff := cmp.Diff(v, again); diff != "" {
			t.Errorf("reading what was written differs:\n%s", diff)
		}
	})
}
