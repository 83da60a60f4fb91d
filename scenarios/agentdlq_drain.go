package scenarios

import (
	"context"
	"errors"
	"net/http"
	"sync"
	"time"

	"github.com/wopwitness/wopwitness/witness/agentdlq"
	"github.com/wopwitness/wopwitness/witness/observe"
)

// agentDrainSpecs pairs the legs of drains with their plays.
func agentDrainSpecs() []spec {
	return []spec{
		{"agentdlq.drain.resumes", playing(agentDrainResumes)},
		{"agentdlq.drain.replay-idempotent", playing(agentReplayTwice)},
		{"agentdlq.drain.expired-goes-on", playing(agentExpiredGoesOn)},
		{"agentdlq.drain.depth-moves", playing(agentDepthMoves)},
		{"agentdlq.drain.age-observed", playing(agentAge)},
		{"agentdlq.drain.oldest-first", playing(agentOldestFirst)},
	}
}

// drained starts a drain and waits for its end. It goes by domain time, which may stand still unless it is moved.
func (a *agent) drained(ctx context.Context, role string, batch int) error {
	read, err := a.drainTool(ctx, role, map[string]any{"batch": batch, "perSecond": 100})
	if err != nil {
		return err
	}
	over := func() bool { return read().Over() }
	if a.within(ctx, a.soon(), over) {
		return nil
	}
	a.mayAdvance(ctx, 5)
	a.until(ctx, over)
	return nil
}

// became waits until a message that had ended says that it ended otherwise.
func (a *agent) became(ctx context.Context, role, status string) {
	a.until(ctx, func() bool { return a.message(ctx, role).Status == status })
}

// agentDrainResumes drives agentdlq.drain.resumes: the second of three steps failed, and its tool is right now.
func agentDrainResumes(ctx context.Context, a *agent) error {
	if err := a.fail(ctx, cast{"first": script("ok"), "failing": script("server_error"), "third": script("ok")},
		mail{"exhausted": {steps: calls("first", "failing", "third")}}); err != nil {
		return err
	}
	a.when = agentdlq.Before
	a.message(ctx, "exhausted")
	a.when = ""
	if err := errors.Join(a.set(ctx, "failing", script("ok")), a.drained(ctx, "failing", 10)); err != nil {
		return err
	}
	a.became(ctx, "exhausted", agentdlq.Completed)
	return nil
}

// agentReplayTwice drives agentdlq.drain.replay-idempotent, for a tool that takes a key and for one that takes none: twice
// at once, and again when it was replayed. Behind it a message of its own calls the tool, which shows that nothing more is
// to come.
func agentReplayTwice(ctx context.Context, a *agent) error {
	for _, role := range []string{"keyed", "plain"} {
		failing, right := script("server_error"), script("ok")
		failing.SideEffect, failing.Idempotent = true, role == "keyed"
		right.SideEffect, right.Idempotent = true, role == "keyed"
		entry := "of " + role
		if err := errors.Join(
			a.fail(ctx, cast{role: failing}, mail{entry: {steps: calls(role)}}),
			a.set(ctx, role, right)); err != nil {
			return err
		}
		a.replayAtOnce(ctx, entry)
		a.awaits(ctx, entry, resolved("replayed"))
		a.when = agentdlq.Again
		a.dispose(ctx, agentdlq.DidReplay, entry, "kim", "")
		a.when = ""
		if err := a.post(ctx, mail{"behind " + role: {steps: calls(role)}}); err != nil {
			return err
		}
	}
	return nil
}

// replayAtOnce asks twice at the same time for an entry to be replayed.
func (a *agent) replayAtOnce(ctx context.Context, role string) {
	var asking sync.WaitGroup
	var answers [2]observe.Exchange
	path := a.entryPath(role) + "/" + string(agentdlq.DidReplay)
	for i := range answers {
		asking.Go(func() {
			answers[i] = a.call(ctx, agentdlq.DidReplay, role, http.MethodPost, path, nil, map[string]any{"by": "kim"})
		})
	}
	asking.Wait()
	for _, x := range answers {
		a.note(agentdlq.DidReplay, role, x)
	}
}

