package soak

import (
	"fmt"
	"io"
	"strconv"
	"sync"
	"text/tabwriter"
	"time"
)

// The bounds on a process's resident memory. They are wide: what leaks or queues grows with the events that are sent, of
// which there are far more.
const (
	mostMemory = 256 << 20 // at any time
	mostGrowth = 48 << 20  // from one half of the undisturbed time to the other
)

// memory is the most that a process had resident, over both.
type memory struct {
	mu                    sync.Mutex
	closed                bool
	earlier, later, after int64 // in the halves of the undisturbed time, and while processes were killed
}

// warmUp is the part of the undisturbed work in which memory isn't compared: buffers and rings fill.
const warmUp = 0.2

// add takes a sample at that part of the undisturbed work.
func (m *memory) add(resident int64, part float64) {
	m.mu.Lock()
	defer m.mu.Unlock()
	switch {
	case m.closed:
		m.after = max(m.after, resident)
	case part < warmUp:
	case part < (1+warmUp)/2:
		m.earlier = max(m.earlier, resident)
	default:
		m.later = max(m.later, resident)
	}
}

// close ends the undisturbed time.
func (m *memory) close() {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.closed = true
}

// Result is what a soak has found.
type Result struct {
	Rows []Row
}

// Row is one thing that was counted. Want says what must be, or is empty where there is nothing to hold.
type Row struct {
	What, Got, Want string
	Holds           bool
}

// Holds says whether everything is as it must be; nothing counted holds nothing.
func (r Result) Holds() bool {
	for _, row := range r.Rows {
		if !row.Holds {
			return false
		}
	}
	return len(r.Rows) > 0
}

// result makes the rows.
func (s *soaking) result(audits []Audit, seen Seen) Result {
	var r Result
	add := func(what string, got int, wants ...int) {
		row := Row{What: what, Got: thousands(got), Holds: true}
		if len(wants) > 0 {
			row.Want, row.Holds = thousands(wants[0]), got == wants[0]
		}
		r.Rows = append(r.Rows, row)
	}
	var all Audit
	logs, deliveries := 0, 0
	for n, a := range audits {
		all.Events += a.Events
		all.Runs += a.Runs
		all.Missing += a.Missing
		all.Repeated += a.Repeated
		all.Unknown += a.Unknown
		all.Crooked += a.Crooked
		all.Letters += a.Letters
		all.Unsent += a.Unsent
		all.Doubled += a.Doubled
		all.Stranger += a.Stranger
		logs += len(a.Log) + 1 // the cursor itself is the first
		deliveries += len(a.Log) * ((s.Subscribers + 1 - n) / 2)
		if a.First != "" {
			r.Rows = append(r.Rows, Row{What: a.First, Got: "-"})
		}
	}
	add("kill -9", int(s.died.Load()), s.Kills)
	add("events acknowledged", all.Events, s.Events+2*len(keys())) // one to begin at and one to end at
	add("events in the log", logs, all.Events)
	add("of them missing", all.Missing, 0)
	add("of them repeated", all.Repeated, 0)
	add("acknowledged to nobody", all.Unknown, 0)
	add("runs acknowledged", all.Runs, s.Runs)
	add("runs that didn't die just once, after three attempts", all.Crooked, 0)
	add("entries in the sink", all.Letters, all.Runs)
	add("runs without an entry, or with several", all.Unsent+all.Doubled+all.Stranger, 0)
	add("subscribers", seen.Subscribers, s.Subscribers)
	add("events that they saw", seen.Events, deliveries)
	add("of them missing", seen.Missing, 0)
	add("of them repeated", seen.Repeated, 0)
	add("of them unknown", seen.Unknown, 0)
	add("subscribers with another order", seen.Parted, 0)
	add("streams opened", s.crowd.Joined())
	add("requests told to come again", s.load.Away())
	s.memory.mu.Lock()
	defer s.memory.mu.Unlock()
	m := func(what string, got, most int64) {
		row := Row{What: what, Got: mebibytes(got), Holds: true}
		if most > 0 {
			row.Want, row.Holds = "≤ "+mebibytes(most), got <= most
		}
		r.Rows = append(r.Rows, row)
	}
	if s.memory.later == 0 {
		r.Rows = append(r.Rows, Row{What: "memory of a process", Got: "not told in /proc here", Holds: true})
	} else {
		m("memory of a process, earlier", s.memory.earlier, mostMemory)
		m("memory of a process, later", s.memory.later, min(mostMemory, s.memory.earlier+mostGrowth))
		m("memory of a process, while killed", s.memory.after, mostMemory)
	}
	r.Rows = append(r.Rows, Row{What: "time", Got: time.Since(s.began).Round(time.Second).String(), Holds: true})
	return r
}

func mebibytes(n int64) string { return strconv.FormatInt(n>>20, 10) + " MiB" }

// thousands writes a count with its thousands apart.
func thousands(n int) string {
	text := strconv.Itoa(n)
	for i := len(text) - 3; i > 0; i -= 3 {
		text = text[:i] + "," + text[i:]
	}
	return text
}

// Table writes the result for people.
func Table(out io.Writer, r Result) error {
	w := tabwriter.NewWriter(out, 0, 0, 2, ' ', 0)
	fmt.Fprintln(w, "what\tcounted\tmust be\tholds")
	for _, row := range r.Rows {
		holds := "-"
		switch {
		case !row.Holds:
			holds = "NO"
		case row.Want != "":
			holds = "yes"
		}
		fmt.Fprintf(w, "%s\t%s\t%s\t%s\n", row.What, row.Got, row.Want, holds)
	}
	if err := w.Flush(); err != nil {
		return err
	}
	verdict := "nothing was lost, nothing came twice, and memory stayed flat"
	if !r.Holds() {
		verdict = "the soak shows faults: see the rows that say NO"
	}
	_, err := fmt.Fprintf(out, "\n%s\n", verdict)
	return err
}
