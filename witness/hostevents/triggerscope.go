package hostevents

import (
	"github.com/wopwitness/wopwitness/scenarios/registry"
	"github.com/wopwitness/wopwitness/witness"
	"github.com/wopwitness/wopwitness/witness/observe"
	"github.com/wopwitness/wopwitness/witness/observe/eventstream"
)

// WorkspaceScope is what the trigger made of workspaces: one that does not exist, and where the operator named one, that
// one for another tenant and for its own. Each control is an event without a workspace by the same key.
type WorkspaceScope struct {
	Reading
	Control        observe.Emit          `json:"control"`
	Unknown        observe.Emit          `json:"unknown"`
	ForeignControl *observe.Emit         `json:"foreignControl,omitempty"`
	Foreign        *observe.Emit         `json:"foreign,omitempty"`
	Own            *observe.Emit         `json:"own,omitempty"`
	OwnStream      *observe.Subscription `json:"ownStream,omitempty"` // of the key bound to the workspace
}

// JudgeWorkspaceScope judges 0241.trigger.workspace-scope (RFC 0241): a workspace of another tenant and one that does not
// exist are refused. Which of 403 and 404 a host answers is its own choice of what it discloses, and is noted.
func JudgeWorkspaceScope(o WorkspaceScope) witness.Verdict {
	var v witness.Verdict
	if control := o.Control.Answer(); unanswered(&v, "an event without a workspace", control) {
		return v
	} else if control.Status() != 202 {
		v.Undecide(registry.UnexpectedAnswer, "the trigger does not take an event without a workspace: %s", brief(control))
		return v
	}
	outOfReach(&v, "unknown-workspace-refused", "a workspace that does not exist", o.Unknown, refusal{404, "not_found"})
	switch {
	case o.Foreign == nil || o.ForeignControl == nil:
		v.Note("no-foreign-workspace", "no workspace of another tenant was known, so none was tried")
	case o.ForeignControl.Answer().Status() != 202:
		v.Note("no-foreign-trigger", "the other tenant's key cannot use the trigger, so it was not tried on a foreign workspace")
	default:
		outOfReach(&v, "foreign-workspace-refused", "a workspace of another tenant", *o.Foreign, refusal{403, "id_tenant_mismatch"})
	}
	o.own(&v)
	return v
}

func outOfReach(v *witness.Verdict, check, what string, e observe.Emit, usual refusal) {
	answer := e.Answer()
	if unanswered(v, what, answer) {
		return
	}
	status := answer.Status()
	v.Check(check, status == 403 || status == 404, func() witness.Finding {
		return witness.Finding{
			Says: "the trigger does not refuse " + what, Expected: usual.String(), Got: brief(answer), Section: sectionTrigger,
			Why: "an event is put where its caller has no business, or is taken for one that belongs to everyone",
		}
	})
	if code := errorBody(answer).Error; status == 403 || status == 404 {
		if status != usual.status || code != usual.code {
			v.Note("refusal-of-workspace", "%s is refused with %d and the code %q", what, status, clip(code))
		}
	}
}

// own checks that an event in the operator's own workspace says so.
func (o WorkspaceScope) own(v *witness.Verdict) {
	if o.Own == nil || o.OwnStream == nil {
		return
	}
	if s := o.Own.Answer().Status(); s != 202 {
		v.Note("own-workspace", "an event in the operator's own workspace is answered %d", s)
		return
	}
	for _, f := range eventstream.All(*o.OwnStream) {
		if EventOf(f) != o.Own.EventID {
			continue
		}
		e, _ := ParseEnvelope(f.Data)
		v.Check("workspace-carried", e.WorkspaceID != nil && *e.WorkspaceID == o.Own.Workspace, func() witness.Finding {
			return witness.Finding{
				Says:     "an event that belongs to a workspace does not say so",
				Expected: "workspaceId " + o.Own.Workspace, Got: clip(f.Data), Section: "RFC 0236 §Envelope",
				Why: "a subscriber cannot tell whose event it is",
			}
		})
		return
	}
	v.Note("own-workspace", "an event in the operator's own workspace was accepted and not seen on the stream of the key bound to it")
}
