package lawfulhost

import (
	"encoding/json"
	"fmt"
	"strings"
	"time"
)

// agentMessage is a message and the run that it started. Due is when it is delivered next, zero while nothing is to come.
type agentMessage struct {
	id, body, status, trace, run, conversation string
	steps                                      []agentStep
	budget, step, deliveries, modelCalls       int
	input, output                              int
	crashAt                                    string
	due                                        time.Time
	taken                                      time.Time    // in real time
	current                                    *agentRecord // of the step under way
	skipped                                    map[int]bool
	gaveUp                                     bool
}

type agentStep struct {
	tool      string
	args      any
	dependsOn []int
}

type agentRecord struct {
	id, tool, trace, status, reason string
	args                            any
	attempts, most                  int
	created                         time.Time
	history                         []any
}

func (r *agentRecord) turn(status string, at time.Time) {
	r.status = status
	r.history = append(r.history, members{"status": status, "at": instant(at)})
	if status == "in_flight" {
		r.attempts++
	}
}

func (s *shift) serveMessage(method, id string, body members) (int, members) {
	if method == "GET" {
		m := s.messages[id]
		if m == nil {
			return refusal(404, "not_found")
		}
		answer := members{"messageId": m.id, "status": m.status, "deliveries": m.deliveries, "modelCalls": m.modelCalls,
			"tokensSpent": members{"input": m.input, "output": m.output}, "traceId": m.trace}
		if m.run != "" {
			answer["runId"] = m.run
		}
		return 200, answer
	}
	id, _ = body["messageId"].(string)
	if s.messages[id] != nil {
		return 202, members{"messageId": id}
	}
	if s.host.crew.posted++; s.host.options.PushesBack && s.host.crew.posted%3 == 0 {
		return refusal(503, "overloaded")
	}
	m := &agentMessage{id: id, status: "queued", budget: 2, due: s.now(), taken: time.Now(), skipped: map[int]bool{}}
	m.body, _ = body["body"].(string)
	m.crashAt, _ = body["crashAt"].(string)
	if budget, told := body["retryBudget"].(float64); told {
		m.budget = int(budget)
	}
	parent, _ := body["traceparent"].(string)
	if parts := strings.Split(parent, "-"); len(parts) == 4 {
		m.trace = parts[1]
	}
	workflow, _ := body["workflow"].(members)
	steps, _ := workflow["steps"].([]any)
	for _, v := range steps {
		raw, _ := v.(members)
		step := agentStep{args: raw["args"]}
		step.tool, _ = raw["tool"].(string)
		depends, _ := raw["dependsOn"].([]any)
		for _, d := range depends {
			index, _ := d.(float64)
			step.dependsOn = append(step.dependsOn, int(index))
		}
		m.steps = append(m.steps, step)
	}
	s.messages[id] = m
	s.order = append(s.order, m)
	return 202, members{"messageId": id}
}

// dies ends the delivery at a point at which the message's worker is to die, once.
func (s *shift) dies(m *agentMessage, at string, last bool) bool {
	if m.crashAt != at || !last {
		return false
	}
	m.crashAt, m.due = "", s.now()
	if !s.host.options.AtOnce {
		m.due = m.due.Add(time.Duration(s.host.options.numbers().lease) * time.Second)
	}
	return true
}

func (s *shift) deliver(m *agentMessage) {
	if s.dies(m, "before_claim", true) {
		return
	}
	m.deliveries++
	m.status = "running"
	var task struct {
		Task   *string
		Poison any
	}
	object := strings.HasPrefix(strings.TrimSpace(m.body), "{")
	if err := json.Unmarshal([]byte(m.body), &task); err != nil || !object || task.Task == nil {
		s.give(m, "malformed")
		return
	}
	if s.dies(m, "after_claim", true) {
		return
	}
	if task.Poison == true {
		n := s.host.options.numbers()
		if m.deliveries >= n.limit {
			s.give(m, "redelivery_limit")
			return
		}
		m.due = s.now()
		if s.host.options.KeepsPoison {
			m.due = m.due.Add(time.Duration(n.lease) * time.Second)
		}
		return
	}
	if m.run == "" {
		m.run, m.conversation = s.name("run:"), s.name("conv_")
	}
	s.goOn(m)
}

// give gives a message up.
func (s *shift) give(m *agentMessage, reason string) {
	m.status = "message_dead_lettered"
	s.messaged = append(s.messaged, &agentEntry{id: s.name(""), message: m, reason: reason, deliveries: m.deliveries, kind: reason,
		seen: s.now(), made: time.Now(), resolution: "unresolved"})
}

// turnOfModel is one call of the model: it reads all that was said, and says a little.
func (m *agentMessage) turnOfModel() {
	m.modelCalls++
	m.input += 20 * m.modelCalls
	m.output += 5
}

