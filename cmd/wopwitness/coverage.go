package main

import (
	"fmt"

	"github.com/spf13/cobra"

	"github.com/wopwitness/wopwitness/cmd/wopwitness/internal/runner"
	"github.com/wopwitness/wopwitness/reports/coverage"
	"github.com/wopwitness/wopwitness/reports/ledger"
	"github.com/wopwitness/wopwitness/reports/render"
	"github.com/wopwitness/wopwitness/scenarios/registry"
	"github.com/wopwitness/wopwitness/witness/judges"
)

func (p *program) coverageCommand() *cobra.Command {
	var (
		rfc    string
		asJSON bool
	)
	c := &cobra.Command{
		Use:   "coverage RFC.md",
		Short: "Say which requirements of an RFC are witnessed",
		Long: `Read an RFC's Markdown and say which of its requirements are witnessed, by which legs, and which of the wrong hosts of
selfcheck those legs convict. It reads the falsifiability table, the conformance table or list, and the sentences with
MUST and SHOULD by lettered section. A requirement is matched to legs of its section by the words that they share.

Exit codes: 0 every row is witnessed, or unwitnessable by the text's own word; 1 a row is witnessed by nobody, or a leg
cites a section that the text doesn't have; 2 the file cannot be read; 3 there is nothing in it to compare.`,
		Args: arguments("RFC.md"),
		RunE: func(_ *cobra.Command, args []string) error {
			raw, err := readFile(args[0])
			if err != nil {
				return runner.Usage(fmt.Errorf("RFC: %w", err))
			}
			d, err := coverage.Parse(raw)
			if err != nil {
				return runner.Usage(fmt.Errorf("RFC %s: %w", args[0], err))
			}
			if rfc != "" {
				d.RFC = rfc
			}
			return p.cover(d, asJSON)
		},
	}
	c.Flags().StringVar(&rfc, "rfc", "", "the RFC's number, where the text doesn't say it")
	c.Flags().BoolVar(&asJSON, "json", false, "as JSON on standard output")
	return c
}

func (p *program) cover(d coverage.Document, asJSON bool) error {
	var defects []coverage.Defect
	for _, k := range killed() {
		defects = append(defects, coverage.Defect{Name: k.Name, Convicts: k.Convicts})
	}
	table := judges.Table()
	r := coverage.Compare(d, registry.Legs(), defects, func(id registry.LegID) bool { return table[id] != nil })
	switch {
	case !r.Whole():
		p.exit = ledger.ExitFailed
	case r.Empty():
		p.exit = ledger.ExitBlocked
	}
	if asJSON {
		return writeJSON(p.output, r)
	}
	render.Coverage(p.output, r, render.Painting(p.outputTerminal, p.env("NO_COLOR")))
	return nil
}
