package scenarios

import (
	"context"
	"errors"
	"net/http"
	"strconv"
	"sync"
	"time"

	"github.com/wopwitness/wopwitness/witness/agentdlq"
	"github.com/wopwitness/wopwitness/witness/observe"
)

func agentOperateSpecs() []spec {
	return []spec{
		{"agentdlq.operate.stops-on-failures", observed(agentStopsOnFailures)},
		{"agentdlq.operate.partitions", observed(agentPartitions)},
		{"agentdlq.operate.replayed-once", observed(agentReplayedOnce)},
		{"agentdlq.operate.grouped", observed(agentGrouped)},
		{"agentdlq.operate.pause-tool", observed(agentPauseTool)},
		{"agentdlq.operate.pause-all", observed(agentPauseAll)},
		{"agentdlq.operate.resume", observed(agentResume)},
		{"agentdlq.operate.batch-rate", observed(agentBatchRate)},
	}
}

// agentPauseTool drives agentdlq.operate.pause-tool. That the paused tool's entry isn't replayed is shown by one of another
// tool that failed with it and is.
func agentPauseTool(ctx context.Context, a *agent) error {
	if err := a.recovers(); err != nil {
		return err
	}
	defer func() { _ = a.pausing(ctx, agentdlq.DidResume, "paused tool") }()
	if err := errors.Join(
		a.fail(ctx, cast{"paused tool": script("server_error", "ok"), "other tool": script("server_error", "ok")},
			mail{"paused": {steps: calls("paused tool")}, "other": {steps: calls("other tool")}}),
		a.pausing(ctx, agentdlq.DidPause, "paused tool")); err != nil {
		return err
	}
	if err := a.advance(ctx, a.longestWait(1)); err != nil {
		return err
	}
	a.when = "while it is paused"
	a.awaits(ctx, "other", resolved("replayed"))
	read, err := a.drainTool(ctx, "paused tool", map[string]any{"batch": 1, "perSecond": 100})
	if err != nil {
		return err
	}
	a.until(ctx, func() bool { return read().State == "paused" })
	a.detail(ctx, "paused")
	a.tool(ctx, "paused tool")
	a.when = "by a person"
	return a.replayed(ctx, "paused")
}

// agentPauseAll drives agentdlq.operate.pause-all. A message that is sent when the entries are due ends after they would have
// been replayed.
func agentPauseAll(ctx context.Context, a *agent) error {
	if err := a.recovers(); err != nil {
		return err
	}
	defer func() { _ = a.pausing(ctx, agentdlq.DidResume, "") }()
	if err := errors.Join(
		a.fail(ctx, cast{"first tool": script("server_error", "ok"), "second tool": script("server_error", "ok"), "new tool": script("ok")},
			mail{"first": {steps: calls("first tool")}, "second": {steps: calls("second tool")}}),
		a.pausing(ctx, agentdlq.DidPause, "")); err != nil {
		return err
	}
	if err := a.advance(ctx, a.longestWait(1)); err != nil {
		return err
	}
	a.when = "while all is paused"
	if err := a.post(ctx, mail{"new": {steps: calls("new tool")}}); err != nil {
		return err
	}
	for _, role := range []string{"first", "second"} {
		a.detail(ctx, role)
		a.tool(ctx, role+" tool")
	}
	return nil
}

// agentResume drives agentdlq.operate.resume: after a pause of the tool and one of all.
func agentResume(ctx context.Context, a *agent) error {
	if err := a.recovers(); err != nil {
		return err
	}
	if err := errors.Join(
		a.fail(ctx, cast{"tool": script("server_error", "ok")}, mail{"message": {steps: calls("tool")}}),
		a.pausing(ctx, agentdlq.DidPause, "tool"),
		a.pausing(ctx, agentdlq.DidPause, ""),
		a.advance(ctx, a.longestWait(1))); err != nil {
		return errors.Join(err, a.pausing(ctx, agentdlq.DidResume, ""))
	}
	a.when = "while it is paused"
	a.detail(ctx, "message")
	a.tool(ctx, "tool")
	a.when = ""
	if err := errors.Join(
		a.pausing(ctx, agentdlq.DidResume, "tool"),
		a.pausing(ctx, agentdlq.DidResume, ""),
		a.advance(ctx, a.scene.Numbers.RecoveryIntervalSeconds+1)); err != nil {
		return err
	}
	a.when = "resumed"
	a.awaits(ctx, "message", resolved("replayed"))
	return nil
}

// agentBatchRate drives agentdlq.operate.batch-rate.
func agentBatchRate(ctx context.Context, a *agent) error {
	tools := cast{"tool": {Script: append(turns("bad_request", agentdlq.RateEntries), turn{Outcome: "ok"})}}
	if err := a.fail(ctx, tools, alike(message{steps: calls("tool")}, numbered("message", agentdlq.RateEntries)...)); err != nil {
		return err
	}
	read, err := a.drainTool(ctx, "tool", map[string]any{"batch": agentdlq.RateBatch, "perSecond": agentdlq.RatePerSecond})
	if err != nil {
		return err
	}
	if err := a.advance(ctx, 2*agentdlq.RateEntries/agentdlq.RatePerSecond); err != nil {
		return err
	}
	a.until(ctx, func() bool { return read().Over() })
	a.tool(ctx, "tool")
	return nil
}

