package scenarios

import (
	"context"
	"encoding/json"
	"sync/atomic"
	"time"

	"github.com/wopwitness/wopwitness/seams/cause"
	"github.com/wopwitness/wopwitness/seams/sse"
	"github.com/wopwitness/wopwitness/witness/deadletter"
	"github.com/wopwitness/wopwitness/witness/observe"
)

// watcher reads one run until it has ended, and until its dead letter is there where that is wanted.
type watcher struct {
	d       *Drive
	r       *deadletter.Run
	reader  deadletter.LogReader
	log     deadletter.Log // what the polls have shown
	letter  time.Duration  // how long the dead letter is waited for, once the run has ended; 0 where none is wanted
	failed  bool           // the dead letter is waited for only where the run did not complete
	loss    time.Duration  // how long a run that the host doesn't answer for is asked for
	began   time.Time
	endedAt time.Time // when the end was first seen
	asked   time.Time // when the last poll was sent
	news    time.Time // when the log last showed something new
	reached time.Time // when the host last answered for the run at all
	told    time.Time
	telling string // the kind of wait that was told last
	idle    int    // the index in Reads of the last poll that showed nothing new, -1 for none
	noPoll  int    // polls that were answered as if there were no such operation
	bytes   int    // of all polls
	nudge   time.Duration
	nudged  time.Duration
}

const (
	longestNudge = 10 * time.Minute // in all, of the host's clock, to let a back-off pass
	mostLog      = 32 << 20         // bytes of one run's log: a fixture's has a few kilobytes
	// A host without the poll operation answers so each time; a run may be a moment late.
	pollTries = 3
	// Polls of a run that has not ended are at most this far apart.
	longestPause = 250 * time.Millisecond
)

// waits is what a run is read for beside its end. On a host that let one leg wait in vain, only a leg that asks whether
// the thing is there waits wholly again.
type waits struct {
	letter bool // the dead letter
	wholly bool
	failed bool // the dead letter only of a run that doesn't complete
}

// vain is what a run over a host has waited for in vain.
type vain struct{ letter, run atomic.Bool }

func (d *Drive) waitFor(wholly bool, before *atomic.Bool) time.Duration {
	whole := d.run.config.eventTimeout()
	if wholly || !before.Load() {
		return whole
	}
	return min(whole, 5*d.Quiet())
}

// watch reads the run's log by polls, or by its stream where the host has no polls, and its snapshot.
func (d *Drive) watch(ctx context.Context, r *deadletter.Run, wait waits) {
	now := time.Now()
	w := &watcher{d: d, r: r, failed: wait.failed, loss: d.waitFor(wait.wholly, &d.run.vain.run), began: now, news: now, reached: now, told: now, idle: -1, nudge: time.Second}
	if wait.letter {
		w.letter = d.waitFor(wait.wholly, &d.run.vain.letter)
	}
	r.Bound, r.Patience = micros(d.exhaustionBound()), micros(d.run.config.eventTimeout())
	first := 2 * time.Millisecond
	if !d.run.host.Loopback {
		first = 100 * time.Millisecond
	}
	pause := first
	for turn := 0; ctx.Err() == nil; turn++ {
		w.poll(ctx)
		if turn%4 == 3 || len(r.Snapshots) == 0 || !r.LogReadable() {
			w.snapshot(ctx)
		}
		if w.done() {
			break
		}
		if w.noPoll >= pollTries && r.Readable() {
			w.stream(ctx, w.d.exhaustionBound()-time.Since(w.began))
			break
		}
		if w.showsAPart() {
			w.stream(ctx, w.d.run.config.eventTimeout())
			break
		}
		w.waitOn(ctx)
		if !d.Sleep(ctx, pause) {
			break
		}
		if pause = min(pause*3/2, longestPause); w.idle < 0 {
			pause = first // a run that goes on is soon over
		}
	}
	w.settle(ctx)
}

