// Package registry is the suite's table of contents as data: which legs exist, what each rests on, what opens it, and
// the closed sets of results and reasons a row may hold. Nothing here drives or judges, and a leg that isn't built isn't
// registered. Start with Leg and Legs.
package registry

// LegID is the short name of a leg, as the command line takes it: "0250.resume-backlog".
type LegID string

// RequirementID is the leg's name in a bundle's rows.
func (id LegID) RequirementID() string { return "openwop.requirement." + string(id) }

// Leg is one requirement as it is witnessed.
type Leg struct {
	ID      LegID  `json:"id"`
	RFC     string `json:"rfc"`     // "0250", or "agentdlq"
	Section string `json:"section"` // "§B", a section that the RFC's text has
	Title   string `json:"title"`
	Profile string `json:"profile"` // the profile it belongs to
	Majors  []int  `json:"majors"`
	// OneMajor says that what the leg is about is the same on each major, so it runs on the highest of those chosen.
	OneMajor bool     `json:"oneMajor,omitempty"`
	Gates    []Gate   `json:"gates,omitempty"`
	Needs    []Need   `json:"needs,omitempty"`
	Observes Observes `json:"observes"`
	Last     bool     `json:"last,omitempty"` // moves the clock or restarts the host, so it runs after all others
	// MovesClock says that the leg moves the host's clock where it can, and does without where it cannot.
	MovesClock bool   `json:"movesClock,omitempty"`
	Source     string `json:"source"` // the sentence it rests on, in the suite's words
}

// Extension says that the leg is about an extension, which no protocol text asks a host for.
func (l Leg) Extension() bool { return l.Profile == ProfileAgentDLQ }

// Observes says what a pass of the leg is worth. Only Behaviour counts for the exit code.
type Observes string

// What a leg observes.
const (
	Behaviour Observes = "behaviour" // the host did something and it was right
	Shape     Observes = "shape"     // a document that the host published has the right form
	Vectors   Observes = "vectors"   // server-free: the suite's own schemas accept and refuse what the text says
)

// Gate is a fact of the host's advertisement without which a leg does not apply.
type Gate string

// The gates.
const (
	GateHostEvents       Gate = "hostEvents"              // the family is advertised
	GateReplay           Gate = "hostEvents.replay"       // the facet is advertised
	GateTrigger          Gate = "host-test.any-triggered" // at least one reserved type is listed
	GateTriggerDurable   Gate = "host-test.durable-triggered"
	GateTriggerEphemeral Gate = "host-test.ephemeral-triggered"
	GateDeadLetter       Gate = "deadLetter"        // the family is advertised, and on major 1 supported
	GateAgentDLQ         Gate = "example.agent-dlq" // the extension is named, with its numbers
)

// Need is something the operator supplies or a seam provides, without which a leg has no cause.
type Need string

// The needs.
const (
	NeedSecondTenant Need = "second-tenant" // --key-b
	NeedLowScope     Need = "low-scope-key" // --key-low
	NeedWorkspace    Need = "workspace"     // --workspace and --key-ws
	NeedPeer         Need = "peer"          // --peer-url
	NeedClock        Need = "clock-seam"
	NeedEmitSeam     Need = "emit-seam"
	NeedRemoveSeam   Need = "remove-seam"
	NeedEntriesSeam  Need = "entries-seam"
	NeedRestart      Need = "restart" // --restart-cmd, or the kill seam
)

// Result is a row's disposition.
type Result string

// The dispositions, in the order in which a report lists them.
const (
	Pass         Result = "executed-pass"
	Fail         Result = "executed-fail"
	Skipped      Result = "skipped"
	Inapplicable Result = "inapplicable"
	Blocked      Result = "blocked"
)

// Reason is why a row isn't a pass, as a closed code. Rows hold the code alone.
type Reason string

// Facts about the host, or about what the operator supplied.
const (
	NotAdvertised  Reason = "not-advertised"
	ClassNotListed Reason = "class-not-listed"
	NoCause        Reason = "no-cause"
	RateTooLow     Reason = "rate-too-low"
	OptedOut       Reason = "opted-out"
	Convicted      Reason = "convicted" // a finding; the report says which
)

// Facts about the suite or the run.
const (
	Unreachable      Reason = "unreachable"       // the host does not answer, or not in HTTP
	Unauthorized     Reason = "unauthorized"      // the operator's own key is refused
	SameTenant       Reason = "same-tenant"       // both keys are one tenant's
	Timeout          Reason = "timeout"           // a deadline passed before there was anything to judge
	UnexpectedAnswer Reason = "unexpected-answer" // a preparation was answered in a way that leaves nothing to judge
	ClockMoved       Reason = "clock-moved"       // the host's clock moved by more than the leg's own advances
	Unreadable       Reason = "unreadable"        // a document or observation that the suite cannot read
	Interrupted      Reason = "interrupted"
	Panicked         Reason = "panicked"
	NotRun           Reason = "not-run" // selected, and no record came
	Vacuous          Reason = "vacuous" // no finding, and no check either
)

// Explain is the one-line template of a reason, for people.
func (r Reason) Explain() string {
	switch r {
	case NotAdvertised:
		return "the host does not advertise what this requirement is about"
	case ClassNotListed:
		return "the host does not list the reserved event type that this requirement is caused with"
	case NoCause:
		return "nothing that the operator supplied or the host mounts can cause this"
	case RateTooLow:
		return "the host accepts events too slowly to cause this within its time limit"
	case OptedOut:
		return "the operator opted out of it by name"
	case Convicted:
		return "the host does not do what the text says"
	case Unreachable:
		return "the host did not answer"
	case Unauthorized:
		return "the host refused the key it was given"
	case SameTenant:
		return "the two keys belong to one tenant, so nothing can be said about another"
	case Timeout:
		return "a deadline passed before there was anything to judge"
	case UnexpectedAnswer:
		return "the host answered a preparation in a way that leaves nothing to judge"
	case ClockMoved:
		return "the host's clock moved by more than this requirement moved it"
	case Unreadable:
		return "the suite cannot read what the host gave it"
	case Interrupted:
		return "the run was interrupted"
	case Panicked:
		return "the suite itself failed; please report it"
	case NotRun:
		return "it was selected and did not run"
	case Vacuous:
		return "nothing was checked, so nothing is claimed"
	}
	return "unknown reason"
}

// Known says whether this build has the reason.
func (r Reason) Known() bool { return r.Explain() != Reason("").Explain() }

// HostFact says whether the reason is a fact about the host or the operator's means, rather than about the run.
func (r Reason) HostFact() bool {
	switch r {
	case NotAdvertised, ClassNotListed, NoCause, RateTooLow:
		return true
	}
	return false
}

// Row is one line of the ledger and of a bundle. It holds codes only: no host text, id, port, time or duration.
type Row struct {
	ID          string `json:"id"`
	Scenario    string `json:"scenario"`
	Result      Result `json:"result"`
	Assertions  int    `json:"assertions"`
	Detail      string `json:"detail,omitempty"`
	Cause       string `json:"cause,omitempty"`
	Observation string `json:"observationSha256,omitempty"`
}
