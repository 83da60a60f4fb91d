package mockhost_test

import (
	"encoding/json"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/wopwitness/wopwitness/mockhost"
)

func TestDiscoverySelectsTheDocumentByVersion(t *testing.T) {
	both := start(t, mockhost.Config{})
	one := start(t, mockhost.Config{Majors: []int{1}})
	two := start(t, mockhost.Config{Majors: []int{2}})
	for name, c := range map[string]struct {
		host    *host
		header  string
		status  int
		version string
		major1  bool
	}{
		"both, no header":     {both, "", 200, "1.0", true},
		"both, 1":             {both, "1", 200, "1.0", true},
		"both, 1.0":           {both, "1.0", 200, "1.0", true},
		"both, 2":             {both, "2", 200, "2.0", false},
		"both, 2.0":           {both, "2.0", 200, "2.0", false},
		"both, 3":             {both, "3", 406, "", false},
		"both, nonsense":      {both, "two", 406, "", false},
		"major 1 only, 1":     {one, "1", 200, "1.0", true},
		"major 1 only, 2":     {one, "2", 406, "", false},
		"major 2 only, none":  {two, "", 200, "2.0", false},
		"major 2 only, asked": {two, "2.0", 200, "2.0", false},
		"major 2 only, 1":     {two, "1", 406, "", false},
	} {
		t.Run(name, func(t *testing.T) {
			a := c.host.do("GET", "/.well-known/openwop", "", "", "OpenWOP-Version: "+c.header)
			if a.status != c.status || a.header.Get("OpenWOP-Version") != c.version {
				t.Fatalf("got %d with version %q, want %d with %q", a.status, a.header.Get("OpenWOP-Version"), c.status, c.version)
			}
			if c.status == 406 {
				if a.code() != "protocol_version_unsupported" {
					t.Errorf("got the error %q", a.code())
				}
				return
			}
			var doc map[string]any
			if err := json.Unmarshal([]byte(a.body), &doc); err != nil {
				t.Fatal(err)
			}
			if _, has := doc["protocolVersion"]; has != c.major1 {
				t.Errorf("protocolVersion present: %v, want %v", has, c.major1)
			}
			if _, has := doc["hostEvents"]; has == c.major1 {
				t.Errorf("hostEvents present: %v, want %v", has, !c.major1)
			}
		})
	}
}

func TestDiscoveryOfMajor2ClaimsWhatIsServed(t *testing.T) {
	h := start(t, mockhost.Config{
		MinRetention: 90 * time.Second, Seams: true, Version: "9.9.9",
		SigningKeys: []mockhost.SigningKey{{KeyID: "k1", PublicKey: strings.Repeat("A", 43)}},
	})
	a := h.do("GET", "/.well-known/openwop", "", "", "OpenWOP-Version: 2")
	var doc map[string]json.RawMessage
	if err := json.Unmarshal([]byte(a.body), &doc); err != nil {
		t.Fatal(err)
	}
	for member, want := range map[string]string{
		"conformance": `{"seamsProfile":"openwop-conformance-seams-v2"}`,
		"hostEvents": `{"replay":{"minRetentionSeconds":90},"since":"2.0","status":"stable","types":[` +
			`{"delivery":"durable","type":"inventory.item-changed"},{"delivery":"ephemeral","type":"presence.user-seen"},` +
			`{"delivery":"durable","type":"host-test.durable-triggered"},{"delivery":"ephemeral","type":"host-test.ephemeral-triggered"}],` +
			`"witness":"witnessable-gated"}`,
		"implementation": `{"name":"wopwitness-mockhost","vendor":"wopwitness","version":"9.9.9"}`,
		"limits": `{"clarificationRounds":0,"envelopesPerTurn":0,"maxNodeExecutions":1000,"schemaRounds":0,"since":"2.0",` +
			`"status":"stable","witness":"claims-check"}`,
		"preferredVersion": `"2.0"`,
		"protocolVersions": `["1.0","2.0"]`,
		"signingKeys": `[{"alg":"ed25519","keyId":"k1","publicKey":"AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA",` +
			`"use":"certification-bundle"}]`,
	} {
		if got := string(doc[member]); got != want {
			t.Errorf("%s: got %s, want %s", member, got, want)
		}
	}
	plain := start(t, mockhost.Config{})
	if a := plain.do("GET", "/.well-known/openwop", "", "", "OpenWOP-Version: 2"); strings.Contains(a.body, `"conformance":`) {
		t.Errorf("a host without seams advertises them: %s", a.body)
	}
}

