package scenarios

import (
	"strings"
	"testing"
)

// TestDeadLetterLegsOfTwoInstances has the two legs meet one host at two addresses, and two hosts that know nothing of
// each other's runs.
func TestDeadLetterLegsOfTwoInstances(t *testing.T) {
	_, url := newDeadHost(t)
	_, stranger := newDeadHost(t)
	never, unpurged := newDeadHost(t)
	never.lie = "never-purges"
	for _, c := range []struct {
		name, url, peer       string
		exhaustion, retention string
	}{
		{"one host at two addresses", url, url, "pass", "pass"},
		{"a stranger for a peer", url, stranger, "run-there+event-there+entry-there+forked-there", "undecided unexpected-answer"},
		{"a host that never purges", unpurged, unpurged, "pass", "undecided unexpected-answer"},
		{"no peer", url, "", "", ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			ended := driveDeadLetters(t, c.url, func(config *Config) { config.PeerURL = c.peer }, 1, 2)
			for _, major := range []string{" 1", " 2"} {
				exhaustion, _, _ := strings.Cut(ended["exhaustion.other-instance"+major], "/")
				retention, _, _ := strings.Cut(ended["retention.other-instance"+major], "/")
				if exhaustion != c.exhaustion || retention != c.retention {
					t.Errorf("major%s: ended with %q and %q, want %q and %q", major, exhaustion, retention, c.exhaustion, c.retention)
				}
			}
		})
	}
}
