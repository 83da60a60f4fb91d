package agentdlq

import (
	"fmt"
	"math"
	"regexp"
	"strings"

	"github.com/wopwitness/wopwitness/scenarios/registry"
	"github.com/wopwitness/wopwitness/witness"
)

// What the repair legs look for in the words of a tool that quotes its arguments: a payload that the scripted repairer
// proposes, and the two days that stand the wrong way round in a call.
const (
	RepairedMark = "repaired-by-the-scripted-one"
	EarlierDay   = "2026-05-01"
	LaterDay     = "2026-05-02"
)

func repairJudges() map[registry.LegID]witness.Judge {
	return map[registry.LegID]witness.Judge{
		"agentdlq.repair.at-threshold":    witness.Of(JudgeAtThreshold),
		"agentdlq.repair.below-threshold": witness.Of(JudgeBelowThreshold),
		"agentdlq.repair.semantic-only":   witness.Of(JudgeSemanticOnly),
		"agentdlq.repair.rule-first":      witness.Of(JudgeRuleFirst),
	}
}

// JudgeAtThreshold judges agentdlq.repair.at-threshold: a proposal of just the threshold is replayed at once, with the
// proposed arguments.
func JudgeAtThreshold(s Scene) witness.Verdict {
	return judge(s, classifier, "a repair that is sure enough waits for a person, or the same wrong call is made again", func(b *bench) {
		e := b.detail("mended")
		b.hold("replayed", e.Resolution == "replayed" && b.message("mended").Status == Completed, "a proposal of the threshold was not replayed",
			"replayed, and the message completed", e.Resolution+", "+b.message("mended").Status)
		b.hold("told", e.audited("repair", "repairer"), "the audit trail doesn't tell the repair", "repair by repairer", trailOf(e))
		b.once("mended tool", 2)
		quoted := b.detail("quoting").json.get("lastError").get("message").text()
		b.called("quoting tool", 2)
		b.hold("proposed-arguments", strings.Contains(quoted, RepairedMark), "the replay was not made with the proposed arguments",
			"words of the tool that quote "+RepairedMark, quoted)
	})
}

// JudgeBelowThreshold judges agentdlq.repair.below-threshold: a proposal below it is a person's to judge.
func JudgeBelowThreshold(s Scene) witness.Verdict {
	return judge(s, classifier, "a guess is carried out in a customer's name, or thrown away before anyone could look at it", func(b *bench) {
		b.called("tool", 1)
		b.reviewed("message", "human")
		shown, is := b.inReview("human", "message")
		if !is {
			return
		}
		proposed := decode(b.one(DidRepairer, "tool").Request.Body)
		sure, _ := proposed.get("confidence").number()
		payload, confidence, there := shown.Proposed()
		b.hold("proposal", there && payload == proposed.get("payload").canonical(), "the review doesn't show the proposal", proposed.get("payload").canonical(), payload)
		b.hold("confidence", there && math.Abs(confidence-sure) < 1e-9, "the review doesn't show how sure the repairer was", fmt.Sprint(sure), fmt.Sprint(confidence))
	})
}

// JudgeSemanticOnly judges agentdlq.repair.semantic-only: nothing but a semantic failure is repaired. The one that is
// shows that the repairer had been at work by then.
func JudgeSemanticOnly(s Scene) witness.Verdict {
	return judge(s, classifier, "a call that was refused for what it is gets rewritten until it passes", func(b *bench) {
		if e := b.detail("semantic"); e.Resolution != "replayed" {
			b.v.Undecide(registry.NoCause, "the semantic failure, which is there to show that the repairer works, was not repaired: %s", e.Resolution)
			return
		}
		for _, kind := range []string{"bad_request", "server_error", "unauthorized", "unreachable"} {
			e := b.detail(kind)
			b.hold("not-repaired", e.Resolution == "unresolved" && !e.audited("repair", "repairer"), fmt.Sprintf("a failure of kind %q was repaired", kind),
				"unresolved, and no repair in the audit trail", e.Raw)
			if kind != "unreachable" {
				b.hold("not-called-again", len(b.tool(kind+" tool").Calls) == 1, fmt.Sprintf("the tool of a failure of kind %q was called again", kind), "1 call",
					calling(b.tool(kind+" tool").Calls))
			}
			_, _, proposed := e.Proposed()
			b.hold("no-proposal", !proposed, fmt.Sprintf("a failure of kind %q has a proposal", kind), "none", e.Raw)
		}
	})
}

var startAs = regexp.MustCompile(`start\W+([0-9]{4}-[0-9]{2}-[0-9]{2})`)

// RuleConfidence is how sure the rule-based repairer is of the one thing that it knows.
const RuleConfidence = 0.9

// JudgeRuleFirst judges agentdlq.repair.rule-first: where a rule knows the repair, no model is asked.
func JudgeRuleFirst(s Scene) witness.Verdict {
	return judge(s, classifier, "a model is paid to guess what a rule knows", func(b *bench) {
		e := b.detail("message")
		quoted := e.json.get("lastError").get("message").text()
		b.called("tool", 2)
		b.hold("not-the-model's", !strings.Contains(quoted, RepairedMark), "the scripted repairer's proposal was taken before the rule's", "arguments with start and end swapped", quoted)
		found := startAs.FindStringSubmatch(quoted)
		b.hold("swapped", found != nil && found[1] == EarlierDay, "the replay was not made with start and end swapped", "a start of "+EarlierDay, quoted)
	})
}
