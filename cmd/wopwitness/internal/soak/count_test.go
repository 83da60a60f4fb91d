package soak

import (
	"bytes"
	"fmt"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"
)

// TestTheCountSeesWhatIsWrong shows the count one wrong thing at a time, beside what is right.
func TestTheCountSeesWhatIsWrong(t *testing.T) {
	for name, c := range map[string]struct {
		acknowledged, log, runs []string
		sink                    map[string]int
		want                    Audit
	}{
		"right":                         {[]string{"c", "d", "e"}, []string{"d", "e"}, []string{"r"}, map[string]int{"r": 1}, Audit{}},
		"acknowledged in another order": {[]string{"c", "e", "d"}, []string{"d", "e"}, []string{"r"}, map[string]int{"r": 1}, Audit{}},
		"an event missing":              {[]string{"c", "d", "e"}, []string{"e"}, []string{"r"}, map[string]int{"r": 1}, Audit{Missing: 1}},
		"an event twice":                {[]string{"c", "d", "e"}, []string{"d", "e", "d"}, []string{"r"}, map[string]int{"r": 1}, Audit{Repeated: 1}},
		"the cursor again":              {[]string{"c", "d", "e"}, []string{"c", "d", "e"}, []string{"r"}, map[string]int{"r": 1}, Audit{Repeated: 1}},
		"an event of nobody":            {[]string{"c", "d", "e"}, []string{"d", "x", "e"}, []string{"r"}, map[string]int{"r": 1}, Audit{Unknown: 1}},
		"an entry missing":              {[]string{"c", "d"}, []string{"d"}, []string{"r", "s"}, map[string]int{"r": 1}, Audit{Unsent: 1}},
		"two entries of one run":        {[]string{"c", "d"}, []string{"d"}, []string{"r"}, map[string]int{"r": 2}, Audit{Doubled: 1}},
		"an entry of a run of nobody":   {[]string{"c", "d"}, []string{"d"}, []string{"r"}, map[string]int{"r": 1, "x": 1}, Audit{Stranger: 1}},
	} {
		got := Audit{Log: c.log}
		got.countEvents(c.acknowledged, "c")
		got.countLetters(c.runs, c.sink)
		counts := func(a Audit) []int {
			return []int{a.Missing, a.Repeated, a.Unknown, a.Unsent, a.Doubled, a.Stranger, a.Wrong()}
		}
		if !slices.Equal(counts(got), counts(c.want)) {
			t.Errorf("%s: got %v, want %v", name, counts(got), counts(c.want))
		}
		if (got.First != "") != (got.Wrong() > 0) {
			t.Errorf("%s: it says %q", name, got.First)
		}
	}
}

func TestASubscriberIsCountedByWhatItSaw(t *testing.T) {
	log := []uint64{1, 2, 3, 4}
	for name, c := range map[string]struct {
		saw  []uint64
		want Seen
	}{
		"everything":       {[]uint64{1, 2, 3, 4}, Seen{Subscribers: 1, Events: 4}},
		"one missing":      {[]uint64{1, 3, 4}, Seen{Subscribers: 1, Events: 3, Missing: 1}},
		"nothing":          {nil, Seen{Subscribers: 1, Missing: 4}},
		"one twice":        {[]uint64{1, 2, 2, 3, 4}, Seen{Subscribers: 1, Events: 5, Repeated: 1}},
		"another's":        {[]uint64{1, 2, 9, 3, 4}, Seen{Subscribers: 1, Events: 5, Unknown: 1}},
		"in another order": {[]uint64{1, 3, 2, 4}, Seen{Subscribers: 1, Events: 4, Parted: 1}},
	} {
		var got Seen
		if got.add(c.saw, log); got != c.want {
			t.Errorf("%s: got %+v, want %+v", name, got, c.want)
		}
	}
}

