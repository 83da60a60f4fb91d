package hostevents

import (
	"strings"
	"testing"

	"github.com/wopwitness/wopwitness/witness/observe"
)

const (
	unknownCursor = "unknown-0123456789"
	foreignCursor = "foreign-0123456789"
)

func TestJudgeRefusalRevealsNothing(t *testing.T) {
	right := func() Revealed {
		other := turnedAway("unknown, other tenant", unknownCursor, 409, refusalBody)
		return Revealed{
			Refusals:    []observe.Stream{turnedAway("unknown", unknownCursor, 409, refusalBody), turnedAway("foreign", foreignCursor, 409, refusalBody)},
			OtherTenant: &other, Tenants: []string{"acme-corp", "globex"},
			Events: []string{`{"eventId":"` + foreignCursor + `","timestamp":"2026-11-30T10:00:00.512345Z","payload":{"order":"A-17"}}`},
		}
	}
	body := func(text string) func(o *Revealed) {
		return func(o *Revealed) { o.Refusals[1].Response.Body = observe.Text(text) }
	}
	says := func(message string) func(o *Revealed) {
		return body(`{"error":"host_event_resync_required","message":"` + message + `"}`)
	}
	judgeAll(t, right, JudgeRefusalRevealsNothing, []judged[Revealed]{
		{name: "says only that one has to resynchronize", want: "pass"},
		{name: "the cursor in the message", want: "no-cursor", change: says("no event " + foreignCursor)},
		{name: "the cursor in a header", want: "no-cursor", change: func(o *Revealed) {
			r := o.Refusals[0].Response
			r.Headers = append(r.Headers, observe.Header{Name: "X-Cursor", Value: unknownCursor})
		}},
		{name: "the cursor in the status line", want: "no-cursor", change: func(o *Revealed) { o.Refusals[0].Response.Reason = "Unknown " + unknownCursor }},
		{name: "the key in the body", want: "no-key", change: says("key " + observe.Marker(observe.CredentialA))},
		{name: "the key in a header", want: "no-key", change: func(o *Revealed) {
			r := o.Refusals[0].Response
			r.Headers = append(r.Headers, observe.Header{Name: "X-Auth", Value: "Bearer " + observe.Marker(observe.CredentialA)})
		}},
		{name: "the other tenant in the message", want: "no-tenant", change: says("belongs to acme-corp.")},
		{name: "a tenant as a part of a longer word", want: "pass", change: says("acme-corporation and globex_inc")},
		{name: "a tenant before a full stop within a word", want: "pass", change: says("globex.example")},
		{name: "a short tenant id found by chance", want: "pass", change: func(o *Revealed) {
			o.Tenants = []string{"acme"}
			says("acme required")(o)
		}},
		{name: "a tenant called like a word of the constant text", want: "pass", change: func(o *Revealed) { o.Tenants = []string{"resynchronize"} }},
		{name: "the event's timestamp", want: "no-payload", change: says("of 2026-11-30T10:00:00.512345Z")},
		{name: "the event's payload", want: "no-payload", change: body(`{"error":"host_event_resync_required","message":"m","details":{"order":"A-17"}}`)},
		{name: "a payload member", want: "no-payload", change: body(`{"error":"host_event_resync_required","message":"m","details":[{"payload":{}}]}`)},
		{name: "constant details", want: "pass", note: "details", change: func(o *Revealed) {
			for _, s := range append(o.Refusals, *o.OtherTenant) {
				s.Response.Body = observe.Text(`{"error":"host_event_resync_required","message":"m","details":{"docs":"/resync"}}`)
			}
		}},
		{name: "without a second tenant", want: "pass", change: func(o *Revealed) {
			o.Refusals, o.OtherTenant, o.Tenants, o.Events = o.Refusals[:1], nil, nil, nil
		}},
		{name: "one of them resumed", want: "undecided", change: func(o *Revealed) { o.Refusals[1] = stream(observe.CredentialA, foreignCursor, 0, ms) }},
		{name: "one asked to come later", want: "undecided", change: func(o *Revealed) { o.Refusals[1].Response.Status = 429 }},
		{name: "one unanswered", want: "undecided", change: func(o *Revealed) { o.Refusals[1] = lostConnection(observe.FailTimeout) }},
	})
}

