package closedjson_test

import (
	"encoding/json"
	"testing"

	"github.com/wopwitness/wopwitness/mockhost/closedjson"
)

func TestObjectReadsFlagsNumbersAndLists(t *testing.T) {
	for _, c := range []struct{ name, body, says string }{
		{"all members", `{"on":true,"rate":0.85,"some":2e1,"raw":{"a":null},"items":[{},"x"],"places":[0,3]}`, ""},
		{"empty lists", `{"items":[],"places":[]}`, ""},
		{"a text for a flag", `{"on":"true"}`, `member "on" must be true or false`},
		{"null for a flag", `{"on":null}`, `member "on" must be true or false`},
		{"a text for a number", `{"rate":"0.85"}`, `member "rate" must be a number`},
		{"null for a number", `{"some":null}`, `member "some" must be a number`},
		{"too large a number", `{"rate":1e999}`, `member "rate" is too large a number`},
		{"null for a value", `{"raw":null}`, `member "raw" may not be null`},
		{"null for a list", `{"items":null}`, `member "items" may not be null`},
		{"an object for a list", `{"items":{}}`, `member "items" must be a list`},
		{"a text among integers", `{"places":[1,"2"]}`, `member "places" must be a list of integers`},
		{"a fraction among integers", `{"places":[1.5]}`, `member "places" must be a list of integers`},
		{"null among integers", `{"places":[null]}`, `member "places" must be a list of integers`},
		{"a list without end", `{"items":[1`, "the body is not well-formed JSON"},
	} {
		t.Run(c.name, func(t *testing.T) {
			var on bool
			var rate float64
			var some *float64
			var raw json.RawMessage
			var items []json.RawMessage
			var places []int
			err := closedjson.Object([]byte(c.body), map[string]any{
				"on": &on, "rate": &rate, "some": &some, "raw": &raw, "items": &items, "places": &places,
			})
			got := ""
			if err != nil {
				got = err.Error()
			}
			if got != c.says {
				t.Fatalf("got %q, want %q", got, c.says)
			}
			if c.name == "all members" && (!on || rate != 0.85 || some == nil || *some != 20 || string(raw) != `{"a":null}` ||
				len(items) != 2 || len(places) != 2 || places[1] != 3) {
				t.Errorf("got %v %v %v %s %s %v", on, rate, some, raw, items, places)
			}
		})
	}
}
