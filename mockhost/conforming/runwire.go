package conforming

import (
	"encoding/json"

	"github.com/wopwitness/wopwitness/mockhost/parts"
	"github.com/wopwitness/wopwitness/mockhost/store"
)

// runEventSchema is the version of the form of a run's events.
const runEventSchema = 1

// RunWire implements parts.RunWire: opaque ids and snake-cased names on major 1, tenant-bound ids and kebab-cased ones on
// major 2.
type RunWire struct{}

// ID implements parts.RunWire.
func (RunWire) ID(major int, r store.Run) string { return runID(major, r.Tenant, r.ID) }

func runID(major int, tenant, opaque string) string {
	if major == 1 {
		return opaque
	}
	return tenant + "/" + opaque
}

// Snapshot implements parts.RunWire.
func (RunWire) Snapshot(major int, r store.Run, s parts.RunState) map[string]any {
	out := map[string]any{
		"runId": runID(major, r.Tenant, r.ID), "workflowId": r.Workflow, "status": s.Status, "createdAt": r.At.Format(TimeLayout),
	}
	if !s.Begun.IsZero() {
		out["startedAt"] = s.Begun.Format(TimeLayout)
	}
	if !s.Ended.IsZero() {
		out["endedAt"] = s.Ended.Format(TimeLayout)
	}
	if s.Error != nil {
		out["error"] = map[string]any{"code": s.Error.Code, "message": s.Error.Message}
	}
	if r.Source != "" {
		out["sourceRunId"] = runID(major, r.Tenant, r.Source)
	}
	if major == 1 {
		return out
	}
	owner := map[string]any{"tenant": r.Tenant, "subject": r.Subject}
	if r.Workspace != "" {
		owner["workspace"] = r.Workspace
	}
	out["owner"] = owner
	return out
}

// Event implements parts.RunWire.
func (RunWire) Event(major int, r store.Run, e store.RunEvent) map[string]any {
	id, kind := runID(major, r.Tenant, r.ID), e.Type
	var payload map[string]any
	_ = json.Unmarshal(e.Payload, &payload) // the engine wrote it
	if kind == parts.RunDeadLettered {
		payload["runId"] = id
		if e.Node != "" {
			payload["nodeId"] = e.Node
		}
		if major == 1 {
			kind = "run.dead_lettered"
		}
	}
	out := map[string]any{
		"eventId": e.ID, "runId": id, "type": kind, "payload": payload, "sequence": e.Seq,
		"timestamp": e.At.Format(TimeLayout), "schemaVersion": runEventSchema,
	}
	if e.Node != "" {
		out["nodeId"] = e.Node
	}
	if e.Cause != "" {
		out["causationId"] = e.Cause
	}
	return out
}

// Entry implements parts.RunWire.
func (RunWire) Entry(major int, d store.DeadLetter) map[string]any {
	out := map[string]any{
		"runId": runID(major, d.Tenant, d.Run), "reason": d.Reason, "attempts": d.Attempts,
		"deadLetteredAt": d.At.Format(TimeLayout), "expiresAt": d.Expires.Format(TimeLayout),
	}
	if d.Node != "" {
		out["nodeId"] = d.Node
	}
	return out
}
