package hosthttp

import (
	"net/http"
	"slices"
	"strings"

	"github.com/wopwitness/wopwitness/mockhost/parts"
)

// asked reads the major that a request names; false when this host doesn't serve it.
func (s *server) asked(given []string) (int, bool) {
	major := 0
	switch strings.TrimSpace(strings.Join(given, ", ")) {
	case "1", "1.0":
		major = 1
	case "2", "2.0":
		major = 2
	}
	return major, slices.Contains(s.Majors, major)
}

func (s *server) unsupported() *parts.Problem {
	served := make([]any, 0, len(s.Majors))
	for _, m := range s.Majors {
		served = append(served, map[int]string{1: "1.0", 2: "2.0"}[m])
	}
	return &parts.Problem{
		Status: http.StatusNotAcceptable, Code: "protocol_version_unsupported",
		Message: "this host doesn't serve the protocol version asked for",
		Details: map[string]any{"protocolVersions": served},
	}
}

// version2 serves an operation that major 2 alone has. A request may leave the version out, as a browser's EventSource
// must; the path then says it.
func (s *server) version2(next http.HandlerFunc) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set(versionHeader, "2.0")
		if given := r.Header.Values(versionHeader); len(given) > 0 {
			major, ok := s.asked(given)
			switch {
			case !ok:
				s.problem(w, s.unsupported())
				return
			case major != 2:
				s.problem(w, &parts.Problem{
					Status: http.StatusBadRequest, Code: "protocol_version_mismatch",
					Message: "this path belongs to major 2",
				})
				return
			}
		}
		next(w, r)
	}
}
