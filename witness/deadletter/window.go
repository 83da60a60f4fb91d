package deadletter

import (
	"time"

	"github.com/wopwitness/wopwitness/scenarios/registry"
	"github.com/wopwitness/wopwitness/witness"
	"github.com/wopwitness/wopwitness/witness/observe"
)

// What a promise of N days is held to. A sweep once a day is lawful, and nobody's clock is exact to the second.
const (
	floorSlack   = 60 * time.Second
	purgeSlack   = 25 * time.Hour
	nearEnough   = 10 * time.Minute // before the floor: further away from it, being there proves little
	longestDays  = 36500
	hoursPerDays = 24 * time.Hour
)

// Window is the time a host keeps a dead run for, by its own events and its own clock. Before was read before the run
// was made, and After once it was dead: they stand in for a timestamp that the log does not show.
type Window struct {
	Days   int64            `json:"days"`
	Before observe.Exchange `json:"before"`
	After  observe.Exchange `json:"after"`
}

// HostTime is what an answer of the clock seam says the time is.
func HostTime(x observe.Exchange) (time.Time, bool) {
	if x.Status() != 200 {
		return time.Time{}, false
	}
	return observe.Instant(str(members(x.Response.Body)["now"]))
}

// Ends gives the last moment at which the run must still be there, and the first at which it must be gone. It says false
// where no moment can be told.
func (w Window) Ends(r Run) (floor, purged time.Time, ok bool) {
	earliest, latest, ok := w.death(r)
	if !ok || w.Days < 1 || w.Days > longestDays {
		return time.Time{}, time.Time{}, false
	}
	kept := time.Duration(w.Days) * hoursPerDays
	return earliest.Add(kept - floorSlack), latest.Add(kept + purgeSlack), true
}

// death gives the earlier and the later of the moments at which the run was dead-lettered and ended.
func (w Window) death(r Run) (earliest, latest time.Time, ok bool) {
	log := r.Log()
	for _, events := range [][]Event{log.DeadLetters(), log.Terminals()} {
		at, shown := time.Time{}, false
		if len(events) > 0 {
			at, shown = events[0].At()
		}
		from, to := at, at
		if !shown {
			var okFrom, okTo bool
			from, okFrom = HostTime(w.Before)
			to, okTo = HostTime(w.After)
			if !okFrom || !okTo {
				return earliest, latest, false
			}
		}
		if earliest.IsZero() || from.Before(earliest) {
			earliest = from
		}
		if latest.IsZero() || to.After(latest) {
			latest = to
		}
	}
	return earliest, latest, true
}

// Looked is what was asked of a run at one moment of its window, with the host's clock read before and after.
type Looked struct {
	ClockBefore observe.Exchange `json:"clockBefore"`
	Snapshot    observe.Exchange `json:"snapshot"`
	Poll        observe.Exchange `json:"poll"`
	Stream      observe.Stream   `json:"stream"`
	Fork        observe.Exchange `json:"fork"`
	Branch      observe.Exchange `json:"branch,omitzero"` // asked for where the run branched when it had just died
	ClockAfter  observe.Exchange `json:"clockAfter"`
	// List is the owner's list of runs, where the host has one and it was asked for.
	List *observe.Exchange `json:"list,omitempty"`
}

// insideWindow says whether everything was asked before the floor and near it, and otherwise leaves the verdict
// undecided.
func (l Looked) insideWindow(v *witness.Verdict, floor time.Time) bool {
	from, okFrom := HostTime(l.ClockBefore)
	to, okTo := HostTime(l.ClockAfter)
	switch {
	case !okFrom || !okTo:
		v.Undecide(registry.UnexpectedAnswer, "the host's clock could not be read around the question: %s", brief(l.ClockAfter))
	case to.After(floor):
		v.Undecide(registry.ClockMoved, "the run's time was over when it was asked for")
	case from.Before(floor.Add(-nearEnough)):
		v.Undecide(registry.ClockMoved, "the host's clock stood long before the end of the run's time when it was asked for")
	default:
		return true
	}
	return false
}

// afterWindow says whether everything was asked after the run had to be gone.
func (l Looked) afterWindow(v *witness.Verdict, purged time.Time) bool {
	from, ok := HostTime(l.ClockBefore)
	switch {
	case !ok:
		v.Undecide(registry.UnexpectedAnswer, "the host's clock could not be read before the question: %s", brief(l.ClockBefore))
	case from.Before(purged):
		v.Undecide(registry.ClockMoved, "the run's time and the day for a sweep were not over when it was asked for")
	default:
		return true
	}
	return false
}

// gone says whether the status is that of a run that is not there any more.
func gone(status int) bool { return status == 404 || status == 410 }

// unanswered leaves the verdict undecided where the answer says nothing of the run: none came, the host was busy, or it
// failed.
func unanswered(v *witness.Verdict, what string, x observe.Exchange) bool {
	switch {
	case x.Response == nil:
		v.Undecide(unreachable(x), "%s: %s", what, brief(x))
	case x.Status() == 401, x.Status() == 429, x.Status() == 503:
		v.Undecide(registry.UnexpectedAnswer, "%s was answered %s", what, brief(x))
	default:
		return false
	}
	return true
}
