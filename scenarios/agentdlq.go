package scenarios

import (
	"context"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"time"

	"github.com/wopwitness/wopwitness/scenarios/registry"
	"github.com/wopwitness/wopwitness/seams/cause"
	"github.com/wopwitness/wopwitness/witness/agentdlq"
	"github.com/wopwitness/wopwitness/witness/observe"
)

// agent is a leg's hold on the host's agent worker. What it does and reads goes to the leg's scene, in order. Tools and
// messages are named by the roles that they play in the leg; the host knows them by names of the leg's own, so that what
// other legs left behind is never taken for this one's.
type agent struct {
	d      *Drive
	key    string // the credential that it speaks with
	suffix string
	when   string // the part of the leg that is being played
	vain   bool   // an entry was waited for that didn't come
	news   int    // readings that showed how work goes on
	scene  *agentdlq.Scene
	tools  []string // roles in the order in which they came up
	sent   []string
}

// agent begins a leg's scene. A host that names the extension without a number that the leg needs is one that the suite
// cannot read.
func (d *Drive) agent() (*agent, error) {
	numbers, _ := d.run.host.Discovery[d.Major].AgentDLQ()
	if numbers.LeaseSeconds == 0 || numbers.BreakerSeconds == 0 || numbers.RedeliveryLimit == 0 {
		return nil, blocked(registry.Unreadable, "the extension does not say its numbers: leaseSeconds, breakerSeconds and redeliveryLimit are integers of one or more")
	}
	d.By(causeSeam)
	return &agent{
		d: d, key: observe.CredentialA, suffix: strings.ToLower(UnknownCursor("")[:10]),
		scene: &agentdlq.Scene{Numbers: numbers, Patience: micros(d.run.config.eventTimeout()), Names: map[string]string{}},
	}, nil
}

// as is the same leg speaking for another tenant. Its roles are its own; the scene is one.
func (a *agent) as(credential string) *agent {
	return &agent{d: a.d, key: credential, suffix: a.suffix, when: a.when, scene: a.scene}
}

// name is what the host knows a role by.
func (a *agent) name(role string) string {
	if name := a.scene.Names[role]; name != "" {
		return name
	}
	name := strings.ReplaceAll(role, " ", "-") + "-" + a.suffix
	a.scene.Names[role] = name
	return name
}

// call makes one call of the seams.
func (a *agent) call(ctx context.Context, did agentdlq.Did, of, method, path string, query url.Values, body any) observe.Exchange {
	call := a.request(did, of, method, path, query, body)
	if did != agentdlq.DidOffer { // what an offered message is answered is the question
		call.Patience = triggerPatience
	}
	return cause.Agent(ctx, a.d.Session, call)
}

func (a *agent) request(did agentdlq.Did, of, method, path string, query url.Values, body any) cause.AgentCall {
	label := strings.TrimSpace(string(did) + " " + of)
	if a.when != "" {
		label += ", " + a.when
	}
	return cause.AgentCall{Label: label, Credential: a.key, Method: method, Path: path, Query: query, Body: body, Major: a.d.Major}
}

// note writes a step down. A reading that says what the one before it said takes that one's place.
func (a *agent) note(did agentdlq.Did, of string, exchanges ...observe.Exchange) {
	step := agentdlq.Step{Did: did, Of: of, When: a.when, Exchanges: exchanges}
	for i := len(a.scene.Steps) - 1; i >= 0; i-- {
		old := a.scene.Steps[i]
		if old.Did != did || old.Of != of || old.When != a.when {
			continue
		}
		if readsOnly(did) && sameAnswers(old.Exchanges, exchanges) {
			a.scene.Steps = slices.Delete(a.scene.Steps, i, i+1)
		} else if showsWork(did) {
			a.news++
		}
		break
	}
	a.scene.Steps = append(a.scene.Steps, step)
}

func readsOnly(did agentdlq.Did) bool {
	switch did {
	case agentdlq.DidTool, agentdlq.DidMessage, agentdlq.DidToolQueue, agentdlq.DidMessageQueue, agentdlq.DidInvocations, agentdlq.DidDrain,
		agentdlq.DidEntry, agentdlq.DidReviews, agentdlq.DidQuery, agentdlq.DidMetrics, agentdlq.DidTrace, agentdlq.DidImpact, agentdlq.DidFate:
		return true
	}
	return false
}

