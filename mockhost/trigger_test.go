package mockhost_test

import (
	"net/http"
	"strings"
	"sync"
	"testing"

	"github.com/wopwitness/wopwitness/mockhost"
)

func TestTriggerTakesItsClosedBodyOnly(t *testing.T) {
	h := start(t, mockhost.Config{})
	durableOnly := start(t, mockhost.Config{TriggerClasses: []string{"durable"}})
	for name, c := range map[string]struct {
		host   *host
		key    string
		body   string
		status int
		code   string
	}{
		"durable":                {h, h.KeyA, `{"delivery":"durable"}`, 202, ""},
		"ephemeral":              {h, h.KeyA, ` {"delivery" : "ephemeral"} `, 202, ""},
		"own workspace":          {h, h.KeyA, `{"delivery":"durable","workspaceId":"` + h.Workspace + `"}`, 202, ""},
		"bound, own workspace":   {h, h.KeyWS, `{"delivery":"durable","workspaceId":"` + h.Workspace + `"}`, 202, ""},
		"bound, no workspace":    {h, h.KeyWS, `{"delivery":"durable"}`, 202, ""},
		"bound, sibling":         {h, h.KeyWS, `{"delivery":"durable","workspaceId":"` + h.OtherWorkspace + `"}`, 403, "forbidden"},
		"foreign workspace":      {h, h.KeyA, `{"delivery":"durable","workspaceId":"` + h.ForeignWorkspace + `"}`, 403, "id_tenant_mismatch"},
		"unknown workspace":      {h, h.KeyA, `{"delivery":"durable","workspaceId":"nowhere"}`, 404, "not_found"},
		"empty workspace":        {h, h.KeyA, `{"delivery":"durable","workspaceId":""}`, 400, "validation_error"},
		"workspace is null":      {h, h.KeyA, `{"delivery":"durable","workspaceId":null}`, 400, "validation_error"},
		"workspace a number":     {h, h.KeyA, `{"delivery":"durable","workspaceId":7}`, 400, "validation_error"},
		"workspace ungramatical": {h, h.KeyA, `{"delivery":"durable","workspaceId":"a/b"}`, 400, "validation_error"},
		"unknown class":          {h, h.KeyA, `{"delivery":"lasting"}`, 400, "validation_error"},
		"class in another case":  {h, h.KeyA, `{"delivery":"Durable"}`, 400, "validation_error"},
		"name in another case":   {h, h.KeyA, `{"Delivery":"durable"}`, 400, "validation_error"},
		"class not a string":     {h, h.KeyA, `{"delivery":true}`, 400, "validation_error"},
		"class missing":          {h, h.KeyA, `{}`, 400, "validation_error"},
		"unknown member":         {h, h.KeyA, `{"delivery":"durable","payload":{}}`, 400, "validation_error"},
		"member twice":           {h, h.KeyA, `{"delivery":"durable","delivery":"durable"}`, 400, "validation_error"},
		"trailing data":          {h, h.KeyA, `{"delivery":"durable"}{}`, 400, "validation_error"},
		"an array":               {h, h.KeyA, `[{"delivery":"durable"}]`, 400, "validation_error"},
		"cut short":              {h, h.KeyA, `{"delivery":"durable"`, 400, "validation_error"},
		"empty":                  {h, h.KeyA, ``, 400, "validation_error"},
		"not UTF-8":              {h, h.KeyA, "{\"delivery\":\"\xff\"}", 400, "validation_error"},
		"listed class":           {durableOnly, durableOnly.KeyA, `{"delivery":"durable"}`, 202, ""},
		"class not listed":       {durableOnly, durableOnly.KeyA, `{"delivery":"ephemeral"}`, 400, "validation_error"},
	} {
		t.Run(name, func(t *testing.T) {
			a := c.host.do("POST", "/host/events/test", c.key, c.body)
			if a.status != c.status || a.code() != c.code {
				t.Errorf("got %d %s", a.status, a.body)
			}
		})
	}
	none := start(t, mockhost.Config{TriggerClasses: []string{}})
	if a := none.do("POST", "/host/events/test", none.KeyA, `{"delivery":"durable"}`); a.status != 404 {
		t.Errorf("a host that lists neither class: got %d %s", a.status, a.body)
	}
}

