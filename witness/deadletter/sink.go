package deadletter

import (
	"encoding/json"
	"fmt"

	"github.com/wopwitness/wopwitness/fixtures/schema"
	"github.com/wopwitness/wopwitness/scenarios/registry"
	"github.com/wopwitness/wopwitness/witness"
	"github.com/wopwitness/wopwitness/witness/observe"
)

// Sink is a dead run, and the sink's pages as its owner and as another tenant see them. Other is empty where it was not
// asked. Days is the number that the host promises, 0 for none.
type Sink struct {
	Major int                `json:"major"`
	Days  int64              `json:"days,omitempty"`
	Run   Run                `json:"run"`
	Owner []observe.Exchange `json:"owner"`
	Other []observe.Exchange `json:"other,omitempty"`
	// Younger is a run that died once the first was listed, and that was listed as well, and Paged the owner's listing
	// then by pages of one entry.
	Younger *Run               `json:"younger,omitempty"`
	Paged   []observe.Exchange `json:"paged,omitempty"`
	// OtherBehind is what the other tenant is given behind the cursor of Behind, a page of the owner's.
	Behind      *observe.Exchange  `json:"behind,omitempty"`
	OtherBehind []observe.Exchange `json:"otherBehind,omitempty"`
}

// EntriesOf are the entries of several pages of the sink.
func EntriesOf(pages []observe.Exchange) []json.RawMessage {
	var all []json.RawMessage
	for _, x := range pages {
		if x.Status() != 200 {
			continue
		}
		var entries []json.RawMessage
		_ = json.Unmarshal(members(x.Response.Body)["entries"], &entries)
		all = append(all, entries...)
	}
	return all
}

// NextCursor is the cursor of the page after this one, "" where there is none.
func NextCursor(x observe.Exchange) string {
	if x.Response == nil {
		return ""
	}
	return str(members(x.Response.Body)["nextCursor"])
}

// EntryOf is the entry of one run, nil where there is none.
func EntryOf(pages []observe.Exchange, runID string) json.RawMessage {
	for _, e := range EntriesOf(pages) {
		if runID != "" && str(members(e)["runId"]) == runID {
			return e
		}
	}
	return nil
}

// owned says whether the owner's listing was read to its end, and otherwise leaves the verdict undecided.
func (o Sink) owned(v *witness.Verdict) bool {
	if !o.Run.died(v) {
		return false
	}
	end := lastOf(o.Owner)
	switch {
	case o.Run.RunID == "":
		v.Undecide(registry.UnexpectedAnswer, "the dead letter names no run to look for in the sink")
	case end.Status() != 200:
		v.Undecide(unreachable(end), "the sink's entries: %s", brief(end))
	case EntryOf(o.Owner, o.Run.RunID) == nil && NextCursor(end) != "":
		v.Undecide(registry.Timeout, "the sink's listing was not read to its end: %d pages", len(o.Owner))
	default:
		return true
	}
	return false
}

// JudgeInspectable judges 0053.sink.inspectable (RFC 0053 §C.1): the owner finds the dead run in the sink, with what one
// must know of it.
func JudgeInspectable(o Sink) witness.Verdict {
	o.Run = o.Run.read()
	var v witness.Verdict
	if !o.owned(&v) {
		return v
	}
	entry := EntryOf(o.Owner, o.Run.RunID)
	v.Check("entry-listed", entry != nil, func() witness.Finding {
		return witness.Finding{
			Says: "the dead run is not in the sink", Expected: "an entry for " + o.Run.RunID,
			Got: fmt.Sprintf("%d entries, none of this run", len(EntriesOf(o.Owner))), Section: sectionContract,
			Why: "a dead run that nobody can list is found by chance only",
		}
	})
	if entry == nil {
		return v
	}
	violations := schema.Validate(schema.DeadLetterEntry, entry)
	_, expires := members(entry)["expiresAt"]
	if o.Days > 0 && !expires {
		violations = append(violations, schema.Violation{Says: "missing properties: 'expiresAt'"})
	}
	v.Check("entry-form", len(violations) == 0, func() witness.Finding {
		return witness.Finding{
			Says: "the sink's entry lacks what one must know of a dead run", Expected: "runId, reason, attempts, deadLetteredAt, and expiresAt where days are promised",
			Got: short(entry) + ": " + listed(violations), Section: sectionContract,
			Why: "nobody can tell from the sink what died, why, and for how long it can still be mended",
		}
	})
	o.tell(&v, entry)
	o.paged(&v)
	return v
}