// agentExpiredGoesOn drives agentdlq.drain.expired-goes-on: the conversation of the first of three entries is gone.
func agentExpiredGoesOn(ctx context.Context, a *agent) error {
	messages := mail{}
	for _, role := range agentdlq.ThreeEntries() {
		messages[role] = message{steps: calls("failing")}
	}
	if err := errors.Join(a.fail(ctx, cast{"failing": script("server_error")}, messages), a.expire(ctx, "first")); err != nil {
		return err
	}
	a.dispose(ctx, agentdlq.DidReplay, "first", "kim", "")
	if err := errors.Join(a.set(ctx, "failing", script("ok")), a.drained(ctx, "failing", 10)); err != nil {
		return err
	}
	a.became(ctx, "second", agentdlq.Completed)
	a.became(ctx, "third", agentdlq.Completed)
	a.awaits(ctx, "first", func(e agentdlq.Entry) bool { return e.Category == "CONTEXT_EVICTION" })
	return nil
}

// agentDepthMoves drives agentdlq.drain.depth-moves. The tool's failures wait for a person, so that nobody else moves the depth.
func agentDepthMoves(ctx context.Context, a *agent) error {
	look := func(when string) {
		a.when = when
		a.query(ctx, when, a.byTool("failing"))
		a.metrics(ctx)
		a.when = ""
	}
	if err := a.set(ctx, "failing", script("bad_request")); err != nil {
		return err
	}
	look(agentdlq.Before)
	if err := a.fail(ctx, nil, mail{"one": {steps: calls("failing")}, "two": {steps: calls("failing")}}); err != nil {
		return err
	}
	look(agentdlq.Full)
	if err := prepared(a.dispose(ctx, agentdlq.DidDiscard, "one", "kim", "no longer wanted"), 202); err != nil {
		return err
	}
	look(agentdlq.Discarded)
	if err := errors.Join(a.set(ctx, "failing", script("ok")), a.replayed(ctx, "two")); err != nil {
		return err
	}
	look(agentdlq.Empty)
	return nil
}

// agentAge drives agentdlq.drain.age-observed: a second entry comes when the first has grown old.
func agentAge(ctx context.Context, a *agent) error {
	look := func(when, role string) { a.query(ctx, when, a.byTool(role)) }
	if err := a.fail(ctx, cast{"failing": script("bad_request"), "right": script("ok")}, mail{"one": {steps: calls("failing")}}); err != nil {
		return err
	}
	look("young", "failing")
	look("of a tool without entries", "right")
	if err := errors.Join(a.advance(ctx, agentdlq.Older), a.fail(ctx, nil, mail{"two": {steps: calls("failing")}})); err != nil {
		return err
	}
	look("old", "failing")
	if err := prepared(a.dispose(ctx, agentdlq.DidDiscard, "one", "kim", ""), 202); err != nil {
		return err
	}
	look("young again", "failing")
	return nil
}

// agentOldestFirst drives agentdlq.drain.oldest-first.
func agentOldestFirst(ctx context.Context, a *agent) error {
	if err := a.set(ctx, "failing", script("server_error")); err != nil {
		return err
	}
	var seen time.Time
	for _, role := range agentdlq.ThreeEntries() {
		if err := a.fail(ctx, nil, mail{role: {steps: calls("failing")}}); err != nil {
			return err
		}
		// An entry of the same millisecond as the one before it is neither older nor younger.
		if e := a.firstOf(ctx, role); e.FirstSeen.Equal(seen) {
			a.mayAdvance(ctx, 1)
		} else {
			seen = e.FirstSeen
		}
		a.d.Sleep(ctx, 2*time.Millisecond)
	}
	a.query(ctx, "all", a.byTool("failing"))
	if err := errors.Join(a.set(ctx, "failing", script("ok")), a.drained(ctx, "failing", 1)); err != nil {
		return err
	}
	for _, role := range agentdlq.ThreeEntries() {
		a.became(ctx, role, agentdlq.Completed)
	}
	return nil
}
