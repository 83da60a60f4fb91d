package hosthttp

import (
	"net/http"
	"net/url"
	"strings"

	"github.com/wopwitness/wopwitness/mockhost/conforming"
	"github.com/wopwitness/wopwitness/mockhost/parts"
	"github.com/wopwitness/wopwitness/mockhost/store"
)

// runs serves the run paths of every major served, and leaves the rest to next. They are split by hand: a router takes
// "%2F" for a separator and stumbles over "{id}:fork" where the id has a colon or the colon comes as "%3A".
func (s *server) runs(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		path := r.URL.EscapedPath()
		for _, m := range s.Majors {
			prefix := runsPath(m)
			if path != prefix && !strings.HasPrefix(path, prefix+"/") {
				continue
			}
			s.version(m, func(w http.ResponseWriter, r *http.Request) {
				s.runRoute(w, r, m, strings.TrimPrefix(path, prefix))
			})(w, r)
			return
		}
		next.ServeHTTP(w, r)
	})
}

func runsPath(major int) string {
	if major == 1 {
		return "/v1/runs"
	}
	return "/runs"
}

func workflowsPath(major int) string {
	if major == 1 {
		return "/v1/workflows/"
	}
	return "/workflows/"
}

// version serves an operation under the rules of its major.
func (s *server) version(major int, next http.HandlerFunc) http.HandlerFunc {
	if major == 2 {
		return s.version2(next)
	}
	return s.version1(next)
}

// version1 serves an operation of major 1. A request may leave the version out, as old clients do; the path then says it.
func (s *server) version1(next http.HandlerFunc) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set(versionHeader, "1.0")
		if given := r.Header.Values(versionHeader); len(given) > 0 {
			major, ok := s.asked(given)
			switch {
			case !ok:
				s.problem(w, s.unsupported())
				return
			case major != 1:
				s.problem(w, &parts.Problem{
					Status: http.StatusBadRequest, Code: "protocol_version_mismatch", Message: "this path belongs to major 1",
				})
				return
			}
		}
		next(w, r)
	}
}

// runRoute takes what follows the collection's path: nothing, or "/" and the segments.
func (s *server) runRoute(w http.ResponseWriter, r *http.Request, major int, rest string) {
	if rest == "" {
		switch {
		case r.Method == http.MethodPost:
			s.createRun(w, r, major)
		case r.Method == http.MethodGet && major == 2:
			s.listRuns(w, r, major)
		default:
			s.noMethod(w)
		}
		return
	}
	raw := strings.Split(rest[1:], "/")
	segment, err := url.PathUnescape(raw[0])
	if err != nil || segment == "" {
		s.problem(w, parts.NotFound("path"))
		return
	}
	tail := strings.Join(raw[1:], "/")
	type operation func(w http.ResponseWriter, r *http.Request, major int, segment string)
	var op operation
	method := http.MethodGet
	switch tail {
	case "":
		op = s.readRun
		if i := strings.LastIndexByte(segment, ':'); r.Method == http.MethodPost && i >= 0 {
			if segment[i+1:] != "fork" {
				s.problem(w, parts.NotFound("path"))
				return
			}
			op, method, segment = s.forkRun, http.MethodPost, segment[:i]
		}
	case "events":
		op = s.streamRun
	case "events/poll":
		op = s.pollRun
	case "cancel":
		op, method = s.cancelRun, http.MethodPost
	default:
		s.problem(w, parts.NotFound("path"))
		return
	}
	if r.Method != method {
		s.noMethod(w)
		return
	}
	op(w, r, major, segment)
}

func (s *server) noMethod(w http.ResponseWriter) {
	s.problem(w, &parts.Problem{
		Status: http.StatusMethodNotAllowed, Code: "method_not_allowed", Message: "this path doesn't take that method",
	})
}

// principal admits a request that needs every one of the scopes.
func (s *server) principal(r *http.Request, scopes ...string) (parts.Principal, error) {
	p, err := s.parts.Gate.Admit(r)
	for _, scope := range scopes {
		if err == nil {
			err = s.parts.Gate.Require(p, scope)
		}
	}
	return p, err
}

// owned finds the run that a path's segment names, for a caller that has the scopes.
func (s *server) owned(r *http.Request, major int, segment, door string, scopes ...string) (parts.Principal, store.Run, error) {
	p, err := s.principal(r, scopes...)
	if err != nil {
		return p, store.Run{}, err
	}
	run, err := s.parts.RunFinder.Named(r.Context(), p, major, door, segment)
	return p, run, err
}

// runPath is the path of a run under the origin asked.
func (s *server) runPath(major int, r store.Run) string {
	return runsPath(major) + "/" + conforming.ProjectID(s.parts.RunWire.ID(major, r))
}
