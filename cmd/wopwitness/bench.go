package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/wopwitness/wopwitness/cmd/wopwitness/internal/bench"
	"github.com/wopwitness/wopwitness/cmd/wopwitness/internal/bench/limits"
	"github.com/wopwitness/wopwitness/cmd/wopwitness/internal/runner"
	"github.com/wopwitness/wopwitness/reports/ledger"
)

func (p *program) benchCommand() *cobra.Command {
	var (
		o       bench.Options
		asJSON  bool
		timeout time.Duration
	)
	c := &cobra.Command{
		Use:   "bench",
		Short: "Measure the mock host and the suite against what the machine can do",
		Long: `Measure how fast the mock host and the suite are, each beside a limit that is measured in the same run: the least code
that could do the same job. Both sides take turns, and what is judged is the median of their ratios.

Everything stays on this machine's loopback, in temporary files. The rows: ` + strings.Join(bench.Names(), ", ") + `.

Exit codes: 0 every bound holds; 1 one doesn't; 2 the command line is wrong; 3 something could not be measured;
130 interrupted.`,
		Example: `  wopwitness bench
  wopwitness bench --row append-32 --row fanout --rounds 9
  wopwitness bench --full --json > bench.json`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if err := bench.CheckRows(o.Rows); err != nil {
				return runner.Usage(err)
			}
			if o.Rounds < 1 || o.Time <= 0 || timeout <= 0 {
				return runner.Usage(errors.New("--rounds is at least 1, --time and --timeout are durations above zero, as 1s"))
			}
			ctx, cancel := context.WithTimeoutCause(cmd.Context(), timeout, fmt.Errorf("the limit of %s (--timeout) passed", timeout))
			defer cancel()
			return p.bench(ctx, o, asJSON)
		},
	}
	fs := c.Flags()
	fs.StringArrayVar(&o.Rows, "row", nil, "measure only this row; may be repeated")
	fs.BoolVar(&o.Full, "full", false, "the slow rows too: a whole self-check")
	fs.IntVar(&o.Rounds, "rounds", 5, "how often both sides of a row take their turn")
	fs.DurationVar(&o.Time, "time", time.Second, "how long one side of a round lasts, where time decides")
	fs.StringVar(&o.Dir, "dir", "", "where the databases go, to measure another disk (default the temporary folder)")
	fs.DurationVar(&timeout, "timeout", 15*time.Minute, "limit of the whole bench")
	fs.BoolVar(&asJSON, "json", false, "the result as JSON on standard output; progress is on standard error either way")
	c.AddCommand(p.limitCommand(), p.curvesCommand())
	return c
}

func (p *program) bench(ctx context.Context, o bench.Options, asJSON bool) (err error) {
	if o.Executable, err = os.Executable(); err != nil {
		return fmt.Errorf("find this executable: %w", err)
	}
	o.Progress = func(says string) { fmt.Fprintln(p.messages, says) }
	result, err := bench.Run(ctx, o)
	switch {
	case err != nil && errors.Is(ctx.Err(), context.Canceled):
		p.exit = ledger.ExitInterrupted
	case err != nil:
		p.exit = ledger.ExitBlocked
	case !result.Holds:
		p.exit = ledger.ExitFailed
	}
	if err != nil && len(result.Rows) == 0 {
		return err
	}
	if asJSON {
		return errors.Join(err, writeJSON(p.output, result))
	}
	return errors.Join(err, bench.Table(p.output, result))
}

// limitCommand is what bench runs in a process of its own.
func (p *program) limitCommand() *cobra.Command {
	var path string
	c := &cobra.Command{
		Use:    "limit NAME",
		Short:  "Serve a limit for bench",
		Hidden: true,
		Args:   cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			return limits.Serve(cmd.Context(), args[0], path, p.output)
		},
	}
	c.Flags().StringVar(&path, "db", "", "the database's file")
	return c
}