// done says whether there is nothing more to wait for: all is there, or its time is over.
func (w *watcher) done() bool {
	now := time.Now()
	if w.bytes > mostLog {
		return true
	}
	if w.r.EndedIn(w.log) == "" {
		lost := now.Sub(w.reached) > w.loss
		if lost {
			w.d.run.vain.run.Store(true)
		}
		return lost || now.Sub(w.began) > w.d.exhaustionBound()
	}
	if w.endedAt.IsZero() {
		w.endedAt = now
	}
	if len(w.log.Terminals()) == 0 && !w.exhausted() && now.Sub(w.began) <= w.d.exhaustionBound() {
		return false // a poll may show a part of what there is, so it is asked again until it shows nothing new
	}
	if w.noPoll > 0 && !w.r.LogReadable() {
		return w.noPoll > pollTries // the stream comes first
	}
	if w.letter == 0 || len(w.log.DeadLetters()) > 0 || w.failed && w.r.EndedIn(w.log) == "completed" {
		return true
	}
	if now.Sub(w.endedAt) <= w.letter {
		return false
	}
	w.d.run.vain.letter.Store(true)
	return true
}

// exhausted says whether a poll showed nothing new though the run was known to have ended: one that was sent before may have
// been answered before.
func (w *watcher) exhausted() bool { return w.idle >= 0 && w.asked.After(w.endedAt) }

// poll reads what is new in the log. Of the polls that show nothing new only the last is kept.
func (w *watcher) poll(ctx context.Context) {
	w.asked = time.Now()
	x := cause.PollRun(ctx, w.d.Session, observe.CredentialA, w.r.RunID, w.log.Last(), w.d.Major)
	switch x.Status() {
	case 200:
		w.reached = time.Now()
	case 404, 405, 410, 501:
		w.noPoll++
	}
	if w.idle >= 0 {
		w.r.Reads = append(w.r.Reads[:w.idle], w.r.Reads[w.idle+1:]...)
		w.idle = -1
	}
	w.r.Reads = append(w.r.Reads, x)
	if x.Response != nil {
		w.bytes += len(x.Response.Body)
	}
	before := len(w.log)
	w.reader.Poll(x)
	if w.log = w.reader.Log(); len(w.log) > before {
		w.news = time.Now()
	} else {
		w.idle = len(w.r.Reads) - 1
	}
}

// snapshot reads the run. One that says nothing new takes the place of the last, so that the first that shows the end
// is kept.
func (w *watcher) snapshot(ctx context.Context) {
	x := cause.ReadRun(ctx, w.d.Session, observe.CredentialA, w.r.RunID, w.d.Major)
	if x.Status() == 200 {
		w.reached = time.Now()
	}
	list := w.r.Snapshots
	if n := len(list); n > 0 && list[n-1].Status() == x.Status() && !ends(list[n-1]) {
		list = list[:n-1]
	}
	w.r.Snapshots = append(list, x)
}

func ends(x observe.Exchange) bool {
	switch deadletter.StatusOf(x) {
	case "completed", "failed", "cancelled":
		return true
	}
	return false
}

// stream reads the log as a stream until it shows what is wanted or its time is over.
func (w *watcher) stream(ctx context.Context, within time.Duration) {
	w.r.Streams = append(w.r.Streams, w.d.readLog(ctx, w.r.RunID, within, w.letter > 0))
}

// showsAPart says whether the run has ended and its polls don't come to the end of its log. On major 1 nobody knows how to
// ask for what comes behind a page, and the stream has no pages.
func (w *watcher) showsAPart() bool {
	return w.d.Major == 1 && w.exhausted() && len(w.log) > 0 && len(w.log.Terminals()) == 0 && w.r.EndedIn(w.log) != ""
}

// readLog reads the stream of a run's log until it has ended, or shows the terminal event and, where it is wanted, the
// dead letter.
func (d *Drive) readLog(ctx context.Context, runID string, within time.Duration, wanted bool) observe.Stream {
	s := sse.Open(ctx, d.Session, cause.RunStream(observe.CredentialA, runID, d.Major))
	defer s.Close()
	if s.Opened() {
		s.Wait(ctx, within, func([]frame) bool {
			log := deadletter.ReadLog(nil, []observe.Stream{s.Record()})
			return len(log.Terminals()) > 0 && (!wanted || len(log.DeadLetters()) > 0)
		})
		s.Wait(ctx, d.Quiet(), func([]frame) bool { return false })
	}
	s.Close()
	return s.Record()
}

