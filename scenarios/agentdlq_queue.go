package scenarios

import (
	"context"
	"net/http"
	"net/url"
	"strconv"
	"time"

	"github.com/wopwitness/wopwitness/scenarios/registry"
	"github.com/wopwitness/wopwitness/seams/cause"
	"github.com/wopwitness/wopwitness/witness/agentdlq"
	"github.com/wopwitness/wopwitness/witness/observe"
)

// entryID is the id of a message's entry, as the tool queue showed it last.
func (a *agent) entryID(role string) string {
	for _, step := range a.scene.Steps {
		if step.Did != agentdlq.DidToolQueue || step.Of != role {
			continue
		}
		for _, e := range agentdlq.EntriesOf(step.Exchanges...) {
			if e.ID != "" {
				return e.ID
			}
		}
	}
	return ""
}

// enriched waits until the entry of each message is there and classified. One that isn't by then is for the judge; a leg
// that goes on with entries has no cause without them.
func (a *agent) enriched(ctx context.Context, roles ...string) error {
	for _, role := range roles {
		a.until(ctx, func() bool {
			entries := a.queue(ctx, agentdlq.DidToolQueue, role)
			return len(entries) > 0 && entries[0].Category != ""
		})
		if a.entryID(role) == "" {
			return blocked(registry.NoCause, "the message %q, which fails, came to no entry of the tool queue within %s", role, a.d.run.config.eventTimeout())
		}
	}
	return nil
}

// fail has a tool of each of these messages' own fail it at once, and waits for their entries.
func (a *agent) fail(ctx context.Context, tools cast, messages mail) error {
	var roles []string
	for role, m := range messages {
		roles = append(roles, role)
		if m.budget == nil {
			m.budget = budgetOf(0)
			messages[role] = m
		}
	}
	if err := a.stage(ctx, tools); err != nil {
		return err
	}
	if err := a.post(ctx, messages); err != nil {
		return err
	}
	return a.enriched(ctx, roles...)
}

func (a *agent) entryPath(role string) string {
	return "queues/tool/" + url.PathEscape(a.entryID(role))
}

// detail reads a message's entry by its id.
func (a *agent) detail(ctx context.Context, role string) agentdlq.Entry {
	return agentdlq.EntryOf(a.act(ctx, agentdlq.DidEntry, role, http.MethodGet, a.entryPath(role), nil, nil))
}

// awaits reads a message's entry until it is as wanted, or the event time-out has passed.
func (a *agent) awaits(ctx context.Context, role string, wanted func(agentdlq.Entry) bool) bool {
	return a.until(ctx, func() bool { return wanted(a.detail(ctx, role)) })
}

func resolved(as string) func(agentdlq.Entry) bool {
	return func(e agentdlq.Entry) bool { return e.Resolution == as }
}

// dispose replays, resolves or discards a message's entry in a person's name.
func (a *agent) dispose(ctx context.Context, did agentdlq.Did, role, by, notes string) observe.Exchange {
	body := map[string]any{"by": by}
	if notes != "" {
		body["notes"] = notes
	}
	return a.act(ctx, did, role, http.MethodPost, a.entryPath(role)+"/"+string(did), nil, body)
}

// replayed replays a message's entry, and waits until it is replayed.
func (a *agent) replayed(ctx context.Context, role string) error {
	if err := prepared(a.dispose(ctx, agentdlq.DidReplay, role, "kim", ""), 202); err != nil {
		return err
	}
	a.awaits(ctx, role, resolved("replayed"))
	return nil
}

// replayedInVain replays a message's entry, and waits until that has failed.
func (a *agent) replayedInVain(ctx context.Context, role string) error {
	before := a.detail(ctx, role).Attempts
	if err := prepared(a.dispose(ctx, agentdlq.DidReplay, role, "kim", ""), 202); err != nil {
		return err
	}
	a.awaits(ctx, role, func(e agentdlq.Entry) bool { return e.Attempts > before })
	return nil
}

