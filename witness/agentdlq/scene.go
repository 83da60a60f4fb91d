package agentdlq

import (
	"fmt"
	"slices"
	"strings"

	"github.com/wopwitness/wopwitness/scenarios/registry"
	"github.com/wopwitness/wopwitness/witness"
	"github.com/wopwitness/wopwitness/witness/observe"
)

// Scene is what one leg did and read, in order. The leg gives each of its tools and messages a role, and the host a name
// of its own for it, so that no two legs share one.
type Scene struct {
	Numbers  observe.AgentDLQ  `json:"numbers"`
	Patience observe.Micros    `json:"patience"` // how long, in real time, anything was waited for
	Names    map[string]string `json:"names"`    // role → the name that the host knows it by
	Steps    []Step            `json:"steps"`
}

// Step is one thing that a leg did or read. Of is the role that it is about; When is the part of the leg, "" for a leg
// of one part. Exchanges are one, or the pages of a list in order; of the readings of a wait those stay that showed
// something new, and the last.
type Step struct {
	Did       Did                `json:"did"`
	Of        string             `json:"of,omitempty"`
	When      string             `json:"when,omitempty"`
	Exchanges []observe.Exchange `json:"exchanges,omitempty"`
	Moved     int64              `json:"moved,omitempty"` // seconds, of an advance
}

// Did is what a step was.
type Did string

// What a leg can do. Those above the line must have been answered as the page says for anything to be judged by them;
// the others are judged themselves.
const (
	DidSetTool      Did = "set tool"
	DidTool         Did = "tool"
	DidSend         Did = "send"
	DidMessage      Did = "message"
	DidToolQueue    Did = "tool queue"    // Of is the message whose trace narrows it
	DidMessageQueue Did = "message queue" // likewise
	DidInvocations  Did = "invocations"   // likewise
	DidEntry        Did = "entry"         // one entry read by its id; Of is its message
	DidAdvance      Did = "advance"
	DidDrain        Did = "drain"    // readings of a drain
	DidQuery        Did = "query"    // a list narrowed in the leg's own way; Of is what the leg calls it
	DidRepairer     Did = "repairer" // scripting the repairer; Of is the tool

	DidStartDrain Did = "start drain"
	DidReplay     Did = "replay" // of the entry of a message
	DidDiscard    Did = "discard"
	DidResolve    Did = "resolve"
	DidExpire     Did = "expire"
	DidReviews    Did = "reviews" // Of is "human" or "security"
	DidMetrics    Did = "metrics"
	DidTrace      Did = "trace"  // Of is a message
	DidImpact     Did = "impact" // likewise
	DidCompensate Did = "compensate"
	DidPause      Did = "pause" // Of is a tool, "" for all
	DidResume     Did = "resume"
	DidAsk        Did = "ask" // anything else
)

// answers gives the status without which a step says nothing, 0 for steps that are judged whatever they are answered.
func (d Did) answers() int {
	switch d {
	case DidSend:
		return 202
	case DidSetTool, DidTool, DidMessage, DidToolQueue, DidMessageQueue, DidInvocations, DidEntry, DidAdvance, DidDrain, DidQuery, DidRepairer:
		return 200
	}
	return 0
}

// isList says whether a step read a list page by page.
func (d Did) isList() bool {
	return d == DidToolQueue || d == DidMessageQueue || d == DidInvocations || d == DidQuery || d == DidReviews
}

// During gives the scene's part of that name.
func (s Scene) During(when string) Scene {
	part := s
	part.Steps = nil
	for _, step := range s.Steps {
		if step.When == when {
			part.Steps = append(part.Steps, step)
		}
	}
	return part
}

// find gives the last such step, nil where there is none.
func (s Scene) find(did Did, of string) *Step {
	for i := len(s.Steps) - 1; i >= 0; i-- {
		if s.Steps[i].Did == did && s.Steps[i].Of == of && len(s.Steps[i].Exchanges) > 0 {
			return &s.Steps[i]
		}
	}
	return nil
}

// Pages gives the exchanges of the last such step.
func (s Scene) Pages(did Did, of string) []observe.Exchange {
	step := s.find(did, of)
	if step == nil {
		return nil
	}
	return step.Exchanges
}

// Last gives the last exchange of the last such step, the zero one where there is none.
func (s Scene) Last(did Did, of string) observe.Exchange {
	step := s.find(did, of)
	if step == nil {
		return observe.Exchange{}
	}
	return step.Exchanges[len(step.Exchanges)-1]
}

// all gives the last exchange of each such step, in order.
func (s Scene) all(did Did, of string) []observe.Exchange {
	var found []observe.Exchange
	for _, step := range s.Steps {
		if step.Did == did && step.Of == of && len(step.Exchanges) > 0 {
			found = append(found, step.Exchanges[len(step.Exchanges)-1])
		}
	}
	return found
}

// usable says whether everything that the leg prepared and read was answered, and otherwise leaves the verdict undecided.
func (s Scene) usable(v *witness.Verdict) bool {
	if len(s.Steps) == 0 {
		v.Undecide(registry.Unreadable, "the observation holds no step")
		return false
	}
	for _, step := range s.Steps {
		wanted := step.Did.answers()
		if wanted == 0 {
			continue
		}
		what := strings.TrimSpace(fmt.Sprintf("%s %s", step.Did, step.Of))
		for i, x := range step.Exchanges {
			if x.Status() != wanted {
				v.Undecide(unanswered(x), "%s: %s", what, brief(x))
				return false
			}
			if step.Did.isList() && i == len(step.Exchanges)-1 && NextCursor(x) != "" {
				v.Undecide(registry.Timeout, "%s: the list was not read to its end: %d pages", what, len(step.Exchanges))
				return false
			}
		}
	}
	return true
}

// unanswered is the reason for an exchange that leaves nothing to judge.
func unanswered(x observe.Exchange) registry.Reason {
	switch {
	case x.Response != nil || x.Failure == nil:
		return registry.UnexpectedAnswer
	case x.Failure.Kind == observe.FailTimeout:
		return registry.Timeout
	case slices.Contains([]observe.FailureKind{observe.FailTooLarge, observe.FailMalformed}, x.Failure.Kind):
		return registry.Unreadable
	case x.Failure.Kind == observe.FailCancelled:
		return registry.Interrupted
	}
	return registry.Unreachable
}

// longestShown bounds what a finding repeats of an answer.
const longestShown = 400

func shorten(text string) string {
	if len(text) <= longestShown {
		return text
	}
	return strings.ToValidUTF8(text[:longestShown], "") + "…"
}

// brief is one exchange in one line.
func brief(x observe.Exchange) string {
	switch {
	case x.Response != nil:
		return strings.TrimSpace(fmt.Sprintf("%d %s", x.Status(), shorten(x.Response.Body.String())))
	case x.Failure != nil:
		return x.Failure.Text
	}
	return "no answer"
}
