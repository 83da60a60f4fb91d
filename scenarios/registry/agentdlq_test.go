package registry

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// A leg of the agent extension names a heading of its page, so that whoever is convicted finds the sentence.
func TestAgentLegsNameHeadingsOfTheirPage(t *testing.T) {
	page, err := os.ReadFile(filepath.Join("..", "..", "docs", "agent-dlq-seams.md"))
	if err != nil {
		t.Fatal(err)
	}
	headings := map[string]bool{}
	for line := range strings.Lines(string(page)) {
		if heading, is := strings.CutPrefix(strings.TrimSpace(line), "## "); is {
			headings[heading] = true
		}
	}
	for _, l := range agentDLQLegs() {
		if !headings[l.Section] {
			t.Errorf("%s rests on %q, which is no heading of the page", l.ID, l.Section)
		}
		if !strings.HasPrefix(string(l.ID), "agentdlq.") || !l.OneMajor || l.RFC != "agentdlq" {
			t.Errorf("%s is not a leg of the extension like the others", l.ID)
		}
	}
}
