package scenarios

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"runtime/debug"
	"slices"
	"time"

	"github.com/onsi/ginkgo/v2"
	"github.com/onsi/gomega"

	"github.com/wopwitness/wopwitness/scenarios/registry"
	"github.com/wopwitness/wopwitness/witness"
)

// entryName marks the report entries that are a leg's outcome.
const entryName = "wopwitness-leg"

// reported is an entry as the report's value: Ginkgo encodes it only between processes, and would also spell it out.
type reported Entry

func (e reported) String() string { return string(e.Record.Leg) }

// stop ends a leg without a verdict. It travels as an error from wherever the scenario noticed.
type stop struct{ witness.Stop }

func (s *stop) Error() string { return string(s.Reason) + ": " + s.Says }

// blocked ends a leg over a fact of the run.
func blocked(reason registry.Reason, format string, args ...any) error {
	return &stop{witness.Stop{Result: registry.Blocked, Reason: reason, Says: fmt.Sprintf(format, args...)}}
}

// inapplicable ends a leg over a fact of the host, or of what the operator supplied.
func inapplicable(reason registry.Reason, format string, args ...any) error {
	return &stop{witness.Stop{Result: registry.Inapplicable, Reason: reason, Says: fmt.Sprintf(format, args...)}}
}

// runLeg is the life of one leg: gates, drive, record, judge, report; then Ginkgo is told. The entry is written before
// anything skips or fails, so that the ledger never depends on how Ginkgo ended the spec.
func (r *run) runLeg(ctx ginkgo.SpecContext, c registry.Case) {
	began := time.Now()
	untried := r.problem != nil
	if !untried {
		r.progress(Event{Case: c, Started: true})
	}
	entry := r.outcomeOf(ctx, c)
	if s, b := entry.Record.Stop, r.host.KeyB; s != nil && b != nil && s.Says == b.Says {
		untried = true
	}
	ginkgo.AddReportEntry(entryName, reported(entry), ginkgo.ReportEntryVisibilityNever)
	r.progress(Event{Case: c, Entry: &entry, Elapsed: time.Since(began), Untried: untried})
	if s := entry.Record.Stop; s != nil && s.Reason == registry.Unreachable && !untried {
		r.noticeDeath(ctx, c.Major)
	}

	if s := entry.Record.Stop; s != nil {
		ginkgo.Skip(string(s.Result) + ": " + string(s.Reason))
	}
	gomega.Expect(entry.Verdict).To(Acquit())
}

// outcomeOf drives and judges one leg. It always gives a record: a panic of the suite is a stop like any other.
func (r *run) outcomeOf(ctx context.Context, c registry.Case) (entry Entry) {
	entry.Record = witness.Record{Leg: c.Leg.ID, Major: c.Major}
	defer func() {
		if p := recover(); p != nil {
			entry.Record.Observation, entry.Verdict = nil, nil
			entry.Record.Stop = &witness.Stop{Result: registry.Blocked, Reason: registry.Panicked,
				Says: fmt.Sprintf("%v\n%s", p, debug.Stack())}
		}
	}()
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	defer context.AfterFunc(r.ctx, func() { cancel(context.Cause(r.ctx)) })()

	observation, cause, err := r.drive(ctx, c)
	entry.Record.Cause = cause
	if err == nil {
		err = ctx.Err() // what was cut short was not waited for, so nothing can be judged by it
	}
	if err != nil {
		entry.Record.Stop = r.stopOf(ctx, err)
		return entry
	}
	if entry.Record.Observation, err = json.Marshal(observation); err != nil {
		entry.Record.Stop = &witness.Stop{Result: registry.Blocked, Reason: registry.Unreadable, Says: err.Error()}
		return entry
	}
	verdict, err := r.judges[c.Leg.ID](entry.Record.Observation)
	if err != nil {
		entry.Record.Stop = &witness.Stop{Result: registry.Blocked, Reason: registry.Unreadable, Says: err.Error()}
		return entry
	}
	entry.Verdict = &verdict
	return entry
}

// drive tests the gates and hands the scenario its hold on the host.
func (r *run) drive(ctx context.Context, c registry.Case) (observation any, cause string, err error) {
	if err := ctx.Err(); err != nil {
		return nil, "", err
	}
	if r.optedOut(c.Leg) {
		return nil, "", &stop{witness.Stop{Result: registry.Skipped, Reason: registry.OptedOut}}
	}
	if err := r.gate(c); err != nil {
		return nil, "", err
	}
	if r.problem != nil {
		return nil, "", blocked(r.problem.Reason, "%s", r.problem.Says)
	}
	i := slices.IndexFunc(r.specs, func(s spec) bool { return s.id == c.Leg.ID })
	if i < 0 {
		return nil, "", blocked(registry.NotRun, "no scenario drives this leg")
	}
	d, err := r.newDrive(c)
	if err != nil {
		return nil, "", err
	}
	defer d.close()
	if c.Leg.Last && slices.Contains(c.Leg.Needs, registry.NeedClock) {
		return d.watchingClock(ctx, r.specs[i].drive)
	}
	observation, err = r.specs[i].drive(ctx, d)
	return observation, d.cause, err
}

// stopOf turns what ended a drive into the stop that the record keeps.
func (r *run) stopOf(ctx context.Context, err error) *witness.Stop {
	var s *stop
	switch {
	case errors.As(err, &s) && ctx.Err() == nil:
		return &s.Stop
	case r.interrupted():
		return &witness.Stop{Result: registry.Blocked, Reason: registry.Interrupted, Says: "interrupted before there was anything to judge"}
	case ctx.Err() != nil:
		return &witness.Stop{Result: registry.Blocked, Reason: registry.Timeout, Says: "the time limit passed: " + err.Error()}
	case errors.As(err, &s):
		return &s.Stop
	}
	return &witness.Stop{Result: registry.Blocked, Reason: registry.UnexpectedAnswer, Says: err.Error()}
}
