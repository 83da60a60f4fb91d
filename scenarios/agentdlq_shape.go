package scenarios

import (
	"context"

	"github.com/wopwitness/wopwitness/fixtures/vectors"
	"github.com/wopwitness/wopwitness/witness/agentdlq"
)

func agentShapeSpecs() []spec { return []spec{{"agentdlq.shape.vectors", agentVectors}} }

// agentVectors gives agentdlq.shape.vectors its documents. No host is asked.
func agentVectors(context.Context, *Drive) (any, error) {
	var o agentdlq.Vectors
	for _, v := range vectors.AgentDLQs() {
		o.Vectors = append(o.Vectors, agentdlq.Vector{Name: v.Name, Schema: v.Schema, Document: v.Document, Valid: v.Valid})
	}
	return o, nil
}
