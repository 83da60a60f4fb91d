package lawfulhost

import (
	"net/http"
	"regexp"
	"slices"
	"time"
)

// agentEntry is an entry of either queue; record is nil in the message queue.
type agentEntry struct {
	id, reason, kind, text, resolution string
	message                            *agentMessage
	record                             *agentRecord
	step, attempts, deliveries         int
	input, output                      int
	seen, last                         time.Time // in domain time
	made                               time.Time // in real time
	replays                            time.Time // when a replay that was accepted begins, in real time
	tried, audit                       []any
}

func depthOf(queue []*agentEntry) int {
	n := 0
	for _, e := range queue {
		if e.resolution == "unresolved" {
			n++
		}
	}
	return n
}

// category is null until the entry was looked at.
func (s *shift) category(e *agentEntry) any {
	switch {
	case s.expired[e.message.conversation]:
		return "CONTEXT_EVICTION"
	case time.Since(e.made) < s.host.options.Classifies:
		return nil
	}
	switch e.kind {
	case "server_error", "timeout", "rate_limited", "locked":
		return "TRANSIENT_INFRASTRUCTURE"
	case "bad_request":
		return "SCHEMA_VALIDATION_FAILURE"
	case "semantic":
		return "SEMANTIC_FAILURE"
	case "gone", "unreachable":
		return "TOOL_UNAVAILABLE"
	case "unauthorized":
		return "AUTHORIZATION_FAILURE"
	}
	return "unclassified"
}

func (s *shift) shown(e *agentEntry) members {
	common := members{"entryId": e.id, "firstSeenAt": instant(e.seen), "traceId": e.message.trace, "resolution": e.resolution,
		"expiresAt": instant(e.seen.Add(1209600 * time.Second)), "tags": []any{}, "lastError": members{"kind": e.kind, "status": statusOf(e.kind), "message": e.text}}
	if s.host.options.MoreMembers {
		common["shelf"] = 7
	}
	if e.record == nil {
		common["messageId"], common["reason"], common["deliveries"], common["body"] = e.message.id, e.reason, e.deliveries, e.message.body
		return hide(common)
	}
	next := any(nil)
	if s.category(e) == "TRANSIENT_INFRASTRUCTURE" && e.resolution == "unresolved" {
		next = instant(e.last.Add(time.Duration(30<<min(e.attempts, 6)) * time.Second))
	}
	for name, v := range (members{"runId": e.message.run, "stepIndex": e.step, "toolName": e.record.tool, "toolArgs": e.record.args, "attempts": e.attempts,
		"conversationRef": e.message.conversation, "tokensSpent": members{"input": e.input, "output": e.output}, "originalMessageId": e.message.id,
		"invocationId": e.record.id, "category": s.category(e), "lastAttemptedAt": instant(e.last), "nextReplayAt": next}) {
		common[name] = v
	}
	return hide(common)
}

// address finds e-mail addresses, written for a URL or as JSON within JSON too.
var address = regexp.MustCompile(`[A-Za-z0-9._+-]+(@|%40|\\+u0040)[A-Za-z0-9-]+(\.[A-Za-z0-9-]+)+`) //nolint:gochecknoglobals // compiled once and never changed

// hide leaves the addresses out of what is shown, the names of members included.
func hide(shown members) members {
	hidden, _ := hideIn(shown).(members)
	return hidden
}

func hideIn(v any) any {
	const instead = "(left out)"
	switch v := v.(type) {
	case string:
		return address.ReplaceAllString(v, instead)
	case []any:
		list := make([]any, 0, len(v))
		for _, item := range v {
			list = append(list, hideIn(item))
		}
		return list
	case members:
		object := members{}
		for name, item := range v {
			object[address.ReplaceAllString(name, instead)] = hideIn(item)
		}
		return object
	}
	return v
}

func (s *shift) recordsOf(trace string) []any {
	list := []any{}
	for _, r := range s.records {
		if trace != "" && r.trace != trace {
			continue
		}
		shown := members{"invocationId": r.id, "agentId": "the only one", "toolName": r.tool, "payload": r.args, "workflowTraceId": r.trace, "attemptCount": r.attempts,
			"maxAttempts": r.most, "createdAt": instant(r.created), "status": r.status, "history": r.history}
		if r.reason != "" {
			shown["failureReason"] = r.reason
		}
		list = append(list, hide(shown))
	}
	return list
}

func (s *shift) reviewed(which string) []any {
	list := []any{}
	for _, e := range s.tooled {
		category := s.category(e)
		security := category == "AUTHORIZATION_FAILURE"
		if e.resolution == "unresolved" && category != nil && category != "TRANSIENT_INFRASTRUCTURE" && security == (which == "security") {
			list = append(list, s.shown(e))
		}
	}
	return list
}

func (s *shift) serveQueue(r *http.Request, path []string) (int, members) {
	queue := s.tooled
	if path[0] == "message" {
		queue = s.messaged
	}
	if len(path) == 1 {
		return s.listQueue(r, queue)
	}
	at := slices.IndexFunc(queue, func(e *agentEntry) bool { return e.id == path[1] })
	if at < 0 {
		return refusal(404, "not_found")
	}
	e := queue[at]
	if len(path) == 2 {
		whole := s.shown(e)
		tried, audit := e.tried, e.audit
		if tried == nil {
			tried = []any{}
		}
		if audit == nil {
			audit = []any{}
		}
		whole["history"], whole["audit"] = tried, audit
		return 200, whole
	}
	switch path[2] {
	case "replay":
		if s.host.options.ReplaysLater > 0 {
			return s.replayLater(e)
		}
		return s.replay(e, "a person")
	case "resolve", "discard":
		if e.resolution != "unresolved" || !e.replays.IsZero() {
			return refusal(409, "run_state_conflict")
		}
		e.resolution = path[2] + "d"
		if path[2] == "discard" {
			e.resolution = "discarded"
		}
		return 202, members{"resolution": e.resolution}
	}
	return refusal(404, "not_found")
}

