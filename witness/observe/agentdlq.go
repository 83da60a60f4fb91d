package observe

// AgentDLQ is what a host's discovery says of its agent dead-letter extension: the host's own numbers. One that is missing
// or not a number of its kind is 0.
type AgentDLQ struct {
	LeaseSeconds            int64   `json:"leaseSeconds"`
	BreakerSeconds          int64   `json:"breakerSeconds"`
	RedeliveryLimit         int64   `json:"redeliveryLimit"`
	IntakeCapacity          int64   `json:"intakeCapacity"`
	QueueCapacity           int64   `json:"queueCapacity"`
	RecoveryIntervalSeconds int64   `json:"recoveryIntervalSeconds"`
	AutomaticReplays        int64   `json:"automaticReplays"`
	NoAutomaticReplays      bool    `json:"noAutomaticReplays,omitempty"` // the 0 of AutomaticReplays is what the host says
	RepairThreshold         float64 `json:"repairThreshold"`
	EntryTTLSeconds         int64   `json:"entryTtlSeconds"`
	DepthAlertThreshold     int64   `json:"depthAlertThreshold"`
}