// TestASubscriberTakesWholeEventsOnly is about an event whose end never comes: it is none, and is asked for again.
func TestASubscriberTakesWholeEventsOnly(t *testing.T) {
	long := "data: " + strings.Repeat("id: x", 3*lineBuffer)
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Header.Get("Last-Event-ID") != "e0" || r.Header.Get("Authorization") != "Bearer k" {
			w.WriteHeader(http.StatusConflict)
			return
		}
		fmt.Fprintf(w, ": a comment\n\nid: e1\n%s\n\ndata: without an id\n\nid: e2\ndata: {}\n\nid: e3\ndata: {", long)
	}))
	defer srv.Close()
	var got []string
	s := Subscriber{Key: "k", Cursor: "e0", Event: func(id string) bool { got = append(got, id); return true }}
	if err := s.Read(t.Context(), http.DefaultTransport, srv.URL); err != nil {
		t.Fatal(err)
	}
	if !slices.Equal(got, []string{"e1", "e2"}) || s.Cursor != "e2" {
		t.Errorf("it took %v and stands at %s", got, s.Cursor)
	}
	if err := s.Read(t.Context(), http.DefaultTransport, srv.URL); err == nil {
		t.Error("a refused cursor is no error")
	}
}

// TestTheLoadInsistsWhereItMay repeats what may be repeated, under one key, and takes nothing else for an answer.
func TestTheLoadInsistsWhereItMay(t *testing.T) {
	for name, c := range map[string]struct {
		answers []string // status, Retry-After, body
		id      string
		away    int
	}{
		"at once":                {[]string{`202||{"eventId":"e"}`}, "e", 0},
		"after 503":              {[]string{`503|1|{}`, `503|1|{}`, `202||{"eventId":"e"}`}, "e", 2},
		"after it was under way": {[]string{`409||{"error":"idempotency_in_flight"}`, `202||{"eventId":"e"}`}, "e", 0},
		"503 without a time":     {[]string{`503||{}`}, "", 0},
		"another conflict":       {[]string{`409||{"error":"idempotency_key_mismatch"}`}, "", 0},
		"500":                    {[]string{`500||{}`}, "", 0},
		"no id":                  {[]string{`202||{}`}, "", 0},
	} {
		keys := map[string]bool{}
		n := 0
		srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			keys[r.Header.Get("Idempotency-Key")] = true
			status, rest, _ := strings.Cut(c.answers[min(n, len(c.answers)-1)], "|")
			n++
			retry, body, _ := strings.Cut(rest, "|")
			if retry != "" {
				w.Header().Set("Retry-After", retry)
			}
			var code int
			_, _ = fmt.Sscan(status, &code)
			w.WriteHeader(code)
			_, _ = w.Write([]byte(body))
		}))
		l := New(srv.URL)
		id, err := l.Event(t.Context(), "k")
		if id != c.id || (err == nil) != (c.id != "") || l.Away() != c.away || len(keys) != 1 || keys[""] || n != len(c.answers) {
			t.Errorf("%s: got %q, %v after %d requests with %d keys, %d told to come again", name, id, err, n, len(keys), l.Away())
		}
		if events, _ := l.Acknowledged("k"); (events == 1) != (c.id != "") {
			t.Errorf("%s: %d events are taken for acknowledged", name, events)
		}
		l.Close()
		srv.Close()
	}
}

func TestAWrongRowIsToldAndHoldsNothing(t *testing.T) {
	right := Row{What: "events", Got: "1", Want: "1", Holds: true}
	for name, c := range map[string]struct {
		rows  []Row
		holds bool
		says  string
	}{
		"nothing counted": {nil, false, "shows faults"},
		"all right":       {[]Row{right, {What: "time", Got: "1s", Holds: true}}, true, "nothing was lost"},
		"one wrong":       {[]Row{right, {What: "of them missing", Got: "1", Want: "0"}}, false, "of them missing  1        0        NO"},
	} {
		r := Result{Rows: c.rows}
		var b bytes.Buffer
		if err := Table(&b, r); err != nil {
			t.Fatal(err)
		}
		if r.Holds() != c.holds || !strings.Contains(b.String(), c.says) {
			t.Errorf("%s: holds %v, and says\n%s", name, r.Holds(), b.String())
		}
	}
}
