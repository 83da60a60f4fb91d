package defects

import (
	"context"

	"github.com/wopwitness/wopwitness/fixtures/workflows"
	"github.com/wopwitness/wopwitness/mockhost/parts"
	"github.com/wopwitness/wopwitness/mockhost/store"
)

// deadLetterEnds are wrong about how a dead-lettered run ends (RFC 0053 §C.1).
func deadLetterEnds() []Defect {
	ended := func(log []store.RunEvent) bool { return len(log) > 0 && log[len(log)-1].Type == parts.RunFailed }
	after := func(log []store.RunEvent, kind, node string) []store.RunEvent {
		last := log[len(log)-1]
		return append(log, store.RunEvent{
			Seq: last.Seq + 1, ID: last.ID[:len(last.ID)-1] + "0", Type: kind, Node: node, Cause: last.ID, At: last.At, Payload: last.Payload,
		})
	}
	return []Defect{
		deadLetter("status-completed", "shows a dead-lettered run as completed", func(p *parts.Parts) {
			showsSnapshots(p, func(_ int, _ store.Run, s parts.RunState, m members) {
				if s.Status == parts.Failed {
					m["status"] = parts.Completed
				}
			})
		}, legStatus),
		deadLetter("ends-twice", "ends a dead-lettered run with run.failed and then with run.cancelled", func(p *parts.Parts) {
			shownLog(p, func(_ store.Run, log []store.RunEvent) []store.RunEvent {
				if ended(log) {
					log = after(log, parts.RunCancelled, "")
				}
				return log
			})
		}, legStatus),
		deadLetter("ends-never", "writes no terminal event for a dead-lettered run", func(p *parts.Parts) {
			shownLog(p, func(_ store.Run, log []store.RunEvent) []store.RunEvent {
				if ended(log) {
					log = log[:len(log)-1]
				}
				return log
			})
		}, legStatus),
		deadLetter("goes-on", "starts the node behind the dead one after the run has ended", func(p *parts.Parts) {
			shownLog(p, func(r store.Run, log []store.RunEvent) []store.RunEvent {
				if ended(log) && r.Workflow == workflows.Downstream {
					log = after(log, parts.NodeStarted, "after")
				}
				return log
			})
		}, legStatus),
		deadLetter("completes", "completes a dead-lettered run, in its log and everywhere", completes, legStatus),
	}
}

// completes takes a dead-lettered node for a branch that may be left out.
func completes(p *parts.Parts) {
	right := p.Runs
	p.Runs = engine{
		Runs: right,
		state: func(ctx context.Context, r store.Run) (parts.RunState, error) {
			s, err := right.State(ctx, r)
			if s.Status == parts.Failed {
				s.Status, s.Error = parts.Completed, nil
			}
			return s, err
		},
		events: func(ctx context.Context, r store.Run, after int64) ([]store.RunEvent, error) {
			log, err := right.Events(ctx, r, after)
			for i := range log {
				if log[i].Type == parts.RunFailed {
					log[i].Type, log[i].Payload = parts.RunCompleted, []byte(`{}`)
				}
			}
			return log, err
		},
	}
}
