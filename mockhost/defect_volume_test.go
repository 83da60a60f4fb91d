package mockhost_test

import (
	"slices"
	"sync"
	"testing"

	"github.com/wopwitness/wopwitness/mockhost"
)

// write emits count durable events by some writers at once.
func (h *host) write(writers, count int) {
	h.t.Helper()
	var wg sync.WaitGroup
	for range writers {
		wg.Go(func() {
			for range count / writers {
				h.do("POST", "/host/events/test", h.KeyA, `{"delivery":"durable"}`)
			}
		})
	}
	wg.Wait()
}

func TestVolumeDefectsLoseOrRefuseBehindAThousand(t *testing.T) {
	for _, c := range []struct {
		defect string
		// Whether a suffix of 200 and one of 1,040 come whole, and then one from a new cursor behind all of them.
		few, many, late bool
	}{
		{"", true, true, true},
		{"replay-queue-bounded", true, false, true},
		{"ring-of-a-thousand", true, false, true},
		{"cursor-search-capped", true, false, true},
		{"cursor-search-from-oldest", true, true, false},
		{"retention-by-count", true, false, true},
		{"sequence-before-commit", false, false, true},
	} {
		t.Run(c.defect, func(t *testing.T) {
			h := start(t, mockhost.Config{Defect: c.defect})
			whole := func(count int) bool {
				cursor := h.trigger(h.KeyA, "durable")
				h.write(8, count)
				s, a := h.tryOpen(h.KeyA, strict, cursor)
				if s == nil {
					if a.code() != "host_event_resync_required" {
						t.Fatalf("got %d %s", a.status, a.body)
					}
					return false
				}
				defer s.stop()
				return len(s.until(h.trigger(h.KeyA, "durable"))) == count+1
			}
			if few, many, late := whole(200), whole(1040), whole(0); few != c.few || many != c.many || late != c.late {
				t.Errorf("200 whole: %v, 1,040 whole: %v, a late one: %v; want %v, %v and %v", few, many, late, c.few, c.many, c.late)
			}
		})
	}
}

func TestHandoffDefectsShowOnlyWhileSomeoneWrites(t *testing.T) {
	for _, c := range []struct {
		defect         string
		lost, repeated bool
	}{
		{"", false, false}, {"handoff-gap", true, false}, {"handoff-duplicate", false, true},
	} {
		t.Run(c.defect, func(t *testing.T) {
			h := start(t, mockhost.Config{Defect: c.defect})
			try := func(writing bool) (lost, repeated bool) {
				cursor := h.trigger(h.KeyA, "durable")
				var sent []string
				stop, stopped := make(chan struct{}), make(chan struct{})
				go func() {
					defer close(stopped)
					for writing {
						select {
						case <-stop:
							return
						default:
							sent = append(sent, h.trigger(h.KeyA, "durable"))
						}
					}
				}()
				s := h.open(h.KeyA, strict, cursor)
				close(stop)
				<-stopped
				got := s.until(h.trigger(h.KeyA, "durable"))
				s.stop()
				for _, id := range sent {
					lost = lost || !slices.Contains(got, id)
				}
				return lost, len(slices.Compact(slices.Sorted(slices.Values(got)))) < len(got)
			}
			if lost, repeated := try(false); lost || repeated {
				t.Errorf("nobody wrote: lost %v, repeated %v", lost, repeated)
			}
			// A slow writer may miss the moment, so a defect has several; the right host must do without a fault in all.
			var lost, repeated bool
			for range 20 {
				l, r := try(true)
				lost, repeated = lost || l, repeated || r
				if c.defect != "" && (lost || repeated) {
					break
				}
			}
			if lost != c.lost || repeated != c.repeated {
				t.Errorf("someone wrote: lost %v, repeated %v; want %v and %v", lost, repeated, c.lost, c.repeated)
			}
		})
	}
}

func TestListedTriggerCanBeMissing(t *testing.T) {
	h := start(t, mockhost.Config{Defect: "trigger-listed-missing"})
	if a := h.do("POST", "/host/events/test", h.KeyA, `{"delivery":"durable"}`); a.status != 404 {
		t.Errorf("got %d %s", a.status, a.body)
	}
	right := start(t, mockhost.Config{})
	if a, b := h.do("GET", "/.well-known/openwop", "", ""), right.do("GET", "/.well-known/openwop", "", ""); a.body != b.body {
		t.Errorf("it advertises %s", a.body)
	}
}

func TestDefectsAreNamedOnceAndClaimed(t *testing.T) {
	seen := map[string]bool{}
	for _, d := range mockhost.Defects() {
		if seen[d.Name] || d.Says == "" || len(d.RFC) != 4 && d.RFC != "agentdlq" || len(d.Convicts) == 0 || !slices.IsSorted(d.Convicts) {
			t.Errorf("%+v", d)
		}
		seen[d.Name] = true
	}
	if !slices.IsSortedFunc(mockhost.Defects(), func(a, b mockhost.DefectInfo) int {
		if a.Name < b.Name {
			return -1
		}
		return 1
	}) {
		t.Error("the defects aren't sorted by name")
	}
}
