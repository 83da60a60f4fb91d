package runner

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"time"

	"github.com/wopwitness/wopwitness/reports/ledger"
	"github.com/wopwitness/wopwitness/reports/render"
	"github.com/wopwitness/wopwitness/scenarios"
	"github.com/wopwitness/wopwitness/scenarios/registry"
	"github.com/wopwitness/wopwitness/witness"
	"github.com/wopwitness/wopwitness/witness/judges"
)

// Run does the run and gives its exit code. The error is for what kept it from being done or written; IsUsage tells the
// operator's mistakes from the rest. A context that is cancelled with scenarios.Interrupted ends the run where it
// is, and what was done is written.
func Run(ctx context.Context, o Options, console Console) (int, error) {
	if err := o.check(); err != nil {
		return ledger.ExitUsage, err
	}
	files, err := openFolder(o.Out)
	if err != nil {
		return ledger.ExitUsage, Usage(err)
	}
	defer files.close()
	if o.Limit > 0 {
		limited, cancel := context.WithTimeoutCause(ctx, o.Limit, errLimit)
		defer cancel()
		ctx = limited
	}
	facts, problem, err := scenarios.Probe(ctx, o.Host)
	if err != nil {
		files.abandon()
		return ledger.ExitUsage, Usage(err)
	}
	cases, err := o.choose(facts.Majors)
	if err != nil {
		files.abandon()
		return ledger.ExitUsage, Usage(err)
	}
	r := &live{options: o, console: console, files: files, cases: cases, facts: facts}
	r.table = r.reached.over(judges.Table())
	r.paint = render.Painting(console.Terminal, console.NoColor)
	if problem != nil && len(files.earlier) > 0 {
		err = files.leave(console.Messages)
	} else {
		err = files.replace(console.Messages)
	}
	if err != nil {
		return ledger.ExitUsage, Usage(err)
	}
	if err := files.begin(o, cases); err != nil {
		return ledger.ExitBlocked, err
	}
	if problem != nil {
		r.give(ctx, *problem)
	} else {
		r.drive(ctx)
	}
	return r.finish()
}

// live is a run as it goes on. Its methods are called from the run's goroutine only.
type live struct {
	options Options
	console Console
	files   *folder
	cases   []registry.Case
	facts   scenarios.HostFacts
	table   ledger.Table
	reached memo
	paint   render.Paint

	records     []witness.Record
	problem     *scenarios.Problem
	interrupted bool
	late        map[lateCase]bool // what ended after the run's time limit; nil where it didn't pass
	writing     error             // the first failure to write a record
}

// lateCase is a case that ended after the run's time limit.
type lateCase struct {
	leg   registry.LegID
	major int
}

// errLimit is what the run's context is cancelled with when its time is up.
var errLimit = errors.New("the run's time limit passed")

// noteLate keeps in mind that a case ended after the time limit, and says whether it did.
func (r *live) noteLate(ctx context.Context, record witness.Record) bool {
	if !errors.Is(context.Cause(ctx), errLimit) {
		return false
	}
	if r.late == nil {
		r.late = map[lateCase]bool{}
	}
	r.late[lateCase{record.Leg, record.Major}] = true
	return true
}

// limit says, where cases were blocked for want of time, how far the run had got.
func (r *live) limit(l ledger.Ledger, ending *render.Ending) {
	ending.Late = func(row ledger.Row) bool { return r.late[lateCase{row.Leg.ID, row.Major}] }
	late := 0
	for _, row := range l.Rows {
		if row.Result == registry.Blocked && ending.Late(row) {
			late++
		}
	}
	if late > 0 {
		ending.Limit = fmt.Sprintf("the limit of %s (--timeout) passed after %d of %s", r.options.Limit, len(l.Rows)-late, countOf(len(l.Rows)))
	}
}

// give records one problem for every case: it is said once, and no leg is tried.
func (r *live) give(ctx context.Context, p scenarios.Problem) {
	r.problem = &p
	r.interrupted = errors.Is(context.Cause(ctx), scenarios.Interrupted())
	for _, c := range r.cases {
		stop := &witness.Stop{Result: registry.Blocked, Reason: p.Reason, Says: p.Says}
		if p.Reason.HostFact() {
			stop.Result = registry.Inapplicable
		}
		r.keep(witness.Record{Leg: c.Leg.ID, Major: c.Major, Stop: stop})
	}
}

// drive runs the cases and keeps what they recorded. The ledger takes the entries that came out of the run, not those
// that passed by, so that a leg which was lost on the way is a row that says so.
func (r *live) drive(ctx context.Context) {
	r.warnOfClock()
	r.warnOfKeyB()
	people := r.people()
	terminal := render.NewTerminal(people, len(r.cases), r.console.Terminal && !r.options.Trace, r.paint)
	config := r.options.Host
	config.Cases, config.Strict, config.OptedOut = r.cases, r.options.Policy.Strict, r.options.Policy.OptedOut
	config.Progress = func(e scenarios.Event) {
		switch {
		case e.Started:
			terminal.Started(e.Case)
		case e.Says != "":
			terminal.Waits(e.Says, e.Again)
		case e.Entry != nil:
			r.reached.remember(*e.Entry)
			row := ledger.Judge(e.Case, e.Entry.Record, r.table, r.options.Policy)
			late := r.noteLate(ctx, e.Entry.Record)
			if !(e.Untried || late) || row.Result != registry.Blocked { // the one cause is said at the end
				terminal.Ended(row, e.Elapsed)
			}
			r.write(e.Entry.Record)
			if r.options.Trace {
				render.Trace(people, e.Entry.Record, r.options.Host.BaseURL)
			}
		}
	}
	outcome := scenarios.Run(ctx, config, r.facts)
	terminal.Close()
	r.problem, r.interrupted = outcome.Problem, outcome.Interrupted
	for _, e := range outcome.Entries {
		r.records = append(r.records, e.Record)
	}
}

