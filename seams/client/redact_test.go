package client

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"net/url"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/wopwitness/wopwitness/witness/observe"
)

// tricky has what every escape changes, and a length that needs padding in base64.
const tricky = `s3cr?t/k>y+a~"1`

func redacting(t *testing.T, keys map[string]string, headers ...observe.Header) *Client {
	t.Helper()
	return newClient(t, Config{BaseURL: "http://127.0.0.1:1", Keys: keys, Headers: headers})
}

func TestEveryFormOfAKeyIsReplaced(t *testing.T) {
	c := redacting(t, map[string]string{"a": tricky, "b": "tenant-b-key"})
	jsonForm, err := json.Marshal(tricky)
	if err != nil {
		t.Fatal(err)
	}
	const a = "{{credential:a}}"
	for _, one := range []struct{ name, in, want string }{
		{"plain", "x" + tricky + "y", "x" + a + "y"},
		{"another credential", "tenant-b-key", "{{credential:b}}"},
		{"both", tricky + "tenant-b-key", a + "{{credential:b}}"},
		{"twice", tricky + tricky, a + a},
		{"standard base64", base64.StdEncoding.EncodeToString([]byte(tricky)), a},
		{"standard base64 without padding", base64.RawStdEncoding.EncodeToString([]byte(tricky + "1"))[:20], a},
		{"URL base64", base64.URLEncoding.EncodeToString([]byte(tricky)), a},
		{"base64 with its scheme", base64.StdEncoding.EncodeToString([]byte("Bearer " + tricky)), a},
		{"percent, as a query has it", url.QueryEscape(tricky), a},
		{"percent, as a path has it", url.PathEscape(tricky), a},
		{"percent in lower case", strings.ToLower(url.QueryEscape(tricky)), a},
		{"percent of every byte", percentAll(tricky), a},
		{"JSON", string(jsonForm), `"` + a + `"`},
		{"JSON with escaped slashes", strings.ReplaceAll(string(jsonForm), "/", `\/`), `"` + a + `"`},
		{"a projected segment", ProjectID(tricky), a},
		{"the key that no host issued", badKey, "{{credential:bad}}"},
		{"half of it", tricky[:8], tricky[:8]},
		{"another case", strings.ToUpper("tenant-b-key"), "TENANT-B-KEY"},
		{"none", "nothing here", "nothing here"},
		{"nothing", "", ""},
	} {
		t.Run(one.name, func(t *testing.T) {
			if got := string(c.Redact([]byte(one.in))); got != one.want {
				t.Errorf("%q becomes %q, want %q", one.in, got, one.want)
			}
		})
	}
}

func TestAKeyInTheBase64OfALongerTextIsReplaced(t *testing.T) {
	c := redacting(t, map[string]string{"a": "tenant-a-key"})
	for _, before := range []string{"", "1", "12", "123", `{"k":"`} {
		for _, e := range []*base64.Encoding{base64.StdEncoding, base64.URLEncoding, base64.RawStdEncoding} {
			in := e.EncodeToString([]byte(before + "tenant-a-key" + "}}tail"))
			if got := string(c.Redact([]byte(in))); !strings.Contains(got, "{{credential:a}}") {
				t.Errorf("after %q: %q becomes %q", before, in, got)
			}
		}
	}
	other := base64.StdEncoding.EncodeToString([]byte(`{"k":"tenant-x-key"}`))
	if got := string(c.Redact([]byte(other))); got != other {
		t.Errorf("another text becomes %q", got)
	}
}

func TestAKeyThatBeginsLikeAnotherIsReplacedWhole(t *testing.T) {
	c := redacting(t, map[string]string{"a": "tenant-key", "b": "tenant-key-two"})
	if got := string(c.Redact([]byte("tenant-key-two tenant-key"))); got != "{{credential:b}} {{credential:a}}" {
		t.Errorf("got %q", got)
	}
}

