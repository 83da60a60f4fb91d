package mockhost_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/wopwitness/wopwitness/mockhost"
)

func TestRunsAreFoundByEveryFormOfTheirID(t *testing.T) {
	h := start(t, mockhost.Config{})
	bound := h.die(h.KeyA, 2)
	tenant, opaque, _ := strings.Cut(bound, "/")
	for name, c := range map[string]struct {
		key, path string
		want      string
	}{
		"projected":                      {h.KeyA, "/runs/" + tenant + "~2F" + opaque, "200"},
		"percent":                        {h.KeyA, "/runs/" + tenant + "%2F" + opaque, "200"},
		"percent, lower case":            {h.KeyA, "/runs/" + tenant + "%2f" + opaque, "200"},
		"bare, under one's own tenant":   {h.KeyA, "/runs/" + opaque, "200"},
		"projection in lower case":       {h.KeyA, "/runs/" + tenant + "~2f" + opaque, "404 not_found"},
		"projection cut off":             {h.KeyA, "/runs/" + tenant + "~2", "404 not_found"},
		"another id of one's own":        {h.KeyA, "/runs/" + tenant + "~2Fr-00000000000000000000000000", "404 not_found"},
		"another tenant's":               {h.KeyB, "/runs/" + tenant + "~2F" + opaque, "403 id_tenant_mismatch"},
		"another tenant's, percent":      {h.KeyB, "/runs/" + tenant + "%2F" + opaque, "403 id_tenant_mismatch"},
		"another tenant's, never there":  {h.KeyB, "/runs/" + tenant + "~2Fr-00000000000000000000000000", "403 id_tenant_mismatch"},
		"a tenant that nobody knows":     {h.KeyA, "/runs/nobody~2F" + opaque, "403 id_tenant_mismatch"},
		"another's, bare":                {h.KeyB, "/runs/" + opaque, "404 not_found"},
		"major 1":                        {h.KeyA, "/v1/runs/" + opaque, "200"},
		"major 1, another tenant's":      {h.KeyB, "/v1/runs/" + opaque, "404 not_found"},
		"major 1, never there":           {h.KeyA, "/v1/runs/r-00000000000000000000000000", "404 not_found"},
		"no key":                         {"", "/runs/" + opaque, "401 unauthenticated"},
		"scope before another tenant":    {h.KeyLow, "/runs/nobody~2F" + opaque, "403 forbidden"},
		"scope before what is not there": {h.KeyLow, "/v1/runs/nothing", "403 forbidden"},
		"nothing":                        {h.KeyA, "/runs/", "404 not_found"},
		"broken percent":                 {h.KeyA, "/runs/x/events/poll/more", "404 not_found"},
	} {
		a := h.do("GET", c.path, c.key, "")
		if got := strings.TrimSpace(fmt.Sprint(a.status, " ", a.code())); got != c.want {
			t.Errorf("%s: GET %s: got %s %s, want %s", name, c.path, got, a.body, c.want)
		}
	}
	for name, c := range map[string]struct {
		path, want string
	}{
		"colon":             {"/runs/" + tenant + "~2F" + opaque + ":fork", "201"},
		"colon, percent":    {"/runs/" + tenant + "%2F" + opaque + "%3Afork", "201"},
		"bare":              {"/runs/" + opaque + ":fork", "201"},
		"major 1":           {"/v1/runs/" + opaque + ":fork", "201"},
		"an id with colons": {"/v1/runs/a:b:c:fork", "404 not_found"},
		"another verb":      {"/runs/" + opaque + ":spoon", "404 not_found"},
		"no verb":           {"/runs/" + opaque, "405 method_not_allowed"},
		"as a folder":       {"/runs/" + opaque + "/fork", "404 not_found"},
		"of a read":         {"/runs/" + opaque + "/events", "405 method_not_allowed"},
	} {
		a := h.do("POST", c.path, h.KeyA, `{"mode":"replay"}`)
		if got := strings.TrimSpace(fmt.Sprint(a.status, " ", a.code())); got != c.want {
			t.Errorf("%s: POST %s: got %s %s, want %s", name, c.path, got, a.body, c.want)
		}
	}
}

func TestRunPathsBelongToTheirMajor(t *testing.T) {
	h, one := start(t, mockhost.Config{}), start(t, mockhost.Config{Majors: []int{1}})
	for name, c := range map[string]struct {
		h             *host
		path, version string
		want          string
		answered      string // OpenWOP-Version of the answer
	}{
		"major 2":                {h, "/runs", "2", "200", "2.0"},
		"major 2, unsaid":        {h, "/runs", "", "200", "2.0"},
		"major 1 at major 2":     {h, "/runs", "1", "400 protocol_version_mismatch", "2.0"},
		"major 2 at major 1":     {h, "/v1/runs/x", "2.0", "400 protocol_version_mismatch", "1.0"},
		"major 1":                {h, "/v1/runs/x", "1.0", "404 not_found", "1.0"},
		"no such major":          {h, "/v1/runs/x", "3", "406 protocol_version_unsupported", "1.0"},
		"major 1 alone, major 2": {one, "/runs", "2", "404 not_found", ""},
		"major 1 has no list":    {h, "/v1/runs", "", "405 method_not_allowed", "1.0"},
	} {
		a := c.h.do("GET", c.path, c.h.KeyA, "", "OpenWOP-Version: "+c.version)
		if got := strings.TrimSpace(fmt.Sprint(a.status, " ", a.code())); got != c.want || a.header.Get("OpenWOP-Version") != c.answered {
			t.Errorf("%s: got %s %s in version %q, want %s in %q", name, got, a.body, a.header.Get("OpenWOP-Version"), c.want, c.answered)
		}
	}
}
