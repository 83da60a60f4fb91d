package hostevents

import (
	"github.com/wopwitness/wopwitness/scenarios/registry"
	"github.com/wopwitness/wopwitness/witness"
	"github.com/wopwitness/wopwitness/witness/observe"
)

// Isolation is a subscriber among events that are not for it. Theirs were shown by a stream that they are for, which is
// how they are known to exist; Own are the subscriber's. The resumed stream was opened after the first of each, at the
// event labelled Cursor, and the sentinel is the last of Own, sent after all of Theirs were shown.
type Isolation struct {
	Reading
	Observer observe.Subscription `json:"observer"` // the subscriber's own live stream
	Theirs   []observe.Emit       `json:"theirs"`
	Other    observe.Subscription `json:"other"` // a stream that Theirs are for
	Own      []observe.Emit       `json:"own"`
	Cursor   string               `json:"cursor"`
	Resumed  observe.Subscription `json:"resumed"`
	// Passing are ephemeral ones of theirs, sent while the resumed stream was open, and Window is how long the streams were
	// read after the sentinel for what has no commit order.
	Passing []observe.Emit `json:"passing,omitempty"`
	Window  observe.Micros `json:"window,omitempty"`
	// Theirs as their own key resumes them, at the first of them.
	Within *observe.Subscription `json:"within,omitempty"`
	// The refusals that the subscriber is given for an unknown cursor and for the first of Theirs. They are there where the
	// subscriber and they are of one tenant.
	Unknown   *observe.Stream `json:"unknown,omitempty"`
	Invisible *observe.Stream `json:"invisible,omitempty"`
}

// JudgeTenantBacklog judges 0250.tenant-backlog (RFC 0250 §B, §D): another tenant's events are neither in a tenant's
// backlog nor in what follows it live, and that other tenant has a backlog of its own, without the first one's.
func JudgeTenantBacklog(o Isolation) witness.Verdict {
	const why = "the host shows one customer's events to another"
	v := o.judge("another tenant", why)
	o.within(&v, "none of the second tenant's events is replayed to it", "what the host promises to every tenant it keeps for one")
	if o.Within != nil && len(o.Theirs) > 1 {
		theirs := accountOf(o.Reading, "the other tenant's resumed stream", *o.Within, o.Other, o.Theirs, o.Own)
		if theirs.opened() {
			theirs.never(&v, "own-not-replayed-to-them", sectionViews, why, o.Own, o.Theirs[len(o.Theirs)-1], o.Quiet)
		}
	}
	return v
}

const sectionViews = "RFC 0250 §D"

// JudgeWorkspaceBacklog judges 0250.workspace-backlog (RFC 0250 §B, §D): the events of a workspace that the subscriber
// is not within are neither in its backlog nor in what follows it live, and to who is within they are replayed. One of
// them as a cursor is refused to the subscriber like any other.
func JudgeWorkspaceBacklog(o Isolation) witness.Verdict {
	v := o.judge("a workspace that the subscriber is not within", "the host shows a workspace's events to someone whom it keeps out of it")
	o.within(&v, "none of a workspace's events is replayed to a key that is bound to it",
		"whoever works in a workspace is shown its events live, and loses all that it was away for")
	o.invisible(&v)
	return v
}

// within checks that a key which the events are for is replayed some of them. Whether a replay is whole is another leg's
// question.
func (o Isolation) within(v *witness.Verdict, says, why string) {
	if o.Within == nil || len(o.Theirs) < 2 {
		return
	}
	a := accountOf(o.Reading, "the stream resumed by a key that they are for", *o.Within, o.Other, o.Theirs)
	if !a.resumed(v) {
		return
	}
	came := false
	for _, e := range o.Theirs[1:] {
		if a.count(e) == 0 && !a.waitedFor(e, nil) {
			v.Undecide(registry.Timeout, "%s: reading stopped before %s had been given its time", a.name, e.Label)
			return
		}
		came = came || a.count(e) > 0
	}
	v.Check("replayed-within", came, func() witness.Finding {
		return witness.Finding{
			Says: says, Expected: some(labels(o.Theirs[1:])), Got: a.story(), Why: why, Section: sectionResume,
		}
	})
}

