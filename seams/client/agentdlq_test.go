package client

import (
	"testing"

	"github.com/wopwitness/wopwitness/witness/observe"
)

func TestAgentDLQ(t *testing.T) {
	whole := observe.AgentDLQ{LeaseSeconds: 30, BreakerSeconds: 60, RedeliveryLimit: 4, IntakeCapacity: 64, QueueCapacity: 65,
		RecoveryIntervalSeconds: 15, AutomaticReplays: 6, RepairThreshold: 0.85, EntryTTLSeconds: 1209600, DepthAlertThreshold: 100}
	for _, c := range []struct {
		name, document string
		want           observe.AgentDLQ
		named          bool
	}{
		{"all ten", `{"extensions":{"example.agent-dlq":{"leaseSeconds":30,"breakerSeconds":60,"redeliveryLimit":4,"intakeCapacity":64,"queueCapacity":65,
			"recoveryIntervalSeconds":15,"automaticReplays":6,"repairThreshold":0.85,"entryTtlSeconds":1209600,"depthAlertThreshold":100}}}`, whole, true},
		{"no automatic replay", `{"extensions":{"example.agent-dlq":{"automaticReplays":0.0}}}`, observe.AgentDLQ{NoAutomaticReplays: true}, true},
		{"no extension", `{"extensions":{"example.other":{}}}`, observe.AgentDLQ{}, false},
		{"no extensions", `{}`, observe.AgentDLQ{}, false},
		{"not an object", `{"extensions":{"example.agent-dlq":true}}`, observe.AgentDLQ{}, false},
		{"a text in place of a number", `{"extensions":{"example.agent-dlq":{"leaseSeconds":"30","breakerSeconds":6e1,"redeliveryLimit":0.5,"repairThreshold":"high"}}}`,
			observe.AgentDLQ{BreakerSeconds: 60}, true},
	} {
		t.Run(c.name, func(t *testing.T) {
			value, err := Strict([]byte(c.document))
			if err != nil {
				t.Fatal(err)
			}
			got, named := Discovery{Document: value.(map[string]any), Major: 2}.AgentDLQ()
			if got != c.want || named != c.named {
				t.Errorf("read %+v, %v; want %+v, %v", got, named, c.want, c.named)
			}
		})
	}
}