// goOn works from the step where the run is to its end, or to where it must wait or its worker dies.
func (s *shift) goOn(m *agentMessage) {
	for m.step < len(m.steps) {
		step := m.steps[m.step]
		for _, d := range step.dependsOn {
			m.skipped[m.step] = m.skipped[m.step] || m.skipped[d]
		}
		if !m.skipped[m.step] && !s.take(m, step.tool, step.args, m.budget+1) {
			return
		}
		m.step, m.current = m.step+1, nil
	}
	m.turnOfModel()
	m.status = "completed"
	if m.gaveUp {
		m.status = "tool_failed"
	}
}

// take makes one step: true where the run goes on behind it.
func (s *shift) take(m *agentMessage, tool string, args any, attempts int) bool {
	t, r, last := s.tools[tool], m.current, m.step == len(m.steps)-1
	half := t != nil && t.open && !s.now().Before(t.openedAt.Add(time.Duration(s.host.options.numbers().breaker)*time.Second))
	if r == nil {
		m.turnOfModel()
		if t != nil && t.open && !half {
			return s.told(m, t, args)
		}
		r = &agentRecord{id: s.name("call:"), tool: tool, trace: m.trace, args: args, most: attempts, created: s.now()}
		r.turn("pending", s.now())
		s.records, m.current = append(s.records, r), r
		if s.dies(m, "after_write", last) {
			return false
		}
	}
	switch {
	case r.status == "success":
		return true
	case r.status == "in_flight" && (t == nil || !t.idempotent):
		s.fail(m, r, "outcome_unknown")
		return false
	}
	for {
		r.turn("in_flight", s.now())
		answer := scriptedTurn{outcome: "unreachable"}
		if t != nil {
			answer = t.play(m, m.step, r.attempts, s.now())
		}
		if s.dies(m, "after_dispatch", last) {
			return false
		}
		switch kind := answer.outcome; {
		case kind == "ok":
			if t.open {
				t.open = false
			}
			r.turn("success", s.now())
			return !s.dies(m, "after_result", last)
		case (kind == "unauthorized" || kind == "gone") && half:
			t.openedAt = s.now()
			r.turn("dead_lettered", s.now())
			return s.told(m, t, args)
		case kind == "unauthorized" || kind == "gone":
			t.open, t.openedAt = true, s.now()
			t.alerts++
			s.fail(m, r, kind)
			return false
		case r.attempts < r.most:
			r.reason = kind
			r.turn("failed", s.now())
			m.turnOfModel()
			if answer.retryAfter > 0 {
				m.due = s.now().Add(answer.retryAfter)
				return false
			}
		case t != nil && t.fallback != "":
			r.turn("dead_lettered", s.now())
			m.current = nil
			return s.take(m, t.fallback, args, attempts)
		default:
			s.fail(m, r, kind)
			return false
		}
	}
}

// told has the model go on without a step whose circuit is open, or with the tool's fallback.
func (s *shift) told(m *agentMessage, t *scriptedTool, args any) bool {
	if t.fallback != "" {
		m.current = nil
		return s.take(m, t.fallback, args, m.budget+1)
	}
	m.skipped[m.step] = true
	m.gaveUp = m.gaveUp || s.host.options.GivesUp
	return true
}

// fail ends a run at a step, with an entry of the tool queue.
func (s *shift) fail(m *agentMessage, r *agentRecord, kind string) {
	r.reason = kind
	r.turn("dead_lettered", s.now())
	m.status = "tool_failed"
	text := fmt.Sprintf("no luck with %v: %s", r.args, kind)
	if s.host.options.OwnTexts {
		text = "Das Werkzeug versagte (" + kind + ")"
	}
	e := &agentEntry{id: s.name(""), message: m, record: r, step: m.step, kind: kind, text: text, attempts: r.attempts, seen: s.now(), made: time.Now(),
		last: s.now(), resolution: "unresolved", input: m.input, output: m.output}
	for i, at := 0, e.seen; i < r.attempts; i++ {
		e.tried = append(e.tried, members{"attempt": i + 1, "at": instant(at), "outcome": s.outcomeOf(m, r, i, kind)})
	}
	e.audit = append(e.audit, members{"at": instant(e.seen), "by": "worker", "action": "enqueued", "resolution": "unresolved"})
	s.tooled = append(s.tooled, e)
}

// outcomeOf is the kind of an attempt's error, as the tool knows it.
func (s *shift) outcomeOf(m *agentMessage, r *agentRecord, i int, kind string) any {
	if t := s.tools[r.tool]; t != nil && kind != "outcome_unknown" {
		var own []members
		for _, c := range t.calls {
			if call, _ := c.(members); call["runId"] == m.run {
				own = append(own, call)
			}
		}
		if at := len(own) - r.attempts + i; at >= 0 && at < len(own) {
			return own[at]["outcome"]
		}
	}
	return kind
}
