package deadletter

import (
	"fmt"
	"strings"
	"testing"

	"github.com/wopwitness/wopwitness/witness/observe"
)

const forkAnswer = `{"runId":"acme/r-fedcba9876543210","sourceRunId":"acme/r-0123456789abcdef","mode":"replay","status":"pending"}`

func notFound(code string) observe.Exchange {
	return reply(0, 404, fmt.Sprintf(`{"error":%q,"message":"no"}`, code))
}

// childOf is a fork's child that ended as its events say.
func childOf(events []event, status string) Run {
	r := runOf(childID, events)
	r.Label, r.Workflow, r.Node = "the child", "", ""
	r.Snapshots = []observe.Exchange{reply(12*second, 200, fmt.Sprintf(`{"status":%q}`, status))}
	return r
}

var completes = []event{{"run.started", "", ""}, {"node.started", "poison", ""}, {"node.completed", "poison", ""}, {"run.completed", "", ""}}

func forked() Forked {
	return Forked{Major: 2, Mode: "replay", Source: deadRun(), Fork: reply(20*second, 201, forkAnswer), Child: childOf(exhausted(childID), "failed")}
}

func refusedFork(status int, body string) func(*Forked) {
	return func(o *Forked) { o.Fork, o.Child = reply(0, status, body), Run{} }
}

func TestJudgeForkReplay(t *testing.T) {
	unended := func(o *Forked) {
		o.Child = childOf(exhausted(childID)[:3], "running")
		o.Child.Snapshots[0].SentAt = 200 * second
	}
	try(t, "fork.replay", forked, []judged[Forked]{
		{"right", nil, "pass"},
		{"the child completes", func(o *Forked) { o.Child = childOf(completes, "completed") }, "pass"},
		{"the source is not named", func(o *Forked) { o.Fork = reply(0, 201, `{"runId":"`+childID+`"}`) }, "pass source-not-named"},
		{"the child has the source's events", func(o *Forked) {
			o.Child.Reads = o.Source.Reads
		}, "pass copied-events"},
		{"the source made without a dead letter", func(o *Forked) { o.Source = runOf(ownID, rename(exhausted(ownID), "")) }, "pass"},
		{"200", refusedFork(200, forkAnswer), "forked"},
		{"conflict", refusedFork(409, `{"error":"run_terminal","message":"x"}`), "forked"},
		{"not found on major 2", refusedFork(404, `{"error":"not_found","message":"x"}`), "forked"},
		{"the source's id", func(o *Forked) { o.Fork = reply(0, 201, strings.Replace(forkAnswer, childID, ownID, 1)) }, "own-id"},
		{"no id", func(o *Forked) { o.Fork = reply(0, 201, `{}`) }, "own-id"},
		{"another source", func(o *Forked) { o.Fork = reply(20*second, 201, strings.Replace(forkAnswer, ownID, "acme/r-x", 1)) }, "source-named"},
		{"the child is not there", func(o *Forked) {
			o.Child.Snapshots = []observe.Exchange{reply(32*second, 404, `{}`)}
		}, "child-readable"},
		{"the child never was", func(o *Forked) {
			o.Child.Reads, o.Child.Snapshots = []observe.Exchange{reply(32*second, 404, `{}`)}, []observe.Exchange{reply(32*second, 404, `{}`)}
		}, "child-ends child-readable"},
		{"the child never ends", unended, "child-ends"},
		{"the child was not watched for long enough", func(o *Forked) { unended(o); o.Child.Snapshots[0].SentAt = 60 * second }, "undecided timeout"},
		{"busy", refusedFork(429, `{}`), "undecided unexpected-answer"},
		{"no answer", func(o *Forked) { o.Fork = silent(observe.FailReset) }, "undecided unreachable"},
		{"major 1 without the operation", func(o *Forked) {
			refusedFork(404, `{"error":"not_found","message":"no such route"}`)(o)
			o.Major, o.Probes = 1, &ForkProbes{Malformed: notFound("not_found"), NeverExisted: notFound("not_found"), UnknownVerb: notFound("not_found")}
		}, "undecided not-advertised"},
		{"major 1 with the operation, told by a malformed fork", func(o *Forked) {
			refusedFork(404, `{"error":"not_found","message":"x"}`)(o)
			o.Major, o.Probes = 1, &ForkProbes{Malformed: reply(0, 400, `{}`), NeverExisted: notFound("not_found"), UnknownVerb: notFound("not_found")}
		}, "forked"},
		{"major 1 with the operation, told by its not-found", func(o *Forked) {
			refusedFork(404, `{"error":"run_not_found","message":"x"}`)(o)
			o.Major, o.Probes = 1, &ForkProbes{Malformed: notFound("run_not_found"), NeverExisted: notFound("run_not_found"), UnknownVerb: notFound("not_found")}
		}, "forked"},
		{"major 1 with the operation, told by a run that is well", func(o *Forked) {
			refusedFork(404, `{"error":"not_found","message":"x"}`)(o)
			o.Major, o.Probes = 1, &ForkProbes{Malformed: notFound("not_found"), NeverExisted: notFound("not_found"), UnknownVerb: notFound("not_found"), Well: reply(0, 201, `{}`)}
		}, "forked"},
		{"the source is not dead", func(o *Forked) { o.Source = childOf(completes, "completed") }, "undecided unexpected-answer"},
		{"the child forks too", func(o *Forked) { o.Again = reply(30*second, 201, `{}`) }, "pass"},
		{"the child does not fork", func(o *Forked) { o.Again = reply(30*second, 409, `{"error":"run_terminal","message":"x"}`) }, "child-forks"},
		{"the child is not found when it is forked", func(o *Forked) { o.Again = reply(30*second, 404, `{}`) }, "child-forks"},
		{"the child's fork is put off", func(o *Forked) { o.Again = reply(30*second, 429, `{}`) }, "undecided unexpected-answer"},
		{"lawful: a child that completed does not fork", func(o *Forked) {
			o.Child, o.Again = childOf(completes, "completed"), reply(30*second, 409, `{}`)
		}, "pass"},
	})
}