func TestDiscoveryIsRevalidated(t *testing.T) {
	h := start(t, mockhost.Config{})
	get := func(headers ...string) answer { return h.do("GET", "/.well-known/openwop", "", "", headers...) }
	one, two := get("OpenWOP-Version: 1").header.Get("ETag"), get("OpenWOP-Version: 2").header.Get("ETag")
	if one == two || !strings.HasPrefix(one, `"`) || !strings.HasPrefix(two, `"`) {
		t.Fatalf("the tags must be strong and differ: %s and %s", one, two)
	}
	for name, c := range map[string]struct {
		given  string
		status int
	}{
		"the same":           {two, 304},
		"among others":       {`"x", ` + two, 304},
		"weakly the same":    {"W/" + two, 304},
		"any":                {"*", 304},
		"another":            {`"x"`, 200},
		"the other major's":  {one, 200},
		"without its quotes": {strings.Trim(two, `"`), 200},
	} {
		a := get("OpenWOP-Version: 2", "If-None-Match: "+c.given)
		if a.status != c.status || (a.status == 304) != (a.body == "") || a.header.Get("ETag") != two {
			t.Errorf("%s: got %d, %d bytes, tag %s", name, a.status, len(a.body), a.header.Get("ETag"))
		}
	}
	if !slices.Contains(get().header.Values("Vary"), "OpenWOP-Version") {
		t.Error("a cache isn't told that the document varies by version")
	}
	if a := h.do("HEAD", "/.well-known/openwop", "", "", "OpenWOP-Version: 2"); a.status != 200 || a.header.Get("ETag") != two || a.body != "" {
		t.Errorf("HEAD: got %d, tag %s", a.status, a.header.Get("ETag"))
	}
}

func TestErrorsHaveOneShapeEverywhere(t *testing.T) {
	h, limited := start(t, mockhost.Config{}), start(t, mockhost.Config{RateLimit: 0.5})
	limited.trigger(limited.KeyA, "durable")
	for name, c := range map[string]struct {
		a      answer
		status int
		code   string
	}{
		"no such path":        {h.do("GET", "/nothing/here", h.KeyA, ""), 404, "not_found"},
		"no such method":      {h.do("DELETE", "/host/events", h.KeyA, ""), 405, "method_not_allowed"},
		"no key":              {h.do("GET", "/host/events", "", ""), 401, "unauthenticated"},
		"a wrong key":         {h.do("GET", "/host/events", "wrong", ""), 401, "unauthenticated"},
		"another scheme":      {h.do("GET", "/host/events", "", "", "Authorization: Basic eDp5"), 401, "unauthenticated"},
		"no scope to read":    {h.do("GET", "/host/events", h.KeyLow, ""), 403, "forbidden"},
		"no scope to trigger": {h.do("POST", "/host/events/test", h.KeyLow, `{"delivery":"durable"}`), 403, "forbidden"},
		"another version":     {h.do("GET", "/host/events", h.KeyA, "", "OpenWOP-Version: 7"), 406, "protocol_version_unsupported"},
		"the other version":   {h.do("GET", "/host/events", h.KeyA, "", "OpenWOP-Version: 1"), 400, "protocol_version_mismatch"},
		"no media type":       {h.do("POST", "/host/events/test", h.KeyA, `{}`, "Content-Type: "), 415, "unsupported_media_type"},
		"another media type":  {h.do("POST", "/host/events/test", h.KeyA, `{}`, "Content-Type: ", "Content-Type: text/plain"), 415, "unsupported_media_type"},
		"a large body":        {h.do("POST", "/host/events/test", h.KeyA, strings.Repeat(" ", 70_000)), 413, "payload_too_large"},
		"too fast":            {limited.do("POST", "/host/events/test", limited.KeyA, `{"delivery":"durable"}`), 429, "rate_limited"},
	} {
		var body map[string]any
		if err := json.Unmarshal([]byte(c.a.body), &body); err != nil {
			t.Errorf("%s: %v in %q", name, err, c.a.body)
			continue
		}
		message, _ := body["message"].(string)
		_, details := body["details"]
		if c.a.status != c.status || c.a.code() != c.code || message == "" || len(body) > 3 || len(body) == 3 && !details {
			t.Errorf("%s: got %d %s", name, c.a.status, c.a.body)
		}
		if (c.status == http.StatusTooManyRequests) != (c.a.header.Get("Retry-After") == "2") {
			t.Errorf("%s: got Retry-After %q", name, c.a.header.Get("Retry-After"))
		}
	}
}

