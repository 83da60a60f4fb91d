package lawfulhost

import (
	"maps"
	"slices"
	"strconv"
	"sync"
	"time"
)

// run is one run, worked out to its end when it was made.
type run struct {
	tenant, subject string
	opaque          string
	odd             bool // its major-1 id has characters that a path has to escape
	workflow        string
	source          *run
	mode            string
	fromSeq         *int64
	steps           []step
	made            time.Time
	gone            bool
}

// id is the run's name on a major.
func (r *run) id(major int) string {
	switch {
	case major >= 2:
		return r.tenant + "/" + r.opaque
	case r.odd:
		return "Läufe/№ 1:fork?x=%2F&" + r.opaque + "#+~"
	}
	return r.opaque
}

// shown are the events that have happened by a moment.
func (r *run) shown(now time.Time) []step {
	at := slices.IndexFunc(r.steps, func(s step) bool { return s.at.After(now) })
	if at < 0 {
		return r.steps
	}
	return r.steps[:at]
}

// status folds what has happened by a moment.
func (r *run) status(now time.Time) (status string, failure any) {
	status = "pending"
	for _, s := range r.shown(now) {
		if s.kind == "run.started" || status == "pending" {
			status = "running"
		}
		if end, ends := s.ends(); ends {
			return end, s.payload["error"]
		}
	}
	return status, nil
}

// letter is the run's first dead letter, and when it was written.
func (r *run) letter(now time.Time) (step, bool) {
	for _, s := range r.shown(now) {
		if s.kind == letterKind {
			return s, true
		}
	}
	return step{}, false
}

// expires is when the run's days are over, and whether they ever are.
func (r *run) expires(o Options, now time.Time) (time.Time, bool) {
	days := time.Duration(o.days()) * 24 * time.Hour
	if days == 0 {
		return time.Time{}, false
	}
	if s, dead := r.letter(now); dead {
		return s.at.Add(days), true
	}
	if o.PurgesAll {
		if n := len(r.steps); n > 0 && !r.steps[n-1].at.After(now) {
			return r.steps[n-1].at.Add(days), true
		}
	}
	return time.Time{}, false
}

// runBook holds every run of both tenants.
type runBook struct {
	mu   sync.Mutex
	runs []*run
}

// begin makes a run and puts it in the book.
func (h *Host) begin(p principal, name string, configurable map[string]any) *run {
	now := h.clock.now()
	c := course{o: h.options, at: now.Add(h.options.Start), configurable: configurable}
	c.run(fixtures()[name], nil)
	return h.enter(&run{tenant: p.tenant, subject: "user-of-" + p.tenant, workflow: name, steps: c.steps, made: now})
}

// fork makes a child of a run: its events before fromSeq anew, and the rest worked out again.
func (h *Host) fork(source *run, mode string, fromSeq *int64, configurable map[string]any) *run {
	now := h.clock.now()
	c := course{o: h.options, at: now.Add(h.options.Start), configurable: configurable}
	done := map[string]bool{}
	if fromSeq != nil {
		from, _ := h.options.place(int(*fromSeq))
		for _, s := range source.steps[:from] {
			if s.kind == "node.completed" {
				done[s.node] = true
			}
			s.at, s.id = now, "re."+randomHex(10)
			c.steps = append(c.steps, s)
		}
	}
	c.run(fixtures()[source.workflow], done)
	return h.enter(&run{tenant: source.tenant, subject: source.subject, workflow: source.workflow, source: source, mode: mode,
		fromSeq: fromSeq, steps: c.steps, made: now})
}

func (h *Host) enter(r *run) *run {
	r.opaque, r.odd = "r-"+randomHex(12), h.options.OddIDs
	h.book.mu.Lock()
	defer h.book.mu.Unlock()
	h.book.runs = append(h.book.runs, r)
	return r
}

// find looks a run up by its name on a major, and says whether it is purged. What is over is purged first, so that
// nothing lives longer than it may.
func (h *Host) find(major int, id string) (found *run, purged bool) {
	now := h.clock.now()
	h.book.mu.Lock()
	defer h.book.mu.Unlock()
	h.purge(now)
	for _, r := range h.book.runs {
		if r.id(major) == id {
			return r, r.gone
		}
	}
	return nil, false
}

// purge marks what is over. The book is locked.
func (h *Host) purge(now time.Time) {
	for _, r := range h.book.runs {
		at, ever := r.expires(h.options, now)
		if h.options.DailySweep {
			const day = 24 * time.Hour
			at = at.Truncate(day).Add(day)
		}
		if ever && !at.After(now) {
			r.gone = true
		}
	}
}

// listed are a tenant's runs that are there, the oldest first.
func (h *Host) listed(tenant string) []*run {
	now := h.clock.now()
	h.book.mu.Lock()
	defer h.book.mu.Unlock()
	h.purge(now)
	var own []*run
	for _, r := range h.book.runs {
		if r.tenant == tenant && !r.gone {
			own = append(own, r)
		}
	}
	return own
}

// shape is one event as a major writes it.
func (h *Host) shape(r *run, s step, sequence, major int) map[string]any {
	o := h.options
	payload := maps.Clone(s.payload)
	kind := s.kind
	if kind == letterKind {
		payload["runId"] = r.id(major)
		switch {
		case major >= 2:
			kind = "run.dead-lettered"
		case o.CamelNames:
			kind = "run.deadLettered"
		default:
			kind = "run.dead_lettered"
		}
	}
	layout := "2006-01-02T15:04:05.000Z"
	if o.Micros {
		layout = "2006-01-02T15:04:05.000000Z"
	}
	if o.Seconds {
		layout = time.RFC3339
	}
	e := map[string]any{"eventId": s.id, "runId": r.id(major), "type": kind, "payload": payload,
		"timestamp": s.at.UTC().Format(layout), "sequence": o.sequence(sequence), "schemaVersion": 2}
	if s.node != "" {
		e["nodeId"] = s.node
	}
	if major >= 2 {
		return e
	}
	return h.shapeOne(e, h.options.sequence(sequence))
}

// sequence is that of an event by its place in the log, and place the other way round: of a number that was left out it is
// that of the event before, and not exact.
func (d DeadLetters) sequence(place int) int { return place * d.step() }

func (d DeadLetters) place(sequence int) (place int, exact bool) {
	if sequence < 0 {
		return -1, false
	}
	return sequence / d.step(), sequence%d.step() == 0
}

func (d DeadLetters) step() int {
	if d.Gaps {
		return 3
	}
	return 1
}

// shapeOne is what real hosts of major 1 make of an event.
func (h *Host) shapeOne(e map[string]any, sequence int) map[string]any {
	o := h.options
	if o.NumberIDs {
		e["eventId"] = strconv.Itoa(sequence)
	}
	if o.Nulls {
		e["data"], e["payload"] = e["payload"], nil
		if _, has := e["nodeId"]; !has {
			e["nodeId"] = nil
		}
	}
	if o.Seq || o.OnlySeq {
		e["seq"] = sequence
	}
	if o.OnlySeq {
		delete(e, "sequence")
	}
	if o.NoSchema {
		delete(e, "schemaVersion")
	}
	return e
}
