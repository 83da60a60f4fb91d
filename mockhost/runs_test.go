package mockhost_test

import (
	"encoding/json"
	"fmt"
	"net/url"
	"slices"
	"strings"
	"testing"

	"github.com/wopwitness/wopwitness/mockhost"
)

// object is a JSON object as it came.
type object = map[string]any

func (a answer) object(t *testing.T) object {
	t.Helper()
	var m object
	if err := json.Unmarshal([]byte(a.body), &m); err != nil {
		t.Fatalf("not an object: %d %s", a.status, a.body)
	}
	return m
}

func under(major int, path string) string {
	if major == 1 {
		return "/v1" + path
	}
	return path
}

// pathOf is the path of a run, its id projected by hand.
func pathOf(major int, id string) string {
	return under(major, "/runs/"+strings.ReplaceAll(id, "/", "~2F"))
}

// create makes a run and returns its id.
func (h *host) create(key string, major int, body string) string {
	h.t.Helper()
	a := h.do("POST", under(major, "/runs"), key, body)
	id, _ := a.object(h.t)["runId"].(string)
	if a.status != 201 || id == "" {
		h.t.Fatalf("create %s: got %d %s", body, a.status, a.body)
	}
	return id
}

// ended waits for the end of a run and returns its whole log.
func (h *host) ended(key string, major int, id string) []object {
	h.t.Helper()
	return h.logOf(key, major, id, func(log []object) bool {
		return len(log) > 0 && slices.Contains([]any{"run.completed", "run.failed", "run.cancelled"}, log[len(log)-1]["type"])
	})
}

func (h *host) logOf(key string, major int, id string, enough func([]object) bool) []object {
	h.t.Helper()
	var log []object
	for range 100 {
		after, name := "-1", "afterSequence"
		if len(log) > 0 {
			after = fmt.Sprint(log[len(log)-1]["sequence"])
		}
		if major == 1 {
			name = "lastSequence"
		}
		a := h.do("GET", pathOf(major, id)+"/events/poll?timeout=5&"+name+"="+after, key, "")
		var page struct{ Events []object }
		if err := json.Unmarshal([]byte(a.body), &page); err != nil || a.status != 200 {
			h.t.Fatalf("poll %s: got %d %s", id, a.status, a.body)
		}
		if log = append(log, page.Events...); enough(log) {
			return log
		}
	}
	h.t.Fatalf("run %s came to no end: %v", id, log)
	return nil
}

// die makes a run that dies, and returns its id once it has.
func (h *host) die(key string, major int) string {
	h.t.Helper()
	id := h.create(key, major, `{"workflowId":"conformance-deadletter-exhaust"}`)
	h.ended(key, major, id)
	return id
}

func typesOf(log []object) string {
	var out []string
	for _, e := range log {
		kind := fmt.Sprint(e["type"])
		if node, ok := e["nodeId"].(string); ok {
			kind += ":" + node
		}
		out = append(out, kind)
	}
	return strings.Join(out, " ")
}

func TestFixturesRunAsTheirPageSays(t *testing.T) {
	h := start(t, mockhost.Config{})
	three := func(node string) string {
		n := ":" + node
		return "node.started" + n + " node.failed" + n + " node.retried" + n + " node.started" + n + " node.failed" + n +
			" node.retried" + n + " node.started" + n
	}
	dead := three("poison") + " node.failed:poison run.dead-lettered:poison run.failed"
	for name, c := range map[string]struct{ workflow, extra1, extra2, log, status string }{
		"noop":       {"conformance-noop", "", "", "node.started:noop node.completed:noop run.completed", "completed"},
		"exhaust":    {"conformance-deadletter-exhaust", "", "", dead, "failed"},
		"recovers":   {"conformance-deadletter-recovers", "", "", three("flaky") + " node.completed:flaky run.completed", "completed"},
		"downstream": {"conformance-deadletter-downstream", "", "", "node.started:ok node.completed:ok " + dead, "failed"},
		"secret":     {"conformance-deadletter-secret", "", "", dead, "failed"},
		"fixable":    {"conformance-deadletter-fixable", "", "", dead, "failed"},
		"fixed": {
			"conformance-deadletter-fixable", `,"configurable":{"conformanceFixed":true}`,
			`,"configurable":{"version":1,"extensions":{"example":{"conformanceFixed":true}}}`,
			"node.started:poison node.completed:poison run.completed", "completed",
		},
		"not quite fixed": {
			"conformance-deadletter-fixable", `,"configurable":{"conformanceFixed":"true"}`,
			`,"configurable":{"version":1,"extensions":{"example":{"conformanceFixed":false}}}`, dead, "failed",
		},
	} {
		for _, major := range []int{1, 2} {
			t.Run(fmt.Sprintf("%s, major %d", name, major), func(t *testing.T) {
				h := &host{t: t, host: h.host, url: h.url, Credentials: h.Credentials}
				extra, want := c.extra1, "run.started "+c.log
				if major == 2 {
					extra = c.extra2
				} else {
					want = strings.ReplaceAll(want, "run.dead-lettered", "run.dead_lettered")
				}
				id := h.create(h.KeyA, major, `{"workflowId":"`+c.workflow+`"`+extra+`}`)
				log := h.ended(h.KeyA, major, id)
				if got := typesOf(log); got != want {
					t.Errorf("the log\ngot  %s\nwant %s", got, want)
				}
				for i, e := range log {
					if e["runId"] != id || e["sequence"] != float64(i) || e["schemaVersion"] != float64(1) || len(fmt.Sprint(e["eventId"])) != 26 {
						t.Errorf("event %d is %v", i, e)
					}
				}
				snapshot := h.do("GET", pathOf(major, id), h.KeyA, "").object(t)
				if snapshot["runId"] != id || snapshot["workflowId"] != c.workflow || snapshot["status"] != c.status {
					t.Errorf("the snapshot is %v", snapshot)
				}
				if _, failed := snapshot["error"]; failed != (c.status == "failed") {
					t.Errorf("the error is %v", snapshot["error"])
				}
				if _, owned := snapshot["owner"]; owned != (major == 2) {
					t.Errorf("the owner is %v", snapshot["owner"])
				}
			})
		}
	}
}

