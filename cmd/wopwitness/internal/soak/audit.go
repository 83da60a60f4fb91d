package soak

import (
	"context"
	"fmt"
	"net/url"
	"strings"
)

// attempts is how often the dying workflow's node is tried, as its page says.
const attempts = 3

// Audit is what a host has of what it acknowledged to one tenant. The counts of what is wrong are of different things each.
type Audit struct {
	Log []string // ids of the durable events in the log's order, without the one it was read from

	Events   int // acknowledged
	Missing  int // of them, not in the log
	Repeated int // in the log more than once
	Unknown  int // in the log, and acknowledged to nobody

	Runs     int // acknowledged
	Crooked  int // of them, with another log than a run has that dies once
	Letters  int // entries of the sink
	Unsent   int // runs without an entry
	Doubled  int // runs with several
	Stranger int // entries of runs that nobody was told of

	First string // says of one wrong thing what it is
}

// Wrong counts everything that isn't as it must be.
func (a Audit) Wrong() int {
	return a.Missing + a.Repeated + a.Unknown + a.Crooked + a.Unsent + a.Doubled + a.Stranger
}

// String is for a test's log.
func (a Audit) String() string {
	s := fmt.Sprintf("%d events acknowledged and %d in the log (%d missing, %d repeated, %d unknown); %d runs acknowledged (%d crooked) and %d entries in the sink (%d unsent, %d doubled, %d strangers)",
		a.Events, len(a.Log), a.Missing, a.Repeated, a.Unknown, a.Runs, a.Crooked, a.Letters, a.Unsent, a.Doubled, a.Stranger)
	if a.First != "" {
		s += "; " + a.First
	}
	return s
}

func (a *Audit) wrong(count *int, format string, args ...any) {
	if *count++; a.First == "" {
		a.First = "for one, " + fmt.Sprintf(format, args...)
	}
}

// Audit counts what the host has for a tenant once nobody writes for it any more. cursor is the id of the tenant's first
// event. The runs are given the time they need to end, within the context's.
func (l *Load) Audit(ctx context.Context, key, cursor string) (Audit, error) {
	var a Audit
	last, err := l.Event(ctx, key)
	if err != nil {
		return a, err
	}
	l.mu.Lock()
	events, runs := append([]string{}, l.events[key]...), append([]string{}, l.runs[key]...)
	l.mu.Unlock()
	if a.Log, err = l.replay(ctx, key, cursor, last); err != nil {
		return a, err
	}
	a.countEvents(events, cursor)
	if err := l.auditRuns(ctx, &a, key, runs); err != nil {
		return a, err
	}
	entries, err := l.letters(ctx, key)
	a.countLetters(runs, entries)
	return a, err
}

func (a *Audit) countEvents(acknowledged []string, cursor string) {
	shown := map[string]int{cursor: 1}
	for _, id := range a.Log {
		if shown[id]++; shown[id] == 2 {
			a.wrong(&a.Repeated, "event %s is there more than once", id)
		}
	}
	a.Events = len(acknowledged)
	known := map[string]bool{}
	for _, id := range acknowledged {
		if known[id] = true; shown[id] == 0 {
			a.wrong(&a.Missing, "event %s was acknowledged and isn't there", id)
		}
	}
	for _, id := range a.Log {
		if !known[id] {
			a.wrong(&a.Unknown, "event %s is there and was acknowledged to nobody", id)
		}
	}
}

// replay reads the log from behind the cursor to the last event, over as many streams as it takes.
func (l *Load) replay(ctx context.Context, key, cursor, last string) ([]string, error) {
	var ids []string
	s := Subscriber{Key: key, Cursor: cursor, Event: func(id string) bool {
		ids = append(ids, id)
		return id != last
	}}
	for s.Cursor != last {
		if err := ctx.Err(); err != nil {
			return nil, fmt.Errorf("read the log: after %d events: %w", len(ids), context.Cause(ctx))
		}
		if err := s.Read(ctx, l.client.Transport, l.URL()); err != nil {
			return nil, err
		}
	}
	return ids, nil
}

// runEvent is what the audit reads of an event of a run.
type runEvent struct {
	Type     string
	Sequence int
	Payload  struct{ Attempt, Attempts int }
}

func (l *Load) auditRuns(ctx context.Context, a *Audit, key string, runs []string) error {
	a.Runs = len(runs)
	want := dyingLog()
	for _, id := range runs {
		got, err := l.log(ctx, key, id)
		if err != nil {
			return err
		}
		if got != want {
			a.wrong(&a.Crooked, "run %s has the log\n%s\nand not\n%s\n", id, got, want)
		}
	}
	return nil
}

// dyingLog is the log of a run that dies after its attempts, as log tells it.
func dyingLog() string {
	out := []string{"run.started"}
	for n := range attempts {
		if n > 0 {
			out = append(out, fmt.Sprint("node.retried ", n+1))
		}
		out = append(out, fmt.Sprint("node.started ", n+1), fmt.Sprint("node.failed ", n+1))
	}
	return strings.Join(append(out, fmt.Sprint("run.dead-lettered ", attempts), "run.failed"), ", ")
}

// log waits for the end of a run and tells its events in one line.
func (l *Load) log(ctx context.Context, key, run string) (string, error) {
	var told []string
	for next := 0; ; {
		var page struct {
			Events     []runEvent
			IsTerminal bool
		}
		path := fmt.Sprintf("/runs/%s/events/poll?timeout=5&afterSequence=%d", strings.ReplaceAll(run, "/", "~2F"), next-1)
		if err := l.read(ctx, key, path, &page); err != nil {
			return "", fmt.Errorf("follow run %s, which has come to [%s]: %w", run, strings.Join(told, ", "), err)
		}
		for _, e := range page.Events {
			if e.Sequence != next {
				return fmt.Sprintf("event %d where %d was due", e.Sequence, next), nil
			}
			next++
			text := e.Type
			if n := e.Payload.Attempt + e.Payload.Attempts; n > 0 {
				text += fmt.Sprint(" ", n)
			}
			told = append(told, text)
		}
		if page.IsTerminal && len(page.Events) == 0 {
			return strings.Join(told, ", "), nil
		}
	}
}

// letters counts the sink's entries by run.
func (l *Load) letters(ctx context.Context, key string) (map[string]int, error) {
	found := map[string]int{}
	for cursor := ""; ; {
		var page struct {
			Entries    []struct{ RunID string }
			NextCursor string
		}
		path := seams + "/deadletter/entries?limit=100"
		if cursor != "" {
			path += "&cursor=" + url.QueryEscape(cursor)
		}
		if err := l.read(ctx, key, path, &page); err != nil {
			return nil, err
		}
		for _, e := range page.Entries {
			found[e.RunID]++
		}
		if cursor = page.NextCursor; cursor == "" {
			return found, nil
		}
	}
}

func (a *Audit) countLetters(runs []string, entries map[string]int) {
	known := map[string]bool{}
	for _, id := range runs {
		switch known[id] = true; entries[id] {
		case 1:
		case 0:
			a.wrong(&a.Unsent, "run %s has no entry in the sink", id)
		default:
			a.wrong(&a.Doubled, "run %s has %d entries in the sink", id, entries[id])
		}
	}
	for id, n := range entries {
		if a.Letters += n; !known[id] {
			a.wrong(&a.Stranger, "the sink has run %s, which nobody was told of", id)
		}
	}
}
