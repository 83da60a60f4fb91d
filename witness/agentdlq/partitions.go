package agentdlq

import (
	"fmt"
	"slices"
	"time"

	"github.com/wopwitness/wopwitness/scenarios/registry"
	"github.com/wopwitness/wopwitness/witness"
)

// WhenSent is the part of a round in which the other message had just been accepted.
const WhenSent = "when it was sent"

// PartitionRounds is how many rounds with a flood have to show a call behind it for a conviction.
const PartitionRounds = 5

// Round names the rounds of the partitions leg, from 0.
func Round(i int) string { return fmt.Sprintf("round %d", i+1) }

// SlowTool is the role of a round's slow tool, which the flood calls.
func SlowTool(round string) string { return "slow tool of " + round }

// QuickTool is the role of its other tool.
func QuickTool(round string) string { return "quick tool of " + round }

// QuickMessage is the role of the message behind the flood.
func QuickMessage(round string) string { return "quick one of " + round }

// Held is what a round says of the call behind a flood.
type Held string

// What a round can say. NoFlood is a host that had begun every call of the flood by then: nothing was there to be held up by.
const (
	NotHeldUp Held = "not held up"
	WasHeldUp Held = "held up"
	NoFlood   Held = "no flood"
	NotShown  Held = "not shown"
)

// HeldUp reads one round: the call was held up where it came no sooner than the flood's last, some of which had not begun when
// its message was accepted.
func HeldUp(s Scene, round string) Held {
	begun := len(ToolOf(s.During(WhenSent).Last(DidTool, SlowTool(round))).Calls)
	flood, quick := s.During("").toolIn(SlowTool(round)).Calls, s.During("").toolIn(QuickTool(round)).Calls
	switch {
	case len(quick) == 0 || len(flood) == 0 || quick[0].At.IsZero():
		return NotShown
	case begun >= len(flood):
		return NoFlood
	case quick[0].At.Before(lastOf(flood)):
		return NotHeldUp
	}
	return WasHeldUp
}

func (s Scene) toolIn(role string) Tool { return ToolOf(s.Last(DidTool, role)) }

func lastOf(calls []Call) time.Time {
	return slices.MaxFunc(calls, func(x, y Call) int { return x.At.Compare(y.At) }).At
}

// JudgePartitions judges agentdlq.operate.partitions: while calls of one tool queue up, another tool is called. A busy machine
// may hold up a call as well as a host does, so it convicts where it was held up in each of several rounds; one in which the
// machine was so busy that the flood was over before it was complete says nothing.
func JudgePartitions(s Scene) witness.Verdict {
	return judge(s, operating, "one slow tool holds up everything else", func(b *bench) {
		seen := map[Held]int{}
		told := ""
		rounds := 0
		for ; ; rounds++ {
			round := Round(rounds)
			if b.find(DidMessage, QuickMessage(round)) == nil {
				break
			}
			m := b.message(QuickMessage(round))
			b.hold("completed", m.Status == Completed, "the message for the other tool didn't complete", Completed, m.Status)
			held := HeldUp(b.Scene, round)
			seen[held]++
			if quick := b.toolIn(QuickTool(round)).Calls; held == WasHeldUp {
				told = fmt.Sprintf("called at %s, and the last of %d calls of the flood at %s", quick[0].At.Format(time.RFC3339Nano),
					len(b.toolIn(SlowTool(round)).Calls), lastOf(b.toolIn(SlowTool(round)).Calls).Format(time.RFC3339Nano))
			}
		}
		if rounds == 0 || seen[NotShown] > 0 {
			b.lacks = append(b.lacks, "the calls of both tools")
			return
		}
		b.hold("not-held-up", seen[NotHeldUp] > 0 || seen[WasHeldUp] < PartitionRounds,
			fmt.Sprintf("the call of another tool waited for the whole flood, in each of %d rounds with one", seen[WasHeldUp]),
			"a call before the flood's last", told)
		switch {
		case seen[NoFlood] == rounds:
			b.v.Note("no-queue", "the host had begun every call of the flood by then, so nothing was held up by it")
		case seen[NotHeldUp] == 0 && seen[WasHeldUp] < PartitionRounds:
			b.v.Undecide(registry.NoCause, "no round of %d shows a call that was not behind its flood, and only %d had one: %d are asked for",
				rounds, seen[WasHeldUp], PartitionRounds)
		}
	})
}
