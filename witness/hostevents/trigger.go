package hostevents

import (
	"encoding/json"
	"fmt"

	"github.com/wopwitness/wopwitness/fixtures/schema"
	"github.com/wopwitness/wopwitness/scenarios/registry"
	"github.com/wopwitness/wopwitness/witness"
	"github.com/wopwitness/wopwitness/witness/observe"
)

const sectionTrigger = "RFC 0241 §Trigger"

// Listing is what a host lists of the reserved types, and how its trigger answered for each class.
type Listing struct {
	Discovery observe.Exchange `json:"discovery"`
	Durable   observe.Emit     `json:"durable"`
	Ephemeral observe.Emit     `json:"ephemeral"`
}

// JudgeBoundByListing judges 0241.trigger.bound-by-listing (RFC 0241): the trigger serves the classes whose reserved
// types the host lists and refuses the others; a host that lists neither has no trigger at all. The last is only an
// absence, and the verdict says so.
func JudgeBoundByListing(o Listing) witness.Verdict {
	var v witness.Verdict
	types, ok := listed(o.Discovery)
	if !ok {
		v.Undecide(registry.Unreadable, "discovery has no readable hostEvents record: %s", brief(o.Discovery))
		return v
	}
	either := lists(types, typeDurable) || lists(types, typeEphemeral)
	v.Absence = !either
	for _, class := range []struct {
		delivery string
		emit     observe.Emit
	}{{"durable", o.Durable}, {"ephemeral", o.Ephemeral}} {
		answer := class.emit.Answer()
		what := "a " + class.delivery + " event asked of the trigger"
		if unanswered(&v, what, answer) {
			continue
		}
		switch {
		case lists(types, reserved(class.delivery)):
			served(&v, class.delivery, answer)
		case either:
			isRefusal(&v, "unlisted-"+class.delivery+"-refused", "a "+class.delivery+" event, whose reserved type the host does not list,",
				answer, refusal{400, "validation_error"}, "the host emits an event of a type that it told nobody of", sectionTrigger)
		case !keyRefused(&v, what, answer):
			v.Check("no-trigger", answer.Status() == 404 || answer.Status() == 405, func() witness.Finding {
				return witness.Finding{
					Says:     "the host lists neither reserved type and serves the trigger all the same",
					Expected: "404 or 405", Got: brief(answer), Section: sectionTrigger,
					Why: "a test operation that nobody was told of emits events on a production host",
				}
			})
		}
	}
	return v
}

// served checks the acceptance of a listed class.
func served(v *witness.Verdict, delivery string, answer observe.Exchange) {
	if keyRefused(v, "a "+delivery+" event asked of the trigger", answer) {
		return
	}
	const why = "what relies on the trigger to test the host's events cannot be tested"
	v.Check("listed-"+delivery+"-served", answer.Status() == 202, func() witness.Finding {
		return witness.Finding{
			Says:     "the host lists " + reserved(delivery) + " and its trigger does not serve it",
			Expected: "202 {eventId, type}", Got: brief(answer), Why: why, Section: sectionTrigger,
		}
	})
	if answer.Status() != 202 {
		return
	}
	violations := schema.Validate(schema.TriggerAnswer, answer.Response.Body)
	var named struct{ Type string }
	_ = json.Unmarshal(answer.Response.Body, &named)
	v.Check("answer-form", len(violations) == 0 && named.Type == reserved(delivery), func() witness.Finding {
		says := "the trigger's answer names another type"
		if len(violations) > 0 {
			says = "the trigger's answer is not of the registered form: " + sayAll(violations)
		}
		return witness.Finding{
			Says: says, Expected: "an eventId and the type " + reserved(delivery), Got: brief(answer), Why: why, Section: sectionTrigger,
		}
	})
}

// NamedBody is one body that the trigger must refuse.
type NamedBody struct {
	Name string // of the check: "<name>-refused"
	Body string
}

// RefusedBodies are bodies outside the closed one, each in one way, around a class that the host lists.
func RefusedBodies(delivery string) []NamedBody {
	return []NamedBody{
		{"unknown-member", fmt.Sprintf(`{"delivery":%q,"unexpected":true}`, delivery)},
		{"payload-member", fmt.Sprintf(`{"delivery":%q,"payload":{}}`, delivery)},
		{"type-member", fmt.Sprintf(`{"delivery":%q,"type":%q}`, delivery, reserved(delivery))},
		{"delivery-missing", `{}`},
		{"delivery-of-another-type", `{"delivery":1}`},
		{"delivery-in-a-list", fmt.Sprintf(`{"delivery":[%q]}`, delivery)},
		{"delivery-unknown", `{"delivery":"sometimes"}`},
		{"workspace-of-another-type", fmt.Sprintf(`{"delivery":%q,"workspaceId":7}`, delivery)},
		{"body-of-another-type", fmt.Sprintf(`[%q]`, delivery)},
	}
}

// ClosedBody is what the trigger made of bodies outside its closed one. The control is an ordinary one, sent with the
// same key, that shows that the others were refused for what they hold.
type ClosedBody struct {
	Control observe.Emit   `json:"control"`
	Refused []observe.Emit `json:"refused"` // labelled with the names of RefusedBodies
}

// JudgeBodyClosed judges 0241.trigger.body-closed (RFC 0241): an unknown member or a wrong type in the trigger's body is
// a validation error.
func JudgeBodyClosed(o ClosedBody) witness.Verdict {
	var v witness.Verdict
	if control := o.Control.Answer(); unanswered(&v, "an ordinary event", control) {
		return v
	} else if control.Status() != 202 {
		v.Undecide(registry.UnexpectedAnswer, "the trigger does not take an ordinary event, so refusing others says nothing: %s", brief(control))
		return v
	}
	for _, body := range RefusedBodies(o.Control.Delivery) {
		answer := find(o.Refused, body.Name).Answer()
		if answer.Request.Body.String() != body.Body || len(schema.Validate(schema.TriggerBody, answer.Request.Body)) == 0 {
			v.Undecide(registry.Unreadable, "the observation does not hold the body %q", body.Name)
			return v
		}
		if unanswered(&v, "the body "+body.Body, answer) {
			continue
		}
		isRefusal(&v, body.Name+"-refused", "the body "+body.Body, answer, refusal{400, "validation_error"},
			"a caller's mistake, or its expectation of something newer, passes without a word", sectionTrigger)
		if answer.Status() == 400 {
			errorForm(&v, answer)
		}
	}
	return v
}

// errorForm checks the closed error body of a refusal.
func errorForm(v *witness.Verdict, answer observe.Exchange) {
	violations := schema.Validate(schema.ErrorBody, answer.Response.Body)
	v.Check("error-body", len(violations) == 0, func() witness.Finding {
		return witness.Finding{
			Says:     "the refusal's body is not an error body: " + sayAll(violations),
			Expected: "error, message and perhaps details, and nothing else", Got: brief(answer), Section: sectionTrigger,
			Why: "a client that reads every error one way cannot read this one",
		}
	})
}
