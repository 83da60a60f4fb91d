package hostevents

import (
	"encoding/json"
	"slices"
	"strings"
	"testing"

	"github.com/wopwitness/wopwitness/witness"
	"github.com/wopwitness/wopwitness/witness/observe"
)

// tapeReading is how the legs of these tests read their streams, at a host that keeps an hour.
var tapeReading = Reading{Patience: 1000 * ms, Quiet: 20 * ms, Retention: 3600 * 1000 * ms}

// durableAt gives durable events of those labels, sent 10 ms apart from the moment on.
func durableAt(from observe.Micros, labels ...string) []observe.Emit {
	var emits []observe.Emit
	for i, l := range labels {
		emits = append(emits, triggered(l, observe.CredentialA, "durable", from+observe.Micros(i)*10*ms))
	}
	return emits
}

// shortly gives each event, shown 2 ms after it was sent.
func shortly(emits ...observe.Emit) []observe.Chunk {
	var chunks []observe.Chunk
	for _, e := range emits {
		chunks = append(chunks, shows(e.SentAt()+2*ms, e))
	}
	return chunks
}

// atOnce gives all the events at one moment, as a backlog comes.
func atOnce(at observe.Micros, emits ...observe.Emit) []observe.Chunk {
	var chunks []observe.Chunk
	for _, e := range emits {
		chunks = append(chunks, shows(at, e))
	}
	return chunks
}

// subscriber is a subscription of one connection that opened: asked for at a moment, read until another.
func subscriber(cursor string, asked, until observe.Micros, chunks ...observe.Chunk) observe.Subscription {
	return over(stream(observe.CredentialA, cursor, asked, until, chunks...))
}

const refusalBody = `{"error":"host_event_resync_required","message":"resynchronize"}`

// turnedAway is a connection answered with a status and a body that is no event stream.
func turnedAway(label, cursor string, status int, body string) observe.Stream {
	s := observe.Stream{EndedAt: 3 * ms}
	s.Label, s.Credential, s.SentAt, s.AnsweredAt = label, observe.CredentialA, ms, 2*ms
	s.Request.Target, s.Request.Headers = "/host/events?replay=required", []observe.Header{{Name: "Last-Event-Id", Value: cursor}}
	s.Response = &observe.Response{Proto: "HTTP/1.1", Status: status, Reason: "Status",
		Headers: []observe.Header{{Name: "Content-Type", Value: "application/json"}}, Body: observe.Text(body)}
	return s
}

func refusedSubscriber(status int, body string) observe.Subscription {
	return over(turnedAway("", "", status, body))
}

// lostConnection is a connection that got no answer.
func lostConnection(kind observe.FailureKind) observe.Stream {
	return observe.Stream{Exchange: failed(kind)}
}

// inShort is a verdict in short: "pass", "undecided", "nothing" for no check at all, or the checks that convict, sorted.
func inShort(v witness.Verdict) string {
	var convict []string
	for _, f := range v.Findings {
		convict = append(convict, f.Check)
	}
	slices.Sort(convict)
	switch {
	case len(convict) > 0:
		return strings.Join(slices.Compact(convict), " ")
	case v.Undecided != nil:
		return "undecided"
	case len(v.Checks) == 0:
		return "nothing"
	}
	return "pass"
}

// judged is one row of a judge's table: the right observation with one thing changed.
type judged[T any] struct {
	name   string
	change func(o *T)
	want   string
	note   string // a note's code that must be there
}

// judgeAll judges each row's observation as a run does, encoded and decoded. An empty one never passes.
func judgeAll[T any](t *testing.T, right func() T, judge func(T) witness.Verdict, rows []judged[T]) {
	t.Helper()
	var empty T
	if got := inShort(judge(empty)); got == "pass" {
		t.Errorf("an empty observation passes")
	}
	for _, row := range rows {
		t.Run(row.name, func(t *testing.T) {
			o := right()
			if row.change != nil {
				row.change(&o)
			}
			raw, err := json.Marshal(o)
			if err != nil {
				t.Fatal(err)
			}
			v, err := witness.Of(judge)(raw)
			if err != nil {
				t.Fatal(err)
			}
			if got := inShort(v); got != row.want {
				t.Errorf("got %q, want %q; findings %+v, undecided %+v", got, row.want, v.Findings, v.Undecided)
			}
			if row.note != "" && !slices.ContainsFunc(v.Notes, func(n witness.Note) bool { return n.Code == row.note }) {
				t.Errorf("no note %q among %+v", row.note, v.Notes)
			}
			for _, f := range v.Findings {
				if f.Says == "" || f.Why == "" || !strings.HasPrefix(f.Section, "RFC 0250 §") {
					t.Errorf("a finding is incomplete: %+v", f)
				}
			}
		})
	}
}
