package agentdlq

import (
	"fmt"
	"slices"
	"strings"

	"github.com/wopwitness/wopwitness/scenarios/registry"
	"github.com/wopwitness/wopwitness/witness"
	"github.com/wopwitness/wopwitness/witness/observe"
)

const impactSection = "Impact"

func impactJudges() map[registry.LegID]witness.Judge {
	return map[registry.LegID]witness.Judge{
		"agentdlq.impact.steps":                  witness.Of(JudgeImpactSteps),
		"agentdlq.impact.suspect-until-resolved": witness.Of(JudgeSuspects),
		"agentdlq.impact.compensation-once":      witness.Of(JudgeCompensation),
		"agentdlq.impact.active-workflows":       witness.Of(JudgeActiveWorkflows),
	}
}

// Impact is what a host says of a failed execution.
type Impact struct {
	Steps  []ImpactStep
	Active Count
}

// ImpactStep is one step of it.
type ImpactStep struct {
	Index                     Count
	Tool, State, Compensation string
	DependsOn                 []Count
}

// ImpactOf reads GET /impact.
func ImpactOf(x observe.Exchange) Impact {
	body := bodyOf(x, 200)
	impact := Impact{Active: body.get("activeWorkflows").count()}
	for _, s := range body.get("steps").items() {
		step := ImpactStep{Index: s.get("stepIndex").count(), Tool: s.get("tool").text(), State: s.get("state").text(), Compensation: s.get("compensation").text()}
		for _, d := range s.get("dependsOn").items() {
			step.DependsOn = append(step.DependsOn, d.count())
		}
		impact.Steps = append(impact.Steps, step)
	}
	return impact
}

// at gives the step of that index, an empty one where there is none.
func (i Impact) at(index Count) ImpactStep {
	for _, s := range i.Steps {
		if s.Index == index {
			return s
		}
	}
	return ImpactStep{}
}

// states tells the states in the order of the steps: "0 done, 1 failed".
func (i Impact) states() string {
	steps := slices.Clone(i.Steps)
	slices.SortStableFunc(steps, func(a, b ImpactStep) int { return int(a.Index - b.Index) })
	var each []string
	for _, s := range steps {
		each = append(each, s.Index.String()+" "+s.State)
	}
	return strings.Join(each, ", ")
}

func (b *bench) impact(role string) Impact { return ImpactOf(b.one(DidImpact, role)) }

// JudgeImpactSteps judges agentdlq.impact.steps: every step of the execution, with its state and what it rests on.
func JudgeImpactSteps(s Scene) witness.Verdict {
	return judge(s, impactSection, "how far a failure reaches is guessed", func(b *bench) {
		i := b.impact("message")
		const want = "0 done, 1 failed, 2 suspect, 3 suspect, 4 blocked"
		b.hold("states", i.states() == want, "the steps of a failed execution are told wrongly", want, i.states())
		steps := decode(b.Last(DidSend, "message").Request.Body).get("workflow").get("steps").items()
		for n, sent := range steps {
			var rests []Count
			for _, d := range sent.get("dependsOn").items() {
				rests = append(rests, d.count())
			}
			got := i.at(Count(n))
			b.hold("tools", got.Tool == sent.get("tool").text(), fmt.Sprintf("step %d is told with another tool", n), sent.get("tool").text(), got.Tool)
			b.hold("dependencies", slices.Equal(got.DependsOn, rests), fmt.Sprintf("step %d is told with other dependencies", n), fmt.Sprint(rests), fmt.Sprint(got.DependsOn))
		}
		b.denied("unknown-trace", "the impact of a trace that isn't there", b.one(DidAsk, "impact of no trace"))
	})
}

// JudgeSuspects judges agentdlq.impact.suspect-until-resolved: what depends on the failed step is suspect for as long as
// the failure is.
func JudgeSuspects(s Scene) witness.Verdict {
	return judge(s, impactSection, "results that rest on a failed step are taken for good, or good ones for suspect", func(b *bench) {
		suspects := func(i Impact) string {
			var each []string
			for _, s := range i.Steps {
				if s.State == "suspect" {
					each = append(each, s.Index.String())
				}
			}
			slices.Sort(each)
			return strings.Join(each, ", ")
		}
		for _, role := range []string{"resolved", "replayed"} {
			b.during("unresolved", func(b *bench) {
				got := suspects(b.impact(role))
				b.hold("suspect", got == "1, 2", "what depends on the failed step is not suspect while its entry is unresolved", "steps 1, 2", "steps "+got)
			})
			b.during("done with", func(b *bench) {
				i := b.impact(role)
				b.hold("answered", len(i.Steps) == 3, "the impact is no longer told", "3 steps", brief(b.one(DidImpact, role)))
				b.hold("no-longer-suspect", suspects(i) == "" && i.at(0).State != "failed", "a step is failed or suspect once the entry is "+role, "none", i.states())
			})
		}
		b.during("done with", func(b *bench) {
			got := b.impact("replayed").states()
			b.hold("done", got == "0 done, 1 done, 2 done", "the steps of a run that went on to its end are not done", "0 done, 1 done, 2 done", got)
		})
	})
}

// JudgeCompensation judges agentdlq.impact.compensation-once: a side effect that was done is offered to be undone, and is
// undone once.
func JudgeCompensation(s Scene) witness.Verdict {
	return judge(s, impactSection, "what half a workflow did stays done, or is undone twice", func(b *bench) {
		told := func(i Impact) string {
			var each []string
			for n := Count(0); n < 4; n++ {
				if c := i.at(n).Compensation; c != "" {
					each = append(each, n.String()+" "+c)
				}
			}
			return strings.Join(each, ", ")
		}
		effects := func(check, says string, b *bench, want Count) {
			got := b.tool("booking").Effects
			b.hold(check, got == want, says, want.String(), got.String())
		}
		b.during("before", func(b *bench) {
			got := told(b.impact("message"))
			b.hold("offered", got == "0 offered, 1 offered", "compensation is offered for other steps than those done with a side effect", "0 offered, 1 offered", got)
			effects("effects-before", "the tool did not do its two side effects", b, 2)
		})
		for _, when := range []string{"once", "twice"} {
			b.during(when, func(b *bench) {
				got := told(ImpactOf(b.one(DidCompensate, "message")))
				b.hold("done", got == "0 done, 1 done", "compensating is not told as done", "0 done, 1 done", got)
				check, says := "undone", "compensating did not undo the side effects"
				if when == "twice" {
					check, says = "undone-once", "compensating again undid something a second time"
				}
				effects(check, says, b, 0)
			})
		}
	})
}

// JudgeActiveWorkflows judges agentdlq.impact.active-workflows: how many executions wait for the tool that failed here.
func JudgeActiveWorkflows(s Scene) witness.Verdict {
	return judge(s, impactSection, "one customer's trouble can't be told from everyone's", func(b *bench) {
		b.during("three failed", func(b *bench) {
			got := b.impact("first").Active
			b.hold("counted", got == 3, "the executions with an unresolved entry for the tool are counted wrongly", "3", got.String())
			alone := b.impact("elsewhere").Active
			b.hold("by-tool", alone == 1, "executions that failed at another tool are counted", "1", alone.String())
		})
		b.during("one resolved", func(b *bench) {
			got := b.impact("first").Active
			b.hold("resolved-not-counted", got == 2, "an execution whose entry is resolved is counted", "2", got.String())
		})
	})
}
