package selfcheck

import (
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/wopwitness/wopwitness/scenarios/registry"
)

// Matrix writes the defects against the legs: X where a leg convicted as it claims, ! where it convicted without a
// claim, - where it claims and did not.
func Matrix(out io.Writer, r Result, legs []registry.Leg) error {
	var b strings.Builder
	columns := involved(r, legs)
	width := 0
	for _, t := range r.Defects {
		width = max(width, len(t.Name))
	}
	for i, leg := range columns {
		fmt.Fprintf(&b, "%*s  %2d %s\n", width, "", i+1, leg)
	}
	fmt.Fprintf(&b, "\n%*s ", width, "")
	for i := range columns {
		fmt.Fprintf(&b, " %2d", i+1)
	}
	b.WriteString("\n")
	for _, t := range r.Defects {
		fmt.Fprintf(&b, "%-*s ", width, t.Name)
		for _, leg := range columns {
			fmt.Fprintf(&b, "  %s", mark(slices.Contains(t.Claims, leg), slices.Contains(t.Convicted, leg)))
		}
		b.WriteString("\n")
	}
	_, err := io.WriteString(out, b.String())
	return err
}

// involved are the legs of the registry that some defect has to do with, in its order.
func involved(r Result, legs []registry.Leg) []string {
	var columns []string
	for _, l := range legs {
		id := string(l.ID)
		if slices.ContainsFunc(r.Defects, func(t Tried) bool {
			return slices.Contains(t.Claims, id) || slices.Contains(t.Convicted, id)
		}) {
			columns = append(columns, id)
		}
	}
	return columns
}

func mark(claims, convicted bool) string {
	switch {
	case claims && convicted:
		return "X"
	case convicted:
		return "!"
	case claims:
		return "-"
	}
	return "."
}
