package hostevents

import (
	"testing"

	"github.com/wopwitness/wopwitness/scenarios/registry"
	"github.com/wopwitness/wopwitness/witness/observe"
)

// beside is an attempt made while an ordinary stream of the same key was open.
func beside(attempt observe.Stream) Attempt {
	return Attempt{Live: over(stream(observe.CredentialA, "", 1*ms, 90*ms)), Attempt: attempt}
}

func TestJudgeCursorRefused(t *testing.T) {
	alone := func(attempt observe.Stream) Attempt { return Attempt{Attempt: attempt} }
	for _, c := range []struct {
		name string
		o    any
		want outcome
	}{
		{"conforming", beside(resync()), pass()},
		{"lawful: details, which are noted", beside(answer(409, "application/json", `{"error":"host_event_resync_required","message":"no","details":{}}`)), pass("details")},
		{"lawful: problem content type with parameters", beside(answer(409, "application/problem+json; charset=utf-8", errorAnswer(resyncRequired))), pass()},
		{"opens a live stream", beside(stream(observe.CredentialA, "unknown", 50*ms, 80*ms)), convicts("refused-with-409", "not-an-event-stream", "error-code")},
		{"answers 404", beside(answer(404, "application/json", errorAnswer("not_found"))), convicts("refused-with-409", "error-code")},
		{"answers 410 with the right code", beside(answer(410, "application/json", errorAnswer(resyncRequired))), convicts("refused-with-409")},
		{"answers 409 with another code", beside(answer(409, "application/json", errorAnswer("run_state_conflict"))), convicts("error-code")},
		{"answers 409 with no JSON", beside(answer(409, "text/plain", "conflict")), convicts("error-code")},
		{"answers 409 as an event stream", beside(answer(409, "text/event-stream", errorAnswer(resyncRequired))), convicts("not-an-event-stream")},
		{"answers 500", beside(answer(500, "application/json", errorAnswer("internal_error"))), convicts("refused-with-409", "error-code")},
		{"answers 401 to a key that it takes", beside(answer(401, "application/json", errorAnswer("unauthenticated"))), convicts("refused-with-409", "error-code")},
		{"undecided: it takes the key nowhere", alone(answer(403, "application/json", errorAnswer("forbidden"))), undecided(registry.Unauthorized)},
		{"undecided: put off by a rate", beside(answer(429, "application/json", errorAnswer("rate_limited"))), undecided(registry.UnexpectedAnswer)},
		{"undecided: out of service", beside(answer(503, "application/json", errorAnswer("service_unavailable"))), undecided(registry.UnexpectedAnswer)},
		{"undecided: no answer in time", beside(observe.Stream{Exchange: failed(observe.FailTimeout)}), undecided(registry.Timeout)},
		{"undecided: nothing listens", beside(observe.Stream{Exchange: failed(observe.FailRefused)}), undecided(registry.Unreachable)},
		{"undecided: not HTTP", beside(observe.Stream{Exchange: failed(observe.FailMalformed)}), undecided(registry.Unreadable)},
		{"undecided: nothing recorded", Attempt{}, undecided(registry.Unreachable)},
	} {
		t.Run(c.name, func(t *testing.T) { expect(t, "0250.cursor-refused", c.o, c.want) })
	}
}

func TestJudgeLegacyUnchanged(t *testing.T) {
	for _, c := range []struct {
		name string
		o    any
		want outcome
	}{
		{"lawful: live", beside(stream(observe.CredentialA, "", 50*ms, 80*ms)), pass("legacy-answer")},
		{"lawful: a refusal of its own", beside(answer(409, "application/json", errorAnswer("run_state_conflict"))), pass("legacy-answer")},
		{"lawful: not found", beside(answer(404, "application/json", errorAnswer("cursor_unknown"))), pass("legacy-answer")},
		{"lawful: text", beside(answer(400, "text/plain", "host_event_resync_required")), pass("legacy-answer")},
		{"the new refusal", beside(resync()), convicts("not-the-new-refusal")},
		{"the new code under another status", beside(answer(400, "application/json", errorAnswer(resyncRequired))), convicts("not-the-new-refusal")},
		{"undecided: the host failed", beside(answer(500, "application/json", errorAnswer("internal_error"))), undecided(registry.UnexpectedAnswer)},
		{"undecided: put off by a rate", beside(answer(429, "application/json", errorAnswer("rate_limited"))), undecided(registry.UnexpectedAnswer)},
		{"undecided: the key is refused", Attempt{Attempt: answer(401, "application/json", errorAnswer("unauthenticated"))}, undecided(registry.Unauthorized)},
		{"undecided: no answer", beside(observe.Stream{Exchange: failed(observe.FailReset)}), undecided(registry.Unreachable)},
		{"undecided: nothing recorded", Attempt{}, undecided(registry.Unreachable)},
	} {
		t.Run(c.name, func(t *testing.T) { expect(t, "0250.legacy-unchanged", c.o, c.want) })
	}
}