// showsWork says whether a reading that changed means that the host is at work. The others change by themselves, as an age
// does.
func showsWork(did agentdlq.Did) bool {
	switch did {
	case agentdlq.DidTool, agentdlq.DidMessage, agentdlq.DidDrain, agentdlq.DidFate:
		return true
	}
	return false
}

func sameAnswers(a, b []observe.Exchange) bool {
	return slices.EqualFunc(a, b, func(x, y observe.Exchange) bool {
		return x.Request.Target == y.Request.Target && x.Response != nil && y.Response != nil && x.Status() == y.Status() && x.Response.Body.String() == y.Response.Body.String()
	})
}

// act does one thing and writes it down.
func (a *agent) act(ctx context.Context, did agentdlq.Did, of, method, path string, query url.Values, body any) observe.Exchange {
	x := a.call(ctx, did, of, method, path, query, body)
	a.note(did, of, x)
	return x
}

// list reads a list to its end and writes its pages down.
func (a *agent) list(ctx context.Context, did agentdlq.Did, of, path string, query url.Values) []observe.Exchange {
	asked := url.Values{"limit": {"200"}}
	for name, values := range query {
		asked[name] = values
	}
	var pages []observe.Exchange
	for range mostPages {
		x := a.call(ctx, did, of, http.MethodGet, path, asked, nil)
		pages = append(pages, x)
		cursor := agentdlq.NextCursor(x)
		if cursor == "" {
			break
		}
		asked.Set("cursor", cursor)
	}
	a.note(did, of, pages...)
	return pages
}

// until asks until it is satisfied or the event time-out has passed, and says which.
func (a *agent) until(ctx context.Context, satisfied func() bool) bool {
	return a.within(ctx, a.d.run.config.eventTimeout(), satisfied)
}

func (a *agent) within(ctx context.Context, patience time.Duration, satisfied func() bool) bool {
	pause := time.Millisecond
	if !a.d.run.host.Loopback {
		pause = 50 * time.Millisecond
	}
	// A host on a busy machine is waited for while it is at work: a burst takes its time.
	deadline, last, news := time.Now().Add(patience), time.Now().Add(10*patience), a.news
	for ; ; pause = min(pause*3/2, longestPause) {
		done := satisfied()
		if a.news != news {
			news, deadline = a.news, time.Now().Add(patience)
		}
		switch {
		case done:
			return true
		case time.Now().After(deadline) || time.Now().After(last) || !a.d.Sleep(ctx, pause):
			return false
		}
	}
}

// advance lets the host's domain time pass, by whole seconds.
func (a *agent) advance(ctx context.Context, seconds int64) error {
	move, err := a.d.Advance(ctx, time.Duration(seconds)*time.Second)
	a.scene.Steps = append(a.scene.Steps, agentdlq.Step{Did: agentdlq.DidAdvance, When: a.when, Exchanges: []observe.Exchange{move.Exchange}, Moved: seconds})
	return err
}

// mayAdvance does the same where the host's clock is the suite's to move, and otherwise nothing.
func (a *agent) mayAdvance(ctx context.Context, seconds int64) bool {
	if a.d.run.config.NoClock {
		return false
	}
	if _, mode, _ := cause.ClockNow(ctx, a.d.Session, a.d.Major); mode != "manual" {
		return false
	}
	return a.advance(ctx, seconds) == nil
}

// prepared says whether a preparation was answered as it must be, and otherwise how the leg ends.
func prepared(x observe.Exchange, status int) error {
	switch {
	case x.Status() == status:
		return nil
	case x.Response == nil && x.Failure != nil:
		return blocked(failureReason(x.Failure.Kind), "%s: %s", x.Label, x.Failure.Text)
	case x.Status() == 429 || x.Status() == 503:
		return inapplicable(registry.RateTooLow, "%s: the host kept answering %d for longer than %s", x.Label, x.Status(), triggerPatience)
	case !cause.SeamMounted(x):
		return inapplicable(registry.NoCause, "the host mounts no agent dead-letter seams (%s %s answered %d)", x.Request.Method, x.Request.Target, x.Status())
	}
	return blocked(registry.UnexpectedAnswer, "%s: %s %s answered %d in place of %d", x.Label, x.Request.Method, x.Request.Target, x.Status(), status)
}