func (s *shift) listQueue(r *http.Request, queue []*agentEntry) (int, members) {
	q := r.URL.Query()
	items, depth, oldest := []any{}, 0, any(nil)
	for _, e := range queue {
		tool := ""
		if e.record != nil {
			tool = e.record.tool
		}
		if q.Has("tool") && tool != q.Get("tool") || q.Has("traceId") && e.message.trace != q.Get("traceId") || q.Has("resolution") && e.resolution != q.Get("resolution") ||
			time.Since(e.made) < s.host.options.LateEntries {
			continue
		}
		if e.resolution == "unresolved" {
			if depth++; oldest == nil {
				oldest = int(s.now().Sub(e.seen) / time.Second)
			}
		}
		items = append(items, s.shown(e))
	}
	status, page := s.list(r, items)
	page["depth"], page["oldestAgeSeconds"] = depth, oldest
	return status, page
}

// replayLater accepts a replay that begins a while later. Another one meanwhile is the same one.
func (s *shift) replayLater(e *agentEntry) (int, members) {
	switch {
	case e.resolution != "unresolved", e.record == nil, s.expired[e.message.conversation]:
		return s.replay(e, "a person")
	case e.replays.IsZero():
		e.replays = time.Now().Add(s.host.options.ReplaysLater)
	}
	return 202, members{"resolution": e.resolution}
}

// replay gives an entry one attempt more.
func (s *shift) replay(e *agentEntry, by string) (int, members) {
	m := e.message
	switch {
	case e.resolution == "replayed":
		return 202, members{"resolution": e.resolution}
	case e.resolution != "unresolved":
		return refusal(409, "run_state_conflict")
	case e.record == nil:
		e.resolution, m.due = "replayed", s.now()
		return 202, members{"resolution": e.resolution}
	case s.expired[m.conversation]:
		return refusal(409, "conversation_expired")
	}
	return s.attempt(e, by)
}

func (s *shift) attempt(e *agentEntry, by string) (int, members) {
	m := e.message
	e.replays = time.Time{}
	if s.host.options.DecidesAgain {
		m.turnOfModel()
	}
	t, kind := s.tools[e.record.tool], "unreachable"
	e.attempts++
	e.last = s.now()
	e.record.turn("in_flight", e.last)
	if t != nil {
		kind = t.play(m, e.step, e.attempts, e.last).outcome
	}
	e.tried = append(e.tried, members{"attempt": e.attempts, "at": instant(e.last), "outcome": kind})
	e.audit = append(e.audit, members{"at": instant(e.last), "by": by, "action": "replay", "resolution": e.resolution})
	if kind != "ok" {
		e.kind = kind
		e.record.turn("dead_lettered", s.now())
		return 202, members{"resolution": e.resolution}
	}
	e.resolution = "replayed"
	e.record.turn("success", s.now())
	m.status, m.step, m.current = "running", e.step+1, nil
	s.goOn(m)
	return 202, members{"resolution": e.resolution}
}

// agentDrain goes by domain time.
type agentDrain struct {
	tool      string
	began     time.Time
	perSecond float64
	replayed  int
	succeeded int
	failed    []any
	done      bool
	tried     map[string]bool
}

func (s *shift) serveDrain(method, id string, body members) (int, members) {
	if method != "GET" {
		id = s.name("")
		d := &agentDrain{began: s.now(), failed: []any{}, tried: map[string]bool{}}
		d.tool, _ = body["tool"].(string)
		d.perSecond, _ = body["perSecond"].(float64)
		s.drains[id] = d
		return 202, members{"drainId": id}
	}
	d := s.drains[id]
	if d == nil {
		return refusal(404, "not_found")
	}
	state := "running"
	if d.done {
		state = "done"
	}
	return 200, members{"state": state, "replayed": d.replayed, "succeeded": d.succeeded, "failed": d.failed, "remaining": len(s.left(d))}
}

// left are the entries that a drain has still to try, oldest first.
func (s *shift) left(d *agentDrain) []*agentEntry {
	var left []*agentEntry
	for _, e := range s.tooled {
		if e.resolution == "unresolved" && (d.tool == "" || e.record.tool == d.tool) && !d.tried[e.id] && e.replays.IsZero() && s.category(e) != "AUTHORIZATION_FAILURE" {
			left = append(left, e)
		}
	}
	return left
}

func (s *shift) drainOn(d *agentDrain) {
	for !d.done {
		left := s.left(d)
		if len(left) == 0 {
			d.done = true
			return
		}
		if float64(len(d.tried)) > s.now().Sub(d.began).Seconds()*d.perSecond {
			return
		}
		e := left[0]
		d.tried[e.id] = true
		status, _ := s.replay(e, "a drain")
		switch {
		case status == 409:
			d.failed = append(d.failed, members{"entryId": e.id, "status": "conversation_expired"})
		case e.resolution == "replayed":
			d.replayed++
			d.succeeded++
		default:
			d.replayed++
			d.failed = append(d.failed, members{"entryId": e.id, "status": "tool_failed"})
		}
	}
}