// query narrows the tool queue in the leg's own way. Values are as the host knows them.
func (a *agent) query(ctx context.Context, of string, query url.Values) []agentdlq.Entry {
	return agentdlq.EntriesOf(a.list(ctx, agentdlq.DidQuery, of, "queues/tool", query)...)
}

func (a *agent) byTool(role string, more ...string) url.Values {
	query := url.Values{"tool": {a.name(role)}}
	for i := 0; i+1 < len(more); i += 2 {
		query.Set(more[i], more[i+1])
	}
	return query
}

// reviews reads both reviews, waiting until one of them shows the entry of each message.
func (a *agent) reviews(ctx context.Context, which string, roles ...string) {
	a.until(ctx, func() bool {
		shown := map[string]bool{}
		for _, e := range agentdlq.EntriesOf(a.list(ctx, agentdlq.DidReviews, which, "reviews/"+which, nil)...) {
			shown[e.MessageID] = true
		}
		for _, role := range roles {
			if !shown[a.name(role)] {
				return false
			}
		}
		return true
	})
	other := map[string]string{"human": "security", "security": "human"}[which]
	a.list(ctx, agentdlq.DidReviews, other, "reviews/"+other, nil)
}

// expire has a message's conversation expire.
func (a *agent) expire(ctx context.Context, role string) error {
	ref := a.detail(ctx, role).Conversation
	return prepared(a.act(ctx, agentdlq.DidExpire, role, http.MethodPost, "conversations/"+url.PathEscape(ref)+"/expire", nil, map[string]any{}), 204)
}

// repairer says what the model-backed repairer proposes of a tool.
func (a *agent) repairer(ctx context.Context, role string, payload map[string]any, confidence float64) error {
	body := map[string]any{"tool": a.name(role), "payload": payload, "confidence": confidence}
	return prepared(a.act(ctx, agentdlq.DidRepairer, role, http.MethodPost, "semantic", nil, body), 200)
}

func (a *agent) metrics(ctx context.Context) agentdlq.Metrics {
	return agentdlq.MetricsOf(a.act(ctx, agentdlq.DidMetrics, "", http.MethodGet, "metrics", nil, nil))
}

func (a *agent) traceQuery(role string) url.Values { return url.Values{"traceId": {a.trace(role)}} }

func (a *agent) impact(ctx context.Context, role string) agentdlq.Impact {
	return agentdlq.ImpactOf(a.act(ctx, agentdlq.DidImpact, role, http.MethodGet, "impact", a.traceQuery(role), nil))
}

// spans reads a message's trace until it shows so many spans of that name, each of which follows what it tells of.
func (a *agent) spans(ctx context.Context, role, name string, wanted int) {
	a.until(ctx, func() bool {
		x := a.act(ctx, agentdlq.DidTrace, role, http.MethodGet, "traces/"+url.PathEscape(a.trace(role)), nil, nil)
		return len(agentdlq.Named(agentdlq.SpansOf(x), name)) >= wanted
	})
}

// pausing pauses or resumes the replay of one tool, or of all where the role is "".
func (a *agent) pausing(ctx context.Context, did agentdlq.Did, role string) error {
	body := map[string]any{}
	if role != "" {
		body["tool"] = a.name(role)
	}
	return prepared(a.act(ctx, did, role, http.MethodPost, string(did), nil, body), 200)
}

// drainTool starts a drain of a tool's entries, and gives a way to read it.
func (a *agent) drainTool(ctx context.Context, role string, body map[string]any) (read func() agentdlq.Drain, err error) {
	body["tool"] = a.name(role)
	x := a.act(ctx, agentdlq.DidStartDrain, role, http.MethodPost, "drains", nil, body)
	if err := prepared(x, 202); err != nil {
		return nil, err
	}
	path := "drains/" + url.PathEscape(agentdlq.DrainID(x))
	return func() agentdlq.Drain {
		return agentdlq.DrainOf(a.act(ctx, agentdlq.DidDrain, role, http.MethodGet, path, nil, nil))
	}, nil
}

