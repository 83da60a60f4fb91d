package mockhost_test

import (
	"slices"
	"testing"

	"github.com/wopwitness/wopwitness/mockhost"
)

// TestProcessDefectsShowOnceTheProcessIsReplaced resumes at a cursor from before an ordinary replacement of the process,
// with nothing published since.
func TestProcessDefectsShowOnceTheProcessIsReplaced(t *testing.T) {
	for _, c := range []struct {
		defect string
		shows  string
	}{
		{"", "the backlog"},
		{"last-sequence-unread", "nothing"},
		{"cursors-of-this-process", "a refusal"},
	} {
		t.Run(c.defect, func(t *testing.T) {
			t.Parallel()
			first := start(t, mockhost.Config{Defect: c.defect})
			cursor, kept := first.trigger(first.KeyA, "durable"), first.trigger(first.KeyA, "durable")
			next, err := first.host.Replace(t.Context())
			if err != nil {
				t.Fatal(err)
			}
			h := serve(t, next)
			s, a := h.tryOpen(first.KeyA, strict, cursor)
			if s == nil {
				if c.shows != "a refusal" || a.status != 409 || a.code() != "host_event_resync_required" {
					t.Errorf("got %d %s, want %s", a.status, a.body, c.shows)
				}
				return
			}
			end := h.trigger(first.KeyA, "durable")
			want := map[string][]string{"the backlog": {kept, end}, "nothing": {end}}[c.shows]
			if got := s.until(end); !slices.Equal(got, want) {
				t.Errorf("got %v, want %s: %v", got, c.shows, want)
			}
		})
	}
}