func TestDeadLetterSaysWhatDied(t *testing.T) {
	h := start(t, mockhost.Config{Seams: true})
	for _, major := range []int{1, 2} {
		id := h.die(h.KeyA, major)
		log := h.ended(h.KeyA, major, id)
		letter := log[len(log)-2]
		want := object{"runId": id, "nodeId": "poison", "reason": "the node failed on each of its 3 attempts", "attempts": float64(3)}
		if fmt.Sprint(letter["payload"]) != fmt.Sprint(want) || letter["causationId"] != log[len(log)-3]["eventId"] {
			t.Errorf("major %d: got %v, want the payload %v, caused by %v", major, letter, want, log[len(log)-3]["eventId"])
		}
		if strings.Contains(id, "/") != (major == 2) || strings.Contains(id, "~") {
			t.Errorf("major %d: the id is %s", major, id)
		}
	}
}

func TestRunsAreListedForTheirOwner(t *testing.T) {
	h := start(t, mockhost.Config{Seams: true, Clock: "manual"})
	var made []string
	for range 3 {
		made = append([]string{h.create(h.KeyA, 2, `{"workflowId":"conformance-noop"}`)}, made...)
		h.advance(1) // ids of one millisecond have no order
	}
	inWorkspace := h.create(h.KeyWS, 2, `{"workflowId":"conformance-noop"}`)
	h.ended(h.KeyWS, 2, inWorkspace)
	list := func(key, query string) (ids []string, next string) {
		var page struct {
			Runs       []object
			NextCursor string
		}
		a := h.do("GET", "/runs"+query, key, "")
		if err := json.Unmarshal([]byte(a.body), &page); err != nil || a.status != 200 {
			t.Fatalf("list: got %d %s", a.status, a.body)
		}
		for _, r := range page.Runs {
			ids = append(ids, fmt.Sprint(r["runId"]))
		}
		return ids, page.NextCursor
	}
	first, next := list(h.KeyA, "?limit=2")
	second, end := list(h.KeyA, "?limit=2&cursor="+url.QueryEscape(next))
	if !slices.Equal(slices.Concat(first, second), made) || end != "" {
		t.Errorf("got %q then %q (%q), want %q", first, second, end, made)
	}
	if bound, _ := list(h.KeyWS, ""); !slices.Equal(bound, append([]string{inWorkspace}, made...)) {
		t.Errorf("a workspace's key lists %q", bound)
	}
	if others, _ := list(h.KeyB, ""); len(others) != 0 {
		t.Errorf("another tenant lists %q", others)
	}
	if a := h.do("GET", pathOf(2, inWorkspace), h.KeyA, ""); a.status != 404 {
		t.Errorf("a workspace's run by a key of none: got %d %s", a.status, a.body)
	}
	for _, query := range []string{"?limit=0", "?limit=201", "?limit=x", "?limit=1&limit=2"} {
		if a := h.do("GET", "/runs"+query, h.KeyA, ""); a.status != 400 || a.code() != "validation_error" {
			t.Errorf("%s: got %d %s", query, a.status, a.body)
		}
	}
	owner := h.do("GET", pathOf(2, inWorkspace), h.KeyWS, "").object(t)["owner"]
	if fmt.Sprint(owner) != fmt.Sprint(object{"tenant": h.TenantA, "workspace": h.Workspace, "subject": "key-ws"}) {
		t.Errorf("the owner is %v", owner)
	}
}

func TestWorkflowsAreShownAsSeeded(t *testing.T) {
	h := start(t, mockhost.Config{})
	for name, c := range map[string]struct{ key, path, want string }{
		"major 1":   {h.KeyA, "/v1/workflows/conformance-noop", "200"},
		"major 2":   {h.KeyLow, "/workflows/conformance-noop", "200"},
		"no such":   {h.KeyA, "/workflows/nothing", "404 not_found"},
		"no key":    {"", "/workflows/conformance-noop", "401 unauthenticated"},
		"a climber": {h.KeyA, "/v1/workflows/..%2Fconformance-noop", "404 not_found"},
	} {
		a := h.do("GET", c.path, c.key, "")
		if got := strings.TrimSpace(fmt.Sprint(a.status, " ", a.code())); got != c.want {
			t.Errorf("%s: got %s %s, want %s", name, got, a.body, c.want)
		}
		if c.want == "200" && a.object(t)["id"] != "conformance-noop" {
			t.Errorf("%s: got %s", name, a.body)
		}
	}
}
