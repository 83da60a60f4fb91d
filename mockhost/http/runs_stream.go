package hosthttp

import (
	"encoding/json"
	"fmt"
	"net/http"
	"strconv"
	"time"

	"github.com/wopwitness/wopwitness/mockhost/parts"
	"github.com/wopwitness/wopwitness/mockhost/store"
)

// streamQuery reads the mode and the cursor of a run's stream. Both modes carry every event of this host: it has none that
// is of use to a debugger alone.
func streamQuery(r *http.Request) (after int64, err error) {
	if given, ok := r.URL.Query()["streamMode"]; ok && (len(given) != 1 || given[0] != "updates" && given[0] != "debug") {
		return 0, &parts.Problem{
			Status: http.StatusBadRequest, Code: "unsupported_stream_mode", Message: "streamMode is updates or debug",
		}
	}
	cursor := r.Header.Get("Last-Event-Id")
	if cursor == "" {
		return -1, nil
	}
	if after, err = strconv.ParseInt(cursor, 10, 64); err != nil || after < 0 {
		return 0, parts.Invalid("Last-Event-ID must be a sequence of the run's log")
	}
	return after, nil
}

// streamRun serves a run's log as it grows, and ends with its terminal event.
func (s *server) streamRun(w http.ResponseWriter, r *http.Request, major int, segment string) {
	p, run, err := s.owned(r, major, segment, parts.DoorStream, parts.ScopeRunsRead)
	var after int64
	if err == nil {
		after, err = streamQuery(r)
	}
	if err != nil {
		s.fail(w, r, err)
		return
	}
	changed, stop := s.parts.Runs.Watch(run)
	defer stop()
	h := w.Header()
	h.Set("Content-Type", "text/event-stream")
	h.Set("Cache-Control", "no-store")
	h.Set("X-Accel-Buffering", "no")
	w.WriteHeader(http.StatusOK)
	out := s.writer(w)
	if out.write(s.parts.Pulse.Opening()) != nil {
		return
	}
	beat := time.NewTicker(s.parts.Pulse.Every())
	defer beat.Stop()
	for {
		events, state, err := s.logAfter(r, p, run, after)
		if err != nil {
			s.ended(err)
			return
		}
		var frames []byte
		for _, e := range events {
			frame, err := s.runFrame(major, run, e)
			if err != nil {
				s.ended(err)
				return
			}
			frames, after = append(frames, frame...), e.Seq
		}
		if len(frames) > 0 && out.write(frames) != nil || state.Over() {
			return
		}
		beats, over := s.untilNews(r.Context(), changed, beat.C)
		if over || beats && out.write(s.parts.Pulse.Beat(p)) != nil {
			return
		}
	}
}

// runFrame is one event as a run's stream sends it.
func (s *server) runFrame(major int, run store.Run, e store.RunEvent) ([]byte, error) {
	shown := s.parts.RunWire.Event(major, run, e)
	b, err := json.Marshal(shown)
	if err != nil {
		return nil, fmt.Errorf("encode %s: %w", e.Type, err)
	}
	return fmt.Appendf(nil, "id: %d\nevent: %s\ndata: %s\n\n", e.Seq, shown["type"], b), nil
}
