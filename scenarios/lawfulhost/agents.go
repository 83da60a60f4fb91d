package lawfulhost

import (
	"encoding/json"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"
)

// Agents are the lawful differences of a host with an agent worker (docs/agent-dlq-seams.md). The zero value has none.
type Agents struct {
	Agent        bool          // names the extension, and serves its seams where seams are served
	GivesUp      bool          // a run that is told circuit_open ends tool_failed
	PushesBack   bool          // each third message is refused once, with 503
	Classifies   time.Duration // how long after its failure an entry is classified
	LateEntries  time.Duration // how long after its message ended an entry shows
	AtOnce       bool          // a message whose worker died is delivered again at once, not when its lease is over
	KeepsPoison  bool          // a delivery that failed by a bug is given back when its lease is over, not at once
	DecidesAgain bool          // a replay has the model decide on the failed step again
	MoreMembers  bool          // answers have members that the page doesn't name
	OnePage      int           // how many items a page of a list has at most; 0 is as many as asked for
	OwnTexts     bool          // error texts of its own
	OtherNumbers bool          // leases, breakers and limits of its own
	OddNames     bool          // ids of characters that a path has to escape
	PicksUp      time.Duration // in real time, from a message's acceptance to its first delivery
	ReplaysLater time.Duration // in real time, from a replay's 202 to the attempt
}

// agentNumbers are the host's own.
type agentNumbers struct{ lease, breaker, limit int }

func (a Agents) numbers() agentNumbers {
	if a.OtherNumbers {
		return agentNumbers{lease: 7, breaker: 9, limit: 2}
	}
	return agentNumbers{lease: 30, breaker: 60, limit: 4}
}

// promiseAgents adds the extension to a document of either major.
func (a Agents) promiseAgents(d map[string]any) {
	if !a.Agent {
		return
	}
	extensions, _ := d["extensions"].(map[string]any)
	if extensions == nil {
		extensions = map[string]any{}
		d["extensions"] = extensions
	}
	n := a.numbers()
	extensions["example.agent-dlq"] = map[string]any{
		"leaseSeconds": n.lease, "breakerSeconds": n.breaker, "redeliveryLimit": n.limit, "intakeCapacity": 64, "queueCapacity": 64,
		"recoveryIntervalSeconds": 15, "automaticReplays": 6, "repairThreshold": 0.85, "entryTtlSeconds": 1209600, "depthAlertThreshold": 100,
	}
}

// crew is what the host keeps of its agent workers, a tenant. Nothing works by itself: whatever is due is done before the
// next request is answered.
type crew struct {
	mu      sync.Mutex
	tenants map[string]*shift
	posted  int
}

// shift is one tenant's tools, messages and queues.
type shift struct {
	host     *Host
	tools    map[string]*scriptedTool
	messages map[string]*agentMessage
	order    []*agentMessage
	tooled   []*agentEntry
	messaged []*agentEntry
	records  []*agentRecord
	drains   map[string]*agentDrain
	expired  map[string]bool // conversations
}

func (c *crew) of(h *Host, tenant string) *shift {
	if c.tenants == nil {
		c.tenants = map[string]*shift{}
	}
	if c.tenants[tenant] == nil {
		c.tenants[tenant] = &shift{host: h, tools: map[string]*scriptedTool{}, messages: map[string]*agentMessage{}, drains: map[string]*agentDrain{}, expired: map[string]bool{}}
	}
	return c.tenants[tenant]
}

// agentPath is the path below agent-dlq/, a segment each.
func agentPath(r *http.Request) []string {
	_, rest, _ := strings.Cut(r.URL.EscapedPath(), "/agent-dlq/")
	path := strings.Split(rest, "/")
	for i, segment := range path {
		if plain, err := url.PathUnescape(segment); err == nil {
			path[i] = plain
		}
	}
	return path
}

// name is an id of the agents' seams.
func (s *shift) name(kind string) string {
	if s.host.options.OddNames {
		return kind + "№ 1/+x?y=%2F&z#.." + s.host.newID()
	}
	return kind + s.host.newID()
}

// agents serves the seams below agent-dlq/.
func (h *Host) agents(path []string) func(http.ResponseWriter, *http.Request, principal) {
	return func(w http.ResponseWriter, r *http.Request, p principal) {
		h.crew.mu.Lock()
		defer h.crew.mu.Unlock()
		s := h.crew.of(h, p.tenant)
		s.tick()
		status, body := s.serve(r, path)
		if status == http.StatusNoContent {
			w.WriteHeader(status)
			return
		}
		if status == http.StatusServiceUnavailable {
			w.Header().Set("Retry-After", "0")
		}
		if h.options.MoreMembers {
			body["servedBy"] = "lawful"
		}
		h.answer(w, status, body)
	}
}

type members = map[string]any

func refusal(status int, code string) (int, members) {
	return status, members{"error": code, "message": "the seam says " + code}
}

func (s *shift) serve(r *http.Request, path []string) (int, members) {
	var body members
	if r.Body != nil {
		_ = json.NewDecoder(r.Body).Decode(&body)
	}
	second := ""
	if len(path) > 1 {
		second = path[1]
	}
	switch path[0] {
	case "tools":
		return s.serveTool(r.Method, second, body)
	case "messages":
		return s.serveMessage(r.Method, second, body)
	case "queues":
		return s.serveQueue(r, path[1:])
	case "invocations":
		return s.list(r, s.recordsOf(r.URL.Query().Get("traceId")))
	case "reviews":
		return s.list(r, s.reviewed(second))
	case "conversations":
		if !slices.ContainsFunc(s.order, func(m *agentMessage) bool { return m.conversation == second }) {
			return refusal(404, "not_found")
		}
		s.expired[second] = true
		return http.StatusNoContent, nil
	case "drains":
		return s.serveDrain(r.Method, second, body)
	case "metrics":
		return 200, members{"dlq.depth": members{"value": depthOf(s.tooled) + depthOf(s.messaged), "threshold": 100, "alert": false}}
	case "traces":
		return 200, members{"spans": []any{}}
	}
	return refusal(404, "not_found")
}

// list answers a page of items, oldest first.
func (s *shift) list(r *http.Request, items []any) (int, members) {
	limit, _ := strconv.Atoi(r.URL.Query().Get("limit"))
	if limit < 1 || limit > 200 {
		limit = 50
	}
	if most := s.host.options.OnePage; most > 0 {
		limit = min(limit, most)
	}
	from, _ := strconv.Atoi(r.URL.Query().Get("cursor"))
	from = min(max(from, 0), len(items))
	to := min(from+limit, len(items))
	page := members{"entries": items[from:to]}
	if to < len(items) {
		page["nextCursor"] = strconv.Itoa(to)
	}
	return 200, page
}

func (s *shift) now() time.Time { return s.host.clock.now() }

func instant(t time.Time) string { return t.UTC().Format("2006-01-02T15:04:05.000Z07:00") }

// tick does what is due: deliveries first, then drains.
func (s *shift) tick() {
	for worked := true; worked; {
		worked = false
		for _, m := range s.order {
			if !m.due.IsZero() && !m.due.After(s.now()) && time.Since(m.taken) >= s.host.options.PicksUp {
				m.due, worked = time.Time{}, true
				s.deliver(m)
			}
		}
	}
	for _, e := range s.tooled {
		if !e.replays.IsZero() && !time.Now().Before(e.replays) {
			s.attempt(e, "a person")
		}
	}
	for _, d := range s.drains {
		s.drainOn(d)
	}
}
