package mockhost_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/wopwitness/wopwitness/mockhost"
)

func TestPollsReadTheLogFromAPlace(t *testing.T) {
	h := start(t, mockhost.Config{})
	id := h.create(h.KeyA, 2, `{"workflowId":"conformance-noop"}`)
	h.ended(h.KeyA, 2, id)
	opaque := id[strings.IndexByte(id, '/')+1:]
	two, one := pathOf(2, id)+"/events/poll", "/v1/runs/"+opaque+"/events/poll"
	all := []float64{0, 1, 2, 3}
	for name, c := range map[string]struct {
		path string
		want []float64 // sequences; nil where it is refused
	}{
		"from the first":            {two, all},
		"after the first":           {two + "?afterSequence=0", all[1:]},
		"before the first":          {two + "?afterSequence=-1", all},
		"after the last":            {two + "?afterSequence=3&timeout=60", []float64{}},
		"far beyond":                {two + "?afterSequence=1000000", []float64{}},
		"the longest wait":          {two + "?timeout=60", all},
		"no wait at all":            {two + "?timeout=0", nil},
		"too long a wait":           {two + "?timeout=61", nil},
		"no number":                 {two + "?timeout=soon", nil},
		"no sequence":               {two + "?afterSequence=x", nil},
		"two sequences":             {two + "?afterSequence=1&afterSequence=2", nil},
		"major 1":                   {one, all},
		"major 1, lastSequence":     {one + "?lastSequence=1", all[2:]},
		"major 1, since":            {one + "?since=2", all[3:]},
		"major 1, no sequence":      {one + "?since=x", nil},
		"major 1, after the last":   {one + "?since=3&timeout=30", []float64{}},
		"major 1, another's member": {one + "?afterSequence=2", all},
	} {
		a := h.do("GET", c.path, h.KeyA, "")
		if c.want == nil {
			if a.status != 400 || a.code() != "validation_error" {
				t.Errorf("%s: got %d %s", name, a.status, a.body)
			}
			continue
		}
		m := a.object(t)
		got := []float64{}
		for _, e := range m["events"].([]any) {
			got = append(got, e.(object)["sequence"].(float64))
		}
		if a.status != 200 || fmt.Sprint(got) != fmt.Sprint(c.want) {
			t.Errorf("%s: got %d %v, want %v", name, a.status, got, c.want)
		}
		if strings.HasPrefix(c.path, "/v1") {
			if m["isComplete"] != true || len(m) != 2 {
				t.Errorf("%s: got %v", name, m)
			}
			continue
		}
		if m["runId"] != id || m["status"] != "completed" || m["isTerminal"] != true || len(m) != 5 {
			t.Errorf("%s: got %v", name, m)
		}
		if n := len(c.want); n > 0 && m["lastSequence"] != c.want[n-1] {
			t.Errorf("%s: lastSequence is %v", name, m["lastSequence"])
		}
	}
}

// frames reads a run's stream to its end.
func (h *host) frames(path, key string, headers ...string) (ids, types []string, raw string) {
	h.t.Helper()
	a := h.do("GET", path, key, "", headers...)
	if a.status != 200 || a.header.Get("Content-Type") != "text/event-stream" {
		h.t.Fatalf("GET %s: got %d %s", path, a.status, a.body)
	}
	for block := range strings.SplitSeq(a.body, "\n\n") {
		for line := range strings.SplitSeq(block, "\n") {
			if id, ok := strings.CutPrefix(line, "id: "); ok {
				ids = append(ids, id)
			}
			if kind, ok := strings.CutPrefix(line, "event: "); ok {
				types = append(types, kind)
			}
		}
	}
	return ids, types, a.body
}

func TestStreamsOfARunEndWithIt(t *testing.T) {
	h := start(t, mockhost.Config{})
	for _, major := range []int{1, 2} {
		name := map[int]string{1: "run.dead_lettered", 2: "run.dead-lettered"}[major]
		id := h.create(h.KeyA, major, `{"workflowId":"conformance-deadletter-exhaust"}`)
		path := pathOf(major, id) + "/events"
		ids, types, raw := h.frames(path+"?streamMode=debug", h.KeyA) // opened while it runs, and ends by itself
		if got := strings.Join(ids, " "); got != "0 1 2 3 4 5 6 7 8 9 10" || types[9] != name || types[10] != "run.failed" {
			t.Fatalf("major %d: got %s, %v", major, got, types)
		}
		if _, _, again := h.frames(path, h.KeyA); again != raw {
			t.Errorf("major %d: the stream after the end\ngot  %s\nwant %s", major, again, raw)
		}
		for cursor, want := range map[string]string{"0": "1 2 3 4 5 6 7 8 9 10", "8": "9 10", "9": "10", "10": "", "4711": ""} {
			if ids, _, _ := h.frames(path, h.KeyA, "Last-Event-ID: "+cursor); strings.Join(ids, " ") != want {
				t.Errorf("major %d: after %s: got %v, want %s", major, cursor, ids, want)
			}
		}
		for query, want := range map[string]string{
			"?streamMode=values": "400 unsupported_stream_mode", "?streamMode=debug&streamMode=debug": "400 unsupported_stream_mode",
			"?streamMode=updates": "200",
		} {
			a := h.do("GET", path+query, h.KeyA, "")
			if got := strings.TrimSpace(fmt.Sprint(a.status, " ", a.code())); got != want {
				t.Errorf("major %d: %s: got %s, want %s", major, query, got, want)
			}
		}
		for _, cursor := range []string{"x", "-1", "1.5"} {
			if a := h.do("GET", path, h.KeyA, "", "Last-Event-ID: "+cursor); a.status != 400 || a.code() != "validation_error" {
				t.Errorf("major %d: the cursor %s: got %d %s", major, cursor, a.status, a.body)
			}
		}
		if a := h.do("GET", path, h.KeyB, ""); a.status != map[int]int{1: 404, 2: 403}[major] {
			t.Errorf("major %d: another tenant's stream: got %d %s", major, a.status, a.body)
		}
	}
}

func TestRunThatHasEndedIsNotCancelled(t *testing.T) {
	h := start(t, mockhost.Config{})
	for _, major := range []int{1, 2} {
		path := pathOf(major, h.die(h.KeyA, major)) + "/cancel"
		for name, c := range map[string]struct{ key, want string }{
			"its owner":        {h.KeyA, "409 run_terminal"},
			"no key":           {"", "401 unauthenticated"},
			"without scope":    {h.KeyLow, "403 forbidden"},
			"another tenant's": {h.KeyB, map[int]string{1: "404 not_found", 2: "403 id_tenant_mismatch"}[major]},
		} {
			a := h.do("POST", path, c.key, `{}`)
			if got := strings.TrimSpace(fmt.Sprint(a.status, " ", a.code())); got != c.want {
				t.Errorf("major %d, %s: got %s %s, want %s", major, name, got, a.body, c.want)
			}
		}
	}
}
