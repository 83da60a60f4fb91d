package render

import (
	"bytes"
	"strings"
	"testing"

	"github.com/wopwitness/wopwitness/scenarios/registry"
)

func TestWaitsTellsAboveTheProgressLine(t *testing.T) {
	var out bytes.Buffer
	terminal := NewTerminal(&out, 1, true, Paint{})
	terminal.Started(registry.Case{Leg: registry.Leg{ID: "0053.exhaustion.event"}, Major: 1})
	terminal.Waits("waiting for a run\x1b[2J to end", false)
	terminal.Waits("waiting for a run to end: 2s", true)
	terminal.Close()
	got := out.String()
	if !strings.Contains(got, "\r\x1b[K      waiting for a run") || strings.Contains(got, "\x1b[2J") {
		t.Errorf("the line is %q", got)
	}
	if !strings.Contains(got, "\r\x1b[K      waiting for a run to end: 2s\n") {
		t.Errorf("how the wait goes on is not told: %q", got)
	}
	if strings.Count(got, "0053.exhaustion.event") < 2 {
		t.Errorf("the progress line does not stand again after it: %q", got)
	}
	out.Reset()
	log := NewTerminal(&out, 1, false, Paint{})
	log.Waits("waiting", false)
	log.Waits("still waiting", true)
	log.Waits("waiting for more", false)
	if out.String() != "      waiting\n      waiting for more\n" {
		t.Errorf("without a progress line it is %q", out.String())
	}
}
