package hosthttp

import (
	"context"
	"net/http"
	"net/url"
	"time"

	"github.com/wopwitness/wopwitness/mockhost/parts"
)

// queueOf is the queue that the path names, or a Problem.
func queueOf(r *http.Request) (string, error) {
	queue := named(r, "queue")
	if queue != parts.MessageQueue && queue != parts.ToolQueue {
		return "", parts.NotFound("queue; known are message, tool")
	}
	return queue, nil
}

// readQueue lists a queue, with what is unresolved of it.
func (s *server) readQueue(w http.ResponseWriter, r *http.Request) {
	p, err := s.parts.Gate.Admit(r)
	var q parts.EntryQuery
	if err == nil {
		q, err = entryQuery(r)
	}
	var found []parts.Entry
	var depth parts.QueueDepth
	limit := q.Limit
	if err == nil {
		q.Limit++
		found, depth, err = s.parts.Agent.Queues.List(r.Context(), p, q)
	}
	if err != nil {
		s.fail(w, r, err)
		return
	}
	answer := paged(found, limit, func(e parts.Entry) int64 { return e.Seq }, s.entry)
	answer["depth"], answer["oldestAgeSeconds"] = depth.Depth, nil
	if depth.Depth > 0 {
		answer["oldestAgeSeconds"] = max(0, int(s.parts.Clock.Now().Sub(depth.Oldest)/time.Second))
	}
	writeJSON(w, http.StatusOK, answer)
}

func entryQuery(r *http.Request) (q parts.EntryQuery, err error) {
	ask := r.URL.Query()
	if q.Queue, err = queueOf(r); err != nil {
		return q, err
	}
	if q.Tool, err = text(ask, "tool"); err != nil {
		return q, err
	}
	if q.TraceID, err = text(ask, "traceId"); err != nil {
		return q, err
	}
	if q.Category, err = oneOf(ask, "category", categories()...); err != nil {
		return q, err
	}
	q.Resolution, err = oneOf(ask, "resolution", parts.Unresolved, parts.Resolved, parts.Replayed, parts.Discarded)
	if err != nil {
		return q, err
	}
	if q.OlderThan, err = age(ask); err != nil {
		return q, err
	}
	q.After, q.Limit, err = agentPage(ask)
	return q, err
}

func age(ask url.Values) (time.Duration, error) {
	seconds, err := number(ask, "olderThanSeconds", 0, 0, longestAge)
	return time.Duration(seconds) * time.Second, err
}

func (s *server) readEntry(w http.ResponseWriter, r *http.Request) {
	p, err := s.parts.Gate.Admit(r)
	var queue string
	if err == nil {
		queue, err = queueOf(r)
	}
	var e parts.Entry
	if err == nil {
		var known bool
		if e, known, err = s.parts.Agent.Queues.Find(r.Context(), p, queue, named(r, "entry")); err == nil && !known {
			err = parts.NotFound("entry")
		}
	}
	if err != nil {
		s.fail(w, r, err)
		return
	}
	answer := s.entry(e)
	history := make([]any, 0, len(e.History))
	for _, h := range e.History {
		history = append(history, map[string]any{"attempt": h.Attempt, "at": instant(h.At), "outcome": h.Outcome})
	}
	audit := make([]any, 0, len(e.Audit))
	for _, a := range e.Audit {
		item := map[string]any{"at": instant(a.At), "by": a.By, "action": a.Action, "resolution": a.Resolution}
		if a.Notes != "" {
			item["notes"] = s.parts.Agent.Redactor.Text(a.Notes)
		}
		audit = append(audit, item)
	}
	answer["history"], answer["audit"] = history, audit
	writeJSON(w, http.StatusOK, answer)
}

// entry writes an entry as its queue shows it.
func (s *server) entry(e parts.Entry) map[string]any {
	tags := e.Tags
	if tags == nil {
		tags = []string{}
	}
	failure := map[string]any{"kind": e.LastError.Kind, "status": e.LastError.Status, "message": e.LastError.Message}
	if e.Queue == parts.MessageQueue {
		return map[string]any{
			"entryId": e.ID, "messageId": s.parts.Agent.Redactor.Text(e.Message), "reason": e.Reason, "deliveries": e.Deliveries, "body": e.Body,
			"lastError": failure, "firstSeenAt": instant(e.FirstSeen), "traceId": e.TraceID, "resolution": e.Resolution,
			"expiresAt": instant(e.Expires), "tags": tags,
		}
	}
	var category any
	if e.Category != "" {
		category = e.Category
	}
	return map[string]any{
		"entryId": e.ID, "runId": e.Run, "stepIndex": e.Step, "toolName": e.Tool, "toolArgs": e.Args, "attempts": e.Attempts,
		"lastError": failure, "conversationRef": e.Conversation, "tokensSpent": tokens(e.Tokens), "firstSeenAt": instant(e.FirstSeen),
		"originalMessageId": s.parts.Agent.Redactor.Text(e.Message), "invocationId": e.Invocation, "traceId": e.TraceID, "category": category,
		"resolution": e.Resolution, "lastAttemptedAt": instant(e.LastAttempt), "nextReplayAt": maybeInstant(e.NextReplay),
		"expiresAt": instant(e.Expires), "tags": tags,
	}
}

// longestReplay bounds how long a person who asks for a replay waits for its end, in real time; it goes on after that.
const longestReplay = 10 * time.Second

func (s *server) actOnEntry(w http.ResponseWriter, r *http.Request) {
	var by, notes string
	p, err := s.seamBody(w, r, map[string]any{"by": &by, "notes": &notes}, "by")
	var queue string
	if err == nil {
		queue, err = queueOf(r)
	}
	if err == nil && (by == "" || len(by) > longestMessageID) {
		err = parts.Invalid("by must name the person, in at most %d bytes", longestMessageID)
	}
	// An audit trail that hides who did something is none, and one that shows an address breaks the rule of all entries.
	if err == nil && s.parts.Agent.Redactor.Text(by) != by {
		err = parts.Invalid("by must name the person without an e-mail address or a secret: entries show none; a user name will do")
	}
	var e parts.Entry
	if err == nil {
		e, err = s.act(r.Context(), p, queue, named(r, "entry"), named(r, "action"), by, notes)
	}
	if err != nil {
		s.fail(w, r, err)
		return
	}
	writeJSON(w, http.StatusAccepted, map[string]any{"resolution": e.Resolution})
}

func (s *server) act(ctx context.Context, p parts.Principal, queue, id, action, by, notes string) (parts.Entry, error) {
	switch action {
	case parts.ActionResolve, parts.ActionDiscard:
		return s.parts.Agent.Queues.Settle(ctx, p, queue, id, action, by, notes)
	case parts.ActionReplay:
		ctx, cancel := context.WithTimeout(ctx, longestReplay)
		defer cancel()
		e, _, err := s.parts.Agent.Replayer.Replay(ctx, p.Tenant, parts.ReplayRequest{
			Queue: queue, ID: id, By: by, Notes: notes, Action: parts.ActionReplay,
		})
		return e, err
	}
	return parts.Entry{}, parts.NotFound("action; known are discard, replay, resolve")
}
