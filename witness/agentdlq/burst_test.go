package agentdlq

import (
	"encoding/json"
	"fmt"
	"testing"

	"github.com/wopwitness/wopwitness/witness/observe"
)

// pushedBack is a refusal that says when to come again.
func pushedBack(status int) observe.Exchange {
	x := answered(status, failure("rate_limited"))
	x.Response.Headers = []observe.Header{{Name: "Retry-After", Value: "1"}}
	return x
}

func (h *shown) offer(role string, x observe.Exchange) {
	h.know(role)
	h.steps = append(h.steps, Step{Did: DidOffer, Of: role, Exchanges: []observe.Exchange{x}})
}

// fate shows what became of an offered message.
func (h *shown) fate(role, status string) {
	h.ask(DidFate, role, 200, object{"messageId": named(role), "status": status})
}

func offered(when, role string, x observe.Exchange) func(*shown) {
	return func(h *shown) { h.in(when, DidOffer, role).Exchanges = []observe.Exchange{x} }
}

func taken() observe.Exchange { return answered(202, object{"messageId": "m"}) }

func TestJudgeBackPressure(t *testing.T) {
	right := func() *shown {
		h := newShown()
		h.numbers.IntakeCapacity = 3
		for i := range 3 {
			role := fmt.Sprint("message ", i)
			h.offer(role, taken())
			h.fate(role, Completed)
		}
		for i := range 2 {
			role := fmt.Sprint("refused ", i)
			h.offer(role, pushedBack(429+74*i))
			h.ask(DidAsk, role, 404, failure("not_found"))
		}
		h.part("afterwards").offer("afterwards", taken())
		return h
	}
	try(t, JudgeBackPressure, right, []shows{
		{"lawful: fewer", all(offered("", "message 2", pushedBack(503)), func(h *shown) { h.ask(DidAsk, "message 2", 404, failure("not_found")) }), "pass"},
		{"takes one too many", all(offered("", "refused 0", taken()), func(h *shown) { h.fate("refused 0", Completed) }), "bounded"},
		{"takes all", all(offered("", "refused 0", taken()), offered("", "refused 1", taken()), func(h *shown) { h.fate("refused 0", Completed); h.fate("refused 1", Completed) }),
			"bounded pushes-back"},
		{"doesn't say when", offered("", "refused 0", answered(429, failure("rate_limited"))), "says-when"},
		{"refuses otherwise", offered("", "refused 0", answered(500, failure("internal"))), "says-when"},
		{"keeps what it refused", answer("", DidAsk, "refused 1", 200, object{"status": "queued"}), "nothing-kept"},
		{"never comes to it", put("", DidFate, "message 1", "queued", "status"), "taken-ends"},
		{"drops what it took", answer("", DidFate, "message 1", 404, failure("not_found")), "taken-ends"},
		{"stays shut", offered("afterwards", "afterwards", pushedBack(429)), "takes-again"},
		{"not enough was offered", func(h *shown) { h.numbers.IntakeCapacity = 64 }, "undecided unreadable"},
	})
}

