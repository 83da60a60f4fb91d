// Package witnesstest holds what the tests of every family's judges ask of a verdict.
package witnesstest

import (
	"slices"
	"strings"

	"github.com/wopwitness/wopwitness/witness"
)

// Complete says whether a finding tells what is wrong, why that matters and where it is written, in sentences that lack no
// word: where a value was empty two blanks stand side by side, a blank stands at an end, or quotes hold nothing.
func Complete(f witness.Finding) bool {
	lacks := func(text string) bool {
		return strings.Contains(text, "  ") || strings.TrimSpace(text) != text || strings.Contains(text, `""`)
	}
	return f.Says != "" && f.Why != "" && f.Section != "" && !slices.ContainsFunc([]string{f.Says, f.Expected}, lacks)
}
