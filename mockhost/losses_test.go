package mockhost_test

import (
	"bytes"
	"context"
	"io"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/wopwitness/wopwitness/mockhost"
)

// The tests of this file hold the host to each way in which hubs are known to lose events. Others are held elsewhere: an
// unknown cursor in TestEveryRefusalIsTheSameBytes, another process in TestPeerResumesAndFollowsWhatTheOtherEmits, and
// retention by count in TestVolumeDefectsLoseOrRefuseBehindAThousand.

// A hub that doesn't read its last sequence at start replays nothing until the first new event.
func TestBacklogIsThereAfterARestartBeforeAnythingNew(t *testing.T) {
	c := mockhost.Config{
		Store: "sqlite:" + filepath.Join(t.TempDir(), "host.db"), KeyA: "a", KeyB: "b", KeyLow: "low", KeyWS: "ws",
	}
	before := start(t, c)
	d1, d2, d3 := before.trigger("a", "durable"), before.trigger("a", "durable"), before.trigger("a", "durable")
	if err := before.host.Shutdown(context.Background()); err != nil {
		t.Fatal(err)
	}
	after := start(t, c)
	if got, want := after.open("a", strict, d1).until(d3), []string{d2, d3}; !slices.Equal(got, want) {
		t.Errorf("got %v, want %v", got, want)
	}
}

// A hub that fills a subscriber's queue before anyone reads it gives no more than the queue holds. This reader starts only
// when far more is waiting than any buffer on the way takes, and the cursor behind it all is found as well.
func TestAReaderThatStartsLateGetsTheWholeBacklog(t *testing.T) {
	h := start(t, mockhost.Config{Seams: true})
	cursor := h.trigger(h.KeyA, "durable")
	emit := func() string {
		return h.eventID(h.do("POST", "/conformance/seams/sample/host-events/emit", h.KeyA, `{"type":"inventory.item-changed","payloadBytes":16384}`))
	}
	const count = 1200 // about 20 MB
	early := h.open(h.KeyA, strict, cursor)
	var want []string
	for range count {
		want = append(want, emit())
	}
	late := h.open(h.KeyA, strict, cursor)
	want = append(want, h.trigger(h.KeyA, "durable"))
	for name, s := range map[string]*stream{"open before": early, "resumed after": late} {
		if got := s.until(want[count]); !slices.Equal(got, want) {
			t.Errorf("%s: %d events, want %d in the order emitted", name, len(got), len(want))
		}
	}
	if got := h.open(h.KeyA, strict, want[count-1]).until(want[count]); !slices.Equal(got, want[count:]) {
		t.Errorf("at the last but one: got %d events, want 1", len(got))
	}
}

// A notification channel that carries the event itself loses the large ones on other instances.
func TestALargeEventReachesOtherInstances(t *testing.T) {
	h := start(t, mockhost.Config{Seams: true})
	second, err := h.host.Peer(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	peer := serve(t, second)
	cursor := h.trigger(h.KeyA, "durable")
	live := peer.open(h.KeyA, "", "")
	large := h.eventID(h.do("POST", "/conformance/seams/sample/host-events/emit", h.KeyA, `{"type":"inventory.item-changed","payloadBytes":262144}`))
	for name, s := range map[string]*stream{"live": live, "resumed": peer.open(h.KeyA, strict, cursor)} {
		if got := s.until(large); !slices.Equal(got, []string{large}) {
			t.Errorf("%s: got %v, want %v", name, got, large)
		}
	}
}

// A control frame with an id moves a reader's cursor past events that it never saw. A truncated last event does so where
// it looks whole.
func TestOnlyWholeEventsCarryAnID(t *testing.T) {
	h := start(t, mockhost.Config{KeepAlive: time.Millisecond, StreamLife: 150 * time.Millisecond})
	cursor := h.trigger(h.KeyA, "durable")
	h.trigger(h.KeyA, "ephemeral")
	ctx, cancel := context.WithTimeout(t.Context(), deadline)
	defer cancel()
	res := h.send(ctx, "GET", "/host/events"+strict+"&resumable=true", h.KeyA, "", "Last-Event-ID: "+cursor)
	defer func() { _ = res.Body.Close() }()
	var writing sync.WaitGroup
	ended := make(chan struct{})
	writing.Go(func() {
		for delivery := "durable"; ; {
			select {
			case <-ended:
				return
			default:
				h.do("POST", "/host/events/test", h.KeyA, `{"delivery":"`+delivery+`"}`)
			}
			delivery = map[string]string{"durable": "ephemeral", "ephemeral": "durable"}[delivery]
		}
	})
	text, err := io.ReadAll(res.Body)
	close(ended)
	writing.Wait()
	if err != nil || !bytes.HasSuffix(text, []byte("\n\n")) {
		t.Fatalf("the stream ends with %q, %v", text[max(0, len(text)-80):], err)
	}
	events, comments := 0, 0
	for raw := range strings.SplitSeq(strings.TrimSuffix(string(text), "\n\n"), "\n\n") {
		switch b := parse(raw); {
		case b.comment:
			comments++
		case b.eventID() == "":
			t.Errorf("neither a comment nor a whole event: %q", raw)
		case b.withID != (b.deliveryOfObject == "durable") || b.withID && b.id != b.eventID():
			t.Errorf("the id isn't the durable event's: %q", raw)
		default:
			events++
		}
	}
	if events == 0 || comments < 2 {
		t.Errorf("the stream had %d events and %d comments, so it shows nothing", events, comments)
	}
}

// A reader that passes the gap of a sequence given out before the commit misses what commits behind it. Here writers on
// two instances commit at once, while readers of both reconnect at each few events.
func TestReadersThatReconnectUnderManyWritersMissNothing(t *testing.T) {
	h := start(t, mockhost.Config{})
	second, err := h.host.Peer(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	hosts := []*host{h, serve(t, second)}
	cursor := h.trigger(h.KeyA, "durable")
	var (
		working sync.WaitGroup
		mu      sync.Mutex
		sent    []string
	)
	const writers, each = 6, 25
	for i := range writers {
		working.Go(func() {
			for range each {
				id := hosts[i%2].trigger(h.KeyA, "durable")
				mu.Lock()
				sent = append(sent, id)
				mu.Unlock()
			}
		})
	}
	shown := make([][]string, len(hosts))
	for i, at := range hosts {
		working.Go(func() {
			for cursor := cursor; len(shown[i]) < writers*each; {
				s := at.open(h.KeyA, strict, cursor)
				for n := 0; n < 7 && len(shown[i]) < writers*each; n++ {
					b, ok := s.next()
					if !ok {
						t.Errorf("reader %d: the stream ended", i)
						return
					}
					shown[i] = append(shown[i], b.eventID())
					cursor = b.id
				}
				s.stop()
			}
		})
	}
	working.Wait()
	want := slices.Sorted(slices.Values(sent))
	for i, ids := range shown {
		if got := slices.Sorted(slices.Values(ids)); !slices.Equal(got, want) {
			t.Errorf("reader %d: %d events, want each of %d once", i, len(slices.Compact(got)), len(want))
		}
	}
	if !slices.Equal(shown[0], shown[1]) {
		t.Error("the two instances show two orders")
	}
}
