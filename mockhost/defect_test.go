package mockhost_test

import (
	"fmt"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/wopwitness/wopwitness/mockhost"
)

// transcript is what one host shows of itself in a fixed script, by subject, with ids and times made equal. Two right
// hosts give equal ones.
type transcript map[string]string

// script drives a host through everything that defects change.
type script struct {
	h, peer *host
	out     transcript
	names   map[string]string
}

// TestDefectsChangeWhatTheySay holds each defect's transcript against the right host's: it must differ, and only in
// the subjects named here.
func TestDefectsChangeWhatTheySay(t *testing.T) {
	right := play(t, "")
	if again := play(t, ""); fmt.Sprint(differing(right, again)) != "[]" {
		t.Fatalf("two right hosts differ in %v", differing(right, again))
	}
	for _, d := range mockhost.Defects() {
		if !slices.Contains([]string{"0236", "0241", "0250"}, d.RFC) {
			continue // the script is about host events
		}
		t.Run(d.Name, func(t *testing.T) {
			t.Parallel()
			got := differing(right, play(t, d.Name))
			got = slices.DeleteFunc(got, func(subject string) bool { return slices.Contains(sometimes[d.Name], subject) })
			switch want, shown := changes[d.Name]; {
			case !shown && !slices.Contains(shownElsewhere, d.Name):
				t.Errorf("nothing says what it changes; it changed\n\t%q: {%s},", d.Name, quoted(got))
			case !slices.Equal(got, want):
				t.Errorf("%s\nchanged %q,\nwant    %q", d.Says, got, want)
			}
		})
	}
	for name := range changes {
		if !slices.ContainsFunc(mockhost.Defects(), func(d mockhost.DefectInfo) bool { return d.Name == name }) {
			t.Errorf("%s is expected to change something and isn't a defect", name)
		}
	}
}

func quoted(subjects []string) string {
	out := make([]string, len(subjects))
	for i, subject := range subjects {
		out[i] = fmt.Sprintf("%q", subject)
	}
	return strings.Join(out, ", ")
}

func differing(a, b transcript) []string {
	out := []string{}
	for subject := range a {
		if a[subject] != b[subject] {
			out = append(out, subject)
		}
	}
	slices.Sort(out)
	return out
}

func play(t *testing.T, defect string) transcript {
	t.Helper()
	h := start(t, mockhost.Config{Seams: true, Clock: "manual", MinRetention: 100 * time.Second, Defect: defect})
	second, err := h.host.Peer(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	s := &script{h: h, peer: serve(t, second), out: transcript{}, names: map[string]string{}}
	s.advertisement()
	s.triggers()
	s.resume()
	s.refusals()
	s.tenants()
	s.sizes()
	s.instances()
	s.removal()
	s.bounded()
	s.expiry()
	return s.out
}

var stamp = regexp.MustCompile(`"timestamp":"20[^"]*"`)

// say writes a subject down, with each named id by its name.
func (s *script) say(subject string, parts ...any) {
	text := fmt.Sprint(parts...)
	for id, name := range s.names {
		text = strings.ReplaceAll(text, id, name)
	}
	s.out[subject] = stamp.ReplaceAllString(text, `"timestamp":"T"`)
}

func (s *script) name(name, id string) string {
	s.names[id] = name
	return id
}

func (s *script) sayAnswer(subject string, a answer) {
	s.say(subject, a.status, a.header.Get("Content-Type"), a.header.Get("OpenWOP-Idempotent-Replay"), a.header.Get("X-Refused-Event"), a.body)
}

// patience is how long a stream is read for what a defect may keep from it.
const patience = time.Second

// sayStream writes down what a stream shows until all of the events were shown, or patience is over.
func (s *script) sayStream(subject string, from *stream, ids ...string) {
	timeout := time.After(patience)
	var out []string
	for !allShown(out, ids) {
		select {
		case b, ok := <-from.blocks:
			if !ok {
				s.say(subject, inOrder(out), "the end")
				return
			}
			if !b.comment {
				out = append(out, b.raw)
			}
		case <-timeout:
			s.say(subject, inOrder(out))
			return
		}
	}
	s.say(subject, inOrder(out))
}

func allShown(blocks, ids []string) bool {
	for _, id := range ids {
		if !slices.ContainsFunc(blocks, func(raw string) bool { return strings.Contains(raw, id) }) {
			return false
		}
	}
	return true
}

// inOrder puts ephemeral events last: there is no order between them and durable ones.
func inOrder(blocks []string) string {
	slices.SortStableFunc(blocks, func(a, b string) int {
		return strings.Count(a, `"delivery":"ephemeral"`) - strings.Count(b, `"delivery":"ephemeral"`)
	})
	return strings.Join(blocks, "\n")
}

// sayOpen opens a stream at a cursor and writes down the refusal, or what comes until the event that sentinel emits.
func (s *script) sayOpen(subject, key, query, cursor string, sentinel func() string) {
	st, a := s.h.tryOpen(key, query, cursor)
	if st == nil {
		s.sayAnswer(subject, a)
		return
	}
	s.sayStream(subject, st, s.name("sentinel of "+subject, sentinel()))
	st.stop()
}

func (s *script) durable() string { return s.h.trigger(s.h.KeyA, "durable") }