// agentStopsOnFailures drives agentdlq.operate.stops-on-failures.
func agentStopsOnFailures(ctx context.Context, a *agent) error {
	roles := numbered("message", agentdlq.StopEntries)
	if err := a.fail(ctx, cast{"tool": script("bad_request")}, alike(message{steps: calls("tool")}, roles...)); err != nil {
		return err
	}
	read, err := a.drainTool(ctx, "tool", map[string]any{"batch": agentdlq.StopBatch, "perSecond": 100, "minSuccessRate": 0.5})
	if err != nil {
		return err
	}
	a.until(ctx, func() bool { return read().Over() })
	a.tool(ctx, "tool")
	return nil
}

// floodOf is how many calls of one tool the partitions leg makes at once.
const floodOf = 20

// floodDelay is how long, in ms, each call of a round's flood takes. On a machine that is busy otherwise a call may be held
// up by that, and a flood may be over before it is complete, so later rounds take longer.
func floodDelay(round int) int { return min(25<<round, 400) }

// agentPartitions drives agentdlq.operate.partitions: in each round a flood of calls of a slow tool, and behind it one call of
// another, until a round shows that call before the flood's end, or as many rounds as are asked for show it behind, or have
// no flood.
func agentPartitions(ctx context.Context, a *agent) error {
	seen := map[agentdlq.Held]int{}
	for i := 0; seen[agentdlq.WasHeldUp] < agentdlq.PartitionRounds && seen[agentdlq.NoFlood] < agentdlq.PartitionRounds; i++ {
		round := agentdlq.Round(i)
		if err := a.flood(ctx, round, floodDelay(i)); err != nil {
			return err
		}
		held := agentdlq.HeldUp(*a.scene, round)
		if held == agentdlq.NotHeldUp || held == agentdlq.NotShown {
			return nil
		}
		seen[held]++
	}
	return nil
}

// flood plays one round, in which each call of the slow tool takes so many milliseconds. A host that makes them one by one is
// waited for as long as that takes.
func (a *agent) flood(ctx context.Context, round string, delay int) error {
	slow := tool{Script: []turn{{Outcome: "ok", DelayMs: delay}}}
	patience := a.d.run.config.eventTimeout() + time.Duration(floodOf*delay)*time.Millisecond
	slowRole, quickRole, quick := agentdlq.SlowTool(round), agentdlq.QuickTool(round), agentdlq.QuickMessage(round)
	if err := a.stage(ctx, cast{slowRole: slow, quickRole: script("ok")}); err != nil {
		return err
	}
	flood := numbered("flood of "+round, floodOf)
	for _, role := range flood {
		if err := a.send(ctx, role, message{steps: calls(slowRole)}); err != nil {
			return err
		}
	}
	if err := a.send(ctx, quick, message{steps: calls(quickRole)}); err != nil {
		return err
	}
	a.when = agentdlq.WhenSent
	a.tool(ctx, slowRole)
	a.when = ""
	a.within(ctx, patience, a.allEnded(ctx, quick))
	a.within(ctx, patience, func() bool { return len(a.tool(ctx, slowRole).Calls) >= floodOf })
	a.within(ctx, patience, a.allEnded(ctx, flood[len(flood)-1]))
	a.tool(ctx, quickRole)
	return nil
}

// agentReplayedOnce drives agentdlq.operate.replayed-once: each entry is replayed on both instances at once. The tool takes a
// moment and no idempotency key.
func agentReplayedOnce(ctx context.Context, a *agent) error {
	roles := numbered("message", agentdlq.ReplayedOnceEntries)
	slow := tool{Script: append(turns("bad_request", len(roles)), turn{Outcome: "ok", DelayMs: 20}), SideEffect: true}
	if err := a.fail(ctx, cast{"tool": slow}, alike(message{steps: calls("tool")}, roles...)); err != nil {
		return err
	}
	peer := a.d.Peer()
	answers := make([][2]observe.Exchange, len(roles))
	var all sync.WaitGroup
	for i, role := range roles {
		for j, drive := range []*Drive{a.d, peer} {
			one := &agent{d: drive, key: a.key, when: a.when, scene: a.scene}
			path := a.entryPath(role) + "/replay"
			all.Go(func() {
				answers[i][j] = one.call(ctx, agentdlq.DidReplay, role+" on instance "+strconv.Itoa(j+1), http.MethodPost, path, nil, map[string]any{"by": "kim"})
			})
		}
	}
	all.Wait()
	for i, role := range roles {
		for _, x := range answers[i] {
			a.note(agentdlq.DidReplay, role, x)
		}
	}
	for _, role := range roles {
		a.awaits(ctx, role, resolved("replayed"))
	}
	a.tool(ctx, "tool")
	return nil
}

// agentGrouped drives agentdlq.operate.grouped.
func agentGrouped(ctx context.Context, a *agent) error {
	const schemaFailure, transientFailure = "SCHEMA_VALIDATION_FAILURE", "TRANSIENT_INFRASTRUCTURE"
	if err := errors.Join(
		a.fail(ctx, cast{"failing tool": script("bad_request", "bad_request", "server_error"), "other tool": script("bad_request")},
			mail{"schema 1": {steps: calls("failing tool")}, "schema 2": {steps: calls("failing tool")}, "elsewhere": {steps: calls("other tool")}}),
		a.fail(ctx, nil, mail{"transient": {steps: calls("failing tool")}})); err != nil {
		return err
	}
	a.query(ctx, "failing tool, schema", a.byTool("failing tool", "category", schemaFailure))
	a.query(ctx, "failing tool, transient", a.byTool("failing tool", "category", transientFailure))
	a.query(ctx, "failing tool, an hour old", a.byTool("failing tool", "olderThanSeconds", "3600"))
	a.query(ctx, "schema", map[string][]string{"category": {schemaFailure}})
	return nil
}
