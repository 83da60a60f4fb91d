package render

import (
	"fmt"
	"io"
	"strings"

	"github.com/wopwitness/wopwitness/reports/diff"
	"github.com/wopwitness/wopwitness/scenarios/registry"
)

// Difference writes what changed between two bundles as a person reads it, what was lost first.
func Difference(out io.Writer, r diff.Report, paint Paint) {
	if was, is, differ := r.Majors(); differ {
		fmt.Fprintf(out, "%s these bundles are of two majors (%s and %s), whose rows are not the same requirements\n",
			paint.code("33", "warning:"), was, is)
	}
	for _, row := range r.Rows {
		sign := map[diff.Kind]string{
			diff.PassLost: paint.code("1;31", "-"), diff.PassGained: paint.code("32", "+"), diff.Added: "+", diff.Removed: "-", diff.Changed: "~",
		}[row.Kind]
		fmt.Fprintf(out, "%s %s  %s\n", sign, Plain(strings.TrimPrefix(row.ID, registry.LegID("").RequirementID())), row.Kind)
		for _, m := range row.Members {
			fmt.Fprintf(out, "      %s: %s → %s\n", m.Member, shownOr(m.Was, "not there"), shownOr(m.Is, "not there"))
		}
	}
	for _, f := range r.Facts {
		fmt.Fprintf(out, "~ %s: %s → %s\n", f.Name, shownOr(f.Was, "none"), shownOr(f.Is, "none"))
	}
	for _, id := range r.Uncertified {
		fmt.Fprintf(out, "%s %s is not certified any more\n", paint.code("1;31", "-"), Plain(id))
	}
	for _, id := range r.Certified {
		fmt.Fprintf(out, "%s %s is certified now\n", paint.code("32", "+"), Plain(id))
	}
	switch {
	case r.Same():
		fmt.Fprintln(out, paint.Bold("nothing changed"))
	case r.Regressed():
		fmt.Fprintln(out, paint.Bold(fmt.Sprintf("lost: %d %s, %d %s", r.LostPasses, plural(r.LostPasses, "pass", "passes"),
			len(r.Uncertified), plural(len(r.Uncertified), "certificate", "certificates"))))
	default:
		fmt.Fprintln(out, paint.Bold("nothing was lost"))
	}
}

func shownOr(text, none string) string { return brief(firstText(text, none), shownLimit) }
