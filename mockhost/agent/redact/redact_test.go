package redact_test

import (
	"encoding/json"
	"net/url"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/wopwitness/wopwitness/mockhost/agent/redact"
)

func TestTextLosesItsAddressesAndSecretsAndNothingElse(t *testing.T) {
	cases := map[string]struct{ text, want string }{
		"nothing to hide":              {"order 9 is locked: 50% done, a\\b & c", "order 9 is locked: 50% done, a\\b & c"},
		"an address":                   {"no customer ana.b@example.com here", "no customer [redacted-email] here"},
		"two, and punctuation":         {"<ana@example.com>, bo+x@shop.example.co.uk.", "<[redacted-email]>, [redacted-email]."},
		"percent-encoded at sign":      {"GET /c?to=ana%40example.com&n=1", "GET /c?to=[redacted-email]&n=1"},
		"every letter encoded":         {"to=%61%6e%61%40%65%78%61%6d%70%6c%65%2e%63%6f%6d;", "to=[redacted-email];"},
		"encoded twice":                {"ana%2540example%252Ecom", "[redacted-email]"},
		"escaped as JSON":              {`{"to":"ana\u0040example.com"}`, `{"to":"[redacted-email]"}`},
		"split by an escaped letter":   {`{"to":"an\u0061@exam\u0070le.com"}`, `{"to":"[redacted-email]"}`},
		"JSON within JSON":             {`{"b":"{\"to\":\"ana\\u0040example.com\"}"}`, `{"b":"{\"to\":\"[redacted-email]\"}"}`},
		"escaped as HTML":              {"ana&#64;example&period;com or bo&#x40;example.com", "[redacted-email] or [redacted-email]"},
		"quoted local part":            {`"ana b"@example.com`, "[redacted-email]"},
		"international":                {"用户@例子.公司 and ana＠example.com", "[redacted-email] and [redacted-email]"},
		"an address literal":           {"root@[127.0.0.1] and root@localhost", "[redacted-email] and [redacted-email]"},
		"a module version is no one":   {"lib@v1.2.3", "lib@v1.2.3"},
		"a mention is no one":          {"ask @ana at 5 @ home", "ask @ana at 5 @ home"},
		"a bearer token":               {"sent Authorization header Bearer abcdef123456 to it", "sent Authorization header Bearer [redacted-secret] to it"},
		"a key of this host":           {"key wop_AAAABBBBCCCCDDDD refused", "key [redacted-secret] refused"},
		"a signed token":               {"got eyJhbGciOi.eyJzdWIiOiIx.sig-1", "got [redacted-secret]"},
		"a secret parameter":           {"call ?api_key=hunter2&x=1", "call ?api_key=[redacted-secret]&x=1"},
		"a secret member in a text":    {`refused {"password": "hunter2", "x": 1}`, `refused {"password": "[redacted-secret]", "x": 1}`},
		"redacted already":             {"to [redacted-email], api_key=[redacted-secret]", "to [redacted-email], api_key=[redacted-secret]"},
		"a broken escape is no escape": {`100%, %4, \u00, &#;`, `100%, %4, \u00, &#;`},
		"":                             {"", ""},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			if got := redact.Text(c.text); got != c.want {
				t.Errorf("got  %s\nwant %s", got, c.want)
			}
		})
	}
}

func TestJSONKeepsItsShape(t *testing.T) {
	cases := map[string]struct{ raw, want string }{
		"values deep down": {`{"n":1.50,"a":[true,null,{"to":"ana@example.com"}],"z":"x"}`, `{"n":1.50,"a":[true,null,{"to":"[redacted-email]"}],"z":"x"}`},
		"names":            {`{"ana@example.com":1,"bo@example.com":2}`, `{"[redacted-email]":1,"[redacted-email] 2":2}`},
		"escapes":          {`{"to":"\u0061na\u0040example.com"}`, `{"to":"[redacted-email]"}`},
		"percent in JSON":  {`["ana%40example.com"]`, `["[redacted-email]"]`},
		"a secret member":  {`{"password":{"deep":"hunter2"},"token":"t","tokens":3,"secret":null}`, `{"password":"[redacted-secret]","token":"[redacted-secret]","tokens":3,"secret":null}`},
		"a bare text":      {`"ana@example.com"`, `"[redacted-email]"`},
		"not JSON":         {`{not ana@example.com`, `"{not [redacted-email]"`},
		"two values":       {`1 2`, `"1 2"`},
		"big number":       {`12345678901234567890123`, `12345678901234567890123`},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			if got := string(redact.JSON(json.RawMessage(c.raw))); got != c.want {
				t.Errorf("got  %s\nwant %s", got, c.want)
			}
		})
	}
}

// TestNoSpellingOfAnAddressIsLeft spells addresses in random ways, in a text around them, and reads the outcome as a
// curious person would: unescaped.
func TestNoSpellingOfAnAddressIsLeft(t *testing.T) {
	spell := func(t *rapid.T, address string) string {
		var b strings.Builder
		for _, r := range address {
			switch rapid.IntRange(0, 4).Draw(t, "spelling") {
			case 0:
				b.WriteString("%" + strings.ToUpper(hexOf(r, 2)))
			case 1:
				b.WriteString(`\u` + hexOf(r, 4))
			case 2:
				b.WriteString("&#x" + hexOf(r, 2) + ";")
			default:
				b.WriteRune(r)
			}
		}
		return b.String()
	}
	rapid.Check(t, func(t *rapid.T) {
		address := rapid.StringMatching(`[a-z][a-z0-9._+-]{0,10}[a-z0-9]@[a-z0-9]{1,8}\.(com|example|io)`).Draw(t, "address")
		text := "to " + spell(t, address) + ", and no more"
		if got := redact.Text(text); got != "to "+redact.Address+", and no more" {
			t.Fatalf("%s became %s", text, got)
		}
		if got := redact.Text("to " + url.QueryEscape(url.QueryEscape(address)) + " now"); got != "to "+redact.Address+" now" {
			t.Fatalf("the double-encoded %s became %s", address, got)
		}
	})
}

func hexOf(r rune, width int) string {
	const digits = "0123456789abcdef"
	out := make([]byte, width)
	for i := width - 1; i >= 0; i-- {
		out[i] = digits[r&15]
		r >>= 4
	}
	return string(out)
}

func FuzzJSONStaysJSON(f *testing.F) {
	f.Add([]byte(`{"a":"ana@example.com","b":[1,{"password":"x"}]}`))
	f.Add([]byte(`{"\ud800":"%4`))
	f.Fuzz(func(t *testing.T, raw []byte) {
		out := redact.JSON(raw)
		if !json.Valid(out) {
			t.Fatalf("%q became %q", raw, out)
		}
		if again := redact.JSON(out); string(again) != string(out) {
			t.Fatalf("redacted twice, %q became %q and then %q", raw, out, again)
		}
	})
}
