package agentdlq

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/wopwitness/wopwitness/witness"
	"github.com/wopwitness/wopwitness/witness/observe"
	"github.com/wopwitness/wopwitness/witness/witnesstest"
)

// began is the domain time at which every scene of the tests begins.
var began = time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)

func stamp(t time.Time) string { return t.UTC().Format("2006-01-02T15:04:05.000Z07:00") }

// object is a JSON object as a host shows it.
type object = map[string]any

// shown is what a host shows to one leg, written down as the leg's scene once it is right, or wrong in one way.
type shown struct {
	now      time.Time // moves on with each call that is made
	numbers  observe.AgentDLQ
	messages map[string]object
	tools    map[string]object
	tooled   map[string][]object // entries of the tool queue by the message's role
	messaged map[string][]object // entries of the message queue
	detailed map[string]object   // what an entry has beside, when it is read by its id
	records  map[string][]object // invocations
	steps    []Step              // whatever else the leg did
	parts    map[string]*shown   // what was read before the end
	moved    int64
	names    map[string]string
}

func newShown() *shown {
	return &shown{
		now: began, messages: map[string]object{}, tools: map[string]object{}, tooled: map[string][]object{}, messaged: map[string][]object{},
		records: map[string][]object{}, detailed: map[string]object{}, parts: map[string]*shown{}, names: map[string]string{},
		numbers: observe.AgentDLQ{LeaseSeconds: 30, BreakerSeconds: 60, RedeliveryLimit: 4, IntakeCapacity: 64, QueueCapacity: 64,
			RecoveryIntervalSeconds: 15, AutomaticReplays: 6, RepairThreshold: 0.85, EntryTTLSeconds: 1209600, DepthAlertThreshold: 100},
	}
}

// part is what the host shows in an earlier part of the leg.
func (h *shown) part(when string) *shown {
	if h.parts[when] == nil {
		h.parts[when] = newShown()
	}
	return h.parts[when]
}

func named(role string) string { return strings.ReplaceAll(role, " ", "-") + "-x1y2z3" }

// traceOf is the trace of a message, in the form of W3C Trace Context.
func traceOf(role string) string {
	sum := sha256.Sum256([]byte(role))
	return hex.EncodeToString(sum[:16])
}

// message shows a message in a state, with a run where it has one.
func (h *shown) message(role, status string) object {
	m := object{"messageId": named(role), "status": status, "deliveries": 1, "modelCalls": 2, "traceId": traceOf(role),
		"tokensSpent": object{"input": 40, "output": 8}, "runId": "run of " + role}
	if status == DeadLettered {
		delete(m, "runId")
		m["modelCalls"] = 0
	}
	h.messages[role] = m
	return m
}

// tool shows a tool that nobody called.
func (h *shown) tool(role string) object {
	if h.tools[role] == nil {
		h.tools[role] = object{"calls": []any{}, "effects": 0, "circuit": object{"state": "closed"}, "alerts": 0}
	}
	return h.tools[role]
}

// called adds attempts of one step of a message's run to a tool's calls.
func (h *shown) called(tool, role string, step int, outcomes ...string) {
	t := h.tool(tool)
	for i, o := range outcomes {
		h.now = h.now.Add(10 * time.Millisecond)
		t["calls"] = append(t["calls"].([]any), object{"runId": "run of " + role, "stepIndex": step, "attempt": i + 1, "at": stamp(h.now), "outcome": o})
	}
}

// circuit shows a tool's circuit and how many alerts were raised about it.
func (h *shown) circuit(tool, state string, alerts int) {
	h.tool(tool)["circuit"], h.tool(tool)["alerts"] = object{"state": state}, alerts
}

// failed shows an entry of the tool queue.
func (h *shown) failed(role, tool string, step, attempts int, kind string) object {
	e := object{
		"entryId": "entry of " + role, "runId": "run of " + role, "stepIndex": step, "toolName": named(tool), "toolArgs": object{"order": "A-1042"},
		"attempts": attempts, "lastError": object{"kind": kind, "status": statuses()[kind], "message": "it failed"}, "conversationRef": "conv_" + named(role),
		"tokensSpent": object{"input": 40, "output": 8}, "firstSeenAt": stamp(h.now), "originalMessageId": named(role),
		"invocationId": fmt.Sprintf("invocation %d of %s", step, role), "traceId": traceOf(role), "category": nil, "resolution": "unresolved",
		"lastAttemptedAt": stamp(h.now), "nextReplayAt": nil, "expiresAt": stamp(h.now.AddDate(0, 0, 14)), "tags": []any{},
	}
	h.tooled[role] = append(h.tooled[role], e)
	return e
}

