package agentdlq

import (
	"fmt"
	"time"

	"github.com/wopwitness/wopwitness/scenarios/registry"
	"github.com/wopwitness/wopwitness/witness"
)

func recoverJudges() map[registry.LegID]witness.Judge {
	return map[registry.LegID]witness.Judge{
		"agentdlq.recover.back-off":                     witness.Of(JudgeBackOff),
		"agentdlq.recover.jitter":                       witness.Of(JudgeJitter),
		"agentdlq.recover.cap":                          witness.Of(JudgeCap),
		"agentdlq.recover.replays-transient":            witness.Of(JudgeReplaysTransient),
		"agentdlq.recover.limit":                        witness.Of(JudgeLimit),
		"agentdlq.recover.schema-reviewed":              witness.Of(JudgeSchemaReviewed),
		"agentdlq.recover.unavailable-reviewed":         witness.Of(JudgeUnavailableReviewed),
		"agentdlq.recover.authorization-never-replayed": witness.Of(JudgeAuthorization),
		"agentdlq.recover.context-gone":                 witness.Of(JudgeContextGone),
	}
}

// The back-off of an entry: the first second, the longest, and the part of it that chance may add.
const (
	firstBackOff   = 30 * time.Second
	longestBackOff = time.Hour
	jitterOf       = 5 // a fifth
	// rounding is what writing instants to the millisecond may take or add.
	rounding = 2 * time.Millisecond
)

// BackOff is how long an entry of so many attempts waits at least.
func BackOff(attempts int64) time.Duration {
	if attempts >= 7 {
		return longestBackOff // 30 s · 2^7 is more than an hour
	}
	return min(firstBackOff<<max(attempts, 0), longestBackOff)
}

// JitterBeyond is the longest that chance may add to a back-off.
func JitterBeyond(backOff time.Duration) time.Duration { return backOff / jitterOf }

// due holds when the entry of a message is next replayed, and gives its wait.
func (b *bench) due(role string, attempts Count) (time.Duration, bool) {
	e, is := b.fell(role)
	if !is {
		return 0, false
	}
	b.hold("attempts", e.Attempts == attempts, fmt.Sprintf("the entry of %q counts its attempts wrongly", role), attempts.String(), e.Attempts.String())
	least := BackOff(int64(attempts))
	most := least + JitterBeyond(least)
	wait := e.NextReplay.Sub(e.LastAttempted)
	named := !e.NextReplay.IsZero() && !e.LastAttempted.IsZero()
	got := "lastAttemptedAt or nextReplayAt missing: " + e.Raw
	if named {
		got = wait.String()
	}
	says := fmt.Sprintf("an entry of %s attempts is replayed at the wrong time", attempts)
	b.hold("not-too-soon", named && wait >= least-rounding, says, fmt.Sprintf("%s to %s after the last attempt", least, most), got)
	b.hold("not-too-late", named && wait <= most+rounding, says, fmt.Sprintf("%s to %s after the last attempt", least, most), got)
	return wait, named
}

const whyBackOff = "a tool that is down is beaten while it is down, or mended failures lie about"

// JudgeBackOff judges agentdlq.recover.back-off: the wait doubles with each attempt.
func JudgeBackOff(s Scene) witness.Verdict {
	return judge(s, classifier, whyBackOff, func(b *bench) {
		b.due("one attempt", 1)
		b.due("two attempts", 2)
		b.due("three attempts", 3)
	})
}

// JudgeCap judges agentdlq.recover.cap: the wait grows to an hour and no further.
func JudgeCap(s Scene) witness.Verdict {
	return judge(s, classifier, whyBackOff, func(b *bench) {
		b.due("six attempts", 6)
		b.due("seven attempts", 7)
		b.due("eleven attempts", 11)
	})
}

// JitterEntries is how many entries of one number of attempts the jitter leg compares.
const JitterEntries = 8

// JudgeJitter judges agentdlq.recover.jitter: entries of one kind don't all come due at one instant of their age.
func JudgeJitter(s Scene) witness.Verdict {
	return judge(s, classifier, "all that failed together is replayed together, and knocks the tool over again", func(b *bench) {
		waits := map[time.Duration]bool{}
		for i := range JitterEntries {
			if wait, named := b.due(fmt.Sprintf("message %d", i), 1); named {
				waits[wait.Round(rounding)] = true
			}
		}
		b.hold("drawn-anew", len(waits) > 1, "entries that failed alike wait for one and the same time", "waits drawn for each entry anew", fmt.Sprint(waits))
	})
}

