package mockhost_test

import (
	"slices"
	"testing"

	"github.com/wopwitness/wopwitness/mockhost"
)

func TestStrictResumeGivesTheSuffixThenLive(t *testing.T) {
	h := start(t, mockhost.Config{})
	d1 := h.trigger(h.KeyA, "durable")
	d2 := h.trigger(h.KeyA, "durable")
	e1 := h.trigger(h.KeyA, "ephemeral")
	b1 := h.trigger(h.KeyB, "durable")
	d3 := h.trigger(h.KeyA, "durable")

	s := h.open(h.KeyA, "?replay=required", d1)
	d4 := h.trigger(h.KeyA, "durable")
	got := s.until(d4)
	if want := []string{d2, d3, d4}; !slices.Equal(got, want) {
		t.Errorf("resumed after d1: got %v, want %v", got, want)
	}
	e2 := h.trigger(h.KeyA, "ephemeral")
	b, _ := s.next()
	if b.eventID() != e2 || b.withID || b.event != "host-test.ephemeral-triggered" {
		t.Errorf("live ephemeral: got %q", b.raw)
	}
	for name, cursor := range map[string]string{"ephemeral": e1, "foreign": b1, "unknown": "no-such-event-0000"} {
		_, a := h.tryOpen(h.KeyA, "?replay=required", cursor)
		if a.status != 409 || a.code() != "host_event_resync_required" {
			t.Errorf("%s cursor: got %d %s", name, a.status, a.body)
		}
	}
}
