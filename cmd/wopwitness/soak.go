package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/wopwitness/wopwitness/cmd/wopwitness/internal/boot"
	"github.com/wopwitness/wopwitness/cmd/wopwitness/internal/runner"
	"github.com/wopwitness/wopwitness/cmd/wopwitness/internal/soak"
	"github.com/wopwitness/wopwitness/reports/ledger"
)

// soakCommand is what make soak runs: about the mock host, and of no use to who tests another.
func (p *program) soakCommand() *cobra.Command {
	var (
		o       soak.Options
		timeout time.Duration
	)
	c := &cobra.Command{
		Use:    "soak --store postgres://…",
		Short:  "Work the mock host hard, kill it all the while, and count what is left",
		Hidden: true,
		Long: `Serve the mock host from two processes over one PostgreSQL database, with many writers and subscribers that come and
go, and kill the processes all the while. Then count, for each subscriber, event, run and sink entry.

Exit codes: 0 nothing was lost and nothing came twice; 1 something was; 2 the command line is wrong; 3 it could not be
finished; 130 interrupted.`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			switch {
			case !strings.HasPrefix(o.Store, "postgres"):
				return runner.Usage(errors.New("--store is the URL of a PostgreSQL database, postgres://…: two processes share it"))
			case o.Subscribers < 2 || o.Events < 20 || o.Runs < 1 || o.Kills < 1 || o.Writers < 1 || timeout <= 0:
				return runner.Usage(errors.New("--subscribers is at least 2, --events 20, and --runs, --kills and --writers 1; --timeout is above zero"))
			}
			ctx, cancel := context.WithTimeoutCause(cmd.Context(), timeout, fmt.Errorf("the limit of %s (--timeout) passed", timeout))
			defer cancel()
			return p.soak(ctx, o)
		},
	}
	fs := c.Flags()
	fs.StringVar(&o.Store, "store", "", "URL of a PostgreSQL database; the soak has a schema of its own there")
	fs.IntVar(&o.Subscribers, "subscribers", 1000, "subscribers, over two tenants")
	fs.IntVar(&o.Events, "events", 18_000, "durable events, over two tenants: five a second for an hour are 18,000")
	fs.IntVar(&o.Runs, "runs", 600, "runs that die, over two tenants")
	fs.IntVar(&o.Kills, "kills", 1000, "kill -9, over two instances")
	fs.IntVar(&o.Writers, "writers", 16, "writers at once")
	fs.DurationVar(&timeout, "timeout", 10*time.Minute, "limit of the whole soak")
	return c
}

func (p *program) soak(ctx context.Context, o soak.Options) (err error) {
	if o.Executable, err = os.Executable(); err != nil {
		return fmt.Errorf("find this executable: %w", err)
	}
	own, release, err := boot.OwnStore(ctx, o.Store)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, release()) }()
	o.Store = own
	o.Progress = func(says string) { fmt.Fprintln(p.messages, says) }
	result, err := soak.Run(ctx, o)
	switch {
	case err != nil && errors.Is(ctx.Err(), context.Canceled):
		p.exit = ledger.ExitInterrupted
	case err != nil:
		p.exit = ledger.ExitBlocked
	case !result.Holds():
		p.exit = ledger.ExitFailed
	}
	if err != nil {
		return err
	}
	return soak.Table(p.output, result)
}
