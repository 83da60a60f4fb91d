package selfcheck

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"time"

	"github.com/wopwitness/wopwitness/cmd/wopwitness/internal/pages"
	"github.com/wopwitness/wopwitness/cmd/wopwitness/internal/runner"
	"github.com/wopwitness/wopwitness/reports/bundle"
	"github.com/wopwitness/wopwitness/reports/ledger"
	"github.com/wopwitness/wopwitness/reports/rejudge"
	"github.com/wopwitness/wopwitness/scenarios/registry"
	"github.com/wopwitness/wopwitness/witness/judges"
)

// runLimit is how long one host may keep a run busy. One that never comes to an end is cut off there, and what convicted it
// until then counts.
const runLimit = "3m"

// stopLimit is how long a program that was asked to stop may take.
const stopLimit = 10 * time.Second

// outcome is what one certify came to, by short leg id over all majors.
type outcome struct {
	convicted, blocked []string
	result             map[string]registry.Result
	detail             map[string]string
	rejudged           []string // where re-judging the file parts from the bundle
}

func (o outcome) resultOf(leg string) string {
	result, ok := o.result[leg]
	switch {
	case !ok:
		return "it was not run"
	case o.detail[leg] != "":
		return fmt.Sprintf("%s: %s", result, o.detail[leg])
	}
	return string(result)
}

// certify runs the program against its own mock host with one defect, and reads the bundles that it prints.
func (o Options) certify(ctx context.Context, d pages.Defect, folder string) (outcome, error) {
	if err := os.MkdirAll(folder, 0o755); err != nil {
		return outcome{}, err
	}
	reports := filepath.Join(folder, "reports")
	var stdout, stderr bytes.Buffer
	cmd := exec.CommandContext(ctx, o.Executable, o.arguments(d, folder, reports)...)
	cmd.Stdout, cmd.Stderr = &stdout, &stderr
	if d.Name != "" && !o.Full {
		// Several programs share the processors as it is. One that keeps to a single one loses no time in handing its
		// goroutines from one to another, which is a third of what a run costs. And one that lives for a second or two collects
		// its garbage only when that comes to a hundred megabytes, which it does in few.
		cmd.Env = append(os.Environ(), "GOMAXPROCS=1", "GOGC=off", "GOMEMLIMIT=128MiB")
	}
	cmd.Cancel = func() error { return cmd.Process.Signal(syscall.SIGTERM) }
	cmd.WaitDelay = stopLimit
	var exit *exec.ExitError
	if err := cmd.Run(); err != nil && !errors.As(err, &exit) {
		return outcome{}, fmt.Errorf("run certify: %w", err)
	}
	code := cmd.ProcessState.ExitCode()
	if !slices.Contains([]int{ledger.ExitOK, ledger.ExitFailed, ledger.ExitBlocked}, code) {
		return outcome{}, fmt.Errorf("certify ended with %d: %s", code, lastLines(stderr.String()))
	}
	var printed struct {
		Bundles []bundle.Bundle `json:"bundles"`
	}
	if err := json.Unmarshal(stdout.Bytes(), &printed); err != nil {
		return outcome{}, fmt.Errorf("certify ended with %d and printed no bundles: %w: %s", code, err, lastLines(stderr.String()))
	}
	return read(printed.Bundles, filepath.Join(reports, runner.ObservationsFile))
}

func (o Options) arguments(d pages.Defect, folder, reports string) []string {
	args := []string{"certify", "--json", "--out", reports}
	switch o.Store {
	case "":
	case "sqlite":
		args = append(args, "--store", "sqlite:"+filepath.Join(folder, "host.db"))
	default:
		args = append(args, "--store", o.Store)
	}
	if d.Name == "" {
		return args
	}
	args = append(args, "--defect", d.Name)
	if o.Full {
		return args
	}
	args = append(args, "--bare", "--event-timeout", "1s", "--timeout", runLimit)
	for _, glob := range o.families(d) {
		args = append(args, "--leg", glob)
	}
	if !slices.Contains(d.Convicts, volumeLeg) {
		args = append(args, "--volume", "100")
	}
	return args
}

// volumeLeg takes most of a run. A defect that it does not claim is given fewer events behind the cursor: enough to see
// that the leg acquits it, and not what only a thousand would show. The full check spares nothing.
const volumeLeg = "0250.volume"

// families are the legs that matter for a defect, as globs: those of its own text, and of the texts whose legs claim it.
// The text of the agent worker has a dozen parts that are about different things and are as long as an RFC together, so
// there a family is a part. The full check spares nothing: there every leg is run against every defect.
func (o Options) families(d pages.Defect) []string {
	var globs []string
	if d.RFC != agents {
		globs = append(globs, d.RFC+".*")
	}
	for _, l := range o.Legs {
		switch id := string(l.ID); {
		case !slices.Contains(d.Convicts, id) && !slices.Contains(d.May, id):
		case l.RFC == agents:
			globs = append(globs, id[:strings.LastIndex(id, ".")]+".*")
		case slices.Contains(d.Convicts, id):
			globs = append(globs, l.RFC+".*")
		}
	}
	slices.Sort(globs)
	return slices.Compact(globs)
}

// agents stands for an RFC in the legs about the agent worker.
const agents = "agentdlq"

// read sorts the rows, and judges the recorded file again.
func read(bundles []bundle.Bundle, observations string) (outcome, error) {
	out := outcome{convicted: []string{}, result: map[string]registry.Result{}, detail: map[string]string{}}
	file, err := os.Open(observations)
	if err != nil {
		return outcome{}, err
	}
	defer func() { _ = file.Close() }()
	again, _, err := rejudge.Ledger(file, ledger.Table(judges.Table()))
	if err != nil {
		return outcome{}, err
	}
	for _, b := range bundles {
		for _, r := range b.Results.Requirements {
			leg := strings.TrimPrefix(r.ID, registry.LegID("").RequirementID())
			out.result[leg], out.detail[leg] = r.Result, r.Detail
			switch r.Result {
			case registry.Fail:
				out.convicted = append(out.convicted, leg)
			case registry.Blocked:
				out.blocked = append(out.blocked, leg)
			}
		}
		var rows []registry.Row
		for _, r := range again.Major(b.Suite.TargetMajor) {
			rows = append(rows, r.Row)
		}
		for _, difference := range rejudge.Compare(b.Results.Requirements, rows) {
			out.rejudged = append(out.rejudged, difference.String())
		}
	}
	slices.Sort(out.convicted)
	out.convicted = slices.Compact(out.convicted)
	slices.Sort(out.blocked)
	out.blocked = slices.Compact(out.blocked)
	return out, nil
}

// lastLines is the end of what a program said, on one line.
func lastLines(text string) string {
	lines := strings.Split(strings.TrimSpace(text), "\n")
	return strings.Join(lines[max(0, len(lines)-5):], " / ")
}
