package render

import (
	"fmt"
	"io"
	"strings"

	"github.com/wopwitness/wopwitness/reports/ledger"
	"github.com/wopwitness/wopwitness/scenarios/registry"
	"github.com/wopwitness/wopwitness/witness"
)

// How much of a host's text a failure shows; the transcript has all of it.
const (
	shownLimit = 600
	factLimit  = 1200
)

// Failure writes one row that isn't a pass as a person reads it: what was expected, what came, what differs, why it
// matters and where the whole exchange is. transcript is the path of observations.jsonl, "" where none was written.
func Failure(out io.Writer, r ledger.Row, transcript string, paint Paint) {
	if r.Verdict == nil || len(r.Verdict.Findings) == 0 {
		heading(out, r, r.Leg.RFC, r.Leg.Section, r.Says, paint)
		if explained := r.Reason.Explain(); explained != r.Says {
			fact(out, "", explained)
		}
		pointer(out, r, transcript)
		return
	}
	for _, f := range r.Verdict.Findings {
		finding(out, r, f, paint)
	}
	pointer(out, r, transcript)
}

func finding(out io.Writer, r ledger.Row, f witness.Finding, paint Paint) {
	section := strings.TrimPrefix(f.Section, "RFC "+r.Leg.RFC+" ")
	heading(out, r, r.Leg.RFC, section, f.Says, paint)
	width := 0
	for _, s := range f.Shown {
		width = max(width, len(s.Label))
	}
	for _, s := range f.Shown {
		fmt.Fprintf(out, "      %-*s  %s\n", width, Plain(s.Label), brief(s.Text, shownLimit))
	}
	fact(out, "expected", f.Expected)
	fact(out, "got", f.Got)
	fact(out, "first difference", f.Differs)
	fact(out, "why it matters", f.Why)
}

func heading(out io.Writer, r ledger.Row, rfc, section, says string, paint Paint) {
	fmt.Fprintf(out, "%s  %s   %s   %s\n", paint.Result(r.Result), caseName(r), rfcName(rfc, section), brief(says, factLimit))
}

func fact(out io.Writer, label, text string) {
	switch {
	case text == "":
	case label == "":
		fmt.Fprintf(out, "      %s\n", Plain(text))
	default:
		fmt.Fprintf(out, "      %s: %s\n", label, brief(text, factLimit))
	}
}

func pointer(out io.Writer, r ledger.Row, transcript string) {
	if transcript != "" && r.Record != nil {
		fmt.Fprintf(out, "      transcript: %s#%s\n", Plain(transcript), r.Leg.ID)
	}
}

// caseName is the leg, with its major where the leg has more than one.
func caseName(r ledger.Row) string {
	if len(r.Leg.Majors) > 1 {
		return fmt.Sprintf("%s (major %d)", r.Leg.ID, r.Major)
	}
	return string(r.Leg.ID)
}

func rfcName(rfc, section string) string {
	if strings.HasPrefix(section, "RFC ") {
		return section
	}
	if rfc == "" || rfc[0] < '0' || rfc[0] > '9' {
		return strings.TrimSpace(rfc + " " + section)
	}
	return strings.TrimSpace("RFC " + rfc + " " + section)
}

// word is the short form of a disposition in a list.
func word(r registry.Result) string {
	switch r {
	case registry.Pass:
		return "PASS"
	case registry.Fail:
		return "FAIL"
	case registry.Skipped:
		return "SKIP"
	case registry.Inapplicable:
		return "N/A "
	}
	return "BLCK"
}