func TestEveryMajor2AnswerNamesItsVersion(t *testing.T) {
	h := start(t, mockhost.Config{Seams: true})
	for _, a := range []answer{
		h.do("GET", "/host/events", "", ""),
		h.do("POST", "/host/events/test", h.KeyA, `{"delivery":"durable"}`),
		h.do("GET", "/conformance/seams/sample/clock", h.KeyA, ""),
	} {
		if v := a.header.Get("OpenWOP-Version"); v != "2.0" {
			t.Errorf("%d %s names version %q", a.status, a.body, v)
		}
	}
	if v := h.do("GET", "/v1/host/sample/clock", h.KeyA, "").header.Get("OpenWOP-Version"); v != "" {
		t.Errorf("a major-1 answer names version %q", v)
	}
}

func TestMajor1OnlyHasNoHostEvents(t *testing.T) {
	h := start(t, mockhost.Config{Majors: []int{1}, Seams: true})
	for _, path := range []string{"/host/events", "/conformance/seams/sample/clock"} {
		if a := h.do("GET", path, h.KeyA, ""); a.status != 404 {
			t.Errorf("%s: got %d", path, a.status)
		}
	}
	if a := h.do("GET", "/v1/host/sample/clock", h.KeyA, ""); a.status != 200 {
		t.Errorf("the major-1 seam: got %d %s", a.status, a.body)
	}
}

func TestCORSOnlyWhereAllowed(t *testing.T) {
	h := start(t, mockhost.Config{CORSOrigin: "https://app.example"})
	closed := start(t, mockhost.Config{})
	preflight := []string{"Access-Control-Request-Method: GET", "Access-Control-Request-Headers: last-event-id"}
	for name, c := range map[string]struct {
		host   *host
		origin string
		allow  string
		status int
	}{
		"the origin":      {h, "https://app.example", "https://app.example", 204},
		"another origin":  {h, "https://evil.example", "", 405},
		"none configured": {closed, "https://app.example", "", 405},
	} {
		a := c.host.do("OPTIONS", "/host/events", "", "", append(preflight, "Origin: "+c.origin)...)
		if a.status != c.status || a.header.Get("Access-Control-Allow-Origin") != c.allow {
			t.Errorf("%s, preflight: got %d, allow %q", name, a.status, a.header.Get("Access-Control-Allow-Origin"))
		}
		a = c.host.do("GET", "/.well-known/openwop", "", "", "Origin: "+c.origin)
		if a.status != 200 || a.header.Get("Access-Control-Allow-Origin") != c.allow {
			t.Errorf("%s, request: got %d, allow %q", name, a.status, a.header.Get("Access-Control-Allow-Origin"))
		}
	}
}
