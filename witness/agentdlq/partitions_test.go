package agentdlq

import (
	"fmt"
	"testing"
)

// The rounds of a partitions leg, as a host may show them.
const (
	asideOf  = "aside"
	behindIt = "behind"
	atOnce   = "at once"
)

// round shows how one round went: the call beside the flood, behind it, or with no flood to be behind.
func (h *shown) round(i int, how string) {
	round := Round(i)
	slow, quick := SlowTool(round), QuickTool(round)
	flood := func(h *shown, from, to int) {
		for n := from; n < to; n++ {
			h.called(slow, fmt.Sprint("flood ", n), 0, "ok")
		}
	}
	h.message(QuickMessage(round), Completed)
	flood(h.part(WhenSent), 0, map[string]int{asideOf: 2, behindIt: 2, atOnce: 8}[how])
	flood(h, 0, 4)
	if how == asideOf {
		h.called(quick, QuickMessage(round), 0, "ok")
	}
	flood(h, 4, 8)
	if how != asideOf {
		h.called(quick, QuickMessage(round), 0, "ok")
	}
}

func rounds(how ...string) func(*shown) {
	return func(h *shown) {
		*h = *newShown()
		for i, way := range how {
			h.round(i, way)
		}
	}
}

func TestJudgePartitions(t *testing.T) {
	right := func() *shown {
		h := newShown()
		h.round(0, asideOf)
		return h
	}
	try(t, JudgePartitions, right, []shows{
		{"behind the whole flood, each time", rounds(behindIt, behindIt, behindIt, behindIt, behindIt), "not-held-up"},
		{"and in rounds without one nothing", rounds(atOnce, behindIt, behindIt, atOnce, behindIt, behindIt, behindIt), "not-held-up"},
		{"behind it, too few times to tell", rounds(behindIt, behindIt, behindIt, behindIt), "undecided no-cause"},
		{"lawful: a busy machine at first", rounds(behindIt, behindIt, asideOf), "pass"},
		{"lawful: everything at once", rounds(atOnce, atOnce), "pass no-queue"},
		{"lawful: nothing to be behind at first", rounds(atOnce, asideOf), "pass"},
		{"behind it, where there was a flood", rounds(behindIt, atOnce), "undecided no-cause"},
		{"never", func(h *shown) { h.messages[QuickMessage(Round(0))]["status"] = "queued" }, "completed"},
		{"not called", func(h *shown) { h.tools[QuickTool(Round(0))]["calls"] = []any{} }, "undecided unreadable"},
	})
}
