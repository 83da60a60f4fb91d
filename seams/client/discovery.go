package client

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/wopwitness/wopwitness/witness/observe"
)

// Discovery is a host's discovery document as it was read for one major. Its readers are total: on a document that
// says something else they say that it is not there.
type Discovery struct {
	Exchange observe.Exchange
	Document map[string]any // as Strict reads it; nil where it could not be read
	Major    int            // the major that was asked for, which need not be the one described
	Unread   string         // why Document is nil, one line for people
}

// ProblemKind says what stands in the way of running against a host at all.
type ProblemKind string

// The kinds of problem.
const (
	ProblemUnreachable ProblemKind = "unreachable" // no answer in HTTP
	ProblemUnreadable  ProblemKind = "unreadable"  // answers, but with no discovery document
	ProblemNoMajor     ProblemKind = "no-major"    // a document that describes no major the suite knows
)

// Problem is the one cause for which nothing can be run, said once.
type Problem struct {
	Kind ProblemKind
	Text string // one line for people; may hold host text, never a key
}

// Error implements error.
func (p *Problem) Error() string { return p.Text }

// A discovery that a host is too busy to answer is asked for again, a few times and within a short wait.
const (
	discoveryTries = 3
	longestRetry   = 5 * time.Second
)

// Discover reads the discovery document in the representation of one major. No credential is sent.
func (s *Session) Discover(ctx context.Context, major int) Discovery {
	d := Discovery{Major: major}
	for try := 1; ; try++ {
		d.Exchange = s.Do(ctx, Call{
			Label: fmt.Sprintf("discovery %d", major), Path: DiscoveryPath,
			Header: []observe.Header{{Name: "OpenWOP-Version", Value: strconv.Itoa(major) + ".0"}},
		})
		status := d.Exchange.Status()
		if try == discoveryTries || status != http.StatusTooManyRequests && status != http.StatusServiceUnavailable {
			break
		}
		wait, said := RetryAfter(d.Exchange)
		if !said {
			wait = time.Second
		}
		if wait > longestRetry || !s.Sleep(ctx, wait) {
			break
		}
	}
	d.Document, d.Unread = document(d.Exchange)
	return d
}

func document(ex observe.Exchange) (map[string]any, string) {
	if ex.Failure != nil {
		return nil, ex.Failure.Text
	}
	switch status := ex.Status(); {
	case status >= 300 && status < 400:
		return nil, fmt.Sprintf("%s is answered %d, a redirect to %q; no redirect is followed: give the URL that it leads to", DiscoveryPath, status, ex.Response.Header("Location"))
	case status != http.StatusOK:
		return nil, fmt.Sprintf("%s is answered %d, so this is no OpenWOP host's base URL, or its discovery is not served", DiscoveryPath, status)
	}
	value, err := Strict(ex.Response.Body)
	if err != nil {
		if looksLikeHTML(ex.Response) {
			return nil, DiscoveryPath + " is answered with an HTML page and not with JSON: is this the host's base URL?"
		}
		return nil, fmt.Sprintf("the discovery document cannot be read: %v", err)
	}
	object, isObject := value.(map[string]any)
	if !isObject {
		return nil, "the discovery document is not a JSON object"
	}
	return object, ""
}

func looksLikeHTML(r *observe.Response) bool {
	media := strings.ToLower(r.Header("Content-Type"))
	return strings.HasPrefix(media, "text/html") || strings.HasPrefix(strings.TrimSpace(r.Body.String()), "<")
}

