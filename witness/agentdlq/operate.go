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

const operating = "Operating"

func operateJudges() map[registry.LegID]witness.Judge {
	return map[registry.LegID]witness.Judge{
		"agentdlq.operate.pause-tool":        witness.Of(JudgePauseTool),
		"agentdlq.operate.pause-all":         witness.Of(JudgePauseAll),
		"agentdlq.operate.resume":            witness.Of(JudgeResume),
		"agentdlq.operate.batch-rate":        witness.Of(JudgeBatchRate),
		"agentdlq.operate.stops-on-failures": witness.Of(JudgeStopsOnFailures),
		"agentdlq.operate.partitions":        witness.Of(JudgePartitions),
		"agentdlq.operate.replayed-once":     witness.Of(JudgeReplayedOnce),
		"agentdlq.operate.grouped":           witness.Of(JudgeGrouped),
	}
}

// pausedBy are the names that the answer to a pause or a resume lists.
func pausedBy(x observe.Exchange) []string {
	var names []string
	for _, n := range bodyOf(x, 200).get("paused").items() {
		names = append(names, n.text())
	}
	return names
}

const whyPause = "replays go on into a tool that is known to be broken"

// replayedBy holds whether the entry of a message has been replayed by now.
func (b *bench) replayedBy(role, tool string, want bool) {
	e := b.detail(role)
	if want {
		b.hold("replayed", e.Resolution == "replayed", fmt.Sprintf("the entry of %q, which nothing holds up, was not replayed", role), "replayed", e.Resolution)
		return
	}
	calls := b.tool(tool).Calls
	b.hold("not-replayed", e.Resolution == "unresolved" && len(calls) == 1, fmt.Sprintf("the entry of %q was replayed while it was paused", role), "unresolved, 1 call",
		e.Resolution+"; "+calling(calls))
}

// JudgePauseTool judges agentdlq.operate.pause-tool: a paused tool's entries are replayed by nothing but a person, and
// another's are.
func JudgePauseTool(s Scene) witness.Verdict {
	return judge(s, operating, whyPause, func(b *bench) {
		names := pausedBy(b.one(DidPause, "paused tool"))
		b.hold("listed", slices.Contains(names, b.Names["paused tool"]), "the answer to the pause doesn't list the tool", b.Names["paused tool"], brief(b.one(DidPause, "paused tool")))
		b.during("while it is paused", func(b *bench) {
			b.replayedBy("other", "other tool", true)
			b.replayedBy("paused", "paused tool", false)
			d := DrainOf(b.one(DidDrain, "paused tool"))
			b.hold("drain-waits", d.State == "paused" && d.Replayed == 0, "a drain of a paused tool does not wait", "paused, 0 replayed", fmt.Sprintf("%s, %s replayed", d.State, d.Replayed))
		})
		b.during("by a person", func(b *bench) {
			e := b.detail("paused")
			b.hold("by-a-person", e.Resolution == "replayed", "a person's replay was held up", "replayed", e.Resolution)
		})
	})
}

// JudgePauseAll judges agentdlq.operate.pause-all: one call holds up every replay, and no new message.
func JudgePauseAll(s Scene) witness.Verdict {
	return judge(s, operating, whyPause, func(b *bench) {
		names := pausedBy(b.one(DidPause, ""))
		b.hold("listed", slices.Contains(names, "*"), "the answer to the pause doesn't say that all is paused", "*", brief(b.one(DidPause, "")))
		b.during("while all is paused", func(b *bench) {
			b.replayedBy("first", "first tool", false)
			b.replayedBy("second", "second tool", false)
			m := b.message("new")
			b.hold("messages-go-on", m.Status == Completed, "a new message was held up by a pause of replays", Completed, m.Status)
		})
	})
}

// JudgeResume judges agentdlq.operate.resume: after one call replays go on.
func JudgeResume(s Scene) witness.Verdict {
	return judge(s, operating, "what was paused for an incident stays paused after it", func(b *bench) {
		for _, of := range []string{"tool", ""} {
			x := b.one(DidResume, of)
			name := b.Names[of]
			if of == "" {
				name = "*"
			}
			b.hold("no-longer-listed", x.Status() == 200 && !slices.Contains(pausedBy(x), name), "the answer to the resumption lists what was resumed", "200, without "+name, brief(x))
		}
		b.during("while it is paused", func(b *bench) { b.replayedBy("message", "tool", false) })
		b.during("resumed", func(b *bench) { b.replayedBy("message", "tool", true) })
	})
}

// What the batch-rate leg drains.
const (
	RateEntries   = 6
	RateBatch     = 2
	RatePerSecond = 2
)

