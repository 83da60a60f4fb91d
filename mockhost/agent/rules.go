package agent

import (
	"encoding/json"
	"errors"
	"time"

	"github.com/wopwitness/wopwitness/mockhost/agent/redact"
	"github.com/wopwitness/wopwitness/mockhost/parts"
)

// Router implements parts.FailureRouter.
type Router struct{}

// Route implements parts.FailureRouter: a failure stays with the run as long as the run can do something about it.
func (Router) Route(f parts.FailedAttempt) string {
	misconfigured := f.Error.Kind == parts.Unauthorized || f.Error.Kind == parts.Gone
	switch {
	case f.Error.Kind != parts.CircuitOpen && !misconfigured && f.Invocation.Attempts < f.Invocation.MaxAttempts:
		return parts.RouteRetry
	case f.Fallback != "":
		return parts.RouteFallback
	case f.Error.Kind == parts.CircuitOpen:
		return parts.RouteInBand
	}
	return parts.RouteDeadLetter
}

// Watchdog implements parts.Watchdog: only a tool that knows a call by its key can be called again without harm.
type Watchdog struct{}

// Again implements parts.Watchdog.
func (Watchdog) Again(_ parts.Invocation, idempotent bool) bool { return idempotent }

// Leases implements parts.Leases.
type Leases struct{ Parts *parts.Parts }

// Until implements parts.Leases.
func (l Leases) Until(now time.Time) time.Time { return now.Add(l.Parts.Agent.Numbers.Lease) }

// TakeOver implements parts.Leases: what is written down is what is known, and the run goes on from there.
func (Leases) TakeOver(*parts.Message, *parts.Conversation, bool) bool { return true }

// Holds implements parts.Leases: the token is what counts. A lease that is over but that nobody else has taken is still its
// holder's.
func (Leases) Holds(m parts.Message, token int64) bool { return m.Token == token }

// firstAgain is the pause before a message comes again whose delivery ended in a bug; each later one is twice as long.
const firstAgain = 20 * time.Millisecond

// Again implements parts.Leases.
func (l Leases) Again(m parts.Message, now time.Time) (time.Time, bool) {
	if m.Failures >= l.Parts.Agent.Numbers.RedeliveryLimit {
		return time.Time{}, false
	}
	return now.Add(min(firstAgain<<min(m.Failures-1, 20), l.Parts.Agent.Numbers.Lease)), true
}

// Bodies implements parts.Bodies.
type Bodies struct{}

// Read implements parts.Bodies.
func (Bodies) Read(body string) (buggy bool, err error) {
	var members map[string]json.RawMessage
	if err := json.Unmarshal([]byte(body), &members); err != nil {
		return false, errors.New("the message isn't a JSON object")
	}
	var task *string
	if err := json.Unmarshal(members["task"], &task); err != nil || task == nil {
		return false, errors.New("the message has no text member task")
	}
	return string(members["poison"]) == "true", nil
}

// Mortal implements parts.Crasher: a worker dies where its message asks it to, in the message's first delivery.
type Mortal struct{}

// Dies implements parts.Crasher.
func (Mortal) Dies(m parts.Message, point string, fresh, last bool) bool {
	if m.CrashAt != point {
		return false
	}
	switch point {
	case parts.CrashBeforeClaim:
		return fresh
	case parts.CrashAfterClaim:
		return m.Deliveries == 1
	}
	return m.Deliveries == 1 && last
}

// Redactor implements parts.Redactor.
type Redactor struct{}

// Text implements parts.Redactor.
func (Redactor) Text(s string) string { return redact.Text(s) }

// JSON implements parts.Redactor.
func (Redactor) JSON(raw json.RawMessage) json.RawMessage { return redact.JSON(raw) }
