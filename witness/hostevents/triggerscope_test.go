package hostevents

import (
	"strings"
	"testing"

	"github.com/wopwitness/wopwitness/scenarios/registry"
	"github.com/wopwitness/wopwitness/witness/observe"
)

func TestJudgeWorkspaceScope(t *testing.T) {
	emit := func(label, credential string, status int, code string) observe.Emit {
		e := triggered(label, credential, "durable", 10*ms)
		if status == 202 {
			return e
		}
		return answeredWith(e, status, errorAnswer(code))
	}
	right := func(change func(*WorkspaceScope)) WorkspaceScope {
		control, foreign := emit("foreign control", observe.CredentialB, 202, ""), emit("foreign", observe.CredentialB, 403, "id_tenant_mismatch")
		own := emit("own", observe.CredentialWorkspace, 202, "")
		own.Workspace = "w-1"
		frame := strings.Replace(frameText(own), `"payload"`, `"workspaceId":"w-1","payload"`, 1)
		bound := over(stream(observe.CredentialWorkspace, "", 5*ms, 50*ms, chunk(20*ms, frame)))
		o := WorkspaceScope{
			Reading: reads(), Control: emit("control", observe.CredentialA, 202, ""), Unknown: emit("unknown", observe.CredentialA, 404, "not_found"),
			ForeignControl: &control, Foreign: &foreign, Own: &own, OwnStream: &bound,
		}
		change(&o)
		return o
	}
	set := func(e observe.Emit) *observe.Emit { return &e }
	for _, c := range []struct {
		name string
		o    any
		want outcome
	}{
		{"conforming", right(func(*WorkspaceScope) {}), pass()},
		{"lawful: nothing known but that one does not exist", right(func(o *WorkspaceScope) {
			o.ForeignControl, o.Foreign, o.Own, o.OwnStream = nil, nil, nil, nil
		}), pass("no-foreign-workspace")},
		{"lawful: an unknown one is forbidden", right(func(o *WorkspaceScope) { o.Unknown = emit("unknown", "a", 403, "id_tenant_mismatch") }), pass("refusal-of-workspace")},
		{"lawful: a foreign one is not found", right(func(o *WorkspaceScope) { o.Foreign = set(emit("foreign", "b", 404, "not_found")) }), pass("refusal-of-workspace")},
		{"lawful: the other key may not trigger", right(func(o *WorkspaceScope) {
			o.ForeignControl, o.Foreign = set(emit("foreign control", "b", 403, "forbidden")), set(emit("foreign", "b", 403, "forbidden"))
		}), pass("no-foreign-trigger")},
		{"lawful: the tenant's key may not reach into its workspace", right(func(o *WorkspaceScope) { o.Own = set(emit("own", "a", 403, "forbidden")) }), pass("own-workspace")},
		{"an unknown one is taken", right(func(o *WorkspaceScope) { o.Unknown = emit("unknown", "a", 202, "") }), convicts("unknown-workspace-refused")},
		{"an unknown one is a bad request", right(func(o *WorkspaceScope) { o.Unknown = emit("unknown", "a", 400, "validation_error") }), convicts("unknown-workspace-refused")},
		{"a foreign one is taken", right(func(o *WorkspaceScope) { o.Foreign = set(emit("foreign", "b", 202, "")) }), convicts("foreign-workspace-refused")},
		{"an event that does not say whose it is", right(func(o *WorkspaceScope) {
			o.OwnStream.Segments[0].Chunks[0].Bytes = observe.Text(frameText(*o.Own))
		}), convicts("workspace-carried")},
		{"an event that names another workspace", right(func(o *WorkspaceScope) { o.Own.Workspace = "w-2" }), convicts("workspace-carried")},
		{"undecided: no event without a workspace", right(func(o *WorkspaceScope) { o.Control = emit("control", "a", 403, "forbidden") }), undecided(registry.UnexpectedAnswer)},
		{"undecided: a rate", right(func(o *WorkspaceScope) { o.Unknown = emit("unknown", "a", 429, "rate_limited") }), undecided(registry.RateTooLow)},
		{"undecided: nothing recorded", WorkspaceScope{}, undecided(registry.Unreachable)},
	} {
		t.Run(c.name, func(t *testing.T) { expect(t, "0241.trigger.workspace-scope", c.o, c.want) })
	}
}
