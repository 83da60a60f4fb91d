package render_test

import (
	"encoding/xml"
	"strings"
	"testing"

	"github.com/wopwitness/wopwitness/reports/ledger"
	"github.com/wopwitness/wopwitness/reports/render"
)

// TestEveryReportTellsWhatWasExpectedToFail: a known failure is said to be one and stays a failure, and a pass where one
// was expected is not laid at the host's door.
func TestEveryReportTellsWhatWasExpectedToFail(t *testing.T) {
	passed, failed := mixed().Rows[0], mixed().Rows[1]
	for name, tt := range map[string]struct {
		rows    []ledger.Row
		expect  string
		exit    int
		verdict string
		says    string // in every report for people
		totals  string
		junit   string
		counts  string
	}{
		"a failure that was expected": {[]ledger.Row{passed, failed}, "0250.refusal-uniform", 0,
			"1 failed as expected, nothing else failed and nothing was blocked", "executed-fail, as expected",
			"1 passed, 1 failed, 0 inapplicable, 0 skipped, 0 blocked; 1 of the failed as expected\n",
			`<skipped message="failed as expected: the refusal for another tenant&#39;s cursor differs from an unknown one">`, `tests="2" failures="0" errors="0" skipped="1"`},
		"a failure that was not": {[]ledger.Row{passed, failed}, "0053.*", 1,
			"the host does not do what the text says", "executed-fail",
			"1 passed, 1 failed, 0 inapplicable, 0 skipped, 0 blocked\n",
			`<failure type="convicted" message="the refusal`, `tests="2" failures="1" errors="0" skipped="0"`},
		"a pass where a failure was expected": {[]ledger.Row{passed}, "0250.cursor-refused", 1,
			"1 passed that --expect-fail says fails: leave it out there", "0250.cursor-refused passed, and --expect-fail says that it fails",
			"1 passed, 0 failed, 0 inapplicable, 0 skipped, 0 blocked\n",
			`<failure type="unexpected-pass" message="0250.cursor-refused passed, and --expect-fail says that it fails">`, `tests="1" failures="1" errors="0" skipped="0"`},
		"both": {[]ledger.Row{passed, failed}, "0250.cursor-refused", 1,
			"the host does not do what the text says", "0250.cursor-refused passed, and --expect-fail says that it fails",
			"1 passed, 1 failed, 0 inapplicable, 0 skipped, 0 blocked\n", `<failure type="unexpected-pass"`, `tests="2" failures="2" errors="0" skipped="0"`},
	} {
		t.Run(name, func(t *testing.T) {
			l, h := ledger.Ledger{Rows: tt.rows}, head()
			h.HostName, h.Ending = "acme", render.Ending{ExpectFail: []string{tt.expect}, Exit: tt.exit}
			if got := l.Exit(h.Ending.ExpectFail); got != tt.exit {
				t.Fatalf("the ledger ends with %d, want %d", got, tt.exit)
			}
			var console, summary, page, junit strings.Builder
			render.Final(&console, l, h.Ending, render.Paint{})
			for _, err := range []error{render.Summary(&summary, l, h), render.HTML(&page, l, h), render.JUnit(&junit, l, h.Ending)} {
				if err != nil {
					t.Fatal(err)
				}
			}
			if text := console.String(); !strings.HasSuffix(text, "verdict: "+tt.verdict+"\n") || !strings.Contains(text, tt.totals) {
				t.Errorf("the console says\n%s", text)
			}
			for _, text := range []string{summary.String(), page.String()} {
				if !strings.Contains(text, tt.verdict) || !strings.Contains(text, tt.says) ||
					strings.Contains(text, "as expected") != strings.Contains(tt.says, "as expected") {
					t.Errorf("want %q and %q in\n%s", tt.verdict, tt.says, text)
				}
			}
			if text := junit.String(); !strings.Contains(text, tt.junit) || strings.Count(text, tt.counts) != 2 {
				t.Errorf("JUnit says\n%s", text)
			}
			if name == "a failure that was expected" && !strings.Contains(junit.String(), "first difference: status; then body byte 10") {
				t.Errorf("JUnit has lost what failed:\n%s", junit.String())
			}
			if err := xml.Unmarshal([]byte(junit.String()), new(any)); err != nil {
				t.Error(err)
			}
		})
	}
}
