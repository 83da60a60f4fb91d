package scenarios

import (
	"context"
	"errors"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"sync"
	"time"

	"github.com/wopwitness/wopwitness/scenarios/registry"
	"github.com/wopwitness/wopwitness/seams/client"
	"github.com/wopwitness/wopwitness/witness/agentdlq"
	"github.com/wopwitness/wopwitness/witness/observe"
)

func agentBurstSpecs() []spec {
	return []spec{
		{"agentdlq.burst.accounted", observed(agentAccounted)},
		{"agentdlq.burst.queue-bounded", observed(agentQueueBounded)},
		{"agentdlq.burst.back-pressure", observed(agentBackPressure)},
	}
}

// mostOffered bounds what a leg offers: a host may say that it holds any number.
const mostOffered = 2000

// bounds gives a capacity of the host's that the leg can go beyond.
func (a *agent) bounds(name string, n int64) (int, error) {
	if err := a.needs(map[string]int64{name: n}); err != nil {
		return 0, err
	}
	if n > mostOffered {
		return 0, inapplicable(registry.NoCause, "the host holds %d messages or entries (%s), which is more than a leg offers", n, name)
	}
	return int(n), nil
}

// offer sends messages at once, from several senders, and says which were taken. None is sent a second time.
func (a *agent) offer(ctx context.Context, roles []string, messages mail) (taken, refused []string) {
	const senders = 8
	answers := make([]observe.Exchange, len(roles))
	requests := make([]map[string]any, len(roles))
	for i, role := range roles {
		requests[i] = a.wire(role, messages[role])
	}
	var all sync.WaitGroup
	for s := range senders {
		all.Go(func() {
			for i := s; i < len(roles); i += senders {
				answers[i] = a.call(ctx, agentdlq.DidOffer, roles[i], http.MethodPost, "messages", nil, requests[i])
			}
		})
	}
	all.Wait()
	for i, role := range roles {
		a.note(agentdlq.DidOffer, role, answers[i])
		if answers[i].Status() == 202 {
			taken = append(taken, role)
		} else {
			refused = append(refused, role)
		}
	}
	return taken, refused
}

// insist offers messages until each is taken, as a producer does that was told to come again: what is under way counts
// towards a capacity, and a rate may put anybody off. It waits for the ends of what was taken, and gives up once nothing
// was taken twice in a row.
func (a *agent) insist(ctx context.Context, roles []string, messages mail) (taken []string) {
	for idle := 0; len(roles) > 0 && idle < 2; {
		now, refused := a.offer(ctx, roles, messages)
		a.fates(ctx, now)
		taken, roles = append(taken, now...), refused
		if idle++; len(now) > 0 {
			idle = 0
		} else if !a.d.Sleep(ctx, min(max(a.toldToWait(refused), leastReoffer), longestReoffer)) {
			break
		}
	}
	return taken
}

// How long a producer waits at least and at most before it offers again what was refused.
const (
	leastReoffer   = 50 * time.Millisecond
	longestReoffer = 2 * time.Second
)

// toldToWait is the longest wait that an answer to one of these offers asked for.
func (a *agent) toldToWait(roles []string) (longest time.Duration) {
	for _, role := range roles {
		wait, _ := client.RetryAfter(a.scene.Last(agentdlq.DidOffer, role))
		longest = max(longest, wait)
	}
	return longest
}

// fates waits until the messages have ended, or are not there.
func (a *agent) fates(ctx context.Context, roles []string) {
	left := slices.Clone(roles)
	a.patiently(ctx, func() bool {
		left = slices.DeleteFunc(left, func(role string) bool {
			x := a.act(ctx, agentdlq.DidFate, role, http.MethodGet, "messages/"+url.PathEscape(a.name(role)), nil, nil)
			return x.Status() == 404 || agentdlq.MessageOf(x).Final()
		})
		return len(left) == 0
	})
}

// absent asks for messages that the host did not take.
func (a *agent) absent(ctx context.Context, roles []string) {
	for _, role := range roles {
		a.act(ctx, agentdlq.DidAsk, role, http.MethodGet, "messages/"+url.PathEscape(a.name(role)), nil, nil)
	}
}

