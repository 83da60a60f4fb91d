package render

import (
	"fmt"
	"io"
	"strings"

	"github.com/wopwitness/wopwitness/reports/coverage"
	"github.com/wopwitness/wopwitness/scenarios/registry"
)

// Coverage writes what of an RFC is witnessed as a person reads it.
func Coverage(out io.Writer, r coverage.Report, paint Paint) {
	fmt.Fprintf(out, "%s\n", paint.Bold(clip(Plain(firstText(r.Title, "a text without a title")), shownLimit)))
	fmt.Fprintln(out, compared(r))
	if len(r.Rows) > 0 {
		fmt.Fprintf(out, "\n%s\n", paint.Bold("Requirements of its falsifiability table"))
		for _, row := range r.Rows {
			covering(out, row.Status, row.Requirement, row.Witnesses, paint)
			if row.Why != "" {
				fmt.Fprintf(out, "      unwitnessable: %s\n", clip(Plain(row.Why), shownLimit))
			}
		}
	}
	if len(r.Cases) > 0 {
		fmt.Fprintf(out, "\n%s\n", paint.Bold("Conformance cases that it promises"))
		for _, c := range r.Cases {
			covering(out, c.Status, c.ID, c.Witnesses, paint)
		}
	}
	section := ""
	for _, s := range r.Sentences {
		if s.Section != section {
			section = s.Section
			fmt.Fprintf(out, "\n%s\n", paint.Bold("Sentences of "+section+" that oblige"))
		}
		fmt.Fprintf(out, "  %s  %s\n      %s\n", s.Keyword, clip(Plain(s.Text), 200), witnessed(s.Witnesses))
	}
	if len(r.Beyond) > 0 {
		fmt.Fprintf(out, "\n%s\n      %s\n", paint.Bold("Legs that no row or case above leads to"), witnessed(r.Beyond))
	}
	tables(out, r.Tables, paint)
	for _, s := range r.Strays {
		fmt.Fprintf(out, "\n%s  %s cites %s, which the text does not have\n", paint.Result(registry.Fail), s.Leg, s.Section)
	}
	fmt.Fprintf(out, "\n%s\n", paint.Bold(covered(r)))
}

func covering(out io.Writer, status coverage.Status, what string, witnesses []coverage.Witness, paint Paint) {
	mark := map[coverage.Status]string{
		coverage.Witnessed: paint.code("32", "ok  "), coverage.Unwitnessable: paint.code("2", "--  "), coverage.Uncovered: paint.code("1;31", "NONE"),
	}[status]
	fmt.Fprintf(out, "%s  %s\n", mark, clip(Plain(what), shownLimit))
	if len(witnesses) > 0 || status == coverage.Uncovered {
		fmt.Fprintf(out, "      %s\n", witnessed(witnesses))
	}
}

// compared says which legs the text was held against, and what to do where there are none.
func compared(r coverage.Report) string {
	switch {
	case r.RFC == "":
		return "the text doesn't say which RFC it is, so there are no legs to hold it against: name it with --rfc NUMBER"
	case r.Legs == 0:
		return fmt.Sprintf("held against RFC %s, of which this build has no leg: name another with --rfc NUMBER", Plain(r.RFC))
	}
	return fmt.Sprintf("held against the %d %s that this build has for RFC %s", r.Legs, plural(r.Legs, "leg", "legs"), Plain(r.RFC))
}

// mostTables is how many tables are named; --json has all.
const mostTables = 50

// tables says of every table whether it was read. One that holds requirements under other columns is seen there, and nowhere else.
func tables(out io.Writer, all []coverage.Table, paint Paint) {
	if len(all) == 0 {
		return
	}
	fmt.Fprintf(out, "\n%s\n", paint.Bold("Tables of the text, and what of them was read"))
	unread := false
	for _, t := range all[:min(len(all), mostTables)] {
		where := "before the first heading"
		if t.Heading != "" {
			where = fmt.Sprintf("under %q", clip(Plain(t.Heading), shownLimit))
		}
		columns := clip(Plain(strings.Join(t.Columns, " | ")), shownLimit)
		rows := plural(t.Rows, "row", "rows")
		switch t.As {
		case coverage.Other:
			unread = true
			fmt.Fprintf(out, "  not read  %s (%s): %d %s\n", where, columns, t.Rows, rows)
		case coverage.Head:
			fmt.Fprintf(out, "  read      %s (%s): the RFC's number\n", where, columns)
		default:
			fmt.Fprintf(out, "  read      %s (%s): %d of %d %s, as the %s table\n", where, columns, t.Read, t.Rows, rows, t.As)
		}
	}
	if more := len(all) - mostTables; more > 0 {
		fmt.Fprintf(out, "  and %d more\n", more)
	}
	if unread {
		fmt.Fprintln(out, "  What is read: a table with the columns Requirement and Verdict, and one with a column Id under the heading Conformance.")
	}
}

// mostKills is how many defects of a leg are named; a page of its own lists all.
const mostKills = 3

func witnessed(witnesses []coverage.Witness) string {
	if len(witnesses) == 0 {
		return "no leg witnesses it"
	}
	var parts []string
	for _, w := range witnesses {
		part := string(w.Leg)
		if !w.Judged {
			part += " (no judge)"
		}
		if len(w.Kills) > 0 {
			named := strings.Join(w.Kills[:min(len(w.Kills), mostKills)], ", ")
			if more := len(w.Kills) - mostKills; more > 0 {
				named += fmt.Sprintf(" and %d more", more)
			}
			part += ", which convicts " + named
		}
		parts = append(parts, part)
	}
	return strings.Join(parts, "\n      ")
}

func covered(r coverage.Report) string {
	count := map[coverage.Status]int{}
	for _, row := range r.Rows {
		count[row.Status]++
	}
	for _, c := range r.Cases {
		count[c.Status]++
	}
	rest := ""
	if n := unread(r.Tables); n > 0 {
		rest = fmt.Sprintf("; %d %s not read", n, plural(n, "table was", "tables were"))
	}
	switch {
	case r.Empty():
		return "verdict: none, the text has no requirement in a form that this reads" + rest
	case len(r.Rows)+len(r.Cases) == 0 && r.Whole():
		return "verdict: nothing is missing, and nothing was asked for: the text has sentences that oblige, and no table or list of requirements that this reads" + rest
	case r.Whole():
		if n := count[coverage.Unwitnessable]; n > 0 {
			rest = fmt.Sprintf(", and of %d the text says that nobody can witness them", n) + rest
		}
		return fmt.Sprintf("verdict: covered: %d of %d rows and cases have a leg%s", count[coverage.Witnessed], len(r.Rows)+len(r.Cases), rest)
	}
	return fmt.Sprintf("verdict: not covered: %d of %d rows and cases have no leg, and %d %s a section that the text doesn't have%s",
		count[coverage.Uncovered], len(r.Rows)+len(r.Cases), len(r.Strays), plural(len(r.Strays), "leg cites", "legs cite"), rest)
}

func unread(all []coverage.Table) int {
	n := 0
	for _, t := range all {
		if t.As == coverage.Other {
			n++
		}
	}
	return n
}