// now is the host's domain time.
func (a *agent) now(ctx context.Context) (time.Time, error) {
	now, _, x := cause.ClockNow(ctx, a.d.Session, a.d.Major)
	if now.IsZero() {
		return now, blocked(registry.UnexpectedAnswer, "the clock seam answered %d without a time", x.Status())
	}
	return now, nil
}

// advanceTo lets the host's clock pass by whole seconds, as near to a moment as that comes without passing it, and says by how
// many. What passed by itself meanwhile is taken off, so that a busy machine has all of what is left after the moment.
func (a *agent) advanceTo(ctx context.Context, moment time.Time) (seconds int64, err error) {
	now, err := a.now(ctx)
	if err != nil {
		return 0, err
	}
	if seconds = int64(moment.Sub(now) / time.Second); seconds <= 0 {
		return 0, nil
	}
	return seconds, a.advance(ctx, seconds)
}

// stillBefore ends the leg where the host's clock has passed the moment before which something was to be looked at: a clock
// that can be moved goes on by itself too, and on a machine that is busy otherwise the few seconds that were left may not do.
func (a *agent) stillBefore(ctx context.Context, moment time.Time, what string) error {
	now, err := a.now(ctx)
	if err == nil && !now.Before(moment) {
		return blocked(registry.Timeout, "what was to be seen before %s (%s) was seen by %s of the host's clock: the machine or the host is too busy",
			what, moment.Format(time.TimeOnly), now.Format(time.TimeOnly))
	}
	return err
}

// numbered names messages of one kind: "message 0" and so on.
func numbered(kind string, n int) []string {
	var roles []string
	for i := range n {
		roles = append(roles, kind+" "+strconv.Itoa(i))
	}
	return roles
}

// alike is one message for each of these roles.
func alike(m message, roles ...string) mail {
	all := mail{}
	for _, role := range roles {
		all[role] = m
	}
	return all
}

// ofKind is a tool that fails in that way each time, and the message that it fails.
func ofKinds(kinds ...string) (cast, mail) {
	tools, messages := cast{}, mail{}
	for _, kind := range kinds {
		if kind != "unreachable" { // nobody registers that one
			tools[kind+" tool"] = script(kind)
		}
		messages[kind] = message{steps: calls(kind + " tool")}
	}
	return tools, messages
}

// needs is blocked where the host doesn't say one of its numbers.
func (a *agent) needs(names map[string]int64) error {
	for name, n := range names {
		if n <= 0 {
			return blocked(registry.Unreadable, "the extension does not say %s as an integer of one or more", name)
		}
	}
	return nil
}

// tidy discards the entries that a leg leaves for the recovery: whoever moves the clock later would have all of them
// replayed first. It is no part of the scene.
func (a *agent) tidy(ctx context.Context) {
	for _, role := range a.sent {
		for _, e := range agentdlq.EntriesOf(a.scene.Last(agentdlq.DidToolQueue, role)) {
			if e.Resolution == "unresolved" && (e.Category == "" || !e.NextReplay.IsZero()) {
				path := "queues/tool/" + url.PathEscape(e.ID) + "/discard"
				a.call(ctx, agentdlq.DidDiscard, role, http.MethodPost, path, nil, map[string]any{"by": "the suite"})
			}
		}
	}
}

// observed is a scenario of a play that reads what its judge wants itself.
func observed(play func(ctx context.Context, a *agent) error) func(context.Context, *Drive) (any, error) {
	return func(ctx context.Context, d *Drive) (any, error) {
		a, err := d.agent()
		if err != nil {
			return nil, err
		}
		defer a.tidy(ctx)
		if err := play(ctx, a); err != nil {
			return nil, err
		}
		return *a.scene, nil
	}
}
