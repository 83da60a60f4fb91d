// Package bench measures how fast the mock host and the suite are, each against a limit that is measured beside it on the
// same machine: the least code that could do the same. What it judges is the ratio, so that a verdict holds on any machine.
//
// It works over loopback only, in files of its own that it removes, and is never a timed test. Start with Run; rows.go
// lists what is measured, and package limits is what it is compared with.
package bench

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"time"

	"github.com/wopwitness/wopwitness/scenarios/registry"
)

// Options are one run.
type Options struct {
	Executable string        // this program, that serves the host and the limits
	Rows       []string      // names of what to measure; all but the slow ones where empty
	Full       bool          // the slow ones too
	Rounds     int           // pairs of host and limit for each row, at least 1
	Time       time.Duration // how long one side of a round lasts, where time decides
	Dir        string        // where the databases go, a folder that exists; "" for the system's temporary one
	Progress   func(says string)
}

// bench is one run as it goes on.
type bench struct {
	Options
	folder string
	files  int
}

// CheckRows refuses names that no row has, with the nearest that one has.
func CheckRows(names []string) error {
	for _, name := range names {
		if _, ok := find(name); !ok {
			return fmt.Errorf("--row %q is not a row%s (the rows are %s)", name, registry.Nearest(name, Names()), strings.Join(Names(), ", "))
		}
	}
	return nil
}

// Run measures the rows in the order of the table. An error is for what could not be measured, not for a bound that
// doesn't hold; it comes with the rows that were finished.
func Run(ctx context.Context, o Options) (_ Result, err error) {
	result := Result{Machine: Machine{OS: runtime.GOOS, Arch: runtime.GOARCH, CPUs: runtime.NumCPU(), Go: runtime.Version()}, Rows: []Row{}}
	if err := CheckRows(o.Rows); err != nil {
		return result, err
	}
	b := &bench{Options: o}
	b.Rounds = max(b.Rounds, 1)
	if b.folder, err = os.MkdirTemp(o.Dir, "wopwitness-bench-"); err != nil {
		return result, fmt.Errorf("bench: %w", err)
	}
	defer func() { err = errors.Join(err, os.RemoveAll(b.folder)) }()
	for _, e := range chosen(o.Rows, o.Full) {
		row := Row{Name: e.name, What: e.what, Limit: e.limit, Unit: e.unit, Rounds: []Pair{}, Checks: []Check{}}
		b.Progress(e.name + ": " + e.what)
		err := e.measure(b, ctx, &row)
		if stopped := context.Cause(ctx); stopped != nil {
			err = stopped // what failed then failed of that
		}
		if err != nil {
			return result, fmt.Errorf("bench %s: %w", e.name, err)
		}
		result.Rows = append(result.Rows, row)
	}
	result.Holds = result.holds()
	return result, nil
}

// file is a fresh path in the run's folder.
func (b *bench) file(name string) string {
	b.files++
	return filepath.Join(b.folder, fmt.Sprintf("%d-%s", b.files, name))
}

// side measures one half of a round, or of a slice of one.
type side func(context.Context) (float64, error)

// pairs measures host and limit in turn, so that what else the machine does meets both. A round is cut into slices of both
// sides, whose means it gives; each side is first in every other slice.
func (b *bench) pairs(ctx context.Context, row *Row, slices int, host, limit side) error {
	turn := 0
	for i := range b.Rounds {
		var sum Pair
		for range slices {
			p, err := pair(ctx, turn%2 == 1, host, limit)
			if err != nil {
				return err
			}
			sum.Host, sum.Limit = sum.Host+p.Host, sum.Limit+p.Limit
			turn++
		}
		p := Pair{Host: sum.Host / float64(slices), Limit: sum.Limit / float64(slices)}
		row.Rounds = append(row.Rounds, p)
		b.Progress(fmt.Sprintf("%s: round %d of %d: %s, limit %s", row.Name, i+1, b.Rounds, quantity(p.Host, row.Unit), quantity(p.Limit, row.Unit)))
	}
	row.settle()
	return nil
}

func pair(ctx context.Context, limitFirst bool, host, limit side) (p Pair, err error) {
	if limitFirst {
		if p.Limit, err = limit(ctx); err != nil {
			return p, err
		}
	}
	if p.Host, err = host(ctx); err != nil || limitFirst {
		return p, err
	}
	p.Limit, err = limit(ctx)
	return p, err
}