// JudgeBatchRate judges agentdlq.operate.batch-rate: a drain is no faster than it was told to be. A batch may go at once.
func JudgeBatchRate(s Scene) witness.Verdict {
	return judge(s, draining, "a tool that has just come back is knocked over by what was kept for it", func(b *bench) {
		d := DrainOf(b.one(DidDrain, "tool"))
		told := fmt.Sprintf("%s, %s replayed, %s succeeded, %s remaining", d.State, d.Replayed, d.Succeeded, d.Remaining)
		b.hold("done", d.State == "done" && d.Replayed == RateEntries && d.Succeeded == RateEntries && d.Remaining == 0, "the drain didn't replay all",
			fmt.Sprintf("done, %d replayed, %d succeeded, 0 remaining", RateEntries, RateEntries), told)
		var at []time.Time
		for _, c := range b.tool("tool").Calls {
			if c.Outcome == "ok" && !c.At.IsZero() {
				at = append(at, c.At)
			}
		}
		slices.SortFunc(at, time.Time.Compare)
		b.hold("calls", len(at) == RateEntries, "the tool was not called once for each entry", fmt.Sprint(RateEntries), calling(b.tool("tool").Calls))
		for i := range at {
			for j := i + 1; j < len(at); j++ {
				took := at[j].Sub(at[i])
				allowed := RatePerSecond*(took+rounding).Seconds() + max(RateBatch, RatePerSecond)
				b.hold("rate", float64(j-i+1) <= allowed, "the drain was faster than it was told to be",
					fmt.Sprintf("%d a second of domain time, in batches of %d", RatePerSecond, RateBatch), fmt.Sprintf("%d calls in %s", j-i+1, took))
			}
		}
	})
}

// What the stops-on-failures leg drains.
const (
	StopEntries = 6
	StopBatch   = 2
)

// JudgeStopsOnFailures judges agentdlq.operate.stops-on-failures: a drain stops after the batch of which too little
// succeeded.
func JudgeStopsOnFailures(s Scene) witness.Verdict {
	return judge(s, draining, "everything that waits is thrown at a cause that isn't mended", func(b *bench) {
		d := DrainOf(b.one(DidDrain, "tool"))
		const want = "stopped, 2 replayed, 0 succeeded, 2 failed, 4 remaining"
		told := fmt.Sprintf("%s, %s replayed, %s succeeded, %d failed, %s remaining", d.State, d.Replayed, d.Succeeded, len(d.Failed), d.Remaining)
		b.hold("stopped", told == want, "the drain didn't stop after the first batch", want, told)
		b.hold("no-more-calls", len(b.tool("tool").Calls) == StopEntries+StopBatch, "the tool was called after the drain was to stop",
			fmt.Sprintf("%d calls", StopEntries+StopBatch), fmt.Sprintf("%d calls", len(b.tool("tool").Calls)))
		for _, f := range d.Failed {
			b.hold("status", f.Status == "tool_failed", "a failed replay has another status", "tool_failed", f.Status)
		}
	})
}

// ReplayedOnceEntries is how many entries both instances are made to replay at once.
const ReplayedOnceEntries = 4

// JudgeReplayedOnce judges agentdlq.operate.replayed-once: two instances that are told to replay the same entries at
// once replay each once.
func JudgeReplayedOnce(s Scene) witness.Verdict {
	return judge(s, queues, "a customer is charged twice because two processes meant well", func(b *bench) {
		tool := b.tool("tool")
		b.hold("one-effect", tool.Effects == ReplayedOnceEntries, "two instances did a step's side effect more than once, or not at all",
			fmt.Sprint(ReplayedOnceEntries), tool.Effects.String())
		b.hold("one-replay", len(tool.Calls) == 2*ReplayedOnceEntries, "two instances replayed one entry", fmt.Sprintf("%d calls: each entry failed once and was replayed once", 2*ReplayedOnceEntries),
			calling(tool.Calls))
		for i := range ReplayedOnceEntries {
			e := b.detail(fmt.Sprintf("message %d", i))
			b.hold("replayed", e.Resolution == "replayed", "an entry that both instances were told to replay is not replayed", "replayed", e.Resolution)
		}
		var odd []string
		for i := range ReplayedOnceEntries {
			for _, step := range b.Steps {
				if step.Did != DidReplay || step.Of != fmt.Sprintf("message %d", i) {
					continue
				}
				for _, x := range step.Exchanges {
					if st := x.Status(); st != 202 && st != 409 {
						odd = append(odd, brief(x))
					}
				}
			}
		}
		b.hold("answered", len(odd) == 0, "a replay that met another was answered as neither taken nor refused", "202 or 409", strings.Join(odd, "; "))
	})
}

// JudgeGrouped judges agentdlq.operate.grouped: entries can be told by category, by tool, by both, and by age.
func JudgeGrouped(s Scene) witness.Verdict {
	return judge(s, queues, "a spike can't be told by its cause", func(b *bench) {
		b.listed("failing tool, schema", "schema 1", "schema 2")
		b.deep("failing tool, schema", 2)
		b.listed("failing tool, transient", "transient")
		b.listed("failing tool, an hour old")
		b.deep("failing tool, an hour old", 0)
		entries := EntriesOf(b.read(DidQuery, "schema")...)
		strange := slices.DeleteFunc(slices.Clone(entries), func(e Entry) bool { return e.Category == "SCHEMA_VALIDATION_FAILURE" })
		b.hold("by-category", len(strange) == 0, "the list of one category shows another", "SCHEMA_VALIDATION_FAILURE alone", told(strange))
		for _, role := range []string{"schema 1", "schema 2", "elsewhere"} {
			_, is := entryFor(b.read(DidQuery, "schema"), b.Names[role])
			b.hold("all-of-it", is, fmt.Sprintf("the list of one category leaves out the entry of %q", role), "an entry of it", fmt.Sprintf("%d entries, none of it", len(entries)))
		}
	})
}