func (r *live) keep(record witness.Record) {
	r.records = append(r.records, record)
	r.write(record)
}

func (r *live) write(record witness.Record) {
	if err := r.files.record(record); err != nil && r.writing == nil {
		r.writing = err
	}
}

func (r *live) warnOfClock() {
	if r.options.Ours || r.options.Host.NoClock {
		return
	}
	var legs []string
	for _, c := range r.cases {
		if c.Leg.MovesClock || slices.Contains(c.Leg.Needs, registry.NeedClock) {
			legs = append(legs, string(c.Leg.ID))
		}
	}
	if legs = slices.Compact(legs); len(legs) > 0 {
		fmt.Fprintf(r.console.Messages, "warning: where the host mounts a clock seam, its clock will be moved for %s; --no-clock leaves these out\n", shortList(legs))
	}
}

func countOf(requirements int) string {
	if requirements == 1 {
		return "1 requirement"
	}
	return fmt.Sprintf("%d requirements", requirements)
}

// shortList names a few legs, and of many the first ones and how many there are.
func shortList(legs []string) string {
	const most, first = 8, 3
	if len(legs) <= most {
		return strings.Join(legs, ", ")
	}
	return fmt.Sprintf("%s and %d more requirements", strings.Join(legs[:first], ", "), len(legs)-first)
}

// warnOfKeyB says at once what would otherwise be read at the end of a long run.
func (r *live) warnOfKeyB() {
	needs := func(c registry.Case) bool { return slices.Contains(c.Leg.Needs, registry.NeedSecondTenant) }
	if legs := slices.DeleteFunc(slices.Clone(r.cases), func(c registry.Case) bool { return !needs(c) }); r.options.Host.KeyB == "" && len(legs) > 0 {
		fmt.Fprintf(r.console.Messages, "warning: no key of a second tenant (--key-b or OPENWOP_TEST_TENANT_B_API_KEY) leaves %s about "+
			"tenants kept apart unwitnessed, and profiles that rest on one of them uncertified\n", countOf(len(legs)))
	}
	if r.facts.KeyB != nil && slices.ContainsFunc(r.cases, needs) {
		fmt.Fprintf(r.console.Messages, "warning: %s; what needs a second tenant is blocked\n", render.Plain(r.facts.KeyB.Says))
	}
}

// finish judges, writes every report and shows the end of the run.
func (r *live) finish() (int, error) {
	l := ledger.Build(r.cases, r.records, r.table, r.options.Policy, r.interrupted)
	exit := l.Exit(r.options.ExpectFail)
	bundles, err := r.bundles(l, time.Now())
	if err != nil {
		return ledger.ExitBlocked, err
	}
	ending := render.Ending{Transcript: r.files.transcript(), ExpectFail: r.options.ExpectFail, Certified: certified(bundles), Exit: exit}
	ending.Lacking = r.lacking(l, bundles, exit)
	if r.problem != nil {
		ending.Problem = r.problem.Says
	}
	r.limit(l, &ending)
	if err := errors.Join(r.writing, r.files.finish(r, l, bundles, ending)); err != nil {
		return ledger.ExitBlocked, err
	}
	render.Final(r.people(), l, ending, r.paint)
	r.warnOfRestart(l)
	if o := r.options; o.Key == nil && len(ending.Certified) > 0 {
		fmt.Fprintln(r.console.Messages, "warning: the bundles are not signed, and verify refuses one that isn't: give --sign (wopwitness keygen makes a key)")
	}
	if r.files.path != "" {
		fmt.Fprintf(r.people(), "reports in %s\n", render.Plain(r.files.path))
	}
	if r.options.JSON {
		if err := printBundles(r.console.Output, bundles); err != nil {
			return ledger.ExitBlocked, err
		}
	}
	return exit, nil
}

// warnOfRestart says that nothing but the operator's word shows a restart: a command that restarts nothing looks the same as
// processes that take turns.
func (r *live) warnOfRestart(l ledger.Ledger) {
	if r.options.Host.RestartCmd == "" {
		return
	}
	for _, row := range l.Rows {
		if row.Verdict != nil && slices.ContainsFunc(row.Verdict.Notes, func(n witness.Note) bool { return n.Code == witness.NeverAway }) {
			fmt.Fprintln(r.console.Messages, "warning: the host answered throughout --restart-cmd, as one does whose processes take turns; "+
				"see that the command does replace them, since nothing else shows it")
			return
		}
	}
}

// people is where what people read goes.
func (r *live) people() io.Writer {
	if r.options.JSON {
		return r.console.Messages
	}
	return r.console.Output
}
