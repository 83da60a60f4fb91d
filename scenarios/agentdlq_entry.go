package scenarios

import (
	"context"
	"errors"
	"net/http"
	"net/url"
	"strings"

	"github.com/wopwitness/wopwitness/witness/agentdlq"
)

// agentEntrySpecs pairs the legs of what an entry carries with their plays.
func agentEntrySpecs() []spec {
	return []spec{
		{"agentdlq.entry.shape", playing(agentShape)},
		{"agentdlq.entry.step-index", playing(agentStepIndex)},
		{"agentdlq.entry.attempts", playing(agentEntryAttempts)},
		{"agentdlq.entry.last-error", playing(agentLastError)},
		{"agentdlq.entry.redacted", playing(agentRedacted)},
		{"agentdlq.entry.conversation-pointer", playing(agentConversation)},
		{"agentdlq.entry.tokens-spent", playing(agentTokens)},
		{"agentdlq.entry.first-seen", playing(agentFirstSeen)},
		{"agentdlq.entry.original-message", playing(agentOriginal)},
	}
}

// read reads one entry of a message by its id.
func (a *agent) read(ctx context.Context, queue, role string, e agentdlq.Entry) {
	if e.ID != "" {
		a.act(ctx, agentdlq.DidEntry, role, http.MethodGet, "queues/"+queue+"/"+url.PathEscape(e.ID), nil, nil)
	}
}

// firstEntry is what the queue shows first of a message, once it shows something.
func (a *agent) firstEntry(ctx context.Context, which agentdlq.Did, role string) agentdlq.Entry {
	a.late(ctx, which, role)
	step := agentdlq.EntriesOf(a.scene.Pages(which, role)...)
	if len(step) == 0 {
		return agentdlq.Entry{}
	}
	return step[0]
}

// agentShape drives agentdlq.entry.shape.
func agentShape(ctx context.Context, a *agent) error {
	if err := errors.Join(
		a.stage(ctx, cast{"right": script("ok"), "failing": script("server_error")}),
		a.post(ctx, mail{"exhausted": {steps: calls("right", "failing"), budget: budgetOf(1)}, "malformed": {body: "{not json", steps: calls("right")}})); err != nil {
		return err
	}
	a.read(ctx, "tool", "exhausted", a.firstEntry(ctx, agentdlq.DidToolQueue, "exhausted"))
	a.read(ctx, "message", "malformed", a.firstEntry(ctx, agentdlq.DidMessageQueue, "malformed"))
	return nil
}

// agentStepIndex drives agentdlq.entry.step-index: runs that fail at the first, second and third step.
func agentStepIndex(ctx context.Context, a *agent) error {
	return errors.Join(
		a.stage(ctx, cast{"right": script("ok"), "failing": script("server_error")}),
		a.post(ctx, mail{
			"fails at 0": {steps: calls("failing", "right"), budget: budgetOf(0)},
			"fails at 1": {steps: calls("right", "failing"), budget: budgetOf(0)},
			"fails at 2": {steps: calls("right", "right", "failing"), budget: budgetOf(0)},
		}))
}

// agentEntryAttempts drives agentdlq.entry.attempts: three attempts that fail in three ways, and one.
func agentEntryAttempts(ctx context.Context, a *agent) error {
	if err := errors.Join(
		a.stage(ctx, cast{"fails in turn": script(agentdlq.FailingInTurn()...), "fails": script("locked")}),
		a.post(ctx, mail{"three": {steps: calls("fails in turn"), budget: budgetOf(2)}, "one": {steps: calls("fails"), budget: budgetOf(0)}})); err != nil {
		return err
	}
	a.read(ctx, "tool", "three", a.firstEntry(ctx, agentdlq.DidToolQueue, "three"))
	a.read(ctx, "tool", "one", a.firstEntry(ctx, agentdlq.DidToolQueue, "one"))
	return nil
}

// agentLastError drives agentdlq.entry.last-error: each way of failing, and a tool that nobody registered.
func agentLastError(ctx context.Context, a *agent) error {
	tools, messages := cast{}, mail{}
	for kind := range agentdlq.Kinds() {
		if kind != "unreachable" {
			tools[kind] = script(kind)
		}
		messages["of "+kind] = message{steps: calls(kind), budget: budgetOf(0)}
	}
	return errors.Join(a.stage(ctx, tools), a.post(ctx, messages))
}

