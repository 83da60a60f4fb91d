package conforming

import (
	"slices"
	"time"

	"github.com/wopwitness/wopwitness/mockhost/parts"
)

// SigningKey is a key published in both majors' discovery.
type SigningKey struct {
	KeyID     string
	PublicKey string // raw 32 bytes, unpadded base64url
}

// Discovery implements parts.Discovery.
type Discovery struct {
	Version      string
	Majors       []int
	Listed       []parts.EventType
	MinRetention time.Duration
	Seams        bool
	Keys         []SigningKey
	Fixtures     []string
	// RetentionDays is how long a dead-lettered run is kept.
	RetentionDays int
	// Agent are the agent worker's numbers; nil where it isn't served.
	Agent *parts.AgentNumbers
}

// agentExtension is the member under which the agent worker's numbers are.
const agentExtension = "example.agent-dlq"

// extensions is what this host has beyond the protocol.
func (d Discovery) extensions() map[string]any {
	n := d.Agent
	return map[string]any{agentExtension: map[string]any{
		"leaseSeconds": int(n.Lease / time.Second), "breakerSeconds": int(n.Breaker / time.Second),
		"redeliveryLimit": n.RedeliveryLimit, "intakeCapacity": n.IntakeCapacity, "queueCapacity": n.QueueCapacity,
		"recoveryIntervalSeconds": int(n.RecoveryInterval / time.Second), "automaticReplays": n.AutomaticReplays,
		"repairThreshold": n.RepairThreshold, "entryTtlSeconds": int(n.EntryTTL / time.Second), "depthAlertThreshold": n.DepthAlert,
	}}
}

// Types implements parts.Discovery.
func (d Discovery) Types() []parts.EventType { return slices.Clone(d.Listed) }

// Document implements parts.Discovery.
func (d Discovery) Document(major int) map[string]any {
	doc := map[string]any{
		"implementation": map[string]any{
			"name": "wopwitness-mockhost", "version": d.Version, "vendor": "wopwitness",
		},
		"protocolVersions": d.versions(),
		"preferredVersion": d.preferred(),
		"fixtures":         slices.Clone(d.Fixtures),
		"signingKeys":      d.signingKeys(),
	}
	if d.Agent != nil {
		doc["extensions"] = d.extensions()
	}
	if major == 1 {
		doc["protocolVersion"] = "1.0"
		doc["supportedEnvelopes"] = []any{}
		doc["schemaVersions"] = map[string]any{}
		doc["limits"] = limits()
		doc["capabilities"] = map[string]any{
			"deadLetter": map[string]any{"supported": true, "retentionDays": d.RetentionDays},
			"replay":     map[string]any{"supported": true, "modes": forkModes()},
		}
		return doc
	}
	record := limits()
	record["status"], record["since"], record["witness"] = "stable", "2.0", "claims-check"
	doc["limits"] = record
	doc["hostEvents"] = map[string]any{
		"status": "stable", "since": "2.0", "witness": "witnessable-gated",
		"types":  d.types(),
		"replay": map[string]any{"minRetentionSeconds": int(d.MinRetention / time.Second)},
	}
	doc["deadLetter"] = map[string]any{
		"status": "stable", "since": "2.0", "witness": "witnessable-gated", "retentionDays": d.RetentionDays,
	}
	doc["replay"] = map[string]any{
		"status": "stable", "since": "2.0", "witness": "witnessable-unaided", "modes": forkModes(),
	}
	doc["runList"] = map[string]any{"status": "stable", "since": "2.0", "witness": "witnessable-unaided"}
	if d.Seams {
		doc["conformance"] = map[string]any{"seamsProfile": "openwop-conformance-seams-v2"}
	}
	return doc
}

func forkModes() []string { return []string{parts.Replay, parts.Branch} }

// limits are those of a host that runs no model: it asks nothing back and takes no rounds.
func limits() map[string]any {
	return map[string]any{
		"clarificationRounds": 0, "schemaRounds": 0, "envelopesPerTurn": 0, "maxNodeExecutions": 1000,
	}
}

func (d Discovery) versions() []any {
	var out []any
	for _, m := range []int{1, 2} {
		if slices.Contains(d.Majors, m) {
			out = append(out, version(m))
		}
	}
	return out
}

func (d Discovery) preferred() string { return version(slices.Max(d.Majors)) }

func version(major int) string {
	if major == 1 {
		return "1.0"
	}
	return "2.0"
}

func (d Discovery) signingKeys() []any {
	out := []any{}
	for _, k := range d.Keys {
		out = append(out, map[string]any{
			"keyId": k.KeyID, "alg": "ed25519", "publicKey": k.PublicKey, "use": "certification-bundle",
		})
	}
	return out
}

func (d Discovery) types() []any {
	out := []any{}
	for _, t := range d.Listed {
		out = append(out, map[string]any{"type": t.Type, "delivery": t.Delivery})
	}
	return out
}
