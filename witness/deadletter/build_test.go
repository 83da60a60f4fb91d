package deadletter

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/wopwitness/wopwitness/scenarios/registry"
	"github.com/wopwitness/wopwitness/witness"
	"github.com/wopwitness/wopwitness/witness/observe"
	"github.com/wopwitness/wopwitness/witness/witnesstest"
)

const (
	second  = observe.Micros(1_000_000)
	ownID   = "acme/r-0123456789abcdef"
	childID = "acme/r-fedcba9876543210"
)

var diedAt = time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)

// reply is an exchange that was answered.
func reply(at observe.Micros, status int, body string) observe.Exchange {
	return observe.Exchange{
		Request:  observe.Request{Method: "GET", Target: "/x"},
		Response: &observe.Response{Proto: "HTTP/1.1", Status: status, Body: observe.Text(body), Headers: []observe.Header{{Name: "Content-Type", Value: "application/json"}}},
		SentAt:   at, AnsweredAt: at + 1000,
	}
}

func silent(kind observe.FailureKind) observe.Exchange {
	return observe.Exchange{Failure: &observe.Failure{Kind: kind, Text: "nothing came"}}
}

// event is one event of a log; node "" makes none of a node.
type event struct {
	kind, node, payload string
}

// logOf writes a log's events one second apart, the first at diedAt less their number.
func logOf(runID string, events ...event) []string {
	var all []string
	for i, e := range events {
		payload := e.payload
		if payload == "" {
			payload = "{}"
		}
		node := ""
		if e.node != "" {
			node = fmt.Sprintf(`"nodeId":%q,`, e.node)
		}
		at := diedAt.Add(time.Duration(i-len(events)+1) * time.Second).Format(time.RFC3339)
		all = append(all, fmt.Sprintf(`{"eventId":"%s-%04d-0123456789","runId":%q,%s"type":%q,"payload":%s,"timestamp":%q,"sequence":%d}`,
			runID[len(runID)-4:], i, runID, node, e.kind, payload, at, i))
	}
	return all
}

func page(at observe.Micros, events ...string) observe.Exchange {
	return reply(at, 200, `{"events":[`+strings.Join(events, ",")+`]}`)
}

func letterPayload(runID string) string {
	return fmt.Sprintf(`{"runId":%q,"nodeId":"poison","reason":"retries exhausted","attempts":3}`, runID)
}

// exhausted is the log of a node that fails three times and dies, on major 2.
func exhausted(runID string) []event {
	return []event{
		{"run.started", "", ""},
		{"node.started", "poison", ""}, {"node.failed", "poison", ""}, {"node.retried", "poison", ""},
		{"node.started", "poison", ""}, {"node.failed", "poison", ""}, {"node.retried", "poison", ""},
		{"node.started", "poison", ""}, {"node.failed", "poison", ""},
		{"run.dead-lettered", "poison", letterPayload(runID)},
		{"run.failed", "", ""},
	}
}

// rename gives the events with the dead letter under another name, or without it where the name is "".
func rename(events []event, name string) []event {
	var all []event
	for _, e := range events {
		if e.kind == "run.dead-lettered" {
			if name == "" {
				continue
			}
			e.kind = name
		}
		all = append(all, e)
	}
	return all
}

// repay gives the events with another payload in the dead letter.
func repay(events []event, from, to string) []event {
	all := slices.Clone(events)
	for i, e := range all {
		if e.kind == "run.dead-lettered" {
			all[i].payload = strings.Replace(e.payload, from, to, 1)
		}
	}
	return all
}

// without drops the events of one kind.
func without(events []event, kind string) []event {
	return slices.DeleteFunc(slices.Clone(events), func(e event) bool { return e.kind == kind })
}

const failedSnapshot = `{"runId":"acme/r-0123456789abcdef","status":"failed","error":{"code":"node_failed","message":"no"}}`

// runOf is a run of the exhausting fixture that was watched for eleven seconds after its log was whole.
func runOf(runID string, events []event) Run {
	log := logOf(runID, events...)
	return Run{
		Label: "the dead run", Workflow: "conformance-deadletter-exhaust", Node: "poison", RunID: runID,
		Made:  []observe.Exchange{reply(0, 201, fmt.Sprintf(`{"runId":%q,"status":"pending"}`, runID))},
		Reads: []observe.Exchange{page(second, log...), page(12*second, log...)}, Snapshots: []observe.Exchange{reply(12*second, 200, failedSnapshot)},
		Bound: 100 * second, Patience: 10 * second,
	}
}

func deadRun() Run { return runOf(ownID, exhausted(ownID)) }

// seamRun is a run that the seam made and nothing else is known of.
func seamRun(body string) Run {
	x := reply(0, 200, body)
	return Run{Label: "the dead run", Seam: true, RunID: SeamRunID(x), Made: []observe.Exchange{x}}
}

func seamBody(kind string) string {
	return fmt.Sprintf(`{"event":{"type":%q,"payload":%s},"forkEligible":true}`, kind, letterPayload(ownID))
}

// outcome is a verdict in one line: the checks that convict, sorted; or "undecided" and why; or "vacuous"; or "pass" and
// the codes of its notes.
func outcome(v witness.Verdict) string {
	var parts []string
	switch {
	case len(v.Findings) > 0:
		for _, f := range v.Findings {
			parts = append(parts, f.Check)
		}
		slices.Sort(parts)
		return strings.Join(slices.Compact(parts), " ")
	case v.Undecided != nil:
		return "undecided " + string(v.Undecided.Reason)
	case len(v.Checks) == 0:
		return "vacuous"
	}
	for _, n := range v.Notes {
		parts = append(parts, n.Code)
	}
	return strings.TrimSpace("pass " + strings.Join(parts, " "))
}

type judged[T any] struct {
	name   string
	change func(*T)
	want   string
}

// try judges each case as it is judged in earnest: from the encoded observation.
func try[T any](t *testing.T, leg string, right func() T, cases []judged[T]) {
	t.Helper()
	judge := Judges()[registry.LegID("0053."+leg)]
	for _, c := range append(cases, judged[T]{"nothing observed", func(o *T) { *o = *new(T) }, ""}) {
		t.Run(c.name, func(t *testing.T) {
			o := right()
			if c.change != nil {
				c.change(&o)
			}
			raw, err := json.Marshal(o)
			if err != nil {
				t.Fatal(err)
			}
			v, err := judge(raw)
			if err != nil {
				t.Fatal(err)
			}
			got := outcome(v)
			if c.want == "" {
				if strings.HasPrefix(got, "pass") {
					t.Errorf("an empty observation passes: %+v", v)
				}
				return
			}
			if got != c.want {
				t.Errorf("got %q, want %q (%+v)", got, c.want, v)
			}
			for _, f := range v.Findings {
				if !witnesstest.Complete(f) || f.Got == "" && len(f.Shown) == 0 {
					t.Errorf("the finding of %s is incomplete: %+v", f.Check, f)
				}
			}
		})
	}
}