// invisible compares the refusal of a cursor that names an event outside the subscriber's view. The text guarantees
// resumption for a visible event only; that a host resumes at another one is noted.
func (o Isolation) invisible(v *witness.Verdict) {
	switch {
	case o.Unknown == nil || o.Invisible == nil:
	case o.Invisible.Opened():
		v.Note("resumed-at-invisible", "a cursor that names an event of a workspace that the subscriber is not within is resumed")
	default:
		uniformRefusal(v, "invisible-like-unknown", "the cursor of an event outside the caller's view", *o.Unknown, "invisible", *o.Invisible,
			"the answer tells that the id exists in a workspace that the caller is kept out of")
	}
}

func (o Isolation) judge(whose, why string) witness.Verdict {
	var v witness.Verdict
	const section = sectionViews
	sentinel := observe.Emit{}
	if len(o.Own) > 0 {
		sentinel = o.Own[len(o.Own)-1]
	}
	if len(o.Theirs) == 0 || sentinel.EventID == "" || find(o.Own, o.Cursor).EventID == "" {
		v.Undecide(registry.Unreadable, "the observation has no events of %s, or none of the subscriber's", whose)
		return v
	}
	control := accountOf(o.Reading, "their own stream", o.Other, o.Other, o.Theirs)
	live := accountOf(o.Reading, "the live stream", o.Observer, o.Observer, o.Own, o.Theirs)
	resumed := accountOf(o.Reading, "the resumed stream", o.Resumed, o.Observer, o.Own, o.Theirs)
	if !resumed.opened() {
		v.Undecide(registry.UnexpectedAnswer, "the cursor was not resumed, so there is no backlog: %s", resumed.answer())
		return v
	}
	opened := o.Resumed.Segments[0].SentAt
	var old, fresh []observe.Emit
	for _, e := range o.Theirs {
		at, shown := control.observed[e.EventID]
		switch {
		case !shown:
			v.Undecide(registry.Timeout, "%s of %s was shown by no stream, so its absence says nothing", e.Label, whose)
		case at < opened:
			old = append(old, e)
		default:
			fresh = append(fresh, e)
		}
	}
	if len(old) > 0 {
		resumed.never(&v, "not-replayed", section, why, old, sentinel, o.Quiet)
	}
	if len(fresh) > 0 {
		resumed.never(&v, "not-live-after-backlog", section, why, fresh, sentinel, o.Quiet)
	}
	live.never(&v, "not-live", section, why, o.Theirs, sentinel, o.Quiet)
	o.passing(&v, why, sentinel)
	return v
}

// passing checks that none of their ephemeral events came: each was shown by a stream that it is for, or it says nothing.
func (o Isolation) passing(v *witness.Verdict, why string, sentinel observe.Emit) {
	control := accountOf(o.Reading, "their own stream", o.Other, o.Other, o.Passing)
	var shown []observe.Emit
	for _, e := range o.Passing {
		if control.count(e) > 0 {
			shown = append(shown, e)
		}
	}
	if len(shown) == 0 {
		if len(o.Passing) > 0 {
			v.Note("ephemeral-not-seen", "no ephemeral event of theirs was shown to them, so its absence elsewhere says nothing")
		}
		return
	}
	for _, s := range []struct {
		check, name string
		stream      observe.Subscription
	}{{"no-ephemeral-on-resumed", "the resumed stream", o.Resumed}, {"no-ephemeral-live", "the live stream", o.Observer}} {
		a := accountOf(o.Reading, s.name, s.stream, o.Observer, o.Own, o.Passing)
		a.never(v, s.check, sectionViews, why, shown, sentinel, max(o.Quiet, o.Window))
	}
}
