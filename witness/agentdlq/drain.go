package agentdlq

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/wopwitness/wopwitness/scenarios/registry"
	"github.com/wopwitness/wopwitness/witness"
	"github.com/wopwitness/wopwitness/witness/observe"
)

const draining = "Drains"

// Parts of the legs of drains, and what they call their queries.
const (
	Again     = "again"
	Full      = "both there"
	Discarded = "one discarded"
	Empty     = "both resolved"
)

// Older is by how much an entry is let grow older, in seconds of domain time.
const Older int64 = 100

// ThreeEntries are the messages of three entries, in the order in which they fail.
func ThreeEntries() []string { return []string{"first", "second", "third"} }

func drainJudges() map[registry.LegID]witness.Judge {
	return map[registry.LegID]witness.Judge{
		"agentdlq.drain.resumes":           witness.Of(JudgeDrainResumes),
		"agentdlq.drain.replay-idempotent": witness.Of(JudgeReplayIdempotent),
		"agentdlq.drain.expired-goes-on":   witness.Of(JudgeExpiredGoesOn),
		"agentdlq.drain.depth-moves":       witness.Of(JudgeDepthMoves),
		"agentdlq.drain.age-observed":      witness.Of(JudgeAge),
		"agentdlq.drain.oldest-first":      witness.Of(JudgeOldestFirst),
	}
}

// replayed is the end of a message whose entry was replayed: the entry stays, and says so.
func replayed() end { return end{states: []string{Completed}, tools: 1} }

// resolution holds what the one entry of a message says of itself.
func (b *bench) resolution(role, want string) {
	for _, e := range b.toolEntries(role) {
		b.hold("resolution", e.Resolution == want, fmt.Sprintf("the entry of the message %q says otherwise", role), want, e.Resolution)
	}
}

// drain gives the last reading of a tool's drain, and holds that it came to its end.
func (b *bench) drain(tool string) Drain {
	x := b.one(DidDrain, tool)
	d := DrainOf(x)
	b.hold("drain-done", d.State == "done", fmt.Sprintf("after %s the drain is not done", b.Patience.Duration()), "done", brief(x))
	return d
}

// JudgeDrainResumes judges agentdlq.drain.resumes: the run goes on where it failed, and what is behind that is all that is
// paid for.
func JudgeDrainResumes(s Scene) witness.Verdict {
	return judge(s, draining, "what a run had done and paid for is done and paid for again", func(b *bench) {
		d := b.drain("failing")
		b.hold("drain-counts", d.Replayed == 1 && d.Succeeded == 1 && len(d.Failed) == 0 && d.Remaining == 0, "the drain counts otherwise",
			"1 replayed, 1 succeeded, none failed, 0 remaining", brief(b.one(DidDrain, "failing")))
		b.ends("exhausted", replayed())
		b.resolution("exhausted", "replayed")
		b.called("first", 1)
		b.called("failing", 2)
		b.called("third", 1)
		before := unknown
		b.during(Before, func(part *bench) { before = part.message("exhausted").ModelCalls })
		now := b.message("exhausted").ModelCalls
		// The call of the failed step was decided before: a host may replay it as it was, or have the model decide again.
		b.hold("remaining-model-calls", before > 0 && now >= before+2 && now <= before+3, "the model was not called for the remaining steps and the answer alone",
			"2 or 3 more than before", fmt.Sprintf("%s, and %s before", now, before))
		runs := map[string]bool{}
		for _, tool := range []string{"first", "failing", "third"} {
			for _, c := range b.tool(tool).Calls {
				runs[c.RunID] = true
			}
		}
		b.hold("same-run", len(runs) == 1, "the replay is another run", "one run", fmt.Sprintf("%d runs", len(runs)))
	})
}

// JudgeReplayIdempotent judges agentdlq.drain.replay-idempotent: whoever asks again gets an answer and no second effect.
func JudgeReplayIdempotent(s Scene) witness.Verdict {
	return judge(s, entryPage, "somebody runs the script twice, and a customer pays twice", func(b *bench) {
		for _, tool := range []string{"keyed", "plain"} {
			role := "of " + tool
			b.ends(role, replayed())
			b.resolution(role, "replayed")
			took := slices.ContainsFunc(b.During("").all(DidReplay, role), func(x observe.Exchange) bool { return x.Status() == 202 })
			b.hold("replay-taken", took, "no replay of the entry was taken", "202", brief(b.one(DidReplay, role)))
			b.during(Again, func(part *bench) {
				x := part.one(DidReplay, role)
				part.hold("again-answered", x.Status() == 202 && bodyOf(x, 202).get("resolution").text() == "replayed", "a replay of what is replayed is not answered as such",
					"202, replayed", brief(x))
			})
			b.ends("behind "+tool, completed())
			t := b.tool(tool)
			b.hold("one-effect", t.Effects == 2, fmt.Sprintf("the effects of the tool %q are not those of the replay and of the message behind it", tool), "2 effects", t.Effects.String()+" effects: "+calling(t.Calls))
		}
	})
}