// agentAccounted drives agentdlq.burst.accounted: good, failing and malformed messages, more of them than the host holds.
func agentAccounted(ctx context.Context, a *agent) error {
	capacity, err := a.bounds("intakeCapacity", a.scene.Numbers.IntakeCapacity)
	if err != nil {
		return err
	}
	if err := a.stage(ctx, cast{"good": script("ok"), "failing": script("bad_request")}); err != nil {
		return err
	}
	messages, roles := mail{}, []string{}
	for i := range min(capacity+6, 300) {
		switch n := " " + strconv.Itoa(i); i % 3 {
		case 0:
			roles, messages["good"+n] = append(roles, "good"+n), message{steps: calls("good")}
		case 1:
			roles, messages["failing"+n] = append(roles, "failing"+n), message{steps: calls("failing"), budget: budgetOf(0)}
		default:
			roles, messages["malformed"+n] = append(roles, "malformed"+n), message{body: "{not json", steps: calls("good")}
		}
	}
	taken, refused := a.offer(ctx, roles, messages)
	a.fates(ctx, taken)
	failing := 0
	for _, role := range taken {
		if messages[role].budget != nil {
			failing++
		}
	}
	a.patiently(ctx, func() bool { return len(a.query(ctx, "tool queue", a.byTool("failing"))) >= failing })
	a.list(ctx, agentdlq.DidQuery, "message queue", "queues/message", nil)
	a.absent(ctx, refused)
	return nil
}

// agentQueueBounded drives agentdlq.burst.queue-bounded. A message that is pushed back while others are under way is sent
// again: the queue is to be filled with entries.
func agentQueueBounded(ctx context.Context, a *agent) error {
	capacity, err := a.bounds("queueCapacity", a.scene.Numbers.QueueCapacity)
	if err != nil {
		return err
	}
	if err := a.stage(ctx, cast{"full tool": script("bad_request"), "other tool": script("ok")}); err != nil {
		return err
	}
	failing := message{steps: calls("full tool"), budget: budgetOf(0)}
	a.when = "filling"
	roles := numbered("message", capacity)
	taken := a.insist(ctx, roles, alike(failing, roles...))
	a.patiently(ctx, func() bool {
		x := a.act(ctx, agentdlq.DidAsk, "depth", http.MethodGet, "queues/tool", a.byTool("full tool", "limit", "1"), nil)
		n, _, _ := agentdlq.Depth(x)
		return int(n) >= len(taken)
	})
	a.query(ctx, "full tool", a.byTool("full tool"))
	a.when = "full"
	more := mail{"one more": failing, "for another tool": {steps: calls("other tool")}}
	a.offer(ctx, []string{"one more"}, more)
	a.absent(ctx, []string{"one more"})
	a.insist(ctx, []string{"for another tool"}, more)
	a.when = "with room"
	entries := agentdlq.EntriesOf(a.scene.Last(agentdlq.DidQuery, "full tool"))
	if len(entries) == 0 {
		return blocked(registry.NoCause, "%d messages, which fail, came to no entry of the tool queue", capacity)
	}
	path := "queues/tool/" + url.PathEscape(entries[0].ID) + "/resolve"
	if err := prepared(a.act(ctx, agentdlq.DidResolve, "the oldest", http.MethodPost, path, nil, map[string]any{"by": "lee"}), 202); err != nil {
		return err
	}
	a.insist(ctx, []string{"after one was resolved"}, mail{"after one was resolved": failing})
	return nil
}

// agentBackPressure drives agentdlq.burst.back-pressure. The messages taken wait, in domain time, for tools that have put them
// off; several tools, so that no queue of one is what is full.
func agentBackPressure(ctx context.Context, a *agent) error {
	const tools, over, putOff = 4, 8, 600
	capacity, err := a.bounds("intakeCapacity", a.scene.Numbers.IntakeCapacity)
	if err != nil {
		return err
	}
	stage := cast{}
	for i := range tools {
		stage["tool "+strconv.Itoa(i)] = tool{Script: append(slices.Repeat([]turn{{Outcome: "rate_limited", RetryAfterSeconds: putOff}}, capacity), turn{Outcome: "ok"})}
	}
	if err := a.stage(ctx, stage); err != nil {
		return err
	}
	roles, messages := numbered("message", capacity+over), mail{}
	for i, role := range roles {
		messages[role] = message{steps: calls("tool " + strconv.Itoa(i%tools)), budget: budgetOf(10)}
	}
	taken, refused := a.offer(ctx, roles, messages)
	a.absent(ctx, refused)
	a.patiently(ctx, func() bool {
		called := 0
		for role := range stage {
			called += len(a.tool(ctx, role).Calls)
		}
		return called >= len(taken)
	})
	for role := range stage { // whatever comes now is taken
		err = errors.Join(err, a.set(ctx, role, script("ok")))
	}
	if err := errors.Join(err, a.advance(ctx, putOff+1)); err != nil {
		return err
	}
	a.fates(ctx, taken)
	a.when = "afterwards"
	a.insist(ctx, []string{"afterwards"}, mail{"afterwards": {steps: calls("tool 0")}})
	return nil
}

// crowdPatience is how many times as long as one event a burst may take: it is dozens of messages at once.
const crowdPatience = 10

// patiently waits for what a whole burst comes to. Only a host that never comes to it makes the leg that long.
func (a *agent) patiently(ctx context.Context, satisfied func() bool) bool {
	return a.within(ctx, crowdPatience*a.d.run.config.eventTimeout(), satisfied)
}