func TestHoldsToken(t *testing.T) {
	for _, c := range []struct {
		text, id string
		want     bool
	}{
		{"tenant acme-corp has it", "acme-corp", true},
		{"acme-corp", "acme-corp", true},
		{"of acme-corp.", "acme-corp", true},
		{`{"tenant":"acme-corp"}`, "acme-corp", true},
		{"acme-corp/r-1", "acme-corp", true},
		{"acme-corporate, then acme-corp", "acme-corp", true},
		{"acme-corporate", "acme-corp", false},
		{"my-acme-corp", "acme-corp", false},
		{"acme-corp.example", "acme-corp", false},
		{"", "acme-corp", false},
	} {
		if got := holdsToken(c.text, c.id); got != c.want {
			t.Errorf("%q in %q: got %v", c.id, c.text, got)
		}
	}
}

func TestJudgeAuthFirst(t *testing.T) {
	asked := func(label, credential string, status int, body string) observe.Stream {
		s := turnedAway(label, unknownCursor, status, body)
		s.Credential = credential
		return s
	}
	const unauthenticated, forbidden = `{"error":"unauthenticated","message":"no"}`, `{"error":"forbidden","message":"no"}`
	right := func() AuthFirst {
		var o AuthFirst
		o.Plain = []observe.Stream{asked("no cursor", observe.CredentialBad, 401, unauthenticated), asked("no cursor", observe.CredentialLow, 403, forbidden)}
		for _, label := range []string{"good cursor", "unknown cursor", "foreign cursor"} {
			o.With = append(o.With, asked(label, observe.CredentialBad, 401, unauthenticated), asked(label, observe.CredentialLow, 403, forbidden))
		}
		return o
	}
	at := func(i, status int, body string) func(o *AuthFirst) {
		return func(o *AuthFirst) { o.With[i] = asked(o.With[i].Label, o.With[i].Credential, status, body) }
	}
	judgeAll(t, right, JudgeAuthFirst, []judged[AuthFirst]{
		{name: "kept out in the same way", want: "pass"},
		{name: "the refusal for a bad key", want: "bad-key-first", change: at(2, 409, refusalBody)},
		{name: "the refusal's code under the right status", want: "bad-key-first", change: at(2, 401, refusalBody)},
		{name: "not found for a bad key", want: "bad-key-first", change: at(4, 404, "")},
		{name: "the refusal for a missing scope", want: "missing-scope-first", change: at(3, 409, refusalBody)},
		{name: "resumed without the scope", want: "missing-scope-first", change: func(o *AuthFirst) {
			s := stream(observe.CredentialLow, unknownCursor, 0, ms)
			s.Label = "good cursor"
			o.With[1] = s
		}},
		{name: "another registered code", want: "pass", change: at(0, 401, `{"error":"key_expired","message":"no"}`)},
		{name: "a host that says 403 to a bad key, always", want: "pass", note: "own-status", change: func(o *AuthFirst) {
			o.Plain, o.With = o.Plain[:1], []observe.Stream{asked("good cursor", observe.CredentialBad, 403, forbidden)}
			o.Plain[0] = asked("no cursor", observe.CredentialBad, 403, forbidden)
		}},
		{name: "without a key that lacks the scope", want: "pass", change: func(o *AuthFirst) { o.Plain = o.Plain[:1] }},
		{name: "a key that was said to lack the scope and has it", want: "undecided", change: func(o *AuthFirst) {
			s := stream(observe.CredentialLow, "", 0, ms)
			o.Plain[1] = s
		}},
		{name: "a key that was said to be valid and is unknown", want: "undecided", change: func(o *AuthFirst) {
			o.Plain[1] = asked("no cursor", observe.CredentialLow, 401, unauthenticated)
		}},
		{name: "asked to come later", want: "undecided", change: at(0, 429, "")},
		{name: "no request at a cursor", want: "undecided", change: func(o *AuthFirst) { o.With = nil }},
	})
}

