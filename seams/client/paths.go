package client

import (
	"net/url"
	"strconv"
	"strings"
)

// DiscoveryPath is where a host's discovery document is, on every major.
const DiscoveryPath = "/.well-known/openwop"

// RunPath is the path of a run: one projected segment on major 2, one percent-encoded segment on major 1, whose ids are
// opaque and may hold any character. A verb is appended as ":fork".
func RunPath(major int, runID string) string {
	if major == 1 {
		return "/v1/runs/" + escapeSegment(runID)
	}
	return "/runs/" + ProjectID(runID)
}

// RunsPath is the path of the collection of runs.
func RunsPath(major int) string { return underMajor(major, "/runs") }

// WorkflowPath is the path of a workflow.
func WorkflowPath(major int, workflowID string) string {
	return underMajor(major, "/workflows/"+escapeSegment(workflowID))
}

// HostEventsPath is the path of the host-event stream (RFC 0236).
func HostEventsPath(major int) string { return underMajor(major, "/host/events") }

// TriggerPath is the path of the host-event test trigger (RFC 0241).
func TriggerPath(major int) string { return HostEventsPath(major) + "/test" }

// SeamPath is the path of a seam by its name, such as "clock/advance". Seams have a prefix of their own on each major.
func SeamPath(major int, name string) string {
	if major == 1 {
		return "/v1/host/sample/" + name
	}
	return "/conformance/seams/sample/" + name
}

func underMajor(major int, path string) string {
	if major == 1 {
		return "/v1" + path
	}
	return path
}

// ProjectID is the form of a tenant-bound id on a path: each UTF-8 byte outside letters, digits, dot, underscore and
// dash becomes a tilde and two uppercase hexadecimal digits, so that the id is one segment.
func ProjectID(id string) string {
	var b strings.Builder
	for i := range len(id) {
		if c := id[i]; plainByte(c) {
			b.WriteByte(c)
		} else {
			b.WriteByte('~')
			b.WriteString(hexByte(c))
		}
	}
	return b.String()
}

// UnprojectID undoes ProjectID. It says false where the segment is not one that ProjectID makes.
func UnprojectID(segment string) (string, bool) {
	var b strings.Builder
	for i := 0; i < len(segment); i++ {
		c := segment[i]
		if plainByte(c) {
			b.WriteByte(c)
			continue
		}
		if c != '~' || i+2 >= len(segment) {
			return "", false
		}
		n, err := strconv.ParseUint(segment[i+1:i+3], 16, 8)
		if err != nil || plainByte(byte(n)) || segment[i+1:i+3] != hexByte(byte(n)) {
			return "", false
		}
		b.WriteByte(byte(n))
		i += 2
	}
	return b.String(), true
}

func plainByte(c byte) bool {
	return c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= '0' && c <= '9' || c == '.' || c == '_' || c == '-'
}

func hexByte(c byte) string {
	const digits = "0123456789ABCDEF"
	return string([]byte{digits[c>>4], digits[c&15]})
}

// escapeSegment also encodes the colon, so that the colon of a verb is the only one on the path, and a segment of dots,
// which servers take for a step up.
func escapeSegment(s string) string {
	if s == "." || s == ".." {
		return strings.ReplaceAll(s, ".", "%2E")
	}
	return strings.ReplaceAll(url.PathEscape(s), ":", "%3A")
}
