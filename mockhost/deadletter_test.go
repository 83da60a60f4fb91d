package mockhost_test

import (
	"fmt"
	"path/filepath"
	"strings"
	"testing"

	"github.com/wopwitness/wopwitness/mockhost"
)

func TestForksAreRefusedAsTheTextSays(t *testing.T) {
	h := start(t, mockhost.Config{})
	for _, major := range []int{1, 2} {
		id := h.die(h.KeyA, major) // its log is 0 to 10
		foreign := map[int]string{1: "404 not_found", 2: "403 id_tenant_mismatch"}[major]
		never := pathOf(major, id[:len(id)-26]+"00000000000000000000000000")
		for name, c := range map[string]struct{ key, path, body, want string }{
			"replay":                {h.KeyA, "", `{"mode":"replay"}`, "201"},
			"replay from a place":   {h.KeyA, "", `{"mode":"replay","fromSeq":4}`, "201"},
			"replay, empty overlay": {h.KeyA, "", `{"mode":"replay","runOptionsOverlay":{}}`, "201"},
			"branch":                {h.KeyA, "", `{"mode":"branch","fromSeq":0}`, "201"},
			"branch at the end":     {h.KeyA, "", `{"mode":"branch","fromSeq":10}`, "201"},
			"past the end":          {h.KeyA, "", `{"mode":"branch","fromSeq":11}`, "422 fork_point_invalid"},
			"far past the end":      {h.KeyA, "", `{"mode":"replay","fromSeq":1073741824}`, "422 fork_point_invalid"},
			"negative":              {h.KeyA, "", `{"mode":"branch","fromSeq":-1}`, "400 validation_error"},
			"fraction":              {h.KeyA, "", `{"mode":"branch","fromSeq":1.5}`, "400 validation_error"},
			"text":                  {h.KeyA, "", `{"mode":"branch","fromSeq":"1"}`, "400 validation_error"},
			"branch from nowhere":   {h.KeyA, "", `{"mode":"branch"}`, "400 validation_error"},
			"replay with overlay":   {h.KeyA, "", `{"mode":"replay","runOptionsOverlay":{"inputs":{"a":1}}}`, "400 validation_error"},
			"overlay of a kind":     {h.KeyA, "", `{"mode":"branch","fromSeq":0,"runOptionsOverlay":{"inputs":[]}}`, "400 validation_error"},
			"overlay unknown":       {h.KeyA, "", `{"mode":"branch","fromSeq":0,"runOptionsOverlay":{"colour":1}}`, "400 validation_error"},
			"no mode":               {h.KeyA, "", `{}`, "400 validation_error"},
			"another mode":          {h.KeyA, "", `{"mode":"spoon"}`, "400 validation_error"},
			"unknown member":        {h.KeyA, "", `{"mode":"replay","why":"x"}`, "400 validation_error"},
			"no key":                {"", "", `{"mode":"replay"}`, "401 unauthenticated"},
			"without scope":         {h.KeyLow, "", `{"mode":"replay"}`, "403 forbidden"},
			"another tenant":        {h.KeyB, "", `{"mode":"replay"}`, foreign},
			"another's, bad body":   {h.KeyB, "", `{"mode":"spoon"}`, foreign},
			"never there":           {h.KeyA, never, `{"mode":"replay"}`, "404 not_found"},
		} {
			path := c.path
			if path == "" {
				path = pathOf(major, id)
			}
			a := h.do("POST", path+":fork", c.key, c.body)
			if got := strings.TrimSpace(fmt.Sprint(a.status, " ", a.code())); got != c.want {
				t.Errorf("major %d, %s: got %s %s, want %s", major, name, got, a.body, c.want)
			}
		}
	}
}

func TestForkIsARunOfItsOwn(t *testing.T) {
	h := start(t, mockhost.Config{})
	for _, major := range []int{1, 2} {
		id := h.create(h.KeyA, major, `{"workflowId":"conformance-deadletter-fixable"}`)
		before := h.ended(h.KeyA, major, id)
		snapshot := h.do("GET", pathOf(major, id), h.KeyA, "").body
		overlay := map[int]string{1: `{"conformanceFixed":true}`, 2: `{"version":1,"extensions":{"example":{"conformanceFixed":true}}}`}[major]
		a := h.do("POST", pathOf(major, id)+":fork", h.KeyA,
			`{"mode":"branch","fromSeq":4,"runOptionsOverlay":{"configurable":`+overlay+`}}`)
		made := a.object(t)
		child, _ := made["runId"].(string)
		if child == id || made["sourceRunId"] != id || made["mode"] != "branch" || made["fromSeq"] != float64(4) || made["eventsUrl"] != pathOf(major, child)+"/events" {
			t.Fatalf("major %d: the answer is %s", major, a.body)
		}
		log := h.ended(h.KeyA, major, child)
		want := typesOf(before[:4]) + " node.started:poison node.completed:poison run.completed"
		if got := typesOf(log); got != want {
			t.Errorf("major %d: the child's log\ngot  %s\nwant %s", major, got, want)
		}
		for i := range 4 {
			if log[i]["eventId"] == before[i]["eventId"] || fmt.Sprint(log[i]["payload"]) != fmt.Sprint(before[i]["payload"]) || log[i]["runId"] != child {
				t.Errorf("major %d: the child's event %d is %v of %v", major, i, log[i], before[i])
			}
		}
		if now := h.do("GET", pathOf(major, id), h.KeyA, "").body; now != snapshot {
			t.Errorf("major %d: the source\nis  %s\nwas %s", major, now, snapshot)
		}
		if now := h.ended(h.KeyA, major, id); fmt.Sprint(now) != fmt.Sprint(before) {
			t.Errorf("major %d: the source's log has changed", major)
		}
		if of := h.do("GET", pathOf(major, child), h.KeyA, "").object(t); of["sourceRunId"] != id {
			t.Errorf("major %d: the child is %v", major, of)
		}
	}
}

