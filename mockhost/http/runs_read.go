package hosthttp

import (
	"context"
	"net/http"
	"net/url"
	"strconv"
	"time"

	"github.com/wopwitness/wopwitness/mockhost/parts"
	"github.com/wopwitness/wopwitness/mockhost/store"
)

func (s *server) readRun(w http.ResponseWriter, r *http.Request, major int, segment string) {
	_, run, err := s.owned(r, major, segment, parts.DoorRead, parts.ScopeRunsRead)
	if err != nil {
		s.fail(w, r, err)
		return
	}
	state, err := s.parts.Runs.State(r.Context(), run)
	if err != nil {
		s.fail(w, r, err)
		return
	}
	writeJSON(w, http.StatusOK, s.parts.RunWire.Snapshot(major, run, state))
}

func (s *server) readWorkflow(w http.ResponseWriter, r *http.Request, id string) {
	if _, err := s.principal(r, parts.ScopeManifestRead); err != nil {
		s.fail(w, r, err)
		return
	}
	b, ok := s.parts.Workflows.Document(id)
	if !ok {
		s.problem(w, &parts.Problem{Status: http.StatusNotFound, Code: "not_found", Message: "there is no such workflow"})
		return
	}
	writeBody(w, http.StatusOK, b)
}

// The length of a page of a listing.
const (
	usualPage   = 50
	longestPage = 200
)

// page reads limit and cursor, a run's opaque id.
func page(q url.Values) (cursor string, limit int, err error) {
	limit, err = number(q, "limit", usualPage, 1, longestPage)
	return q.Get("cursor"), limit, err
}

// number reads an integer of the query within bounds, or gives a Problem.
func number(q url.Values, name string, absent, least, most int) (int, error) {
	given, ok := q[name]
	if !ok {
		return absent, nil
	}
	n, err := strconv.Atoi(given[0])
	if err != nil || len(given) != 1 || n < least || n > most {
		return 0, parts.Invalid("%s must be an integer from %d to %d", name, least, most)
	}
	return n, nil
}

// onePage takes what is beyond the limit off a list, of which one more was asked for, and has the answer say where more begins.
func onePage[T any](answer map[string]any, found []T, limit int, place func(T) string) []T {
	if len(found) <= limit {
		return found
	}
	answer["nextCursor"] = place(found[limit-1])
	return found[:limit]
}

// listRuns serves GET /runs, newest first; the cursor is the last run of the page before.
func (s *server) listRuns(w http.ResponseWriter, r *http.Request, major int) {
	p, err := s.principal(r, parts.ScopeRunsRead)
	var cursor string
	var limit int
	if err == nil {
		cursor, limit, err = page(r.URL.Query())
	}
	var found []store.Run
	if err == nil {
		found, err = s.parts.Runs.List(r.Context(), p, cursor, limit+1)
	}
	if err != nil {
		s.fail(w, r, err)
		return
	}
	answer := map[string]any{}
	found = onePage(answer, found, limit, func(r store.Run) string { return r.ID })
	list := make([]any, 0, len(found))
	for _, run := range found {
		state, err := s.parts.Runs.State(r.Context(), run)
		if err != nil {
			s.fail(w, r, err)
			return
		}
		list = append(list, s.parts.RunWire.Snapshot(major, run, state))
	}
	answer["runs"] = list
	writeJSON(w, http.StatusOK, answer)
}

// lookAgain bounds how long a waiting reader trusts that it is told of changes, in real time.
const lookAgain = time.Second

// untilNews waits until a run has changed, a beat is due, or it is time to look again. It is over where the host closes or ctx
// has ended.
func (s *server) untilNews(ctx context.Context, changed <-chan struct{}, beat <-chan time.Time) (beats, over bool) {
	again, cancel := context.WithTimeout(ctx, lookAgain)
	defer cancel()
	select {
	case <-changed:
	case <-again.Done():
	case <-beat:
		beats = true
	case <-s.Closing:
		return false, true
	}
	return beats, ctx.Err() != nil
}

// longestPoll bounds a poll's wait, in seconds.
const longestPoll = 60

// pollQuery reads a poll's parameters: on major 2 afterSequence, on major 1 either name that its clients use.
func pollQuery(major int, q url.Values) (after int64, wait time.Duration, err error) {
	names := []string{"afterSequence"}
	if major == 1 {
		names = []string{"lastSequence", "since"}
	}
	after = -1
	for _, name := range names {
		if given, ok := q[name]; ok {
			if after, err = strconv.ParseInt(given[0], 10, 64); err != nil || after < -1 || len(given) != 1 {
				return 0, 0, parts.Invalid("%s must be an integer", name)
			}
		}
	}
	seconds, err := number(q, "timeout", 0, 1, longestPoll)
	return after, time.Duration(seconds) * time.Second, err
}

func (s *server) pollRun(w http.ResponseWriter, r *http.Request, major int, segment string) {
	p, run, err := s.owned(r, major, segment, parts.DoorPoll, parts.ScopeRunsRead)
	var after int64
	var wait time.Duration
	if err == nil {
		after, wait, err = pollQuery(major, r.URL.Query())
	}
	if err != nil {
		s.fail(w, r, err)
		return
	}
	changed, stop := s.parts.Runs.Watch(run)
	defer stop()
	waiting, cancel := context.WithTimeout(r.Context(), wait)
	defer cancel()
	for {
		events, state, err := s.logAfter(r, p, run, after)
		if err != nil {
			s.fail(w, r, err)
			return
		}
		if len(events) > 0 || state.Over() || wait == 0 {
			s.answerPoll(w, major, run, events, state, after)
			return
		}
		if _, over := s.untilNews(waiting, changed, nil); over {
			wait = 0
		}
		if r.Context().Err() != nil {
			return
		}
	}
}

// logAfter reads what is new in a run's log and where the run stands. A run that was purged meanwhile isn't there.
func (s *server) logAfter(r *http.Request, p parts.Principal, run store.Run, after int64) ([]store.RunEvent, parts.RunState, error) {
	// The state is read first: what it says to be over has its last event in a log that is read later.
	state, err := s.parts.Runs.State(r.Context(), run)
	if err != nil {
		return nil, state, err
	}
	events, err := s.parts.Runs.Events(r.Context(), run, after)
	if err != nil || len(events) > 0 || state.Last >= 0 {
		return events, state, err
	}
	_, ok, err := s.parts.Runs.Find(r.Context(), p, run.ID)
	if err == nil && !ok {
		err = parts.NoRun()
	}
	return events, state, err
}

func (s *server) answerPoll(w http.ResponseWriter, major int, run store.Run, events []store.RunEvent, state parts.RunState, after int64) {
	list := make([]any, 0, len(events))
	last := after
	for _, e := range events {
		list = append(list, s.parts.RunWire.Event(major, run, e))
		last = e.Seq
	}
	if major == 1 {
		writeJSON(w, http.StatusOK, map[string]any{"events": list, "isComplete": state.Over()})
		return
	}
	writeJSON(w, http.StatusOK, map[string]any{
		"runId": s.parts.RunWire.ID(major, run), "events": list, "lastSequence": last, "status": state.Status, "isTerminal": state.Over(),
	})
}
