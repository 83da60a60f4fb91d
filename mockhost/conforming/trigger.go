package conforming

import (
	"encoding/json"
	"net/http"

	"github.com/wopwitness/wopwitness/mockhost/closedjson"
	"github.com/wopwitness/wopwitness/mockhost/parts"
)

// Trigger implements parts.Trigger (RFC 0241).
type Trigger struct{ Parts *parts.Parts }

// Served implements parts.Trigger.
func (t Trigger) Served() bool { return t.listed(parts.Durable) || t.listed(parts.Ephemeral) }

func (t Trigger) listed(delivery string) bool {
	for _, l := range t.Parts.Discovery.Types() {
		if l.Delivery == delivery && l.Type == typeOf(delivery) {
			return true
		}
	}
	return false
}

func typeOf(delivery string) string {
	if delivery == parts.Ephemeral {
		return parts.TriggeredEphemeral
	}
	return parts.TriggeredDurable
}

// Decode implements parts.Trigger.
func (t Trigger) Decode(body []byte) (parts.TriggerRequest, error) {
	var r parts.TriggerRequest
	var workspace *string
	err := closedjson.Object(body, map[string]any{"delivery": &r.Delivery, "workspaceId": &workspace}, "delivery")
	switch {
	case err != nil:
		return r, parts.Invalid("%s", err)
	case r.Delivery != parts.Durable && r.Delivery != parts.Ephemeral:
		return r, parts.Invalid("delivery must be durable or ephemeral")
	case !t.listed(r.Delivery):
		return r, parts.Invalid("this host doesn't list the %s test event", r.Delivery)
	case workspace != nil && !validWorkspace(*workspace):
		return r, parts.Invalid("workspaceId must be 1 to 128 of A-Z a-z 0-9 . _ ~ -")
	case workspace != nil:
		r.Workspace = *workspace
	}
	return r, nil
}

// Scope implements parts.Trigger. A bound key reaches its own workspace and the tenant itself, no sibling.
func (t Trigger) Scope(p parts.Principal, workspace string) error {
	if workspace == "" {
		return nil
	}
	owner, known := t.Parts.Directory.WorkspaceOwner(workspace)
	switch {
	case !known:
		return &parts.Problem{Status: http.StatusNotFound, Code: "not_found", Message: "there is no such workspace"}
	case owner != p.Tenant:
		return &parts.Problem{
			Status: http.StatusForbidden, Code: "id_tenant_mismatch", Message: "the workspace belongs to another tenant",
		}
	case p.Workspace != "" && p.Workspace != workspace:
		return &parts.Problem{
			Status: http.StatusForbidden, Code: "forbidden", Message: "this key is bound to another workspace",
		}
	}
	return nil
}

// Draft implements parts.Trigger.
func (t Trigger) Draft(_ parts.Principal, r parts.TriggerRequest) (parts.Draft, error) {
	return parts.Draft{
		Type: typeOf(r.Delivery), Delivery: r.Delivery, Workspace: r.Workspace, Payload: json.RawMessage(`{}`),
	}, nil
}

// validWorkspace follows the grammar of workspaceId.
func validWorkspace(s string) bool {
	if len(s) < 1 || len(s) > 128 {
		return false
	}
	for _, c := range []byte(s) {
		switch {
		case c >= 'A' && c <= 'Z', c >= 'a' && c <= 'z', c >= '0' && c <= '9':
		case c == '.', c == '_', c == '~', c == '-':
		default:
			return false
		}
	}
	return true
}
