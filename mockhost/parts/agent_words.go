package parts

// The outcomes of a message, as the agent seams name them.
const (
	MessageQueued       = "queued"
	MessageRunning      = "running"
	MessageCompleted    = "completed"
	MessageToolFailed   = "tool_failed"
	MessageDeadLettered = "message_dead_lettered"
)

// The kinds of a tool's error. OutcomeUnknown is that of a call of which nobody knows whether it was done, and CircuitOpen
// that of a call that wasn't made.
const (
	ToolOK           = "ok"
	ServerError      = "server_error"
	ToolTimeout      = "timeout"
	RateLimited      = "rate_limited"
	MalformedAnswer  = "malformed"
	Locked           = "locked"
	BadRequest       = "bad_request"
	SemanticError    = "semantic"
	Unauthorized     = "unauthorized"
	Gone             = "gone"
	Unreachable      = "unreachable"
	OutcomeUnknown   = "outcome_unknown"
	CircuitOpen      = "circuit_open"
	ReasonMalformed  = "malformed"
	ReasonRedelivery = "redelivery_limit"
)

// The resolutions of an entry.
const (
	Unresolved = "unresolved"
	Resolved   = "resolved"
	Replayed   = "replayed"
	Discarded  = "discarded"
)

// The statuses of an invocation.
const (
	InvocationPending      = "pending"
	InvocationInFlight     = "in_flight"
	InvocationSuccess      = "success"
	InvocationFailed       = "failed"
	InvocationDeadLettered = "dead_lettered"
)

// The actions of an audit trail, and who does them when no person does.
const (
	ActionEnqueued   = "enqueued"
	ActionClassified = "classified"
	ActionRepair     = "repair"
	ActionReview     = "review"
	ActionReplay     = "replay"
	ActionResolve    = "resolve"
	ActionDiscard    = "discard"
	ActionExpire     = "expire"

	ByWorker     = "worker"
	ByClassifier = "classifier"
	ByRecovery   = "recovery"
	ByRepairer   = "repairer"
)

// The categories of a failure; an entry that the classifier couldn't tell has Unclassified.
const (
	Transient        = "TRANSIENT_INFRASTRUCTURE"
	SchemaFailure    = "SCHEMA_VALIDATION_FAILURE"
	SemanticFailure  = "SEMANTIC_FAILURE"
	ToolUnavailable  = "TOOL_UNAVAILABLE"
	ContextEviction  = "CONTEXT_EVICTION"
	AuthorizationErr = "AUTHORIZATION_FAILURE"
	Unclassified     = "unclassified"
)

// The two reviews; an entry that waits for nobody has none.
const (
	HumanReview    = "human"
	SecurityReview = "security"
)

// The points at which a message can ask its worker to die.
const (
	CrashBeforeClaim   = "before_claim"
	CrashAfterClaim    = "after_claim"
	CrashAfterWrite    = "after_write"
	CrashAfterDispatch = "after_dispatch"
	CrashAfterResult   = "after_result"
)

// The two queues.
const (
	MessageQueue = "message"
	ToolQueue    = "tool"
)
