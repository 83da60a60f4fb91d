package agentdlq

import (
	"fmt"
	"strings"

	"github.com/wopwitness/wopwitness/scenarios/registry"
	"github.com/wopwitness/wopwitness/witness"
	"github.com/wopwitness/wopwitness/witness/observe"
)

func burstJudges() map[registry.LegID]witness.Judge {
	return map[registry.LegID]witness.Judge{
		"agentdlq.burst.back-pressure": witness.Of(JudgeBackPressure),
		"agentdlq.burst.accounted":     witness.Of(JudgeAccounted),
		"agentdlq.burst.queue-bounded": witness.Of(JudgeQueueBounded),
	}
}

// DidOffer is a message that was sent once, whether the host takes it or not. Of is its role.
const DidOffer Did = "offer"

// DidFate is a reading of a message that was offered, which may not be there: a host that drops what it took is one that this
// is about. Of is its role.
const DidFate Did = "fate"

// fate is what became of an offered message, as its status or as how it was answered.
func (b *bench) fate(role string) string {
	x := b.one(DidFate, role)
	if m := MessageOf(x); m.Status != "" {
		return m.Status
	}
	return brief(x)
}

// offers are the roles of what was offered, in order, with the answers.
func (s Scene) offers() (roles []string, answers []observe.Exchange) {
	for _, step := range s.Steps {
		if step.Did == DidOffer && len(step.Exchanges) > 0 {
			roles, answers = append(roles, step.Of), append(answers, step.Exchanges[len(step.Exchanges)-1])
		}
	}
	return roles, answers
}

// refusedWell says whether an answer pushes back as the page says: 429 or 503, and when to come again.
func refusedWell(x observe.Exchange) bool {
	return (x.Status() == 429 || x.Status() == 503) && x.Response.Header("Retry-After") != ""
}

// JudgeBackPressure judges agentdlq.burst.back-pressure: as many messages as the host says may wait, the rest is pushed
// back and nothing of it is kept, and all that was taken comes to its end.
func JudgeBackPressure(s Scene) witness.Verdict {
	return judge(s, operating, "a burst is swallowed and lost, or takes the host down", func(b *bench) {
		roles, answers := b.During("").offers()
		capacity := int(b.Numbers.IntakeCapacity)
		taken := 0
		var odd []string
		for i, x := range answers {
			switch {
			case x.Status() == 202:
				taken++
			case !refusedWell(x):
				odd = append(odd, roles[i]+": "+brief(x))
			}
		}
		if len(roles) <= capacity {
			b.lacks = append(b.lacks, "more messages than the host's capacity")
			return
		}
		b.hold("pushes-back", taken < len(roles), "the host took more messages at once than it says it can hold", fmt.Sprintf("at most %d", capacity), fmt.Sprintf("%d of %d taken", taken, len(roles)))
		b.hold("takes-some", taken > 0, "the host took none of a burst", fmt.Sprintf("up to %d", capacity), "none")
		b.hold("bounded", taken <= capacity, "the host took more messages at once than it says it can hold", fmt.Sprintf("at most %d", capacity), fmt.Sprintf("%d taken", taken))
		b.hold("says-when", len(odd) == 0, "a message was refused without saying when to come again", "429 or 503 with Retry-After", strings.Join(odd, "; "))
		for i, x := range answers {
			if x.Status() == 202 {
				fate := b.fate(roles[i])
				b.hold("taken-ends", fate == Completed, "a message that was taken did not come to its end", Completed, fate)
				continue
			}
			kept := b.one(DidAsk, roles[i])
			b.hold("nothing-kept", kept.Status() == 404, "something of a refused message was kept", "404", brief(kept))
		}
		b.during("afterwards", func(b *bench) {
			x := b.one(DidOffer, "afterwards")
			b.hold("takes-again", x.Status() == 202, "the host takes no message once the burst is over", "202", brief(x))
		})
	})
}

