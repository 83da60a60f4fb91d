package render

import (
	"encoding/xml"
	"fmt"
	"io"
	"strings"

	"github.com/wopwitness/wopwitness/reports/ledger"
	"github.com/wopwitness/wopwitness/scenarios/registry"
)

type junitSuites struct {
	XMLName xml.Name     `xml:"testsuites"`
	Name    string       `xml:"name,attr"`
	Tests   int          `xml:"tests,attr"`
	Failed  int          `xml:"failures,attr"`
	Errors  int          `xml:"errors,attr"`
	Skipped int          `xml:"skipped,attr"`
	Suites  []junitSuite `xml:"testsuite"`
}

type junitSuite struct {
	Name    string      `xml:"name,attr"`
	Tests   int         `xml:"tests,attr"`
	Failed  int         `xml:"failures,attr"`
	Errors  int         `xml:"errors,attr"`
	Skipped int         `xml:"skipped,attr"`
	Cases   []junitCase `xml:"testcase"`
}

type junitCase struct {
	Name      string        `xml:"name,attr"`
	ClassName string        `xml:"classname,attr"`
	Failure   *junitProblem `xml:"failure,omitempty"`
	Error     *junitProblem `xml:"error,omitempty"`
	Skipped   *junitSkip    `xml:"skipped,omitempty"`
	Output    string        `xml:"system-out,omitempty"`
}

type junitProblem struct {
	Type    string `xml:"type,attr"`
	Message string `xml:"message,attr"`
	Text    string `xml:",chardata"`
}

type junitSkip struct {
	Message string `xml:"message,attr"`
}

// JUnit writes the ledger as JUnit XML: a suite a major, one test case a requirement. A conviction is a failure, a
// blocked row an error, an inapplicable or skipped one is skipped with its reason. A conviction that was expected is
// skipped too and shown in full beside it, since readers of this form know no other way to tell it from one that turns a
// job red; a pass where a failure was expected is a failure. Names hold the major and never change from run to run.
func JUnit(out io.Writer, l ledger.Ledger, e Ending) error {
	all := junitSuites{Name: "wopwitness"}
	for _, major := range l.Majors() {
		suite := junitSuite{Name: fmt.Sprintf("openwop.v%d", major)}
		for _, r := range l.Major(major) {
			suite.add(testCase(r, e))
		}
		all.Suites = append(all.Suites, suite)
		all.Tests += suite.Tests
		all.Failed += suite.Failed
		all.Errors += suite.Errors
		all.Skipped += suite.Skipped
	}
	if _, err := io.WriteString(out, xml.Header); err != nil {
		return fmt.Errorf("write JUnit: %w", err)
	}
	x := xml.NewEncoder(out)
	x.Indent("", "  ")
	if err := x.Encode(all); err != nil {
		return fmt.Errorf("write JUnit: %w", err)
	}
	_, err := io.WriteString(out, "\n")
	return err
}

func (s *junitSuite) add(c junitCase) {
	s.Cases = append(s.Cases, c)
	s.Tests++
	switch {
	case c.Failure != nil:
		s.Failed++
	case c.Error != nil:
		s.Errors++
	case c.Skipped != nil:
		s.Skipped++
	}
}

func testCase(r ledger.Row, e Ending) junitCase {
	c := junitCase{
		Name:      string(r.Leg.ID),
		ClassName: fmt.Sprintf("openwop.v%d.%s", r.Major, r.Leg.Profile),
	}
	problem := func() *junitProblem {
		var text strings.Builder
		Failure(&text, r, "", Paint{})
		return &junitProblem{Type: r.Detail, Message: clip(Plain(r.Says), factLimit), Text: text.String()}
	}
	switch expected := e.expects(r); r.Result {
	case registry.Pass:
		if expected {
			c.Failure = &junitProblem{Type: unexpectedPass, Message: passedUnexpectedly(r)}
		}
	case registry.Fail:
		if p := problem(); expected {
			c.Skipped = &junitSkip{Message: "failed as expected: " + p.Message}
			c.Output = p.Text
		} else {
			c.Failure = p
		}
	case registry.Blocked:
		c.Error = problem()
	case registry.Inapplicable, registry.Skipped:
		c.Skipped = &junitSkip{Message: r.Detail + ": " + clip(Plain(r.Says), factLimit)}
	}
	if r.Verdict != nil {
		var notes strings.Builder
		for _, n := range r.Verdict.Notes {
			fmt.Fprintf(&notes, "note %s: %s\n", Plain(n.Code), clip(Plain(n.Says), factLimit))
		}
		c.Output += notes.String()
	}
	return c
}
