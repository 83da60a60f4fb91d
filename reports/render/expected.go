package render

import (
	"fmt"
	"slices"

	"github.com/wopwitness/wopwitness/reports/ledger"
	"github.com/wopwitness/wopwitness/scenarios/registry"
)

// unexpectedPass is the type of the JUnit failure of a leg that passed and was expected to fail.
const unexpectedPass = "unexpected-pass"

// expects says whether the leg of the row was expected to fail.
func (e Ending) expects(r ledger.Row) bool {
	return slices.ContainsFunc(e.ExpectFail, func(p string) bool { return registry.Covers(p, r.Leg) })
}

// passedUnexpectedly is what is said of a row that was expected to fail.
func passedUnexpectedly(r ledger.Row) string {
	return caseName(r) + " passed, and --expect-fail says that it fails"
}

// outcome is a row's disposition as people read it: a failure that was expected says so, and is still one.
func (e Ending) outcome(r ledger.Row) string {
	if r.Result == registry.Fail && e.expects(r) {
		return string(r.Result) + ", as expected"
	}
	return string(r.Result)
}

// foreseen adds to the totals how many of the failures were expected, where any was.
func foreseen(e ledger.Expectation) string {
	if len(e.Expected) == 0 {
		return ""
	}
	return fmt.Sprintf("; %d of the failed as expected", len(e.Expected))
}

// conclusion is the verdict in a line.
func conclusion(l ledger.Ledger, e Ending) string {
	expectation := l.Expect(e.ExpectFail)
	switch {
	case e.Exit == ledger.ExitOK && len(expectation.Expected) > 0:
		return fmt.Sprintf("verdict: %d failed as expected, nothing else failed and nothing was blocked", len(expectation.Expected))
	case e.Exit == ledger.ExitOK:
		return "verdict: nothing failed and nothing was blocked"
	case e.Exit == ledger.ExitFailed && len(expectation.Failures) == 0 && len(expectation.Unexpected) > 0:
		return fmt.Sprintf("verdict: %d passed that --expect-fail says fails: leave it out there", len(expectation.Unexpected))
	case e.Exit == ledger.ExitFailed:
		return "verdict: the host does not do what the text says"
	case e.Exit == ledger.ExitInterrupted:
		return "verdict: incomplete, the run was interrupted"
	case l.Cut:
		return "verdict: incomplete, the file ends before its run did: it was cut, or the run was interrupted"
	case e.Limit != "":
		return "verdict: none, " + e.Limit
	case ledger.Count(l.Rows).Blocked > 0:
		return "verdict: none, something stopped the measurement"
	}
	return "verdict: none, no behaviour was observed"
}