func statuses() map[string]any {
	return map[string]any{"server_error": 500, "rate_limited": 429, "malformed": 200, "locked": 423, "bad_request": 400, "semantic": 422, "unauthorized": 401, "gone": 410}
}

// deadLettered shows an entry of the message queue.
func (h *shown) deadLettered(role, reason string, deliveries int) object {
	e := object{
		"entryId": "entry of " + role, "messageId": named(role), "reason": reason, "deliveries": deliveries, "body": "{not json",
		"lastError": object{"kind": reason, "status": nil, "message": "it can't be read"}, "firstSeenAt": stamp(h.now), "traceId": traceOf(role),
		"resolution": "unresolved", "expiresAt": stamp(h.now.AddDate(0, 0, 14)), "tags": []any{},
	}
	h.messaged[role] = append(h.messaged[role], e)
	return e
}

// detail shows a message's entry by its id too, with what happened to it.
func (h *shown) detail(role string, outcomes ...string) object {
	history := []any{}
	for i, o := range outcomes {
		history = append(history, object{"attempt": i + 1, "at": stamp(h.now), "outcome": o})
	}
	d := object{"history": history, "audit": []any{object{"at": stamp(h.now), "by": "worker", "action": "enqueued", "resolution": "unresolved"}}}
	h.detailed[role] = d
	return d
}

// recorded shows the record of an invocation.
func (h *shown) recorded(role, tool string, step int, statuses ...string) object {
	history, attempts := []any{}, 0
	for _, s := range statuses {
		history = append(history, object{"status": s, "at": stamp(h.now)})
		if s == "in_flight" {
			attempts++
		}
	}
	r := object{"invocationId": fmt.Sprintf("invocation %d of %s", step, role), "agentId": "agent-1", "toolName": named(tool), "payload": object{"order": "A-1042"},
		"workflowTraceId": traceOf(role), "attemptCount": attempts, "maxAttempts": 3, "createdAt": stamp(h.now), "status": statuses[len(statuses)-1], "history": history}
	h.records[role] = append(h.records[role], r)
	return r
}

// ask puts something else into the scene, answered so.
func (h *shown) ask(did Did, of string, status int, body any) {
	h.steps = append(h.steps, Step{Did: did, Of: of, Exchanges: []observe.Exchange{answered(status, body)}})
}

func answered(status int, body any) observe.Exchange {
	raw, err := json.Marshal(body)
	if err != nil {
		panic(err)
	}
	return observe.Exchange{Request: observe.Request{Method: "GET", Target: "/x"}, Response: &observe.Response{Proto: "HTTP/1.1", Status: status, Body: raw}}
}

func listing(entries []object) object {
	list := []any{}
	for _, e := range entries {
		list = append(list, e)
	}
	return object{"entries": list}
}

// scene writes down what is shown, the earlier parts first.
func (h *shown) scene() Scene {
	s := Scene{Numbers: h.numbers, Patience: 1_000_000, Names: map[string]string{}}
	for _, when := range slices.Sorted(maps.Keys(h.parts)) {
		h.parts[when].write(&s, when)
	}
	h.write(&s, "")
	return s
}

func (h *shown) write(s *Scene, when string) {
	maps.Copy(s.Names, h.names)
	add := func(did Did, of string, body any) {
		if _, given := s.Names[of]; !given {
			s.Names[of] = named(of)
		}
		s.Steps = append(s.Steps, Step{Did: did, Of: of, When: when, Exchanges: []observe.Exchange{answered(200, body)}})
	}
	if h.moved > 0 {
		s.Steps = append(s.Steps, Step{Did: DidAdvance, When: when, Moved: h.moved, Exchanges: []observe.Exchange{answered(200, object{})}})
	}
	for _, step := range h.steps {
		step.When = when
		s.Steps = append(s.Steps, step)
	}
	for _, role := range slices.Sorted(maps.Keys(h.messages)) {
		add(DidMessage, role, h.messages[role])
		add(DidToolQueue, role, listing(h.tooled[role]))
		add(DidMessageQueue, role, listing(h.messaged[role]))
		if h.detailed[role] != nil {
			whole := object{}
			for _, e := range slices.Concat(h.tooled[role], h.messaged[role]) {
				maps.Copy(whole, e)
			}
			maps.Copy(whole, h.detailed[role])
			add(DidEntry, role, whole)
		}
		if h.records[role] != nil {
			add(DidInvocations, role, listing(h.records[role]))
		}
	}
	for _, role := range slices.Sorted(maps.Keys(h.tools)) {
		add(DidTool, role, h.tools[role])
	}
}

