package client

import (
	"encoding/json"

	"github.com/wopwitness/wopwitness/witness/observe"
)

// AgentDLQExtension names the agent dead-letter extension in discovery.
const AgentDLQExtension = "example.agent-dlq"

// AgentDLQ reads the agent dead-letter extension. It says false where the document does not name it as an object.
func (d Discovery) AgentDLQ() (observe.AgentDLQ, bool) {
	extensions, _ := d.Document["extensions"].(map[string]any)
	record, _ := extensions[AgentDLQExtension].(map[string]any)
	if record == nil {
		return observe.AgentDLQ{}, false
	}
	var numbers observe.AgentDLQ
	for name, into := range map[string]*int64{
		"leaseSeconds": &numbers.LeaseSeconds, "breakerSeconds": &numbers.BreakerSeconds, "redeliveryLimit": &numbers.RedeliveryLimit,
		"intakeCapacity": &numbers.IntakeCapacity, "queueCapacity": &numbers.QueueCapacity,
		"recoveryIntervalSeconds": &numbers.RecoveryIntervalSeconds, "automaticReplays": &numbers.AutomaticReplays,
		"entryTtlSeconds": &numbers.EntryTTLSeconds, "depthAlertThreshold": &numbers.DepthAlertThreshold,
	} {
		*into, _ = positive(record[name])
	}
	if n, isNumber := record["automaticReplays"].(json.Number); isNumber {
		f, err := n.Float64()
		numbers.NoAutomaticReplays = err == nil && f == 0
	}
	if threshold, isNumber := record["repairThreshold"].(json.Number); isNumber {
		numbers.RepairThreshold, _ = threshold.Float64()
	}
	return numbers, true
}
