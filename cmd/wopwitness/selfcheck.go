package main

import (
	"errors"
	"fmt"
	"os"
	"path"
	"runtime"
	"runtime/debug"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/wopwitness/wopwitness/cmd/wopwitness/internal/boot"
	"github.com/wopwitness/wopwitness/cmd/wopwitness/internal/pages"
	"github.com/wopwitness/wopwitness/cmd/wopwitness/internal/runner"
	"github.com/wopwitness/wopwitness/cmd/wopwitness/internal/selfcheck"
	"github.com/wopwitness/wopwitness/reports/ledger"
	"github.com/wopwitness/wopwitness/scenarios/registry"
)

func (p *program) selfcheckCommand() *cobra.Command {
	var (
		pattern, store string
		full, asJSON   bool
		instances      bool
		markdown, page bool
		jobs           int
	)
	c := &cobra.Command{
		Use:   "selfcheck",
		Short: "Prove the verdicts: serve every defect and see that the right legs convict it",
		Long: `Have this program certify its mock host, right and with each defect in turn, and compare what convicted with what
claims to. It fails when a defect survives, when a leg kills nothing, when a leg convicts without claiming to or claims
and doesn't, when the right host is convicted or blocked, and when the recorded observations give other rows.

Each defect is tested by the legs of its own RFC and with a short time-out for events; --full runs every leg.`,
		Args: noArguments(""),
		RunE: func(cmd *cobra.Command, _ []string) error {
			switch {
			case markdown:
				return pages.KillMatrix(p.output, registry.Legs(), killed())
			case page:
				return pages.KillMatrixHTML(p.output, registry.Legs(), killed())
			}
			executable, err := os.Executable()
			if err != nil {
				return fmt.Errorf("find this executable: %w", err)
			}
			if boot.NamesSchema(store) {
				return runner.Usage(errors.New("--store names a schema (search_path), and each host is given one of its own: leave it out"))
			}
			if cmd.Flags().Changed("defect") && pattern == "" {
				return runner.Usage(errors.New("--defect is empty: give a pattern of defects, as 'cursor-*', or leave it out for all of them"))
			}
			if !cmd.Flags().Changed("jobs") && strings.HasPrefix(store, "postgres") {
				jobs = min(jobs, databaseJobs)
			}
			defects, err := matching(pattern, instances)
			if err != nil {
				return runner.Usage(err)
			}
			return p.selfcheck(cmd, selfcheck.Options{
				Executable: executable, Defects: defects, Legs: registry.Legs(), All: pattern == "" && !instances,
				Store: store, Full: full, Jobs: jobs,
			}, asJSON)
		},
	}
	fs := c.Flags()
	fs.StringVar(&pattern, "defect", "", "only defects that match this pattern")
	fs.StringVar(&store, "store", "memory", "the hosts' store: memory, sqlite (a file each) or postgres://…")
	fs.BoolVar(&instances, "instances", false, "only defects of several instances over one store: the share to prove on PostgreSQL")
	fs.BoolVar(&full, "full", false, "every leg against every defect, with the time-outs of a real run; else the legs of its RFC, or its part of the agent worker")
	fs.IntVar(&jobs, "jobs", 6*runtime.NumCPU(), "hosts tested at once; each mostly waits (over a database at most 6 unless given)")
	fs.BoolVar(&asJSON, "json", false, "the result as JSON on standard output, progress on standard error")
	fs.BoolVar(&markdown, "markdown", false, "the claims as the page of the documentation")
	fs.BoolVar(&page, "html", false, "the claims as one page for a browser")
	_ = fs.MarkHidden("markdown")
	_ = fs.MarkHidden("html")
	return c
}

// databaseJobs is how many hosts are tested at once over one database: each has two instances with a pool of connections, and a
// server allows a hundred unless it is told otherwise.
const databaseJobs = 6

// rarely is how often this program collects its garbage while it judges again what others recorded, in percent of its heap's
// growth: it reads megabytes by the hundred and keeps none.
const rarely = 400

func (p *program) selfcheck(cmd *cobra.Command, o selfcheck.Options, asJSON bool) error {
	defer debug.SetGCPercent(debug.SetGCPercent(rarely))
	result, err := selfcheck.Run(cmd.Context(), o, func(done, total int, t selfcheck.Tried) {
		name, state := t.Name, "ok"
		if name == "" {
			name = "(the right host)"
		}
		if len(t.Problems) > 0 {
			state = strings.Join(t.Problems, "; ")
		}
		fmt.Fprintf(p.messages, "%3d/%d  %-36s %s\n", done, total, name, state)
	})
	if err != nil {
		if cmd.Context().Err() != nil {
			p.exit = ledger.ExitInterrupted
		}
		return err
	}
	if len(result.Problems) > 0 {
		p.exit = ledger.ExitFailed
	}
	if asJSON {
		return writeJSON(p.output, result)
	}
	if err := selfcheck.Matrix(p.output, result, o.Legs); err != nil {
		return err
	}
	fmt.Fprintln(p.output)
	for _, problem := range result.Problems {
		fmt.Fprintln(p.output, problem)
	}
	_, err = fmt.Fprintf(p.output, "%d defects, %d problems\n", len(result.Defects), len(result.Problems))
	return err
}

// matching gives the defects whose names match a pattern, all where it is empty; only those of several instances where
// that is asked for.
func matching(pattern string, instances bool) ([]pages.Defect, error) {
	all := slices.DeleteFunc(killed(), func(d pages.Defect) bool { return instances && !d.Instances })
	if pattern == "" {
		return all, nil
	}
	var chosen []pages.Defect
	var names []string
	for _, d := range all {
		ok, err := path.Match(pattern, d.Name)
		if err != nil {
			return nil, fmt.Errorf("--defect %q is not a valid pattern: %w", pattern, err)
		}
		if ok {
			chosen = append(chosen, d)
		}
		names = append(names, d.Name)
	}
	if len(chosen) == 0 {
		return nil, fmt.Errorf("--defect %q matches no defect%s (docs/kill-matrix.md lists them all)", pattern, registry.Nearest(pattern, names))
	}
	return chosen, nil
}
