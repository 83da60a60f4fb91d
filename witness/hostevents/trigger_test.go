package hostevents

import (
	"fmt"
	"strings"
	"testing"

	"github.com/wopwitness/wopwitness/scenarios/registry"
	"github.com/wopwitness/wopwitness/witness/observe"
)

// discovery is a discovery document with that hostEvents record, or without one where it is "".
func discovery(record string) observe.Exchange {
	body := `{"protocolVersions":["2.0"],"preferredVersion":"2.0"}`
	if record != "" {
		body = strings.Replace(body, "}", `,"hostEvents":`+record+`}`, 1)
	}
	return exchange("GET", "/.well-known/openwop", "", 1*ms, 200, "application/json", body)
}

const (
	head          = `"status":"stable","since":"2.0","witness":"witnessable-gated"`
	durableType   = `{"type":"host-test.durable-triggered","delivery":"durable"}`
	ephemeralType = `{"type":"host-test.ephemeral-triggered","delivery":"ephemeral"}`
	otherType     = `{"type":"inventory.item-changed","delivery":"durable"}`
)

// record is a hostEvents record that lists those types, with more members after them.
func record(more string, types ...string) string {
	return fmt.Sprintf(`{%s,"types":[%s]%s}`, head, strings.Join(types, ","), more)
}

func TestJudgeShape(t *testing.T) {
	facet := func(f string) Advertisement {
		return Advertisement{Discovery: discovery(record(`,"replay":`+f, durableType, ephemeralType))}
	}
	for _, c := range []struct {
		name string
		o    any
		want outcome
	}{
		{"conforming", facet(`{"minRetentionSeconds":3600}`), pass()},
		{"lawful: no facet", Advertisement{Discovery: discovery(record("", durableType))}, pass("no-facet")},
		{"lawful: no record", Advertisement{Discovery: discovery("")}, pass("not-advertised")},
		{"lawful: other types and other facets", Advertisement{Discovery: discovery(record(`,"resumable":{"x":1}`, durableType, otherType))}, pass()},
		{"noted: a record without its head", Advertisement{Discovery: discovery(`{"types":[` + durableType + `]}`)}, pass("record-head")},
		{"a bound of zero", facet(`{"minRetentionSeconds":0}`), convicts("facet-form")},
		{"a bound in a string", facet(`{"minRetentionSeconds":"3600"}`), convicts("facet-form")},
		{"a member of its own", facet(`{"minRetentionSeconds":3600,"mode":"strict"}`), convicts("facet-form")},
		{"no bound", facet(`{}`), convicts("facet-form")},
		{"a boolean", facet(`true`), convicts("facet-form")},
		{"null", facet(`null`), convicts("facet-form")},
		{"no types", Advertisement{Discovery: discovery(`{` + head + `}`)}, convicts("types-form")},
		{"an empty list of types", Advertisement{Discovery: discovery(record(""))}, convicts("types-form")},
		{"a type without its class", Advertisement{Discovery: discovery(record("", `{"type":"a.b"}`))}, convicts("types-form")},
		{"a type of a third class", Advertisement{Discovery: discovery(record("", `{"type":"a.b","delivery":"sometimes"}`))}, convicts("types-form")},
		{"a type that stands twice", Advertisement{Discovery: discovery(record("", durableType, otherType, durableType))}, convicts("types-once")},
		{"a record that is no object", Advertisement{Discovery: discovery(`true`)}, convicts("types-form").noting("no-facet")},
		{"undecided: discovery is HTML", Advertisement{Discovery: exchange("GET", "/", "", 1*ms, 200, "text/html", "<p>")}, undecided(registry.Unreadable)},
		{"undecided: discovery is not found", Advertisement{Discovery: exchange("GET", "/", "", 1*ms, 404, "application/json", "{}")}, undecided(registry.Unreadable)},
		{"undecided: no answer", Advertisement{Discovery: failed(observe.FailTimeout)}, undecided(registry.Timeout)},
		{"undecided: nothing recorded", Advertisement{}, undecided(registry.Unreachable)},
	} {
		t.Run(c.name, func(t *testing.T) { expect(t, "0250.shape", c.o, c.want) })
	}
}

