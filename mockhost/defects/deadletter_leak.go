package defects

import (
	"context"
	"encoding/json"

	"github.com/wopwitness/wopwitness/fixtures/workflows"
	"github.com/wopwitness/wopwitness/mockhost/parts"
	"github.com/wopwitness/wopwitness/mockhost/store"
)

// deadLetterLeaks show what a run held when it died (RFC 0053 §C).
func deadLetterLeaks() []Defect {
	leak := func(name, says string, apply func(p *parts.Parts, secret func(store.Run) string)) Defect {
		return deadLetter(name, says, func(p *parts.Parts) {
			secrets := p.Secrets
			apply(p, func(r store.Run) string { return heldSecret(secrets, r) })
		}, legRedacted)
	}
	return []Defect{
		leak("leak-reason", "puts the failing request, its credential and all, into the reason", func(p *parts.Parts, secret func(store.Run) string) {
			changesLetters(p, func(e parts.NodeEnd, l *parts.Letter) {
				if s := secret(e.Run); s != "" {
					l.Reason += ": GET /orders with Bearer " + s + " was refused"
				}
			})
		}),
		leak("leak-fork", "redacts the reason of a run that a client made, and not of its fork, which reads the failure from the log of the source", func(p *parts.Parts, secret func(store.Run) string) {
			changesLetters(p, func(e parts.NodeEnd, l *parts.Letter) {
				if s := secret(e.Run); s != "" && e.Run.Source != "" {
					l.Reason += ": GET /orders with Bearer " + s + " was refused"
				}
			})
		}),
		leak("leak-event-details", "adds to the event what the node sent", func(p *parts.Parts, secret func(store.Run) string) {
			showsLetters(p, func(_ int, r store.Run, _, payload members) {
				if s := secret(r); s != "" {
					payload["request"] = members{"authorization": "Bearer " + s}
				}
			})
		}),
		leak("leak-node-failed", "passes the service's own words on in node.failed, which quote the credential", func(p *parts.Parts, secret func(store.Run) string) {
			p.Nodes = nodes{p.Nodes, func(a parts.Attempt, failure *parts.RunError) {
				if s := secret(a.Run); s != "" {
					failure.Message = "unknown credential " + s
				}
			}}
		}),
		leak("leak-snapshot", "shows the credential among the details of the snapshot's error", func(p *parts.Parts, secret func(store.Run) string) {
			showsSnapshots(p, func(_ int, r store.Run, state parts.RunState, m members) {
				if s := secret(r); s != "" && state.Status == parts.Failed {
					m["error"] = members{"code": "node_failed", "message": "the node failed", "details": members{"authorization": s}}
				}
			})
		}),
		leak("leak-sink", "shows the credential in the sink alone", func(p *parts.Parts, secret func(store.Run) string) {
			right := p.Sink
			p.Sink = sink{right, func(tx store.Tx, d store.DeadLetter) error {
				r, _, err := tx.Run(d.Tenant, d.Run)
				if err != nil {
					return err
				}
				if s := secret(r); s != "" {
					d.Reason += " with " + s
				}
				return right.Put(tx, d)
			}, nil}
		}),
		deadLetter("leak-inputs", "quotes the run's inputs in the reason", func(p *parts.Parts) {
			changesLetters(p, func(e parts.NodeEnd, l *parts.Letter) {
				var o parts.RunOptions
				if json.Unmarshal(e.Run.Options, &o) == nil && len(o.Inputs) > 0 {
					l.Reason += " of " + string(o.Inputs)
				}
			})
		}, legRedacted),
	}
}

// heldSecret is the value of the secret that the run's workflow resolves, "" where it resolves none.
func heldSecret(secrets parts.Secrets, r store.Run) string {
	if r.Workflow != workflows.Secret {
		return ""
	}
	value, _ := secrets.Resolve(r.Tenant, workflows.CanarySecret)
	return value
}

// nodes wraps what nodes do, where they fail.
type nodes struct {
	parts.Nodes
	failed func(a parts.Attempt, failure *parts.RunError)
}

func (n nodes) Do(ctx context.Context, a parts.Attempt) (*parts.RunError, error) {
	failure, err := n.Nodes.Do(ctx, a)
	if failure != nil {
		n.failed(a, failure)
	}
	return failure, err
}
