package limits

import (
	"net/http"
	"sync"
)

// hub keeps every frame of its life in one slice that all streams share, and writes to each stream whatever is new in one
// piece. It is the fastest kind: a queue for each stream would cost more.
type hub struct {
	made made

	mu     sync.RWMutex
	frames [][]byte
	moved  chan struct{}
}

func newHub() *hub { return &hub{moved: make(chan struct{})} }

func (h *hub) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if r.URL.Path == StreamPath {
		h.stream(w, r)
		return
	}
	e, err := h.made.next(r)
	if err != nil {
		failed(w, err)
		return
	}
	frame := e.frame()
	h.mu.Lock()
	h.frames = append(h.frames, frame)
	close(h.moved)
	h.moved = make(chan struct{})
	h.mu.Unlock()
	answer(w, e.id)
}

func (h *hub) stream(w http.ResponseWriter, r *http.Request) {
	h.mu.RLock()
	position := len(h.frames)
	h.mu.RUnlock()
	w.Header().Set("Content-Type", "text/event-stream")
	flush := http.NewResponseController(w)
	piece := []byte(": stream open\n\n")
	for {
		if _, err := w.Write(piece); err != nil || flush.Flush() != nil {
			return
		}
		for {
			h.mu.RLock()
			frames := h.frames[position:]
			moved := h.moved
			h.mu.RUnlock()
			if len(frames) > 0 {
				piece = piece[:0]
				for _, f := range frames {
					piece = append(piece, f...)
				}
				position += len(frames)
				break
			}
			select {
			case <-moved:
			case <-r.Context().Done():
				return
			}
		}
	}
}
