package hosthttp

import (
	"context"
	"fmt"
	"net/http"
	"time"

	"github.com/wopwitness/wopwitness/fixtures/workflows"
	"github.com/wopwitness/wopwitness/mockhost/parts"
	"github.com/wopwitness/wopwitness/mockhost/store"
)

// longestExhaustion bounds how long the exhaust seam waits for its run to die, in real time.
const longestExhaustion = 20 * time.Second

// exhaustSeam makes a run of the exhausting fixture the way everybody does, waits for its death, and tells of it.
func (s *server) exhaustSeam(major int) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		var scenario string
		p, err := s.seamBody(w, r, map[string]any{"scenario": &scenario}, "scenario")
		if err == nil && scenario != "exhaust-retries" && scenario != "fork-after-dead-letter" {
			err = parts.Invalid("scenario must be exhaust-retries or fork-after-dead-letter")
		}
		var run store.Run
		if err == nil {
			run, err = s.parts.Runs.Create(r.Context(), p, workflows.Exhaust, parts.RunOptions{}, nil)
		}
		if err == nil {
			err = s.untilOver(r.Context(), run)
		}
		var letter map[string]any
		if err == nil {
			letter, err = s.letterOf(r.Context(), major, run)
		}
		if err != nil {
			s.fail(w, r, err)
			return
		}
		_, there, err := s.parts.Runs.Find(r.Context(), p, run.ID)
		if err != nil {
			s.fail(w, r, err)
			return
		}
		writeJSON(w, http.StatusOK, map[string]any{"event": letter, "forkEligible": there})
	}
}

func (s *server) untilOver(ctx context.Context, run store.Run) error {
	ctx, cancel := context.WithTimeout(ctx, longestExhaustion)
	defer cancel()
	changed, stop := s.parts.Runs.Watch(run)
	defer stop()
	for {
		state, err := s.parts.Runs.State(ctx, run)
		if err != nil || state.Over() {
			return err
		}
		if _, over := s.untilNews(ctx, changed, nil); over {
			if ctx.Err() != nil {
				return fmt.Errorf("the run of the exhaust seam hasn't ended: %w", ctx.Err())
			}
			return parts.ErrStreamOver
		}
	}
}

func (s *server) letterOf(ctx context.Context, major int, run store.Run) (map[string]any, error) {
	log, err := s.parts.Runs.Events(ctx, run, -1)
	if err != nil {
		return nil, err
	}
	for _, e := range log {
		if e.Type == parts.RunDeadLettered {
			return s.parts.RunWire.Event(major, run, e), nil
		}
	}
	return nil, fmt.Errorf("run %s ended without a dead letter", run.ID)
}

// entriesSeam lists the caller's sink, newest first; the cursor is the last run of the page before.
func (s *server) entriesSeam(major int) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		p, err := s.parts.Gate.Admit(r)
		var cursor string
		var limit int
		if err == nil {
			cursor, limit, err = page(r.URL.Query())
		}
		var found []store.DeadLetter
		if err == nil {
			found, err = s.parts.Sink.List(r.Context(), p, cursor, limit+1)
		}
		if err != nil {
			s.fail(w, r, err)
			return
		}
		answer := map[string]any{}
		found = onePage(answer, found, limit, func(d store.DeadLetter) string { return d.Run })
		entries := make([]any, 0, len(found))
		for _, d := range found {
			entries = append(entries, s.parts.RunWire.Entry(major, d))
		}
		answer["entries"] = entries
		writeJSON(w, http.StatusOK, answer)
	}
}