// paged checks that both runs are listed by small pages as well. A listing that has more before them than was read says
// nothing.
func (o Sink) paged(v *witness.Verdict) {
	if o.Younger == nil || len(o.Paged) == 0 {
		return
	}
	end := lastOf(o.Paged)
	missing := ""
	for _, id := range []string{o.Run.RunID, o.Younger.RunID} {
		if EntryOf(o.Paged, id) == nil {
			missing = id
		}
	}
	switch {
	case missing != "" && unanswered(v, "the sink's entries by pages of one", end):
		return
	case missing != "" && (end.Status() != 200 || NextCursor(end) != ""):
		v.Note("pages-not-read", "the sink's entries could not be read by pages of one: %s", brief(end))
		return
	}
	v.Check("entry-on-its-page", missing == "", func() witness.Finding {
		return witness.Finding{
			Says: "a dead run that the sink's listing shows is on none of its pages when they are small", Expected: "an entry for " + missing,
			Got: fmt.Sprintf("%d entries on %d pages, read to the end", len(EntriesOf(o.Paged)), len(o.Paged)), Section: sectionContract,
			Why: "whoever works through a long sink page by page never meets the run",
		}
	})
}

// tell notes where the entry and the event count differently: RFC 0053 speaks of the event alone.
func (o Sink) tell(v *witness.Verdict, entry json.RawMessage) {
	letters := accountable(o.Run.DeadLetters())
	if len(letters) > 0 && !same(members(letters[0].Payload)["attempts"], members(entry)["attempts"]) {
		v.Note("entry-counts-otherwise", "the sink's entry and the dead-letter event name different attempts")
	}
}

// JudgeScoped judges 0053.sink.scoped (RFC 0053, Unresolved questions 1): the owner's listing shows the dead run and
// another tenant's does not.
func JudgeScoped(o Sink) witness.Verdict {
	o.Run = o.Run.read()
	var v witness.Verdict
	if !o.owned(&v) {
		return v
	}
	if EntryOf(o.Owner, o.Run.RunID) == nil {
		v.Undecide(registry.UnexpectedAnswer, "the owner's own listing does not show the dead run, so its absence elsewhere says nothing")
		return v
	}
	end := lastOf(o.Other)
	if unanswered(&v, "the other tenant's listing", end) {
		return v
	}
	entry := EntryOf(o.Other, o.Run.RunID)
	if entry == nil && end.Status() >= 500 {
		v.Undecide(registry.UnexpectedAnswer, "the other tenant's listing was answered %s", brief(end))
		return v
	}
	v.Check("not-shown-to-another-tenant", entry == nil, func() witness.Finding {
		return witness.Finding{
			Says: "the sink shows one tenant's dead run to another", Expected: "no entry for " + o.Run.RunID, Got: short(entry),
			Why: whySink, Section: sectionContract,
		}
	})
	o.behind(&v)
	return v
}

const whySink = "run ids and the reasons of failures are another customer's business"

// behind checks that a cursor of the owner's opens nothing of the owner's to another tenant.
func (o Sink) behind(v *witness.Verdict) {
	if len(o.OtherBehind) == 0 {
		v.Note("no-cursor", "a page of the owner's listing had no cursor to try for another tenant")
		return
	}
	if unanswered(v, "the other tenant's listing behind the owner's cursor", lastOf(o.OtherBehind)) {
		return
	}
	var shown json.RawMessage
	for _, r := range []*Run{&o.Run, o.Younger} {
		if r != nil && shown == nil {
			shown = EntryOf(o.OtherBehind, r.RunID)
		}
	}
	v.Check("cursor-opens-nothing", shown == nil, func() witness.Finding {
		return witness.Finding{
			Says: "the cursor of one tenant's listing shows its dead runs to another", Expected: "no entry of the owner's", Got: short(shown),
			Why: whySink, Section: sectionContract,
		}
	})
}
