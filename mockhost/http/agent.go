package hosthttp

import (
	"maps"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/go-chi/chi/v5"

	"github.com/wopwitness/wopwitness/mockhost/closedjson"
	"github.com/wopwitness/wopwitness/mockhost/conforming"
	"github.com/wopwitness/wopwitness/mockhost/parts"
)

// mountAgent serves the seams of the agent worker under a major's prefix.
func (s *server) mountAgent(r chi.Router, prefix string, wrap func(http.HandlerFunc) http.HandlerFunc) {
	prefix += "/agent-dlq"
	for path, h := range s.agentReads() {
		r.Get(prefix+path, wrap(s.asking(agentParameters(path), h)))
	}
	for path, h := range s.agentWrites() {
		r.Post(prefix+path, wrap(s.asking(agentParameters(path), h)))
	}
	r.Put(prefix+"/tools/{name}", wrap(s.asking(nil, s.putTool)))
}

// agentParameters are the parameters of the query that a path takes.
func agentParameters(path string) []string {
	switch path {
	case "/queues/{queue}":
		return []string{"tool", "traceId", "category", "resolution", "olderThanSeconds", "cursor", "limit"}
	case "/invocations":
		return []string{"traceId", "status", "cursor", "limit"}
	case "/reviews/{review}":
		return []string{"cursor", "limit"}
	case "/impact", "/impact/compensate":
		return []string{"traceId"}
	}
	return nil
}

// asking refuses a parameter of the query that isn't one of these: one that is mistyped would narrow nothing, and what was
// asked about some would be answered about all.
func (s *server) asking(takes []string, h http.HandlerFunc) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		for _, name := range slices.Sorted(maps.Keys(r.URL.Query())) {
			if slices.Contains(takes, name) {
				continue
			}
			_, err := s.parts.Gate.Admit(r)
			if err == nil {
				err = unknownParameter(name, takes)
			}
			s.fail(w, r, err)
			return
		}
		h(w, r)
	}
}

// unknownParameter names the offender and what it may have been meant for, as a body's unknown member is told.
func unknownParameter(name string, takes []string) error {
	return parts.Invalid("unknown parameter %s; %s", closedjson.Quoted(name), closedjson.Known(takes))
}

func (s *server) agentReads() map[string]http.HandlerFunc {
	return map[string]http.HandlerFunc{
		"/tools/{name}":           s.readTool,
		"/messages/{id}":          s.readMessage,
		"/queues/{queue}":         s.readQueue,
		"/queues/{queue}/{entry}": s.readEntry,
		"/invocations":            s.readInvocations,
		"/traces/{trace}":         s.readTrace,
		"/drains/{drain}":         s.readDrain,
		"/reviews/{review}":       s.readReview,
		"/impact":                 s.readImpact,
		"/metrics":                s.readMetrics,
		"/pause":                  s.readPauses,
	}
}

func (s *server) agentWrites() map[string]http.HandlerFunc {
	return map[string]http.HandlerFunc{
		"/messages":                        s.acceptMessage,
		"/queues/{queue}/{entry}/{action}": s.actOnEntry,
		"/drains":                          s.startDrain,
		"/pause":                           s.pause,
		"/resume":                          s.resume,
		"/impact/compensate":               s.compensate,
		"/conversations/{ref}/expire":      s.expireConversation,
		"/semantic":                        s.scriptRepair,
	}
}

// named is a decoded segment of the path. The router reads the path as it was sent only where decoding loses something of it,
// else the decoded one, which isn't decoded another time: "%252e" names "%2e".
func named(r *http.Request, name string) string {
	raw := chi.URLParam(r, name)
	if r.URL.RawPath == "" {
		return raw
	}
	if text, err := url.PathUnescape(raw); err == nil {
		return text
	}
	return raw
}

func instant(t time.Time) string { return t.UTC().Format(conforming.TimeLayout) }

// maybeInstant is null for the zero time.
func maybeInstant(t time.Time) any {
	if t.IsZero() {
		return nil
	}
	return instant(t)
}

// oneOf checks that a parameter of the query is absent, or one of the values.
func oneOf(q url.Values, name string, values ...string) (string, error) {
	given, ok := q[name]
	if !ok {
		return "", nil
	}
	if len(given) != 1 || !slices.Contains(values, given[0]) {
		return "", parts.Invalid("%s must be one of %s", name, strings.Join(values, ", "))
	}
	return given[0], nil
}

// text reads a parameter of the query that is any text but an empty one.
func text(q url.Values, name string) (string, error) {
	given, ok := q[name]
	if ok && (len(given) != 1 || given[0] == "") {
		return "", parts.Invalid("%s must be one text, and not an empty one", name)
	}
	return q.Get(name), nil
}

// agentPage reads the bounds of a list whose cursor is a place.
func agentPage(q url.Values) (after int64, limit int, err error) {
	cursor, limit, err := page(q)
	if err != nil || cursor == "" {
		return 0, limit, err
	}
	after, err = strconv.ParseInt(cursor, 10, 64)
	if err != nil || after < 0 {
		return 0, 0, parts.Invalid("cursor must be one that a list of this kind gave")
	}
	return after, limit, nil
}

// paged writes a page of a list: one more than limit was asked for, to know whether more is left.
func paged[T any](found []T, limit int, place func(T) int64, wire func(T) map[string]any) map[string]any {
	answer := map[string]any{}
	found = onePage(answer, found, limit, func(v T) string { return strconv.FormatInt(place(v), 10) })
	entries := make([]any, 0, len(found))
	for _, v := range found {
		entries = append(entries, wire(v))
	}
	answer["entries"] = entries
	return answer
}

func tokens(t parts.Tokens) map[string]any {
	return map[string]any{"input": t.Input, "output": t.Output}
}

// longestAge bounds an age in seconds well inside what nanoseconds in 64 bits can say.
const longestAge = 100 * 365 * 24 * 3600

// categories are those of an entry, and that of one which the rules can't tell.
func categories() []string {
	return []string{
		parts.Transient, parts.SchemaFailure, parts.SemanticFailure, parts.ToolUnavailable, parts.ContextEviction,
		parts.AuthorizationErr, parts.Unclassified,
	}
}
