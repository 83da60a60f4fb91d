package main

import (
	"errors"
	"fmt"
	"time"

	"github.com/spf13/pflag"

	"github.com/wopwitness/wopwitness/cmd/wopwitness/internal/runner"
	"github.com/wopwitness/wopwitness/scenarios"
)

// sharedFlags are what certify and run have in common.
type sharedFlags struct {
	legs, rfcs, expectFail       []string
	out                          string
	json, trace                  bool
	volume                       int
	quiet, eventTimeout, timeout time.Duration
}

func (f *sharedFlags) register(fs *pflag.FlagSet) {
	fs.StringArrayVar(&f.legs, "leg", nil, "run only legs that match this pattern; may be repeated")
	fs.StringSliceVar(&f.rfcs, "rfc", nil, "run only the legs of these RFCs, as 0250,0053")
	fs.StringArrayVar(&f.expectFail, "expect-fail", nil, "legs that are expected to fail; one that passes is a failure")
	fs.StringVar(&f.out, "out", "reports/out", "folder of the reports")
	fs.BoolVar(&f.json, "json", false, "the bundles as JSON on standard output, everything else on standard error")
	fs.BoolVar(&f.trace, "trace", false, "show every exchange, as curl and the answer")
	fs.IntVar(&f.volume, "volume", 1200, "events behind the cursor in the volume leg")
	fs.DurationVar(&f.quiet, "quiet", 0, "how long to read on for what must not come (default 20ms on loopback, 500ms otherwise)")
	fs.DurationVar(&f.eventTimeout, "event-timeout", 10*time.Second, "how long one event may take to arrive")
	fs.DurationVar(&f.timeout, "timeout", 15*time.Minute, "limit of the whole run")
}

// options gives the part of the options that these flags decide.
func (f sharedFlags) options() (runner.Options, error) {
	switch {
	case f.out == "":
		return runner.Options{}, errors.New("--out is empty: it names the folder of the reports")
	case f.volume < 1:
		return runner.Options{}, fmt.Errorf("--volume %d: expected at least 1", f.volume)
	case f.quiet < 0 || f.eventTimeout <= 0 || f.timeout <= 0:
		return runner.Options{}, fmt.Errorf("--quiet, --event-timeout and --timeout are durations above zero, as 500ms or 10s")
	}
	rfcs := make([]string, 0, len(f.rfcs))
	for _, r := range f.rfcs {
		rfcs = append(rfcs, rfcNumber(r))
	}
	return runner.Options{
		Host: scenarios.Config{Volume: f.volume, Quiet: f.quiet, EventTimeout: f.eventTimeout},
		Legs: f.legs, RFCs: rfcs, ExpectFail: f.expectFail,
		Out: f.out, JSON: f.json, Trace: f.trace, SuiteVersion: suiteVersion, Limit: f.timeout,
	}, nil
}