func TestJudgeForkBranch(t *testing.T) {
	right := func() Forked {
		o := forked()
		o.Mode, o.Child = "branch", childOf(completes, "completed")
		return o
	}
	try(t, "fork.branch", right, []judged[Forked]{
		{"right", nil, "pass"},
		{"completed by its snapshot alone", func(o *Forked) { o.Child.Reads = nil }, "pass"},
		{"dies again", func(o *Forked) { o.Child = childOf(exhausted(childID), "failed") }, "mended-child-completes"},
		{"cancelled", func(o *Forked) { o.Child = childOf([]event{{"run.cancelled", "", ""}}, "cancelled") }, "mended-child-completes"},
		{"refused", refusedFork(422, `{"error":"fork_point_invalid","message":"x"}`), "forked"},
		{"the source's id", func(o *Forked) { o.Fork = reply(0, 201, strings.Replace(forkAnswer, childID, ownID, 1)) }, "own-id"},
		{"never ends", func(o *Forked) {
			o.Child = childOf(completes[:2], "running")
			o.Child.Snapshots[0].SentAt = 200 * second
		}, "mended-child-completes"},
		{"not watched for long enough", func(o *Forked) { o.Child = childOf(completes[:2], "running") }, "undecided timeout"},
	})
}

func TestJudgeSourceUnchanged(t *testing.T) {
	log := logOf(ownID, exhausted(ownID)...)
	state := func() State {
		return State{Log: []observe.Exchange{page(0, log...)}, Snapshot: reply(0, 200, failedSnapshot)}
	}
	right := func() Untouched {
		child := childOf(completes, "completed")
		child.Made = []observe.Exchange{reply(0, 201, forkAnswer)}
		return Untouched{Major: 2, Source: deadRun(), Before: state(), Forks: []Run{child}, After: state()}
	}
	after := func(events ...string) func(*Untouched) {
		return func(o *Untouched) { o.After.Log = []observe.Exchange{page(0, events...)} }
	}
	snapshot := func(from, to string) func(*Untouched) {
		return func(o *Untouched) { o.After.Snapshot = reply(0, 200, strings.Replace(failedSnapshot, from, to, 1)) }
	}
	try(t, "fork.source-unchanged", right, []judged[Untouched]{
		{"right", nil, "pass"},
		{"members in another order", after(append([]string{`{"sequence":0,` + log[0][1:strings.Index(log[0], `,"sequence"`)] + `}`}, log[1:]...)...), "pass"},
		{"no log", func(o *Untouched) { o.Before.Log, o.After.Log = nil, nil }, "pass no-log"},
		{"an event more", after(append(append([]string{}, log...), `{"type":"run.forked","sequence":11}`)...), "events-unchanged"},
		{"an event less", after(log[:10]...), "events-unchanged"},
		{"an event altered", after(append([]string{strings.Replace(log[0], `"payload":{}`, `"payload":{"forks":1}`, 1)}, log[1:]...)...), "events-unchanged"},
		{"the log is gone", func(o *Untouched) { o.After.Log = []observe.Exchange{reply(0, 404, `{}`)} }, "events-unchanged"},
		{"the status changed", snapshot("failed", "running"), "status-unchanged"},
		{"the error changed", snapshot("node_failed", "forked"), "error-unchanged"},
		{"the run is gone", func(o *Untouched) { o.After.Snapshot = reply(0, 404, `{"error":"not_found"}`) }, "error-unchanged status-unchanged"},
		{"not forked", func(o *Untouched) { o.Forks[0].Made = []observe.Exchange{reply(0, 409, `{}`)} }, "undecided unexpected-answer"},
		{"major 1 without the operation", func(o *Untouched) {
			o.Forks[0].Made = []observe.Exchange{notFound("not_found")}
			o.Major, o.Probes = 1, &ForkProbes{Malformed: notFound("not_found"), NeverExisted: notFound("not_found"), UnknownVerb: notFound("not_found")}
		}, "undecided not-advertised"},
	})
}

