package mockhost_test

import (
	"slices"
	"testing"
	"time"

	"github.com/wopwitness/wopwitness/mockhost"
)

// TestLastIDDefectsLeadAStandardReaderAstray follows a stream to the end that the host sets it, and resumes it twice: as a
// standard reader does, at the last id of any block, and as one does that keeps the ids of whole events only.
func TestLastIDDefectsLeadAStandardReaderAstray(t *testing.T) {
	for _, c := range []struct {
		defect   string
		standard string // what becomes of the standard reader
	}{
		{"", "whole"},
		{"heartbeat-own-id", "refused"},
		{"heartbeat-id-ahead", "lost 1"},
		{"last-event-cut", "lost 1"},
	} {
		t.Run(c.defect, func(t *testing.T) {
			t.Parallel()
			h := start(t, mockhost.Config{Defect: c.defect, ResumableLife: 400 * time.Millisecond})
			cursor := h.trigger(h.KeyA, "durable")
			lastID, lastEvent, unseen := h.followToItsEnd(cursor)
			end := h.trigger(h.KeyA, "durable")
			unseen = append(unseen, end)
			if got := events(h.open(h.KeyA, strict, lastEvent).until(end)); !slices.Equal(got, unseen) {
				t.Errorf("at the last event: got %v, want %v", got, unseen)
			}
			s, a := h.tryOpen(h.KeyA, strict, lastID)
			if s == nil {
				if c.standard != "refused" || a.code() != "host_event_resync_required" {
					t.Errorf("at the last id: got %d %s, want %s", a.status, a.body, c.standard)
				}
				return
			}
			want := map[string][]string{"whole": unseen, "lost 1": unseen[1:]}[c.standard]
			if got := events(s.until(end)); !slices.Equal(got, want) {
				t.Errorf("at the last id: got %v, want %v of %v", got, want, unseen)
			}
		})
	}
}

// events leaves out the blocks that are none, as heartbeats are.
func events(ids []string) []string {
	return slices.DeleteFunc(ids, func(id string) bool { return id == "" })
}

// followToItsEnd reads a resumable stream under a writer until the host ends it. It gives the last id of any block, the
// last whole event's, and the events that the stream didn't show.
func (h *host) followToItsEnd(cursor string) (lastID, lastEvent string, unseen []string) {
	h.t.Helper()
	s := h.open(h.KeyA, strict+"&resumable=true", cursor)
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		lastID, lastEvent = cursor, cursor
		for b, ok := s.next(); ok; b, ok = s.next() {
			if b.withID {
				lastID = b.id
			}
			if id := b.eventID(); id != "" {
				lastEvent = id
			}
		}
	}()
	sent := []string{cursor}
	for open := true; open; {
		sent = append(sent, h.trigger(h.KeyA, "durable"))
		select {
		case <-ended:
			open = false
		case <-time.After(5 * time.Millisecond):
		}
	}
	return lastID, lastEvent, sent[slices.Index(sent, lastEvent)+1:]
}
