package bench

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"time"

	"github.com/wopwitness/wopwitness/cmd/wopwitness/internal/bench/limits"
	"github.com/wopwitness/wopwitness/cmd/wopwitness/internal/runner"
)

// The bounds of the suite and selfcheck rows, and what the suite row is measured with.
const (
	suiteTime     = 2.0  // seconds
	selfcheckTime = 60.0 // seconds
	roundTrips    = 300  // whose median is the round-trip time
	quietUsual    = 20 * time.Millisecond
	quietLonger   = 60 * time.Millisecond
)

// suite measures a whole certify. What it spends in quiet windows is found by lengthening them: what a run takes longer
// then is that many windows more.
func (b *bench) suite(ctx context.Context, row *Row) (err error) {
	echo, err := b.startLimit(ctx, limits.Echo)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, echo.stop()) }()
	var wholes, quiets, processors []float64
	var trips int
	for i := range b.Rounds {
		trip, err := echo.roundTrip(ctx)
		if err != nil {
			return err
		}
		usual, err := b.certify(ctx, quietUsual)
		if err != nil {
			return err
		}
		longer, err := b.certify(ctx, quietLonger)
		if err != nil {
			return err
		}
		trips = usual.trips
		quiet := max(0, longer.took-usual.took) * float64(quietUsual) / float64(quietLonger-quietUsual)
		wholes, quiets, processors = append(wholes, usual.took), append(quiets, quiet), append(processors, usual.processor)
		row.Rounds = append(row.Rounds, Pair{Host: usual.took - min(quiet, usual.took), Limit: float64(trips) * trip})
		b.Progress(fmt.Sprintf("%s: round %d of %d: %s in all, %s of it in quiet windows", row.Name, i+1, b.Rounds,
			quantity(usual.took, seconds), quantity(quiet, seconds)))
	}
	row.settle()
	row.mustNotPass("times the limit", row.Ratio, 3, "")
	row.mustNotPass("in all", median(wholes), suiteTime, seconds)
	row.Notes = append(row.Notes, fmt.Sprintf("%d round trips; %s in quiet windows; %s of processor time, the mock host's included",
		trips, quantity(median(quiets), seconds), quantity(median(processors), seconds)))
	return nil
}

// roundTrip is the median time of a request that is answered at once, in seconds.
func (t target) roundTrip(ctx context.Context) (float64, error) {
	var took []float64
	for range roundTrips {
		start := time.Now()
		if err := t.emit(ctx); err != nil {
			return 0, err
		}
		took = append(took, time.Since(start).Seconds())
	}
	return median(took), nil
}

// certified is one run of the suite. Its times are in seconds.
type certified struct {
	took, processor float64
	trips           int // requests that the suite recorded
}

// certify runs the suite against the mock host in a process of its own.
func (b *bench) certify(ctx context.Context, quiet time.Duration) (c certified, err error) {
	out := b.file("certified")
	start := time.Now()
	state, err := b.program(ctx, "certify", "--json", "--out", out, "--quiet", quiet.String())
	if err != nil {
		return c, err
	}
	c.took = time.Since(start).Seconds()
	c.processor = (state.UserTime() + state.SystemTime()).Seconds()
	file, err := os.Open(filepath.Join(out, runner.ObservationsFile))
	if err != nil {
		return c, fmt.Errorf("count round trips: %w", err)
	}
	defer func() { _ = file.Close() }()
	c.trips, err = requests(file)
	return c, err
}

// requests counts the recorded requests in a file of observations: the members "request", wherever they stand.
func requests(observations io.Reader) (int, error) {
	n := 0
	lines := bufio.NewReader(observations)
	for {
		line, err := lines.ReadBytes('\n')
		if len(bytes.TrimSpace(line)) > 0 {
			var tree any
			if err := json.Unmarshal(line, &tree); err != nil {
				return 0, fmt.Errorf("count round trips: %w", err)
			}
			n += requestsIn(tree)
		}
		if errors.Is(err, io.EOF) {
			return n, nil
		}
		if err != nil {
			return 0, fmt.Errorf("count round trips: %w", err)
		}
	}
}

func requestsIn(tree any) int {
	n := 0
	switch v := tree.(type) {
	case []any:
		for _, member := range v {
			n += requestsIn(member)
		}
	case map[string]any:
		for name, member := range v {
			if name == "request" {
				n++
			}
			n += requestsIn(member)
		}
	}
	return n
}

// selfcheck measures one self-check; it takes too long for several.
func (b *bench) selfcheck(ctx context.Context, row *Row) error {
	start := time.Now()
	if _, err := b.program(ctx, "selfcheck", "--json"); err != nil {
		return err
	}
	row.Rounds = append(row.Rounds, Pair{Host: time.Since(start).Seconds()})
	row.settle()
	row.mustNotPass("in all", row.Host, selfcheckTime, seconds)
	return nil
}

// program runs a command of this program to its end. Any exit code but 0 is an error: what did not do its job was not fast
// at it.
func (b *bench) program(ctx context.Context, args ...string) (*os.ProcessState, error) {
	var stderr bytes.Buffer
	cmd := exec.CommandContext(ctx, b.Executable, args...)
	cmd.Cancel = func() error { return cmd.Process.Signal(syscall.SIGTERM) }
	cmd.WaitDelay = stopLimit
	cmd.Stderr = &stderr
	if err := cmd.Run(); err != nil {
		said := strings.Split(strings.TrimSpace(stderr.String()), "\n")
		return nil, fmt.Errorf("%s: %w: %s", args[0], err, strings.Join(said[max(0, len(said)-3):], " / "))
	}
	return cmd.ProcessState, nil
}
