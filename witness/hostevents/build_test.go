package hostevents

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/wopwitness/wopwitness/scenarios/registry"
	"github.com/wopwitness/wopwitness/witness"
	"github.com/wopwitness/wopwitness/witness/observe"
	"github.com/wopwitness/wopwitness/witness/witnesstest"
)

// The builder of observations: what a leg would have recorded of a host that does what the case says. Moments are
// milliseconds since the leg began.

const ms = observe.Micros(1000)

// reads is how the recorded legs read: an event was given a second, and a stream twenty milliseconds after its sentinel.
func reads() Reading { return Reading{Patience: 1000 * ms, Quiet: 20 * ms} }

// idOf is the event id that the host gave to the labelled event.
func idOf(label string) string { return "0123456789abcdef." + strings.ToLower(label) }

// exchange is one answered request.
func exchange(method, target, credential string, at observe.Micros, status int, contentType, body string) observe.Exchange {
	return observe.Exchange{
		Credential: credential, Request: observe.Request{Method: method, Target: target}, SentAt: at, AnsweredAt: at + ms,
		Response: &observe.Response{
			Proto: "HTTP/1.1", Status: status, Headers: []observe.Header{{Name: "Content-Type", Value: contentType}}, Body: observe.Text(body),
		},
	}
}

// errorAnswer is an error body.
func errorAnswer(code string) string { return fmt.Sprintf(`{"error":%q,"message":"no"}`, code) }

// failed is an exchange that got no answer.
func failed(kind observe.FailureKind) observe.Exchange {
	return observe.Exchange{Request: observe.Request{Method: "GET", Target: "/host/events"}, Failure: &observe.Failure{Kind: kind, Text: "it failed"}}
}

// triggered is an event that the trigger accepted at that moment.
func triggered(label, credential, delivery string, at observe.Micros) observe.Emit {
	body := fmt.Sprintf(`{"eventId":%q,"type":%q}`, idOf(label), reserved(delivery))
	x := exchange("POST", "/host/events/test", credential, at, 202, "application/json", body)
	x.Request.Body = observe.Text(fmt.Sprintf(`{"delivery":%q}`, delivery))
	x.Request.Headers = []observe.Header{{Name: "Idempotency-Key", Value: "key-" + label}}
	return observe.Emit{
		Label: label, Credential: credential, Delivery: delivery, EventID: idOf(label), Type: reserved(delivery), Attempts: []observe.Exchange{x},
	}
}

// answeredWith is an emit that the trigger answered otherwise.
func answeredWith(e observe.Emit, status int, body string) observe.Emit {
	x := e.Answer()
	response := *x.Response
	response.Status, response.Body = status, observe.Text(body)
	x.Response = &response
	e.Attempts = []observe.Exchange{x}
	if status != 202 {
		e.EventID, e.Type = "", ""
	}
	return e
}

// envelopeOf is the event's envelope as the host sends it.
func envelopeOf(e observe.Emit) string {
	return fmt.Sprintf(`{"eventId":%q,"type":%q,"timestamp":"2026-11-30T10:00:00.5Z","delivery":%q,"payload":{}}`, e.EventID, e.Type, e.Delivery)
}

// frameText is the event's frame as the host sends it.
func frameText(e observe.Emit) string {
	text := "event: " + e.Type + "\n"
	if e.Delivery == "durable" {
		text += "id: " + e.EventID + "\n"
	}
	return text + "data: " + envelopeOf(e) + "\n\n"
}

// chunk is text that arrived at a moment.
func chunk(at observe.Micros, text string) observe.Chunk {
	return observe.Chunk{At: at, Bytes: observe.Text(text)}
}

// shows is the event's frame arriving at a moment.
func shows(at observe.Micros, e observe.Emit) observe.Chunk { return chunk(at, frameText(e)) }

// stream is an event stream that the suite opened and closed at those moments.
func stream(credential, cursor string, opened, ended observe.Micros, chunks ...observe.Chunk) observe.Stream {
	target := "/host/events"
	x := exchange("GET", target, credential, opened, 200, "text/event-stream", "")
	if cursor != "" {
		x.Request.Target = target + "?replay=required"
		x.Request.Headers = []observe.Header{{Name: "Last-Event-Id", Value: cursor}}
	}
	x.Response.Body = nil
	return observe.Stream{Exchange: x, Chunks: chunks, End: observe.EndSuite, EndedAt: ended}
}

// answer is a connection that was answered with a body instead of a stream.
func answer(status int, contentType, body string) observe.Stream {
	return observe.Stream{Exchange: exchange("GET", "/host/events?replay=required", observe.CredentialA, 50*ms, status, contentType, body)}
}

func resync() observe.Stream { return answer(409, "application/json", errorAnswer(resyncRequired)) }

// over is a subscription of those connections.
func over(segments ...observe.Stream) observe.Subscription {
	return observe.Subscription{Segments: segments}
}

// outcome is what a judge should make of an observation: the checks that convict, or why it cannot say, or a pass.
type outcome struct {
	convicts  []string // names of checks, sorted
	undecided registry.Reason
	notes     []string // codes that must be among the notes
}

func pass(notes ...string) outcome           { return outcome{notes: notes} }
func convicts(checks ...string) outcome      { return outcome{convicts: checks} }
func undecided(r registry.Reason) outcome    { return outcome{undecided: r} }
func (w outcome) noting(c ...string) outcome { w.notes = c; return w }

// expect judges an observation as a run does, encoded and decoded, and compares.
func expect(t *testing.T, leg registry.LegID, observation any, want outcome) {
	t.Helper()
	raw, err := json.Marshal(observation)
	if err != nil {
		t.Fatal(err)
	}
	judge := Judges()[leg]
	if judge == nil {
		t.Fatalf("no judge for %s", leg)
	}
	v, err := judge(raw)
	if err != nil {
		t.Fatal(err)
	}
	compare(t, v, want)
}

func compare(t *testing.T, v witness.Verdict, want outcome) {
	t.Helper()
	var convicted []string
	for _, f := range v.Findings {
		convicted = append(convicted, f.Check)
		if !witnesstest.Complete(f) || !slices.Contains(v.Checks, f.Check) {
			t.Errorf("finding is incomplete: %+v", f)
		}
	}
	slices.Sort(convicted)
	slices.Sort(want.convicts)
	if !slices.Equal(convicted, want.convicts) {
		t.Errorf("convicted by %v, want %v\n%+v", convicted, want.convicts, v)
	}
	if len(want.convicts) == 0 {
		var reason registry.Reason
		if v.Undecided != nil {
			reason = v.Undecided.Reason
		}
		if reason != want.undecided {
			t.Errorf("undecided %q, want %q\n%+v", reason, want.undecided, v)
		}
		if reason == "" && len(v.Checks) == 0 {
			t.Errorf("nothing was checked: %+v", v)
		}
	}
	for _, code := range want.notes {
		if !slices.ContainsFunc(v.Notes, func(n witness.Note) bool { return n.Code == code }) {
			t.Errorf("no note %q among %+v", code, v.Notes)
		}
	}
}