// advance moves the clock of a host with seams.
func (h *host) advance(seconds int) {
	h.t.Helper()
	if a := h.do("POST", "/conformance/seams/sample/clock/advance", h.KeyA, fmt.Sprintf(`{"seconds":%d}`, seconds)); a.status != 200 {
		h.t.Fatalf("advance: got %d %s", a.status, a.body)
	}
}

const hour = 3600

func TestDeadRunsGoAtTheEndOfTheirDays(t *testing.T) {
	h := start(t, mockhost.Config{Seams: true, Clock: "manual", RetentionDays: 2})
	elder := h.die(h.KeyA, 2)
	h.advance(47 * hour)
	younger := h.die(h.KeyA, 1)
	if a := h.do("POST", pathOf(2, elder)+":fork", h.KeyA, `{"mode":"replay"}`); a.status != 201 {
		t.Errorf("an hour before the end: got %d %s", a.status, a.body)
	}
	h.advance(2 * hour)
	never := h.do("GET", pathOf(2, elder[:len(elder)-26]+"00000000000000000000000000"), h.KeyA, "")
	for name, a := range map[string]answer{
		"read":   h.do("GET", pathOf(2, elder), h.KeyA, ""),
		"poll":   h.do("GET", pathOf(2, elder)+"/events/poll", h.KeyA, ""),
		"stream": h.do("GET", pathOf(2, elder)+"/events", h.KeyA, ""),
		"cancel": h.do("POST", pathOf(2, elder)+"/cancel", h.KeyA, `{}`),
		"fork":   h.do("POST", pathOf(2, elder)+":fork", h.KeyA, `{"mode":"replay"}`),
	} {
		if a.status != 404 || a.body != never.body {
			t.Errorf("%s: got %d %s, want what a run that never was gets: %s", name, a.status, a.body, never.body)
		}
	}
	if a := h.do("GET", pathOf(1, younger), h.KeyA, ""); a.status != 200 {
		t.Errorf("the younger run: got %d %s", a.status, a.body)
	}
	entries := h.do("GET", "/v1/host/sample/deadletter/entries", h.KeyA, "").body
	if strings.Contains(entries, elder[strings.IndexByte(elder, '/')+1:]) || !strings.Contains(entries, younger) {
		t.Errorf("the sink: %s", entries)
	}
}

func TestExhaustSeamTellsOfADeath(t *testing.T) {
	h := start(t, mockhost.Config{Seams: true})
	for prefix, name := range map[string]string{"/v1/host/sample": "run.dead_lettered", "/conformance/seams/sample": "run.dead-lettered"} {
		major := map[bool]int{true: 1, false: 2}[strings.HasPrefix(prefix, "/v1")]
		for _, scenario := range []string{"exhaust-retries", "fork-after-dead-letter"} {
			a := h.do("POST", prefix+"/deadletter/exhaust", h.KeyA, `{"scenario":"`+scenario+`"}`)
			m := a.object(t)
			event, _ := m["event"].(object)
			payload, _ := event["payload"].(object)
			if a.status != 200 || event["type"] != name || m["forkEligible"] != true || payload["attempts"] != float64(3) || len(m) != 2 {
				t.Fatalf("%s: got %d %s", scenario, a.status, a.body)
			}
			if f := h.do("POST", pathOf(major, fmt.Sprint(payload["runId"]))+":fork", h.KeyA, `{"mode":"replay"}`); f.status != 201 {
				t.Errorf("%s: its run doesn't fork: %d %s", scenario, f.status, f.body)
			}
		}
		for _, body := range []string{`{}`, `{"scenario":"other"}`, `{"scenario":"exhaust-retries","more":1}`, `[]`} {
			if a := h.do("POST", prefix+"/deadletter/exhaust", h.KeyA, body); a.status != 400 || a.code() != "validation_error" {
				t.Errorf("%s: got %d %s", body, a.status, a.body)
			}
		}
		if a := h.do("POST", prefix+"/deadletter/exhaust", "", `{"scenario":"exhaust-retries"}`); a.status != 401 {
			t.Errorf("without a key: got %d %s", a.status, a.body)
		}
	}
	plain := start(t, mockhost.Config{})
	if a := plain.do("POST", "/v1/host/sample/deadletter/exhaust", plain.KeyA, `{"scenario":"exhaust-retries"}`); a.status != 404 {
		t.Errorf("unmounted: got %d %s", a.status, a.body)
	}
}