// shows is one way of what a host may show, and what the judge makes of it: "pass" with the codes of its notes, the names
// of the checks that failed, or "undecided" with the reason.
type shows struct {
	name string
	edit func(*shown)
	want string
}

// try judges what is right, and each way of it that a case makes.
func try(t *testing.T, judge func(Scene) witness.Verdict, right func() *shown, cases []shows) {
	t.Helper()
	for _, c := range append([]shows{{"right", func(*shown) {}, "pass"}}, cases...) {
		t.Run(c.name, func(t *testing.T) {
			h := right()
			c.edit(h)
			s := recoded(t, h.scene())
			if got := outcome(judge(s)); got != c.want {
				t.Errorf("judged %q, want %q\n%+v", got, c.want, judge(s).Findings)
			}
		})
	}
	fade(t, judge, right().scene())
}

// recoded is the scene as a file gives it back.
func recoded(t *testing.T, s Scene) Scene {
	t.Helper()
	raw, err := json.Marshal(s)
	if err != nil {
		t.Fatal(err)
	}
	var back Scene
	if err := json.Unmarshal(raw, &back); err != nil {
		t.Fatal(err)
	}
	return back
}

func outcome(v witness.Verdict) string {
	var words []string
	switch {
	case len(v.Findings) > 0:
		for _, f := range v.Findings {
			words = append(words, f.Check)
			if !witnesstest.Complete(f) || f.Got == "" && f.Expected == "" {
				return "a finding that doesn't say what is wrong: " + f.Check
			}
		}
		slices.Sort(words)
		words = slices.Compact(words)
	case v.Undecided != nil:
		words = []string{"undecided", string(v.Undecided.Reason)}
	case len(v.Checks) == 0:
		words = []string{"vacuous"}
	default:
		words = []string{"pass"}
		for _, n := range v.Notes {
			words = append(words, n.Code)
		}
	}
	return strings.Join(words, " ")
}

// fade takes the scene away piece by piece, and puts absurd answers in the place of what was read: a judge must stand it,
// and a scene in which a reading isn't there passes nothing.
func fade(t *testing.T, judge func(Scene) witness.Verdict, whole Scene) {
	t.Helper()
	absurd := []string{``, `null`, `7`, `"x"`, `[]`, `[[[]]]`, `{}`, `{"entries":{}}`, `{"entries":[null,7,{"history":7,"lastError":[]}]}`,
		`{"calls":[null,{"at":7}],"effects":-1e400,"circuit":[],"alerts":"x"}`, `{"status":{},"runId":[],"modelCalls":1e18,"tokensSpent":[]}`, `{"entries":[`}
	for i := range whole.Steps {
		s := whole
		s.Steps = slices.Delete(slices.Clone(whole.Steps), i, i+1)
		gone := whole.Steps[i]
		if v := judge(s); gone.Did == DidMessage && s.find(DidMessage, gone.Of) == nil && outcome(v) == "pass" {
			t.Errorf("without %s %s it passes", whole.Steps[i].Did, whole.Steps[i].Of)
		}
		for k := range 4 { // other ones at each step: all of them at each would be a judgement a millisecond for seconds
			body := absurd[(i+3*k)%len(absurd)]
			s.Steps = slices.Clone(whole.Steps)
			s.Steps[i].Exchanges = []observe.Exchange{{Response: &observe.Response{Status: 200, Body: observe.Text(body)}}}
			judge(s)
		}
		s.Steps = slices.Clone(whole.Steps)
		s.Steps[i].Exchanges = []observe.Exchange{{Failure: &observe.Failure{Kind: observe.FailTimeout, Text: "nothing came"}}}
		judge(s)
		s.Steps[i].Exchanges = nil
		judge(s)
	}
	judge(Scene{})
}

// answeredAs is an answer of that status and no more.
func answeredAs(status int) []observe.Exchange {
	return []observe.Exchange{{Request: observe.Request{Method: "POST", Target: "/x"}, Response: &observe.Response{Proto: "HTTP/1.1", Status: status}}}
}
