package pages

import (
	_ "embed"
	"fmt"
	"html/template"
	"io"
	"slices"

	"github.com/wopwitness/wopwitness/scenarios/registry"
)

//go:embed matrix.html.tmpl
var matrixSource string

type matrixPage struct {
	Defects, Legs int
	Tables        []matrixTable
}

type matrixTable struct {
	Title   string
	Columns []registry.LegID
	Rows    []matrixRow
	Totals  []int
}

type matrixRow struct {
	Name, Says string
	Cells      []matrixCell
	Count      int
}

type matrixCell struct {
	Leg   registry.LegID
	Kills bool
}

// KillMatrixHTML writes the kill matrix as one page, a table for the defects of each RFC: no script, no network.
func KillMatrixHTML(out io.Writer, legs []registry.Leg, defects []Defect) error {
	t, err := template.New("matrix").Parse(matrixSource)
	if err != nil {
		return fmt.Errorf("kill matrix: %w", err)
	}
	page := matrixPage{Defects: len(defects), Legs: len(legs)}
	var texts []string
	for _, d := range defects {
		if !slices.Contains(texts, d.RFC) {
			texts = append(texts, d.RFC)
		}
	}
	slices.Sort(texts)
	for _, rfc := range texts {
		page.Tables = append(page.Tables, matrixOf(rfc, legs, defects))
	}
	if err := t.Execute(out, page); err != nil {
		return fmt.Errorf("write kill matrix: %w", err)
	}
	return nil
}

// matrixOf is the table of the defects of one RFC, against every leg that convicts one of them.
func matrixOf(rfc string, legs []registry.Leg, defects []Defect) matrixTable {
	table := matrixTable{Title: "RFC " + rfc}
	if rfc == "" || rfc[0] < '0' || rfc[0] > '9' {
		table.Title = rfc
	}
	own := slices.DeleteFunc(slices.Clone(defects), func(d Defect) bool { return d.RFC != rfc })
	for _, l := range legs {
		if slices.ContainsFunc(own, func(d Defect) bool { return slices.Contains(d.Convicts, string(l.ID)) }) {
			table.Columns = append(table.Columns, l.ID)
		}
	}
	table.Totals = make([]int, len(table.Columns))
	for _, d := range own {
		row := matrixRow{Name: d.Name, Says: d.Says}
		for i, leg := range table.Columns {
			kills := slices.Contains(d.Convicts, string(leg))
			if kills {
				row.Count++
				table.Totals[i]++
			}
			row.Cells = append(row.Cells, matrixCell{Leg: leg, Kills: kills})
		}
		table.Rows = append(table.Rows, row)
	}
	return table
}