func TestSinkShowsEachOwnerItsOwn(t *testing.T) {
	h := start(t, mockhost.Config{Seams: true, RetentionDays: 3})
	first, second, inWorkspace := h.die(h.KeyA, 2), h.die(h.KeyA, 2), h.die(h.KeyWS, 2)
	_ = h.create(h.KeyA, 2, `{"workflowId":"conformance-deadletter-recovers"}`)
	entries := func(key, query string) ([]any, object) {
		a := h.do("GET", "/conformance/seams/sample/deadletter/entries"+query, key, "")
		m := a.object(t)
		list, ok := m["entries"].([]any)
		if a.status != 200 || !ok {
			t.Fatalf("entries: got %d %s", a.status, a.body)
		}
		return list, m
	}
	ids := func(list []any) string {
		var out []string
		for _, e := range list {
			out = append(out, fmt.Sprint(e.(object)["runId"]))
		}
		return strings.Join(out, " ")
	}
	page, m := entries(h.KeyA, "?limit=1")
	rest, end := entries(h.KeyA, fmt.Sprint("?limit=1&cursor=", m["nextCursor"]))
	if ids(page) != second || ids(rest) != first || end["nextCursor"] != nil {
		t.Errorf("got %v then %v, want %s then %s", page, end, second, first)
	}
	if bound, _ := entries(h.KeyWS, ""); ids(bound) != inWorkspace+" "+second+" "+first {
		t.Errorf("a workspace's key sees %v", bound)
	}
	if others, _ := entries(h.KeyB, ""); len(others) != 0 {
		t.Errorf("another tenant sees %v", others)
	}
	entry := page[0].(object)
	log := h.ended(h.KeyA, 2, second)
	if entry["nodeId"] != "poison" || entry["attempts"] != float64(3) || entry["deadLetteredAt"] != log[9]["timestamp"] || len(entry) != 6 {
		t.Errorf("the entry is %v", entry)
	}
}

func TestCanaryIsNowhere(t *testing.T) {
	const canary = "openwop-conformance-canary-5up3r5ecret"
	h := start(t, mockhost.Config{Seams: true, CanarySecret: canary})
	for _, major := range []int{1, 2} {
		id := h.create(h.KeyA, major, `{"workflowId":"conformance-deadletter-secret","inputs":{"marker":"m4rker"}}`)
		h.ended(h.KeyA, major, id)
		_, _, stream := h.frames(pathOf(major, id)+"/events", h.KeyA)
		for name, text := range map[string]string{
			"stream": stream, "poll": h.do("GET", pathOf(major, id)+"/events/poll", h.KeyA, "").body,
			"snapshot":  h.do("GET", pathOf(major, id), h.KeyA, "").body,
			"list":      h.do("GET", "/runs", h.KeyA, "").body,
			"sink":      h.do("GET", "/v1/host/sample/deadletter/entries", h.KeyA, "").body,
			"discovery": h.do("GET", "/.well-known/openwop", "", "").body,
		} {
			if strings.Contains(text, canary) || strings.Contains(text, "m4rker") || !strings.Contains(text, "{") {
				t.Errorf("major %d: the %s shows what the run held: %s", major, name, text)
			}
		}
	}
}

func TestRunsOutliveTheProcess(t *testing.T) {
	c := mockhost.Config{
		Store: "sqlite:" + filepath.Join(t.TempDir(), "host.db"), Seams: true, KeyA: "a-key-of-tenant-a",
	}
	first, err := mockhost.New(t.Context(), c)
	if err != nil {
		t.Fatal(err)
	}
	h := serve(t, first)
	done := h.die(h.KeyA, 2)
	before := h.do("GET", pathOf(2, done)+"/events/poll", h.KeyA, "").body
	var under []string
	for range 5 {
		under = append(under, h.create(h.KeyA, 2, `{"workflowId":"conformance-deadletter-exhaust"}`))
	}
	if err := first.Shutdown(t.Context()); err != nil { // in the middle of what it was doing
		t.Fatal(err)
	}
	h = start(t, c)
	if after := h.do("GET", pathOf(2, done)+"/events/poll", h.KeyA, "").body; after != before {
		t.Errorf("the log of a dead run\nis  %s\nwas %s", after, before)
	}
	for _, id := range under {
		if log := h.ended(h.KeyA, 2, id); len(log) != 11 || fmt.Sprint(log[9]["payload"].(object)["attempts"]) != "3" {
			t.Errorf("a run that was under way: %s", typesOf(log))
		}
	}
	entries := h.do("GET", "/conformance/seams/sample/deadletter/entries", h.KeyA, "").body
	for _, id := range append(under, done) {
		if strings.Count(entries, id) != 1 {
			t.Errorf("the sink has %d entries of %s", strings.Count(entries, id), id)
		}
	}
}
