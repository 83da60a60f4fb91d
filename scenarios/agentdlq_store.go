package scenarios

import (
	"context"
	"errors"
	"net/http"
	"net/url"

	"github.com/wopwitness/wopwitness/witness/agentdlq"
)

func agentStoreSpecs() []spec {
	return []spec{
		{"agentdlq.store.context", playing(agentContext)},
		{"agentdlq.store.by-trace", observed(agentByTrace)},
		{"agentdlq.store.by-tool", observed(agentByTool)},
		{"agentdlq.store.by-resolution", observed(agentByResolution)},
		{"agentdlq.store.audit-trail", observed(agentAuditTrail)},
		{"agentdlq.store.time-to-live", observed(agentTimeToLive)},
		{"agentdlq.store.scoped", observed(agentScoped)},
	}
}

// agentContext drives agentdlq.store.context.
func agentContext(ctx context.Context, a *agent) error {
	args := map[string]any{"order": "A-1042", "lines": []any{map[string]any{"sku": "x-1", "count": 2}}, "note": nil}
	m := message{steps: []step{{Tool: "tool", Args: args}}, budget: budgetOf(1), purpose: "reorder what ran out"}
	if err := a.fail(ctx, cast{"tool": script("server_error")}, mail{"message": m}); err != nil {
		return err
	}
	a.detail(ctx, "message")
	return nil
}

// agentByTrace drives agentdlq.store.by-trace: two messages of one trace, at two tools, and one of another.
func agentByTrace(ctx context.Context, a *agent) error {
	shared := newTrace()
	err := a.fail(ctx, cast{"tool": script("bad_request"), "second tool": script("bad_request")}, mail{
		"first": {steps: calls("tool"), trace: shared}, "second": {steps: calls("second tool"), trace: shared}, "other": {steps: calls("tool")},
	})
	if err != nil {
		return err
	}
	a.query(ctx, "shared trace", a.traceQuery("first"))
	a.query(ctx, "other trace", a.traceQuery("other"))
	return nil
}

// agentByTool drives agentdlq.store.by-tool.
func agentByTool(ctx context.Context, a *agent) error {
	err := a.fail(ctx, cast{"failing tool": script("bad_request"), "other tool": script("bad_request")}, mail{
		"first": {steps: calls("failing tool")}, "second": {steps: calls("failing tool")}, "other": {steps: calls("other tool")},
	})
	if err != nil {
		return err
	}
	a.query(ctx, "failing tool", a.byTool("failing tool"))
	a.query(ctx, "other tool", a.byTool("other tool"))
	return nil
}

// agentByResolution drives agentdlq.store.by-resolution: four entries of one tool, each in another resolution.
func agentByResolution(ctx context.Context, a *agent) error {
	resolutions := []string{"unresolved", "resolved", "replayed", "discarded"}
	tools := cast{"tool": {Script: append(turns("bad_request", len(resolutions)), turn{Outcome: "ok"})}}
	if err := a.fail(ctx, tools, alike(message{steps: calls("tool")}, resolutions...)); err != nil {
		return err
	}
	if err := errors.Join(
		prepared(a.dispose(ctx, agentdlq.DidResolve, "resolved", "lee", ""), 202),
		prepared(a.dispose(ctx, agentdlq.DidDiscard, "discarded", "lee", ""), 202),
		a.replayed(ctx, "replayed")); err != nil {
		return err
	}
	for _, r := range resolutions {
		a.query(ctx, r, a.byTool("tool", "resolution", r))
	}
	a.query(ctx, "all", a.byTool("tool"))
	return nil
}

// agentAuditTrail drives agentdlq.store.audit-trail: the entry is read after each thing that is done to it.
func agentAuditTrail(ctx context.Context, a *agent) error {
	if err := a.fail(ctx, cast{"tool": script("bad_request")}, mail{"message": {steps: calls("tool")}}); err != nil {
		return err
	}
	if err := errors.Join(
		a.replayedInVain(ctx, "message"),
		prepared(a.dispose(ctx, agentdlq.DidResolve, "message", "lee", "done by hand"), 202)); err != nil {
		return err
	}
	a.awaits(ctx, "message", resolved("resolved"))
	a.dispose(ctx, agentdlq.DidDiscard, "message", "kim", "")
	a.detail(ctx, "message")
	return nil
}

// agentTimeToLive drives agentdlq.store.time-to-live.
func agentTimeToLive(ctx context.Context, a *agent) error {
	const margin = 60 // seconds before and after the end of an entry
	ttl := a.scene.Numbers.EntryTTLSeconds
	if err := a.needs(map[string]int64{"entryTtlSeconds": ttl}); err != nil {
		return err
	}
	if err := a.fail(ctx, cast{"tool": script("bad_request")}, mail{"message": {steps: calls("tool")}}); err != nil {
		return err
	}
	conversation := "conversations/" + url.PathEscape(a.detail(ctx, "message").Conversation) + "/expire"
	look := func() {
		a.act(ctx, agentdlq.DidAsk, "entry", http.MethodGet, a.entryPath("message"), nil, nil)
	}
	if ttl > 2*margin {
		if err := a.advance(ctx, ttl-margin); err != nil {
			return err
		}
		ttl = margin
	}
	a.when = "just before"
	look()
	a.when = ""
	if err := a.advance(ctx, ttl+margin); err != nil {
		return err
	}
	a.when = "just after"
	look()
	a.query(ctx, "tool", a.byTool("tool"))
	a.act(ctx, agentdlq.DidAsk, "conversation", http.MethodPost, conversation, nil, map[string]any{})
	return nil
}

// agentScoped drives agentdlq.store.scoped: another tenant asks for everything that the leg made.
func agentScoped(ctx context.Context, a *agent) error {
	other, err := a.foreign(ctx)
	if err != nil {
		return err
	}
	if err := a.fail(ctx, cast{"tool": script("bad_request")}, mail{"message": {steps: calls("tool")}}); err != nil {
		return err
	}
	other.when = "as another tenant"
	for _, asked := range []struct {
		what, path string
		query      url.Values
	}{
		{"entry", a.entryPath("message"), nil},
		{"tool", "tools/" + a.name("tool"), nil},
		{"message", "messages/" + a.name("message"), nil},
		{"trace", "traces/" + a.trace("message"), nil},
		{"impact", "impact", a.traceQuery("message")},
	} {
		other.act(ctx, agentdlq.DidAsk, asked.what, http.MethodGet, asked.path, asked.query, nil)
	}
	other.act(ctx, agentdlq.DidAsk, "replay", http.MethodPost, a.entryPath("message")+"/replay", nil, map[string]any{"by": "stranger"})
	other.list(ctx, agentdlq.DidQuery, "entries", "queues/tool", a.traceQuery("message"))
	other.list(ctx, agentdlq.DidQuery, "invocations", "invocations", a.traceQuery("message"))
	a.when = "as the owner"
	a.detail(ctx, "message")
	a.tool(ctx, "tool")
	return nil
}
