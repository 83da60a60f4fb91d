package hosthttp

import (
	"context"
	"net/http"

	"github.com/wopwitness/wopwitness/mockhost/parts"
)

func (s *server) pause(w http.ResponseWriter, r *http.Request) {
	s.hold(w, r, s.parts.Agent.Pauses.Pause)
}

func (s *server) resume(w http.ResponseWriter, r *http.Request) {
	s.hold(w, r, s.parts.Agent.Pauses.Resume)
}

// readPauses tells what is paused.
func (s *server) readPauses(w http.ResponseWriter, r *http.Request) {
	p, err := s.parts.Gate.Admit(r)
	var paused []string
	if err == nil {
		paused, err = s.parts.Agent.Pauses.List(r.Context(), p)
	}
	if err != nil {
		s.fail(w, r, err)
		return
	}
	writeJSON(w, http.StatusOK, map[string]any{"paused": paused})
}

// hold changes what is paused, and answers with it.
func (s *server) hold(w http.ResponseWriter, r *http.Request, do func(context.Context, parts.Principal, string) ([]string, error)) {
	var tool *string
	p, err := s.seamBody(w, r, map[string]any{"tool": &tool})
	name := ""
	if err == nil && tool != nil {
		if name = *tool; !toolName(name) {
			err = parts.Invalid("tool must be the name of a tool; leave it out for all")
		}
	}
	var paused []string
	if err == nil {
		paused, err = do(r.Context(), p, name)
	}
	if err != nil {
		s.fail(w, r, err)
		return
	}
	writeJSON(w, http.StatusOK, map[string]any{"paused": paused})
}

// scriptRepair sets what the scripted repairer says of a tool.
func (s *server) scriptRepair(w http.ResponseWriter, r *http.Request) {
	var tool string
	var says parts.Proposal
	p, err := s.seamBody(w, r, map[string]any{
		"tool": &tool, "payload": &says.Payload, "confidence": &says.Confidence,
	}, "tool", "payload", "confidence")
	switch {
	case err != nil:
	case !toolName(tool):
		err = parts.Invalid("tool must be the name of a tool")
	case says.Payload[0] != '{':
		err = parts.Invalid("payload must be an object")
	case says.Confidence < 0 || says.Confidence > 1:
		err = parts.Invalid("confidence must be from 0 to 1")
	default:
		err = s.parts.Agent.Repairer.Script(r.Context(), p, tool, says)
	}
	if err != nil {
		s.fail(w, r, err)
		return
	}
	writeJSON(w, http.StatusOK, map[string]any{"tool": tool, "payload": says.Payload, "confidence": says.Confidence})
}

func (s *server) expireConversation(w http.ResponseWriter, r *http.Request) {
	p, err := s.seamBody(w, r, map[string]any{})
	if err == nil {
		var known bool
		if known, err = s.parts.Agent.Conversations.Expire(r.Context(), p, named(r, "ref")); err == nil && !known {
			err = parts.NotFound("conversation")
		}
	}
	if err != nil {
		s.fail(w, r, err)
		return
	}
	w.WriteHeader(http.StatusNoContent)
}

// readReview lists what waits for a person.
func (s *server) readReview(w http.ResponseWriter, r *http.Request) {
	p, err := s.parts.Gate.Admit(r)
	review := named(r, "review")
	if err == nil && review != parts.HumanReview && review != parts.SecurityReview {
		err = parts.NotFound("review; known are human, security")
	}
	var after int64
	var limit int
	if err == nil {
		after, limit, err = agentPage(r.URL.Query())
	}
	var found []parts.Entry
	if err == nil {
		found, err = s.parts.Agent.Reviews.List(r.Context(), p, review, after, limit+1)
	}
	if err != nil {
		s.fail(w, r, err)
		return
	}
	writeJSON(w, http.StatusOK, paged(found, limit, func(e parts.Entry) int64 { return e.Seq }, func(e parts.Entry) map[string]any {
		entry := s.entry(e)
		if e.Proposal != nil {
			entry["proposal"] = map[string]any{
				"payload": s.parts.Agent.Redactor.JSON(e.Proposal.Payload), "confidence": e.Proposal.Confidence,
			}
		}
		return entry
	}))
}
