package hostevents

import (
	"github.com/wopwitness/wopwitness/scenarios/registry"
	"github.com/wopwitness/wopwitness/witness"
	"github.com/wopwitness/wopwitness/witness/observe"
)

// Restarted is a subscriber that resumed after the host's process was replaced, at a cursor from before. Gone is an event
// that was removed before, where the host has the means; it isn't among Emits.
type Restarted struct {
	Suffix
	Restart observe.Restart `json:"restart"`
	Gone    *observe.Emit   `json:"gone,omitempty"`
}

// JudgeRestarted judges 0250.restart (RFC 0250 §B, §D): a retained cursor resumes whole across ordinary process replacement,
// and what was removed stays removed.
func JudgeRestarted(o Restarted) witness.Verdict {
	var v witness.Verdict
	back := o.Restart.Back
	cursor := find(o.Emits, o.Cursor)
	switch {
	case back.Status() != 200:
		v.Undecide(registry.Unreachable, "the host did not come back after its restart: %s", brief(back))
		return v
	case cursor.Answer().AnsweredAt > back.SentAt || len(o.Resumed.Segments) > 0 && o.Resumed.Segments[0].SentAt < back.AnsweredAt:
		v.Undecide(registry.Unreadable, "the restart did not fall between the cursor's event and the connection that resumed at it")
		return v
	}
	if !o.Restart.Away {
		v.Note(witness.NeverAway, "the host answered throughout its restart, as one does whose processes take turns")
	}
	const name = "the stream resumed after the restart"
	if _, resumed := o.judge(&v, name); resumed && o.Gone != nil && len(v.Findings) == 0 {
		a := accountOf(o.Reading, name, o.Resumed, o.Observer, o.Emits, []observe.Emit{*o.Gone})
		a.never(&v, "stays-removed", sectionViews, "what was deleted for a reason is back once the host was restarted",
			[]observe.Emit{*o.Gone}, o.Emits[len(o.Emits)-1], o.Quiet)
	}
	return v
}
