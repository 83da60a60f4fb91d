package agentdlq

import (
	"fmt"

	"github.com/wopwitness/wopwitness/scenarios/registry"
	"github.com/wopwitness/wopwitness/witness"
)

const classifier = "Classifier, recovery, repair, review"

func classifyJudges() map[registry.LegID]witness.Judge {
	of := func(category string, kinds ...string) witness.Judge {
		return witness.Of(judgeCategory(category, kinds...))
	}
	return map[registry.LegID]witness.Judge{
		"agentdlq.classify.transient":        of("TRANSIENT_INFRASTRUCTURE", "server_error", "timeout", "rate_limited", "locked"),
		"agentdlq.classify.schema":           of("SCHEMA_VALIDATION_FAILURE", "bad_request"),
		"agentdlq.classify.semantic":         of("SEMANTIC_FAILURE", "semantic"),
		"agentdlq.classify.unavailable":      of("TOOL_UNAVAILABLE", "gone", "unreachable"),
		"agentdlq.classify.authorization":    of("AUTHORIZATION_FAILURE", "unauthorized"),
		"agentdlq.classify.context-eviction": witness.Of(JudgeContextEviction),
		"agentdlq.classify.unknown-reviewed": witness.Of(JudgeUnknownReviewed),
	}
}

// judgeCategory judges the agentdlq.classify legs of one category: an entry of each of these kinds of error has it.
func judgeCategory(category string, kinds ...string) func(Scene) witness.Verdict {
	const why = "a failure is handled as if it were of another sort: replayed for nothing, or left to a person for nothing"
	return func(s Scene) witness.Verdict {
		return judge(s, classifier, why, func(b *bench) {
			for _, kind := range kinds {
				b.classified(kind, category)
			}
		})
	}
}

// classified holds the category of the one entry of a message, whose role is the kind of error.
func (b *bench) classified(kind, category string) {
	e, is := b.fell(kind)
	if !is {
		return
	}
	b.hold("kind", e.Kind == kind, fmt.Sprintf("a call that ended %q is told as another kind of error", kind), kind, e.Kind)
	got := e.Category
	if got == "" {
		got = fmt.Sprintf("none after %s", b.Patience.Duration())
	}
	b.hold("category", e.Category == category, fmt.Sprintf("a failure of kind %q has the wrong category", kind), category, got)
}

// JudgeContextEviction judges agentdlq.classify.context-eviction: an entry whose conversation is gone is found to be one
// of that sort when it can't be replayed.
func JudgeContextEviction(s Scene) witness.Verdict {
	return judge(s, classifier, "a failure that no replay can mend is taken for one that passes by itself", func(b *bench) {
		before := EntryOf(b.During("before").Last(DidEntry, "message"))
		b.hold("category-before", before.Category == "TRANSIENT_INFRASTRUCTURE", "the entry was not of the category of its failure before",
			"TRANSIENT_INFRASTRUCTURE", before.Category)
		after := EntryOf(b.During("after").Last(DidEntry, "message"))
		b.hold("category", after.Category == "CONTEXT_EVICTION", "an entry whose conversation is expired has another category", "CONTEXT_EVICTION", after.Category)
	})
}

// JudgeUnknownReviewed judges agentdlq.classify.unknown-reviewed: what the rules can't tell goes to a person.
func JudgeUnknownReviewed(s Scene) witness.Verdict {
	return judge(s, classifier, "a failure that nobody understands is replayed blindly, or forgotten", func(b *bench) {
		b.classified("malformed", "unclassified")
		b.reviewed("malformed", "human")
	})
}
