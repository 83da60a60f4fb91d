package render

import (
	"fmt"
	"io"
	"strings"

	"github.com/wopwitness/wopwitness/reports/ledger"
	"github.com/wopwitness/wopwitness/scenarios/registry"
)

// Head is what a page says above the rows.
type Head struct {
	BaseURL      string
	HostName     string
	HostVersion  string
	SuiteVersion string
	GeneratedAt  string   // RFC 3339
	Build        string   // what was tested, as "commit:3f2a91c"; "" where nobody said
	Uncertified  []string // each profile that the host shows and the rows don't certify, and why
	Ending       Ending
}

// uncertified gives the reasons for what is not certified; where no profile is certified it gives at least one, but for
// the one problem that is said anyway.
func (h Head) uncertified() []string {
	switch {
	case h.Ending.Problem != "":
		return nil
	case len(h.Uncertified)+len(h.Ending.Certified) > 0:
		return h.Uncertified
	}
	return []string{"no behaviour of a profile that can be certified was driven in this run"}
}

// Summary writes the ledger as Markdown for a job's summary page: the verdict, the totals, and the rows that aren't a
// pass; the rest folds away.
func Summary(out io.Writer, l ledger.Ledger, head Head) error {
	var b strings.Builder
	fmt.Fprintf(&b, "## wopwitness: %s\n\n", strings.TrimPrefix(conclusion(l, head.Ending), "verdict: "))
	fmt.Fprintf(&b, "Host %s %s at %s, build %s\n\n", markdown(head.HostName), markdown(head.HostVersion), code(head.BaseURL), markdown(firstText(head.Build, "not named")))
	b.WriteString("| major | passed | failed | inapplicable | skipped | blocked |\n| ---: | ---: | ---: | ---: | ---: | ---: |\n")
	for _, major := range l.Majors() {
		t := ledger.Count(l.Major(major))
		fmt.Fprintf(&b, "| %d | %d | %d | %d | %d | %d |\n", major, t.ExecutedPass, t.ExecutedFail, t.Inapplicable, t.Skipped, t.Blocked)
	}
	if len(head.Ending.Certified) > 0 {
		fmt.Fprintf(&b, "\nCertified: %s\n", markdown(strings.Join(head.Ending.Certified, ", ")))
	}
	for _, why := range head.uncertified() {
		fmt.Fprintf(&b, "\nNot certified: %s\n", markdown(clip(why, 600)))
	}
	if head.Ending.Problem != "" {
		fmt.Fprintf(&b, "\nNothing could be measured: %s\n", markdown(clip(head.Ending.Problem, 300)))
	}
	if head.Ending.Limit != "" {
		fmt.Fprintf(&b, "\nBlocked: %s; what came after is not listed\n", markdown(head.Ending.Limit))
	}
	for _, r := range l.Expect(head.Ending.ExpectFail).Unexpected {
		fmt.Fprintf(&b, "\n%s\n", markdown(passedUnexpectedly(r)))
	}
	var rest []ledger.Row
	for _, r := range l.Rows {
		if r.Result != registry.Pass && !head.Ending.late(r) && (head.Ending.Problem == "" || r.Says != head.Ending.Problem) {
			rest = append(rest, r)
		}
	}
	if len(rest) > 0 {
		b.WriteString("\n| result | leg | text | what |\n| --- | --- | --- | --- |\n")
		for _, r := range rest {
			fmt.Fprintf(&b, "| %s | %s | %s | %s |\n", head.Ending.outcome(r), markdown(caseName(r)), markdown(rfcName(r.Leg.RFC, r.Leg.Section)), markdown(clip(r.Says, 300)))
		}
	}
	failures(&b, rest, head.Ending.Transcript)
	if passed := rowsOf(l, registry.Pass); len(passed) > 0 {
		b.WriteString("\n<details><summary>passed</summary>\n\n")
		for _, r := range passed {
			fmt.Fprintf(&b, "- %s: %s\n", markdown(caseName(r)), markdown(r.Leg.Title))
		}
		b.WriteString("\n</details>\n")
	}
	fmt.Fprintf(&b, "\nwopwitness %s, %s\n", markdown(head.SuiteVersion), markdown(head.GeneratedAt))
	if _, err := io.WriteString(out, b.String()); err != nil {
		return fmt.Errorf("write summary: %w", err)
	}
	return nil
}

// mostFailures keeps a job's page short; the other reports have all of them.
const mostFailures = 20

// failures writes the rows that failed in full, as the terminal shows them.
func failures(b *strings.Builder, rows []ledger.Row, transcript string) {
	shown := 0
	for _, r := range rows {
		if r.Result != registry.Fail || shown == mostFailures {
			continue
		}
		shown++
		var full strings.Builder
		Failure(&full, r, transcript, Paint{})
		fmt.Fprintf(b, "\n%s", block(full.String()))
	}
}