func TestAShortKeyIsReplacedAsACredentialOnly(t *testing.T) {
	c := redacting(t, map[string]string{"a": "abc"})
	for in, want := range map[string]string{
		"Authorization: Bearer abc": "Authorization: Bearer {{credential:a}}",
		"alphabet abcdef":           "alphabet abcdef",
	} {
		if got := string(c.Redact([]byte(in))); got != want {
			t.Errorf("%q becomes %q", in, got)
		}
	}
}

func TestAnOperatorsSecretHeaderIsReplaced(t *testing.T) {
	c := redacting(t, nil, observe.Header{Name: "X-Gateway-Token", Value: "gateway-secret"}, observe.Header{Name: "X-Trace", Value: "trace-value"})
	if got := string(c.Redact([]byte("gateway-secret trace-value"))); got != "{{header:X-Gateway-Token}} trace-value" {
		t.Errorf("got %q", got)
	}
}

func TestRedactDoesNotChangeItsArgument(t *testing.T) {
	c := redacting(t, map[string]string{"a": "tenant-a-key"})
	in := []byte("x tenant-a-key y")
	c.Redact(in)
	if string(in) != "x tenant-a-key y" {
		t.Errorf("the argument became %q", in)
	}
}

func TestStreamingRedactionIsTheWholeOnes(t *testing.T) {
	c := redacting(t, map[string]string{"a": tricky, "b": "abab-abac", "low": "abab-ab"})
	parts := []string{tricky, tricky[:5], "abab-abac", "abab-ab", "abab-", url.QueryEscape(tricky), base64.StdEncoding.EncodeToString([]byte(tricky)), "\n\n", "data: x", "a"}
	rapid.Check(t, func(t *rapid.T) {
		text := strings.Join(rapid.SliceOfN(rapid.SampledFrom(parts), 0, 12).Draw(t, "parts"), "") + "\n"
		want := c.Redact([]byte(text))
		r := c.Redactor()
		var got []byte
		for rest := []byte(text); len(rest) > 0; {
			n := rapid.IntRange(1, len(rest)).Draw(t, "n")
			got = append(got, r.Feed(rest[:n])...)
			rest = rest[n:]
		}
		got = append(got, r.Flush()...)
		if !bytes.Equal(got, want) {
			t.Fatalf("%q:\n got %q\nwant %q", text, got, want)
		}
	})
}

func TestACompleteLineIsNeverHeldBack(t *testing.T) {
	c := redacting(t, map[string]string{"a": "tenant-a-key"})
	r := c.Redactor()
	if got := string(r.Feed([]byte("data: tenant\n\n"))); got != "data: tenant\n\n" {
		t.Errorf("got %q", got)
	}
	if got := string(r.Feed([]byte("data: tenant-a"))); got != "data: " {
		t.Errorf("the beginning of a key was given out: %q", got)
	}
	if got := string(r.Feed([]byte("-key"))); got != "{{credential:a}}" {
		t.Errorf("got %q", got)
	}
}

func TestTheEndOfAStreamShowsNoLargerPartOfAKey(t *testing.T) {
	c := redacting(t, map[string]string{"a": "tenant-a-key"})
	for in, want := range map[string]string{
		"x tenant-a-k":   "x {{cut}}",
		"x te":           "x te",
		"x tenant-a-key": "x {{credential:a}}",
		"":               "",
	} {
		r := c.Redactor()
		got := string(r.Feed([]byte(in))) + string(r.Flush())
		if got != want {
			t.Errorf("%q ends as %q, want %q", in, got, want)
		}
	}
}

func TestAKeyAsAHeadersNameIsReplacedInAnyCase(t *testing.T) {
	f := newForms(map[string]string{"a": "Some-Key-0123"}, nil)
	for name, want := range map[string]string{
		"X-Some-Key-0123-Y": "X-" + observe.Marker("a") + "-Y", "Some-Key-0123": observe.Marker("a"), "SOME-KEY-0123": observe.Marker("a"), "Content-Type": "Content-Type",
	} {
		if got := f.inName(name); got != want {
			t.Errorf("%q: %q, want %q", name, got, want)
		}
	}
}
