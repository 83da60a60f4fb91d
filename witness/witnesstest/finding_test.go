package witnesstest

import (
	"testing"

	"github.com/wopwitness/wopwitness/witness"
)

func TestAFindingIsComplete(t *testing.T) {
	whole := witness.Finding{Says: `the list "tool" is empty`, Why: "nobody is told", Section: "RFC 0053 §C.1", Expected: "an entry"}
	if !Complete(whole) {
		t.Error("a whole one is refused")
	}
	for name, change := range map[string]func(*witness.Finding){
		"says nothing":       func(f *witness.Finding) { f.Says = "" },
		"without a reason":   func(f *witness.Finding) { f.Why = "" },
		"without a place":    func(f *witness.Finding) { f.Section = "" },
		"a word is missing":  func(f *witness.Finding) { f.Says = "the list  is empty" },
		"the last is":        func(f *witness.Finding) { f.Expected = "the entries of " },
		"the first is":       func(f *witness.Finding) { f.Expected = " alone" },
		"quotes around none": func(f *witness.Finding) { f.Says = `the list "" is empty` },
	} {
		f := whole
		if change(&f); Complete(f) {
			t.Errorf("%s: it is taken for complete", name)
		}
	}
}