func TestTriggeredEventsArriveInTheClosedEnvelope(t *testing.T) {
	h := start(t, mockhost.Config{})
	s := h.open(h.KeyWS, "", "")
	for name, c := range map[string]struct{ body, eventType string }{
		"durable":      {`{"delivery":"durable"}`, "host-test.durable-triggered"},
		"ephemeral":    {`{"delivery":"ephemeral"}`, "host-test.ephemeral-triggered"},
		"in workspace": {`{"delivery":"durable","workspaceId":"` + h.Workspace + `"}`, "host-test.durable-triggered"},
	} {
		t.Run(name, func(t *testing.T) {
			a := h.do("POST", "/host/events/test", h.KeyWS, c.body)
			id := h.eventID(a)
			if want := `{"eventId":"` + id + `","type":"` + c.eventType + `"}`; a.body != want {
				t.Errorf("answer: got %s, want %s", a.body, want)
			}
			b, _ := s.next()
			stamp, _ := b.envelope["timestamp"].(string)
			durable := strings.HasSuffix(c.eventType, "durable-triggered")
			want := "event: " + c.eventType + "\n"
			if durable {
				want += "id: " + id + "\n"
			}
			want += `data: {"eventId":"` + id + `","type":"` + c.eventType + `","timestamp":"` + stamp + `","delivery":"` + map[bool]string{true: "durable", false: "ephemeral"}[durable] + `"`
			if name == "in workspace" {
				want += `,"workspaceId":"` + h.Workspace + `"`
			}
			want += `,"payload":{}}`
			if b.raw != want {
				t.Errorf("got  %q\nwant %q", b.raw, want)
			}
		})
	}
}

func TestIdempotencyKeyMakesOneEvent(t *testing.T) {
	h := start(t, mockhost.Config{})
	post := func(key, idempotency, body string) answer {
		return h.do("POST", "/host/events/test", key, body, "Idempotency-Key: "+idempotency)
	}
	for _, delivery := range []string{"durable", "ephemeral"} {
		body, key := `{"delivery":"`+delivery+`"}`, "key-"+delivery
		s := h.open(h.KeyA, "", "")
		first := post(h.KeyA, key, body)
		again := post(h.KeyA, key, ` { "delivery":"`+delivery+`" }`)
		if again.status != 202 || again.body != first.body || again.header.Get("OpenWOP-Idempotent-Replay") != "true" {
			t.Errorf("%s again: got %d %s, marked %q", delivery, again.status, again.body, again.header.Get("OpenWOP-Idempotent-Replay"))
		}
		if first.header.Get("OpenWOP-Idempotent-Replay") != "" {
			t.Errorf("%s: the first answer is marked as a replay", delivery)
		}
		other := post(h.KeyB, key, body)
		if other.status != 202 || other.body == first.body {
			t.Errorf("%s: another tenant's same key got %d %s", delivery, other.status, other.body)
		}
		sentinel := h.trigger(h.KeyA, "durable")
		if got := s.until(sentinel); len(got) != 2 || got[0] != h.eventID(first) {
			t.Errorf("%s: the stream had %v, want the first event and the sentinel", delivery, got)
		}
	}
	if a := post(h.KeyA, "key-durable", `{"delivery":"ephemeral"}`); a.status != 409 || a.code() != "idempotency_key_mismatch" {
		t.Errorf("another body: got %d %s", a.status, a.body)
	}
	for name, bad := range map[string]string{"too long": strings.Repeat("k", 256), "with a space": "a b", "not ASCII": "kä"} {
		if a := post(h.KeyA, bad, `{"delivery":"durable"}`); a.status != 400 || a.code() != "idempotency_key_invalid" {
			t.Errorf("%s: got %d %s", name, a.status, a.body)
		}
	}
}

func TestIdempotencyHoldsUnderConcurrencyAndAcrossInstances(t *testing.T) {
	h := start(t, mockhost.Config{})
	second, err := h.host.Peer(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	peer := serve(t, second)
	s := h.open(h.KeyA, "", "")
	var wg sync.WaitGroup
	answers := make(chan answer, 16)
	for i := range cap(answers) {
		to := []*host{h, peer}[i%2]
		wg.Go(func() {
			answers <- to.do("POST", "/host/events/test", h.KeyA, `{"delivery":"durable"}`, "Idempotency-Key: one")
		})
	}
	wg.Wait()
	close(answers)
	ids := map[string]bool{}
	for a := range answers {
		switch {
		case a.status == http.StatusAccepted:
			ids[h.eventID(a)] = true
		case a.status != http.StatusConflict || a.code() != "idempotency_in_flight":
			t.Errorf("got %d %s", a.status, a.body)
		}
	}
	if len(ids) != 1 {
		t.Errorf("got %d ids, want 1", len(ids))
	}
	if got := s.until(h.trigger(h.KeyA, "durable")); len(got) != 2 {
		t.Errorf("the stream had %v, want one event and the sentinel", got)
	}
}
