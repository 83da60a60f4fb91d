package agentdlq

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/wopwitness/wopwitness/witness/observe"
)

// Audit is one thing that was done to an entry.
type Audit struct {
	At                            time.Time
	By, Action, Resolution, Notes string
	Raw                           string
}

// Audit reads the entry's audit trail.
func (e Entry) Audit() []Audit {
	var trail []Audit
	for _, a := range e.json.get("audit").items() {
		trail = append(trail, Audit{
			At: a.get("at").instant(), By: a.get("by").text(), Action: a.get("action").text(), Resolution: a.get("resolution").text(),
			Notes: a.get("notes").text(), Raw: a.raw(),
		})
	}
	return trail
}

// audited says whether somebody did something to the entry.
func (e Entry) audited(action, by string) bool {
	return slices.ContainsFunc(e.Audit(), func(a Audit) bool { return a.Action == action && a.By == by })
}

// Expires is when the entry is gone, the zero time where it doesn't say.
func (e Entry) Expires() time.Time { return e.json.get("expiresAt").instant() }

// Proposed reads what a repairer proposed of the entry: the payload as JSON, and how sure it was.
func (e Entry) Proposed() (payload string, confidence float64, is bool) {
	p := e.json.get("proposal")
	confidence, is = p.get("confidence").number()
	return p.get("payload").canonical(), confidence, is
}

// tries tells an entry's attempt history: "1 server_error, 2 server_error".
func (e Entry) tries() string {
	var each []string
	for _, t := range e.json.get("history").items() {
		each = append(each, t.get("attempt").count().String()+" "+t.get("outcome").text())
	}
	return strings.Join(each, ", ")
}

// fell gives the one entry of a message whose run ended at a failed tool, and holds that it did.
func (b *bench) fell(role string) (Entry, bool) {
	status := b.message(role).Status
	b.hold("status", status == ToolFailed, fmt.Sprintf("the message %q ended otherwise", role), ToolFailed, status)
	return b.entry(role)
}

// detail is the last reading of a message's entry by its id.
func (b *bench) detail(role string) Entry { return EntryOf(b.one(DidEntry, role)) }

// args are those that the leg sent to a step of a message.
func (b *bench) args(role string, index int) value {
	steps := decode(b.Last(DidSend, role).Request.Body).get("workflow").get("steps").items()
	if index >= len(steps) {
		return value{}
	}
	return steps[index].get("args")
}

// listed holds that a narrowed list shows the entries of these messages, each once, and no other.
func (b *bench) listed(query string, roles ...string) {
	entries := EntriesOf(b.read(DidQuery, query)...)
	times := map[string]int{}
	var strange []Entry
	for _, e := range entries {
		times[e.MessageID]++
		if !slices.ContainsFunc(roles, func(role string) bool { return b.Names[role] == e.MessageID }) {
			strange = append(strange, e)
		}
	}
	var missing, twice []string
	for _, role := range roles {
		switch times[b.Names[role]] {
		case 0:
			missing = append(missing, role)
		case 1:
		default:
			twice = append(twice, role)
		}
	}
	b.hold("nothing-missing", len(missing) == 0, fmt.Sprintf("the list %q leaves out what fits it", query),
		"the entries of "+strings.Join(roles, ", "), "none of "+strings.Join(missing, ", ")+" in "+told(entries))
	b.hold("each-once", len(twice) == 0, fmt.Sprintf("the list %q shows an entry twice", query), "each entry once", strings.Join(twice, ", ")+" in "+told(entries))
	alone := "no entry"
	if len(roles) > 0 {
		alone = "the entries of " + strings.Join(roles, ", ") + " alone"
	}
	b.hold("nothing-else", len(strange) == 0, fmt.Sprintf("the list %q shows what doesn't fit it", query), alone, told(strange))
}

// deep holds how many unresolved entries a narrowed list counts.
func (b *bench) deep(query string, want Count) {
	pages := b.read(DidQuery, query)
	if len(pages) == 0 {
		return
	}
	depth, _, _ := Depth(pages[0])
	b.hold("depth", depth == want, fmt.Sprintf("the list %q counts its unresolved entries wrongly", query), want.String(), depth.String())
}

// inReview gives the message's entry as a review shows it.
func (b *bench) inReview(which, role string) (Entry, bool) {
	return entryFor(b.read(DidReviews, which), b.Names[role])
}

func entryFor(pages []observe.Exchange, messageID string) (Entry, bool) {
	for _, e := range EntriesOf(pages...) {
		if e.MessageID == messageID && messageID != "" {
			return e, true
		}
	}
	return Entry{}, false
}

// reviewed holds that a message's entry waits in one review and not in the other, and is not to be replayed by itself.
func (b *bench) reviewed(role, which string) {
	other := "security"
	if which == other {
		other = "human"
	}
	shown, is := b.inReview(which, role)
	b.hold(which+"-review", is, fmt.Sprintf("the entry of %q is not in %s review", role, which), "an entry of it", b.shown(which))
	wrong, elsewhere := b.inReview(other, role)
	b.hold("not-in-"+other+"-review", !elsewhere, fmt.Sprintf("the entry of %q is in %s review", role, other), "no entry of it", wrong.Raw)
	if is {
		b.hold("no-next-replay", shown.NextReplay.IsZero(), fmt.Sprintf("the entry of %q waits for a person, and has an instant of its next replay", role), "null", shown.Raw)
		b.hold("unresolved", shown.Resolution == "unresolved", fmt.Sprintf("the entry of %q waits for a person, and is not unresolved", role), "unresolved", shown.Resolution)
	}
}

func (b *bench) shown(which string) string {
	pages := b.read(DidReviews, which)
	if len(pages) == 0 || pages[0].Status() != 200 {
		return brief(b.Last(DidReviews, which))
	}
	return fmt.Sprintf("%d entries, none of it", len(EntriesOf(pages...)))
}

// denied holds that something was answered like what isn't there.
func (b *bench) denied(check, says string, x observe.Exchange) {
	b.hold(check, x.Status() == 404 && ErrorCode(x) == "not_found", says, "404 not_found", brief(x))
}