// Majors finds which majors the host serves, with the document of each. The problem is nil where there is at least one.
//
// A host serves major 2 where the representation asked for lists a 2.x among protocolVersions, or lists nothing and its
// answer carries OpenWOP-Version 2.x. It serves major 1 where the representation asked for lists a 1.x, or has no list
// and is not major 2's: real major-1 hosts ignore the header and know only protocolVersion. A 406 is a no.
func (s *Session) Majors(ctx context.Context) (majors []int, v2, v1 Discovery, problem *Problem) {
	v2 = s.Discover(ctx, 2)
	if f := v2.Exchange.Failure; f != nil && v2.Exchange.Response == nil {
		return nil, v2, Discovery{Major: 1, Unread: f.Text}, &Problem{ProblemUnreachable, f.Text}
	}
	v1 = s.Discover(ctx, 1)
	if v1.Serves(1) {
		majors = append(majors, 1)
	}
	if v2.Serves(2) {
		majors = append(majors, 2)
	}
	switch {
	case len(majors) > 0:
	case v1.Document == nil && v2.Document == nil && v2.Exchange.Status() == http.StatusNotAcceptable:
		problem = &Problem{ProblemUnreadable, v1.Unread}
	case v1.Document == nil && v2.Document == nil:
		problem = &Problem{ProblemUnreadable, v2.Unread}
	default:
		problem = &Problem{ProblemNoMajor, fmt.Sprintf("the discovery document describes no major that is known here (1 and 2): protocolVersions is %v", slices.Compact(slices.Sorted(slices.Values(append(v2.ProtocolVersions(), v1.ProtocolVersions()...)))))}
	}
	return majors, v2, v1, problem
}

// Serves says whether this answer shows that the host serves the major it was asked for.
func (d Discovery) Serves(major int) bool {
	if d.Document == nil || d.Major != major {
		return false
	}
	listed := d.ProtocolVersions()
	if len(listed) > 0 {
		return slices.ContainsFunc(listed, func(v string) bool { return majorOf(v) == major })
	}
	if answered := majorOf(d.Exchange.Response.Header("OpenWOP-Version")); answered != 0 {
		return answered == major
	}
	single, has := d.Document["protocolVersion"]
	return major == 1 && has && (majorOf(versionText(single)) == 1)
}

// ProtocolVersions is the document's list of versions, nil where it has none.
func (d Discovery) ProtocolVersions() []string {
	list, _ := d.Document["protocolVersions"].([]any)
	var versions []string
	for _, v := range list {
		if text := versionText(v); text != "" {
			versions = append(versions, text)
		}
	}
	return versions
}

// PreferredVersion is the document's preferredVersion, "" where it has none.
func (d Discovery) PreferredVersion() string { return versionText(d.Document["preferredVersion"]) }

func versionText(v any) string {
	switch v := v.(type) {
	case string:
		return strings.TrimSpace(v)
	case json.Number:
		return v.String()
	}
	return ""
}

// majorOf is the major of "2", "2.1" or "v2.0", and 0 where the text is no version.
func majorOf(version string) int {
	head, _, _ := strings.Cut(strings.TrimPrefix(strings.TrimSpace(version), "v"), ".")
	n, err := strconv.Atoi(head)
	if err != nil || n < 0 {
		return 0
	}
	return n
}

// A host that says 429 and not for how long is asked again after a second, and one that says 0 is not hammered.
const (
	unsaidWait = time.Second
	leastWait  = 50 * time.Millisecond
)

// PutOff is how long to wait before the same request is sent again, where the answer is a 429. The rate comes before any
// other answer, so such a request has done nothing.
func PutOff(ex observe.Exchange) (time.Duration, bool) {
	if ex.Status() != http.StatusTooManyRequests {
		return 0, false
	}
	wait, said := RetryAfter(ex)
	if !said {
		wait = unsaidWait
	}
	return max(wait, leastWait), true
}

// RetryAfter is how long the answer asks to wait (RFC 9110 §10.2.3), in seconds or until a date. A date is taken against
// the answer's own Date. It says false where the answer asks nothing, or nothing that can be read.
func RetryAfter(ex observe.Exchange) (time.Duration, bool) {
	value := strings.TrimSpace(ex.Response.Header("Retry-After"))
	if value == "" {
		return 0, false
	}
	const longest = 24 * time.Hour
	if n, err := strconv.ParseInt(value, 10, 64); err == nil {
		if n < 0 {
			return 0, false
		}
		return min(time.Duration(min(n, int64(longest/time.Second)))*time.Second, longest), true
	}
	at, err := http.ParseTime(value)
	if err != nil {
		return 0, false
	}
	sent, err := http.ParseTime(ex.Response.Header("Date"))
	if err != nil {
		return 0, false
	}
	return min(max(at.Sub(sent), 0), longest), true
}
