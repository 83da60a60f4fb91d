package agentdlq

import (
	"encoding/json"
	"maps"
	"time"

	"github.com/wopwitness/wopwitness/witness/observe"
)

// know gives roles the names that a host knows them by, where nothing else of them is shown.
func (h *shown) know(roles ...string) {
	for _, role := range roles {
		h.names[role] = named(role)
	}
}

// sent puts something into the scene that was sent with a body.
func (h *shown) sent(did Did, of string, status int, body, sent any) {
	x := answered(status, body)
	raw, err := json.Marshal(sent)
	if err != nil {
		panic(err)
	}
	x.Request.Body = raw
	h.steps = append(h.steps, Step{Did: did, Of: of, Exchanges: []observe.Exchange{x}})
}

// letter is an entry of the tool queue, of a message of that role.
func letter(role, kind string, attempts int, members ...any) object {
	return with(newShown().failed(role, "tool", 0, attempts, kind), members...)
}

// with is the object with other members: a name and a value in turn.
func with(o object, members ...any) object {
	o = maps.Clone(o)
	for i := 0; i+1 < len(members); i += 2 {
		o[members[i].(string)] = members[i+1]
	}
	return o
}

func page(entries ...object) object { return listing(entries) }

// deepPage is a page of a queue with its depth.
func deepPage(depth int, entries ...object) object { return with(page(entries...), "depth", depth) }

func failure(code string) object { return object{"error": code, "message": "no"} }

// in finds the last such step of a part of the scene.
func (h *shown) in(when string, did Did, of string) *Step {
	if when != "" {
		h = h.part(when)
	}
	for i := len(h.steps) - 1; i >= 0; i-- {
		if h.steps[i].Did == did && h.steps[i].Of == of {
			return &h.steps[i]
		}
	}
	panic("the scene has no " + string(did) + " " + of)
}

// gone, as a value, takes a member away.
type gone struct{}

// put changes one value of an answer, by the path of names and indices to it.
func put(when string, did Did, of string, v any, path ...any) func(*shown) {
	return func(h *shown) {
		step := h.in(when, did, of)
		x := step.Exchanges[len(step.Exchanges)-1]
		var body any
		if err := json.Unmarshal(x.Response.Body, &body); err != nil {
			panic(err)
		}
		again := answered(x.Status(), putIn(body, v, path))
		again.Request = x.Request
		step.Exchanges = []observe.Exchange{again}
	}
}

func putIn(body, v any, path []any) any {
	if len(path) == 0 {
		return v
	}
	switch at := path[0].(type) {
	case string:
		o := body.(object)
		if _, is := v.(gone); is && len(path) == 1 {
			delete(o, at)
			return o
		}
		o[at] = putIn(o[at], v, path[1:])
		return o
	case int:
		list := body.([]any)
		list[at] = putIn(list[at], v, path[1:])
		return list
	}
	panic("a path is of names and indices")
}

// answer gives a step another answer.
func answer(when string, did Did, of string, status int, body any) func(*shown) {
	return func(h *shown) {
		step := h.in(when, did, of)
		again := answered(status, body)
		again.Request = step.Exchanges[0].Request
		step.Exchanges = []observe.Exchange{again}
	}
}

// all makes several changes.
func all(changes ...func(*shown)) func(*shown) {
	return func(h *shown) {
		for _, change := range changes {
			change(h)
		}
	}
}

func after(d time.Duration) string { return stamp(began.Add(d)) }
