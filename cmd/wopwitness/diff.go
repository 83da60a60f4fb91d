package main

import (
	"cmp"
	"fmt"

	"github.com/spf13/cobra"

	"github.com/wopwitness/wopwitness/cmd/wopwitness/internal/runner"
	"github.com/wopwitness/wopwitness/reports/bundle"
	"github.com/wopwitness/wopwitness/reports/diff"
	"github.com/wopwitness/wopwitness/reports/ledger"
	"github.com/wopwitness/wopwitness/reports/render"
	"github.com/wopwitness/wopwitness/reports/verify"
)

func (p *program) diffCommand() *cobra.Command {
	var asJSON bool
	c := &cobra.Command{
		Use:   "diff A B",
		Short: "Say what changed from bundle A to bundle B",
		Long: `Say what changed from bundle A to bundle B: rows, certified profiles, and who was tested by what. What two runs of one
host always differ in (times, digests of observations, signatures) is passed over. Neither bundle is verified,
but one that two readers could read as two bundles, by a member or a row that stands twice, is not compared.

Exit codes: 0 no pass and no certificate was lost; 1 one was; 2 a bundle cannot be read.`,
		Args: arguments("A", "B"),
		RunE: func(_ *cobra.Command, args []string) error {
			was, err := readComparable(args[0])
			if err != nil {
				return runner.Usage(err)
			}
			is, err := readComparable(args[1])
			if err != nil {
				return runner.Usage(err)
			}
			r := diff.Bundles(was, is)
			if r.Regressed() {
				p.exit = ledger.ExitFailed
			}
			if asJSON {
				return writeJSON(p.output, r)
			}
			render.Difference(p.output, r, render.Painting(p.outputTerminal, p.env("NO_COLOR")))
			return nil
		},
	}
	c.Flags().BoolVar(&asJSON, "json", false, "as JSON on standard output")
	return c
}

// readComparable reads a bundle that has one reading. Of one in which a row stands twice a gate would see whichever the
// decoder took last.
func readComparable(path string) (bundle.Bundle, error) {
	raw, err := readFile(path)
	if err != nil {
		return bundle.Bundle{}, fmt.Errorf("bundle: %w", err)
	}
	for _, r := range verify.Ambiguities(raw) {
		return bundle.Bundle{}, fmt.Errorf("bundle %s is not compared (%s at %s: %s)", path, r.Code, cmp.Or(r.Path, "the whole"), r.Says)
	}
	return parseBundle(path, raw)
}