func TestJudgeBoundByListing(t *testing.T) {
	accepted := func(delivery string) observe.Emit { return triggered(delivery, observe.CredentialA, delivery, 10*ms) }
	refusedWith := func(delivery string, status int, code string) observe.Emit {
		return answeredWith(accepted(delivery), status, errorAnswer(code))
	}
	both, durableOnly, neither := discovery(record("", durableType, ephemeralType)), discovery(record("", durableType, otherType)), discovery(record("", otherType))
	for _, c := range []struct {
		name string
		o    any
		want outcome
	}{
		{"both listed, both served", Listing{both, accepted("durable"), accepted("ephemeral")}, pass()},
		{"one listed, the other refused", Listing{durableOnly, accepted("durable"), refusedWith("ephemeral", 400, "validation_error")}, pass()},
		{"lawful: a code of its own", Listing{durableOnly, accepted("durable"), refusedWith("ephemeral", 400, "class_unlisted")}, pass("error-code")},
		{"lawful: another member in the answer", Listing{both, answeredWith(accepted("durable"), 202, `{"eventId":"0123456789abcdef","type":"host-test.durable-triggered","at":"now"}`), accepted("ephemeral")}, pass()},
		{"neither listed, none found", Listing{neither, refusedWith("durable", 404, "not_found"), refusedWith("ephemeral", 404, "not_found")}, pass()},
		{"neither listed, method not allowed", Listing{neither, refusedWith("durable", 405, "not_found"), refusedWith("ephemeral", 405, "not_found")}, pass()},
		{"a listed class is not served", Listing{both, refusedWith("durable", 404, "not_found"), accepted("ephemeral")}, convicts("listed-durable-served")},
		{"a listed class is refused", Listing{both, accepted("durable"), refusedWith("ephemeral", 400, "validation_error")}, convicts("listed-ephemeral-served")},
		{"an unlisted class is served", Listing{durableOnly, accepted("durable"), accepted("ephemeral")}, convicts("unlisted-ephemeral-refused")},
		{"an unlisted class is not found", Listing{durableOnly, accepted("durable"), refusedWith("ephemeral", 404, "not_found")}, convicts("unlisted-ephemeral-refused")},
		{"an unlisted class fails", Listing{durableOnly, accepted("durable"), refusedWith("ephemeral", 500, "internal_error")}, convicts("unlisted-ephemeral-refused")},
		{"an unlisted class gets the code of something else", Listing{durableOnly, accepted("durable"), refusedWith("ephemeral", 400, "idempotency_key_invalid")}, convicts("unlisted-ephemeral-refused")},
		{"neither listed, one served", Listing{neither, accepted("durable"), refusedWith("ephemeral", 404, "not_found")}, convicts("no-trigger")},
		{"neither listed, refused as a bad body", Listing{neither, refusedWith("durable", 400, "validation_error"), refusedWith("ephemeral", 400, "validation_error")}, convicts("no-trigger", "no-trigger")},
		{"an answer of the other type", Listing{both, answeredWith(accepted("durable"), 202, `{"eventId":"0123456789abcdef","type":"host-test.ephemeral-triggered"}`), accepted("ephemeral")}, convicts("answer-form")},
		{"an answer without an id", Listing{both, answeredWith(accepted("durable"), 202, `{"type":"host-test.durable-triggered"}`), accepted("ephemeral")}, convicts("answer-form")},
		{"an answer with a short id", Listing{both, answeredWith(accepted("durable"), 202, `{"eventId":"1","type":"host-test.durable-triggered"}`), accepted("ephemeral")}, convicts("answer-form")},
		{"undecided: the key may not", Listing{both, refusedWith("durable", 403, "forbidden"), refusedWith("ephemeral", 403, "forbidden")}, undecided(registry.Unauthorized)},
		{"undecided: a rate", Listing{both, accepted("durable"), refusedWith("ephemeral", 429, "rate_limited")}, undecided(registry.RateTooLow)},
		{"undecided: no discovery", Listing{failed(observe.FailReset), accepted("durable"), accepted("ephemeral")}, undecided(registry.Unreadable)},
		{"undecided: nothing recorded", Listing{}, undecided(registry.Unreadable)},
	} {
		t.Run(c.name, func(t *testing.T) { expect(t, "0241.trigger.bound-by-listing", c.o, c.want) })
	}
}