// JudgeAccounted judges agentdlq.burst.accounted: everything that was accepted ends in exactly one of completed, the
// tool queue and the message queue.
func JudgeAccounted(s Scene) witness.Verdict {
	return judge(s, operating, "work is dropped silently under load", func(b *bench) {
		in := func(entries []Entry) map[string]int {
			times := map[string]int{}
			for _, e := range entries {
				times[e.MessageID]++
			}
			return times
		}
		tools, messages := in(EntriesOf(b.read(DidQuery, "tool queue")...)), in(EntriesOf(b.read(DidQuery, "message queue")...))
		roles, answers := b.offers()
		taken := 0
		for i, x := range answers {
			role, name := roles[i], b.Names[roles[i]]
			if x.Status() != 202 {
				b.hold("refused-or-taken", refusedWell(x), "a message was neither taken nor pushed back", "202, or 429 or 503 with Retry-After", brief(x))
				b.hold("refused-left-nothing", tools[name]+messages[name] == 0 && b.one(DidAsk, role).Status() == 404, "something of a refused message was kept", "404 and no entry",
					brief(b.one(DidAsk, role)))
				continue
			}
			taken++
			fate := b.fate(role)
			got := fmt.Sprintf("%s, %d in the tool queue, %d in the message queue", fate, tools[name], messages[name])
			want := map[string]string{
				Completed:    "completed, 0 in the tool queue, 0 in the message queue",
				ToolFailed:   "tool_failed, 1 in the tool queue, 0 in the message queue",
				DeadLettered: "message_dead_lettered, 0 in the tool queue, 1 in the message queue",
			}[fate]
			b.hold("ends-in-one", got == want, fmt.Sprintf("the message %q did not end in exactly one place", role), "completed, or one entry in one queue", got)
			kind, _, _ := strings.Cut(role, " ")
			b.hold("ends-in-its-own", fate == map[string]string{"good": Completed, "failing": ToolFailed, "malformed": DeadLettered}[kind],
				fmt.Sprintf("the message %q ended elsewhere than one of its sort does", role), "the end of its sort", fate)
		}
		b.hold("some-taken", taken > 0, "the host took none of a burst", "some", "none")
	})
}

// JudgeQueueBounded judges agentdlq.burst.queue-bounded: a tool's queue takes as many entries as it says; then messages
// for that tool are pushed back, those for another are not, and one that is resolved makes room.
func JudgeQueueBounded(s Scene) witness.Verdict {
	return judge(s, operating, "a queue without bound takes the host down, and one that drops at its bound loses work", func(b *bench) {
		b.during("filling", func(b *bench) {
			_, answers := b.offers()
			taken := 0
			for _, x := range answers {
				if x.Status() == 202 {
					taken++
				}
			}
			depth, _, _ := Depth(b.one(DidQuery, "full tool"))
			b.hold("takes-its-capacity", taken == int(b.Numbers.QueueCapacity), "a queue with room refused a message", fmt.Sprintf("%d taken", b.Numbers.QueueCapacity), fmt.Sprintf("%d taken", taken))
			b.hold("none-lost", depth == Count(taken), "what failed is not all in the queue", fmt.Sprintf("%d entries", taken), depth.String())
		})
		b.during("full", func(b *bench) {
			x := b.one(DidOffer, "one more")
			b.hold("pushed-back", refusedWell(x), "a message for a tool whose queue is full was not pushed back", "429 or 503 with Retry-After", brief(x))
			kept := b.one(DidAsk, "one more")
			b.hold("nothing-kept", kept.Status() == 404, "something of a refused message was kept", "404", brief(kept))
			other := b.one(DidOffer, "for another tool")
			b.hold("others-taken", other.Status() == 202, "a full queue of one tool held up another", "202", brief(other))
		})
		b.during("with room", func(b *bench) {
			x := b.one(DidOffer, "after one was resolved")
			b.hold("takes-again", x.Status() == 202, "a message was refused though an entry had been resolved", "202", brief(x))
		})
	})
}
