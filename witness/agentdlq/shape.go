package agentdlq

import (
	"encoding/json"
	"fmt"
	"strings"

	"github.com/wopwitness/wopwitness/fixtures/schema"
	"github.com/wopwitness/wopwitness/scenarios/registry"
	"github.com/wopwitness/wopwitness/witness"
)

func shapeJudges() map[registry.LegID]witness.Judge {
	return map[registry.LegID]witness.Judge{"agentdlq.shape.vectors": witness.Of(JudgeVectors)}
}

// Vectors are documents whose validity the page settles without a host.
type Vectors struct {
	Vectors []Vector `json:"vectors"`
}

// Vector is one of them. Schema names its form: "tool-body".
type Vector struct {
	Name     string          `json:"name"`
	Schema   string          `json:"schema"`
	Document json.RawMessage `json:"document"`
	Valid    bool            `json:"valid"`
}

// JudgeVectors judges agentdlq.shape.vectors: the forms of the seams accept what the page allows and refuse what it
// forbids.
func JudgeVectors(o Vectors) witness.Verdict {
	var v witness.Verdict
	for _, x := range o.Vectors {
		check := "answer-vectors"
		if strings.HasSuffix(x.Schema, "-body") {
			check = "body-vectors"
		}
		violations := schema.Validate(schema.Name("agentdlq/"+x.Schema), x.Document)
		v.Check(check, (len(violations) == 0) == x.Valid, func() witness.Finding {
			got := "valid"
			if len(violations) > 0 {
				got = violations[0].String()
			}
			return witness.Finding{
				Says: fmt.Sprintf("the vector %q is measured wrongly", x.Name), Expected: fmt.Sprintf("valid: %v", x.Valid), Got: shorten(got),
				Section: "Ground rules", Why: "a form that is too wide or too narrow acquits or convicts hosts for nothing",
			}
		})
	}
	if len(v.Checks) == 0 {
		v.Undecide(registry.Unreadable, "the observation holds no vector")
	}
	return v
}