func TestJudgeRefusalUniform(t *testing.T) {
	right := func(change func(*Uniform)) Uniform {
		o := Uniform{
			OwnerResumed: over(stream(observe.CredentialB, idOf("B1"), 40*ms, 45*ms)),
			Unknown:      resync(), Ephemeral: resync(), Foreign: resync(),
		}
		change(&o)
		return o
	}
	with := func(status int, body string) observe.Stream { return answer(status, "application/json", body) }
	for _, c := range []struct {
		name string
		o    any
		want outcome
	}{
		{"conforming", right(func(*Uniform) {}), pass()},
		{"lawful: other headers", right(func(o *Uniform) {
			o.Foreign.Response.Headers = append(o.Foreign.Response.Headers, observe.Header{Name: "Date", Value: "now"})
		}), pass()},
		{"lawful: constant details", right(func(o *Uniform) {
			body := `{"error":"host_event_resync_required","message":"no","details":{"hint":"start over"}}`
			o.Unknown, o.Ephemeral, o.Foreign = with(409, body), with(409, body), with(409, body)
		}), pass()},
		{"the foreign cursor is not found", right(func(o *Uniform) { o.Foreign = with(404, errorAnswer("not_found")) }), convicts("foreign-like-unknown")},
		{"the foreign cursor is forbidden", right(func(o *Uniform) { o.Foreign = with(403, errorAnswer("forbidden")) }), convicts("foreign-like-unknown")},
		{"the foreign cursor gets another message", right(func(o *Uniform) {
			o.Foreign = with(409, `{"error":"host_event_resync_required","message":"not yours"}`)
		}), convicts("foreign-like-unknown")},
		{"the foreign body differs in white space", right(func(o *Uniform) { o.Foreign = with(409, errorAnswer(resyncRequired)+"\n") }), convicts("foreign-like-unknown")},
		{"the foreign cursor resumes", right(func(o *Uniform) { o.Foreign = stream(observe.CredentialA, idOf("B1"), 50*ms, 80*ms) }), convicts("foreign-like-unknown")},
		{"the ephemeral cursor resumes", right(func(o *Uniform) { o.Ephemeral = stream(observe.CredentialA, idOf("E"), 50*ms, 80*ms) }), convicts("ephemeral-like-unknown")},
		{"the ephemeral cursor gets another message", right(func(o *Uniform) {
			o.Ephemeral = with(409, `{"error":"host_event_resync_required","message":"that was ephemeral"}`)
		}), convicts("ephemeral-like-unknown")},
		{"a body that echoes the cursor", right(func(o *Uniform) {
			o.Ephemeral = with(409, `{"error":"host_event_resync_required","message":"`+idOf("E")+`"}`)
			o.Foreign = with(409, `{"error":"host_event_resync_required","message":"`+idOf("B1")+`"}`)
		}), convicts("ephemeral-like-unknown", "foreign-like-unknown")},
		{"every cursor opens a stream", right(func(o *Uniform) {
			open := stream(observe.CredentialA, "any", 50*ms, 80*ms)
			o.Unknown, o.Ephemeral, o.Foreign = open, open, open
		}), convicts("ephemeral-like-unknown", "foreign-like-unknown")},
		{"the first tenant's is refused to the second like an unknown one", right(func(o *Uniform) {
			o.Back = &UniformBack{OwnerResumed: over(stream(observe.CredentialA, idOf("A1"), 60*ms, 65*ms)), Unknown: resync(), Foreign: resync()}
		}), pass()},
		{"the first tenant's resumes for the second", right(func(o *Uniform) {
			o.Back = &UniformBack{OwnerResumed: over(stream(observe.CredentialA, idOf("A1"), 60*ms, 65*ms)), Unknown: resync(),
				Foreign: stream(observe.CredentialB, idOf("A1"), 70*ms, 80*ms)}
		}), convicts("foreign-like-unknown-to-the-other")},
		{"undecided: the first tenant could not resume at its own", right(func(o *Uniform) {
			o.Back = &UniformBack{OwnerResumed: over(resync()), Unknown: resync(), Foreign: resync()}
		}), undecided(registry.UnexpectedAnswer)},
		{"undecided: the owner could not resume", right(func(o *Uniform) { o.OwnerResumed = over(resync()) }), undecided(registry.UnexpectedAnswer)},
		{"undecided: put off by a rate", right(func(o *Uniform) { o.Ephemeral = with(429, errorAnswer("rate_limited")) }), undecided(registry.UnexpectedAnswer)},
		{"undecided: a body cut short", right(func(o *Uniform) {
			o.Foreign = with(409, `{"error":"host`)
			o.Foreign.Failure = &observe.Failure{Kind: observe.FailReset, Text: "the connection ended"}
		}), undecided(registry.Unreachable)},
		{"undecided: no answer", right(func(o *Uniform) { o.Unknown = observe.Stream{Exchange: failed(observe.FailTimeout)} }), undecided(registry.Timeout)},
		{"undecided: nothing recorded", Uniform{}, undecided(registry.UnexpectedAnswer)},
	} {
		t.Run(c.name, func(t *testing.T) { expect(t, "0250.refusal-uniform", c.o, c.want) })
	}
}

func TestADifferenceIsNamed(t *testing.T) {
	for _, c := range []struct {
		name, unknown, foreign, want string
		status                       int
	}{
		{"status and body", errorAnswer(resyncRequired), errorAnswer("not_found"), "status; then body byte 10", 404},
		{"status alone", errorAnswer(resyncRequired), errorAnswer(resyncRequired), "status", 410},
		{"length alone", `{}`, `{} `, "body byte 2", 409},
	} {
		t.Run(c.name, func(t *testing.T) {
			got := difference(answer(409, "application/json", c.unknown), answer(c.status, "application/json", c.foreign))
			if got != c.want {
				t.Errorf("got %q, want %q", got, c.want)
			}
		})
	}
}