// agentRedacted drives agentdlq.entry.redacted: an address in the arguments in several forms, in the error that a careless tool
// makes of them, and in the text of a malformed message.
func agentRedacted(ctx context.Context, a *agent) error {
	address := agentdlq.Address(a.suffix)
	a.scene.Names[agentdlq.AddressRole] = address
	args := map[string]any{
		"customer": "Ada <" + address + ">", "order": "A-1042", "copies": []any{map[string]any{"to": strings.ToUpper(address)}},
		address: true, "link": "https://shop.example/account?mail=" + url.QueryEscape(address),
	}
	if err := errors.Join(
		a.stage(ctx, cast{"right": script("ok"), "failing": script("server_error")}),
		a.post(ctx, mail{
			"exhausted": {body: `{"task":"write to ` + address + `"}`, steps: []step{{Tool: "right", Args: args}, {Tool: "failing", Args: args}}, budget: budgetOf(1), purpose: "answer " + address},
			"malformed": {body: `{"task":"write to ` + address + ` and ` + strings.Replace(address, "@", `\u0040`, 1) + `"`, steps: calls("right")},
		})); err != nil {
		return err
	}
	a.read(ctx, "tool", "exhausted", a.firstEntry(ctx, agentdlq.DidToolQueue, "exhausted"))
	a.read(ctx, "message", "malformed", a.firstEntry(ctx, agentdlq.DidMessageQueue, "malformed"))
	a.invocations(ctx, "exhausted")
	a.act(ctx, agentdlq.DidTrace, "exhausted", http.MethodGet, "traces/"+url.PathEscape(a.trace("exhausted")), nil, nil)
	return nil
}

// agentConversation drives agentdlq.entry.conversation-pointer: what was said is a text that only the conversation can hold.
// Last, the conversations are let expire: a pointer points to something.
func agentConversation(ctx context.Context, a *agent) error {
	said := agentdlq.Said(a.suffix)
	a.scene.Names[agentdlq.SaidRole] = said
	body := `{"task":"` + said + `"}`
	if err := errors.Join(
		a.stage(ctx, cast{"right": script("ok"), "failing": script("server_error")}),
		a.post(ctx, mail{
			"one":     {body: body, steps: calls("right", "failing"), budget: budgetOf(0)},
			"another": {body: body, steps: calls("right", "failing"), budget: budgetOf(0)},
		})); err != nil {
		return err
	}
	for _, role := range []string{"one", "another"} {
		e := a.firstEntry(ctx, agentdlq.DidToolQueue, role)
		a.read(ctx, "tool", role, e)
		if e.Conversation != "" {
			a.act(ctx, agentdlq.DidExpire, role, http.MethodPost, "conversations/"+url.PathEscape(e.Conversation)+"/expire", nil, map[string]any{})
		}
	}
	return nil
}

// agentTokens drives agentdlq.entry.tokens-spent: one run that fails early and one that fails late.
func agentTokens(ctx context.Context, a *agent) error {
	return errors.Join(
		a.stage(ctx, cast{"right": script("ok"), "failing": script("server_error")}),
		a.post(ctx, mail{
			"early": {steps: calls("failing", "right", "right"), budget: budgetOf(0)},
			"late":  {steps: calls("right", "right", "failing"), budget: budgetOf(0)},
		}))
}

// agentFirstSeen drives agentdlq.entry.first-seen: a replay that fails leaves it as it was.
func agentFirstSeen(ctx context.Context, a *agent) error {
	if err := errors.Join(
		a.set(ctx, "failing", script("bad_request")),
		a.post(ctx, mail{"exhausted": {steps: calls("failing"), budget: budgetOf(0)}})); err != nil {
		return err
	}
	a.when = agentdlq.Before
	e := a.firstEntry(ctx, agentdlq.DidToolQueue, "exhausted")
	a.message(ctx, "exhausted")
	a.when = ""
	if e.ID == "" {
		return nil
	}
	a.replay(ctx, "exhausted", e)
	a.until(ctx, func() bool { return len(a.tool(ctx, "failing").Calls) > 1 })
	a.until(ctx, func() bool { return a.firstOf(ctx, "exhausted").Attempts > 1 })
	return nil
}

// firstOf is what the tool queue shows of a message now.
func (a *agent) firstOf(ctx context.Context, role string) agentdlq.Entry {
	for _, e := range a.queue(ctx, agentdlq.DidToolQueue, role) {
		return e
	}
	return agentdlq.Entry{}
}

// replay asks, as a person, for one entry of the tool queue to be replayed.
func (a *agent) replay(ctx context.Context, role string, e agentdlq.Entry) {
	a.act(ctx, agentdlq.DidReplay, role, http.MethodPost, "queues/tool/"+url.PathEscape(e.ID)+"/replay", nil, map[string]any{"by": "suite"})
}

// agentOriginal drives agentdlq.entry.original-message.
func agentOriginal(ctx context.Context, a *agent) error {
	return errors.Join(
		a.set(ctx, "failing", script("server_error")),
		a.post(ctx, mail{"one": {steps: calls("failing"), budget: budgetOf(0)}, "another": {steps: calls("failing"), budget: budgetOf(0)}}))
}