func TestJudgeCursorHostile(t *testing.T) {
	right := func() Hostile {
		o := Hostile{Unknown: turnedAway("unknown", unknownCursor, 409, refusalBody)}
		for _, label := range []string{"very long", "quoted", "UTF-8"} {
			o.Attempts = append(o.Attempts, turnedAway(label, "x", 409, refusalBody))
		}
		return o
	}
	first := func(status int, body string) func(o *Hostile) {
		return func(o *Hostile) { o.Attempts[0] = turnedAway("very long", "x", status, body) }
	}
	judgeAll(t, right, JudgeCursorHostile, []judged[Hostile]{
		{name: "the refusal for each", want: "pass"},
		{name: "431 by the server", want: "pass", note: "refused-by-server", change: first(431, "")},
		{name: "400 by the server", want: "pass", note: "refused-by-server", change: first(400, "400 Bad Request")},
		{name: "400 by a framework", want: "pass", note: "refused-by-server", change: first(400, `{"statusCode":400,"error":"Bad Request","message":"header"}`)},
		{name: "400 by the host itself", want: "hostile-like-unknown", change: first(400, errorAnswer("validation_error"))},
		{name: "another message", want: "hostile-like-unknown", change: first(409, `{"error":"host_event_resync_required","message":"bad cursor"}`)},
		{name: "not found", want: "hostile-like-unknown", change: first(404, errorAnswer("not_found"))},
		{name: "the host fails", want: "no-server-error", change: first(500, "")},
		{name: "opened live", want: "not-resumed", change: func(o *Hostile) {
			o.Attempts[2] = stream(observe.CredentialA, "x", 0, ms)
		}},
		{name: "200 with a body", want: "not-resumed", change: first(200, "{}")},
		{name: "asked to come later", want: "undecided", change: first(503, "")},
		{name: "the connection ended", want: "undecided", change: func(o *Hostile) { o.Attempts[0] = lostConnection(observe.FailReset) }},
		{name: "nothing to compare with", want: "undecided", change: func(o *Hostile) { o.Unknown = lostConnection(observe.FailReset) }},
		{name: "no hostile cursor", want: "undecided", change: func(o *Hostile) { o.Attempts = nil }},
	})
}

func TestJudgeReplayValue(t *testing.T) {
	right := func() OtherValue {
		return OtherValue{Other: turnedAway("replay=sometimes", unknownCursor, 400, errorAnswer("validation_error")), Legacy: stream(observe.CredentialA, unknownCursor, 0, ms)}
	}
	other := func(status int, body string) func(o *OtherValue) {
		return func(o *OtherValue) { o.Other = turnedAway("replay=sometimes", unknownCursor, status, body) }
	}
	judgeAll(t, right, JudgeReplayValue, []judged[OtherValue]{
		{name: "refused as invalid", want: "pass", note: "refused-as-invalid"},
		{name: "passed over, opened live", want: "pass", note: "passed-over", change: func(o *OtherValue) { o.Other = stream(observe.CredentialA, unknownCursor, 0, ms) }},
		{name: "passed over, an error of its own", want: "pass", note: "passed-over", change: func(o *OtherValue) {
			other(410, errorAnswer("gone"))(o)
			o.Legacy = o.Other
		}},
		{name: "some other answer", want: "pass", note: "other-answer", change: other(422, errorAnswer("validation_error"))},
		{name: "the new refusal", want: "not-the-new-refusal", change: other(409, refusalBody)},
		{name: "the new refusal's code under another status", want: "not-the-new-refusal", change: other(400, refusalBody)},
		{name: "the host fails", want: "no-server-error", change: other(500, "")},
		{name: "asked to come later", want: "undecided", change: other(429, "")},
		{name: "no answer", want: "undecided", change: func(o *OtherValue) { o.Other = lostConnection(observe.FailTimeout) }},
		{name: "no answer without the parameter", want: "undecided", change: func(o *OtherValue) { o.Legacy = lostConnection(observe.FailTimeout) }},
	})
}

func TestAnEchoOfALongCursorIsFoundWhole(t *testing.T) {
	cursor := strings.Repeat("a/b", 5)
	for _, text := range []string{cursor, strings.ReplaceAll(cursor, "/", "%2F")} {
		if !holdsCursor("no "+text+" here", cursor) {
			t.Errorf("the cursor is not found in %q", text)
		}
	}
	if holdsCursor("no a/b here", "a/b") {
		t.Error("a cursor of three characters is found by chance")
	}
}
