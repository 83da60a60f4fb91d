package render

import (
	"fmt"
	"io"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/wopwitness/wopwitness/reports/ledger"
	"github.com/wopwitness/wopwitness/scenarios/registry"
)

// Terminal shows a run while it goes: a line a leg as it ends and, where the destination is a terminal, one more line
// that tells what runs now. Its methods may be called from several goroutines.
type Terminal struct {
	out   io.Writer
	paint Paint
	live  bool
	total int

	mu    sync.Mutex
	done  int
	shown string // the progress line that stands now, "" where none does
	stop  func()
}

// NewTerminal shows a run of total cases. live draws the progress line.
func NewTerminal(out io.Writer, total int, live bool, paint Paint) *Terminal {
	return &Terminal{out: out, paint: paint, live: live, total: total, stop: func() {}}
}

// Started tells that a case runs. The progress line counts seconds until the case ends.
func (t *Terminal) Started(c registry.Case) {
	if !t.live {
		return
	}
	t.halt()
	began := time.Now()
	draw := func() {
		t.mu.Lock()
		defer t.mu.Unlock()
		t.clear()
		t.shown = fmt.Sprintf("      %s  %d of %d  %s", c.Leg.ID, t.done+1, t.total, time.Since(began).Truncate(time.Second))
		fmt.Fprint(t.out, t.paint.Dim(t.shown))
	}
	draw()
	quit, ended := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(ended)
		second := time.NewTicker(time.Second)
		defer second.Stop()
		for {
			select {
			case <-second.C:
				draw()
			case <-quit:
				return
			}
		}
	}()
	t.stop = func() { close(quit); <-ended; t.stop = func() {} }
}

// Waits tells what the case that runs waits for: a line of its own, so that a log shows it too. How a wait goes on that
// was told before, again, is for a terminal alone. It may be called while the progress line is drawn.
func (t *Terminal) Waits(says string, again bool) {
	if again && !t.live {
		return
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	standing := t.shown
	t.clear()
	fmt.Fprintln(t.out, t.paint.Dim("      "+clip(Plain(says), 160)))
	if standing != "" {
		t.shown = standing
		fmt.Fprint(t.out, t.paint.Dim(standing))
	}
}

// Ended writes the line of a case that ended.
func (t *Terminal) Ended(r ledger.Row, elapsed time.Duration) {
	t.halt()
	t.mu.Lock()
	defer t.mu.Unlock()
	t.clear()
	t.done++
	says := r.Leg.Title
	if r.Result != registry.Pass {
		says = r.Says
	}
	fmt.Fprintf(t.out, "%s  %-34s %7s  %s\n", t.paint.Result(r.Result), caseName(r), roughly(elapsed), clip(Plain(says), 160))
}

// Close takes the progress line away and waits for what draws it.
func (t *Terminal) Close() {
	t.halt()
	t.mu.Lock()
	defer t.mu.Unlock()
	t.clear()
}

func (t *Terminal) halt() { t.stop() }

// clear takes the progress line away. The lock is held.
func (t *Terminal) clear() {
	if t.shown != "" {
		fmt.Fprint(t.out, "\r\x1b[K")
		t.shown = ""
	}
}

func roughly(d time.Duration) string {
	switch {
	case d < time.Millisecond:
		return "<1ms"
	case d < time.Second:
		return d.Truncate(time.Millisecond).String()
	}
	return d.Truncate(100 * time.Millisecond).String()
}

// Ending is what the end of a run says beside its rows.
type Ending struct {
	Transcript string // path of observations.jsonl, "" where none was written
	ExpectFail []string
	Certified  []string // profiles with their major, as "hostEvents.replay (major 2)"
	Problem    string   // the one cause that stopped every leg, "" where there was none
	Lacking    []string // why nothing, or not every profile that the host shows, is certified, one line each
	Exit       int

	Limit string                // that the whole run's time limit passed and how far it had got; "" where it didn't
	Late  func(ledger.Row) bool // with Limit: whether the row had its end after that
}

// late says whether the row is blocked because the run's time was up: that is said once, for all of them.
func (e Ending) late(r ledger.Row) bool {
	return e.Limit != "" && r.Result == registry.Blocked && e.Late(r)
}

// Final writes the end of a run: every failure and blocked row, what else was left out and why, the totals and the verdict.
func Final(out io.Writer, l ledger.Ledger, e Ending, paint Paint) {
	expected := l.Expect(e.ExpectFail)
	section(out, "Failures", expected.Failures, e.Transcript, paint)
	section(out, "Failed as expected", expected.Expected, e.Transcript, paint)
	blocked := rowsOf(l, registry.Blocked)
	if e.Problem != "" {
		fmt.Fprintf(out, "\n%s  %s\n", paint.Result(registry.Blocked), clip(Plain(e.Problem), factLimit))
		blocked = slices.DeleteFunc(blocked, func(r ledger.Row) bool { return r.Says == e.Problem })
	}
	blocked = slices.DeleteFunc(blocked, e.late)
	blocked, more := distinct(blocked)
	section(out, "Blocked", blocked, e.Transcript, paint)
	if more > 0 {
		fmt.Fprintf(out, "and %d more for the same reasons\n", more)
	}
	for _, r := range expected.Unexpected {
		fmt.Fprintf(out, "\n%s\n", passedUnexpectedly(r))
	}
	if e.Limit != "" {
		fmt.Fprintf(out, "\n%s  %s; what came after is blocked\n", paint.Result(registry.Blocked), Plain(e.Limit))
	}
	fmt.Fprintf(out, "\n%s%s\n", totals(ledger.Count(l.Rows)), foreseen(expected))
	if len(e.Certified) > 0 {
		fmt.Fprintf(out, "certified: %s\n", strings.Join(e.Certified, ", "))
	}
	for _, why := range e.Lacking {
		fmt.Fprintf(out, "%s\n", clip(Plain(why), factLimit))
	}
	fmt.Fprintf(out, "%s\n", paint.Bold(conclusion(l, e)))
}

func section(out io.Writer, title string, rows []ledger.Row, transcript string, paint Paint) {
	if len(rows) == 0 {
		return
	}
	fmt.Fprintf(out, "\n%s\n", paint.Bold(title))
	for _, r := range rows {
		Failure(out, r, transcript, paint)
	}
}

// distinct drops blocked rows that say what an earlier one said, and counts them: one cause is said once.
func distinct(rows []ledger.Row) (kept []ledger.Row, dropped int) {
	seen := map[string]bool{}
	for _, r := range rows {
		key := string(r.Reason) + "\x00" + r.Says
		if seen[key] {
			dropped++
			continue
		}
		seen[key] = true
		kept = append(kept, r)
	}
	return kept, dropped
}

func rowsOf(l ledger.Ledger, result registry.Result) []ledger.Row {
	var rows []ledger.Row
	for _, r := range l.Rows {
		if r.Result == result {
			rows = append(rows, r)
		}
	}
	return rows
}

func totals(t ledger.Totals) string {
	return fmt.Sprintf("%d passed, %d failed, %d inapplicable, %d skipped, %d blocked",
		t.ExecutedPass, t.ExecutedFail, t.Inapplicable, t.Skipped, t.Blocked)
}
