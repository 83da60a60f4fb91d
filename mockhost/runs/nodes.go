package runs

import (
	"context"
	"encoding/json"

	"github.com/wopwitness/wopwitness/fixtures/workflows"
	"github.com/wopwitness/wopwitness/mockhost/parts"
)

// Nodes implements parts.Nodes over the node types that the fixtures are made of.
type Nodes struct{ Parts *parts.Parts }

var _ parts.Nodes = Nodes{}

// Do implements parts.Nodes.
func (n Nodes) Do(_ context.Context, a parts.Attempt) (*parts.RunError, error) {
	switch a.Node.TypeID {
	case workflows.TypeSucceed:
		return nil, nil
	case workflows.TypeFail:
		return n.fail(a), nil
	}
	return &parts.RunError{Code: "node_type_unknown", Message: "this host does no nodes of the type " + a.Node.TypeID}, nil
}

func (n Nodes) fail(a parts.Attempt) *parts.RunError {
	c := a.Node.Config
	if c.SucceedOnAttempt > 0 && a.Number >= c.SucceedOnAttempt {
		return nil
	}
	if c.SucceedWhenConfigurable != "" && says(a.Options.Configurable, c.SucceedWhenConfigurable) {
		return nil
	}
	if c.Secret != "" {
		if _, ok := n.Parts.Secrets.Resolve(a.Run.Tenant, c.Secret); !ok {
			return &parts.RunError{Code: "secret_unresolved", Message: "there is no secret named " + c.Secret}
		}
		return &parts.RunError{Code: "upstream_refused", Message: "the service refused the credential " + c.Secret}
	}
	return &parts.RunError{Code: "poisoned", Message: "this node fails by design"}
}

// says reports whether a configurable has the member as true: by itself on major 1, under an extension on major 2.
func says(configurable json.RawMessage, name string) bool {
	var c map[string]json.RawMessage
	if json.Unmarshal(configurable, &c) != nil {
		return false
	}
	if string(c[name]) == "true" {
		return true
	}
	var extensions map[string]map[string]json.RawMessage
	if json.Unmarshal(c["extensions"], &extensions) != nil {
		return false
	}
	for _, x := range extensions {
		if string(x[name]) == "true" {
			return true
		}
	}
	return false
}
