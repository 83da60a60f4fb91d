package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/wopwitness/wopwitness/scenarios/registry"
)

// atOnce is how many runs against hosts of the tests go on together: most of a run is waiting.
const atOnce = 8

// visit is one run of the program against a host of the tests.
type visit struct {
	ended
	rows map[string]string // leg on major → result, or result and reason
	out  string            // folder of the reports
	peak int64             // the most memory that was resident, in bytes
	took time.Duration
}

// visiting runs a case a name, a few at once, and gives what each came to as its subtest asks for it.
func visiting(t *testing.T, names []string, run func(ctx context.Context, name string) (visit, error)) func(name string) (visit, error) {
	t.Helper()
	return visitingAtOnce(t, atOnce, names, run)
}

// visitingAtOnce is visiting with as many at once as are asked for.
func visitingAtOnce(t *testing.T, atOnce int, names []string, run func(ctx context.Context, name string) (visit, error)) func(name string) (visit, error) {
	t.Helper()
	type result struct {
		visit visit
		err   error
	}
	results := map[string]chan result{}
	for _, name := range names {
		results[name] = make(chan result, 1)
	}
	slots := make(chan struct{}, atOnce)
	ctx := t.Context()
	go func() {
		for _, name := range names {
			slots <- struct{}{}
			go func() {
				defer func() { <-slots }()
				v, err := run(ctx, name)
				results[name] <- result{v, err}
			}()
		}
	}()
	return func(name string) (visit, error) {
		r := <-results[name]
		return r.visit, r.err
	}
}

// judged runs a case a name, so many at once, and holds the rows and the exit code of each against what a right host gets.
func judged(t *testing.T, atOnce int, names []string, run func(ctx context.Context, dir, name string) (visit, error), wrong func(v visit, name string) []string) {
	t.Helper()
	dirs := map[string]string{}
	for _, name := range names {
		dirs[name] = t.TempDir()
	}
	result := visitingAtOnce(t, atOnce, names, func(ctx context.Context, name string) (visit, error) { return run(ctx, dirs[name], name) })
	for _, name := range names {
		t.Run(name, func(t *testing.T) {
			v, err := result(name)
			if err != nil {
				t.Fatal(err)
			}
			for _, w := range wrong(v, name) {
				t.Error(w)
			}
			t.Logf("%s in %s", countsOf(v.rows), v.took.Round(time.Millisecond))
			if t.Failed() {
				t.Log(v.stderr)
			}
		})
	}
}

// unlike says how a visit differs from the rows and the exit code that are wanted of it.
func unlike(v visit, rows map[string]string, exit int) []string {
	wrong := differences(v.rows, rows)
	if len(v.rows) == 0 {
		wrong = append(wrong, "no row was written")
	}
	if v.code != exit {
		wrong = append(wrong, fmt.Sprintf("exit %d, want %d", v.code, exit))
	}
	return wrong
}

// visitHost runs the program against a host and reads what it wrote.
func visitHost(ctx context.Context, dir, url string, args ...string) (visit, error) {
	executable, err := os.Executable()
	if err != nil {
		return visit{}, err
	}
	v := visit{out: filepath.Join(dir, "out")}
	args = append([]string{"run", "--host", url, "--json", "--out", v.out}, args...)
	c := exec.CommandContext(ctx, executable, args...)
	c.Env = []string{asProgram + "=1", "HOME=" + dir, "TMPDIR=" + dir}
	c.Dir = dir
	var stdout, stderr bytes.Buffer
	c.Stdout, c.Stderr = &stdout, &stderr
	began := time.Now()
	var exit *exec.ExitError
	if err := c.Run(); err != nil && !errors.As(err, &exit) {
		return v, err
	}
	v.took = time.Since(began)
	v.ended = ended{code: c.ProcessState.ExitCode(), stdout: stdout.String(), stderr: stderr.String()}
	if usage, ok := c.ProcessState.SysUsage().(*syscall.Rusage); ok {
		v.peak = usage.Maxrss << 10 // Linux counts kibibytes
	}
	v.rows, err = visitedRows(v.stdout)
	if err != nil {
		return v, fmt.Errorf("%w\nexit %d\n%s", err, v.code, v.stderr)
	}
	return v, nil
}

// visitedRows reads the rows out of the bundles on standard output.
func visitedRows(stdout string) (map[string]string, error) {
	var all struct {
		Bundles []struct {
			Suite   struct{ TargetMajor int }
			Results struct{ Requirements []registry.Row }
		}
	}
	if err := json.Unmarshal([]byte(stdout), &all); err != nil {
		return nil, fmt.Errorf("standard output is not the bundles: %w", err)
	}
	rows := map[string]string{}
	for _, b := range all.Bundles {
		for _, r := range b.Results.Requirements {
			text := string(r.Result)
			if r.Detail != "" {
				text += " " + r.Detail
			}
			rows[onMajor(strings.TrimPrefix(r.ID, "openwop.requirement."), b.Suite.TargetMajor)] = text
		}
	}
	return rows, nil
}

func onMajor(leg string, major int) string { return fmt.Sprintf("%s/%d", leg, major) }

// differences tells rows that aren't as expected, in order.
func differences(got, want map[string]string) []string {
	var all []string
	for leg, text := range want {
		if got[leg] != text {
			all = append(all, fmt.Sprintf("%s: %q, want %q", leg, got[leg], text))
		}
	}
	for leg, text := range got {
		if _, ok := want[leg]; !ok {
			all = append(all, fmt.Sprintf("%s: %q, want no such row", leg, text))
		}
	}
	slices.Sort(all)
	return all
}

// countsOf is how many rows came to each result.
func countsOf(rows map[string]string) string {
	counts := map[string]int{}
	for _, text := range rows {
		counts[text]++
	}
	var parts []string
	for _, text := range slices.Sorted(maps.Keys(counts)) {
		parts = append(parts, fmt.Sprintf("%d × %s", counts[text], text))
	}
	return strings.Join(parts, ", ")
}
