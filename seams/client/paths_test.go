package client

import (
	"regexp"
	"testing"

	"pgregory.net/rapid"
)

func TestPaths(t *testing.T) {
	for _, c := range []struct{ name, got, want string }{
		{"a run of major 2", RunPath(2, "acme/r-9f_1.2~3"), "/runs/acme~2Fr-9f_1.2~7E3"},
		{"an anonymous tenant's run", RunPath(2, "anon:x/r"), "/runs/anon~3Ax~2Fr"},
		{"a run of major 1", RunPath(1, "r 1/2:3"), "/v1/runs/r%201%2F2%3A3"},
		{"a run of major 1 named by dots", RunPath(1, ".."), "/v1/runs/%2E%2E"},
		{"runs of major 1", RunsPath(1), "/v1/runs"},
		{"runs of major 2", RunsPath(2), "/runs"},
		{"a workflow of major 2", WorkflowPath(2, "a:b"), "/workflows/a%3Ab"},
		{"host events of major 1", HostEventsPath(1), "/v1/host/events"},
		{"host events of major 2", HostEventsPath(2), "/host/events"},
		{"the trigger", TriggerPath(2), "/host/events/test"},
		{"a seam of major 1", SeamPath(1, "clock/advance"), "/v1/host/sample/clock/advance"},
		{"a seam of major 2", SeamPath(2, "clock/advance"), "/conformance/seams/sample/clock/advance"},
	} {
		if c.got != c.want {
			t.Errorf("%s: got %s, want %s", c.name, c.got, c.want)
		}
	}
}

func TestProjectionIsOneSegmentAndReversible(t *testing.T) {
	segment := regexp.MustCompile(`^([A-Za-z0-9._-]|~[0-9A-F]{2})*$`)
	rapid.Check(t, func(t *rapid.T) {
		id := rapid.OneOf(rapid.String(), rapid.StringMatching(`(anon:)?[A-Za-z0-9._~-]{1,20}/[A-Za-z0-9._~-]{16,40}`)).Draw(t, "id")
		projected := ProjectID(id)
		if !segment.MatchString(projected) {
			t.Fatalf("%q projects to %q, which is not one segment", id, projected)
		}
		if back, ok := UnprojectID(projected); !ok || back != id {
			t.Fatalf("%q projects to %q and back to %q, %v", id, projected, back, ok)
		}
	})
}

func TestOnlyWhatProjectionMakesIsUnprojected(t *testing.T) {
	for _, bad := range []string{"a/b", "a~2fb", "a~2", "a~", "a~zz", "a~41", "a%2Fb", "a b", "é"} {
		if got, ok := UnprojectID(bad); ok {
			t.Errorf("%q is unprojected to %q", bad, got)
		}
	}
	rapid.Check(t, func(t *rapid.T) {
		text := rapid.StringMatching(`[a-z~0-9A-F/]{0,12}`).Draw(t, "text")
		if id, ok := UnprojectID(text); ok && ProjectID(id) != text {
			t.Fatalf("%q is unprojected to %q, which projects to %q", text, id, ProjectID(id))
		}
	})
}
