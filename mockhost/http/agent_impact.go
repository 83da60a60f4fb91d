package hosthttp

import (
	"net/http"

	"github.com/wopwitness/wopwitness/mockhost/parts"
)

// readImpact tells what a failure touches.
func (s *server) readImpact(w http.ResponseWriter, r *http.Request) {
	p, err := s.parts.Gate.Admit(r)
	if err != nil {
		s.fail(w, r, err)
		return
	}
	s.impact(w, r, p)
}

// compensate takes back what was done, and answers as readImpact does.
func (s *server) compensate(w http.ResponseWriter, r *http.Request) {
	p, err := s.seamBody(w, r, map[string]any{})
	var traceID string
	if err == nil {
		traceID, err = traceOf(r)
	}
	if err == nil {
		var known bool
		if known, err = s.parts.Agent.Impact.Compensate(r.Context(), p, traceID); err == nil && !known {
			err = parts.NotFound("trace")
		}
	}
	if err != nil {
		s.fail(w, r, err)
		return
	}
	s.impact(w, r, p)
}

func traceOf(r *http.Request) (string, error) {
	ask := r.URL.Query()
	traceID, err := text(ask, "traceId")
	if err == nil && traceID == "" {
		err = parts.Invalid("traceId is missing")
	}
	return traceID, err
}

func (s *server) impact(w http.ResponseWriter, r *http.Request, p parts.Principal) {
	traceID, err := traceOf(r)
	var steps []parts.ImpactStep
	var active int
	if err == nil {
		var known bool
		if steps, active, known, err = s.parts.Agent.Impact.Of(r.Context(), p, traceID); err == nil && !known {
			err = parts.NotFound("trace")
		}
	}
	if err != nil {
		s.fail(w, r, err)
		return
	}
	out := make([]any, 0, len(steps))
	for _, step := range steps {
		one := map[string]any{"stepIndex": step.Step, "tool": step.Tool, "state": step.State, "dependsOn": step.DependsOn}
		if step.Compensation != "" {
			one["compensation"] = step.Compensation
		}
		out = append(out, one)
	}
	writeJSON(w, http.StatusOK, map[string]any{"steps": out, "activeWorkflows": active})
}

// readMetrics shows the numbers of the tenant's queues.
func (s *server) readMetrics(w http.ResponseWriter, r *http.Request) {
	p, err := s.parts.Gate.Admit(r)
	var all map[string]any
	if err == nil {
		all, err = s.parts.Agent.Metrics.Read(r.Context(), p)
	}
	if err != nil {
		s.fail(w, r, err)
		return
	}
	writeJSON(w, http.StatusOK, all)
}

// scrape shows the same to Prometheus, with a key as everything else here: tools are a tenant's own.
func (s *server) scrape(w http.ResponseWriter, r *http.Request) {
	p, err := s.parts.Gate.Admit(r)
	if err == nil {
		err = s.parts.Gate.Require(p, parts.ScopeRunsRead)
	}
	if err == nil {
		err = s.Scrape(w, r, p.Tenant)
	}
	if err != nil {
		s.fail(w, r, err)
	}
}
