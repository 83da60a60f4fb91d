package bench

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"testing"
	"time"
)

// streaming answers with the pieces, one write each.
func streaming(t *testing.T, pieces ...string) target {
	t.Helper()
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "text/event-stream")
		for _, p := range pieces {
			fmt.Fprint(w, p)
			_ = http.NewResponseController(w).Flush()
		}
	}))
	t.Cleanup(s.Close)
	return newTarget(s.URL)
}

func TestAReaderCountsFramesAndTheirOrder(t *testing.T) {
	read := func(pieces ...string) *reader {
		t.Helper()
		r, err := streaming(t, append([]string{": open\n\n"}, pieces...)...).subscribe(t.Context(), "")
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = r.close() })
		if err := r.until(2, time.Now().Add(time.Minute)); err != nil {
			t.Fatal(err)
		}
		return r
	}
	whole := read("event: x\nid: 1\ndata: {}\n\nevent: x\nid: 2\ndata: {}\n\n")
	split := read("event: x\nid:", " 1\nda", "ta: {}\n", "\n: still here\n\n", "event: x\nid: 2\ndata: {}\n\n")
	swapped := read("event: x\nid: 2\ndata: {}\n\nevent: x\nid: 1\ndata: {}\n\n")
	if whole.frames != 2 || split.frames != 2 {
		t.Errorf("frames: whole %d, split %d", whole.frames, split.frames)
	}
	if whole.order != split.order {
		t.Error("the same frames in other pieces were taken for another order")
	}
	if whole.order == swapped.order {
		t.Error("another order was not noticed")
	}
}

func TestAReaderSaysWhatItLacks(t *testing.T) {
	r, err := streaming(t, ": open\n\n", "id: 1\ndata: {}\n\n").subscribe(t.Context(), "")
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = r.close() }()
	if err := r.until(2, time.Now().Add(time.Minute)); err == nil || r.frames != 1 {
		t.Errorf("expected an end after 1 frame, got %d, %v", r.frames, err)
	}
}

func TestARefusedStreamIsAnError(t *testing.T) {
	s := httptest.NewServer(http.NotFoundHandler())
	defer s.Close()
	if r, err := newTarget(s.URL).subscribe(t.Context(), ""); err == nil {
		_ = r.close()
		t.Error("a 404 was taken for a stream")
	}
}