func TestOnlyAnAbsenceIsSaidToBeOne(t *testing.T) {
	gone := answeredWith(triggered("x", observe.CredentialA, "durable", 10*ms), 404, errorAnswer("not_found"))
	for _, c := range []struct {
		name   string
		record string
		want   bool
	}{
		{"neither listed", record("", otherType), true},
		{"one listed", record("", durableType), false},
		{"both listed", record("", durableType, ephemeralType), false},
	} {
		t.Run(c.name, func(t *testing.T) {
			if got := JudgeBoundByListing(Listing{discovery(c.record), gone, gone}).Absence; got != c.want {
				t.Errorf("absence is %v, want %v", got, c.want)
			}
		})
	}
}

// refusesAll is what a right host does with the bodies that the trigger must refuse.
func refusesAll() ClosedBody {
	o := ClosedBody{Control: triggered("control", observe.CredentialA, "durable", 5*ms)}
	for i, b := range RefusedBodies("durable") {
		e := answeredWith(triggered(b.Name, observe.CredentialA, "durable", observe.Micros(10+i)*ms), 400, errorAnswer("validation_error"))
		e.Attempts[0].Request.Body = observe.Text(b.Body)
		o.Refused = append(o.Refused, e)
	}
	return o
}

func TestJudgeBodyClosed(t *testing.T) {
	edit := func(name string, status int, body string) ClosedBody {
		o := refusesAll()
		for i, e := range o.Refused {
			if e.Label == name {
				o.Refused[i] = answeredWith(e, status, body)
			}
		}
		return o
	}
	cases := []struct {
		name string
		o    any
		want outcome
	}{
		{"conforming", refusesAll(), pass()},
		{"lawful: details", edit("unknown-member", 400, `{"error":"validation_error","message":"no","details":{"path":"/unexpected"}}`), pass()},
		{"lawful: a code of its own", edit("unknown-member", 400, errorAnswer("body_invalid")), pass("error-code")},
		{"refused as something else", edit("unknown-member", 422, errorAnswer("validation_error")), convicts("unknown-member-refused")},
		{"fails on it", edit("body-of-another-type", 500, errorAnswer("internal_error")), convicts("body-of-another-type-refused")},
		{"an error body with more in it", edit("unknown-member", 400, `{"error":"validation_error","message":"no","stack":"…"}`), convicts("error-body")},
		{"an error body without a message", edit("unknown-member", 400, `{"error":"validation_error"}`), convicts("error-body")},
		{"an error in text", edit("unknown-member", 400, `bad request`), convicts("error-body")},
		{"undecided: the control is refused", ClosedBody{Control: answeredWith(refusesAll().Control, 400, errorAnswer("validation_error")), Refused: refusesAll().Refused}, undecided(registry.UnexpectedAnswer)},
		{"undecided: a rate", edit("unknown-member", 429, errorAnswer("rate_limited")), undecided(registry.RateTooLow)},
		{"undecided: a body is missing", ClosedBody{Control: refusesAll().Control, Refused: refusesAll().Refused[1:]}, undecided(registry.Unreadable)},
		{"undecided: a body that is no bad one", func() ClosedBody {
			o := refusesAll()
			o.Refused[0].Attempts[0].Request.Body = observe.Text(`{"delivery":"durable"}`)
			return o
		}(), undecided(registry.Unreadable)},
		{"undecided: nothing recorded", ClosedBody{}, undecided(registry.Unreachable)},
	}
	for _, b := range RefusedBodies("durable") {
		cases = append(cases, struct {
			name string
			o    any
			want outcome
		}{"takes the body " + b.Body, edit(b.Name, 202, `{"eventId":"0123456789abcdef","type":"host-test.durable-triggered"}`), convicts(b.Name + "-refused")})
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) { expect(t, "0241.trigger.body-closed", c.o, c.want) })
	}
}
