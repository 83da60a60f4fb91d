package mockhost_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/wopwitness/wopwitness/mockhost"
)

func TestCreationIsCheckedFirst(t *testing.T) {
	h := start(t, mockhost.Config{})
	const noop = `"workflowId":"conformance-noop"`
	for name, c := range map[string]struct {
		key, body string
		one, two  string // status and error on either major
	}{
		"plain":                       {h.KeyA, `{` + noop + `}`, "201", "201"},
		"everything":                  {h.KeyA, `{` + noop + `,"inputs":{"a":[1]},"configurable":{},"tags":["x"],"metadata":{},"scopeId":"s"}`, "201", "201"},
		"own tenant":                  {h.KeyA, `{` + noop + `,"tenantId":"` + h.TenantA + `"}`, "201", "201"},
		"another tenant":              {h.KeyA, `{` + noop + `,"tenantId":"` + h.TenantB + `"}`, "403 forbidden", "403 id_tenant_mismatch"},
		"unknown member":              {h.KeyA, `{` + noop + `,"priority":1}`, "201", "400 validation_error"},
		"member twice":                {h.KeyA, `{` + noop + `,` + noop + `}`, "201", "400 validation_error"},
		"unknown workflow":            {h.KeyA, `{"workflowId":"nothing"}`, "400 validation_error", "404 not_found"},
		"no workflow":                 {h.KeyA, `{}`, "400 validation_error", "400 validation_error"},
		"workflow of another kind":    {h.KeyA, `{"workflowId":7}`, "400 validation_error", "400 validation_error"},
		"inputs of another kind":      {h.KeyA, `{` + noop + `,"inputs":[]}`, "400 validation_error", "400 validation_error"},
		"tags of another kind":        {h.KeyA, `{` + noop + `,"tags":{}}`, "400 validation_error", "400 validation_error"},
		"inputs null":                 {h.KeyA, `{` + noop + `,"inputs":null}`, "201", "400 validation_error"},
		"not JSON":                    {h.KeyA, `{`, "400 validation_error", "400 validation_error"},
		"no key":                      {"", `{` + noop + `}`, "401 unauthenticated", "401 unauthenticated"},
		"a key without the scope":     {h.KeyLow, `{` + noop + `}`, "403 forbidden", "403 forbidden"},
		"scope before the body":       {h.KeyLow, `{`, "403 forbidden", "403 forbidden"},
		"a body beyond what is taken": {h.KeyA, `{` + noop + `,"inputs":{"a":"` + strings.Repeat("x", 70<<10) + `"}}`, "413 payload_too_large", "413 payload_too_large"},
	} {
		for major, want := range map[int]string{1: c.one, 2: c.two} {
			a := h.do("POST", under(major, "/runs"), c.key, c.body)
			if got := strings.TrimSpace(fmt.Sprint(a.status, " ", a.code())); got != want {
				t.Errorf("%s, major %d: got %s %s, want %s", name, major, got, a.body, want)
			}
		}
	}
	a := h.do("POST", "/runs", h.KeyA, `{`+noop+`}`)
	made := a.object(t)
	path := pathOf(2, fmt.Sprint(made["runId"]))
	if made["status"] != "pending" || made["eventsUrl"] != path+"/events" || made["statusUrl"] != path || len(made) != 4 {
		t.Errorf("the answer is %s", a.body)
	}
	if a := h.do("POST", "/runs", h.KeyA, `{`+noop+`}`, "Content-Type: ", "Content-Type: text/plain"); a.status != 415 || a.code() != "unsupported_media_type" {
		t.Errorf("a body of another type: got %d %s", a.status, a.body)
	}
}

func TestCreationIsIdempotent(t *testing.T) {
	h := start(t, mockhost.Config{})
	const noop, dead = `{"workflowId":"conformance-noop"}`, `{"workflowId":"conformance-deadletter-exhaust"}`
	for _, major := range []int{1, 2} {
		key := "Idempotency-Key: k"
		first := h.do("POST", under(major, "/runs"), h.KeyA, noop, key)
		again := h.do("POST", under(major, "/runs"), h.KeyA, noop, key)
		if first.status != 201 || again.status != 201 || first.body != again.body ||
			first.header.Get("OpenWOP-Idempotent-Replay") != "" || again.header.Get("OpenWOP-Idempotent-Replay") != "true" {
			t.Errorf("major %d: got %d %s, then %d %s", major, first.status, first.body, again.status, again.body)
		}
		if a := h.do("POST", under(major, "/runs"), h.KeyA, dead, key); a.status != 409 || a.code() != "idempotency_key_mismatch" {
			t.Errorf("major %d: another body: got %d %s", major, a.status, a.body)
		}
		if a := h.do("POST", under(major, "/runs"), h.KeyB, noop, key); a.status != 201 || a.body == first.body {
			t.Errorf("major %d: another tenant: got %d %s", major, a.status, a.body)
		}
	}
	source := h.die(h.KeyA, 2)
	fork := func() answer {
		return h.do("POST", pathOf(2, source)+":fork", h.KeyA, `{"mode":"replay"}`, "Idempotency-Key: f")
	}
	if one, two := fork(), fork(); one.status != 201 || one.body != two.body {
		t.Errorf("a fork twice: %d %s, then %d %s", one.status, one.body, two.status, two.body)
	}
}