func TestJudgeAccounted(t *testing.T) {
	right := func() *shown {
		h := newShown()
		for role, status := range map[string]string{"good 0": Completed, "failing 1": ToolFailed, "malformed 2": DeadLettered} {
			h.offer(role, taken())
			h.fate(role, status)
		}
		h.offer("good 3", pushedBack(429))
		h.ask(DidAsk, "good 3", 404, failure("not_found"))
		h.ask(DidQuery, "tool queue", 200, page(letter("failing 1", "bad_request", 1)))
		h.ask(DidQuery, "message queue", 200, page(letter("malformed 2", "malformed", 1), letter("of another leg", "malformed", 1)))
		return h
	}
	refused := func(h *shown) {
		for _, role := range []string{"good 0", "failing 1", "malformed 2"} {
			offered("", role, pushedBack(503))(h)
			h.ask(DidAsk, role, 404, failure("not_found"))
		}
		answer("", DidQuery, "tool queue", 200, page())(h)
		answer("", DidQuery, "message queue", 200, page())(h)
	}
	try(t, JudgeAccounted, right, []shows{
		{"stuck", put("", DidFate, "good 0", "queued", "status"), "ends-in-its-own ends-in-one"},
		{"dropped", answer("", DidFate, "good 0", 404, failure("not_found")), "ends-in-its-own ends-in-one"},
		{"failed without an entry", answer("", DidQuery, "tool queue", 200, page()), "ends-in-one"},
		{"twice in a queue", answer("", DidQuery, "tool queue", 200, page(letter("failing 1", "bad_request", 1), letter("failing 1", "bad_request", 1))), "ends-in-one"},
		{"in both queues", answer("", DidQuery, "tool queue", 200, page(letter("failing 1", "bad_request", 1), letter("malformed 2", "malformed", 1))), "ends-in-one"},
		{"completed and in a queue", answer("", DidQuery, "tool queue", 200, page(letter("failing 1", "bad_request", 1), letter("good 0", "bad_request", 1))), "ends-in-one"},
		{"said to be completed", func(h *shown) {
			put("", DidFate, "failing 1", Completed, "status")(h)
			answer("", DidQuery, "tool queue", 200, page())(h)
		}, "ends-in-its-own"},
		{"refused and kept", answer("", DidAsk, "good 3", 200, object{"status": "queued"}), "refused-left-nothing"},
		{"refused as an error", offered("", "good 3", answered(500, failure("internal"))), "refused-or-taken"},
		{"refuses all", refused, "some-taken"},
	})
}

func TestJudgeQueueBounded(t *testing.T) {
	right := func() *shown {
		h := newShown()
		h.numbers.QueueCapacity = 2
		for i := range 2 {
			h.part("filling").offer(fmt.Sprint("message ", i), taken())
		}
		h.part("filling").ask(DidQuery, "full tool", 200, deepPage(2))
		full := h.part("full")
		full.offer("one more", pushedBack(429))
		full.ask(DidAsk, "one more", 404, failure("not_found"))
		full.offer("for another tool", taken())
		h.part("with room").offer("after one was resolved", taken())
		return h
	}
	try(t, JudgeQueueBounded, right, []shows{
		{"full too soon", all(offered("filling", "message 1", pushedBack(429)), put("filling", DidQuery, "full tool", 1, "depth")), "takes-its-capacity"},
		{"lost at the bound", put("filling", DidQuery, "full tool", 1, "depth"), "none-lost"},
		{"no bound", offered("full", "one more", taken()), "pushed-back"},
		{"doesn't say when", offered("full", "one more", answered(503, failure("unavailable"))), "pushed-back"},
		{"kept all the same", answer("full", DidAsk, "one more", 200, object{"status": "queued"}), "nothing-kept"},
		{"everything is held up", offered("full", "for another tool", pushedBack(429)), "others-taken"},
		{"full for ever", offered("with room", "after one was resolved", pushedBack(429)), "takes-again"},
	})
}

func TestJudgeVectors(t *testing.T) {
	vector := func(schema, document string, valid bool) Vector {
		return Vector{Name: "v", Schema: schema, Document: json.RawMessage(document), Valid: valid}
	}
	for name, c := range map[string]struct {
		vectors []Vector
		want    string
	}{
		"right":                        {[]Vector{vector("pause-body", `{}`, true), vector("drain-started", `{}`, false)}, "pass"},
		"a body said to be valid":      {[]Vector{vector("pause-body", `{"until":1}`, true)}, "body-vectors"},
		"a body said to be invalid":    {[]Vector{vector("pause-body", `{}`, false)}, "body-vectors"},
		"an answer said to be valid":   {[]Vector{vector("drain-started", `{}`, true)}, "answer-vectors"},
		"a form that isn't there":      {[]Vector{vector("nothing", `{}`, true)}, "answer-vectors"},
		"no vectors":                   {nil, "undecided unreadable"},
		"a document that is no JSON":   {[]Vector{vector("drain-started", `"`, false)}, "pass"},
		"a document that is not there": {[]Vector{{Name: "v", Schema: "drain-started", Valid: true}}, "answer-vectors"},
	} {
		if got := outcome(JudgeVectors(Vectors{c.vectors})); got != c.want {
			t.Errorf("%s: %q, want %q", name, got, c.want)
		}
	}
}
