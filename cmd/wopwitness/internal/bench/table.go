package bench

import (
	"fmt"
	"io"
	"strconv"
	"strings"
	"text/tabwriter"
)

// Table writes the result for people: a row's figures and its first bound on one line, its further bounds below.
func Table(out io.Writer, r Result) error {
	fmt.Fprintf(out, "%s/%s, %d processors, %s\n\n", r.Machine.OS, r.Machine.Arch, r.Machine.CPUs, r.Machine.Go)
	w := tabwriter.NewWriter(out, 0, 0, 2, ' ', 0)
	fmt.Fprintln(w, "row\twhat\tmeasured\tlimit\tcheck\tgot\tbound\tholds")
	for _, row := range r.Rows {
		limit := "-"
		if row.LimitValue > 0 {
			limit = quantity(row.LimitValue, row.Unit)
		}
		lead := []string{row.Name, row.What, quantity(row.Host, row.Unit), limit}
		for _, c := range row.Checks {
			fmt.Fprintln(w, strings.Join(append(lead, c.Name, quantity(c.Got, c.Unit), c.bound(), yes(c.Holds)), "\t"))
			lead = []string{"", "", "", ""}
		}
	}
	if err := w.Flush(); err != nil {
		return err
	}
	fmt.Fprintln(out)
	for _, row := range r.Rows {
		if row.Limit != "" {
			fmt.Fprintf(out, "%s is compared with %s\n", row.Name, row.Limit)
		}
		for _, note := range row.Notes {
			fmt.Fprintf(out, "%s: %s\n", row.Name, note)
		}
	}
	verdict := "every bound holds"
	if failed := r.failed(); len(failed) > 0 {
		verdict = "these bounds don't hold: " + strings.Join(failed, ", ")
	}
	_, err := fmt.Fprintf(out, "\n%s\n", verdict)
	return err
}

// failed names the bounds that don't hold.
func (r Result) failed() []string {
	var names []string
	for _, row := range r.Rows {
		for _, c := range row.Checks {
			if !c.Holds {
				names = append(names, row.Name+" ("+c.Name+")")
			}
		}
	}
	return names
}

func (c Check) bound() string {
	sign := "≥ "
	if c.Rule == atMost {
		sign = "≤ "
	}
	return sign + quantity(c.Bound, c.Unit)
}

func yes(holds bool) string {
	if holds {
		return "yes"
	}
	return "NO"
}

// quantity writes a figure with its unit, thousands apart.
func quantity(v float64, unit string) string {
	v = rounded(v)
	digits := strconv.FormatFloat(v, 'f', -1, 64)
	whole, fraction, split := strings.Cut(digits, ".")
	for i := len(whole) - 3; i > 0 && whole[i-1] != '-'; i -= 3 {
		whole = whole[:i] + "," + whole[i:]
	}
	if split {
		whole += "." + fraction
	}
	if unit == "" || strings.HasPrefix(unit, "/") {
		return whole + unit
	}
	return whole + " " + unit
}
