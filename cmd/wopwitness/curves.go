package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/wopwitness/wopwitness/cmd/wopwitness/internal/bench"
	"github.com/wopwitness/wopwitness/cmd/wopwitness/internal/curves"
	"github.com/wopwitness/wopwitness/cmd/wopwitness/internal/runner"
	"github.com/wopwitness/wopwitness/reports/ledger"
)

// curvesCommand draws what bench's rows don't say: how costs grow.
func (p *program) curvesCommand() *cobra.Command {
	var (
		o       bench.Options
		folder  string
		timeout time.Duration
	)
	c := &cobra.Command{
		Use:   "curves",
		Short: "Draw how costs grow with backlog, subscribers, tenants and legs",
		Long: `Measure the processor time that a resume, a delivery, an append and the suite take at different sizes, draw a picture of
each as an SVG file, and print the values.

Everything stays on this machine's loopback, in temporary files.`,
		Example: `  wopwitness bench curves --svg docs/img`,
		Args:    cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			for _, name := range o.Rows {
				if !slices.Contains(bench.CurveNames(), name) {
					return runner.Usage(fmt.Errorf("--only %q is no picture; there are %s", name, strings.Join(bench.CurveNames(), ", ")))
				}
			}
			if folder == "" || o.Rounds < 1 || timeout <= 0 {
				return runner.Usage(errors.New("--svg names the folder for the pictures, --rounds is at least 1, --timeout a duration above zero, as 1s"))
			}
			ctx, cancel := context.WithTimeoutCause(cmd.Context(), timeout, fmt.Errorf("the limit of %s (--timeout) passed", timeout))
			defer cancel()
			var err error
			if o.Executable, err = os.Executable(); err != nil {
				return fmt.Errorf("find this executable: %w", err)
			}
			o.Progress = func(says string) { fmt.Fprintln(p.messages, says) }
			err = bench.Curves(ctx, o, func(picture curves.Picture) error { return p.draw(folder, picture) })
			switch {
			case err != nil && errors.Is(ctx.Err(), context.Canceled):
				p.exit = ledger.ExitInterrupted
			case err != nil:
				p.exit = ledger.ExitBlocked
			}
			return err
		},
	}
	fs := c.Flags()
	fs.StringVar(&folder, "svg", "", "folder for the pictures")
	fs.StringArrayVar(&o.Rows, "only", nil, "draw only this picture: "+strings.Join(bench.CurveNames(), ", ")+"; may be repeated")
	fs.IntVar(&o.Rounds, "rounds", 3, "how often each point is measured; the least counts")
	fs.StringVar(&o.Dir, "dir", "", "where the databases go (default the temporary folder)")
	fs.DurationVar(&timeout, "timeout", 15*time.Minute, "limit of all measurements")
	return c
}

func (p *program) draw(folder string, picture curves.Picture) error {
	if err := os.MkdirAll(folder, 0o755); err != nil { //nolint:gosec // pictures are for everybody
		return fmt.Errorf("make the folder for the pictures: %w", err)
	}
	f, err := os.Create(filepath.Join(folder, picture.Name+".svg")) //nolint:gosec // the operator's folder
	if err != nil {
		return err
	}
	if err := errors.Join(picture.SVG(f), f.Close()); err != nil {
		return err
	}
	fmt.Fprintf(p.output, "%s\n\n", picture.Title)
	return picture.Table(p.output)
}
