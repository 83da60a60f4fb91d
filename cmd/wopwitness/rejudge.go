package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"

	"github.com/spf13/cobra"

	"github.com/wopwitness/wopwitness/cmd/wopwitness/internal/runner"
	"github.com/wopwitness/wopwitness/reports/bundle"
	"github.com/wopwitness/wopwitness/reports/ledger"
	"github.com/wopwitness/wopwitness/reports/observations"
	"github.com/wopwitness/wopwitness/reports/rejudge"
	"github.com/wopwitness/wopwitness/reports/render"
	"github.com/wopwitness/wopwitness/reports/verify"
	"github.com/wopwitness/wopwitness/scenarios/registry"
	"github.com/wopwitness/wopwitness/witness/judges"
)

func (p *program) rejudgeCommand() *cobra.Command {
	var (
		against string
		asJSON  bool
	)
	c := &cobra.Command{
		Use:   "rejudge OBSERVATIONS",
		Short: "Reach the verdicts of a recorded run again, with no host",
		Long: `Reach the verdicts of a recorded run again, with no host.

OBSERVATIONS is the observations.jsonl of a run. The exit code is the one that the run itself would have ended with;
of a file that ends before its run did it is 1 if something failed up to there, and else 3.
With --bundle the rows are compared with those of the bundle, digests of the observations included, and the bundle is held
against its own digests and, where it publishes its key, its signatures. The exit code says whether all of it agrees:
0 it does, 1 it doesn't.`,
		Args: arguments("OBSERVATIONS"),
		RunE: func(cmd *cobra.Command, args []string) error {
			if err := checkGiven(cmd.Flags(), "bundle"); err != nil {
				return runner.Usage(err)
			}
			file, err := os.Open(args[0])
			if err != nil {
				return runner.Usage(fmt.Errorf("observations: %w", err))
			}
			defer func() { _ = file.Close() }()
			l, read, err := rejudge.Ledger(file, ledger.Table(judges.Table()))
			if err != nil {
				if _, wrong := readBundle(args[0]); wrong == nil {
					err = fmt.Errorf("this is a bundle: give the %s of its run, and the bundle by --bundle", runner.ObservationsFile)
				}
				return runner.Usage(fmt.Errorf("%s: %w", args[0], err))
			}
			if against != "" {
				return p.compare(l, read.Run, against, asJSON)
			}
			return p.showRejudged(l, args[0], asJSON)
		},
	}
	c.Flags().StringVar(&against, "bundle", "", "compare with the rows of this bundle")
	c.Flags().BoolVar(&asJSON, "json", false, "as JSON on standard output")
	return c
}

func (p *program) showRejudged(l ledger.Ledger, transcript string, asJSON bool) error {
	p.exit = l.Exit(nil)
	if asJSON {
		majors := map[string][]registry.Row{}
		for _, major := range l.Majors() {
			majors[fmt.Sprint(major)] = rowsOf(l, major)
		}
		return writeJSON(p.output, map[string]any{"rows": majors})
	}
	paint := render.Painting(p.outputTerminal, p.env("NO_COLOR"))
	terminal := render.NewTerminal(p.output, len(l.Rows), false, paint)
	for _, r := range l.Rows {
		terminal.Ended(r, 0)
	}
	render.Final(p.output, l, render.Ending{Transcript: transcript, Exit: p.exit}, paint)
	return nil
}

// compare ties the observations to a bundle: what the bundle contradicts in itself, whether both are of one run, and
// every row, digests included.
func (p *program) compare(l ledger.Ledger, run observations.Run, path string, asJSON bool) error {
	raw, err := readFile(path)
	if err != nil {
		return runner.Usage(fmt.Errorf("bundle: %w", err))
	}
	refusals := verify.Content(raw)
	differences, rows, another := []rejudge.Difference{}, 0, false
	if b, err := readBundle(path); err == nil {
		rows = len(b.Results.Requirements)
		differences = append(rejudge.Origin(run, b), rejudge.Compare(b.Results.Requirements, rowsOf(l, b.Suite.TargetMajor))...)
		another = rejudge.AnotherRun(b, differences)
	} else if len(refusals) == 0 {
		return runner.Usage(err)
	}
	if len(differences)+len(refusals) > 0 {
		p.exit = ledger.ExitFailed
	}
	if asJSON {
		return writeJSON(p.output, map[string]any{"refusals": refusals, "differences": differences, "anotherRun": another})
	}
	if another {
		fmt.Fprintln(p.output, "these observations belong to another run than the bundle's; what follows is how the two differ")
	}
	for _, r := range refusals {
		fmt.Fprintf(p.output, "the bundle itself is refused: %s at %s: %s\n", r.Code, render.Plain(r.Path), render.Plain(r.Says))
	}
	for _, d := range differences {
		fmt.Fprintln(p.output, render.Plain(d.String()))
	}
	if p.exit == ledger.ExitOK {
		fmt.Fprintf(p.output, "the observations give the %d rows of the bundle\n", rows)
	}
	return nil
}

func rowsOf(l ledger.Ledger, major int) []registry.Row {
	rows := []registry.Row{}
	for _, r := range l.Major(major) {
		rows = append(rows, r.Row)
	}
	return rows
}

// maxBundle is more than any bundle needs: 10,000 rows are about 4 MiB.
const maxBundle = 64 << 20

// readBundle reads a bundle's file. It checks its form only as far as its rows need: whether it is genuine is another
// question.
func readBundle(path string) (bundle.Bundle, error) {
	raw, err := readFile(path)
	if err != nil {
		return bundle.Bundle{}, fmt.Errorf("bundle: %w", err)
	}
	return parseBundle(path, raw)
}

// parseBundle reads what readFile gave of the file at path.
func parseBundle(path string, raw []byte) (bundle.Bundle, error) {
	if len(raw) > maxBundle {
		return bundle.Bundle{}, fmt.Errorf("bundle %s: larger than %d bytes", path, maxBundle)
	}
	d := json.NewDecoder(bytes.NewReader(raw))
	d.DisallowUnknownFields()
	var b bundle.Bundle
	if err := d.Decode(&b); errors.Is(err, io.EOF) {
		return bundle.Bundle{}, fmt.Errorf("bundle %s is empty", path)
	} else if err != nil {
		return bundle.Bundle{}, fmt.Errorf("bundle %s: %w", path, err)
	}
	if _, err := d.Token(); !errors.Is(err, io.EOF) {
		return bundle.Bundle{}, fmt.Errorf("bundle %s: more than one JSON value", path)
	}
	if b.BundleVersion != bundle.Version {
		return bundle.Bundle{}, fmt.Errorf("bundle %s: its version is %q and not %q", path, b.BundleVersion, bundle.Version)
	}
	return b, nil
}

func writeJSON(out io.Writer, v any) error {
	e := json.NewEncoder(out)
	e.SetEscapeHTML(false)
	e.SetIndent("", "  ")
	return e.Encode(v)
}
