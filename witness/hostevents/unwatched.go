package hostevents

import (
	"github.com/wopwitness/wopwitness/witness"
)

// JudgeUnwatched judges 0250.unwatched (RFC 0250 §B): what was emitted while no subscriber of the tenant was connected is
// replayed to one that comes back. The emits behind the cursor were accepted in such a time, except for the last, the
// sentinel, which was sent on the resumed stream. Nobody saw the others, and a commit may follow the trigger's answer; so
// one convicts only where the stream showed something later and was read for its whole patience.
func JudgeUnwatched(o Suffix) witness.Verdict {
	var v witness.Verdict
	a := accountOf(o.Reading, "the stream resumed after a time without subscribers", o.Resumed, o.Resumed, o.Emits)
	a.judgeSuffix(&v, vanished(&v, o.Emits, o.Cursor, a), o.Cursor)
	return v
}
