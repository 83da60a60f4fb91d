// Package runner carries one run from its options to its exit code: probe the host, choose the cases, drive them, judge,
// and write every report. It is what certify and run share.
//
// It holds no opinion about a host and reads no flags or environment. Start with Run.
package runner

import (
	"errors"
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/wopwitness/wopwitness/reports/bundle"
	"github.com/wopwitness/wopwitness/reports/ledger"
	"github.com/wopwitness/wopwitness/scenarios"
	"github.com/wopwitness/wopwitness/scenarios/registry"
)

// Options are one run. Host is filled in but for its cases, its policy and its progress.
type Options struct {
	Host       scenarios.Config
	Legs, RFCs []string // what is selected; all where empty
	Majors     []int    // empty: every major that the host serves
	Policy     ledger.Policy
	ExpectFail []string
	Ours       bool // the host is this program's own, so its clock may be moved without a word

	Out   string // the folder of the reports; "" writes none
	Bare  bool   // of the reports only the observations are written: for a program that reads the bundles from Output
	JSON  bool   // bundles on Output, everything else on Messages
	Trace bool   // each exchange as it was, after its leg

	SuiteVersion                      string
	HostName, HostVersion, HostVendor string
	Build                             *bundle.Build
	Key                               *bundle.Key
	Relaxations                       []string
	EvidenceTier                      string        // who runs the suite; "" is the host itself
	Limit                             time.Duration // of the whole run; 0 is none
}

// Console is where a run writes.
type Console struct {
	Output   io.Writer
	Messages io.Writer // warnings; with JSON everything for people
	Terminal bool      // what people read goes to a terminal
	NoColor  string    // the variable NO_COLOR
}

// usageError is a mistake in what the operator asked for.
type usageError struct{ err error }

func (e *usageError) Error() string { return e.err.Error() }
func (e *usageError) Unwrap() error { return e.err }

// Usage marks an error as the operator's to mend: the program ends with the exit code for usage.
func Usage(err error) error {
	if err == nil {
		return nil
	}
	return &usageError{err}
}

// IsUsage says whether the error is one.
func IsUsage(err error) bool {
	var u *usageError
	return errors.As(err, &u)
}

// check refuses names that name nothing, before anything is sent anywhere.
func (o Options) check() error {
	if err := registry.Validate(); err != nil {
		return fmt.Errorf("this build is broken: %w", err)
	}
	majors := o.Majors
	if len(majors) == 0 {
		majors = allMajors()
	}
	cases, err := registry.Select(o.Legs, o.RFCs, majors)
	if err != nil {
		return Usage(err)
	}
	if len(cases) == 0 {
		return Usage(fmt.Errorf("%s select no leg together, although each names some: leave one out (wopwitness legs lists them with their RFCs and majors)", o.selection()))
	}
	if err := ledger.CheckNames("--expect-fail", o.ExpectFail); err != nil {
		return Usage(err)
	}
	if o.Key != nil && o.Build == nil {
		return Usage(errors.New("--sign needs --build: a signature that doesn't say what was tested binds nothing"))
	}
	return nil
}

// selection is what the operator selected by, as it was given.
func (o Options) selection() string {
	var flags []string
	for _, leg := range o.Legs {
		flags = append(flags, fmt.Sprintf("--leg %q", leg))
	}
	if len(o.RFCs) > 0 {
		flags = append(flags, "--rfc "+strings.Join(o.RFCs, ","))
	}
	if len(o.Majors) == 1 {
		flags = append(flags, fmt.Sprintf("--target-major %d", o.Majors[0]))
	}
	last := len(flags) - 1
	return strings.Join(flags[:last], ", ") + " and " + flags[last]
}

func allMajors() []int { return []int{1, 2} }

// choose gives the cases: on the majors asked for, else on those that the host serves. Where none of the selected
// legs is of a served major, they are chosen on the majors they have, so that each says that the host lacks it.
func (o Options) choose(served []int) ([]registry.Case, error) {
	majors := o.Majors
	if len(majors) == 0 {
		majors = served
	}
	cases, err := registry.Select(o.Legs, o.RFCs, majors)
	if err != nil || len(cases) > 0 || len(o.Majors) > 0 {
		return cases, err
	}
	return registry.Select(o.Legs, o.RFCs, allMajors())
}