// JudgeExpiredGoesOn judges agentdlq.drain.expired-goes-on: one entry that can't be replayed takes no other along.
func JudgeExpiredGoesOn(s Scene) witness.Verdict {
	return judge(s, draining, "a drain of a thousand entries stops at the first bad one", func(b *bench) {
		d := b.drain("failing")
		first := b.detail("first")
		b.hold("fails-alone", len(d.Failed) == 1 && d.Failed[0].EntryID == first.ID && first.ID != "", "the drain's failures are not the one entry whose conversation is gone",
			first.ID, brief(b.one(DidDrain, "failing")))
		if len(d.Failed) == 1 {
			b.hold("status-of-its-own", d.Failed[0].Status == "conversation_expired", "the failure can't be told from another", "conversation_expired", d.Failed[0].Status)
		}
		b.hold("succeeded", d.Succeeded == 2, "the drain did not replay the others", "2 succeeded", d.Succeeded.String())
		x := b.one(DidReplay, "first")
		b.hold("replay-refused", x.Status() == 409 && ErrorCode(x) == "conversation_expired", "a person's replay of it is not refused as such", "409 conversation_expired", brief(x))
		b.ends("first", toolFailed())
		b.resolution("first", "unresolved")
		b.hold("category", first.Category == "CONTEXT_EVICTION", "an entry whose conversation is gone is taken for something else", "CONTEXT_EVICTION", first.Category)
		for _, role := range []string{"second", "third"} {
			b.ends(role, replayed())
			b.resolution(role, "replayed")
		}
	})
}

// JudgeDepthMoves judges agentdlq.drain.depth-moves.
func JudgeDepthMoves(s Scene) witness.Verdict {
	return judge(s, entryPage, "nobody sees the queue grow until the next incident", func(b *bench) {
		depths := map[string]Count{}
		for _, step := range []struct {
			when string
			want Count
		}{{Before, 0}, {Full, 2}, {Discarded, 1}, {Empty, 0}} {
			b.during(step.when, func(part *bench) {
				part.deep(step.when, step.want)
				depths[step.when] = MetricsOf(part.one(DidMetrics, "")).Depth()
			})
		}
		b.hold("metric-rises", depths[Before] != unknown && depths[Full] > depths[Before], "the metric dlq.depth doesn't rise with the entries", "more than "+depths[Before].String(), depths[Full].String())
		b.hold("metric-falls", depths[Empty] != unknown && depths[Empty] < depths[Full], "the metric dlq.depth doesn't fall with their resolution", "less than "+depths[Full].String(), depths[Empty].String())
		b.ends("two", replayed())
	})
}

// ageSlack is how much domain time may go by between a leg's steps, in seconds: a clock may run on.
const ageSlack Count = 60

// JudgeAge judges agentdlq.drain.age-observed.
func JudgeAge(s Scene) witness.Verdict {
	return judge(s, entryPage, "nobody is woken by an entry that nobody looks at", func(b *bench) {
		age := func(query string) Count {
			pages := b.read(DidQuery, query)
			if len(pages) == 0 {
				return unknown
			}
			_, oldest, _ := Depth(pages[0])
			return oldest
		}
		young, old := age("young"), age("old")
		within := func(check, says string, got, from, to Count) {
			b.hold(check, got != unknown && got >= from && got <= to, says, fmt.Sprintf("%s to %s seconds", from, to), got.String())
		}
		within("fresh", "a fresh entry is old, or has no age", young, 0, ageSlack)
		within("grows-old", "the age of the oldest entry doesn't grow with domain time", old, max(young, 0)+Count(Older)-1, max(young, 0)+Count(Older)+ageSlack)
		within("oldest-unresolved", "the age is not that of the oldest entry that is unresolved", age("young again"), 0, ageSlack)
		if pages := b.read(DidQuery, "of a tool without entries"); len(pages) > 0 {
			depth, _, idle := Depth(pages[0])
			b.hold("null-where-none", depth == 0 && idle, "a queue without an entry that fits has a depth or an age", "depth 0, oldestAgeSeconds null", brief(pages[0]))
		}
	})
}

// JudgeOldestFirst judges agentdlq.drain.oldest-first.
func JudgeOldestFirst(s Scene) witness.Verdict {
	return judge(s, draining, "what waited longest waits on, until it is gone", func(b *bench) {
		b.drain("failing")
		seen, order := map[string]time.Time{}, map[string]string{}
		for _, role := range ThreeEntries() {
			b.ends(role, replayed())
			for _, e := range b.toolEntries(role) {
				seen[e.RunID], order[e.RunID] = e.FirstSeen, role
			}
		}
		var replays []string
		wrong := false
		calls := b.tool("failing").Calls
		for i, c := range calls[min(len(calls), len(ThreeEntries())):] {
			replays = append(replays, order[c.RunID])
			if i > 0 {
				last := calls[len(ThreeEntries())+i-1]
				wrong = wrong || seen[last.RunID].After(seen[c.RunID])
			}
		}
		b.hold("oldest-first", len(replays) == len(ThreeEntries()) && !wrong, "the drain does not replay the oldest entry first", strings.Join(ThreeEntries(), ", "), strings.Join(replays, ", "))
		var listed []string
		sorted := true
		entries := EntriesOf(b.read(DidQuery, "all")...)
		for i, e := range entries {
			listed = append(listed, order[e.RunID])
			sorted = sorted && (i == 0 || !entries[i-1].FirstSeen.After(e.FirstSeen))
		}
		b.hold("listed-oldest-first", len(listed) == len(ThreeEntries()) && sorted, "the list does not show the oldest entry first", strings.Join(ThreeEntries(), ", "), strings.Join(listed, ", "))
	})
}
