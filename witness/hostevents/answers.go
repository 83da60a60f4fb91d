package hostevents

import (
	"github.com/wopwitness/wopwitness/scenarios/registry"
	"github.com/wopwitness/wopwitness/witness"
	"github.com/wopwitness/wopwitness/witness/observe"
)

// answered says whether a connection got an answer that can be judged: there is one, and it does not put the caller off.
// Where there is none the verdict is undecided.
func answered(v *witness.Verdict, whose string, s observe.Stream) bool {
	switch {
	case s.Response == nil:
		v.Undecide(unreachable(s.Failure), "%s: %s", whose, failureText(s.Failure))
		return false
	case busy(s.Exchange):
		v.Undecide(registry.UnexpectedAnswer, "%s: the host asked to come back later: %s", whose, brief(s.Exchange))
		return false
	}
	return true
}

// uniformRefusal is uniform for a connection that some lawful answer may have put off.
func uniformRefusal(v *witness.Verdict, check, whose string, unknown observe.Stream, other string, got observe.Stream, why string) {
	if answered(v, "an unknown cursor", unknown) && answered(v, whose, got) {
		uniform(v, check, whose, unknown, other, got, why)
	}
}
