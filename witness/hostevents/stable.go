package hostevents

import (
	"bytes"
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
	"time"

	"github.com/wopwitness/wopwitness/scenarios/registry"
	"github.com/wopwitness/wopwitness/witness"
	"github.com/wopwitness/wopwitness/witness/observe"
	"github.com/wopwitness/wopwitness/witness/observe/eventstream"
)

// JudgeResumeStable judges 0250.resume-stable (RFC 0250 §B): what is replayed is the event that was delivered first:
// the same envelope as JSON, under the same id and event name. Whether everything is replayed is another leg's question.
func JudgeResumeStable(o Suffix) witness.Verdict {
	var v witness.Verdict
	a := accountOf(o.Reading, "the resumed stream", o.Resumed, o.Observer, o.Emits)
	first := accountOf(o.Reading, "the live stream", o.Observer, o.Observer, o.Emits)
	if !a.opened() {
		v.Undecide(registry.UnexpectedAnswer, "the cursor was not resumed, so nothing was replayed: %s", a.answer())
		return v
	}
	expected := after(o.Emits, o.Cursor)
	if len(expected) == 0 {
		v.Undecide(registry.Unreadable, "the observation has no event behind the cursor")
	}
	for _, e := range expected {
		live, shown := first.frameOf(e)
		replayed, came := a.frameOf(e)
		if !shown || !came {
			v.Undecide(registry.Timeout, "%s was not both delivered live and replayed, so the two cannot be compared", e.Label)
			continue
		}
		sameFrame(&v, e.Label, live, replayed)
	}
	return v
}

func (a account) frameOf(e observe.Emit) (eventstream.Frame, bool) {
	for _, s := range a.shown {
		if s.emit.EventID == e.EventID {
			return s.frame, true
		}
	}
	return eventstream.Frame{}, false
}

func sameFrame(v *witness.Verdict, label string, live, replayed eventstream.Frame) {
	differs := func(what, was, is, why string) func() witness.Finding {
		return func() witness.Finding {
			return witness.Finding{
				Says:  fmt.Sprintf("%s is replayed with another %s than it was delivered with", label, what),
				Shown: []witness.Shown{{Label: "live", Text: was}, {Label: "replayed", Text: is}},
				Why:   why, Section: sectionResume,
			}
		}
	}
	idLine := func(f eventstream.Frame) string {
		if !f.HasID {
			return "no id line"
		}
		return "id: " + f.ID
	}
	v.Check("same-id", live.HasID == replayed.HasID && live.ID == replayed.ID,
		differs("id line", idLine(live), idLine(replayed), "a subscriber that tells events apart by id takes it for a new one, or keeps a cursor that names nothing"))
	v.Check("same-event-name", live.Event == replayed.Event,
		differs("event name", "event: "+live.Event, "event: "+replayed.Event, "a subscriber's handler for the event is not called, or another one is"))
	same, where, rounded := sameEnvelope(live.Data, replayed.Data)
	v.Check("same-envelope", same, func() witness.Finding {
		f := differs("envelope", shorten(live.Data), shorten(replayed.Data), "what a subscriber learns depends on whether it was connected at the time")()
		f.Differs = where
		return f
	})
	if rounded {
		v.Note("timestamp-rounded", "the replayed timestamp is the first one to a coarser precision, as a database keeps it")
	}
}

// sameEnvelope compares two envelopes as JSON. The timestamp is compared as an instant, to the precision of the coarser
// of the two; rounded says that they were of two precisions. where names the first member that differs.
func sameEnvelope(live, replayed string) (same bool, where string, rounded bool) {
	a, oka := object(live)
	b, okb := object(replayed)
	if !oka || !okb {
		return live == replayed, "the data as a whole", false
	}
	if was, is := instant(a["timestamp"]), instant(b["timestamp"]); !was.IsZero() && !is.IsZero() {
		if !was.Equal(is) && !coarser(was, is) && !coarser(is, was) {
			return false, "timestamp", false
		}
		rounded = !was.Equal(is)
		delete(a, "timestamp")
		delete(b, "timestamp")
	}
	where = differing("", a, b)
	return where == "", where, rounded && where == ""
}

func object(data string) (map[string]any, bool) {
	d := json.NewDecoder(bytes.NewReader([]byte(data)))
	d.UseNumber()
	var o map[string]any
	if d.Decode(&o) != nil || d.More() {
		return nil, false
	}
	return o, o != nil
}

func instant(v any) time.Time {
	text, _ := v.(string)
	t, _ := observe.Instant(text)
	return t
}

// coarser says whether is is was at a precision that a database or a runtime keeps, cut or rounded.
func coarser(was, is time.Time) bool {
	for _, p := range []time.Duration{100 * time.Nanosecond, time.Microsecond, time.Millisecond, time.Second} {
		if is.Equal(was.Truncate(p)) || is.Equal(was.Round(p)) {
			return true
		}
	}
	return false
}

// differing is the path of the first difference between two JSON values, "" where there is none.
func differing(path string, a, b any) string {
	switch a := a.(type) {
	case map[string]any:
		b, ok := b.(map[string]any)
		if !ok {
			return named(path)
		}
		for _, name := range unionOf(a, b) {
			was, hada := a[name]
			is, hadb := b[name]
			if hada != hadb {
				return named(path + "/" + name)
			}
			if where := differing(path+"/"+name, was, is); where != "" {
				return where
			}
		}
		return ""
	case []any:
		b, ok := b.([]any)
		if !ok || len(a) != len(b) {
			return named(path)
		}
		for i := range a {
			if where := differing(path+"/"+strconv.Itoa(i), a[i], b[i]); where != "" {
				return where
			}
		}
		return ""
	case json.Number:
		if b, ok := b.(json.Number); ok && sameNumber(a, b) {
			return ""
		}
		return named(path)
	}
	// What is left is a string, a boolean or null on a's side; b may be anything, so kinds are compared first.
	switch b.(type) {
	case map[string]any, []any:
		return named(path)
	}
	if a == b {
		return ""
	}
	return named(path)
}

// sameNumber compares by value: a database may write 1e2 as 100.
func sameNumber(a, b json.Number) bool {
	if a == b {
		return true
	}
	x, errx := a.Float64()
	y, erry := b.Float64()
	return errx == nil && erry == nil && x == y
}

func named(path string) string {
	if path == "" {
		return "the data as a whole"
	}
	return "member " + path
}

func shorten(s string) string {
	if len(s) > 300 {
		return s[:300] + "…"
	}
	return s
}

// unionOf gives the names that either object has, sorted.
func unionOf(a, b map[string]any) []string {
	names := make([]string, 0, len(a))
	for name := range a {
		names = append(names, name)
	}
	for name := range b {
		if _, both := a[name]; !both {
			names = append(names, name)
		}
	}
	slices.Sort(names)
	return names
}