// waitOn tells what a long wait is for, and where the host's clock stands in the suite's hands lets a back-off pass.
func (w *watcher) waitOn(ctx context.Context) {
	stall, now := 3*time.Second, time.Now()
	if w.d.run.host.Loopback {
		stall = time.Second
	}
	if now.Sub(w.news) < stall || now.Sub(w.told) < stall {
		return
	}
	w.told = now
	log := w.log
	seen := "nothing yet"
	if len(log) > 0 {
		seen = log[len(log)-1].Type
	}
	what, since, bound := w.wait(now, stall)
	tell := w.d.tell
	if what == w.telling {
		tell = w.d.tellOn
	}
	w.telling = what
	tell("waiting for a run of %s to %s: %s of at most %s, its log shows %s", w.r.Workflow, what,
		now.Sub(since).Round(time.Second), bound, seen)
	if w.r.EndedIn(w.log) != "" || w.d.run.config.NoClock || w.nudged+w.nudge > longestNudge {
		return
	}
	if _, mode, _ := cause.ClockNow(ctx, w.d.Session, w.d.Major); mode != "manual" {
		w.nudged = longestNudge
		return
	}
	if tell = w.d.tellOn; w.nudged == 0 {
		tell = w.d.tell
	}
	tell("moving the host's clock by %s, to let a back-off pass", w.nudge)
	move, err := w.d.Advance(ctx, w.nudge)
	w.r.Moves = append(w.r.Moves, move)
	if err != nil {
		w.nudged = longestNudge
		return
	}
	w.nudged += w.nudge
	w.nudge *= 2
}

// wait is what the run is read for now, since when, and for how long at most: the bounds that done keeps to.
func (w *watcher) wait(now time.Time, stall time.Duration) (what string, since time.Time, bound time.Duration) {
	switch {
	case w.r.EndedIn(w.log) != "":
		return "show a dead letter", w.endedAt, w.letter
	case now.Sub(w.reached) >= stall:
		return "be answered for", w.reached, w.loss
	}
	return "end", w.began, w.d.exhaustionBound()
}

// settle reads everything once more after the quiet window: the whole log, and the snapshot until it says the end too.
func (w *watcher) settle(ctx context.Context) {
	if !w.d.Sleep(ctx, w.d.Quiet()) {
		return
	}
	if w.r.LogReadable() && len(w.r.Streams) == 0 {
		w.r.Reads = append(w.r.Reads, w.d.pollWhole(ctx, w.r.RunID, w.log)...)
	}
	deadline := time.Now().Add(w.d.run.config.eventTimeout())
	for {
		w.snapshot(ctx)
		last := w.r.Snapshots[len(w.r.Snapshots)-1]
		if last.Status() != 200 || ends(last) || w.r.Ended() == "" || time.Now().After(deadline) || !w.d.Sleep(ctx, 10*time.Millisecond) {
			return
		}
	}
}

// pollWhole reads the log from its first event on. A host may show it a page at a time: where the first answer lacks what the
// log is known to have, the rest is asked for.
func (d *Drive) pollWhole(ctx context.Context, runID string, known deadletter.Log) []observe.Exchange {
	var reads []observe.Exchange
	var reader deadletter.LogReader
	for after, last := int64(-1), known.Last(); ; {
		x := cause.PollRun(ctx, d.Session, observe.CredentialA, runID, after, d.Major)
		reads = append(reads, x)
		reader.Poll(x)
		now := reader.Log().Last()
		if now >= last && len(reads) == 1 || now <= after || x.Status() != 200 || len(reads) > mostPages {
			return reads
		}
		after = now
	}
}

// pollLetter reads the log from just before the dead letter that it is known to have, so that a page however short shows it.
func (d *Drive) pollLetter(ctx context.Context, r deadletter.Run) observe.Exchange {
	after := int64(-1)
	if letters := r.Log().DeadLetters(); len(letters) > 0 && letters[0].HasSequence {
		after = letters[0].Sequence - 1
	}
	return cause.PollRun(ctx, d.Session, observe.CredentialA, r.RunID, after, d.Major)
}

func micros(d time.Duration) observe.Micros { return observe.Micros(d.Microseconds()) }

// runIDOf is the run that an answer names, "" where it names none.
func runIDOf(x observe.Exchange) string {
	var body struct {
		RunID string `json:"runId"`
	}
	if x.Response == nil || json.Unmarshal(x.Response.Body, &body) != nil {
		return ""
	}
	return body.RunID
}