func TestJudgeForkTenant(t *testing.T) {
	runs := func(entries ...string) observe.Exchange {
		return reply(0, 200, `{"runs":[`+strings.Join(entries, ",")+`]}`)
	}
	own := fmt.Sprintf(`{"runId":%q,"workflowId":"conformance-deadletter-exhaust"}`, ownID)
	alike := `{"runId":"acme/r-new","workflowId":"conformance-deadletter-exhaust"}`
	ownFork := fmt.Sprintf(`{"runId":%q,"workflowId":"conformance-deadletter-exhaust","sourceRunId":%q}`, childID, ownID)
	child := fmt.Sprintf(`{"runId":"bolt/r-new","sourceRunId":%q}`, ownID)
	right := func() ForkTenant {
		return ForkTenant{Major: 2, Source: deadRun(), OwnerFork: reply(0, 201, forkAnswer), Foreign: reply(0, 403, `{"error":"id_tenant_mismatch","message":"x"}`),
			Lists: &RunLists{OwnerBefore: runs(own), OtherBefore: runs(), OwnerAfter: runs(own), OtherAfter: runs()}}
	}
	foreign := func(status int) func(*ForkTenant) {
		return func(o *ForkTenant) { o.Foreign = reply(0, status, `{}`) }
	}
	branches := func(owner, other int) func(*ForkTenant) {
		return func(o *ForkTenant) { o.OwnerBranch, o.ForeignBranch = reply(0, owner, `{}`), reply(0, other, `{}`) }
	}
	try(t, "fork.tenant", right, []judged[ForkTenant]{
		{"right", nil, "pass"},
		{"not found", foreign(404), "pass"},
		{"no lists", func(o *ForkTenant) { o.Lists = nil }, "pass"},
		{"lists that fail", func(o *ForkTenant) { o.Lists.OtherAfter = reply(0, 500, `{}`) }, "pass no-lists"},
		{"somebody else's run meanwhile", func(o *ForkTenant) { o.Lists.OtherAfter = runs(`{"runId":"bolt/r-x","workflowId":"payroll"}`) }, "pass"},
		{"forked", foreign(201), "refused-to-another-tenant"},
		{"a conflict", foreign(409), "refused-to-another-tenant"},
		{"a failure", foreign(500), "refused-to-another-tenant"},
		{"refused, and a run made for the other", func(o *ForkTenant) { o.Lists.OtherAfter = runs(child) }, "no-run-made"},
		{"refused, and a run made for the owner", func(o *ForkTenant) {
			o.Lists.OwnerAfter = runs(own, fmt.Sprintf(`{"runId":"acme/r-new","workflowId":"conformance-deadletter-exhaust","sourceRunId":%q}`, ownID))
		}, "no-run-made"},
		{"a run alike meanwhile, and a list that tells no forks", func(o *ForkTenant) { o.Lists.OwnerAfter = runs(own, alike) }, "undecided unexpected-answer"},
		{"lawful: a run alike meanwhile, and a list that tells forks", func(o *ForkTenant) {
			o.Lists.OwnerBefore, o.Lists.OwnerAfter = runs(own, ownFork), runs(own, ownFork, alike)
		}, "pass runs-of-others"},
		{"a run alike meanwhile, and a fork", func(o *ForkTenant) {
			o.Lists.OwnerAfter, o.Lists.OtherAfter = runs(own, alike), runs(child)
		}, "no-run-made"},
		{"neither forks nor branches for another", branches(201, 404), "pass"},
		{"lawful: a branch that its owner cannot make either", branches(422, 422), "pass"},
		{"branched", branches(201, 201), "branch-refused-to-another-tenant"},
		{"the branch is answered by its point", branches(201, 422), "branch-refused-to-another-tenant"},
		{"the branch is put off", branches(201, 429), "undecided unexpected-answer"},
		{"the owner cannot fork", func(o *ForkTenant) { o.OwnerFork = reply(0, 409, `{}`) }, "undecided unexpected-answer"},
		{"busy", foreign(429), "undecided unexpected-answer"},
	})
}
