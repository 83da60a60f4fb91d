package main

import (
	"regexp"
	"strings"
	"testing"

	"github.com/wopwitness/wopwitness/mockhost/store/postgres/pgtest"
)

// TestSoak is the soak in small, by the command that make soak runs.
func TestSoak(t *testing.T) {
	got := invoke(t, nil, "soak", "--store", pgtest.Schema(t), "--subscribers", "20", "--events", "300", "--runs", "20", "--kills", "8", "--writers", "4")
	if got.code != 0 {
		t.Fatalf("exit %d\n%s%s", got.code, got.stdout, got.stderr)
	}
	t.Log(got.stdout)
	// 2 events to begin at and 2 to end at; each of 10 subscribers of a tenant sees all but the one that it begins at.
	for what, n := range map[string]string{
		"kill -9": "8", "events acknowledged": "304", "events in the log": "304", "runs acknowledged": "20",
		"entries in the sink": "20", "subscribers": "20", "events that they saw": "3,020",
	} {
		if !regexp.MustCompile(`(?m)^` + what + ` +` + n + ` +` + n + ` +yes$`).MatchString(got.stdout) {
			t.Errorf("the table doesn't say of %q: %s, must be %[2]s, yes", what, n)
		}
	}
	if !strings.Contains(got.stdout, "nothing was lost, nothing came twice") {
		t.Error("the verdict isn't there")
	}
}

func TestSoakNeedsADatabaseThatTwoProcessesShare(t *testing.T) {
	got := invoke(t, nil, "soak", "--store", "memory")
	if got.code != 2 || !strings.Contains(got.stderr, "--store is the URL of a PostgreSQL database") {
		t.Errorf("exit %d, %s", got.code, got.stderr)
	}
}
