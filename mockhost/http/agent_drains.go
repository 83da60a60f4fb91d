package hosthttp

import (
	"net/http"
	"slices"
	"time"

	"github.com/wopwitness/wopwitness/mockhost/parts"
)

// The bounds of a drain.
const (
	largestBatch = 100
	fastestDrain = 100 // a second
)

func (s *server) startDrain(w http.ResponseWriter, r *http.Request) {
	var d parts.DrainRequest
	var tool, category *string
	var older *int
	p, err := s.seamBody(w, r, map[string]any{
		"tool": &tool, "category": &category, "olderThanSeconds": &older, "batch": &d.Batch, "perSecond": &d.PerSecond,
		"minSuccessRate": &d.MinSuccessRate,
	}, "batch", "perSecond")
	if err == nil {
		err = checkDrain(&d, tool, category, older)
	}
	var id string
	if err == nil {
		id, err = s.parts.Agent.Drainer.Start(r.Context(), p, d)
	}
	if err != nil {
		s.fail(w, r, err)
		return
	}
	writeJSON(w, http.StatusAccepted, map[string]any{"drainId": id})
}

func checkDrain(d *parts.DrainRequest, tool, category *string, older *int) error {
	switch {
	case tool != nil && !toolName(*tool):
		return parts.Invalid("tool must be the name of a tool")
	case category != nil && !slices.Contains(categories(), *category):
		return parts.Invalid("category must be one of %v", categories())
	case older != nil && (*older < 0 || *older > longestAge):
		return parts.Invalid("olderThanSeconds must be from 0 to %d", longestAge)
	case d.Batch < 1 || d.Batch > largestBatch:
		return parts.Invalid("batch must be from 1 to %d", largestBatch)
	case d.PerSecond < 1 || d.PerSecond > fastestDrain:
		return parts.Invalid("perSecond must be from 1 to %d", fastestDrain)
	case d.MinSuccessRate < 0 || d.MinSuccessRate > 1:
		return parts.Invalid("minSuccessRate must be from 0 to 1")
	}
	if tool != nil {
		d.Tool = *tool
	}
	if category != nil {
		d.Category = *category
	}
	if older != nil {
		d.OlderThan = time.Duration(*older) * time.Second
	}
	return nil
}

func (s *server) readDrain(w http.ResponseWriter, r *http.Request) {
	p, err := s.parts.Gate.Admit(r)
	var d parts.Drain
	if err == nil {
		var known bool
		if d, known, err = s.parts.Agent.Drainer.Find(r.Context(), p, named(r, "drain")); err == nil && !known {
			err = parts.NotFound("drain")
		}
	}
	if err != nil {
		s.fail(w, r, err)
		return
	}
	failed := make([]any, 0, len(d.Failed))
	for _, f := range d.Failed {
		failed = append(failed, map[string]any{"entryId": f.Entry, "status": f.Status})
	}
	writeJSON(w, http.StatusOK, map[string]any{
		"state": d.State, "replayed": d.Replayed, "succeeded": d.Succeeded, "failed": failed, "remaining": d.Remaining,
	})
}