// JudgeReplaysTransient judges agentdlq.recover.replays-transient: a failure of the infrastructure is replayed by itself
// when it is due, and no sooner.
func JudgeReplaysTransient(s Scene) witness.Verdict {
	return judge(s, classifier, "work that would go through now waits for a person", func(b *bench) {
		b.during("before it is due", func(b *bench) {
			b.hold("not-early", len(b.tool("tool").Calls) == 1, "the entry was replayed before it was due", "1 call", calling(b.tool("tool").Calls))
		})
		b.during("once it is due", func(b *bench) {
			e := b.detail("message")
			b.hold("replayed", e.Resolution == "replayed", "the entry was not replayed", "replayed", e.Resolution)
			b.hold("told", e.audited("replay", "recovery"), "the audit trail doesn't tell the replay", "replay by recovery", trailOf(e))
			b.hold("run-goes-on", b.message("message").Status == Completed, "the run didn't go on to its end", Completed, b.message("message").Status)
			b.once("tool", 2)
		})
	})
}

// once holds that a tool was called so often, and did its side effect once.
func (b *bench) once(role string, callsWanted int) {
	b.called(role, callsWanted)
	effects := b.tool(role).Effects
	b.hold("one-effect", effects == 1, fmt.Sprintf("the tool %q did its side effect %s times", role, effects), "1", effects.String())
}

// JudgeLimit judges agentdlq.recover.limit: what fails at each replay goes to a person in the end.
func JudgeLimit(s Scene) witness.Verdict {
	return judge(s, classifier, "a failure that doesn't pass is replayed for ever, and nobody is told", func(b *bench) {
		want := Count(1 + b.Numbers.AutomaticReplays)
		e := b.detail("message")
		b.called("tool", int(want))
		b.hold("attempts", e.Attempts == want, "the entry counts its attempts wrongly", want.String(), e.Attempts.String())
		b.reviewed("message", "human")
	})
}

// JudgeSchemaReviewed judges agentdlq.recover.schema-reviewed: arguments of a wrong form are a person's business.
func JudgeSchemaReviewed(s Scene) witness.Verdict {
	return judge(s, classifier, "a call that can't succeed as it is gets replayed, or is forgotten", func(b *bench) {
		b.reviewed("bad_request", "human")
	})
}

// JudgeUnavailableReviewed judges agentdlq.recover.unavailable-reviewed: a tool that isn't there is a person's business.
func JudgeUnavailableReviewed(s Scene) witness.Verdict {
	return judge(s, classifier, "a tool that is gone is called again and again, or nobody is told that it is", func(b *bench) {
		b.reviewed("gone", "human")
		b.reviewed("unreachable", "human")
	})
}

// JudgeAuthorization judges agentdlq.recover.authorization-never-replayed: a refused credential goes to security review;
// neither time nor a drain replays it, and a person can.
func JudgeAuthorization(s Scene) witness.Verdict {
	return judge(s, classifier, "an agent that tries what it may not is let try again until it may", func(b *bench) {
		b.during("in time", func(b *bench) {
			b.reviewed("message", "security")
			b.called("tool", 1)
		})
		b.during("by a drain", func(b *bench) {
			d := DrainOf(b.one(DidDrain, "tool"))
			b.hold("passed-over", d.Over() && d.Replayed == 0, "a drain replayed an entry that is in security review", "a drain that ended with 0 replayed",
				fmt.Sprintf("%s, %s replayed", d.State, d.Replayed))
			b.hold("drain-calls", len(b.tool("tool").Calls) == 1, "a drain had the tool called", "1 call", calling(b.tool("tool").Calls))
		})
		b.during("by a person", func(b *bench) {
			e := b.detail("message")
			b.hold("by-a-person", e.Resolution == "replayed" && len(b.tool("tool").Calls) == 2, "a person could not replay the entry", "replayed, with a second call",
				e.Resolution+"; "+calling(b.tool("tool").Calls))
		})
	})
}

// JudgeContextGone judges agentdlq.recover.context-gone: what can't be replayed for want of its conversation says so, and
// goes to a person.
func JudgeContextGone(s Scene) witness.Verdict {
	return judge(s, classifier, "work is replayed without what the model knew, or waits for a replay that can't be", func(b *bench) {
		x := b.one(DidReplay, "message")
		b.hold("says-so", x.Status() == 409 && ErrorCode(x) == "conversation_expired", "a replay without its conversation was not refused as one", "409 conversation_expired", brief(x))
		b.during("after", func(b *bench) {
			b.called("tool", 1)
			b.reviewed("message", "human")
		})
	})
}
