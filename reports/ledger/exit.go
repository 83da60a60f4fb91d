package ledger

import (
	"slices"

	"github.com/wopwitness/wopwitness/scenarios/registry"
)

// The exit codes of a run.
const (
	ExitOK          = 0   // nothing failed, nothing was blocked, behaviour was observed
	ExitFailed      = 1   // a leg failed, or one that was expected to fail passed
	ExitUsage       = 2   // usage or configuration
	ExitBlocked     = 3   // something was blocked, or no behaviour was observed
	ExitInterrupted = 130 // interrupted; what was done is written
)

// Expectation is what --expect-fail said and how it came out.
type Expectation struct {
	Failures   []Row // failed, and were not expected to
	Expected   []Row // failed as expected
	Unexpected []Row // expected to fail, and passed
}

// Expect sorts the rows by the patterns of legs that are expected to fail.
func (l Ledger) Expect(patterns []string) Expectation {
	var e Expectation
	for _, r := range l.Rows {
		expected := slices.ContainsFunc(patterns, func(p string) bool { return registry.Covers(p, r.Leg) })
		switch {
		case r.Result == registry.Fail && expected:
			e.Expected = append(e.Expected, r)
		case r.Result == registry.Fail:
			e.Failures = append(e.Failures, r)
		case r.Result == registry.Pass && expected:
			e.Unexpected = append(e.Unexpected, r)
		}
	}
	return e
}

// Exit gives the exit code of the run. An interruption outranks everything, since the rows are incomplete; a failure
// outranks a blocked row, since it stands whatever else could not be measured. A leg that failed as expected did observe
// behaviour.
func (l Ledger) Exit(expectFail []string) int {
	e := l.Expect(expectFail)
	switch {
	case l.Interrupted:
		return ExitInterrupted
	case len(e.Failures) > 0 || len(e.Unexpected) > 0:
		return ExitFailed
	case l.Cut || Count(l.Rows).Blocked > 0 || !l.observedBehaviour():
		return ExitBlocked
	}
	return ExitOK
}

// observedBehaviour says whether any leg was judged on something that the host did. Vectors, shapes and absences don't
// count, nor does what strict mode convicts for not being there.
func (l Ledger) observedBehaviour() bool {
	return slices.ContainsFunc(l.Rows, func(r Row) bool {
		judged := r.Result == registry.Pass || r.Result == registry.Fail
		return judged && r.Verdict != nil && !r.Verdict.Absence && r.Leg.Observes == registry.Behaviour
	})
}
